// Draws a small graph: its layout, its lines, and how it is moved. The same graph always gives the same picture.

import { h, svg } from "./dom.js";

const UNIT = 125;
const LINE_HEIGHT = 16;
const CHARACTER = 6.9;
const MAX_LABEL = 18;
const STEP = 1.25;
// The scale below which labels cannot be read.
const READABLE = 0.55;

/**
 * Return the picture of nodes ({name, kind, open}) and edges ({from, to, kind, name}, by the numbers of nodes).
 *
 * The first `path` nodes stand on a line from left to right. `open` is called when a node is chosen.
 */
export function drawGraph(nodes, edges, path = 1) {
  const labels = nodes.map((node) => labelLines(node.name));
  const boxes = labels.map((lines) => ({ w: Math.max(...lines.map((line) => line.length)) * CHARACTER + 18, h: 22 + LINE_HEIGHT * lines.length }));
  const points = separate(place(nodes.length, edges, path), boxes, path);
  const edge = (name, sign) => sign * Math.max(...points.map((point, n) => sign * point[name] + boxes[n][name === "x" ? "w" : "h"] / 2)) + sign * 20;
  const [left, right, top, bottom] = [edge("x", -1), edge("x", 1), edge("y", -1), edge("y", 1)];
  const whole = { x: left, y: top, width: Math.max(right - left, 320), height: Math.max(bottom - top, 240) };
  const lines = edges.map(({ from, to, kind, name }) => svg("line", { class: kind, x1: points[from].x, y1: points[from].y - 12, x2: points[to].x, y2: points[to].y - 12 }, svg("title", {}, name)));
  const dots = nodes.map((node, n) => {
    const { x, y } = points[n];
    const open = (event) => {
      if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      node.open();
    };
    return svg("g", { class: `node ${node.kind}${n < path ? (path > 1 ? " path" : " center") : ""}`, role: "button", tabindex: 0, "aria-label": nameOf(node.name, labels[n]), onclick: open, onkeydown: open },
      svg("circle", { cx: x, cy: y - 12, r: n < path ? 9 : 5.5 }),
      labels[n].map((line, row) => svg("text", { x, y: y + 10 + LINE_HEIGHT * row, "text-anchor": "middle" }, `${line} `)));
  });
  const picture = svg("svg", { role: "group", "aria-label": "Picture of the graph", tabindex: 0 }, lines, dots);
  return h("figure", { class: "picture" }, movable(picture, whole), picture);
}

/** Return what a node is called where it is not seen: its label, and its whole name if that is cut. */
function nameOf(name, lines) {
  const label = lines.join(" ");
  return label === name ? name : `${label}: ${name}`;
}

function labelLines(name) {
  const lines = [""];
  for (const word of name.slice(0, 80).split(/\s+/)) {
    const joined = `${lines.at(-1)} ${word}`.trim();
    if (joined.length <= MAX_LABEL || !lines.at(-1)) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  const cut = (line) => (line.length > MAX_LABEL ? `${line.slice(0, MAX_LABEL - 1)}…` : line);
  return lines.length > 2 ? [cut(lines[0]), cut(`${lines[1].slice(0, MAX_LABEL - 1)}…`)] : lines.map(cut);
}

/** Stress minimization by gradient descent over pairs (Zheng, Pawar and Goodman, 2018), from a spiral. */
function place(count, edges, path) {
  const far = 4;
  const distance = Array.from({ length: count }, (_, a) => Array.from({ length: count }, (_, b) => (a === b ? 0 : Infinity)));
  edges.forEach(({ from, to }, n) => (distance[from][to] = distance[to][from] = from < path && to < path ? 1.6 : n > 9 ? 1.75 : 1));
  for (let k = 0; k < count; k++) for (let a = 0; a < count; a++) for (let b = 0; b < count; b++) distance[a][b] = Math.min(distance[a][b], distance[a][k] + distance[k][b]);
  const points = Array.from({ length: count }, (_, n) => n < path ? { x: 1.6 * (n - (path - 1) / 2), y: 0 }
    : { x: Math.cos(n * 2.39996) * Math.sqrt(n / count) * 2, y: Math.sin(n * 2.39996) * Math.sqrt(n / count) * 2 });
  for (let round = 0, step = 1; round < 120; round++, step *= 0.96) {
    for (let a = 0; a < count; a++) for (let b = Math.max(a + 1, path); b < count; b++) {
      const wanted = Math.min(distance[a][b], far);
      const dx = points[a].x - points[b].x, dy = points[a].y - points[b].y;
      const apart = Math.hypot(dx, dy) || 0.001;
      const move = (Math.min(1, step / wanted ** 2) * (apart - wanted)) / apart / 2;
      if (a >= path) (points[a].x -= dx * move), (points[a].y -= dy * move);
      (points[b].x += dx * move * (a < path ? 2 : 1)), (points[b].y += dy * move * (a < path ? 2 : 1));
    }
  }
  return points.map(({ x, y }) => ({ x: x * UNIT * 1.3, y: y * UNIT }));
}

/** Push overlapping boxes apart, along the axis in which they overlap less. */
function separate(points, boxes, pinned) {
  for (let round = 0, moved = true; moved && round < 300; round++) {
    moved = false;
    for (let a = 0; a < points.length; a++) for (let b = Math.max(a + 1, pinned); b < points.length; b++) {
      const dx = points[b].x - points[a].x, dy = points[b].y - points[a].y;
      const overX = (boxes[a].w + boxes[b].w) / 2 - Math.abs(dx), overY = (boxes[a].h + boxes[b].h) / 2 - Math.abs(dy);
      if (overX < 0.5 || overY < 0.5) continue;
      moved = true;
      const [axis, push] = overY <= overX ? ["y", (dy < 0 ? -0.3 : 0.3) * overY] : ["x", (dx < 0 ? -0.3 : 0.3) * overX];
      if (a >= pinned) points[a][axis] -= push;
      points[b][axis] += push;
    }
  }
  return points;
}

/** Let the picture be dragged and zoomed, and return the buttons for it. */
function movable(picture, home) {
  let view = { ...home };
  let grabbed = null;
  const show = () => picture.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  const pan = (dx, dy) => ((view.x += dx), (view.y += dy), show());
  const reset = () => ((view = { ...home }), show());
  const zoom = (factor) => {
    const width = Math.min(home.width * 4, Math.max(home.width / 6, view.width / factor));
    const height = (view.height * width) / view.width;
    view = { x: view.x + (view.width - width) / 2, y: view.y + (view.height - height) / 2, width, height };
    show();
  };
  const scale = () => view.width / picture.getBoundingClientRect().width;
  picture.addEventListener("pointerdown", (event) => (grabbed = { x: event.clientX, y: event.clientY, id: event.pointerId, moved: false }));
  picture.addEventListener("pointermove", (event) => {
    if (!grabbed || (!grabbed.moved && Math.hypot(event.clientX - grabbed.x, event.clientY - grabbed.y) < 4)) return;
    if (!grabbed.moved) picture.setPointerCapture(grabbed.id);
    pan((grabbed.x - event.clientX) * scale(), (grabbed.y - event.clientY) * scale());
    Object.assign(grabbed, { x: event.clientX, y: event.clientY, moved: true });
  });
  picture.addEventListener("click", (event) => grabbed?.moved && event.stopPropagation(), true);
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => setTimeout(() => (grabbed = null)));
  picture.addEventListener("wheel", (event) => event.ctrlKey && (event.preventDefault(), zoom(event.deltaY < 0 ? STEP : 1 / STEP)), { passive: false });
  picture.addEventListener("keydown", (event) => {
    const keys = { "+": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: reset, ArrowLeft: () => pan(-40, 0), ArrowRight: () => pan(40, 0), ArrowUp: () => pan(0, -40), ArrowDown: () => pan(0, 40) };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  show();
  // On a small screen, begin with a part of the picture that can be read.
  requestAnimationFrame(() => {
    const { width, height } = picture.getBoundingClientRect();
    const scale = Math.min(width / home.width, height / home.height);
    if (!scale || scale >= READABLE) return;
    view = { x: -width / READABLE / 2, y: -height / READABLE / 2, width: width / READABLE, height: height / READABLE };
    show();
  });
  const button = (label, text, action) => h("button", { type: "button", class: "quiet-button", "aria-label": label, onclick: action }, text);
  return h("div", { class: "picture-tools" }, button("Zoom in", "+", () => zoom(STEP)), button("Zoom out", "−", () => zoom(1 / STEP)), button("Show the whole picture", "⤢", reset));
}

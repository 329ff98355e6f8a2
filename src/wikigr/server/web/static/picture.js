// Pan and zoom the picture of a graph by changing its viewBox. Without this script the whole picture is shown.

const STEP = 1.25;
const MIN_SCALE = 0.25;
const MAX_SCALE = 6;
// The scale at which labels are readable.
const READABLE = 0.8;
// A pointer that moves less than this, in pixels, clicks.
const CLICK_DISTANCE = 4;

const figure = document.getElementById("picture");
const svg = figure.querySelector("svg");
figure.classList.add("live");
const whole = svg.viewBox.baseVal;
const home = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
let view = { ...home };

function show() {
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
}

function pan(dx, dy) {
  view.x += dx;
  view.y += dy;
  show();
}

/** Zoom so that the point (x, y) of the picture stays where it is. */
function zoom(factor, x = view.x + view.width / 2, y = view.y + view.height / 2) {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, (home.width / view.width) * factor));
  const width = home.width / scale;
  const shrink = width / view.width;
  view = { x: x - (x - view.x) * shrink, y: y - (y - view.y) * shrink, width, height: view.height * shrink };
  show();
}

/** Return the point of the picture under the pointer. */
function pointAt(event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
}

let grabbed = null;
let moved = false;

svg.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  grabbed = { id: event.pointerId, x: event.clientX, y: event.clientY };
  moved = false;
});
svg.addEventListener("pointermove", (event) => {
  if (grabbed?.id !== event.pointerId) return;
  if (!moved && Math.hypot(event.clientX - grabbed.x, event.clientY - grabbed.y) < CLICK_DISTANCE) return;
  if (!moved) {
    moved = true;
    svg.setPointerCapture(event.pointerId);
    figure.classList.add("moving");
  }
  const scale = svg.getScreenCTM().a;
  pan((grabbed.x - event.clientX) / scale, (grabbed.y - event.clientY) / scale);
  grabbed = { id: event.pointerId, x: event.clientX, y: event.clientY };
});
for (const end of ["pointerup", "pointercancel"]) {
  svg.addEventListener(end, () => {
    grabbed = null;
    figure.classList.remove("moving");
  });
}
// The end of a drag is not a click on the node under it, and a link must not be dragged away as one.
svg.addEventListener("click", (event) => moved && event.preventDefault(), true);
svg.addEventListener("dragstart", (event) => event.preventDefault());

// The wheel alone scrolls the page.
svg.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x, y } = pointAt(event);
    zoom(event.deltaY < 0 ? STEP : 1 / STEP, x, y);
  },
  { passive: false },
);

const actions = {
  "+": () => zoom(STEP),
  "=": () => zoom(STEP),
  "-": () => zoom(1 / STEP),
  "0": () => {
    view = { ...home };
    show();
  },
  ArrowLeft: () => pan(-view.width / 10, 0),
  ArrowRight: () => pan(view.width / 10, 0),
  ArrowUp: () => pan(0, -view.height / 10),
  ArrowDown: () => pan(0, view.height / 10),
};
figure.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
});
// A node that gets the focus by the keyboard must be visible.
svg.addEventListener("focusin", (event) => {
  const dot = event.target.querySelector("circle")?.getBBox();
  if (!dot || !event.target.matches(":focus-visible")) return;
  const x = dot.x + dot.width / 2;
  const y = dot.y + dot.height / 2;
  if (x < view.x || x > view.x + view.width || y < view.y || y > view.y + view.height) {
    pan(x - view.x - view.width / 2, y - view.y - view.height / 2);
  }
});

// On a narrow screen the labels of the whole picture would be too small to read.
const scale = svg.getScreenCTM().a;
if (scale < READABLE) {
  const center = svg.querySelector(".node circle").getBBox();
  const [x, y] = [center.x + center.width / 2, center.y + center.height / 2];
  pan(x - view.x - view.width / 2, y - view.y - view.height / 2);
  zoom(READABLE / scale);
}

const tools = document.createElement("div");
tools.className = "picture-tools";
for (const [key, text, label] of [["-", "−", "Zoom out"], ["+", "+", "Zoom in"], ["0", "Whole", "Show the whole picture"]]) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: text });
  button.setAttribute("aria-label", label);
  button.addEventListener("click", actions[key]);
  tools.append(button);
}
figure.append(tools);

// The blocks of stored text, as the documents of the API have them, as elements.

import { copyButton, h } from "./dom.js";

// Rows of a table that are shown: of one in which none is marked, and on either side of a marked one.
const MAX_ROWS = 10;
const ROWS_AROUND = 2;
const NUMBER = /^[^\p{L}\p{N}_\s]?\s?[-+−–]?\d[\d.,  '’]*\s?(?:[^\p{L}\p{N}_\s]|[A-Za-z]{1,3})?$/u;
const LISTS = { task: "tasks", term: "terms", property: "properties", quotation: "blockquote" };

/** Return the text of runs as it is stored, without the numbers of citations. */
export const textOf = (runs) => runs.filter((run) => run.role !== "citation").map((run) => run.text).join("");

/**
 * Return the elements of blocks.
 *
 * `cite` makes the element for the number of a citation, `link` that for a text which may name articles; both may be
 * left out. With `whole`, all rows of a table are shown.
 */
export function showBlocks(blocks, { cite = () => null, link = (text) => text, whole = false } = {}) {
  const options = { cite, link, whole };
  const groups = [];
  for (let at = 0; at < blocks.length; ) {
    let after = at + 1;
    while (after < blocks.length && blocks[after].depth > blocks[at].depth) after += 1;
    const item = { block: blocks[at], inside: blocks.slice(at + 1, after) };
    const kind = listOf(blocks[at]);
    if (kind && groups.at(-1)?.kind === kind) groups.at(-1).items.push(item);
    else groups.push({ kind, items: [item] });
    at = after;
  }
  return groups.map((group) => showGroup(group, options));
}

function listOf({ kind, label }) {
  if (kind !== "item") return LISTS[kind] ?? "";
  const marker = label.replace(/[.)]+$/, "");
  return /^\d+$/.test(marker) ? "ol" : /^[\p{L}\p{N}]+$/u.test(marker) ? "labels" : "ul";
}

function showGroup({ kind, items }, options) {
  const inner = ({ inside }) => showBlocks(inside, options);
  switch (kind) {
    case "ol":
      return h("ol", {}, items.map((item) => h("li", { value: parseInt(item.block.label, 10) }, showRuns(item.block.runs, options), inner(item))));
    case "ul":
      return h("ul", {}, items.map((item) => h("li", {}, showRuns(item.block.runs, options), inner(item))));
    case "labels":
      return h("ul", { class: "labels" }, items.map((item) => h("li", {}, h("span", { class: "quiet" }, item.block.label), " ", showRuns(item.block.runs, options), inner(item))));
    case "tasks":
      return h("ul", { class: "tasks" }, items.map((item) => h("li", {},
        h("input", { type: "checkbox", disabled: true, checked: item.block.label === "done", "aria-label": item.block.label }), " ", showRuns(item.block.runs, options), inner(item))));
    case "terms":
      return h("dl", { class: kind }, items.map((item) => h("div", {}, h("dt", {}, showRuns(item.block.runs, options)), h("dd", {}, inner(item)))));
    case "properties":
      return h("dl", { class: kind }, items.map((item) => h("div", {}, h("dt", {}, item.block.label), h("dd", {}, showRuns(item.block.runs, options), inner(item)))));
    case "blockquote":
      return h("blockquote", {}, items.map((item) => [h("p", {}, showRuns(item.block.runs, options)), inner(item)]));
  }
  const [{ block, inside }] = items;
  const shown = block.kind === "table" ? showTable(block, options) : block.kind === "code" ? showCode(block, options)
    : h("p", { class: block.kind === "paragraph" ? null : block.kind }, showRuns(block.runs, options));
  return [shown, showBlocks(inside, options)];
}

export function showRuns(runs, { cite = () => null, link = (text) => text } = {}) {
  return runs.map((run) => {
    if (run.role === "citation") return [run.text.startsWith(" ") ? " " : "", cite(run.n)];
    if (run.role === "unverified") return [" ", h("span", { class: "unverified", title: "No quotation in the pack supports this claim." }, "unverified")];
    const text = link(run.text);
    return run.role && run.role !== "around" ? h("mark", { class: run.role }, text) : text;
  });
}

function showCode(block, { cite }) {
  // Exactly as it is stored, with all blanks: it is copied from here.
  const code = h("code", {}, showRuns(block.runs));
  return h("figure", { class: "code" },
    h("figcaption", {}, h("span", {}, block.label, block.n ? [" ", cite(block.n)] : null), copyButton(() => textOf(block.runs))),
    h("pre", { tabindex: 0, role: "group", "aria-label": block.label ? `Code: ${block.label}` : "Code" }, code));
}

function showTable(block, { cite, link, whole }) {
  const { columns, rows } = block;
  const used = columns.map((_, n) => n).filter((n) => rows.some((row) => row.cells[n]?.length));
  const isNumber = (n) => rows.every((row) => !row.cells[n].length || NUMBER.test(textOf(row.cells[n])));
  const numbers = new Set(used.filter(isNumber));
  const marked = rows.map((row, n) => (row.marked ? n : -1)).filter((n) => n >= 0);
  const isNear = (_, n) => (marked.length ? marked.some((m) => Math.abs(m - n) <= ROWS_AROUND) : n < MAX_ROWS);
  // A button takes as much room as a row.
  const mayFold = !whole && rows.length > MAX_ROWS && rows.filter(isNear).length < rows.length - 1;
  const isShown = (row, n) => !mayFold || isNear(row, n);
  const folded = rows.filter((row, n) => !isShown(row, n)).length;
  // The number of a citation would push a number out of its column.
  const cited = used.find((n) => !numbers.has(n)) ?? used[0];
  const cell = (row, n) => {
    const runs = row.cells[n];
    const isFirst = n === used[0];
    const kind = numbers.has(n) ? "num" : textOf(runs).length < 16 ? "whole" : null;
    return h(isFirst ? "th" : "td", { class: kind, scope: isFirst ? "row" : null }, showRuns(runs, { link }), n === cited && row.n ? [" ", cite(row.n)] : null);
  };
  const table = h("table", {},
    columns.some(Boolean) ? h("thead", {}, h("tr", {}, used.map((n) => h(columns[n] ? "th" : "td", { scope: columns[n] ? "col" : null, class: numbers.has(n) ? "num" : null }, columns[n])))) : null,
    h("tbody", {}, rows.map((row, n) => h("tr", { class: [row.marked && marked.length < rows.length ? "marked" : "", isShown(row, n) ? "" : "more"].join(" ").trim() || null }, used.map((column) => cell(row, column))))));
  const figure = h("div", { class: "table" }, h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table" }, table));
  if (block.n) figure.append(" ", cite(block.n) ?? "");
  if (folded) {
    figure.classList.add("folded");
    const unfold = (event) => {
      figure.classList.remove("folded");
      event.currentTarget.remove();
    };
    figure.append(h("button", { type: "button", class: "quiet-button", onclick: unfold }, `Show ${folded} more rows`));
  }
  return figure;
}

// What stands beside the conversation: an article or its original, results, titles, the graph, and why an answer is so.

import { showBlocks } from "./blocks.js";
import { get, h, number, outside, problem } from "./dom.js";
import { drawGraph } from "./graph.js";

const PER_PAGE = 200;
const MAX_DRAWN = 24;

const path = (text) => encodeURIComponent(text);
const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const bare = (title) => title.replace(/\s+\([^()]*\)$/, "");

/** Return the place of a section: its title and its heading. */
export const place = (item) => [item.title, item.section ? h("span", { class: "quiet" }, ` › ${item.section}`) : null];

/** Return where a section is from: its pack, if there are several, its address or its file, and the page of a PDF. */
/** Return the pack that an item of a document is from; items of one pack do not name it. */
const packOf = (app, item) => item.given_as ?? item.pack ?? (app.pack || app.packs[0].given_as);

export function origin(app, item) {
  const url = outside(item.url);
  const page = /#page=(\d+)$/.exec(item.url ?? "");
  return h("p", { class: "origin" },
    app.packs.length > 1 ? h("span", { class: "tag" }, packOf(app, item)) : null,
    url ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, new URL(url).hostname, h("span", { class: "unseen" }, " (opens another site)"))
      : item.source_id ? h("span", { class: "file" }, item.source_id) : null,
    page ? h("span", { class: "quiet" }, `page ${page[1]}`) : null);
}

export const PANELS = { article, search, browse, near, why };

async function article(app, given) {
  const { article: title, within, section, start, end, first, view, at } = given;
  const doc = await get(`read/${path(title)}`, { pack: within, section, start, end, first });
  const to = (more) => app.panelLink({ article: doc.title, within: doc.given_as, ...more });
  const lead = doc.sections.find((each) => each.section_id === section) ?? doc.sections[0];
  const original = doc.original && `/api/original/${path(lead.section_id)}?pack=${path(doc.given_as)}${lead.anchor ? `#${lead.anchor}` : ""}`;
  const isPdf = doc.original?.kind === "pdf";
  const top = h("div", { class: "tools" },
    origin(app, { ...doc, url: lead?.url }),
    isPdf ? h("a", view ? to({ section, start, end }) : to({ section: lead.section_id, start, end, view: "original" }), view ? "Text" : "PDF beside the answer") : null,
    original ? h("a", { href: original, target: isPdf ? "_blank" : null, download: isPdf ? null : doc.original.name }, isPdf ? "Open the PDF" : `Download ${doc.original.name}`) : null,
    h("a", app.panelLink({ near: doc.title, within: doc.given_as }), "Neighborhood"));
  const notes = doc.warnings.map((text) => h("p", { class: "note" }, text));
  if (view && isPdf && navigator.pdfViewerEnabled !== false) return [doc.title, top, h("iframe", { class: "pdf", src: original, title: doc.original.name })];

  const outline = doc.outline.length > 2 && h("details", { class: "outline" }, h("summary", {}, `Contents (${doc.outline.length} sections)`),
    h("ul", { class: "plain" }, doc.outline.map((each) => h("li", { class: `level${Math.min(each.level, 4)}` }, h("a", to({ first: each.n - (each.n % 60) || null, at: each.n }), each.heading || doc.title)))));
  const link = namer(doc, to, app);
  const sections = doc.sections.map((each, n) => h("section", { id: `s${doc.first + n}` },
    each.heading && each.level ? h(`h${Math.min(each.level + 1, 6)}`, {}, each.heading) : null, showBlocks(each.blocks, { link, whole: true })));
  const turn = h("p", { class: "pager" },
    doc.first > 0 ? h("a", to({ first: doc.first - doc.sections.length > 0 ? doc.first - 60 : 0 }), "← Earlier sections") : null,
    doc.first + doc.sections.length < doc.total ? h("a", to({ first: doc.first + doc.sections.length }), "Later sections →") : null);
  const list = (label, links) => links.length ? h("details", {}, h("summary", {}, `${label} (${links.length})`),
    h("ul", { class: "columns" }, links.map((each) => h("li", {}, h("a", app.panelLink({ article: each.title, within: doc.given_as }), each.title))))) : null;
  const facts = doc.facts.length ? h("details", {}, h("summary", {}, `Facts (${doc.facts.length})`),
    h("ul", { class: "plain" }, doc.facts.map((fact) => h("li", {}, `${fact.subject} `, h("span", { class: "quiet" }, fact.relation), ` ${fact.object}`)))) : null;
  const words = (label, list) => (list.length ? h("p", { class: "quiet small" }, `${label}: ${list.join(", ")}`) : null);
  const text = h("div", { class: "article" }, sections);
  const quote = text.querySelector("mark.quoted");
  // What the panel scrolls to.
  const arrival = quote ?? text.querySelector(`#s${at ?? doc.first + doc.sections.findIndex((each) => section && each.section_id === section)}`);
  if (arrival) Object.assign(arrival, { tabIndex: -1 }).setAttribute("data-arrival", "");
  const missing = start !== undefined && !quote ? h("p", { class: "note warn" }, "This quotation is not in the article any more.") : null;
  return [doc.title, top, notes, missing, words("Also called", doc.aliases), outline, text, turn,
    list("Names these articles", doc.links), list("Named by", doc.backlinks), facts, words("Categories", doc.categories)];
}

/** Return a function that links the first place where a text names each article that the document links. */
function namer(doc, to, app) {
  const titles = new Map();
  for (const { title } of doc.links) for (const name of [title, bare(title)]) if (name.length > 2 && !titles.has(name)) titles.set(name, title);
  if (!titles.size) return (text) => text;
  const names = [...titles.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${names.join("|")})(?![\\p{L}\\p{N}])`, "gu");
  const seen = new Set();
  return (text) => {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(pattern)) {
      const title = titles.get(found[0]);
      if (seen.has(title)) continue;
      seen.add(title);
      parts.push(text.slice(at, found.index), h("a", { class: "wiki", ...app.panelLink({ article: title, within: doc.given_as }) }, found[0]));
      at = found.index + found[0].length;
    }
    return parts.length ? [parts, text.slice(at)] : text;
  };
}

async function search(app, { search: question }) {
  const [found, named] = await Promise.all([
    get("search", { question, pack: app.pack, profile: app.profile, top_k: 30, snippets: true }),
    get("titles", { text: question, pack: app.pack }),
  ]);
  const rows = found.results.map((each) => h("li", {},
    h("a", { class: "at", ...app.panelLink({ article: each.title, within: packOf(app, each), section: each.section_id }) }, place(each)),
    showBlocks(each.snippet), origin(app, each)));
  return [`Results for “${question}”`,
    named.titles.length ? h("p", {}, "Articles: ", named.titles.map((each, n) => [n ? ", " : "", h("a", app.panelLink({ article: each.title, within: each.pack }), each.title)])) : null,
    found.warnings.map((text) => h("p", { class: "note warn" }, text)),
    rows.length ? h("ol", { class: "results" }, rows) : h("p", {}, "Nothing was found."),
    app.writes ? null : h("p", {}, h("a", app.askLink(question), "Ask this as a question"))];
}

async function browse(app, { browse: order, first = 0 }) {
  const doc = await get("titles", { pack: app.pack, order, first, top_k: PER_PAGE });
  const to = (more) => app.panelLink({ browse: order, ...more });
  const item = (each) => h("li", {}, h("a", app.panelLink({ article: each.title, within: each.pack }), each.title), app.packs.length > 1 ? h("span", { class: "tag" }, each.pack) : null);
  const list = h("ul", { class: "columns", id: "titles" }, doc.titles.map(item));
  const find = h("input", { id: "find-title", autocomplete: "off", oninput: async () => {
    const typed = find.value.trim();
    const shown = typed ? (await get("titles", { text: typed, pack: app.pack })).titles : doc.titles;
    if (find.value.trim() === typed) list.replaceChildren(...shown.map(item));
  } });
  const random = async () => {
    const [each] = (await get("titles", { pack: app.pack, first: Math.floor(Math.random() * doc.total), top_k: 1 })).titles;
    if (each) app.go({ article: each.title, within: each.pack });
  };
  const last = doc.first + doc.titles.length;
  return [`${number(doc.total)} articles`,
    h("div", { class: "tools" },
      h("label", { for: "find-title" }, "Find a title"), find,
      h("button", { type: "button", class: "plain-button", onclick: random }, "Random article"),
      h("a", order === "links" ? app.panelLink({ browse: "title" }) : app.panelLink({ browse: "links" }), order === "links" ? "A–Z" : "Most linked first")),
    doc.letters.length > 1 ? h("nav", { class: "letters", "aria-label": "First letters" }, doc.letters.map((each) => h("a", to({ first: each.first || null }), each.letter))) : null,
    list,
    h("p", { class: "pager" }, doc.first > 0 ? h("a", to({ first: Math.max(0, doc.first - PER_PAGE) || null }), "← Previous") : null,
      doc.total > doc.titles.length ? h("span", { class: "quiet" }, `${number(doc.first + 1)}–${number(last)}`) : null,
      last < doc.total ? h("a", to({ first: last }), "Next →") : null)];
}

const nameOf = (node) => node.name || node.key;
const idOf = (node) => `${node.kind}:${node.key}`;

function inWords(edge, node) {
  const towards = idOf(edge.target) === idOf(node);
  if (edge.relation === "LINKS_TO") return towards ? "linked from here" : "links here";
  if (edge.relation === "MENTIONS") return towards ? "mentioned here" : "mentions this";
  if (edge.relation === "HAS_ENTITY") return towards ? "entity of this article" : "article about this";
  return towards ? `${edge.relation} →` : `← ${edge.relation}`;
}

/** Return how a node is connected, in a few words: a link says more than a mention in the same direction. */
function waysOf(node, edges) {
  const ways = new Set(edges.map((edge) => inWords(edge, node)));
  if (ways.has("linked from here")) ways.delete("mentioned here");
  if (ways.has("links here")) ways.delete("mentions this");
  const both = ways.delete("linked from here") ? (ways.delete("links here") ? "linked both ways" : "linked from here") : "";
  return [both, ...ways].filter(Boolean).join(", ");
}

async function near(app, { near: name, within, to }) {
  let centers = [];
  let trouble = null;
  let steps = null;
  if (to) {
    try {
      const found = (await get("paths", { from: name, to, pack: within, max_hops: 6, top_k: 1 })).paths[0];
      if (found) {
        centers = found.nodes;
        steps = h("ol", { class: "steps" }, found.nodes.map((node, n) => h("li", {}, nodeLink(node), n ? h("span", { class: "quiet" }, ` ${inWords(found.edges[n - 1], node)}`) : null)));
      } else trouble = h("p", { class: "note" }, `No path of at most 6 steps leads to “${to}”.`);
    } catch (error) {
      trouble = problem(error);
    }
  }
  const asked = centers.length ? centers.map(nameOf) : [name];
  const found = await Promise.all(asked.map((each) => get("neighbors", { name: each, pack: within, top_k: centers.length ? 4 : 60 })));
  centers = centers.length ? centers : [found[0].node];
  const nodes = new Map(centers.map((node) => [idOf(node), { node, edges: [] }]));
  const edges = found.flatMap((each) => each.edges);
  for (const { node } of found) {
    for (const edge of edges.filter((edge) => [edge.source, edge.target].some((end) => idOf(end) === idOf(node)))) {
      const other = idOf(edge.source) === idOf(node) ? edge.target : edge.source;
      if (!nodes.has(idOf(other))) nodes.set(idOf(other), { node: other, edges: [] });
      nodes.get(idOf(other)).edges.push(edge);
    }
  }
  const all = [...nodes.values()];
  const drawn = all.slice(0, centers.length + MAX_DRAWN);
  const at = new Map(drawn.map(({ node }, n) => [idOf(node), n]));
  const lines = new Map();
  for (const edge of edges) {
    const [from, target] = [at.get(idOf(edge.source)), at.get(idOf(edge.target))];
    if (from === undefined || target === undefined || from === target) continue;
    const key = [Math.min(from, target), Math.max(from, target)].join();
    const kind = { LINKS_TO: "link", MENTIONS: "mention" }[edge.relation] ?? "fact";
    if (!lines.has(key) || lines.get(key).kind === "mention") lines.set(key, { from, to: target, kind, name: `${nameOf(edge.source)} ${edge.relation} ${nameOf(edge.target)}` });
  }
  const open = (node) => () => app.go({ near: nameOf(node), within });
  const picture = drawGraph(drawn.map(({ node }) => ({ name: nameOf(node), kind: node.kind, open: open(node) })), [...lines.values()], centers.length);
  function nodeLink(node) {
    return node.kind === "article" ? h("a", app.panelLink({ article: node.key, within }), nameOf(node)) : nameOf(node);
  }
  const goal = h("input", { id: "to", required: true, autocomplete: "off", value: to ?? "" });
  const form = h("form", { class: "tools", onsubmit: (event) => (event.preventDefault(), app.go({ near: name, within, to: goal.value.trim() })) },
    h("label", { for: "to" }, "Shortest path to"), goal, h("button", { class: "plain-button" }, "Show"));
  const others = all.slice(centers.length);
  return [`Neighborhood of ${nameOf(centers[0])}`,
    h("p", { class: "quiet small" }, "What this article names, and what names it. Choose a dot to move there."),
    form, trouble, steps, picture,
    h("p", { class: "legend small" }, h("span", { class: "link" }, "link"), h("span", { class: "mention" }, "mention"), h("span", { class: "fact" }, "fact"),
      drawn.length < all.length ? h("span", { class: "quiet" }, `${drawn.length - centers.length} of ${others.length} are drawn`) : null),
    h("table", { class: "list" }, h("tbody", {}, others.map(({ node, edges: own }) => h("tr", {}, h("th", { scope: "row" }, nodeLink(node)), h("td", { class: "quiet" }, waysOf(node, own)),
      h("td", {}, h("a", { ...app.panelLink({ near: nameOf(node), within }), "aria-label": `Move there: ${nameOf(node)}` }, "move there"))))))];
}

async function why(app, { why: turnNumber }) {
  const turn = app.turns[Number(turnNumber) - 1];
  if (!turn?.doc?.explain) return ["Why this answer?", h("p", {}, "Ask the question first.")];
  const { doc } = turn;
  const { stages, candidates, sentences } = doc.explain;
  const longest = Math.max(...stages.map((stage) => stage.ms), 1);
  const dropped = (stage) => Object.entries(Object.groupBy(Object.values(stage.dropped), (reason) => reason)).map(([reason, all]) => `${all.length} dropped: ${reason}`).join("; ");
  const rows = stages.map((stage) => h("tr", {}, h("th", { scope: "row" }, stage.stage), h("td", { class: "num" }, stage.ms.toFixed(1)),
    h("td", {}, h("progress", { value: stage.ms, max: longest, "aria-label": `Share of the time of ${stage.stage}` })), h("td", { class: "num" }, stage.scored || ""), h("td", {}, [stage.warning, dropped(stage)].filter(Boolean).join("; "))));
  const to = (each, more) => app.panelLink({ article: each.title ?? each.section_id.replace(/#\d+$/, ""), within: packOf(app, each), section: each.section_id, ...more });
  const section = (each) => h("li", {}, h("a", to(each), each.title, each.section ? ` › ${each.section}` : ""), " ", h("span", { class: "quiet" }, each.reason ?? `score ${each.score.toFixed(2)}`));
  const read = candidates.filter((each) => each.reason === null);
  const others = candidates.filter((each) => each.reason !== null);
  const result = h("div", { "aria-live": "polite" });
  const expected = h("input", { id: "expected", required: true, autocomplete: "off" });
  const follow = async (event) => {
    event.preventDefault();
    result.replaceChildren("Looking …");
    try {
      const found = await get("why", { question: doc.question, title: expected.value, pack: app.pack, profile: app.profile });
      result.replaceChildren(h("p", {}, h("strong", {}, `${found.title}: ${found.outcome}. `), found.reason),
        h("table", { class: "list" }, h("thead", {}, h("tr", {}, ["Stage", "Rank", "Of", "Reason"].map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, found.stages.map((stage) => h("tr", {}, h("th", { scope: "row" }, stage.stage), h("td", { class: "num" }, stage.rank ?? "–"), h("td", { class: "num" }, stage.of ?? ""), h("td", {}, stage.reason))))));
    } catch (error) {
      result.replaceChildren(problem(error));
    }
  };
  return ["Why this answer?", h("p", {}, h("strong", {}, doc.question)),
    h("h2", {}, "An article that you expected"),
    h("form", { class: "tools", onsubmit: follow }, h("label", { for: "expected" }, "Title"), expected, h("button", { class: "plain-button" }, "Where was it dropped?")),
    app.writes ? h("p", { class: "quiet small" }, "This asks the model again.") : null, result,
    h("h2", {}, `Sections that were read (${read.length})`), h("ol", {}, read.map(section)),
    others.length ? [h("h2", {}, `Sections that were not (${others.length} of ${doc.explain.candidates_in_all - read.length})`), h("ol", {}, others.map(section))] : null,
    h("h2", {}, "Sentences"), h("ol", { class: "sentences" }, sentences.map((each) => h("li", { class: each.cited ? "cited" : null }, each.text, " ",
      h("a", to(each, { start: each.start, end: each.end }), each.section_id), " ", h("span", { class: "quiet" }, `${each.score.toFixed(2)}${each.cited ? " · cited" : ""}`)))),
    h("h2", {}, "Stages"), h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Stages" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, ["Stage", "ms", "", "Scored", "Notes"].map((name) => h(name ? "th" : "td", { scope: name ? "col" : null }, name)))), h("tbody", {}, rows)))];
}

// The conversation, its address, and what stands beside it. Everything that can be shared is in the address.

import { showBlocks, showRuns, textOf } from "./blocks.js";
import { $, clean, copyButton, events, Failure, get, GONE, h, number, outside, problem, request } from "./dom.js";
import { origin, PANELS, place } from "./panels.js";

const RECENT = "wikigr.recent";
const ANSWERS = "wikigr.answers";
const MAX_RECENT = 20;
const MAX_KEPT = 30;
const MAX_PREVIOUS = 3;
const LEVELS = { sure: "Sure", likely: "Likely", not_sure: "Not sure", not_covered: "Not covered" };
const MEANINGS = { sure: "nine of ten such answers are right", likely: "more such answers are right than wrong", not_sure: "the answer may be as wrong as the others", not_covered: "the packs do not answer this" };
const AGREEMENT = { true: ", the same with and without the model", false: ", not the same with and without the model" };
const PANEL_KEYS = ["article", "within", "section", "start", "end", "first", "view", "at", "search", "browse", "near", "to", "why"];

const app = { packs: [], profiles: [], turns: [], pack: "", profile: "" };
let asking = null;
let opener = null;
let shownPanel = "";
// The conversation on the page, with the question that is being asked.
let shownTalk = "";

// --- The address

const params = () => new URLSearchParams(location.search);
const panelOf = (query) => Object.fromEntries(PANEL_KEYS.filter((key) => query.has(key)).map((key) => [key, query.get(key)]));

function address(questions, panel = {}) {
  const query = new URLSearchParams();
  for (const question of questions) query.append("q", question);
  if (app.pack) query.set("pack", app.pack);
  if (app.profile && app.profile !== app.profiles[0]?.name) query.set("profile", app.profile);
  for (const [key, value] of Object.entries(panel)) if (value !== null && value !== undefined && value !== "") query.set(key, value);
  return query.size ? `/?${query}` : "/";
}

app.panelLink = (panel) => ({ href: address(params().getAll("q"), panel), "data-panel": true });
app.askLink = (question) => ({ href: address([question]), "data-go": true });
app.go = (panel) => visit(address(params().getAll("q"), panel));
Object.defineProperty(app, "writes", { get: () => app.profiles.find((each) => each.name === app.profile)?.writes ?? false });

function visit(href) {
  history.pushState(null, "", href);
  return show();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go], a[data-panel]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.hasAttribute("data-panel")) {
    if (!$("panel").contains(link)) opener = link;
    // The conversation may have gone on since the link was made.
    visit(address(params().getAll("q"), panelOf(new URL(link.href).searchParams)));
  } else visit(link.getAttribute("href"));
});
addEventListener("popstate", () => show());

/** Show what the address says: the conversation, asking what is not known yet, and the panel. */
async function show({ mayAsk = false } = {}) {
  const query = params();
  const questions = query.getAll("q").map((text) => text.trim()).filter(Boolean).slice(0, 20);
  app.pack = app.packs.some((pack) => pack.given_as === query.get("pack")) ? query.get("pack") : "";
  app.profile = app.profiles.some((each) => each.name === query.get("profile")) ? query.get("profile") : app.profiles[0].name;
  $("pack").value = app.pack;
  $("profile").value = app.profile;
  describeProfile();
  if (shownTalk === keyOf(questions) && !mayAsk) return showPanel(panelOf(query));
  shownTalk = keyOf(questions);
  asking?.abort();
  asking = null;
  const known = [];
  for (const question of questions) {
    const kept = answers.get(keyOf([...known.map((turn) => turn.question), question]));
    if (!kept) break;
    known.push({ question, ...kept });
  }
  setTurns(known);
  showPanel(panelOf(query));
  const open = questions.slice(known.length);
  if (!open.length) return;
  // A link must not spend the money of the one who follows it.
  if (app.writes && !mayAsk) {
    $("alert").replaceChildren(h("p", { class: "note" }, `A model writes the answers of the profile ${app.profile}. `,
      h("button", { type: "button", onclick: () => show({ mayAsk: true }) }, open.length > 1 ? `Ask ${open.length} questions` : `Ask: ${open[0]}`)));
    return;
  }
  for (const question of open) if (!(await ask(question))) break;
}

// --- Answers that this tab knows

const answers = new Map(restore());
// A pack that was replaced has another digest, so its old answers are not found again.
const keyOf = (questions) => JSON.stringify([app.packs.map((pack) => pack.digest.slice(0, 12)), app.pack, app.profile, ...questions]);

function restore() {
  try {
    return JSON.parse(sessionStorage.getItem(ANSWERS) ?? "[]");
  } catch {
    return [];
  }
}

function keep(key, value) {
  answers.delete(key);
  answers.set(key, value);
  while (answers.size > MAX_KEPT) answers.delete(answers.keys().next().value);
  try {
    sessionStorage.setItem(ANSWERS, JSON.stringify([...answers]));
  } catch {
    // There is no room; reloading asks again.
  }
}

function recentQuestions() {
  try {
    const found = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

function remember(question) {
  try {
    localStorage.setItem(RECENT, JSON.stringify([...new Set([question, ...recentQuestions()])].slice(0, MAX_RECENT)));
  } catch {
    // The browser keeps nothing for this page.
  }
}

// --- The conversation

function setTurns(turns) {
  app.turns = turns;
  $("conversation").replaceChildren(...turns.map(showTurn));
  $("alert").replaceChildren();
  showHome();
}

function showHome() {
  const isEmpty = !app.turns.length && !asking;
  $("home").hidden = !isEmpty;
  $("new").hidden = $("talk").hidden = isEmpty;
  document.body.classList.toggle("talking", !isEmpty);
  document.title = app.turns.length ? `${clean(app.turns.at(-1).question)} · wikigr` : "wikigr";
  $("q").placeholder = isEmpty ? "Ask a question" : "Ask a follow-up";
  if (!isEmpty) return;
  $("packs").replaceChildren(...app.packs.map(packCard));
  const recent = recentQuestions();
  $("recent").hidden = !recent.length;
  $("recent-list").replaceChildren(...recent.map((question) => h("li", {}, h("a", app.askLink(question), question))));
}

function packCard(pack) {
  const counts = ["articles", "sections", "links"].filter((name) => pack.counts[name]).map((name) => `${number(pack.counts[name])} ${name}`);
  const query = (questions) => `/?${new URLSearchParams([...questions.map((q) => ["q", q]), ...(app.packs.length > 1 ? [["pack", pack.given_as]] : [])])}`;
  return h("section", { class: "card" },
    h("h2", {}, pack.given_as, " ", h("span", { class: "quiet small" }, pack.version)),
    pack.description ? h("p", {}, pack.description) : null,
    h("p", { class: "quiet small" }, [...counts, pack.license].filter(Boolean).join(" · ")),
    pack.starters?.length ? h("ul", { class: "chips", "aria-label": "Questions to begin with" }, pack.starters.map((question) => h("li", {}, h("a", { href: query([question]), "data-go": true }, question)))) : null,
    h("p", {}, h("a", { href: `${query([])}${app.packs.length > 1 ? "&" : ""}browse=title`, "data-go": true }, "Browse its articles")));
}

/** Ask a question after those before it; return whether it was answered. */
async function ask(question) {
  const before = app.turns.slice(-MAX_PREVIOUS).map((turn) => turn.doc.understood ?? turn.question);
  const turn = { question };
  const control = (asking = new AbortController());
  const part = showWaiting(question, control);
  $("conversation").append(part.element);
  showHome();
  part.element.scrollIntoView({ block: "start" });
  try {
    const body = { question, explain: true, previous: before, pack: app.pack || null, profile: app.profile };
    const response = await request("/api/ask", { method: "POST", signal: control.signal, headers: { "Content-Type": "application/json", Accept: "text/event-stream" }, body: JSON.stringify(body) });
    for await (const [kind, value] of events(response)) {
      if (kind === "stage") part.stage(value.stage);
      else if (kind === "offline") part.draft((turn.draft = slim(value)));
      else if (kind === "text") part.text(value.text);
      else if (kind === "answer") turn.doc = slim(value);
      else if (kind === "error") throw new Failure(value.error, value.hint, 400);
    }
    if (!turn.doc) throw new Failure(GONE, "Your question is kept. Start the server again, then try again.", 0);
  } catch (error) {
    part.element.remove();
    if (asking === control) asking = null;
    if (error.name === "AbortError") return false;
    fail(question, error);
    return false;
  }
  if (asking !== control) return false;
  asking = null;
  app.turns.push(turn);
  const questions = app.turns.map((each) => each.question);
  keep(keyOf(questions), { doc: turn.doc, draft: turn.draft });
  remember(turn.doc.understood ?? question);
  part.element.replaceWith(showTurn(turn, app.turns.length - 1));
  // Only the last turn can be taken back.
  $("conversation").querySelectorAll(".undo").forEach((button) => (button.hidden = !button.closest(".turn").matches(":last-child")));
  showHome();
  $("conversation").lastElementChild.scrollIntoView({ block: "start" });
  if (params().get("why") === String(app.turns.length)) {
    shownPanel = "";
    showPanel(panelOf(params()));
  }
  const { doc } = turn;
  $("status").textContent = clean(`${LEVELS[doc.level]}. ${doc.span?.text ?? doc.answer}`.slice(0, 300));
  return true;
}

/** An error leaves the conversation as it was, and the question in the box. */
function fail(question, error) {
  if (error.status === 401) return signIn();
  if (!$("q").value) $("q").value = question;
  const again = () => {
    $("alert").replaceChildren();
    $("q").value = "";
    visit(address([...app.turns.map((turn) => turn.question), question], panelOf(params())));
  };
  const alone = app.turns.length && error.status === 400 ? h("a", app.askLink(question), "Ask it alone") : null;
  $("alert").replaceChildren(h("div", { class: "note warn" }, h("p", {}, h("strong", {}, question)), h("p", {}, error.message, error.hint ? ` ${error.hint}` : ""),
    h("p", { class: "tools" }, error.status === 400 ? alone : h("button", { type: "button", class: "quiet-button", onclick: again }, "Try again"),
      h("button", { type: "button", class: "quiet-button", onclick: () => ($("alert").replaceChildren(), $("q").focus()) }, "Dismiss"))));
  forgetUnanswered();
  $("q").focus();
}

/** Let the address contain only what was answered. */
function forgetUnanswered() {
  const questions = app.turns.map((turn) => turn.question);
  history.replaceState(null, "", address(questions, panelOf(params())));
  shownTalk = keyOf(questions);
  showHome();
}

/** Leave out the texts of sections, which the page does not show. */
function slim(doc) {
  for (const each of doc.explain?.candidates ?? []) delete each.content;
  return doc;
}

function showWaiting(question, control) {
  const state = h("p", { class: "quiet waiting" }, "Searching …");
  const quoted = h("div");
  const written = h("div", { class: "text written" });
  const stop = h("button", { type: "button", class: "quiet-button", onclick: () => {
    control.abort();
    element.remove();
    asking = null;
    $("q").value ||= question;
    forgetUnanswered();
  } }, "Stop");
  const element = h("article", { class: "turn", "aria-busy": "true" }, h("h2", { class: "question" }, question), quoted, written, h("p", { class: "tools" }, state, stop));
  return {
    element,
    stage: (name) => (state.textContent = `Searching: ${name} …`),
    draft: (doc) => quoted.replaceChildren(...draftOf(doc)),
    text: (piece) => {
      state.textContent = "The model is writing …";
      written.append(clean(piece));
    },
  };
}

/** What a pack says, above what a model makes of it. */
function draftOf(doc) {
  return [h("div", { class: "draft" }, h("h3", {}, "In the pack"), statement(doc, 0), sourceList(doc))];
}

function showTurn(turn, index) {
  const { question, doc, draft } = turn;
  const before = app.turns.slice(0, index).map((each) => each.question);
  const undo = () => {
    visit(address(before, {}));
    $("q").value = question;
    $("q").focus();
  };
  const first = doc.citations[0];
  const packOf = (item) => item.pack ?? doc.pack?.name;
  const written = isWritten(doc);
  return h("article", { class: "turn" },
    h("h2", { class: "question" }, question),
    doc.understood ? h("p", { class: "note" }, "Understood as: ", h("strong", {}, doc.understood), " ", h("a", app.askLink(question), "Ask it as typed")) : null,
    written && draft ? [draftOf(draft), h("h3", {}, `Written by ${doc.model}`)] : null,
    statement(doc, 0), confidence(doc),
    chainOf(doc), others(doc), rejectedOf(doc),
    doc.query_type === "own_knowledge" ? h("p", { class: "note warn" }, "The model answered from its own memory. Nothing in the pack supports this answer.") : null,
    doc.warnings.map((text) => h("p", { class: "note warn" }, text)),
    sourceList(doc),
    h("p", { class: "tools small" },
      h("a", app.panelLink({ why: index + 1 }), "Why this answer?"),
      h("a", app.panelLink({ search: doc.question }), "All results"),
      first ? h("a", app.panelLink({ near: first.title, within: within(first, doc) }), "Neighborhood") : null,
      copyButton(() => markdown(doc)),
      h("button", { type: "button", class: "quiet-button undo", hidden: index < app.turns.length - 1, onclick: undo }, "Undo")),
    doc.usage.calls ? h("p", { class: "quiet small" }, `${number(doc.usage.input_tokens + doc.usage.cache_read_tokens + doc.usage.cache_write_tokens)} tokens in, ${number(doc.usage.output_tokens)} out${doc.usage.cost_usd === null ? "" : `, $${doc.usage.cost_usd.toFixed(4)}`}`) : null);
}

// What a model wrote is of no kind, whether or not a model was asked.
const isWritten = (doc) => Boolean(doc.model) && !doc.kind && !doc.abstained;
const isDoubtful = (doc) => Boolean(doc.heading);
const short = (answer) => answer.span?.text.replace(/\s+/g, " ").trim() ?? "";
const within = (item, doc) => item.pack ?? (app.packs.length === 1 ? app.packs[0].given_as : app.pack || doc.pack?.name);
const open = (item, doc, more) => app.panelLink({ article: item.title, within: within(item, doc), section: item.section_id, start: item.start, end: item.end, ...more });

/** The numbers of citations: links to the quotation, which is shown when they have the pointer or the focus. */
function citer(answer, doc, offset) {
  return (n) => {
    const item = answer.citations.find((each) => each.n === n);
    if (!item) return null;
    const link = h("a", { class: "cite", ...open(item, doc), "aria-label": `Source ${n + offset}: ${item.title}` }, n + offset);
    for (const event of ["pointerenter", "focus"]) link.addEventListener(event, () => preview(link, item));
    for (const event of ["pointerleave", "blur"]) link.addEventListener(event, () => hidePreview(link));
    return link;
  };
}

function statement(doc, offset) {
  if (isDoubtful(doc) || (doc.abstained && !doc.citations.length)) {
    return h("p", { class: "headline quiet" }, isDoubtful(doc) ? doc.heading : doc.answer);
  }
  const headline = short(doc);
  return [headline && !isWritten(doc) ? h("p", { class: "headline" }, headline) : null, h("div", { class: "text" }, showBlocks(doc.blocks, { cite: citer(doc, doc, offset) }))];
}

function confidence(doc) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, doc.confidence)));
  return h("p", { class: "confidence" }, h("meter", { min: 0, max: 100, value: percent, class: doc.level, "aria-label": "Confidence" }),
    h("span", { title: MEANINGS[doc.level] }, LEVELS[doc.level], h("span", { class: "quiet" }, ` · ${percent} %`, AGREEMENT[doc.agrees] ?? "")));
}

/** What a model wrote where that is not the answer. */
function rejectedOf(doc) {
  if (!doc.rejected) return null;
  const offset = doc.citations.length + doc.alternatives.reduce((sum, each) => sum + each.citations.length, 0);
  const { citations } = doc.rejected;
  return h("details", { class: "rejected" }, h("summary", {}, `What ${doc.model} wrote${citations.length ? "" : ", of which nothing is verified"}`),
    h("div", { class: "text" }, showBlocks(doc.rejected.blocks, { cite: citer(doc.rejected, doc, offset) })));
}

function others(doc) {
  const doubtful = isDoubtful(doc);
  const found = doubtful ? [doc, ...doc.alternatives] : doc.alternatives;
  if (!found.length) return null;
  let count = doubtful ? 0 : doc.citations.length;
  const items = found.map((each) => {
    const offset = count;
    count += each.citations.length;
    return h("li", {}, each.citations.map((item) => h("p", { class: "at" }, h("a", { class: "source", ...open(item, doc) }, place(item)), origin(app, item))),
      !doubtful && !doc.abstained && short(each) ? h("p", { class: "short" }, short(each), h("span", { class: "quiet small" }, ` ${Math.round(100 * each.confidence)} %`)) : null,
      h("div", { class: "passage" }, showBlocks(each.blocks, { cite: each.citations.length > 1 ? citer(each, doc, offset) : undefined })));
  });
  return [doubtful ? null : h("h3", {}, doc.abstained ? "Nearest passages" : "Other possible answers"), h("ul", { class: "others" }, items)];
}

function chainOf(doc) {
  if (!doc.chain.length) return null;
  const cite = citer(doc, doc, 0);
  const titles = [...new Set(doc.chain.map((hop) => doc.citations.find((each) => each.n === hop.n)?.title).filter(Boolean))];
  const path = titles.length > 1 ? app.panelLink({ near: titles[0], to: titles.at(-1), within: within(doc.citations[0], doc) }) : null;
  return [h("h3", {}, "Step by step"),
    h("ol", { class: "chain" }, doc.chain.map((hop) => h("li", {}, h("span", { class: "quiet" }, hop.question), " ", h("strong", {}, hop.answer), " ", cite(hop.n), h("span", { class: "quiet small" }, ` ${Math.round(100 * hop.probability)} %`)))),
    path ? h("p", { class: "small" }, h("a", path, "See this path in the graph")) : null];
}

function sourceList(doc) {
  if (!doc.citations.length || isDoubtful(doc)) return null;
  // What is quoted stands in the answer already, unless a model wrote it.
  const quote = (item) => isWritten(doc) ? h("div", { class: "passage" }, showBlocks(item.blocks)) : null;
  return h("ol", { class: "sources", "aria-label": "Sources" }, doc.citations.map((item) => h("li", { value: item.n },
    h("a", { class: "source", ...open(item, doc) }, h("span", { class: "n", "aria-hidden": "true" }, item.n), place(item)),
    originOf(item, doc), quote(item))));
}

function originOf(item, doc) {
  const found = origin(app, item);
  if (app.hasOriginals && /\.pdf$/i.test(item.source_id)) found.append(h("a", open(item, doc, { view: "original" }), "PDF beside the answer"));
  return found;
}

function markdown(doc) {
  const lines = doc.citations.map((item) => `${item.n}. ${item.title}${item.section ? ` › ${item.section}` : ""}: “${item.quote.replace(/\s+/g, " ")}”${outside(item.url) ? ` <${item.url}>` : ""}`);
  const text = doc.blocks.map((block) => block.kind === "code" ? `\n\`\`\`${block.label}\n${textOf(block.runs)}\n\`\`\`\n`
    : block.kind === "table" ? [block.columns, block.columns.map(() => "---"), ...block.rows.map((row) => row.cells.map(textOf))].map((row) => `| ${row.join(" | ")} |`).join("\n")
      : `${["item", "task"].includes(block.kind) ? "- " : ""}${block.runs.map((run) => run.text).join("")}`).join("\n");
  return `## ${doc.question}\n\n${text.trim()}\n\n${LEVELS[doc.level]} (${doc.confidence.toFixed(2)})\n\n${lines.join("\n")}\n`;
}

// --- The preview of a source

let hiding;
function preview(link, item) {
  clearTimeout(hiding);
  const box = $("preview");
  box.replaceChildren(h("strong", {}, place(item)), h("div", { class: "passage" }, showBlocks(item.blocks, { whole: false })));
  // What can take the focus does not belong into a tooltip.
  box.querySelectorAll("button, figcaption").forEach((part) => part.remove());
  box.querySelectorAll("[tabindex]").forEach((part) => part.removeAttribute("tabindex"));
  box.hidden = false;
  link.setAttribute("aria-describedby", "preview");
  const at = link.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  box.style.top = `${at.bottom + height + 6 > innerHeight && at.top > height + 6 ? at.top - height - 6 : at.bottom + 6}px`;
}
function hidePreview(link) {
  link.removeAttribute("aria-describedby");
  hiding = setTimeout(() => ($("preview").hidden = true), 120);
}
$("preview").addEventListener("pointerenter", () => clearTimeout(hiding));
$("preview").addEventListener("pointerleave", () => ($("preview").hidden = true));
addEventListener("scroll", () => ($("preview").hidden = true), { capture: true, passive: true });

// --- The panel

const covers = matchMedia("(max-width: 68rem)");

async function showPanel(given) {
  const kind = Object.keys(PANELS).find((name) => given[name] !== undefined);
  const wanted = kind ? JSON.stringify([app.pack, app.profile, given]) : "";
  if (wanted === shownPanel) return;
  const panel = $("panel");
  const wasOpen = !panel.hidden;
  shownPanel = wanted;
  panel.hidden = !kind;
  document.body.classList.toggle("split", Boolean(kind));
  cover();
  if (!kind) {
    if (wasOpen && panel.contains(document.activeElement) | (document.activeElement === document.body)) (opener?.isConnected ? opener : $("q")).focus();
    return;
  }
  panel.classList.toggle("wide", given.view === "original");
  $("panel-body").setAttribute("aria-busy", "true");
  const focused = document.activeElement;
  let parts;
  try {
    parts = await PANELS[kind](app, given);
  } catch (error) {
    if (error.status === 401) return signIn();
    parts = [error.status === 404 ? "Not found" : "This cannot be shown", problem(error)];
  }
  if (shownPanel !== wanted) return;
  const [title, ...nodes] = parts;
  $("panel-title").replaceChildren(h("span", {}, title));
  $("panel-body").replaceChildren(h("div", {}, nodes));
  $("panel-body").removeAttribute("aria-busy");
  const arrival = panel.querySelector("[data-arrival]");
  if (!arrival) panel.scrollTop = 0;
  // Whoever went to another place meanwhile, such as the box, stays there.
  if ([focused, document.body].includes(document.activeElement) || panel.contains(document.activeElement)) (arrival ?? $("panel-title")).focus({ preventScroll: true });
  arrival?.scrollIntoView({ block: arrival.matches("mark") ? "center" : "start" });
}

/** A panel that covers the conversation is what the page is about. */
function cover() {
  const isCovered = !$("panel").hidden && covers.matches;
  $("main").inert = isCovered;
  $("panel").setAttribute("role", isCovered ? "main" : "complementary");
}

const closePanel = () => visit(address(params().getAll("q")));
$("close").addEventListener("click", closePanel);
covers.addEventListener("change", cover);

// --- The box

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = $("q").value.trim();
  if (!question) return;
  $("q").value = "";
  closeTitles();
  $("alert").replaceChildren();
  const questions = [...app.turns.map((turn) => turn.question), question];
  history.pushState(null, "", address(questions, covers.matches ? {} : panelOf(params())));
  shownTalk = keyOf(questions);
  if (covers.matches) showPanel({});
  asking?.abort();
  ask(question);
});
$("find").addEventListener("click", () => {
  const text = $("q").value.trim();
  if (!text) return $("q").focus();
  closeTitles();
  opener = $("find");
  app.go({ search: text });
});
for (const name of ["pack", "profile"]) {
  $(name).addEventListener("change", () => {
    app[name] = $(name).value;
    // Answers of another pack are another conversation.
    visit(address([], panelOf(params())));
  });
}

function describeProfile() {
  const chosen = app.profiles.find((each) => each.name === app.profile);
  $("profile-text").textContent = chosen ? `${chosen.description}${chosen.writes ? ". A model writes the answers." : ""}` : "";
}

// Titles are completed while they are typed.
const box = $("q");
const titles = h("ul", { id: "titles-of-q", role: "listbox", "aria-label": "Titles", class: "titles", hidden: true });
box.after(titles);
for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": titles.id, "aria-expanded": "false" })) box.setAttribute(name, value);
let chosen = -1;
let ending = "";
let typing;
let lookup;

function choose(at) {
  chosen = at;
  [...titles.children].forEach((option, n) => option.setAttribute("aria-selected", String(n === at)));
  if (at < 0) box.removeAttribute("aria-activedescendant");
  else box.setAttribute("aria-activedescendant", titles.children[at].id);
}
function offer(found) {
  titles.replaceChildren(...found.map((title, n) => h("li", { role: "option", id: `title-${n}`, "aria-selected": "false" }, title)));
  titles.hidden = !found.length;
  box.setAttribute("aria-expanded", String(!titles.hidden));
  choose(-1);
}
function closeTitles() {
  clearTimeout(typing);
  lookup?.abort();
  offer([]);
}
function take(option) {
  const at = box.selectionStart;
  box.setRangeText(option.textContent, at - ending.length, at, "end");
  closeTitles();
}
box.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(async () => {
    lookup?.abort();
    lookup = new AbortController();
    const text = box.value.slice(0, box.selectionStart);
    try {
      const found = text.trim() ? await get("titles", { text, pack: app.pack }, { signal: lookup.signal }) : { titles: [], ending: "" };
      ending = found.ending;
      offer(found.titles.map((each) => each.title).filter((title) => title !== ending));
    } catch {
      // The server is gone, or more was typed since.
    }
  }, 150);
});
box.addEventListener("keydown", (event) => {
  const count = titles.children.length;
  if (!count) return;
  if (event.key === "ArrowDown") choose(chosen + 1 < count ? chosen + 1 : -1);
  else if (event.key === "ArrowUp") choose(chosen < 0 ? count - 1 : chosen - 1);
  else if (event.key === "Enter" && chosen >= 0) take(titles.children[chosen]);
  else if (event.key === "Escape") closeTitles();
  else return;
  event.preventDefault();
});
box.addEventListener("blur", closeTitles);
titles.addEventListener("pointerdown", (event) => event.preventDefault());
titles.addEventListener("click", (event) => event.target.closest("li") && take(event.target.closest("li")));

// Keys: "/" goes to the box, the arrows go through the sources, Escape closes what is open.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const field = event.target.closest("input, select, textarea");
  if (event.key === "Escape") {
    if (!$("preview").hidden) $("preview").hidden = true;
    else if (field === box) box.blur();
    else if (!$("panel").hidden) closePanel();
  } else if (event.key === "/" && !field && !$("main").inert) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!field || field === box) && !event.target.closest(".scroll, pre, svg, #panel")) {
    const sources = [...document.querySelectorAll("#conversation .turn:last-child a.source")];
    const next = sources[sources.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    const target = next ?? (event.key === "ArrowUp" && sources.includes(document.activeElement) ? box : null);
    if (!target) return;
    event.preventDefault();
    target.focus();
    target.scrollIntoView({ block: "nearest" });
  }
});

$("forget").addEventListener("click", () => {
  localStorage.removeItem(RECENT);
  showHome();
  box.focus();
});

// --- The start

function signIn() {
  $("sign-in").hidden = false;
  $("ask").hidden = $("home").hidden = true;
  $("token").focus();
}
$("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await request("/api/session", { method: "POST", headers: { Authorization: `Bearer ${$("token").value.trim()}` } });
    $("token").value = "";
    $("sign-in").hidden = true;
    $("alert").replaceChildren();
    start();
  } catch (error) {
    $("alert").replaceChildren(problem(error));
  }
});

async function start() {
  try {
    const [server, listed] = await Promise.all([get("server"), get("packs")]);
    Object.assign(app, { profiles: server.profiles, packs: listed.packs, hasOriginals: server.originals });
    box.maxLength = server.max_question;
  } catch (error) {
    if (error.status === 401) return signIn();
    $("alert").replaceChildren(problem(error), h("button", { type: "button", onclick: () => ($("alert").replaceChildren(), start()) }, "Try again"));
    return;
  }
  $("pack").replaceChildren(h("option", { value: "" }, "All packs"), ...app.packs.map((pack) => h("option", { value: pack.given_as }, pack.given_as)));
  $("pack-choice").hidden = app.packs.length < 2;
  $("profile").replaceChildren(...app.profiles.map((each) => h("option", { value: each.name }, each.name)));
  $("ask").hidden = false;
  shownTalk = "";
  await show();
  if (!params().size && !matchMedia("(pointer: coarse)").matches) box.focus();
}

start();

// Everything here is a convenience: asking and reading work without it.

const RECENT = "wikigr.recent";
const MAX_RECENT = 20;
const box = document.getElementById("q");

// Keys: "/" goes to the box, the arrows go through the citations, Enter opens the one with the focus.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape" && typing) {
    typing.blur();
  } else if (event.key === "/" && !typing && box) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!typing || typing === box)) {
    if (moveFocus(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
  }
});

function moveFocus(step) {
  const sources = [...document.querySelectorAll("a.source, a.at")];
  const here = sources.indexOf(document.activeElement);
  if (!sources.length || document.activeElement?.closest("svg, .scroll")) return false;
  if (here < 0 && step < 0) return false;
  if (here === 0 && step < 0) {
    box?.focus();
    return true;
  }
  const next = sources[here + step];
  // At the end, the key scrolls the page.
  if (!next) return false;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

// Sections are folded on a phone, where they would push the text off the screen.
if (matchMedia("(max-width: 46rem)").matches) document.querySelector(".outline details")?.removeAttribute("open");

// Recent questions stay in this browser.
function readRecent() {
  try {
    const found = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(found) ? found.filter((item) => typeof item?.question === "string" && typeof item?.address === "string" && item.address.startsWith("/ask?")) : [];
  } catch {
    return [];
  }
}

function remember(question, address) {
  const others = readRecent().filter((item) => item.address !== address);
  try {
    localStorage.setItem(RECENT, JSON.stringify([{ question, address }, ...others].slice(0, MAX_RECENT)));
  } catch {
    // The browser keeps nothing, which is its user's choice.
  }
}

const asked = document.querySelector("[data-remember]");
if (asked) remember(asked.dataset.remember, asked.dataset.address);

const recent = document.getElementById("recent");
if (recent) {
  const list = document.getElementById("recent-list");
  for (const { question, address } of readRecent()) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = question;
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  recent.hidden = !list.children.length;
  document.getElementById("forget").addEventListener("click", () => {
    localStorage.removeItem(RECENT);
    recent.hidden = true;
    box.focus();
  });
}

// If a model writes the answers of a profile, show them while it writes.
for (const form of document.querySelectorAll('form.ask[action="/ask"]')) {
  form.addEventListener("submit", () => {
    if (!form.elements.profile.selectedOptions[0]?.hasAttribute("data-writes")) return;
    const live = document.createElement("input");
    Object.assign(live, { type: "hidden", name: "live", value: "1" });
    form.append(live);
    // After "back" the form would still have it.
    setTimeout(() => live.remove());
  });
}

const live = document.getElementById("live");
if (live) {
  const written = document.getElementById("written");
  const state = document.getElementById("state");
  const events = new EventSource(live.dataset.events);
  events.addEventListener("stage", (event) => (state.textContent = `Searching: ${JSON.parse(event.data)} …`));
  events.addEventListener("text", (event) => {
    state.textContent = "The model is writing …";
    written.append(JSON.parse(event.data));
  });
  events.addEventListener("answer", (event) => {
    events.close();
    // The server rendered and escaped this part of the page, as it does without a script.
    const part = new DOMParser().parseFromString(JSON.parse(event.data), "text/html").body;
    live.replaceChildren(...live.querySelectorAll(":scope > h1, :scope > .note"), ...part.childNodes);
    history.replaceState(null, "", live.dataset.address);
  });
  events.addEventListener("problem", (event) => {
    events.close();
    state.textContent = JSON.parse(event.data);
    state.className = "note warn";
  });
  events.addEventListener("error", () => {
    // A browser would ask again, and a model would be paid twice.
    if (events.readyState === EventSource.CLOSED) return;
    events.close();
    state.textContent = "The connection was lost.";
    state.className = "note warn";
  });
}

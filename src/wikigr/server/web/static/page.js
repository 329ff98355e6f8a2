// Everything here is a convenience: asking and reading work without it.

const RECENT = "wikigr.recent";
const LAST = "wikigr.last";
const MAX_RECENT = 20;
const box = document.getElementById("q");
document.documentElement.classList.add("scripted");

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
  // In the order of their numbers: other possible answers stand before the sources, but are numbered on from them.
  const sources = ["a.source", ".others a.at", "main.search a.at"].flatMap((kind) => [...document.querySelectorAll(kind)]);
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

// The box selects the question that was asked, so that typing asks the next one.
box?.addEventListener("focus", () => box.value === box.defaultValue && box.select());

// Titles are completed while they are typed.
for (const input of document.querySelectorAll("input[data-titles]")) completeTitles(input);

function completeTitles(input) {
  const list = document.createElement("ul");
  Object.assign(list, { id: `${input.id}-titles`, role: "listbox", ariaLabel: "Titles", className: "titles", hidden: true });
  input.after(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" })) input.setAttribute(name, value);
  let chosen = -1;
  let ending = "";
  let timer;
  let request;

  const choose = (number) => {
    chosen = number;
    [...list.children].forEach((option, n) => option.setAttribute("aria-selected", String(n === number)));
    if (number < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[number].id);
  };
  const show = (titles) => {
    list.replaceChildren(...titles.map((title, n) => Object.assign(document.createElement("li"), { role: "option", id: `${list.id}-${n}`, textContent: title })));
    list.hidden = !titles.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    Object.assign(list.style, { left: `${input.offsetLeft}px`, top: `${input.offsetTop + input.offsetHeight}px`, width: `${input.offsetWidth}px` });
    choose(-1);
  };
  const close = () => {
    clearTimeout(timer);
    request?.abort();
    show([]);
  };
  const take = (option) => {
    const at = input.selectionStart;
    input.setRangeText(option.textContent, at - ending.length, at, "end");
    close();
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const typed = input.value.slice(0, input.selectionStart);
      request?.abort();
      request = new AbortController();
      try {
        const query = new URLSearchParams({ q: typed, pack: input.form.elements.pack?.value ?? "" });
        const found = await (await fetch(`/titles?${query}`, { signal: request.signal })).json();
        ending = found.ending ?? "";
        show((found.titles ?? []).filter((title) => title !== ending));
      } catch {
        // The server is gone, or more was typed since.
      }
    }, 150);
  });
  input.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (!count) return;
    if (event.key === "ArrowDown") choose(chosen + 1 < count ? chosen + 1 : -1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? count - 1 : chosen - 1);
    else if (event.key === "Enter" && chosen >= 0) take(list.children[chosen]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", close);
  // The box keeps the focus.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => event.target.closest("li") && take(event.target.closest("li")));
}

// Copying; where a page may not, the text is shown and selected.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    text.closest("details").open = true;
    getSelection().selectAllChildren(text);
  }
});

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

// An article leads back to the answer with the conversation before it, which the address of the answer alone lacks.
try {
  if (asked) sessionStorage.setItem(LAST, JSON.stringify([asked.dataset.address, location.pathname + location.search]));
  const [address, whole] = JSON.parse(sessionStorage.getItem(LAST) ?? "[]");
  const back = document.querySelector(".back a");
  if (back && back.getAttribute("href") === address && whole.startsWith("/ask?")) back.href = whole;
} catch {
  // The browser keeps nothing.
}

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
  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("formaction")) return;
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
    live.replaceChildren(...live.querySelectorAll(":scope > h1, :scope > .note, :scope > .before"), ...part.childNodes);
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

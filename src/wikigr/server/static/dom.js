// Elements, requests, and words that all parts of the page use.

// Control characters, and those that turn the direction of text around.
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export const $ = (id) => document.getElementById(id);
export const clean = (text) => String(text).replace(HARMFUL, "\ufffd");

function make(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : clean(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "").map((child) => (child instanceof Node ? child : clean(child))));
  return element;
}

/** Return an element. Text is only ever text, and what a pack says never becomes a handler or a style. */
export const h = (tag, properties, ...children) => make(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) => make(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/** An error that the server reported, or that it does not answer (status 0). */
export class Failure extends Error {
  constructor(message, hint, status) {
    super(message);
    Object.assign(this, { hint, status });
  }
}

export const GONE = "The server does not answer. It may have been stopped.";

export async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(GONE, "Your question is kept. Start the server again, then try again.", 0);
  }
  if (response.ok) return response;
  const found = await response.json().catch(() => ({}));
  throw new Failure(found.error ?? `The server answered with status ${response.status}.`, found.hint, response.status);
}

/** Return a document of the API; arguments without a value are left out. */
export async function get(path, values = {}, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined && value !== null && value !== "") query.append(name, value);
  return (await request(`/api/${path}${query.size ? `?${query}` : ""}`, options)).json();
}

/** Yield the Server-Sent Events of a response as pairs of a kind and a document. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Failure(GONE, "Your question is kept. Start the server again, then try again.", 0);
    });
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const found = /^event: (\w+)\ndata: (.*)$/s.exec(part);
      if (found) yield [found[1], JSON.parse(found[2])];
    }
  }
}

export const problem = (error) => h("p", { class: "note warn" }, error.message, error.hint ? [" ", error.hint] : null);
export const number = (value) => value.toLocaleString("en-US");

/** Return the address if it is one of the web, and else null. */
export function outside(url) {
  return /^https?:\/\/[^/]/i.test(url ?? "") && URL.canParse(url) ? url : null;
}

/** A button that copies; text that may not be copied is shown and selected instead. */
export function copyButton(text, label = "Copy") {
  return h("button", { type: "button", class: "quiet-button", onclick: async ({ currentTarget: button }) => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = label), 2000);
    } catch {
      const shown = h("textarea", { class: "copied", rows: 8, readonly: true, "aria-label": "Text to copy" });
      shown.value = text();
      button.after(shown);
      shown.select();
    }
  } }, label);
}

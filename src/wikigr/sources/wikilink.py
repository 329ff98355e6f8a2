"""``[[target]]``, ``[[target|label]]``, ``[[target#heading]]`` and ``![[embed]]`` for markdown-it."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

WIKILINK = "wikilink"


def wikilink_plugin(md: MarkdownIt) -> None:
    """Add the inline rule; its tokens are of type ``WIKILINK``.

    ``content`` is the text to show, ``meta["target"]`` the page without its heading (``""`` for a heading of
    the same page), ``meta["is_embed"]`` whether an exclamation mark stands before it.
    """
    md.inline.ruler.before("link", WIKILINK, _parse)


def _parse(state: StateInline, silent: bool) -> bool:
    is_embed = state.src.startswith("![[", state.pos)
    if not is_embed and not state.src.startswith("[[", state.pos):
        return False
    start = state.pos + (3 if is_embed else 2)
    end = state.src.find("]]", start, state.posMax)
    inner = state.src[start:end] if end != -1 else ""
    if not inner.strip() or "\n" in inner or "[[" in inner:
        return False
    target, _, label = inner.partition("|")
    # In a table cell the bar has to be escaped; elsewhere the backslash is still here.
    page, _, heading = target.removesuffix("\\").partition("#")
    page, shown = page.strip(), label.strip() or page.strip() or heading.strip()
    if not shown:
        return False
    if not silent:
        token = state.push(WIKILINK, "", 0)
        token.content = shown
        token.meta = {"target": page, "is_embed": is_embed}
    state.pos = end + 2
    return True

"""``[[target]]``, ``[[target|label]]``, ``[[target#heading]]`` and ``![[embed]]`` for markdown-it."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

WIKILINK = "wikilink"

# Up to the first ``]]``, without line breaks and ``[[``: it ends where another link begins, so that opening
# brackets without number cost no more than their length.
_LINK = re.compile(r"(!?+)\[\[((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")


def wikilink_plugin(md: MarkdownIt) -> None:
    """Add the inline rule; its tokens are of type ``WIKILINK``.

    ``content`` is the text to show, ``meta["target"]`` the page without its heading (``""`` for a heading of
    the same page), ``meta["is_embed"]`` whether an exclamation mark stands before it.
    """
    md.inline.ruler.before("link", WIKILINK, _parse)


def _parse(state: StateInline, silent: bool) -> bool:
    match = _LINK.match(state.src, state.pos, state.posMax)
    if match is None or not match[2].strip():
        return False
    target, _, label = match[2].partition("|")
    # In a table cell the bar has to be escaped; elsewhere the backslash is still here.
    page, _, heading = target.removesuffix("\\").partition("#")
    page, shown = page.strip(), label.strip() or page.strip() or heading.strip()
    if not shown:
        return False
    if not silent:
        token = state.push(WIKILINK, "", 0)
        token.content = shown
        token.meta = {"target": page, "is_embed": bool(match[1])}
    state.pos = match.end()
    return True

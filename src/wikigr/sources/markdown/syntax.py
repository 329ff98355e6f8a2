"""Markup of notes beyond CommonMark, for markdown-it: what a reader of the note does not see is taken out.

Footnotes, and from Obsidian comments (``%% … %%``), block ids (``^id``), highlights (``==x==``) and callouts
(``> [!note] Title``); from Pandoc and Docusaurus the attributes of a heading (``## H {#id}``). Code is out of reach
of every rule here: its content is no inline text, and a block rule never opens inside a block of code.
"""

from __future__ import annotations

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

# Token types: the mark of a footnote, and a comment inside a paragraph. Both have no text.
# The first is also the name of the plugin's rule.
FOOTNOTE_REFERENCE = "footnote_ref"
COMMENT = "comment"

_FOOTNOTE_REFERENCE = re.compile(r"\[\^([^\s\[\]]++)\]")
_COMMENT_MARK = "%%"
_HIGHLIGHT_MARK = "=="
# A letter and a second character, or "2 ^n" and "2 ^10" would lose their exponents.
_BLOCK_ID = re.compile(r"\^(?=[0-9-]*+[A-Za-z])[A-Za-z0-9-]{2,}+[ \t]*+(?=\n|\Z)")
_CALLOUT = re.compile(r"\[!(?P<kind>[A-Za-z][\w-]*+)(?:\|[^\[\]\n]*+)?\][+-]?(?:[ \t]++(?P<title>[^\n]*+))?(?:\n|\Z)")
_HEADING_ATTRIBUTES = re.compile(
    r"(?<![^ \t])\{:?[ \t]*+[#.][\w:.-]++(?:[ \t]++(?:[#.][\w:.-]++|[\w:-]++=(?:\"[^\"]*+\"|[^\s\"{}]++)))*+[ \t]*+\}\Z"
)


def note_plugin(md: MarkdownIt) -> None:
    """Add all rules; footnotes stay at the place of their definition.

    The rules for blocks work in a parser without inline rules too, so that both find the same headings.
    """
    footnote_plugin(md, inline=False, move_to_end=False)
    md.inline.ruler.at(FOOTNOTE_REFERENCE, _footnote_reference)
    md.block.ruler.after("code", COMMENT, _comment_block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.core.ruler.after("block", "heading_attributes", _heading_attributes)
    md.core.ruler.after("block", "callout", _callouts)
    md.inline.ruler.before("link", COMMENT, _comment)
    md.inline.ruler.before("link", "block_id", _block_id)
    md.inline.ruler.before("link", "highlight", _highlight)
    md.inline.ruler2.after("balance_pairs", "highlight", _remove_highlight_marks)


def _comment_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A comment that begins a line and ends on a later one, blank lines included; what follows its end is text."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith(_COMMENT_MARK, start):
        return False
    if state.src.find(_COMMENT_MARK, start + 2, state.eMarks[start_line]) >= 0:
        return False
    for line in range(start_line + 1, end_line):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            # The list item or quotation ends before the comment does.
            return False
        mark = state.src.find(_COMMENT_MARK, state.bMarks[line], state.eMarks[line])
        if mark < 0:
            continue
        if not silent:
            rest = mark + len(_COMMENT_MARK)
            while rest < state.eMarks[line] and state.src[rest] in " \t":
                rest += 1
            state.bMarks[line] = rest
            state.tShift[line] = 0
            state.sCount[line] = state.blkIndent
            state.line = line if rest < state.eMarks[line] else line + 1
        return True
    return False


def _footnote_reference(state: StateInline, silent: bool) -> bool:
    """As the plugin's rule, whose time grows with the square of the unclosed brackets (mdit-py-plugins 0.7)."""
    match = _FOOTNOTE_REFERENCE.match(state.src, state.pos, state.posMax)
    if match is None or f":{match[1]}" not in state.env.get("footnotes", {}).get("refs", {}):
        return False
    if not silent:
        state.push(FOOTNOTE_REFERENCE, "", 0)
    state.pos = match.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    start = state.pos
    # "50%% to 60%%" is no comment.
    if not state.src.startswith(_COMMENT_MARK, start) or (start and state.src[start - 1].isalnum()):
        return False
    end = state.src.find(_COMMENT_MARK, start + 2, state.posMax)
    if end < 0:
        return False
    if not silent:
        state.push(COMMENT, "", 0)
    state.pos = end + len(_COMMENT_MARK)
    return True


def _block_id(state: StateInline, silent: bool) -> bool:
    if state.pos and not state.src[state.pos - 1].isspace():
        return False
    match = _BLOCK_ID.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    state.pos = match.end()
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    """Note a mark as one that may open or close; ``balance_pairs`` finds the pairs."""
    if silent or state.src[state.pos] != "=":
        return False
    scanned = state.scanDelims(state.pos, True)
    if scanned.length != len(_HIGHLIGHT_MARK):
        if scanned.length > len(_HIGHLIGHT_MARK):
            # As a whole, or its end would be taken for a mark.
            state.pending += "=" * scanned.length
            state.pos += scanned.length
            return True
        return False
    after = state.pos + scanned.length
    # "x==1 and y==2" is no highlight. In scripts without spaces a highlight does stand between letters.
    opens = scanned.can_open and not (state.pos and _is_ascii_word(state.src[state.pos - 1]))
    closes = scanned.can_close and not (after < state.posMax and _is_ascii_word(state.src[after]))
    token = state.push("text", "", 0)
    token.content = _HIGHLIGHT_MARK
    state.delimiters.append(
        Delimiter(marker=ord("="), length=0, token=len(state.tokens) - 1, end=-1, open=opens, close=closes)
    )
    state.pos = after
    return True


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _remove_highlight_marks(state: StateInline) -> None:
    inner: list[dict[str, Any]] = [meta for meta in state.tokens_meta if meta]
    for delimiters in (state.delimiters, *(meta.get("delimiters", []) for meta in inner)):
        for delimiter in delimiters:
            if delimiter.marker == ord("=") and delimiter.end != -1:
                state.tokens[delimiter.token].content = ""
                state.tokens[delimiters[delimiter.end].token].content = ""


def _heading_attributes(state: StateCore) -> None:
    for token, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "heading_open":
            inline.content = _HEADING_ATTRIBUTES.sub("", inline.content).rstrip()


def _callouts(state: StateCore) -> None:
    """Make the first line of a callout a paragraph: its title, else what kind it is, as a reader is shown."""
    tokens: list[Token] = []
    for position, token in enumerate(state.tokens):
        in_quote = [earlier.type for earlier in state.tokens[max(position - 2, 0) : position]] == [
            "blockquote_open",
            "paragraph_open",
        ]
        match = _CALLOUT.match(token.content) if token.type == "inline" and in_quote else None
        if match is not None:
            title = (match["title"] or "").strip() or match["kind"].replace("-", " ").capitalize()
            rest = token.content[match.end() :]
            token.content = title
            if rest.strip():
                body = Token("inline", "", 0, content=rest, level=token.level, map=token.map, children=[])
                tokens += [token, Token("paragraph_close", "p", -1), Token("paragraph_open", "p", 1), body]
                continue
        tokens.append(token)
    state.tokens = tokens

"""Rules for markdown-it that parse the syntax of notes beyond CommonMark.

From Obsidian: wiki links (``[[target|label]]``), comments (``%% … %%``), block ids (``^id``), highlights
(``==x==``), callouts (``> [!note] Title``), tasks (``- [x] text``). From MkDocs: boxes and tabs (``!!! note "Title"``).
From Pandoc and Docusaurus: footnotes, containers (``:::note Title``), imports, and the attributes of a heading
(``## H {#id}``), of which the id is kept. What a reader of the note does not see is removed. No rule applies to code:
its content is not parsed as inline text, and block rules never start inside a code block.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

# Token types. A wiki link has its label as ``content``; footnote marks and comments have no text.
WIKILINK = "wikilink"
# Also the name of the plugin's rule.
FOOTNOTE_REFERENCE = "footnote_ref"
COMMENT = "comment"

# The target may not contain "[[", which keeps the cost of unclosed brackets linear.
_WIKILINK = re.compile(r"(!?+)\[\[((?:[^\[\]\n]++|\[(?!\[)|\](?!\]))*+)\]\]")

_FOOTNOTE_REFERENCE = re.compile(r"\[\^([^\s\[\]]++)\]")
_COMMENT_MARK = "%%"
# "x==1 and y==2" is not a highlight, but in scripts without spaces a highlight may touch letters.
_HIGHLIGHT = re.compile(r"(?<![=A-Za-z0-9_])==(?![\s=])((?:[^=]|=(?!=))++)(?<!\s)==(?![=A-Za-z0-9_])")
# Requires a letter and a second character, so that "2 ^n" and "2 ^10" keep their exponents.
_BLOCK_ID = re.compile(r"\^(?=[0-9-]*+[A-Za-z])[A-Za-z0-9-]{2,}+[ \t]*+(?=\n|\Z)")
_CALLOUT = re.compile(r"\[!(?P<kind>[A-Za-z][\w-]*+)(?:\|[^\[\]\n]*+)?\][+-]?(?:[ \t]++(?P<title>[^\n]*+))?(?:\n|\Z)")
# JavaScript, not a sentence that begins with one of its words.
_ESM = re.compile(
    r"""import\s+(?:(?:\{[^{};]*\}|\*\s+as\s+\w+|\w+)(?:\s*,\s*(?:\{[^{};]*\}|\*\s+as\s+\w+))?\s+from\s+)?"""
    r"""(["'])[^"'\n]+\1\s*;?[ \t]*(?:\n|\Z)|"""
    r"export\s+(?:const|let|var|function|class|default|async|\*|\{)[\s\w{(]"
)
# Bounded, so that many without an end take linear time.
_MDX_COMMENT = re.compile(r"\{/\*.{0,500}?\*/\}", re.DOTALL)
_CONTAINER = re.compile(
    r":{3,}[ \t]*(?:\{?[ \t]*\.?(?P<kind>[A-Za-z][\w-]*+)(?:[^}\n]*\})?"
    r"(?:\[(?P<label>[^\]\n]*)\])?(?P<title>[^\n]*))?\Z"
)
# Of MkDocs: a box, one that opens, or a tab, above indented text.
_BOX = re.compile(r"(?:!!!|\?\?\?\+?|===[+!]?)[ \t]+(?P<kind>[\w-]*+)[\w \t-]*+(?:\"(?P<title>[^\"\n]*+)\")?[ \t]*\Z")
_BOX_INDENT = 4
# A row has a cell for each column of its table. Once the tables of a text have more tokens than these, and so many more
# for each character, what follows is no table. The environment counts them under this key.
_MIN_CELL_TOKENS = 50_000
_MAX_CELL_TOKENS_PER_CHARACTER = 4
_CELL_TOKENS = "wikigr-cell-tokens"
# What is indented by more, in boxes in boxes, is code.
_MAX_BOX_INDENT = 40
# A list in another one is two levels. What is nested more deeply is a paragraph; the parser would leave it out.
_MAX_LEVEL = 56
_PARSER_MAX_LEVEL = _MAX_LEVEL + 4
_TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")
_HEADING_ATTRIBUTES = re.compile(
    r"(?<![^ \t])\{:?[ \t]*+(?=[#.])"
    r"(?:(?:#(?P<id>[\w:.-]++)|\.[\w:.-]++|[\w:-]++=(?:\"[^\"]*+\"|[^\s\"{}]++))(?:[ \t]++|(?=\})))+\}\Z"
)


def note_plugin(md: MarkdownIt) -> None:
    """Add all rules but wiki links; footnotes stay where they are defined.

    The block rules also work in a parser without inline rules, so that both parsers find the same headings.
    """
    footnote_plugin(md, inline=False, move_to_end=False)
    md.inline.ruler.at(FOOTNOTE_REFERENCE, _footnote_reference)
    md.options["maxNesting"] = _PARSER_MAX_LEVEL
    if "table" in md.get_active_rules()["block"]:
        md.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    md.block.ruler.after("code", COMMENT, _comment_block, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.block.ruler.before("table", "deep", _deep)
    md.block.ruler.before("paragraph", "esm", _esm)
    md.block.ruler.after("code", "container", _container, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.block.ruler.before("code", "box", _box, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    md.core.ruler.after("block", "heading_attributes", _heading_attributes)
    md.core.ruler.after("block", "callout", _callouts)
    md.core.ruler.after("block", "task", _tasks)
    md.inline.ruler.before("link", COMMENT, _comment)
    md.inline.ruler.before("link", "block_id", _block_id)
    md.inline.ruler.before("link", "highlight", _highlight)


def wikilink_plugin(md: MarkdownIt) -> None:
    """Add the inline rule for ``[[target]]``, ``[[target|label]]``, ``[[target#heading]]`` and ``![[embed]]``.

    Its tokens have the type ``WIKILINK``. ``content`` is the text to show, ``meta["target"]`` the page without its
    heading (``""`` for a heading of the same page), ``meta["is_embed"]`` whether an exclamation mark precedes it.
    """
    md.inline.ruler.before("link", WIKILINK, _wikilink)


def _wikilink(state: StateInline, silent: bool) -> bool:
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or not match[2].strip():
        return False
    target, _, label = match[2].partition("|")
    # Table cells escape the bar; outside of tables the backslash remains.
    page, _, heading = target.removesuffix("\\").partition("#")
    page, content = page.strip(), label.strip() or page.strip() or heading.strip()
    if not content:
        return False
    if not silent:
        token = state.push(WIKILINK, "", 0)
        token.content = content
        token.meta = {"target": page, "is_embed": bool(match[1])}
    state.pos = match.end()
    return True


def _table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    tokens, counted = len(state.tokens), state.env.get(_CELL_TOKENS, 0)
    if counted > _MIN_CELL_TOKENS + _MAX_CELL_TOKENS_PER_CHARACTER * len(state.src):
        return False
    found: bool = table(state, start_line, end_line, silent)
    state.env[_CELL_TOKENS] = counted + len(state.tokens) - tokens
    return found


def _comment_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a comment that begins a line and ends on a later one; text after its end is kept."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith(_COMMENT_MARK, start):
        return False
    if state.src.find(_COMMENT_MARK, start + 2, state.eMarks[start_line]) >= 0:
        return False
    for line in range(start_line + 1, end_line):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            # The enclosing list item or quotation ends before the comment.
            return False
        mark = state.src.find(_COMMENT_MARK, state.bMarks[line], state.eMarks[line])
        if mark >= 0:
            break
    else:
        return False
    if not silent:
        end = state.eMarks[line]
        rest = state.src[mark + len(_COMMENT_MARK) : end].lstrip(" \t")
        state.bMarks[line] = end - len(rest)
        state.tShift[line] = 0
        state.sCount[line] = state.blkIndent
        state.line = line if rest else line + 1
    return True


def _deep(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Keep what is nested too deeply as one paragraph."""
    if silent or state.level < _MAX_LEVEL:
        return False
    line = start_line
    # The parser marks a line that continues a quotation without its marks by a negative indent.
    while line < end_line and (state.isEmpty(line) or not 0 <= state.sCount[line] < state.blkIndent):
        line += 1
    state.line = line
    _push_paragraph(state, state.getLines(start_line, line, state.blkIndent, False).strip(), start_line)
    return True


def _esm(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Leave out what a page of MDX imports and exports, up to the next blank line."""
    if state.level or state.sCount[start_line] or silent:
        return False
    begin = state.bMarks[start_line]
    if not state.src.startswith(("import", "export"), begin) or not _ESM.match(state.src, begin):
        return False
    line = start_line
    while line < end_line and not state.isEmpty(line):
        line += 1
    state.line = line
    return True


def _container(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Turn the first line of a container into a paragraph with its title or its kind, and leave out the last one."""
    match = _CONTAINER.match(state.src, state.bMarks[start_line] + state.tShift[start_line], state.eMarks[start_line])
    if match is None:
        return False
    if not silent:
        title = (match["label"] or match["title"] or "").strip() or (match["kind"] or "").replace("-", " ").capitalize()
        state.line = start_line + 1
        _push_paragraph(state, title, start_line)
    return True


def _box(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a box or a tab of MkDocs: its title or its kind as a paragraph, then what is indented below it."""
    begin, indent = state.bMarks[start_line] + state.tShift[start_line], state.sCount[start_line]
    if not state.src.startswith(("!!!", "???", "==="), begin) or indent >= min(
        state.blkIndent + _BOX_INDENT, _MAX_BOX_INDENT
    ):
        return False
    match = _BOX.match(state.src[begin : state.eMarks[start_line]])
    after = start_line + 1
    while after < end_line and (state.isEmpty(after) or state.sCount[after] >= indent + _BOX_INDENT):
        after += 1
    if match is None or all(map(state.isEmpty, range(start_line + 1, after))):
        return False
    if not silent:
        state.line = start_line + 1
        title = match["title"]
        title = match["kind"].replace("-", " ").capitalize() if title is None else title
        _push_paragraph(state, title, start_line)
        around = state.blkIndent, state.lineMax
        state.blkIndent, state.lineMax = indent + _BOX_INDENT, after
        state.md.block.tokenize(state, start_line + 1, after)
        state.blkIndent, state.lineMax = around
        state.line = after
    return True


def _push_paragraph(state: StateBlock, text: str, start_line: int) -> None:
    if text:
        lines = [start_line, state.line]
        state.push("paragraph_open", "p", 1).map = lines
        inline = state.push("inline", "", 0)
        inline.content, inline.map, inline.children = text, lines, []
        state.push("paragraph_close", "p", -1)


def _footnote_reference(state: StateInline, silent: bool) -> bool:
    """Replace the plugin's rule, whose time is quadratic in unclosed brackets (mdit-py-plugins 0.7)."""
    match = _FOOTNOTE_REFERENCE.match(state.src, state.pos, state.posMax)
    if match is None or f":{match[1]}" not in state.env.get("footnotes", {}).get("refs", {}):
        return False
    if not silent:
        state.push(FOOTNOTE_REFERENCE, "", 0)
    state.pos = match.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if (match := _MDX_COMMENT.match(state.src, start, state.posMax)) is not None:
        if not silent:
            state.push(COMMENT, "", 0)
        state.pos = match.end()
        return True
    # "50%% to 60%%" is not a comment.
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
    match = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        end, state.posMax, state.pos = state.posMax, match.end(1), match.start(1)
        state.md.inline.tokenize(state)
        state.posMax = end
    state.pos = match.end()
    return True


def _heading_attributes(state: StateCore) -> None:
    for token, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "heading_open" and (match := _HEADING_ATTRIBUTES.search(inline.content)):
            inline.content = inline.content[: match.start()].rstrip().rstrip("#").rstrip()
            if match["id"]:
                token.attrSet("id", match["id"])


def _tasks(state: StateCore) -> None:
    for item, opening, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        is_first = item.type == "list_item_open" and opening.type == "paragraph_open" and inline.type == "inline"
        if is_first and (match := _TASK.match(inline.content)):
            inline.content = inline.content[match.end() :]
            item.attrSet("data-task", match[1])


def _callouts(state: StateCore) -> None:
    """Turn the first line of a callout into a paragraph with its title or, without one, its kind."""
    tokens: list[Token] = []
    for position, token in enumerate(state.tokens):
        before = [earlier.type for earlier in state.tokens[max(position - 2, 0) : position]]
        is_first = token.type == "inline" and before == ["blockquote_open", "paragraph_open"]
        match = _CALLOUT.match(token.content) if is_first else None
        tokens.append(token)
        if match is not None:
            rest = token.content[match.end() :]
            token.content = (match["title"] or "").strip() or match["kind"].replace("-", " ").capitalize()
            if rest.strip():
                body = Token("inline", "", 0, content=rest, level=token.level, map=token.map, children=[])
                tokens += [Token("paragraph_close", "p", -1), Token("paragraph_open", "p", 1), body]
    state.tokens = tokens

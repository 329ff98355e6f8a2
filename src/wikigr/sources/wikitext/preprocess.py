"""Prepare wikitext for the parser: remove extension tags, convert HTML, balance brackets.

MediaWiki does the same before it parses (its "strip markers"). It also bounds the cost: mwparserfromhell needs minutes
for a few kilobytes of unclosed brackets, but is fast on balanced text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from wikigr.sources.wikitext import marks

# Real pages nest up to a dozen levels; the parser gives up at 40.
_MAX_DEPTH = 25
# The number of unclosed brackets that are searched for the partner of a closing one.
_MAX_DISTANCE = 100

# Possessive quantifiers keep each search linear.
_TAG = re.compile(r"<!--|<(/?+)([A-Za-z][A-Za-z0-9]*+)([^<>]*+)>")
_TAG_WITHOUT_CONTENT = frozenset(
    """
    categorytree gallery graph hiero imagemap includeonly indicator inputbox mapframe maplink ref references
    score section templatedata templatestyles timeline
    """.split()
)
_BLOCK_VERBATIM = frozenset(("pre", "source", "syntaxhighlight"))
_INLINE_VERBATIM = frozenset(("ce", "chem", "math", "nowiki"))
# What stands for the tag that begins an element, with its attributes for ``%s``, and for the one that ends it.
_AS_TEXT = {
    **dict.fromkeys(
        """
        abbr b bdi bdo big cite code data dfn em font i ins kbd mark noinclude nobr onlyinclude poem q rb rp
        rt rtc ruby samp small span strong sub time tt u var wbr tbody thead tfoot dl img a caption
        """.split(),
        ("", ""),
    ),
    **dict.fromkeys(("hr", "p"), ("\n\n", "\n\n")),
    **dict.fromkeys(("center", "div"), ("\n", "\n")),
    **{f"h{level}": ("\n" + "=" * level, "=" * level + "\n") for level in range(1, 7)},
    # In articles, what is struck was withdrawn, such as the title of a winner.
    **dict.fromkeys(("del", "s", "strike"), ("~~", "~~")),
    "br": (marks.BREAK, marks.BREAK),
    "sup": (marks.SUP_OPEN, marks.SUP_CLOSE),
    "blockquote": (f"\n\n{marks.QUOTATION}\n", f"\n{marks.KIND_END}\n\n"),
    "dt": ("\n; ", ""),
    "dd": ("\n: ", ""),
    "table": ("\n{| %s\n", "\n|}\n"),
    "tr": ("\n|-\n", ""),
    "td": ("\n| %s | ", ""),
    "th": ("\n! %s | ", ""),
}
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_HIDDEN_CONTENT = re.compile(r"[^<]*</span\s*>", re.IGNORECASE)
_OPEN_REF = re.compile(r"<ref\b[^<>]*(?<!/)>", re.IGNORECASE)
# Notes of the author are in a group of their own; the others name sources.
_NOTE_GROUP = re.compile(r"\bgroup\s*=")
_CODE_LANGUAGE = re.compile(r"\blang\s*=\s*[\"']?([\w+#.-]{1,40})")
_INLINE_CODE = re.compile(r"\binline\b", re.IGNORECASE)
_EXTERNAL_LINK = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?|news|gopher|git|svn|ssh|telnet|nntp|worldwind)://|//|mailto:)"
    r"[^\s\[\]<>\"]*+[ \t]*+((?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\])*+)\]"
)
_SINGLE_BRACKET = re.compile(r"(?<!\[)\[(?!\[)")
_LEADING_SPACE = re.compile(r"^[ \t](?=[ \t]*[^\s|!{}\[])", re.MULTILINE)
_TABLE_START = re.compile(r"^[ \t:]*\{\|(?!\})", re.MULTILINE)
_TABLE_END = re.compile(r"^[ \t]*\|\}(?!\}(?!\}))", re.MULTILINE)
_TABLE_AFTER = re.compile(r"[ \t:]*(?:\{\||\|\})")
_MAX_UNCLOSED_TABLES = 3
# A parameter of a template with its default; pages that are no templates show the default.
_PARAMETER = re.compile(r"\{\{\{[^{}|]*+(?:\|([^{}]*+))?\}\}\}")
_ODD_BRACE = re.compile(r"(?<!\{)\{(?=(?:\{\{)++(?!\{))")
_LONE_TEMPLATE = re.compile(r"[ \t]*\{\{([^{}|]*)(?:\|[^{}]*)?\}\}[ \t]*")
_BRACKETS = re.compile(
    rf"\{{\{{+|\}}\}}+|\[\[|\]\]|{_TABLE_START.pattern}|{_TABLE_END.pattern}",
    re.MULTILINE,
)
_REST_OF_LINE = re.compile(r"[^\n\[\]{}]*")
_TEMPLATE_NAME = re.compile(r"[^\n|\[\]{}]{0,60}\|")


@dataclass(slots=True)
class PreparedWikitext:
    """``text`` for the parser, with marks; ``verbatim`` holds the texts that they index.

    ``languages`` has the language of those that are code and state it.
    """

    text: str
    verbatim: list[str] = field(default_factory=list)
    languages: dict[int, str] = field(default_factory=dict)


def prepare(wikitext: str, table_ends: Collection[str] = ()) -> PreparedWikitext:
    """Prepare one page for the parser, in time linear in its length.

    ``table_ends`` are names of templates that close a table, in lower case.
    """
    wikitext = marks.ALL_MARKS.sub("", wikitext).replace("\r\n", "\n")
    scanner = _TagScanner()
    text = scanner.scan(wikitext)
    text = _EXTERNAL_LINK.sub(lambda match: match[1].strip() or marks.REMOVED, text)
    text = _SINGLE_BRACKET.sub("&#91;", text)
    if "{{{" in text:
        for _ in range(3):  # a parameter in the default of another one
            text = _PARAMETER.sub(r"\1", text)
        # Of a brace before a template, the parser would try a parameter at every place after it.
        text = _ODD_BRACE.sub("", text)
    return PreparedWikitext(_balance(_close_tables(text, table_ends)), scanner.verbatim, scanner.languages)


class _TagScanner:
    def __init__(self) -> None:
        self.verbatim: list[str] = []
        self.languages: dict[int, str] = {}
        self._lists: list[str] = []
        # The last closing tag found for each name, None if no more follow; avoids repeated searches.
        self._closers: dict[str, re.Match[str] | None] = {}
        self._comments_end = True

    def scan(self, text: str) -> str:
        out: list[str] = []
        position = 0
        while match := _TAG.search(text, position):
            out.append(_escape(text[position : match.start()], not out))
            if match[0] == "<!--":
                position = self._skip_comment(text, match, out)
                continue
            closing, name, attributes = match[1], match[2].lower(), match[3]
            position = match.end()
            if name in _TAG_WITHOUT_CONTENT or name in _BLOCK_VERBATIM or name in _INLINE_VERBATIM:
                if not closing:
                    position = self._extension(text, match, name, attributes, out)
            elif name == "poem" and not closing and (end := self._closer(text, "poem", position)):
                out.append(
                    "\n\n" + self._scan_part(text[position : end.start()].strip()).replace("\n", marks.BREAK) + "\n\n"
                )
                position = end.end()
            elif name == "span" and not closing and _HIDDEN.search(attributes):
                hidden = _HIDDEN_CONTENT.match(text, position)
                position = hidden.end() if hidden else position
            else:
                out.append(self._html(name, attributes, bool(closing), match[0]))
        out.append(_escape(text[position:], not out))
        return "".join(out)

    def _scan_part(self, text: str) -> str:
        """Scan a part of the page separately; closing tags after it do not count."""
        closers, comments_end = self._closers, self._comments_end
        self._closers, self._comments_end = {}, True
        try:
            return self.scan(text)
        finally:
            self._closers, self._comments_end = closers, comments_end

    def _skip_comment(self, text: str, match: re.Match[str], out: list[str]) -> int:
        end = text.find("-->", match.end()) if self._comments_end else -1
        self._comments_end = end >= 0
        # A comment that is never closed would hide the rest of the article, so only its mark is removed.
        position = match.end() if end < 0 else end + 3
        alone = (not out or not out[-1] or out[-1].endswith("\n")) and text[position : position + 1] == "\n"
        return position + 1 if alone else position

    def _closer(self, text: str, name: str, position: int) -> re.Match[str] | None:
        if name in self._closers:
            known = self._closers[name]
            if known is None or known.start() >= position:
                return known
        self._closers[name] = re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(text, position)
        return self._closers[name]

    def _extension(self, text: str, match: re.Match[str], name: str, attributes: str, out: list[str]) -> int:
        if name in _TAG_WITHOUT_CONTENT:
            out.append(marks.REMOVED)
        if attributes.rstrip().endswith("/"):
            return match.end()
        end = self._closer(text, name, match.end())
        if end is None or (name == "ref" and _OPEN_REF.search(text, match.end(), end.start())):
            return match.end()
        if name == "ref" and _NOTE_GROUP.search(attributes):
            out.append(f"{{{{#tag:ref|1={self._scan_part(text[match.end() : end.start()])}}}}}")
            return end.end()
        if name not in _TAG_WITHOUT_CONTENT:
            content = text[match.end() : end.start()]
            if name != "math":
                content = html.unescape(content)
            is_block = name in _BLOCK_VERBATIM and not _INLINE_CODE.search(attributes)
            mark = marks.BLOCK if is_block else marks.INLINE
            placeholder = f"{mark}{len(self.verbatim)}{marks.END}"
            if is_block and (language := _CODE_LANGUAGE.search(attributes)):
                self.languages[len(self.verbatim)] = language[1]
            self.verbatim.append(content)
            out.append(f"\n{placeholder}\n" if is_block else placeholder)
        return end.end()

    def _html(self, name: str, attributes: str, closing: bool, raw: str) -> str:
        if name in _AS_TEXT:
            return _AS_TEXT[name][closing].replace("%s", attributes.strip(" /"))
        if name in ("ul", "ol"):
            if not closing:
                self._lists.append("*" if name == "ul" else "#")
            elif self._lists:
                self._lists.pop()
            return "\n"
        if name == "li":
            return "" if closing else f"\n{''.join(self._lists[-8:]) or '*'} "
        return raw.replace("<", "&lt;")


def _escape(segment: str, is_start: bool) -> str:
    """Escape each remaining ``<`` in the text between tags, and mark lines that begin with a space."""
    if "<" in segment:
        segment = segment.replace("<", "&lt;")
    if is_start:
        return _LEADING_SPACE.sub(marks.PREFORMATTED, segment)
    line_end = segment.find("\n")
    if line_end < 0:
        return segment
    return segment[:line_end] + _LEADING_SPACE.sub(marks.PREFORMATTED, segment[line_end:])


def _close_tables(text: str, ends: Collection[str]) -> str:
    """Close the tables that a page leaves open: at a template in ``ends``, otherwise after the last of their rows.

    A table reaches at most to the next heading.
    """
    if sum(1 for _ in _TABLE_START.finditer(text)) <= sum(1 for _ in _TABLE_END.finditer(text)):
        return text
    lines: list[str] = []
    is_open = 0
    # Where the rows of the open tables end: before a blank line or a template on a line of its own.
    after_rows: int | None = None
    for line in (*text.split("\n"), None):
        if is_open and (line is None or line.startswith("=")):
            place = len(lines) if after_rows is None else after_rows
            if is_open <= _MAX_UNCLOSED_TABLES:
                lines[place:place] = ["|}"] * is_open
            is_open = 0
        if line is None:
            break
        template = _LONE_TEMPLATE.fullmatch(line)
        if _TABLE_START.match(line):
            is_open, after_rows = is_open + 1, None
        elif is_open and (_TABLE_END.match(line) or (template and template[1].strip().lower() in ends)):
            is_open, after_rows = is_open - 1, None
            line = "|}" if template else line
        elif line.lstrip()[:1] in ("|", "!"):
            after_rows = None
        elif after_rows is None and (template or not line.strip()):
            after_rows = len(lines)
        lines.append(line)
    return "\n".join(lines)


def _balance(text: str) -> str:
    """Remove every bracket without a partner, and those nested deeper than ``_MAX_DEPTH``."""
    stack: list[tuple[str, int, int]] = []
    unmatched: list[tuple[int, int]] = []
    position = 0
    while match := _BRACKETS.search(text, position):
        token, start, position = match[0], match.start(), match.end()
        if token[0] == "{" and token[1] == "{":
            stack.extend(("{{", at, at + 2) for at in range(start + len(token) % 2, position, 2))
        elif token[0] == "}":
            for at in range(start, position - 1, 2):
                _close(stack, unmatched, "{{", at, at + 2)
        elif token == "[[":
            stack.append(("[[", start, position))
        elif token == "]]":
            _close(stack, unmatched, "[[", start, position)
        elif token.endswith("{|"):
            stack.append(("{|", start, position))
        elif any(kind == "{|" for kind, _, _ in stack[-_MAX_DISTANCE:]):
            _close(stack, unmatched, "{|", start, position)
        else:
            # Without an open table, the brace may belong to the end of a template.
            position = start + token.index("|") + 1
    unmatched.extend(_unmatched_opener(text, kind, start, end) for kind, start, end in stack)
    if not unmatched:
        return text
    unmatched.sort()
    out: list[str] = []
    position = 0
    for start, end in unmatched:
        if start > position:
            out.append(_without_table_mark(text, position, start))
        position = max(position, end)
    out.append(_without_table_mark(text, position, len(text)))
    return "".join(out)


def _without_table_mark(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]``, after a bracket that was removed; no table begins or ends on the same line."""
    is_mark = start > 0 and text[start - 1] != "\n" and _TABLE_AFTER.match(text, start)
    return (marks.REMOVED if is_mark else "") + text[start:end]


# For each kind of bracket, the kinds of unclosed brackets that it may enclose.
_MAY_ENCLOSE = {"{{": ("[[",), "[[": (), "{|": ("[[", "{{")}


def _close(
    stack: list[tuple[str, int, int]], unmatched: list[tuple[int, int]], kind: str, start: int, end: int
) -> None:
    depth = len(stack) - 1
    lowest = max(0, len(stack) - _MAX_DISTANCE)
    while depth >= lowest and stack[depth][0] in _MAY_ENCLOSE[kind]:
        depth -= 1
    if depth < lowest or stack[depth][0] != kind:
        unmatched.append((start, end))
        return
    unmatched.extend((left, right) for _, left, right in stack[depth + 1 :])
    _, left, right = stack[depth]
    del stack[depth:]
    if depth >= _MAX_DEPTH:
        unmatched.extend(((left, right), (start, end)))


def _unmatched_opener(text: str, kind: str, start: int, end: int) -> tuple[int, int]:
    """Return the range to remove for an opening bracket that is never closed, including names and attributes."""
    if kind == "[[":
        return start, end
    at_line_start = start == 0 or text[start - 1] == "\n"
    pattern = _REST_OF_LINE if at_line_start else _TEMPLATE_NAME
    rest = pattern.match(text, end)
    return start, rest.end() if rest else end

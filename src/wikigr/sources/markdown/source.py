"""Read a folder of Markdown notes, or one note."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from wikigr.sources.bylines import add_byline
from wikigr.sources.folder import resolve_link
from wikigr.sources.formats import format_named
from wikigr.sources.html.text import parse_html_head, write_html_fragment
from wikigr.sources.markdown.front_matter import FrontMatter, parse_front_matter
from wikigr.sources.markdown.syntax import COMMENT, FOOTNOTE_REFERENCE, WIKILINK, note_plugin, wikilink_plugin
from wikigr.sources.note_folder import NoteFolder, NoteNames, NoteRecord, NoteText, decode_note
from wikigr.sources.note_links import Notes
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, PlainTextWriter, format_superscript
from wikigr.sources.tables import Cell, Row, name_columns
from wikigr.text import fold

_SUFFIXES = format_named("markdown").suffixes

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf")
_RECORDINGS = (".mp3", ".mp4", ".webm", ".wav", ".ogg")

_MAX_SUPERSCRIPT_DEPTH = 4

_NO_NOTES = Notes((), ())


class MarkdownSource(NoteFolder):
    """Markdown files below a folder, or one file; the path relative to the folder is the ``source_id``.

    The title comes from the front matter, the first top-level heading or the file name, in this order. Relative links
    become ids, and so do ``[[wiki links]]`` that name a note by its path or file name instead of a title or alias.
    """

    format = "markdown"
    kind = "Markdown"

    def scan_names(self, source_id: str, data: bytes) -> NoteNames:
        env: dict[str, Any] = {}
        tokens = _block_parser().parse(decode_note(source_id, data), env)
        return _names(tokens, _front_matter(tokens, source_id), source_id, env)

    def parse_note(self, record: NoteRecord) -> NoteText:
        env: dict[str, Any] = {}
        tokens = _parser().parse(decode_note(record.source_id, record.data), env)
        matter = _front_matter(tokens, record.source_id)
        names = _names(tokens, matter, record.source_id, env)
        renderer = _Renderer(record.source_id, names.heading or record.title, record.notes)
        renderer.render(tokens)
        sections = add_byline(renderer.writer.sections(), matter.byline)
        return NoteText(sections, tuple(renderer.links), names.aliases, matter.categories, matter.url)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Formulas are kept as written; without the plugin, their underscores and backslashes would be markup.
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False)
    return parser.use(front_matter_plugin).use(wikilink_plugin).use(note_plugin).use(deflist_plugin)


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser that finds headings but does not parse inline text, which is much faster."""
    return (
        MarkdownIt("commonmark")
        .disable(["inline", "text_join"])
        .use(front_matter_plugin)
        .use(note_plugin)
        .use(deflist_plugin)
    )


def _names(tokens: Sequence[Token], matter: FrontMatter, source_id: str, env: dict[str, Any]) -> NoteNames:
    heading = _title_heading(tokens, source_id, env)
    # The title in the front matter replaces a heading that opens the text; the heading becomes an alias.
    if matter.title and _opens_with_heading(tokens):
        alias = (heading,) if heading and fold(heading) != fold(matter.title) else ()
        return NoteNames(matter.title, heading, (*matter.aliases, *alias))
    title = matter.title or heading
    return NoteNames(title, title, matter.aliases)


def _front_matter(tokens: Sequence[Token], source_id: str) -> FrontMatter:
    if tokens and tokens[0].type == "front_matter":
        return parse_front_matter(tokens[0].content, source_id)
    return FrontMatter()


def _title_heading(tokens: Sequence[Token], source_id: str, env: dict[str, Any]) -> str:
    """Return the text of the first top-level heading in Markdown or HTML; ``env`` holds link definitions."""
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            # The block parser leaves inline text unparsed.
            (inline,) = _parser().parseInline(tokens[position + 1].content, env)
            text = _inline_text(inline.children or [])
            if text:
                return text
        if token.type == "html_block" and "<h1" in token.content.lower():
            title = parse_html_head(token.content, where=source_id).title
            if title:
                return title
    return ""


def _opens_with_heading(tokens: Sequence[Token]) -> bool:
    """Return whether the text begins with its only top-level heading."""
    blocks = [token for token in tokens if token.type != "front_matter"]
    top = [token for token in blocks if token.type == "heading_open" and token.tag == "h1"]
    return len(top) == 1 and blocks[0] is top[0]


class _Renderer:
    """Drives a ``PlainTextWriter`` with the tokens of one document."""

    def __init__(self, source_id: str, title: str, notes: Notes, superscripts: int = 0) -> None:
        self._source_id = source_id
        self._notes = notes
        # The number of superscripts around the tokens.
        self._superscripts = superscripts
        self.writer = PlainTextWriter(title)
        self.links: dict[str, None] = {}
        self._numbers: list[int | None] = []

    def render(self, tokens: Sequence[Token]) -> None:
        """Write a whole token stream."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "heading_open":
                inline = tokens[position + 1]
                self._add_links(inline)
                self.writer.heading(int(token.tag[1]), _inline_text(inline.children or []))
                position += 3
            elif token.type == "table_open":
                position = self._table(tokens, position)
            else:
                self._block(token)
                position += 1

    def _block(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._inline(token.children or [])
            case "fence" | "code_block":
                self.writer.verbatim(token.content)
            case "math_block" | "math_block_label":
                self.writer.verbatim(f"$${token.content}$$")
            case "html_block":
                for href in write_html_fragment(token.content, self.writer, self._source_id):
                    self._add_href(href)
                self.writer.end_block()
            case "bullet_list_open":
                self._open_list(None)
            case "ordered_list_open":
                start = token.attrGet("start")
                self._open_list(1 if start is None else int(start))
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
                self.writer.end_block(LINE_GAP if self._numbers else PARAGRAPH_GAP)
            case "list_item_open":
                self.writer.open_item(self._next_marker())
            case "list_item_close":
                self.writer.close_item()
            case "dt_open":
                self.writer.end_block(LINE_GAP)
            case "dd_open":
                self.writer.open_indent()
            case "dd_close":
                self.writer.close_indent()
                self.writer.end_block()
            case "dt_close":
                self.writer.end_block(LINE_GAP)
            case "paragraph_open" | "paragraph_close":
                self.writer.end_block(LINE_GAP if token.hidden else PARAGRAPH_GAP)
            case "front_matter":
                pass
            case _:
                self.writer.end_block()

    def _open_list(self, first_number: int | None) -> None:
        self.writer.end_block(LINE_GAP if self._numbers else PARAGRAPH_GAP)
        self._numbers.append(first_number)

    def _next_marker(self) -> str:
        number = self._numbers[-1]
        if number is None:
            return "- "
        self._numbers[-1] = number + 1
        return f"{number}. "

    def _table(self, tokens: Sequence[Token], position: int) -> int:
        """Write a table; returns the position after it."""
        rows: list[list[Cell]] = []
        while tokens[position].type != "table_close":
            token = tokens[position]
            position += 1
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                self._add_links(token)
                rows[-1].append(Cell(_inline_text(token.children or [])))
        self.writer.end_block()
        for row in name_columns([Row(cells, is_head=not number) for number, cells in enumerate(rows)]):
            for line in row.lines:
                self.writer.write(line)
                self.writer.end_block(LINE_GAP)
        self.writer.end_block()
        return position + 1

    def _inline(self, children: Sequence[Token]) -> None:
        links = 0
        ends = _superscript_ends(children) if self._superscripts < _MAX_SUPERSCRIPT_DEPTH else {}
        before = ""
        position = 0
        while position < len(children):
            token = children[position]
            position += 1
            if (end := ends.get(position - 1)) is not None:
                inner = children[position:end]
                self.writer.write(format_superscript(_inline_text(inner, self._superscripts + 1), before))
                self._add_links(Token("inline", "", 0, children=list(inner)))
                position = end + 1
                continue
            before = token.content[-1:] if token.content and token.type != "html_inline" else before
            match token.type:
                case "softbreak" | "hardbreak" | "image":
                    before = ""
            match token.type:
                case "text" | "text_special" | "code_inline":
                    self.writer.write(token.content, is_link=links > 0)
                case "softbreak":
                    self.writer.write(" ")
                case "hardbreak":
                    self.writer.line_break()
                case "html_inline":
                    if token.content.lower().startswith("<br"):
                        self.writer.line_break()
                case "math_inline":
                    self.writer.write(f"${token.content}$")
                case "math_inline_double":
                    self.writer.write(f"$${token.content}$$")
                case "image":
                    self._inline(token.children or [])
                case "link_open":
                    links += 1
                    self._add_href(str(token.attrGet("href") or ""))
                case "link_close":
                    links -= 1
                case _ if token.type == WIKILINK:
                    self._wikilink(token)
                case _ if token.type in (COMMENT, FOOTNOTE_REFERENCE):
                    self.writer.removed()

    def _wikilink(self, token: Token) -> None:
        target = str(token.meta["target"])
        # ![[picture.png]] embeds a file; ![[Note]] and ![[v1.2 notes]] link to a page.
        if token.meta["is_embed"] and target.lower().endswith(_PICTURES + _RECORDINGS):
            self.writer.removed()
            return
        self.writer.write(token.content, is_link=True)
        self._add_wikilink(target)

    def _add_links(self, inline: Token) -> None:
        for token in inline.children or []:
            if token.type == "link_open":
                self._add_href(str(token.attrGet("href") or ""))
            elif token.type == WIKILINK:
                self._add_wikilink(str(token.meta["target"]))

    def _add_wikilink(self, target: str) -> None:
        if target:
            self.links.setdefault(self._notes.resolve(self._source_id, target))

    def _add_href(self, href: str) -> None:
        target = resolve_link(self._source_id, href, _SUFFIXES, self._notes.pages)
        if target is not None:
            self.links.setdefault(target)


def _is_tag(token: Token, tag: str) -> bool:
    return token.type == "html_inline" and re.match(rf"{tag}[\s/>]", token.content, re.IGNORECASE) is not None


def _superscript_ends(children: Sequence[Token]) -> dict[int, int]:
    """Return the position of the matching ``</sup>`` for the position of each ``<sup>``."""
    ends: dict[int, int] = {}
    open_: list[int] = []
    for position, token in enumerate(children):
        if _is_tag(token, "<sup"):
            open_.append(position)
        elif _is_tag(token, "</sup") and open_:
            ends[open_.pop()] = position
    return ends


def _inline_text(children: Sequence[Token], superscripts: int = 0) -> str:
    """Return inline tokens as one line of text without markup; ``superscripts`` counts the enclosing ones."""
    renderer = _Renderer("", "", _NO_NOTES, superscripts)
    renderer.render([Token("inline", "", 0, children=list(children))])
    return " ".join(section.text.replace("\n", " ") for section in renderer.writer.sections())

"""One HTML page to plain text: finds the content, drops what surrounds it, keeps the structure as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from wikigr.sources.article import SourceSection
from wikigr.sources.html.document import (
    BLOCK_ELEMENTS,
    HEADING_LEVELS,
    HEADINGS,
    LINE_ELEMENTS,
    MAX_ANCESTORS,
    PARAGRAPH_ELEMENTS,
    SECTIONING_ELEMENTS,
    HtmlDocument,
    class_names,
    is_math,
    outermost,
    replacement_text,
    visible_children,
)
from wikigr.sources.html.entries import entry_name, is_out_of_sight
from wikigr.sources.html.table import SpanBudget, table_rows
from wikigr.sources.html.title import strip_numbering
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, PlainTextWriter, collapse_spaces, fold_title


@dataclass(frozen=True, slots=True)
class HtmlHead:
    """What identifies a page, without its text: cheap to get. ``heading`` is that of its content, or ``""``."""

    title: str
    is_redirect_to: str | None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The content of one page.

    ``links`` are raw hrefs of the content area in document order, without fragment and duplicates, not
    resolved. ``language`` is the page's own ``lang`` or ``""``. ``is_redirect_to`` is the target of a meta
    refresh. ``infobox`` holds (field, value, href of the value when it is a link); a cell with several values
    gives a row for each. ``link_density`` is the share of the text's characters that are link text, 0 to 1;
    ``contents_links`` counts the links to other pages in the page's tables of contents, whose text is left
    out. ``base`` is the raw address that ``links`` are relative to, ``""`` for that of the page.
    """

    title: str
    sections: tuple[SourceSection, ...]
    links: tuple[str, ...]
    categories: tuple[str, ...]
    language: str
    is_redirect_to: str | None
    infobox: tuple[tuple[str, str, str | None], ...] = ()
    link_density: float = 0.0
    contents_links: int = 0
    base: str = ""


def parse_html(
    markup: bytes | str, *, title: str = "", strip_title_suffix: bool = True, where: str = "HTML"
) -> HtmlPage:
    """Extract the content of ``markup``.

    Bytes are decoded by BOM, ``<meta>``, XML declaration, as UTF-8 or as windows-1252. ``title`` takes the
    place of the page's own. ``strip_title_suffix`` takes the site's name off the end of that and a manual's
    numbering ("25.1. ", "Chapter 3. ") off its start. Any input gives a page, if need be without sections, but
    one whose elements are nested thousands deep: that is a ``RecordError`` at ``where``.
    """
    page = HtmlDocument(markup, where)
    title = title or page.title(strip_decorations=strip_title_suffix)
    walker = _Walker(page, title, PlainTextWriter(title))
    walker.walk(page.content)
    return HtmlPage(
        title=title,
        sections=walker.writer.sections(),
        links=tuple(walker.links),
        categories=page.categories(),
        language=page.language(),
        is_redirect_to=page.redirect_target(),
        infobox=tuple(walker.infobox),
        link_density=walker.link_characters / walker.characters if walker.characters else 0.0,
        contents_links=walker.contents_links,
        base=page.base(),
    )


def parse_html_head(markup: bytes | str, *, strip_title_suffix: bool = True, where: str = "HTML") -> HtmlHead:
    """The title and redirect target that ``parse_html`` would give, without extracting the text."""
    page = HtmlDocument(markup, where)
    return HtmlHead(page.title(strip_decorations=strip_title_suffix), page.redirect_target(), page.heading())


def write_html_fragment(markup: str, writer: PlainTextWriter, where: str = "HTML") -> tuple[str, ...]:
    """Append a piece of HTML from another format to ``writer``; returns its raw hrefs without fragment."""
    page = HtmlDocument(markup, where)
    walker = _Walker(page, "", writer)
    walker.walk(page.content)
    return tuple(walker.links)


class _Walker:
    """Drives a ``PlainTextWriter`` over the content. Iterative: nesting depth is the page's to choose."""

    def __init__(self, page: HtmlDocument, title: str, writer: PlainTextWriter) -> None:
        self._page = page
        self._title = fold_title(title)
        self.writer = writer
        self.links: dict[str, None] = {}
        self.infobox: list[tuple[str, str, str | None]] = []
        self.characters = 0
        self.link_characters = 0
        self.contents_links = 0
        self._open_links = 0
        self._open_lists: list[int | None] = []
        self._open_admonitions = 0
        # The parents of the entries that are open, by ``mem_id``, the innermost last.
        self._open_entries: list[int] = []
        self._span_budget = SpanBudget()

    def walk(self, root: LexborNode) -> None:
        """Write everything below ``root``."""
        stack = [(child, True) for child in reversed(visible_children(root))]
        while stack:
            node, entering = stack.pop()
            if not entering:
                self._leave(node)
            elif node.is_text_node:
                self._write(node.text_content or "")
            elif node.is_element_node and self._enter(node):
                stack.append((node, False))
                stack.extend((child, True) for child in reversed(visible_children(node)))
        for _ in self._open_entries:
            self.writer.close_entry()
        self._open_entries.clear()

    def _write(self, text: str) -> None:
        self.writer.write(text)
        self._count(text)

    def _count(self, text: str) -> None:
        length = _length(text)
        self.characters += length
        if self._open_links:
            self.link_characters += length

    def _enter(self, node: LexborNode) -> bool:
        """Begin an element; False when its children are done with or not wanted."""
        tag = node.tag or ""
        if node.mem_id in self._page.infoboxes:
            self._read_infobox(node)
            return False
        if node.mem_id in self._page.contents_tables:
            self._note_links(node)
            self.contents_links += sum(bool(_link_target(link)) for link in node.css("a[href]"))
            return False
        if node.mem_id in self._page.skip and not is_math(node):
            if tag not in BLOCK_ELEMENTS:
                self.writer.removed()
            return False
        replacement = replacement_text(node)
        if replacement is not None:
            self._write(replacement)
            return False
        if node.mem_id in self._page.tab_labels:
            self.writer.end_block()
            self._write(self._page.tab_labels[node.mem_id])
            self.writer.end_block()
        if tag in HEADING_LEVELS and not self._open_admonitions:
            self._enter_heading(node, HEADING_LEVELS[tag])
            return False
        if tag == "header" and not self._is_header_of_part(node):
            self._enter_page_header(node)
            return False
        if tag == "pre":
            self._enter_verbatim(node)
            return False
        if tag == "table" and not self._is_layout(node):
            self._enter_table(node)
            return False
        return self._enter_plain(node, tag)

    def _enter_plain(self, node: LexborNode, tag: str) -> bool:
        if tag == "br":
            self.writer.line_break()
        elif tag == "a":
            self._open_links += self._note_link(node)
        elif tag == "q":
            self.writer.write('"')
        elif tag in ("ul", "ol", "menu", "dir"):
            self.writer.end_block(LINE_GAP if self._open_lists else PARAGRAPH_GAP)
            self._open_lists.append(_first_number(node) if tag == "ol" else None)
        elif tag == "li":
            self.writer.open_item(self._next_marker(node))
        elif tag == "dd":
            self._enter_definition(node)
        elif tag in HEADING_LEVELS:
            self.writer.end_block()
        elif tag == "dt":
            self._enter_term(node)
        elif tag in PARAGRAPH_ELEMENTS or tag in LINE_ELEMENTS:
            self._open_admonitions += _is_admonition(node)
            self.writer.end_block(_gap(node, tag))
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        self._close_entry_in(node)
        if tag == "a":
            self._open_links -= bool((node.attributes.get("href") or "").strip())
        elif tag == "q":
            self.writer.write('"')
        elif tag in ("ul", "ol", "menu", "dir"):
            self._open_lists.pop()
            self.writer.end_block(LINE_GAP if self._open_lists else PARAGRAPH_GAP)
        elif tag == "li":
            self.writer.close_item()
        elif tag == "dd":
            self._leave_definition(node)
        elif tag in HEADING_LEVELS:
            self.writer.end_block()
        elif tag in PARAGRAPH_ELEMENTS or tag in LINE_ELEMENTS:
            self._open_admonitions -= _is_admonition(node)
            self.writer.end_block(_gap(node, tag))

    def _enter_term(self, node: LexborNode) -> None:
        if self._previous_tag(node) == "dt":
            self.writer.end_block(LINE_GAP)
            return
        self._close_entry_in(node.parent)
        may_open = (
            not (self.writer.is_indented or self._open_admonitions) and len(self._open_entries) < _MAX_ENTRY_DEPTH
        )
        name = entry_name(node, self._page) if may_open else ""
        if name and node.parent is not None:
            self.writer.open_entry(name)
            self._open_entries.append(node.parent.mem_id)
        self.writer.end_block(PARAGRAPH_GAP)

    def _previous_tag(self, node: LexborNode) -> str | None:
        """The tag of the element before ``node`` among those that are shown."""
        previous = node.prev
        while previous is not None and (not previous.is_element_node or is_out_of_sight(previous, self._page)):
            previous = previous.prev
        return previous.tag if previous is not None else None

    def _close_entry_in(self, node: LexborNode | None) -> None:
        if self._is_of_entry(node):
            self._open_entries.pop()
            self.writer.close_entry()

    def _is_of_entry(self, parent: LexborNode | None) -> bool:
        return bool(self._open_entries) and parent is not None and self._open_entries[-1] == parent.mem_id

    def _enter_definition(self, node: LexborNode) -> None:
        if self._is_of_entry(node.parent):
            self.writer.end_block(PARAGRAPH_GAP)
        else:
            self.writer.open_indent()

    def _leave_definition(self, node: LexborNode) -> None:
        if self._is_of_entry(node.parent):
            self.writer.end_block(PARAGRAPH_GAP)
        else:
            self.writer.close_indent()

    def _next_marker(self, node: LexborNode) -> str:
        number = self._open_lists[-1] if self._open_lists else None
        if number is None:
            return "- "
        number = _integer(node.attributes.get("value"), number)
        self._open_lists[-1] = number + 1
        return f"{number}. "

    def _note_link(self, node: LexborNode) -> bool:
        """Keep the target of an ``<a>``; whether it is a link at all."""
        target = _link_target(node)
        if target:
            self.links.setdefault(target)
        return bool((node.attributes.get("href") or "").strip())

    def _note_links(self, node: LexborNode) -> None:
        skip = self._page.skip
        for link in node.css("a[href]"):
            if link.mem_id not in skip:
                self._note_link(link)

    def _enter_heading(self, node: LexborNode, level: int) -> None:
        text = self._page.flat_text(node)
        self._note_links(node)
        # The title may have lost its number; the heading that repeats it has not.
        if _NUMBERED.match(text) and fold_title(_NUMBERED.sub("", text, count=1)) == self._title:
            text = _NUMBERED.sub("", text, count=1)
        elif fold_title(strip_numbering(text)) == self._title:
            text = strip_numbering(text)
        self.writer.heading(level, text)

    def _enter_page_header(self, node: LexborNode) -> None:
        """The header of a page or of the article that it shows: its headings count, bylines and buttons do not."""
        for heading in outermost(node, HEADINGS):
            if heading.mem_id not in self._page.skip:
                self._enter_heading(heading, HEADING_LEVELS[heading.tag or "h1"])

    def _is_header_of_part(self, node: LexborNode) -> bool:
        """Whether a header introduces a part of the article, with a heading of its own: all of it is text."""
        headings = [heading for heading in outermost(node, HEADINGS) if heading.mem_id not in self._page.skip]
        if not headings or any(self._is_title(heading) for heading in headings):
            return False
        current = node.parent
        for _ in range(MAX_ANCESTORS):
            if current is None or current.tag in SECTIONING_ELEMENTS:
                break
            current = current.parent
        return current is not None and current.tag in ("article", "section")

    def _is_title(self, heading: LexborNode) -> bool:
        text = self._page.flat_text(heading)
        return heading.tag == "h1" or self._title in (fold_title(text), fold_title(strip_numbering(text)))

    def _enter_verbatim(self, node: LexborNode) -> None:
        pieces: list[str] = []
        stack = [node]
        while stack:
            current = stack.pop()
            if current.is_text_node:
                pieces.append(current.text_content or "")
            elif current.tag == "br":
                pieces.append("\n")
            elif current.is_element_node and (current is node or current.mem_id not in self._page.skip):
                stack.extend(reversed(visible_children(current)))
        self._note_links(node)
        text = "".join(pieces)
        self._count(text)
        self.writer.verbatim(text)

    def _is_layout(self, table: LexborNode) -> bool:
        """Whether a table only places blocks: its cells are then read as running text."""
        if table.attributes.get("role") in ("presentation", "none"):
            return True
        if table.css_first("table table, h1, h2, h3, h4, pre") is not None:
            return True
        rows = table.css("tr")
        return all(len(_cells(row)) < 2 for row in rows) and (
            len(rows) == 1 or table.css_first("ul, ol, dl") is not None
        )

    def _enter_table(self, table: LexborNode) -> None:
        self.writer.end_block()
        skip = self._page.skip
        caption = table.css_first("caption")
        if caption is not None:
            self._write_row([self._read_cell(caption)])
        rows = [
            (row, [cell for cell in _cells(row) if cell.mem_id not in skip])
            for row in table.css("tr")
            if row.mem_id not in skip
        ]
        for table_row in table_rows(rows, self._read_cell, self._span_budget):
            if table_row.only_cell is not None:
                blocks = [text for text, _ in self._cell_blocks(table_row.only_cell)]
                self._count("".join(blocks))
                self._write_row(blocks)
            else:
                self._write_row([" | ".join(table_row.texts)] if any(table_row.texts) else [])
        self._note_links(table)
        if not self._open_links:
            links = [link for link in table.css("a[href]") if link.mem_id not in skip]
            self.link_characters += sum(_length(self._page.flat_text(link)) for link in links)
        self.writer.end_block()

    def _read_cell(self, cell: LexborNode) -> str:
        """The text of a cell, counted once however many rows and columns it spans."""
        text = self._page.flat_text(cell)
        self._count(text)
        return text

    def _write_row(self, lines: list[str]) -> None:
        """One row; a single cell with several blocks (a signature and what it does) reads as a paragraph."""
        gap = PARAGRAPH_GAP if len(lines) > 1 else LINE_GAP
        self.writer.end_block(gap)
        for line in lines:
            self.writer.write(line)
            self.writer.end_block(LINE_GAP)
        self.writer.end_block(gap)

    def _read_infobox(self, table: LexborNode) -> None:
        self._note_links(table)
        # A nested table counts by its own rows, so that no text is read once for each table around it.
        stack = [table]
        while stack:
            node = stack.pop()
            cells = _cells(node) if node.tag == "tr" else []
            is_field = len(cells) == 2 and cells[0].tag == "th" and cells[1].tag == "td"
            if is_field and not any(child.tag == "table" for child in _elements_below(cells[1])):
                field = self._page.flat_text(cells[0]).rstrip(":")
                if field:
                    self.infobox.extend((field, value, link) for value, link in self._cell_values(cells[1]))
            else:
                stack.extend(reversed([child for child in node.iter() if child.is_element_node]))

    def _cell_values(self, cell: LexborNode) -> Iterator[tuple[str, str | None]]:
        """The values of an infobox cell, which stand in list items or on lines of their own."""
        for block, links in self._cell_blocks(cell):
            text = block.strip(",;·• ")
            # A value that merely mentions a link ("13 November 1914 in New York") is no entity.
            covered = len(links) == 1 and 2 * len(self._page.flat_text(links[0])) >= len(text)
            href = _link_target(links[0]) if covered else ""
            if text:
                yield text, href or None

    def _cell_blocks(self, cell: LexborNode) -> Iterator[tuple[str, list[LexborNode]]]:
        """The text of each block of a cell on one line, with its links."""
        blocks: list[tuple[list[str], list[LexborNode]]] = [([], [])]
        stack: list[LexborNode | None] = [cell]
        while stack:
            node = stack.pop()
            if node is None:
                blocks.append(([], []))
            elif node.is_text_node:
                blocks[-1][0].append(node.text_content or "")
            elif node.is_element_node and (node.mem_id not in self._page.skip or is_math(node)):
                replacement = replacement_text(node)
                if replacement is not None:
                    blocks[-1][0].append(replacement)
                    continue
                if node.tag in BLOCK_ELEMENTS and node is not cell:
                    blocks.append(([], []))
                    stack.append(None)
                if node.tag == "a" and node.attributes.get("href"):
                    blocks[-1][1].append(node)
                stack.extend(reversed(visible_children(node)))
        for pieces, links in blocks:
            text = collapse_spaces("".join(pieces))
            if text:
                yield text, links


def _elements_below(node: LexborNode) -> Iterator[LexborNode]:
    """The elements below ``node`` in document order."""
    stack = list(reversed(list(node.iter())))
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(current.iter())))


def _link_target(link: LexborNode) -> str:
    """The href of an ``<a>`` without fragment; empty for a link within the page."""
    return (link.attributes.get("href") or "").partition("#")[0].strip()


def _length(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n")


def _cells(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in ("td", "th")]


# A class, its methods, what a method names.
_MAX_ENTRY_DEPTH = 3
_NUMBERED = re.compile(r"^\d+\.\s+")
_ADMONITIONS = frozenset(
    ("admonition", "note", "warning", "tip", "caution", "important", "danger", "hint", "attention")
)


def _is_admonition(node: LexborNode) -> bool:
    """Whether headings inside are labels ("Note") of a box, which opens no section."""
    return node.tag == "aside" or not _ADMONITIONS.isdisjoint(class_names(node))


def _gap(node: LexborNode, tag: str) -> int:
    if tag in LINE_ELEMENTS or (tag == "div" and "line" in class_names(node)):
        return LINE_GAP
    return PARAGRAPH_GAP


def _first_number(node: LexborNode) -> int:
    return _integer(node.attributes.get("start"), 1)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text.strip()) else default

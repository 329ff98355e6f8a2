"""Extract the content of an HTML page as plain text that keeps its structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.bylines import add_byline
from wikigr.sources.facts import Infobox, add_facts
from wikigr.sources.html.anchor import anchor_at, id_of
from wikigr.sources.html.byline import find_byline
from wikigr.sources.html.document import (
    BLOCK_ELEMENTS,
    HEADING_LEVELS,
    HEADINGS,
    LINE_ELEMENTS,
    MAX_ANCESTORS,
    PARAGRAPH_ELEMENTS,
    REPLACED_ELEMENTS,
    SECTIONING_ELEMENTS,
    HtmlDocument,
    class_names,
    is_math,
    outermost,
    replacement_text,
    visible_children,
)
from wikigr.sources.html.entries import entry_name, is_ignored
from wikigr.sources.html.table import table_row
from wikigr.sources.html.title import strip_numbering
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, PlainTextWriter, collapse_spaces, fold_title
from wikigr.sources.tables import name_columns
from wikigr.sources.wikitext.infobox import is_fact, relation_name


@dataclass(frozen=True, slots=True)
class HtmlHead:
    """The title and redirect of a page, read without its text; ``heading`` is that of its content, or ``""``."""

    title: str
    is_redirect_to: str | None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class HtmlInfobox:
    """An infobox in the section ``heading_path``, which has the address ``anchor``.

    ``rows`` holds (field, value, href if the value is a link); a cell with several values gives several rows.
    """

    heading_path: tuple[str, ...]
    anchor: str
    rows: tuple[tuple[str, str, str | None], ...]


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The content of one page.

    ``links`` are the unresolved hrefs of the content area in document order, without fragments and duplicates.
    ``language`` is the page's ``lang`` attribute or ``""``. ``is_redirect_to`` is the target of a meta refresh.
    ``infoboxes`` are in document order.
    ``link_density`` is the share of the text's characters that belong to links, 0 to 1. ``contents_links`` counts the
    links to other pages in tables of contents, whose text is omitted. ``base`` is the raw URL that ``links`` are
    relative to, ``""`` for the page's own. ``url`` is the canonical address of the page, ``""`` if it states none.
    """

    title: str
    sections: tuple[SourceSection, ...]
    links: tuple[str, ...]
    categories: tuple[str, ...]
    language: str
    is_redirect_to: str | None
    infoboxes: tuple[HtmlInfobox, ...] = ()
    link_density: float = 0.0
    contents_links: int = 0
    base: str = ""
    url: str = ""


def parse_html(
    markup: bytes | str, *, title: str = "", strip_title_suffix: bool = True, where: str = "HTML"
) -> HtmlPage:
    """Extract the content of ``markup``.

    The encoding of bytes comes from a BOM, ``<meta>`` or an XML declaration, otherwise it is UTF-8 or windows-1252.
    ``title`` replaces the page's own title. ``strip_title_suffix`` removes the site's name from the end of the page's
    title and a manual's numbering ("25.1. ", "Chapter 3. ") from its start. Any input gives a page, possibly without
    sections, except markup that exceeds the limits of ``prepare_markup``, which raises ``RecordError`` at ``where``.
    """
    page = HtmlDocument(markup, where)
    title = title or page.title(strip_decorations=strip_title_suffix)
    walker = _Walker(page, title, PlainTextWriter(title))
    walker.walk(page.content)
    return HtmlPage(
        title=title,
        sections=add_byline(walker.writer.sections(), find_byline(page.root)),
        links=tuple(walker.links),
        categories=page.categories(),
        language=page.language(),
        is_redirect_to=page.redirect_target(),
        infoboxes=tuple(walker.infoboxes),
        link_density=walker.link_characters / walker.characters if walker.characters else 0.0,
        contents_links=walker.contents_links,
        base=page.base(),
        url=page.url(),
    )


def parse_html_head(markup: bytes | str, *, strip_title_suffix: bool = True, where: str = "HTML") -> HtmlHead:
    """Return the title, redirect target and heading without extracting the text; raises as ``parse_html`` does."""
    page = HtmlDocument(markup, where)
    return HtmlHead(page.title(strip_decorations=strip_title_suffix), page.redirect_target(), page.heading())


def read_note(
    note: HtmlDocument, title: str, anchor_of: Callable[[str], str] | None = None
) -> tuple[tuple[SourceSection, ...], tuple[str, ...]]:
    """Return the sections of a note with this title that was written as HTML, and its links as ``parse_html`` does.

    ``anchor_of`` returns the anchor of a heading without an id; without it, headings have those in the HTML.
    """
    writer = PlainTextWriter(title)
    links = write_html(note, title, writer, anchor_of)
    return writer.sections(), links


def write_html(
    page: HtmlDocument, title: str, writer: PlainTextWriter, anchor_of: Callable[[str], str] | None = None
) -> tuple[str, ...]:
    """Add the content of ``page``, a part of the document with this title, to ``writer``; return its links.

    ``anchor_of`` is that of ``read_note``.
    """
    walker = _Walker(page, title, writer, anchor_of)
    walker.walk(page.content)
    return tuple(walker.links)


def state_infoboxes(
    title: str,
    sections: Sequence[SourceSection],
    infoboxes: Iterable[HtmlInfobox],
    target_of: Callable[[str], str | None],
) -> tuple[tuple[SourceSection, ...], tuple[Triple, ...]]:
    """Return ``sections`` of the page ``title`` with the facts of its infoboxes, and the facts: see ``add_facts``.

    ``target_of`` returns the target of the link of a value, ``None`` for a link that leaves the source.
    """
    boxes = (
        Infobox(
            box.heading_path,
            tuple(
                Triple(title, relation, value, target_of(href) if href is not None else None)
                for field, value, href in box.rows
                if is_fact(relation := relation_name(field))
            ),
            box.anchor,
        )
        for box in infoboxes
    )
    return add_facts(sections, boxes)


class _Walker:
    """Drives a ``PlainTextWriter`` over the content, iteratively because pages may nest deeply."""

    def __init__(
        self,
        page: HtmlDocument,
        title: str,
        writer: PlainTextWriter,
        anchor_of: Callable[[str], str] | None = None,
    ) -> None:
        self._page = page
        self._anchor_of = anchor_of
        self._title = fold_title(title)
        self.writer = writer
        self.links: dict[str, None] = {}
        self.infoboxes: list[HtmlInfobox] = []
        self.characters = 0
        self.link_characters = 0
        self.contents_links = 0
        self._open_links = 0
        self._open_lists: list[int | None] = []
        self._open_admonitions = 0
        # The ``mem_id`` of the parent of each open entry, the innermost last.
        self._open_entries: list[int] = []

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
        self.writer.write(text, is_link=self._open_links > 0)
        self._count(text)

    def _count(self, text: str) -> None:
        length = _length(text)
        self.characters += length
        if self._open_links:
            self.link_characters += length

    def _enter(self, node: LexborNode) -> bool:
        """Begin an element; returns False when its children need no visit."""
        tag = node.tag or ""
        if node.mem_id in self._page.special and not self._enter_special(node, tag):
            return False
        replacement = replacement_text(node) if tag in REPLACED_ELEMENTS else None
        if replacement is not None:
            self._write(replacement)
            return False
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

    def _enter_special(self, node: LexborNode, tag: str) -> bool:
        """Begin an element that is not read as text, or is the panel of a tab; returns as ``_enter`` does."""
        if node.mem_id in self._page.infoboxes:
            self._read_infobox(node)
            return False
        if node.mem_id in self._page.contents_tables:
            self._add_links(node)
            self.contents_links += sum(bool(_link_target(link)) for link in node.css("a[href]"))
            return False
        if node.mem_id in self._page.skip and not is_math(node):
            if tag not in BLOCK_ELEMENTS:
                self.writer.removed()
            return False
        if node.mem_id in self._page.tab_labels:
            self.writer.end_block()
            self._write(self._page.tab_labels[node.mem_id])
            self.writer.end_block()
        return True

    def _enter_plain(self, node: LexborNode, tag: str) -> bool:
        if tag == "br":
            self.writer.line_break()
        elif tag == "a":
            self._open_links += self._add_link(node)
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
            self.writer.open_entry(name, anchor_at(node, self._page))
            self._open_entries.append(node.parent.mem_id)
        self.writer.end_block(PARAGRAPH_GAP)

    def _previous_tag(self, node: LexborNode) -> str | None:
        """Return the tag of the visible element before ``node``."""
        previous = node.prev
        while previous is not None and (not previous.is_element_node or is_ignored(previous, self._page)):
            previous = previous.prev
        return previous.tag if previous is not None else None

    def _close_entry_in(self, node: LexborNode | None) -> None:
        if self._is_entry_parent(node):
            self._open_entries.pop()
            self.writer.close_entry()

    def _is_entry_parent(self, parent: LexborNode | None) -> bool:
        return bool(self._open_entries) and parent is not None and self._open_entries[-1] == parent.mem_id

    def _enter_definition(self, node: LexborNode) -> None:
        if self._is_entry_parent(node.parent):
            self.writer.end_block(PARAGRAPH_GAP)
        else:
            self.writer.open_indent()

    def _leave_definition(self, node: LexborNode) -> None:
        if self._is_entry_parent(node.parent):
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

    def _add_link(self, node: LexborNode) -> bool:
        """Keep the target of an ``<a>``; returns whether it is a link at all."""
        target = _link_target(node)
        if target:
            self.links.setdefault(target)
        return bool((node.attributes.get("href") or "").strip())

    def _add_links(self, node: LexborNode) -> None:
        skip = self._page.skip
        for link in node.css("a[href]"):
            if link.mem_id not in skip:
                self._add_link(link)

    def _enter_heading(self, node: LexborNode, level: int) -> None:
        text = self._page.flat_text(node)
        self._add_links(node)
        # The heading that repeats the title may still have the number that the title lost.
        if _NUMBERED.match(text) and fold_title(_NUMBERED.sub("", text, count=1)) == self._title:
            text = _NUMBERED.sub("", text, count=1)
        elif fold_title(strip_numbering(text)) == self._title:
            text = strip_numbering(text)
        if self._anchor_of is None:
            anchor = anchor_at(node, self._page)
        else:
            # Numbers also count the headings that have an id of their own.
            made = self._anchor_of(text)
            anchor = id_of(node) or made
        self.writer.heading(level, text, anchor)

    def _enter_page_header(self, node: LexborNode) -> None:
        """Read the headings of a page's or an article's header; skip bylines and buttons."""
        for heading in outermost(node, HEADINGS):
            if heading.mem_id not in self._page.skip:
                self._enter_heading(heading, HEADING_LEVELS[heading.tag or "h1"])

    def _is_header_of_part(self, node: LexborNode) -> bool:
        """Return whether a header introduces a part of the article under its own heading; all of it is text then."""
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
        self._add_links(node)
        text = "".join(pieces)
        self._count(text)
        self.writer.verbatim(text)

    def _is_layout(self, table: LexborNode) -> bool:
        """Return whether a table is only used for layout; its cells are read as running text then."""
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
            text = self._page.flat_text(caption)
            self._count(text)
            self._write_row([text])
        shown = [row for row in table.css("tr") if row.mem_id not in skip]
        cells = [[cell for cell in _cells(row) if cell.mem_id not in skip] for row in shown]
        # Each cell is read once, however many rows and columns it spans.
        texts = [[self._page.flat_text(cell) for cell in row] for row in cells]
        # Bold cells name columns where no cell is marked as a header.
        bold_rows = _FIRST_ROWS if table.css_first("th, thead") is None else 0
        rows = [
            table_row(*row, may_be_bold=number < bold_rows)
            for number, row in enumerate(zip(shown, cells, texts, strict=True))
        ]
        for row, read, row_text in zip(cells, texts, name_columns(rows), strict=True):
            if row_text.is_alone:
                blocks = [text for text, _ in self._cell_blocks(row[0])]
                self._count("".join(blocks))
                self._write_row(blocks)
            else:
                self._count("".join(read))
                for line in row_text.lines:
                    self._write_row([line])
        self._add_links(table)
        if not self._open_links:
            links = [link for link in table.css("a[href]") if link.mem_id not in skip]
            self.link_characters += sum(_length(self._page.flat_text(link)) for link in links)
        self.writer.end_block()

    def _write_row(self, lines: list[str]) -> None:
        """Write one row; several blocks in a single cell, such as a signature and its description, are a paragraph."""
        gap = PARAGRAPH_GAP if len(lines) > 1 else LINE_GAP
        self.writer.end_block(gap)
        for line in lines:
            self.writer.write(line)
            self.writer.end_block(LINE_GAP)
        self.writer.end_block(gap)

    def _read_infobox(self, table: LexborNode) -> None:
        self._add_links(table)
        rows: list[tuple[str, str, str | None]] = []
        # Rows of nested tables are read separately, so that no text is read once per enclosing table.
        stack = [table]
        while stack:
            node = stack.pop()
            cells = _cells(node) if node.tag == "tr" else []
            is_field = len(cells) == 2 and cells[0].tag == "th" and cells[1].tag == "td"
            if is_field and not any(child.tag == "table" for child in _elements_below(cells[1])):
                field = self._page.flat_text(cells[0]).rstrip(":")
                if field:
                    rows.extend((field, value, link) for value, link in self._cell_values(cells[1]))
            else:
                stack.extend(reversed([child for child in node.iter() if child.is_element_node]))
        if rows:
            self.infoboxes.append(HtmlInfobox(self.writer.heading_path, self.writer.anchor, tuple(rows)))

    def _cell_values(self, cell: LexborNode) -> Iterator[tuple[str, str | None]]:
        """Yield the values of an infobox cell, one per list item or line."""
        for block, links in self._cell_blocks(cell):
            text = block.strip(",;·• ")
            # A value that merely contains a link ("13 November 1914 in New York") is not an entity.
            covered = len(links) == 1 and 2 * len(self._page.flat_text(links[0])) >= len(text)
            href = _link_target(links[0]) if covered else ""
            if text:
                yield text, href or None

    def _cell_blocks(self, cell: LexborNode) -> Iterator[tuple[str, list[LexborNode]]]:
        """Yield the text of each block of a cell on one line, with its links."""
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
    """Yield the elements below ``node`` in document order."""
    stack = list(reversed(list(node.iter())))
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(current.iter())))


def _link_target(link: LexborNode) -> str:
    """Return the href of an ``<a>`` without its fragment; empty for a link within the page."""
    return (link.attributes.get("href") or "").partition("#")[0].strip()


def _length(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n")


def _cells(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in ("td", "th")]


# Rows of a table, with its title, that may be a header in bold or the row below it.
_FIRST_ROWS = 4
# A class, its methods and their entries.
_MAX_ENTRY_DEPTH = 3
_NUMBERED = re.compile(r"^\d+\.\s+")
_ADMONITIONS = frozenset(
    ("admonition", "note", "warning", "tip", "caution", "important", "danger", "hint", "attention")
)


def _is_admonition(node: LexborNode) -> bool:
    """Return whether ``node`` is a box whose headings ("Note") are labels and do not open sections."""
    if node.tag == "p":
        return False
    return node.tag == "aside" or not _ADMONITIONS.isdisjoint(class_names(node))


def _gap(node: LexborNode, tag: str) -> int:
    if tag in LINE_ELEMENTS or (tag == "div" and "line" in class_names(node)):
        return LINE_GAP
    return PARAGRAPH_GAP


def _first_number(node: LexborNode) -> int:
    return _integer(node.attributes.get("start"), 1)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text.strip()) else default

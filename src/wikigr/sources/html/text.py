"""Extract the content of an HTML page as plain text that keeps its structure, with anchors, links and infoboxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from selectolax.lexbor import LexborNode

from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.block import BlockKind
from wikigr.sources.bylines import add_byline
from wikigr.sources.facts import Infobox, add_facts
from wikigr.sources.html.boilerplate import class_names
from wikigr.sources.html.document import (
    BLOCK_ELEMENTS,
    HEADING_LEVELS,
    HEADINGS,
    LINE_ELEMENTS,
    MAX_ANCESTORS,
    PARAGRAPH_ELEMENTS,
    SECTIONING_ELEMENTS,
    HtmlDocument,
    id_of,
    is_math,
    outermost,
    replacement_text,
    visible_children,
)
from wikigr.sources.html.head import (
    find_base,
    find_byline,
    find_categories,
    find_redirect,
    find_title,
    find_url,
    strip_numbering,
)
from wikigr.sources.html.structures import (
    Numbering,
    cell_text,
    cells_of,
    entry_name,
    infobox_rows,
    is_ignored,
    is_layout,
    rows_of,
    table_rows,
    task_state,
)
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, PlainTextWriter, fold_title
from wikigr.sources.tables import name_columns
from wikigr.sources.wikitext.infobox import is_fact, relation_name

# The kinds of blocks of running text.
_KINDS: dict[str, BlockKind] = {
    "blockquote": "quotation", "caption": "caption", "dt": "term", "figcaption": "caption",
    **dict.fromkeys(HEADING_LEVELS, "heading"),
}  # fmt: skip
# Classes of code, or of the box around it: "language-x" is in the HTML standard, and Sphinx writes "highlight-x".
_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush)[-:]\{?\.?([\w+#.-]+)[},]*")
_NO_LANGUAGES = frozenset(("default", "none", "plain", "plaintext", "text", "nohighlight", "no-highlight"))
# Classes beside which the only other one is the language: Pandoc's and those of highlighters in the browser.
_HIGHLIGHTED = frozenset(("sourceCode", "hljs", "prettyprint"))
_CODE = ("code", "kbd", "samp", "tt")
_LISTS = ("ul", "ol", "menu", "dir")
_NUMBERED = re.compile(r"^\d+\.\s+")
_ADMONITIONS = frozenset(
    ("admonition", "note", "warning", "tip", "caution", "important", "danger", "hint", "attention")
)


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The content of one page.

    ``links`` are the unresolved hrefs of the content area in document order, without fragments and duplicates; they
    are relative to ``base``, the raw ``<base>``, or if that is ``""``, to the page's own address. ``is_redirect_to`` is
    the target of a meta refresh. ``infoboxes`` are in document order; the links of their objects are hrefs too.
    ``link_density`` is the share of the text's characters that belong to links, 0 to 1. ``contents_links`` counts the
    links to other pages in tables of contents, whose text is omitted. ``url`` is the canonical address, or ``""``.
    """

    title: str
    sections: tuple[SourceSection, ...]
    links: tuple[str, ...]
    categories: tuple[str, ...]
    is_redirect_to: str | None
    infoboxes: tuple[Infobox, ...] = ()
    link_density: float = 0.0
    contents_links: int = 0
    base: str = ""
    url: str = ""


def parse_html(markup: bytes | str, *, title: str = "", where: str = "HTML") -> HtmlPage:
    """Extract the content of ``markup``.

    The encoding of bytes comes from a BOM, ``<meta>`` or an XML declaration, otherwise it is UTF-8 or windows-1252.
    ``title`` replaces the page's own title. Any input gives a page, possibly without sections, except markup that
    exceeds the limits of ``prepare_markup``, which raises ``RecordError`` at ``where``.
    """
    page = HtmlDocument(markup, where)
    title = title or find_title(page)
    walker = _Walker(page, title, PlainTextWriter(title))
    walker.walk(page.content)
    return HtmlPage(
        title=title,
        sections=add_byline(walker.writer.sections(), find_byline(page.root)),
        links=tuple(walker.links),
        categories=find_categories(page),
        is_redirect_to=find_redirect(page),
        infoboxes=tuple(walker.infoboxes),
        link_density=walker.link_characters / walker.characters if walker.characters else 0.0,
        contents_links=walker.contents_links,
        base=find_base(page),
        url=find_url(page),
    )


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
    infoboxes: Iterable[Infobox],
    target_of: Callable[[str], str | None],
) -> tuple[tuple[SourceSection, ...], tuple[Triple, ...]]:
    """Return ``sections`` of the page ``title`` with the facts of its infoboxes, and the facts: see ``add_facts``.

    ``target_of`` returns the target of the link of a value, ``None`` for a link that leaves the source.
    """

    def resolved(triple: Triple) -> Triple:
        href = triple.object_link
        return replace(triple, subject=title, object_link=target_of(href) if href is not None else None)

    return add_facts(sections, (replace(box, triples=tuple(map(resolved, box.triples))) for box in infoboxes))


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
        self.infoboxes: list[Infobox] = []
        self.characters = 0
        self.link_characters = 0
        self.contents_links = 0
        self._open_links = 0
        # The next number of each open list, None for a list without numbers.
        self._open_lists: list[Numbering | None] = []
        self._open_admonitions = 0
        # The ``mem_id`` of the parent of each open entry, the innermost last.
        self._open_entries: list[int] = []

    def walk(self, root: LexborNode) -> None:
        """Write everything below ``root``."""
        self.writer.join_words(root.text)
        stack = [(child, True) for child in reversed(visible_children(root))]
        while stack:
            node, entering = stack.pop()
            if not entering:
                self._leave(node, node.tag or "")
            elif node.is_text_node:
                self._write(node.text_content or "")
            elif node.is_element_node and self._enter(node, node.tag or ""):
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

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Begin an element; returns False when its children need no visit."""
        if node.mem_id in self._page.special and not self._enter_special(node, tag):
            return False
        replacement = replacement_text(node) if tag in self._page.replaced else None
        if replacement is not None:
            self._write(replacement)
        elif tag in HEADING_LEVELS and not self._open_admonitions:
            self._write_heading(node, HEADING_LEVELS[tag])
        elif tag == "header" and not self._is_header_of_part(node):
            # Of a page's or an article's header, the headings are read, but no bylines and buttons.
            for heading in self._headings_in(node):
                self._write_heading(heading, HEADING_LEVELS[heading.tag or "h1"])
        elif tag == "pre":
            self._write_verbatim(node)
        elif "data-property" in node.attributes:
            self._write_property(node)
        elif tag == "table" and not is_layout(node, self._page):
            self._write_table(node)
        elif node.mem_id in self._page.footnotes:
            self._enter_footnote(node, tag)
            return True
        else:
            self._enter_plain(node, tag)
            return True
        return False

    def _enter_special(self, node: LexborNode, tag: str) -> bool:
        """Begin an element that is not read as text, or is the panel of a tab; returns as ``_enter`` does."""
        page = self._page
        if node.mem_id in page.infoboxes:
            self._read_infobox(node)
            return False
        if node.mem_id in page.contents_tables:
            self._add_links(node)
            self.contents_links += sum(bool(_link_target(link)) for link in node.css("a[href]"))
            return False
        if node.mem_id in page.skip and not is_math(node):
            if tag not in BLOCK_ELEMENTS:
                self.writer.removed()
            return False
        if node.mem_id in page.tab_labels:
            self.writer.end_block()
            self._write(page.tab_labels[node.mem_id])
            self.writer.end_block()
        return True

    def _enter_plain(self, node: LexborNode, tag: str) -> None:
        if tag == "br":
            self.writer.line_break()
        elif tag == "a":
            self._open_links += _is_link(node)
            self._add_link(node)
        elif tag == "q":
            self.writer.write('"')
        elif tag in _LISTS:
            self.writer.end_block(LINE_GAP if self._open_lists else PARAGRAPH_GAP)
            self._open_lists.append(Numbering(node) if tag == "ol" else None)
        elif tag == "li":
            self.writer.open_item(self._next_marker(node), task_state(node))
        elif tag == "dd":
            self.writer.open_indent(0 if self._is_entry_parent(node.parent) else 4)
        elif tag in HEADING_LEVELS:
            self.writer.end_block()
        elif tag == "dt":
            self._enter_term(node)
        elif tag in PARAGRAPH_ELEMENTS or tag in LINE_ELEMENTS:
            self._open_admonitions += _is_admonition(node)
            self.writer.end_block(_gap(node, tag))
        if (kind := _kind(node, tag)) is not None:
            self.writer.open_kind(kind, _language(node) if kind == "code" else "")

    def _enter_footnote(self, node: LexborNode, tag: str) -> None:
        label = self._page.footnotes[node.mem_id]
        if tag == "li":
            marker = self._next_marker(node)
            label = label or marker.rstrip(" .-")
            self.writer.open_item(marker)
        else:
            self.writer.end_block(LINE_GAP)
        self.writer.open_kind("footnote", label)

    def _leave(self, node: LexborNode, tag: str) -> None:
        self._close_entry_in(node)
        if node.mem_id in self._page.footnotes or _kind(node, tag) is not None:
            self.writer.close_kind()
        if tag == "a":
            self._open_links -= _is_link(node)
        elif tag == "q":
            self.writer.write('"')
        elif tag in _LISTS:
            self._open_lists.pop()
            self.writer.end_block(LINE_GAP if self._open_lists else PARAGRAPH_GAP)
        elif tag == "li":
            self.writer.close_item()
        elif tag == "dd" and node.mem_id not in self._page.footnotes:
            self.writer.close_indent()
        elif tag in HEADING_LEVELS:
            self.writer.end_block()
        elif tag in PARAGRAPH_ELEMENTS or tag in LINE_ELEMENTS:
            self._open_admonitions -= _is_admonition(node)
            self.writer.end_block(_gap(node, tag))

    def _enter_term(self, node: LexborNode) -> None:
        previous = node.prev
        while previous is not None and (not previous.is_element_node or is_ignored(previous, self._page)):
            previous = previous.prev
        if previous is not None and previous.tag == "dt":
            self.writer.end_block(LINE_GAP)
            return
        self._close_entry_in(node.parent)
        # A class, its methods and their entries are three.
        is_nested = self.writer.is_indented or self._open_admonitions or len(self._open_entries) >= 3
        name = "" if is_nested else entry_name(node, self._page)
        if name and node.parent is not None:
            self.writer.open_entry(name, self._page.anchor_at(node))
            self._open_entries.append(node.parent.mem_id)
        self.writer.end_block(PARAGRAPH_GAP)

    def _close_entry_in(self, node: LexborNode | None) -> None:
        if self._is_entry_parent(node):
            self._open_entries.pop()
            self.writer.close_entry()

    def _is_entry_parent(self, parent: LexborNode | None) -> bool:
        return bool(self._open_entries) and parent is not None and self._open_entries[-1] == parent.mem_id

    def _next_marker(self, node: LexborNode) -> str:
        numbering = self._open_lists[-1] if self._open_lists else None
        return "- " if numbering is None else f"{numbering.next(node)}. "

    def _add_link(self, node: LexborNode) -> None:
        if target := _link_target(node):
            self.links.setdefault(target)

    def _add_links(self, node: LexborNode) -> None:
        for link in self._links_in(node):
            self._add_link(link)

    def _links_in(self, node: LexborNode) -> list[LexborNode]:
        return [link for link in node.css("a[href]") if link.mem_id not in self._page.skip]

    def _write_heading(self, node: LexborNode, level: int) -> None:
        text = self._page.flat_text(node)
        self._add_links(node)
        # The heading that repeats the title may still have the number that the title lost.
        for plain in (_NUMBERED.sub("", text, count=1), strip_numbering(text)):
            if plain != text and fold_title(plain) == self._title:
                text = plain
                break
        if self._anchor_of is None:
            anchor = self._page.anchor_at(node)
        else:
            # Numbers also count the headings that have an id of their own.
            made = self._anchor_of(text)
            anchor = id_of(node) or made
        self.writer.heading(level, text, anchor)

    def _headings_in(self, header: LexborNode) -> list[LexborNode]:
        return [heading for heading in outermost(header, HEADINGS) if heading.mem_id not in self._page.skip]

    def _is_header_of_part(self, node: LexborNode) -> bool:
        """Return whether a header introduces a part of the article under its own heading; all of it is text then."""
        headings = self._headings_in(node)
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

    def _write_property(self, node: LexborNode) -> None:
        value = self._page.flat_text(node)
        self._add_links(node)
        self._count(value)
        self.writer.add_property(node.attributes.get("data-property") or "", value)

    def _write_verbatim(self, node: LexborNode) -> None:
        pieces: list[str] = []
        stack = visible_children(node)[::-1]
        while stack:
            current = stack.pop()
            if current.is_text_node:
                pieces.append(current.text_content or "")
            elif current.tag == "br":
                pieces.append("\n")
            elif current.is_element_node and current.mem_id not in self._page.skip:
                stack.extend(reversed(visible_children(current)))
        self._add_links(node)
        text = "".join(pieces)
        self._count(text)
        self.writer.verbatim(text, _language(node))

    def _write_table(self, table: LexborNode) -> None:
        self.writer.end_block()
        skip = self._page.skip
        caption = table.css_first("caption")
        if caption is not None:
            text = self._page.flat_text(caption)
            self._count(text)
            self.writer.open_kind("caption")
            self.writer.write(text)
            self.writer.close_kind()
            self.writer.end_block(LINE_GAP)
        cells = [[cell for cell in cells_of(row) if cell.mem_id not in skip] for row in rows_of(table, self._page)]
        # Each cell is read once, however many rows and columns it spans.
        text_of = self._page.flat_text
        if table.mem_id in self._page.outer_tables:
            text_of = partial(cell_text, page=self._page)
        texts = [list(map(text_of, row)) for row in cells]
        rows = table_rows(table, self._page, texts)
        for row, read, row_text in zip(cells, texts, name_columns(rows), strict=True):
            blocks = [text for text, _ in self._page.flat_blocks(row[0])] if row_text.is_alone else []
            if len(blocks) > 1:
                # A signature and its description, for example, are a paragraph.
                self.writer.end_block()
                for block in blocks:
                    self.writer.write(block)
                    self.writer.end_block(LINE_GAP)
                self.writer.end_block()
            else:
                self.writer.row(row_text)
            self._count("".join(read))
        self._add_links(table)
        if not self._open_links:
            self.link_characters += sum(_length(self._page.flat_text(link)) for link in self._links_in(table))
        self.writer.end_block()

    def _read_infobox(self, table: LexborNode) -> None:
        self._add_links(table)
        triples = tuple(
            Triple("", relation, value, (_link_target(link) or None) if link is not None else None)
            for field, value, link in infobox_rows(table, self._page)
            if is_fact(relation := relation_name(field))
        )
        self.infoboxes.append(Infobox(self.writer.heading_path, triples, self.writer.anchor))


def _kind(node: LexborNode, tag: str) -> BlockKind | None:
    """Return the kind of the running text in an element; a paragraph that is one piece of code is code."""
    if tag != "p":
        return _KINDS.get(tag)
    parts = (
        part for part in node.iter(include_text=True) if not part.is_text_node or (part.text_content or "").strip()
    )
    first = next(parts, None)
    return "code" if first is not None and first.tag in _CODE and next(parts, None) is None else None


def _language(pre: LexborNode) -> str:
    """Return the language that the classes of code state, or those of the boxes around it; ``""`` if none does."""
    boxes = [node for node in (pre.css_first("code"), pre, pre.parent) if node is not None]
    if pre.parent is not None and pre.parent.parent is not None:
        boxes.append(pre.parent.parent)
    for node in boxes:
        names = class_names(node)
        stated = [found[1] for name in names if (found := _LANGUAGE.fullmatch(name))]
        stated += [node.attributes.get(name) or "" for name in ("data-lang", "data-language")]
        if node.tag in ("pre", "code") and not _HIGHLIGHTED.isdisjoint(names):
            stated += [name for name in names if name not in _HIGHLIGHTED]
        for language in stated:
            if language and language not in _NO_LANGUAGES:
                return language
    return ""


def _link_target(link: LexborNode) -> str:
    return (link.attributes.get("href") or "").partition("#")[0].strip()


def _is_link(node: LexborNode) -> bool:
    return bool((node.attributes.get("href") or "").strip())


def _length(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n")


def _is_admonition(node: LexborNode) -> bool:
    return node.tag == "aside" or (node.tag != "p" and not _ADMONITIONS.isdisjoint(class_names(node)))


def _gap(node: LexborNode, tag: str) -> int:
    is_line = tag in LINE_ELEMENTS or (tag == "div" and "line" in class_names(node))
    return LINE_GAP if is_line else PARAGRAPH_GAP

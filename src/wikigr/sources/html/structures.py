"""Recognize tables, infoboxes and the entries of API references and glossaries in an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from selectolax.lexbor import LexborNode

from wikigr.sources.html.boilerplate import class_names
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.tables import MAX_COLUMN_SPAN, MAX_ROW_SPAN, Cell, Row

_SPAN = re.compile(r"\s*\+?(\d{1,9})")

# Classes of lists whose terms are footnote or citation marks.
_REFERENCE_LISTS = frozenset({"footnote", "footnotes", "citation"})
# Sphinx marks up the name within a signature.
_SPHINX_NAME = ".sig-prename, .sig-name, .descclassname:not(.sig-prename), .descname:not(.sig-name)"
# Arguments, a type or a value after a name.
_AFTER_NAME = re.compile(r"(?<=\w)(?:\s*\(|\s*:\s|\s+=\s|=).*", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")


def cells_of(row: LexborNode) -> list[LexborNode]:
    """Return the cells of a row of a table."""
    return [node for node in row.iter() if node.tag in ("td", "th")]


def is_layout(table: LexborNode) -> bool:
    """Return whether a table is only used for layout; its cells are read as running text then."""
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    if table.css_first("table table, h1, h2, h3, h4, pre") is not None:
        return True
    rows = table.css("tr")
    is_column = all(len(cells_of(row)) < 2 for row in rows)
    return is_column and (len(rows) == 1 or table.css_first("ul, ol, dl") is not None)


def table_row(row: LexborNode, cells: Sequence[LexborNode], texts: Sequence[str], *, may_be_bold: bool) -> Row:
    """Return the row of a table with the visible ``cells`` and their ``texts``."""
    parent = row.parent
    return Row(
        [
            Cell(text, cell.tag == "th", colspan(cell), rowspan(cell), may_be_bold and _is_bold(cell))
            for cell, text in zip(cells, texts, strict=True)
        ],
        is_head=parent is not None and parent.tag == "thead",
        group=parent.mem_id if parent is not None else 0,
    )


def _is_bold(cell: LexborNode) -> bool:
    outer = (node for node in cell.css("b, strong") if node.parent is None or node.parent.tag not in ("b", "strong"))
    bold = sum(len("".join(node.text().split())) for node in outer)
    return bold > 0 and bold == len("".join(cell.text().split()))


def colspan(cell: LexborNode) -> int:
    """Return the number of columns that ``cell`` spans, 1 to 1,000."""
    return min(_span(cell, "colspan") or 1, MAX_COLUMN_SPAN)


def rowspan(cell: LexborNode) -> int:
    """Return the number of rows that ``cell`` spans, 1 to 65,534; ``rowspan=0`` spans all remaining rows."""
    number = _span(cell, "rowspan")
    return MAX_ROW_SPAN if number == 0 else min(number or 1, MAX_ROW_SPAN)


def _span(cell: LexborNode, name: str) -> int | None:
    match = _SPAN.match(cell.attributes.get(name) or "")
    return int(match[1]) if match else None


def infobox_rows(table: LexborNode, page: HtmlDocument) -> Iterator[tuple[str, str, LexborNode | None]]:
    """Yield the fields of an infobox with their values, one per list item or line, each with its link if it is one."""
    # Rows of nested tables are read separately, so that no text is read once per enclosing table.
    stack = [table]
    while stack:
        node = stack.pop()
        cells = cells_of(node) if node.tag == "tr" else []
        if [cell.tag for cell in cells] != ["th", "td"] or cells[1].css_first("table") is not None:
            stack.extend(reversed([child for child in node.iter() if child.is_element_node]))
        elif field := page.flat_text(cells[0]).rstrip(":"):
            for block, links in page.flat_blocks(cells[1]):
                if value := block.strip(",;·• "):
                    # A value that merely contains a link ("13 November 1914 in New York") is not an entity.
                    covered = len(links) == 1 and 2 * len(page.flat_text(links[0])) >= len(value)
                    yield field, value, links[0] if covered else None


def entry_name(term: LexborNode, page: HtmlDocument) -> str:
    """Return the name of the entry that the ``<dt>`` ``term`` begins, ``""`` if it does not begin one.

    The terms of an entry are link targets, and its text has at least 200 characters. The name is the first term,
    without arguments, types, "class" and the like.
    """
    parent = term.parent
    around = parent.parent if parent is not None and parent.tag == "div" else None
    lists = [node for node in (parent, around) if node is not None]
    if not any(node.tag == "dl" for node in lists):
        return ""
    if any(not _REFERENCE_LISTS.isdisjoint(class_names(node)) for node in lists):
        return ""
    terms, definitions = _group(term, page)
    is_target = any(node.attributes.get("id") or node.css_first("[id], a[name]") is not None for node in terms)
    if not is_target or not _is_long(definitions, page):
        return ""
    name = _name(term, page)
    return name if _LETTER.search(name) and len(name) <= 120 else ""


def is_ignored(node: LexborNode, page: HtmlDocument) -> bool:
    """Return whether an element of a definition list is neither a term nor text."""
    return node.tag == "hr" or node.mem_id in page.skip


def _name(term: LexborNode, page: HtmlDocument) -> str:
    parts = "".join(page.flat_text(part) for part in term.css(_SPHINX_NAME))
    if parts:
        return collapse_spaces(parts)
    # DocBook marks up each of several terms.
    text = page.flat_text(term.css_first("span.term") or term)
    return _AFTER_NAME.sub("", text, count=1).rstrip(" :=,")


def _group(term: LexborNode, page: HtmlDocument) -> tuple[list[LexborNode], list[LexborNode]]:
    """Return the consecutive terms from ``term`` on and their definitions."""
    terms: list[LexborNode] = [term]
    definitions: list[LexborNode] = []
    node = term.next
    while node is not None:
        if node.is_element_node and not is_ignored(node, page):
            if node.tag == "dd":
                definitions.append(node)
            elif node.tag == "dt" and not definitions:
                terms.append(node)
            else:
                break
        node = node.next
    return terms, definitions


def _is_long(definitions: list[LexborNode], page: HtmlDocument) -> bool:
    # Shorter definitions are lines of a list and stay together.
    length = 0
    for piece in chain.from_iterable(map(page.pieces, definitions)):
        length += len(piece.strip()) if isinstance(piece, str) else 0
        if length >= 200:
            return True
    return False

"""Recognize tables, infoboxes and the entries of API references and glossaries in an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from selectolax.lexbor import LexborNode

from wikigr.sources.block import TaskState
from wikigr.sources.header import mark_header
from wikigr.sources.html.boilerplate import class_names
from wikigr.sources.html.document import HtmlDocument, outermost
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.tables import (
    CELL_SEPARATOR,
    MAX_ROW_SPAN,
    NAME_SEPARATOR,
    Cell,
    Row,
    name_columns,
)

_SPAN = re.compile(r"\s*\+?(\d{1,9})")

# Classes of lists whose terms are footnote or citation marks.
_REFERENCE_LISTS = frozenset({"footnote", "footnotes", "citation"})
# Sphinx marks up the name within a signature.
_SPHINX_NAME = ".sig-prename, .sig-name, .descclassname:not(.sig-prename), .descname:not(.sig-name)"
# Arguments, a type or a value after a name.
_AFTER_NAME = re.compile(r"(?<=\w)(?:\s*\(|\s*:\s|\s+=\s|=).*", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_TABLE_PARTS = ("thead", "tbody", "tfoot", "tr")
# Styles of ordered lists: values of "type", of CSS, and the classes that docutils and AsciiDoctor write.
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)")
_LIST_STYLES = {name: name for name in "1aAiI"} | {
    "lower-alpha": "a", "lower-latin": "a", "loweralpha": "a", "upper-alpha": "A", "upper-latin": "A",
    "upperalpha": "A", "lower-roman": "i", "lowerroman": "i", "upper-roman": "I", "upperroman": "I",
}  # fmt: skip
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def rows_of(table: LexborNode, page: HtmlDocument) -> list[LexborNode]:
    """Return the visible rows of a table, without those of tables in its cells."""
    parts = [[part] if part.tag == "tr" else [*part.iter()] for part in table.iter() if part.tag in _TABLE_PARTS]
    return [row for part in parts for row in part if row.tag == "tr" and row.mem_id not in page.skip]


def cells_of(row: LexborNode) -> list[LexborNode]:
    """Return the cells of a row of a table."""
    return [node for node in row.iter() if node.tag in ("td", "th")]


def is_layout(table: LexborNode, page: HtmlDocument) -> bool:
    """Return whether a table is only used for layout; its cells are read as running text then."""
    box = table.parent
    if table.attributes.get("role") in ("presentation", "none") or (box and "admonitionblock" in class_names(box)):
        return True
    rows = rows_of(table, page)
    if table.mem_id in page.outer_tables or table.css_first("h1, h2, h3, h4, pre") is not None:
        head = cells_of(rows[0]) if len(rows) > 1 else []
        is_head = bool(head) and rows[0].parent is not None and rows[0].parent.tag == "thead"
        has_names = len(head) > 1 and (is_head or all(cell.tag == "th" for cell in head))
        if page.is_office and not has_names:
            texts = [Row([Cell(page.flat_text(cell)) for cell in cells_of(row)]) for row in rows[:10]]
            has_names = mark_header(texts)[1] > 0
        return not has_names or any("\n" in node.text().strip("\n") for node in table.css("pre"))
    is_column = all(len(cells_of(row)) < 2 for row in rows)
    return is_column and (len(rows) == 1 or table.css_first("ul, ol, dl") is not None)


def table_rows(table: LexborNode, page: HtmlDocument, texts: Sequence[Sequence[str]]) -> list[Row]:
    """Return the visible rows of a table, whose cells have ``texts``."""
    # Bold cells name columns where no cell is marked as a header; a title may be above them.
    bold_rows = 4 if page.is_office or table.css_first("th, thead") is None else 0
    rows = []
    for number, (row, of_row) in enumerate(zip(rows_of(table, page), texts, strict=True)):
        cells = [cell for cell in cells_of(row) if cell.mem_id not in page.skip]
        parent = row.parent
        rows.append(
            Row(
                [
                    Cell(
                        text,
                        cell.tag == "th",
                        _span(cell, "colspan"),
                        _span(cell, "rowspan"),
                        number < bold_rows and _is_bold(cell),
                    )
                    for cell, text in zip(cells, of_row, strict=True)
                ],
                is_head=parent is not None and parent.tag == "thead",
                group=parent.mem_id if parent is not None else 0,
            )
        )
    # What no file marks may still look like a header, as in office documents.
    return mark_header(rows)[0] if bold_rows else rows


def cell_text(cell: LexborNode, page: HtmlDocument) -> str:
    """Return the text of a cell on one line, with the rows of a table in it: ``Weight: 3 kg; Power: 5 W``.

    The items of a list are separated like rows.
    """
    tables = [table for table in outermost(cell, "table") if table.mem_id not in page.skip]
    lists = [] if tables else [found for found in outermost(cell, "ul, ol") if found.mem_id not in page.skip]
    inside = {found.mem_id for found in (*tables, *lists)} - page.skip
    page.skip |= inside
    parts = [page.flat_text(cell)]
    page.skip -= inside
    for found in lists:
        parts += (page.flat_text(item) for item in found.iter() if item.mem_id not in page.skip)
    for table in tables:
        texts = [
            [page.flat_text(inner) for inner in cells_of(row) if inner.mem_id not in page.skip]
            for row in rows_of(table, page)
        ]
        for row in name_columns(table_rows(table, page, texts)):
            is_field = not row.columns and sum(map(len, row.cells)) == 2
            parts += (line.replace(CELL_SEPARATOR, NAME_SEPARATOR if is_field else ", ") for line in row.lines)
    return "; ".join(filter(None, parts[1:] if not parts[0] else [" ".join(parts[:2]), *parts[2:]]))


class Numbering:
    """The numbers of the items of an ordered list, in its style: ``3``, ``c``, ``C``, ``iii`` or ``III``."""

    def __init__(self, node: LexborNode) -> None:
        is_reversed = "reversed" in node.attributes
        items = sum(child.tag == "li" for child in node.iter()) if is_reversed else 1
        self._number = _integer(node, "start", items)
        self._step = -1 if is_reversed else 1
        style = _LIST_STYLE.search(node.attributes.get("style") or "")
        stated = [node.attributes.get("type") or "", style[1] if style else "", *class_names(node)]
        self._style = next((_LIST_STYLES[name] for name in stated if name in _LIST_STYLES), "1")

    def next(self, item: LexborNode) -> str:
        """Return the number of ``item``, the next one."""
        number = _integer(item, "value", self._number)
        self._number = number + self._step
        return styled_number(number, _LIST_STYLES.get(item.attributes.get("type") or "", self._style))


def styled_number(number: int, style: str) -> str:
    """Return the number of an item in a style as HTML calls it; digits where the style has no sign for it."""
    if style in ("a", "A") and 0 < number < 1_000:
        letters = ""
        while number:
            number, digit = divmod(number - 1, 26)
            letters = chr(ord(style) + digit) + letters
        return letters
    if style in ("i", "I") and 0 < number < 4_000:
        roman = ""
        for value, sign in _ROMAN:
            roman += sign * (number // value)
            number %= value
        return roman if style == "i" else roman.upper()
    return str(number)


def task_state(item: LexborNode) -> TaskState | None:
    """Return the state of a list item that begins with a check box, ``None`` if it does not."""
    stated = item.attributes.get("data-task", "-")
    if stated != "-":
        return "done" if (stated or "").lower() in ("x", "done") else "open"
    node = item.first_child
    # A check box is at most six nodes below the beginning of its list item.
    for _ in range(6):
        if node is None:
            break
        if node.tag == "input" and node.attributes.get("type") == "checkbox":
            return "done" if "checked" in node.attributes else "open"
        is_blank = node.is_comment_node or (node.is_text_node and not (node.text_content or "").strip())
        node = node.next if is_blank else node.first_child
    return None


def _integer(node: LexborNode, name: str, default: int) -> int:
    text = node.attributes.get(name)
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text.strip()) else default


def _is_bold(cell: LexborNode) -> bool:
    outer = (node for node in cell.css("b, strong") if node.parent is None or node.parent.tag not in ("b", "strong"))
    bold = sum(len("".join(node.text().split())) for node in outer)
    return bold > 0 and bold == len("".join(cell.text().split()))


def _span(cell: LexborNode, name: str) -> int:
    """Return how many columns or rows a cell states that it spans; ``rowspan=0`` spans all remaining rows."""
    match = _SPAN.match(cell.attributes.get(name) or "")
    number = int(match[1]) if match else 1
    return number or (MAX_ROW_SPAN if name == "rowspan" else 1)


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
    name = collapse_spaces("".join(page.flat_text(part) for part in term.css(_SPHINX_NAME)))
    if not name:
        # DocBook marks up each of several terms.
        name = _AFTER_NAME.sub("", page.flat_text(term.css_first("span.term") or term), count=1).rstrip(" :=,")
    return name if _LETTER.search(name) and len(name) <= 120 else ""


def is_ignored(node: LexborNode, page: HtmlDocument) -> bool:
    """Return whether an element of a definition list is neither a term nor text."""
    return node.tag == "hr" or node.mem_id in page.skip


def _group(term: LexborNode, page: HtmlDocument) -> tuple[list[LexborNode], list[LexborNode]]:
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

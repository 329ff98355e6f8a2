"""The blocks of stored text as every output shows them, cut into runs: quotations, short answers, citations, links.

The text of runs has single blanks, and a newline where the source breaks a line; code is as it is stored. Only a run
with the role ``citation`` is the number of a citation, whatever the stored text has in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from wikigr.index.snippets import QueryTerms, find_matches, make_snippet, weight_of
from wikigr.sources.block import Block, Cell, after_marker, fill_paragraphs, shift_blocks

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape, RunRole, RunShape
    from wikigr.index.candidate import Section

# A longer block of code or of a table is cut to what is quoted and its surroundings.
_MAX_WHOLE_CHARS = 4_000
# Rows of a table that outputs show: of one in which none is marked, and on either side of a marked one.
MAX_ROWS = 10
_ROWS_AROUND = 2
# Blocks do not stand deeper, whatever a pack says; what further columns have stands in the last one.
_MAX_DEPTH = 12
_MAX_COLUMNS = 100
_BLANKS = re.compile(r"[^\S\n]+")
_NUMBER = re.compile(r"[^\w\s]?\s?[-+−–]?\d[\d.,  '’]*\s?(?:[^\w\s]|[A-Za-z]{1,3})?")
_BREAK = re.compile(r" *\n *")
# The number of a citation, or the mark of a claim, in what a model has written; characters for its brackets meanwhile.
_OWN_MARK = re.compile(r"\[(\d{1,4}|unverified)\]")
_BRACKETS = {0xE000: "[", 0xE001: "]"}
_NO_BRACKETS = dict.fromkeys(_BRACKETS)


@dataclass(frozen=True, slots=True)
class Mark:
    """The characters ``start:end`` of a text, which have a role."""

    start: int
    end: int
    role: RunRole = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """The characters ``start:end`` of a text, which the citation ``n`` quotes."""

    start: int
    end: int
    n: int


def show_blocks(
    text: str,
    blocks: Sequence[Block],
    start: int = 0,
    end: int | None = None,
    *,
    marks: Sequence[Mark] = (),
    quote: Quote | None = None,
) -> list[BlockShape]:
    """Return the ``blocks`` of ``text`` between ``start`` and ``end``; of overlapping ``marks`` the last one counts.

    The number of a ``quote`` follows its last character, or belongs to its last row, or to its last block, if that is
    code or a whole table.
    """
    end = len(text) if end is None else end
    within = [block for block in blocks if _touches(block, start, end)]
    least = min((block.depth for block in within), default=0)
    # The start of the last block that is quoted.
    last = max((b.start for b in within if quote is not None and _touches(b, quote.start, quote.end)), default=-1)
    shown: list[BlockShape] = []
    for block in within:
        cited = quote if block.start == last else None
        made: BlockShape = {
            "kind": block.kind,
            "depth": min(block.depth - least, _MAX_DEPTH),
            "label": _label(text, block),
            "n": None,
            "runs": [],
            "columns": list(block.columns),
            "rows": [],
        }
        first, until = max(_body(text, block), start), min(block.end, end)
        if block.kind == "table":
            _fill_table(made, text, block, start, end, marks, quote, is_cited=cited is not None)
        elif block.kind == "code":
            made["runs"] = text_runs(text, first, until, marks, verbatim=True)
            made["n"] = cited.n if cited is not None else None
        elif cited is not None:
            at = max(first, min(cited.end, until))
            number: RunShape = {"text": f" [{cited.n}]", "role": "citation", "n": cited.n}
            made["runs"] = [
                *text_runs(text, first, at, marks),
                number,
                *text_runs(text, at, until, marks, goes_on=True),
            ]
        else:
            made["runs"] = text_runs(text, first, until, marks)
        if made["runs"] or made["rows"]:
            shown.append(made)
    return shown


def show_snippet(section: Section, query: QueryTerms, length: int) -> list[BlockShape]:
    """Return the part of a section that matches best, of about ``length`` characters: a row of a table, or text."""
    text, tables = section.content, [block for block in section.blocks if block.kind == "table"]
    edges = [0, *(edge for block in tables for edge in (block.start, block.end)), len(text)]
    outside = "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    snippet = make_snippet(outside, query, length)
    rows = [
        (replace(block, rows=(row,)), row[0].start, max(cell.end for cell in row))
        for block in tables
        for row in block.rows
    ]
    weights = [weight_of(text[start:end], query) for _, start, end in rows]
    best = max(weights, default=0.0)
    # Without a match, it is the beginning.
    if rows and best >= weight_of(snippet.text, query) and (best or section.blocks[0].kind == "table"):
        table, start, end = rows[weights.index(best)]
        found = find_matches(text[start:end], query.weights.keys(), query.language)
        marks = [Mark(start + first, start + last, "match") for first, last in found]
        return show_blocks(text, [table], start, end, marks=marks)
    marks = [Mark(*span, "match") for span in snippet.matches]
    whole = Block("paragraph", 0, len(snippet.text))
    return show_blocks(snippet.text, [whole] if snippet.text else [], marks=marks)


def _touches(part: Block | Cell, start: int, end: int) -> bool:
    return part.start < end and part.end > start


def _label(text: str, block: Block) -> str:
    """Return the label of a block; of a fact, its subject stands before the name of the property."""
    if block.kind == "property":
        return text[block.start : _body(text, block)].rstrip().removesuffix(":") or block.label
    return block.label


def _body(text: str, block: Block) -> int:
    """Return where the text of a block begins after its marker or check box, or with its value."""
    if block.kind in ("item", "task"):
        return after_marker(text, block)
    if block.kind == "property" and block.rows and block.rows[0]:
        return block.rows[0][0].start
    return block.start


def _fill_table(
    made: BlockShape,
    text: str,
    block: Block,
    start: int,
    end: int,
    marks: Sequence[Mark],
    quote: Quote | None,
    *,
    is_cited: bool,
) -> None:
    """Add the rows of ``block`` between ``start`` and ``end`` to ``made``, and mark those that ``quote`` has.

    If it has all of several rows, none is marked. The number of a quotation that ends here is that of its last row,
    or of the whole table.
    """
    width = max([len(block.columns), *(cell.column + 1 for row in block.rows for cell in row)])
    width = min(width, _MAX_COLUMNS)
    made["columns"] = [*made["columns"][:width], *[""] * (width - len(made["columns"]))]
    for row in block.rows:
        if any(_touches(cell, start, end) for cell in row):
            is_quoted = quote is not None and any(_touches(cell, quote.start, quote.end) for cell in row)
            made["rows"].append({"cells": _cells(text, row, width, marks), "marked": is_quoted, "n": None})
    marked = [row for row in made["rows"] if row["marked"]]
    number = quote.n if quote is not None and is_cited else None
    if len(marked) == len(block.rows) > 1:
        made["n"] = number
        for shown in marked:
            shown["marked"] = False
    elif marked:
        marked[-1]["n"] = number


def _cells(text: str, row: Sequence[Cell], width: int, marks: Sequence[Mark]) -> list[list[RunShape]]:
    """Return the runs of each of ``width`` cells; what several lines of a row have in one column is separated."""
    cells: list[list[RunShape]] = [[] for _ in range(width)]
    seen: set[tuple[int, int]] = set()
    # The only cell of a row stands in each of its columns.
    is_alone = len({(cell.start, cell.end) for cell in row}) == 1
    for cell in row:
        place = (cell.start, 0 if is_alone else cell.column)
        if place not in seen:
            seen.add(place)
            own = cells[min(cell.column, width - 1)]
            if own:
                own.append({"text": "; ", "role": "", "n": None})
            own += text_runs(text, cell.start, cell.end, marks)
    return cells


def text_runs(
    text: str, start: int, end: int, marks: Sequence[Mark] = (), *, verbatim: bool = False, goes_on: bool = False
) -> list[RunShape]:
    """Return the characters ``start:end`` of ``text`` as runs, cut where a mark begins or ends.

    Runs that follow others, because the text ``goes_on``, keep a blank or a line break at their beginning.
    """
    marks = [mark for mark in marks if mark.start < end and mark.end > start]
    edges = {edge for mark in marks for edge in (mark.start, mark.end) if start < edge < end}
    runs: list[RunShape] = []
    before = "" if goes_on else "\n"
    for first, last in pairwise(sorted({start, end, *edges})):
        over = [mark for mark in marks if mark.start <= first and last <= mark.end]
        role: RunRole = next((mark.role for mark in reversed(over) if mark.role), "")
        piece = text[first:last]
        if not verbatim:
            piece = _BREAK.sub("\n", _BLANKS.sub(" ", piece))
            piece = piece.lstrip() if before.isspace() else piece
        if piece:
            run: RunShape = {"text": piece, "role": role, "n": int(piece.strip(" []")) if role == "citation" else None}
            runs.append(run)
            before = piece[-1]
    while runs and not verbatim:
        runs[-1]["text"] = runs[-1]["text"].rstrip()
        if runs[-1]["text"]:
            break
        runs.pop()
    return runs


def show_written(text: str, citations: int, *, is_markdown: bool = False) -> list[BlockShape]:
    """Return a text that was written with numbers of ``citations`` and marks of unverified claims, except in code."""
    # Our marks follow a blank. Replaced by as many characters, they are told from what Markdown turns into brackets.
    ours = re.compile(rf"(?<!\S)(?:{_OWN_MARK.pattern})+")
    text = ours.sub(lambda run: _OWN_MARK.sub("\ue000\\1\ue001", run[0]), text.translate(_NO_BRACKETS))
    text, blocks = _read_markdown(text) if is_markdown else (text, fill_paragraphs(text, ()))
    code = [block for block in blocks if block.kind == "code"]

    def is_code(found: re.Match[str]) -> bool:
        return any(block.start <= found.start() < block.end for block in code)

    text = _OWN_MARK.sub(lambda found: found[0] if is_code(found) else f"({found[1]})", text)
    marks = [
        Mark(*found.span(), "unverified" if found[1] == "unverified" else "citation")
        for found in re.finditer(" ?\ue000(\\w+)\ue001", text)
        if not is_code(found) and (found[1] == "unverified" or 1 <= int(found[1]) <= citations)
    ]
    text = text.translate(_BRACKETS)
    return show_blocks(text, blocks, marks=marks)


def _read_markdown(markdown: str) -> tuple[str, Sequence[Block]]:
    """Return the plain text of what a model wrote, with its blocks; text that cannot be read stays as it is."""
    from markdown_it import MarkdownIt

    from wikigr.errors import RecordError
    from wikigr.sources.html.document import HtmlDocument
    from wikigr.sources.html.text import read_note

    # The number of a citation is no link.
    parser = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink", "reference"])
    )
    try:
        page = HtmlDocument(parser.render(markdown), is_note=True, has_boilerplate=False)
        sections, _ = read_note(page, "")
    except RecordError:
        return markdown, fill_paragraphs(markdown, ())
    text = ""
    blocks: list[Block] = []
    for section in sections:
        heading = section.heading_path[-1] if section.heading_path else ""
        own = [(heading, (Block("heading", 0, len(heading)),))] if heading else []
        for part, found in (*own, (section.text, fill_paragraphs(section.text, section.blocks))):
            text += "\n\n" if text else ""
            blocks += shift_blocks(found, len(text))
            text += part
    return text, blocks


def join_blocks(before: list[BlockShape], after: list[BlockShape]) -> list[BlockShape]:
    """Return the blocks of two quotations; paragraphs, and rows of tables with the same columns, go on in one block."""
    if not before or not after:
        return before + after
    last, first = before[-1], after[0]
    if last["kind"] == first["kind"] == "paragraph":
        gap: RunShape = {"text": " ", "role": "", "n": None}
        return [*before[:-1], {**last, "runs": [*last["runs"], gap, *first["runs"]]}, *after[1:]]
    if last["kind"] == first["kind"] == "table" and last["columns"] == first["columns"] and last["n"] is None:
        return [*before[:-1], {**last, "rows": [*last["rows"], *first["rows"]]}, *after[1:]]
    return before + after


def region_of(blocks: Sequence[Block], start: int, end: int) -> tuple[int, int]:
    """Return the characters ``start:end``, and all of the tables and of the code that they are in, unless too long."""
    for block in blocks:
        is_whole = block.kind in ("table", "code") and _touches(block, start, end)
        if is_whole and block.end - block.start <= _MAX_WHOLE_CHARS:
            start, end = min(start, block.start), max(end, block.end)
    return start, end


def shown_rows(block: BlockShape, most: int = MAX_ROWS) -> list[int]:
    """Return the numbers of about ``most`` rows of a table: the marked ones with those around them, or the first.

    A single row is not left out, because the line that says so takes as much room.
    """
    rows = block["rows"]
    marked = [number for number, row in enumerate(rows) if row["marked"]]
    if len(rows) <= most or len(marked) == len(rows):
        return list(range(len(rows)))
    around = min(_ROWS_AROUND, most // 2)
    kept = {n for number in marked for n in range(number - around, number + around + 1)}
    shown = [n for n in range(len(rows)) if (n in kept if marked else n < most)]
    return shown if len(shown) < len(rows) - 1 else list(range(len(rows)))


def used_columns(block: BlockShape) -> list[int]:
    """Return the numbers of the columns of a table that have text."""
    return [n for n in range(len(block["columns"])) if any(row["cells"][n] for row in block["rows"])]


def number_columns(block: BlockShape) -> set[int]:
    """Return the numbers of the columns of a table whose cells are numbers, such as prices and years."""
    texts = {n: [text for row in block["rows"] if (text := run_text(row["cells"][n]))] for n in used_columns(block)}
    return {n for n, own in texts.items() if all(_NUMBER.fullmatch(text) for text in own)}


def run_text(runs: Sequence[RunShape]) -> str:
    """Return the text of runs without the numbers of citations."""
    return "".join(run["text"] for run in runs if run["role"] != "citation")


def group_items(blocks: Sequence[BlockShape]) -> Iterator[tuple[BlockShape, list[BlockShape]]]:
    """Yield each block of the least depth with the blocks that stand inside it."""
    number = 0
    while number < len(blocks):
        after = number + 1
        while after < len(blocks) and blocks[after]["depth"] > blocks[number]["depth"]:
            after += 1
        yield blocks[number], list(blocks[number + 1 : after])
        number = after

"""Print the blocks of a document: paragraphs, lists, code in a box, and tables with their columns aligned."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from wikigr.documents.blocks import MAX_ROWS, number_columns, run_text, shown_rows, used_columns
from wikigr.sources.block import CHECK_BOXES
from wikigr.text import escape_marks, harmless, one_line
from wikigr_cli.environment import Environment
from wikigr_cli.render.terminal import cells

if TYPE_CHECKING:
    from rich.text import Text

    from wikigr.documents.shapes import BlockShape, RowShape, RunRole, RunShape

# Returns the number of a citation as it is printed, or nothing.
Number = Callable[[int], str]

_STYLES: dict[RunRole, str] = {
    "around": "dim", "short": "bold", "match": "bold", "found": "reverse", "unverified": "yellow",
}  # fmt: skip
_LINES = frozenset(("item", "task", "property", "footnote"))
# Columns by which a definition is indented, and the text of a quotation.
_INDENTS = {"term": 4, "quotation": 2}
# A table of which fewer columns per cell are left is printed as lines of names and values.
_MIN_COLUMN = 12
# As many rows of another table are printed for one of such a table, if none is marked.
_ROWS_PER_RECORD = 3
_MARKED = "▸"


def print_blocks(
    environment: Environment,
    blocks: Sequence[BlockShape],
    number: Number,
    *,
    indent: int = 0,
    max_rows: int = MAX_ROWS,
) -> None:
    """Print ``blocks``, indented by ``indent`` columns; ``number`` says how citations are numbered.

    ``max_rows`` is how many rows of a table are printed if none is marked.
    """
    columns = {0: indent}
    for before, block in pairwise([None, *blocks]):
        assert block is not None
        depth = block["depth"]
        # A block may stand deeper than the ones around it.
        column = columns[max(known for known in columns if known <= depth)]
        if before is not None and not _is_tight(before, block):
            environment.print()
        if block["kind"] == "table":
            _print_table(environment, block, number, column, max_rows)
        elif block["kind"] == "code":
            _print_code(environment, block, number, column)
        else:
            marker = _marker(block)
            _print_runs(environment, block, marker, number, column)
            columns = {known: at for known, at in columns.items() if known <= depth}
            columns[depth + 1] = column + _INDENTS.get(block["kind"], cells(marker) or 2)


def _is_tight(before: BlockShape, block: BlockShape) -> bool:
    """Return whether no blank line stands between two blocks."""
    if block["depth"] > before["depth"] or before["kind"] in ("heading", "caption"):
        return True
    if "code" in (before["kind"], block["kind"]) and before["depth"]:
        return True
    return block["kind"] in _LINES and (before["kind"] in (*_LINES, "paragraph") or block["depth"] < before["depth"])


def _marker(block: BlockShape) -> str:
    if block["kind"] == "item":
        return f"{block['label']} " if block["label"] else "- "
    if block["kind"] == "task":
        return f"{CHECK_BOXES.get(block['label'], '[ ]')} "
    return "> " if block["kind"] == "quotation" else ""


def _print_runs(environment: Environment, block: BlockShape, marker: str, number: Number, column: int) -> None:
    """Print a block of running text line by line; wrapped lines stand under the text after its marker."""
    style = "bold" if block["kind"] in ("heading", "term") else "dim" if block["kind"] == "caption" else ""
    environment.print(" " * column + marker, end="")
    if block["kind"] == "property":
        environment.print(f"{block['label']}: ", style="bold", end="")
    hang = column + cells(marker)
    for run in block["runs"]:
        first, *others = _text_of(run, number).split("\n")
        environment.print(first, style=_STYLES.get(run["role"], style), end="")
        for line in others:
            environment.print(hang=hang)
            environment.print(" " * hang, end="")
            environment.print(line, style=_STYLES.get(run["role"], style), end="")
    environment.print(hang=hang)


def _text_of(run: RunShape, number: Number) -> str:
    if run["n"] is None:
        return run["text"] if run["role"] == "unverified" else escape_marks(run["text"])
    cited = number(run["n"])
    return f" {cited}" if cited and run["text"].startswith(" ") else cited


def _print_code(environment: Environment, block: BlockShape, number: Number, column: int) -> None:
    """Print code between two rules, of which the first has its language; its lines stay whole to be copied."""
    lines = run_text(block["runs"]).split("\n")
    width = (environment.width(environment.stdout) or 80) - column
    size = min(width, max(map(cells, lines)) + 2)
    label = f"── {' '.join(block['label'].split())} " if block["label"] else ""
    cited = number(block["n"]) if block["n"] is not None else ""
    margin = " " * column
    environment.print(f"{margin}{label.ljust(size, '─')}", style="dim", overflow="cut")
    environment.print(margin, end="")
    for run in block["runs"]:
        first, *others = run["text"].split("\n")
        style = "" if run["role"] == "around" else _STYLES.get(run["role"], "")
        environment.print(first, style=style, end="")
        for line in others:
            environment.print(overflow="keep")
            environment.print(margin, end="")
            environment.print(line, style=style, end="")
    environment.print(overflow="keep")
    environment.print(f"{margin}{'─' * size}", style="dim", end="")
    environment.print(f" {cited}" if cited else "")


def _print_table(environment: Environment, block: BlockShape, number: Number, column: int, max_rows: int) -> None:
    """Print the rows of a table that are shown, with their columns aligned if they fit, and how many more there are."""
    used = used_columns(block)
    rows = [block["rows"][n] for n in shown_rows(block, max_rows)]
    width = environment.width(environment.stdout)
    widths = [
        max(map(cells, (block["columns"][n], *(run_text(row["cells"][n]) for row in block["rows"])))) for n in used
    ]
    is_aligned = width is None or sum(min(size, _MIN_COLUMN) + 2 for size in widths) <= width - column
    if not is_aligned:
        rows = [row for row in rows if row["marked"]] or rows[: max(1, max_rows // _ROWS_PER_RECORD)]
    more = len(block["rows"]) - len(rows)
    cited = f" {number(block['n'])}".rstrip() if block["n"] is not None else ""
    ends = [f" {number(row['n'])}".rstrip() if row["n"] is not None else "" for row in rows]
    if not more and cited:
        ends[-1] = cited
    if is_aligned:
        _print_aligned(environment, block, used, [*zip(rows, ends, strict=True)], column)
    else:
        _print_records(environment, block, used, [*zip(rows, ends, strict=True)], column)
    if more:
        environment.print(f"{' ' * column}… {more:,} more row{'s' * (more > 1)}", style="dim", end="")
        environment.print(cited)


def _print_aligned(
    environment: Environment, block: BlockShape, used: Sequence[int], rows: Sequence[tuple[RowShape, str]], column: int
) -> None:
    """Print rows, each with what ends it, below the names of the columns; of some that are marked, with a sign."""
    # Imported only here, because it takes a tenth of a second.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    names = [" ".join(block["columns"][n].split()) for n in used]
    has_marks = any(row["marked"] for row, _ in rows) and not all(row["marked"] for row, _ in rows)
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), show_header=any(names), header_style="")
    if has_marks:
        table.add_column(width=1)
    numbers = number_columns(block)
    for n, name in zip(used, names, strict=True):
        table.add_column(_rich(name), justify="right" if n in numbers else "left", overflow="fold")
    # What ends a row would push a number out of its column.
    ends_apart = used[-1] in numbers and any(end for _, end in rows)
    if ends_apart:
        table.add_column()
    for row, end in rows:
        is_marked = has_marks and row["marked"]
        line = [_rich(row["cells"][n], "bold" if is_marked else "") for n in used]
        if ends_apart:
            line.append(_rich(end.strip()))
        else:
            line[-1].append(end)
        table.add_row(*([_MARKED if is_marked else ""] if has_marks else []), *line)
    width = environment.width(environment.stdout)
    has_color = environment.has_color(environment.stdout)
    printed = io.StringIO()
    console = Console(
        file=printed,
        # Without a terminal nothing is wrapped.
        width=100_000 if width is None else width - column,
        force_terminal=has_color,
        color_system="standard" if has_color else None,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(table)
    for line_text in printed.getvalue().splitlines():
        environment.write(f"{' ' * column}{line_text.rstrip()}\n")


def _rich(content: str | Sequence[RunShape], style: str = "") -> Text:
    """Return text, or that of a cell, for rich, without control characters."""
    from rich.text import Text

    if isinstance(content, str):
        return Text(harmless(one_line(content)), style=style)
    made = Text(style=style)
    for run in content:
        made.append(harmless(escape_marks(one_line(run["text"]))), style=_STYLES.get(run["role"], ""))
    return made


def _print_records(
    environment: Environment, block: BlockShape, used: Sequence[int], rows: Sequence[tuple[RowShape, str]], column: int
) -> None:
    """Print each row, and what ends it, as lines of the names of its columns with their values."""
    for at, (row, end) in enumerate(rows):
        if at:
            environment.print()
        filled = [n for n in used if row["cells"][n]]
        for n in filled:
            name = " ".join(block["columns"][n].split())
            environment.print(f"{' ' * column}{name}: " if name else " " * column, style="dim", end="")
            for run in row["cells"][n]:
                environment.print(
                    escape_marks(run["text"]).replace("\n", " "), style=_STYLES.get(run["role"], ""), end=""
                )
            environment.print(end if n == filled[-1] else "", hang=column + 4)


def shorten_blocks(blocks: Sequence[BlockShape], max_chars: int, max_lines: int) -> list[BlockShape]:
    """Return ``blocks``, or those at the beginning with an ellipsis, in about these characters and lines."""
    kept: list[BlockShape] = []
    for block in blocks:
        if max_lines <= 0 or max_chars <= 0:
            return _with_ellipsis(kept)
        runs: list[RunShape] = []
        for run in block["runs"]:
            text = "\n".join(run["text"].split("\n")[:max_lines])
            if len(text) > max_chars:
                # A word is cut only if nothing stands before it.
                blank = max(text.rfind(" ", 0, max_chars + 1), 0)
                text = text[: blank if blank or kept or runs else max_chars]
            if text != run["text"]:
                begun: list[RunShape] = [*runs, {**run, "text": text.rstrip()}]
                return _with_ellipsis([*kept, {**block, "runs": begun}] if text or runs else kept)
            max_chars -= len(text)
            max_lines -= text.count("\n")
            runs.append(run)
        max_lines -= len(shown_rows(block)) or 1
        kept.append(block)
    return kept


def _with_ellipsis(blocks: Sequence[BlockShape]) -> list[BlockShape]:
    more: RunShape = {"text": " …", "role": "", "n": None}
    return [*blocks[:-1], {**blocks[-1], "runs": [*blocks[-1]["runs"], more]}]

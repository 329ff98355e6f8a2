"""Print the blocks of a document: paragraphs, lists, code in a box, and tables with their columns aligned."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from wikigr.documents.blocks import run_text, shown_rows, used_columns
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.terminal import cells

if TYPE_CHECKING:
    from rich.text import Text

    from wikigr.documents.shapes import BlockShape, RowShape, RunRole, RunShape

# Returns the number of a citation as it is printed, or nothing.
Number = Callable[[int], str]

_STYLES: dict[RunRole, str] = {"around": "dim", "short": "bold", "match": "bold", "unverified": "yellow"}
_LINES = frozenset(("item", "task", "property", "footnote"))
_BOXES = {"open": "[ ]", "done": "[x]"}
# Columns by which a definition is indented, and the text of a quotation.
_INDENTS = {"term": 4, "quotation": 2}
# A table of which fewer columns per cell are left is printed as lines of names and values.
_MIN_COLUMN = 10
# Rows of such a table, if none is marked.
_MAX_RECORDS = 3
_MARKED = "▸"
_NUMBER_CELL = re.compile(r"[^\w\s]?\s?[-+−–]?\d[\d.,  '’]*\s?(?:[^\w\s]|[A-Za-z]{1,3})?")


def print_blocks(environment: Environment, blocks: Sequence[BlockShape], number: Number, *, indent: int = 0) -> None:
    """Print ``blocks``, indented by ``indent`` columns; ``number`` says how citations are numbered."""
    columns = {0: indent}
    for before, block in pairwise([None, *blocks]):
        assert block is not None
        depth = block["depth"]
        # A block may stand deeper than the ones around it.
        column = columns[max(known for known in columns if known <= depth)]
        if before is not None and not _is_tight(before, block):
            environment.print()
        if block["kind"] == "table":
            _print_table(environment, block, number, column)
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
        return f"{_BOXES.get(block['label'], '[ ]')} "
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
        return run["text"]
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
        style = "bold" if run["role"] in ("short", "match") else ""
        environment.print(first, style=style, end="")
        for line in others:
            environment.print(overflow="keep")
            environment.print(margin, end="")
            environment.print(line, style=style, end="")
    environment.print(overflow="keep")
    environment.print(f"{margin}{'─' * size}", style="dim", end="")
    environment.print(f" {cited}" if cited else "")


def _print_table(environment: Environment, block: BlockShape, number: Number, column: int) -> None:
    """Print the rows of a table that are shown, with their columns aligned if they fit, and how many more there are."""
    rows = [block["rows"][n] for n in shown_rows(block)]
    used = used_columns(block)
    names = [" ".join(block["columns"][n].split()) for n in used]
    width = environment.width(environment.stdout)
    widths = [
        max(map(cells, (name, *(run_text(row["cells"][n]) for row in rows))))
        for n, name in zip(used, names, strict=True)
    ]
    if width is None or sum(min(size, _MIN_COLUMN) + 2 for size in widths) <= width - column:
        _print_aligned(environment, rows, used, names, number, column)
    else:
        marked = [row for row in rows if row["marked"]]
        rows = marked or rows[:_MAX_RECORDS]
        _print_records(environment, rows, used, names, number, column)
    more = len(block["rows"]) - len(rows)
    cited = number(block["n"]) if block["n"] is not None else ""
    if more or cited:
        environment.print(" " * column, end="")
        environment.print(f"… {more:,} more row{'s' * (more > 1)} " if more else "", style="dim", end="")
        environment.print(cited)


def _print_aligned(
    environment: Environment,
    rows: Sequence[RowShape],
    used: Sequence[int],
    names: Sequence[str],
    number: Number,
    column: int,
) -> None:
    # Imported only here, because it takes a tenth of a second.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    marks = any(row["marked"] for row in rows) and not all(row["marked"] for row in rows)
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), show_header=any(names), header_style="")
    if marks:
        table.add_column(width=1)
    for n, name in zip(used, names, strict=True):
        texts = [run_text(row["cells"][n]) for row in rows]
        is_number = all(_NUMBER_CELL.fullmatch(text) for text in texts if text) and any(texts)
        table.add_column(
            _rich([{"text": name, "role": "", "n": None}], ""),
            justify="right" if is_number else "left",
            overflow="fold",
        )
    for row in rows:
        marked = marks and row["marked"]
        last = max((n for n in used if row["cells"][n]), default=-1)
        line = [
            _rich(
                row["cells"][n],
                "bold" if marked else "",
                number(row["n"]) if n == last and row["n"] is not None else "",
            )
            for n in used
        ]
        table.add_row(*([_MARKED if marked else ""] if marks else []), *line)
    width = environment.width(environment.stdout)
    printed = io.StringIO()
    has_color = environment.has_color(environment.stdout)
    # Without a terminal nothing is wrapped.
    console = Console(
        file=printed,
        width=100_000 if width is None else width - column,
        force_terminal=has_color,
        color_system="standard" if has_color else None,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(table)
    environment.drop_line()
    for line_text in printed.getvalue().splitlines():
        environment.write(f"{' ' * column}{line_text.rstrip()}\n")


def _rich(runs: Sequence[RunShape], style: str, cited: str = "") -> Text:
    """Return the text of a cell for rich, without control characters."""
    from rich.text import Text

    made = Text(style=style)
    for run in runs:
        made.append(harmless(run["text"]), style=_STYLES.get(run["role"], ""))
    return made.append(f" {cited}") if cited else made


def _print_records(
    environment: Environment,
    rows: Sequence[RowShape],
    used: Sequence[int],
    names: Sequence[str],
    number: Number,
    column: int,
) -> None:
    """Print each row as lines of the names of its columns with their values."""
    for at, row in enumerate(rows):
        if at:
            environment.print()
        filled = [(name, row["cells"][n]) for n, name in zip(used, names, strict=True) if row["cells"][n]]
        for name, runs in filled:
            environment.print(f"{' ' * column}{name}: " if name else " " * column, style="dim", end="")
            for run in runs:
                environment.print(run["text"].replace("\n", " "), style=_STYLES.get(run["role"], ""), end="")
            is_last = runs is filled[-1][1]
            environment.print(f" {number(row['n'])}" if is_last and row["n"] is not None else "", hang=column + 4)


def shorten_blocks(blocks: Sequence[BlockShape], max_chars: int, max_lines: int) -> list[BlockShape]:
    """Return ``blocks``, or those at the beginning with an ellipsis, in at most these characters and lines."""
    kept: list[BlockShape] = []
    for block in blocks:
        if max_lines <= 0 or max_chars <= 0:
            kept.append(
                {**block, "kind": "paragraph", "n": None, "rows": [], "runs": [{"text": "…", "role": "", "n": None}]}
            )
            break
        runs: list[RunShape] = []
        for run in block["runs"]:
            lines = run["text"].split("\n")
            text = "\n".join(lines[:max_lines])
            if len(text) > max_chars:
                blank = text.rfind(" ", 0, max_chars)
                text = text[: blank if blank > 0 else max_chars]
            max_chars -= len(text)
            max_lines -= text.count("\n")
            runs.append({**run, "text": text})
            if text != run["text"]:
                runs[-1]["text"] = f"{text.rstrip()} …"
                return [*kept, {**block, "runs": runs}]
        max_lines -= 1 if not block["rows"] else len(shown_rows(block))
        kept.append({**block, "runs": runs})
    return kept

"""The output formats of results: the choice between ``--format`` and ``--json``, fields, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean, nearest
from wikigr.text import markdown_link
from wikigr_cli.environment import Environment
from wikigr_cli.render.terminal import linked_address

# Also a source file, or its path, with an anchor, but no other scheme, such as javascript.
_ADDRESS = re.compile(r"(?:https?|file)://[^<>\n]+|[^<>\n:]+")


# The formats of a list of results, and of an answer.
OutputFormat = Literal["text", "json", "jsonl", "md", "csv"]
AnswerFormat = Literal["text", "json", "md"]


def chosen_format(given: OutputFormat | None, *, json_output: bool, typed: Callable[[str], bool]) -> OutputFormat:
    """Return the format that ``--format`` and ``--json`` ask for.

    ``typed`` tells whether the option of that name is on the command line, which precedes variables and settings
    files. Raises ``UsageError`` if the two differ and neither precedes the other.
    """
    if not json_output or given == "json":
        return given or "text"
    if given is not None and typed("format") == typed("json"):
        raise UsageError(f"--json and --format {given} contradict each other.", hint="Give one of them.")
    return "json" if given is None or typed("json") else given


def chosen_fields(given: str | None, known: Sequence[str]) -> list[str] | None:
    """Return the fields of ``--fields a,b,c``, in order, or ``None`` without it; raise ``UsageError`` for others."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    for name in names:
        if name not in known:
            hint = did_you_mean(nearest(name, known), f"The fields are {', '.join(known)}.")
            raise UsageError(f"There is no field {name!r}.", hint=hint)
    return list(dict.fromkeys(names))


def with_fields(row: Mapping[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    """Return ``fields`` of a row, in order, or all without ``fields``."""
    return dict(row) if fields is None else {field: row.get(field) for field in fields}


def print_csv(environment: Environment, rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Print rows as CSV with a header; objects and lists are JSON, and a missing value is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([_cell(row.get(field)) for field in fields] for row in rows)
    environment.write_text(text.getvalue())


def print_markdown_table(environment: Environment, rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Print rows as a Markdown table; the title links to the ``url`` of its row, if it has one."""
    lines = [fields, ["---"] * len(fields)]
    for row in rows:
        address = address_to_link(row.get("url"))
        cells = [markdown_link(_cell(row.get(field)), address if field == "title" else None) for field in fields]
        lines.append(cells)
    environment.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))


def address_to_link(url: object) -> str | None:
    """Return the address by which a document links to ``url``, or ``None`` if that is not an address."""
    return linked_address(url) if isinstance(url, str) and _ADDRESS.fullmatch(url) else None


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""Output that several commands share: JSON, traces, checks and counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from wikigr.checks import all_passed
from wikigr.documents.answer import stages_document
from wikigr.documents.pack import SCHEMA_VERSION as SCHEMA_VERSION
from wikigr.errors import UsageError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.terminal import cells, linked_address, shown_address

if TYPE_CHECKING:
    from wikigr.checks import Check
    from wikigr.retrieval.trace import Trace

# Singular forms that take more than removing the s.
_SINGULAR = {"aliases": "alias", "entities": "entity"}

Document = Mapping[str, Any]


def counted(count: int, plural: str) -> str:
    """Return ``count`` with its noun: "1 link", "2 links"."""
    return f"{count:,} {_SINGULAR.get(plural, plural.removesuffix('s')) if count == 1 else plural}"


def one_line(text: str, max_length: int) -> str:
    """Return untrusted ``text`` on one line without control characters, cut to ``max_length`` characters."""
    # Cut before joining the whitespace: a value can be a megabyte long.
    line = harmless(" ".join(text[: 4 * max_length].split()))
    return line if max(len(line), len(text) // 4) <= max_length else line[: max_length - 1] + "…"


def print_address(environment: Environment, url: str | None, *, indent: int) -> None:
    """Print the address of a section on its own line, if it is known."""
    if url is not None:
        environment.print(" " * indent, end="")
        environment.print(shown_address(url), style="dim", link=url)


def align(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return rows as lines with aligned columns, two blanks apart; those numbered in ``right`` end at the right."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            " " * (width - cells(cell)) + cell if n in right else cell + " " * (width - cells(cell))
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


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


def address_to_link(url: object) -> str | None:
    """Return the address by which a document links to ``url``, or ``None`` if that is not an address."""
    return linked_address(url) if isinstance(url, str) and _ADDRESS.fullmatch(url) else None


def print_json(environment: Environment, document: Document) -> None:
    """Print one indented JSON document, which begins with the version of its schema."""
    versioned = {"schema_version": SCHEMA_VERSION, **document}
    environment.write_json(json.dumps(versioned, ensure_ascii=False, indent=2) + "\n")


def print_json_line(environment: Environment, document: Document) -> None:
    """Print one line of JSON Lines."""
    environment.write_json(json.dumps(document, ensure_ascii=False) + "\n")


def print_trace(environment: Environment, trace: Trace) -> None:
    """Print the warnings of a question on stderr and, with ``-v``, what every stage did."""
    if environment.verbosity > 0:
        environment.note("Stages")
        for line in stage_lines(stages_document(trace)):
            environment.note(line)
    for warning in trace.warnings:
        print_warning(environment, warning)


def print_warning(environment: Environment, warning: str) -> None:
    """Print a warning of the library on stderr; ``-q`` silences it."""
    environment.note(f"wikigr: {warning}")


def stage_lines(stages: Sequence[Document]) -> Iterator[str]:
    """Yield a line of text for each stage of ``stages_document``."""
    for stage in stages:
        notes = ", ".join(f"{name} {_note(value)}" for name, value in stage["notes"].items())
        line = f"  {stage['stage']:<16}{stage['ms']:8.1f} ms"
        if stage["scored"]:
            line += f"  scored {stage['scored']}"
        if stage["dropped"]:
            reasons = Counter(stage["dropped"].values()).most_common()
            counts = "; ".join(f"{count}: {reason}" for reason, count in reasons)
            line += f", dropped {len(stage['dropped'])} ({counts})"
        yield line + (f"  {notes}" if notes else "")


def _note(value: object) -> str:
    if isinstance(value, Mapping):
        shown = {name: ", ".join(map(str, item)) if isinstance(item, list) else item for name, item in value.items()}
        return f"({'; '.join(f'{name} {item}' for name, item in shown.items() if item)})"
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value)) or "none"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def checks_document(checks: Sequence[Check]) -> dict[str, Any]:
    """Return what ``wikigr doctor --json`` and ``wikigr pack validate --json`` print."""
    return {"passed": all_passed(checks), "checks": [asdict(c) for c in checks]}


def age_text(created: str, now: datetime) -> str:
    """Return how long ago ``created`` (ISO 8601) was, and its date if that is long ago, in the future or malformed."""
    try:
        seconds = (now - datetime.fromisoformat(created)).total_seconds()
    except (ValueError, TypeError):
        seconds = -1.0
    # The largest age in a unit, the seconds of the unit, and its name.
    for limit, length, name in ((60, 1, "s"), (60, 60, "min"), (24, 3600, "h"), (60, 86400, "days")):
        if 0 <= seconds < limit * length:
            count = int(seconds // length)
            return f"{counted(count, name) if name == 'days' else f'{count} {name}'} ago"
    return created[:10]


def print_checks(environment: Environment, document: Document) -> None:
    """Print checks, one per line, and the fix below each one that failed."""
    for check in document["checks"]:
        mark, style = (
            ("ok", "green") if check["passed"] else ("FAILED", "red") if check["required"] else ("note", "yellow")
        )
        environment.print(f"{mark:<7}", style=style, end="")
        environment.print(f"{check['name']}: {check['detail']}", hang=7)
        if not check["passed"] and check["fix"]:
            environment.print(f"       → {check['fix']}", hang=9)

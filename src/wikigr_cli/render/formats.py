"""The output formats of results: the choice between ``--format`` and ``--json``, fields, CSV and Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from wikigr.errors import UsageError
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


def address_to_link(url: object) -> str | None:
    """Return the address by which a document links to ``url``, or ``None`` if that is not an address."""
    return linked_address(url) if isinstance(url, str) and _ADDRESS.fullmatch(url) else None

"""The questions of ``--batch``: lines of text, or JSON Lines with ``id`` and ``question``; each is asked by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeVar

from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.errors import UsageError, WikigrError
from wikigr.files import read_regular
from wikigr.validation import explain_json_error
from wikigr_cli.environment import Environment, strict_utf8
from wikigr_cli.render.output import print_json_line

T = TypeVar("T")

_MAX_LINE_CHARS = 1 << 20
# The questions of a longer file are not counted before they are asked.
_MAX_COUNTED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """A question with its id, or with the number of its line if it has none."""

    id: str | int
    question: str


def ask_each(
    environment: Environment, location: str, ask: Callable[[str], T], show: Callable[[BatchQuestion, T], None]
) -> None:
    """Call ``show`` with each question of a batch and the result of ``ask``, and print why others failed.

    An exhausted budget and wrong usage end the batch. Raises ``WikigrError`` at the end if questions failed.
    """
    from wikigr.llm.budget import BudgetError
    from wikigr_cli.render.progress import TerminalProgress

    asked = failed = 0
    with ExitStack() as stack:
        # A terminal that shows the results needs no progress.
        progress = None if environment.stdout.isatty() else stack.enter_context(TerminalProgress(environment))
        total = None
        if location != "-" and Path(location).is_file():
            # An unreadable file is reported where it is read; what comes through a pipe is not known yet.
            with suppress(OSError, ValueError):
                lines = read_regular(Path(location), _MAX_COUNTED_BYTES).splitlines()
                total = sum(1 for line in lines if line.strip())
        if progress is not None and total != 0:
            progress.start("asking", total, "questions")
        for item in read_batch(location, environment.stdin):
            asked += 1
            try:
                result = ask(item.question)
            except BudgetError:
                raise
            except UsageError as error:
                raise UsageError(f"question {item.id}: {error.message}", hint=error.hint) from error
            except WikigrError as error:
                environment.print_error(f"wikigr: question {item.id}: {error.message}")
                said = {"schema_version": SCHEMA_VERSION, "question": item.question, "error": error.message}
                print_json_line(environment, {"id": item.id, **said})
                failed += 1
            else:
                show(item, result)
            if progress is not None:
                progress.advance(1)
    if not asked:
        environment.note(f"There are no questions {_name(location)}.")
    if failed:
        raise WikigrError(f"{failed} of the questions could not be answered.")


def open_batch(location: str) -> TextIO:
    """Open a file of questions; raises ``UsageError``."""
    try:
        return Path(location).open(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Cannot read the questions {_name(location)}: {error.strerror}.") from error


def read_batch(location: str, stdin: TextIO) -> Iterator[BatchQuestion]:
    """Yield the questions of a file, or of standard input if it is ``-``, as they arrive; blank lines are skipped.

    Raises ``UsageError`` for an unreadable file, and with its number for a malformed line.
    """
    with ExitStack() as stack:
        lines = strict_utf8(stdin) if location == "-" else stack.enter_context(open_batch(location))
        try:
            for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE_CHARS + 1), ""), start=1):
                if len(line) > _MAX_LINE_CHARS:
                    raise UsageError(f"Line {number} of the questions has more than {_MAX_LINE_CHARS:,} characters.")
                text = line.removeprefix("\ufeff").strip()
                if text:
                    yield _parse(number, text)
        except UnicodeDecodeError as error:
            raise UsageError(f"The questions {_name(location)} are not UTF-8 text: {error.reason}.") from error


def _name(location: str) -> str:
    return "on standard input" if location == "-" else f"in {location}"


def _parse(number: int, line: str) -> BatchQuestion:
    if not line.startswith("{"):
        return BatchQuestion(str(number), line)
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Line {number} of the questions is not valid JSON: {explain_json_error(error)}.") from error
    question, given = fields.get("question"), fields.get("id")
    if not isinstance(question, str) or not question.strip():
        raise UsageError(f'Line {number} of the questions has no "question".')
    return BatchQuestion(given if isinstance(given, str | int) else str(number), question)

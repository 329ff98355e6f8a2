"""The questions of ``--batch``: lines of text, or JSON Lines with ``id`` and ``question``; each is asked by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeVar

from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.errors import UsageError, WikigrError
from wikigr.files import explain_json_error, read_regular
from wikigr_cli.environment import Environment, as_utf8
from wikigr_cli.render.output import print_json_line

T = TypeVar("T")

_MAX_LINE_CHARS = 1 << 20
# The questions of a longer file are not counted before they are asked.
_MAX_COUNTED_BYTES = 64 << 20
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """A question with its id, or with the number of its line if it has none.

    A line without a question has a ``problem`` instead.
    """

    id: str | int
    question: str
    problem: str = ""


def ask_each(
    environment: Environment, location: str, ask: Callable[[str], T], show: Callable[[BatchQuestion, T], None]
) -> None:
    """Call ``show`` with each question of a batch and the result of ``ask``, and print why others failed.

    An exhausted budget and wrong usage end the batch, but a question or a line that is wrong does not. Raises
    ``WikigrError`` at the end if questions failed: ``UsageError`` if all of those were wrong themselves.
    """
    from wikigr.llm.budget import BudgetError
    from wikigr.question.question import QuestionError
    from wikigr_cli.render.progress import TerminalProgress

    asked = failed = wrong = 0
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
                if item.problem:
                    raise QuestionError(item.problem)
                result = ask(item.question)
            except BudgetError:
                raise
            except WikigrError as error:
                if isinstance(error, QuestionError):
                    wrong += 1
                elif isinstance(error, UsageError):
                    raise UsageError(f"question {item.id}: {error.message}", hint=error.hint) from error
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
        kind = UsageError if wrong == failed else WikigrError
        raise kind(f"{failed} of the questions could not be answered.")


def open_batch(location: str) -> TextIO:
    """Open a file of questions; raises ``UsageError``."""
    try:
        return Path(location).open(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"Cannot read the questions in {location}: {error.strerror}.") from error


def read_batch(location: str, stdin: TextIO) -> Iterator[BatchQuestion]:
    """Yield the questions of a file, or of standard input if it is ``-``, as they arrive; blank lines are skipped.

    Raises ``UsageError`` for an unreadable file.
    """
    with ExitStack() as stack:
        if location == "-":
            # The other lines of a text with a byte that is not UTF-8 are good.
            lines = as_utf8(stdin, errors="surrogateescape")
        else:
            lines = stack.enter_context(open_batch(location))
        for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE_CHARS + 1), ""), start=1):
            text = line.removeprefix("\ufeff").strip()
            if len(line) > _MAX_LINE_CHARS:
                yield BatchQuestion(str(number), "", f"The line has more than {_MAX_LINE_CHARS:,} characters.")
                while line and not line.endswith("\n"):
                    line = lines.readline(_MAX_LINE_CHARS)
            elif text:
                yield _parse(str(number), text)


def _name(location: str) -> str:
    return "on standard input" if location == "-" else f"in {location}"


def _parse(number: str, line: str) -> BatchQuestion:
    # Text in UTF-16 can have lines that are UTF-8, with zeros.
    if _NOT_TEXT.search(line):
        return BatchQuestion(number, "", "The line is not UTF-8 text.")
    if not line.startswith("{"):
        return BatchQuestion(number, line)
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BatchQuestion(number, "", f"The line is not valid JSON: {explain_json_error(error)}.")
    question, given = fields.get("question"), fields.get("id")
    identifier = given if isinstance(given, str | int) else number
    if not isinstance(question, str):
        return BatchQuestion(identifier, "", 'The line has no "question".')
    return BatchQuestion(identifier, question)

"""``wikigr eval validate``: check gold questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Argument
from wikigr_cli.render.output import Document, counted


@command(questions=Argument(metavar="QUESTIONS", help="A file of test questions with their right answers."))
def validate(
    environment: Environment, questions: Path, pack: str | None = None, split: str | None = None
) -> Iterator[Result]:
    """Check test questions for mistakes.

    These are invalid lines, duplicates and answers in the question. With a pack, also check for sources
    that it lacks or that do not state the answer, and for unanswerable questions that it answers.

    Problems set exit code 1. Warnings do not: they name questions to read again, whose labels may be right.

    Examples:
      wikigr eval validate packs/physics/eval/questions.jsonl
      wikigr eval validate packs/physics/eval/questions.jsonl -p packs/physics
    """
    from wikigr.evaluation.question_checks import ADVISORY, check_questions, look_up
    from wikigr.evaluation.questions import Problem, load_questions

    found: list[Problem] = []
    loaded = load_questions(questions, split=split, problems=found)
    if pack is None:
        found += check_questions(loaded)
    else:
        from wikigr.pack.open import Pack
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.pipeline.profile import Profile

        with Pack(pack, preload=True) as opened:
            pipeline = Pipeline(Profile(), opened, offline=True)
            found += check_questions(loaded, look_up(opened, lambda question: pipeline.answer(question)))
    found.sort(key=lambda problem: problem.line)
    warnings = [problem for problem in found if problem.kind in ADVISORY]
    problems = [problem for problem in found if problem not in warnings]

    def show(environment: Environment, document: Document) -> None:
        for problem in found:
            note = "warning: " if problem in warnings else ""
            environment.print(f"{questions}:{problem.line}: {note}{problem.message}", hang=2)
        counts = [counted(len(loaded), "questions"), counted(len(problems), "problems")]
        environment.print(", ".join([*counts, *([counted(len(warnings), "warnings")] if warnings else [])]))

    kinds = {"problems": list(map(asdict, problems)), "warnings": list(map(asdict, warnings))}
    yield {"questions": len(loaded), **kinds}, show
    if problems:
        raise typer.Exit(ExitStatus.FAILED_CHECK)

"""``wikigr eval validate``: check a file of gold questions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wikigr.text import harmless
from wikigr_cli import options
from wikigr_cli.commands.eval.options import Split
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import SCHEMA_VERSION, counted, print_json


def validate(
    context: typer.Context,
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS", help="A file of gold questions.")],
    pack: options.PackName = None,
    split: Split = None,
    json_output: options.Json = False,
) -> None:
    """Check gold questions for invalid lines, duplicates and answers in the question. With a pack, also check for
    missing gold locations, gold locations without the answer, and unanswerable questions that the pack answers.

    Problems set exit code 1. Warnings do not: they name questions to read again, whose labels may be right.

    \b
    Examples:
      wikigr eval validate packs/physics/eval/questions.jsonl
      wikigr eval validate packs/physics/eval/questions.jsonl -p packs/physics
    """
    environment = context.ensure_object(Environment)

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
    problems = [problem for problem in found if problem.kind not in ADVISORY]
    warnings = [problem for problem in found if problem.kind in ADVISORY]
    if json_output:
        document = {
            "schema_version": SCHEMA_VERSION,
            "questions": len(loaded),
            "problems": [asdict(problem) for problem in problems],
            "warnings": [asdict(warning) for warning in warnings],
        }
        print_json(environment, document)
    else:
        for problem in found:
            note = "warning: " if problem.kind in ADVISORY else ""
            environment.print(f"{questions}:{problem.line}: {note}{harmless(problem.message)}", hang=2)
        counts = [counted(len(loaded), "questions"), counted(len(problems), "problems")]
        if warnings:
            counts.append(counted(len(warnings), "warnings"))
        environment.print(", ".join(counts))
    if problems:
        raise typer.Exit(ExitStatus.FAILED_CHECK)

"""``wikigr eval validate`` and ``calibrate``: check gold questions, and fit a threshold to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Argument, Run
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


def _print_threshold(environment: Environment, document: Document) -> None:
    environment.print(
        f"{document['name']} threshold {document['threshold']:.4f} (was {document['before']:.4f}): "
        f"answers {100 * document['answered']:.1f}% of {document['answerable']} answerable questions, "
        f"declines {100 * document['declined']:.1f}% of {document['unanswerable']} others"
    )
    if not document["stored"]:
        environment.note("Not stored (--dry-run).")


@command(_print_threshold, dry_run=Run(help="Show the threshold without changing the pack."))
def calibrate(
    environment: Environment,
    questions: Path | None = None,
    split: str | None = "dev",
    profile: str = options.DEFAULT_PROFILE,
    dry_run: bool = False,
    *,
    pack: str,
) -> Result:
    """Fit the probability below which the pack abstains.

    It is fitted on a split of the test questions and stored in the manifest of the pack.

    Examples:
      wikigr eval calibrate --pack packs/physics --dry-run
      wikigr eval calibrate --pack packs/physics --split dev --json
    """

    from wikigr.evaluation.calibration import FittedOn, store_threshold
    from wikigr.evaluation.calibration import calibrate as fit
    from wikigr.evaluation.questions import load_questions, question_file, question_set_hash
    from wikigr.pack.locate import find_pack
    from wikigr.pack.open import Pack
    from wikigr.pipeline.profile_files import load_profile
    from wikigr_cli.render.progress import TerminalProgress

    layout = find_pack(pack)
    if not dry_run:
        # Fail before asking all the questions.
        layout.refuse_installed()
    loaded = load_questions(questions or question_file(layout.root), split=split)
    with Pack(pack, purpose="queries", preload=True) as opened, TerminalProgress(environment) as progress:
        progress.start("asking", len(loaded), "questions")
        found = fit(opened, loaded, load_profile(profile), advance=progress.advance)
    if not dry_run:
        store_threshold(layout, found.name, found.threshold, FittedOn(question_set_hash(loaded), split or "", profile))
    return {"stored": not dry_run, **asdict(found)}

"""``wikigr eval new``, ``validate`` and ``calibrate``: draft gold questions, check them, fit a threshold to them."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr.text import harmless
from wikigr_cli import options
from wikigr_cli.commands.eval.options import Questions, Split
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import counted, print_json


def new(
    context: typer.Context,
    output: Annotated[Path, options.Output("-o", "--output", metavar="FILE", help="The question file to write.")],
    pack: options.PackName = None,
    count: Annotated[int, options.Run("--count", min=1, max=1000, help="How many questions to draft.")] = 15,
    seed: Annotated[int, options.Run(min=0, help="The seed of the choice; the same seed drafts the same.")] = 0,
    json_output: options.Json = False,
) -> None:
    """Draft gold questions from a pack, for you to edit.

    Each has its answer, its quotation and its source.

    \b
    Examples:
      wikigr eval new -p packs/physics -o gold.jsonl
      wikigr eval new -p packs/physics -o more.jsonl --count 30 --seed 1
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)
    if output.exists():
        raise UsageError(f"{output} already exists, and your edits may be in it.", hint="Name another file: -o FILE")

    from wikigr.atomic import cannot_write, write_atomic
    from wikigr.evaluation.new_questions import draft_questions
    from wikigr.evaluation.statistics.wording import what_so_few_show
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        lines = [draft.line(number) for number, draft in enumerate(draft_questions(opened, count, seed=seed), start=1)]
    if not lines:
        raise UsageError(
            f"No sentence of the pack {pack} makes a question: they are short English sentences with a date, a number, "
            "a place, a person or a definition.",
            hint="Write the questions yourself: docs/evaluation.md has the format.",
        )
    try:
        write_atomic(output, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    except OSError as error:
        raise cannot_write("the questions", output, error) from error
    warning = what_so_few_show(len(lines))
    if json_output:
        print_json(environment, {"questions": str(output), "count": len(lines), "warning": warning})
        return
    environment.print(f"{output}: {counted(len(lines), 'questions')}")
    if len(lines) < count:
        environment.note(
            f"No other sentences of the pack make a question; {counted(count, 'questions')} were asked for."
        )
    environment.note(
        "These are drafts. Read each against its quote, delete those not worth asking, put the others in the words of "
        "your users, and add some that the pack does not answer. Then:"
    )
    environment.note(f"  wikigr eval validate {shlex.quote(str(output))} -p {shlex.quote(str(pack))}", overflow="keep")
    environment.print_error(f"wikigr: {warning}")


def validate(
    context: typer.Context,
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS", help="A file of gold questions.")],
    pack: options.PackName = None,
    split: Split = None,
    json_output: options.Json = False,
) -> None:
    """Check gold questions for mistakes.

    These are invalid lines, duplicates and answers in the question. With a pack, also check for missing gold
    locations, gold locations without the answer, and unanswerable questions that the pack answers.

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


def calibrate(
    context: typer.Context,
    pack: options.PackName = None,
    questions: Questions = None,
    split: Split = "dev",
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    dry_run: Annotated[bool, options.Run("--dry-run", help="Show the threshold without changing the pack.")] = False,
    json_output: options.Json = False,
) -> None:
    """Fit the probability below which the pack abstains.

    It is fitted on a split of gold questions and stored in the manifest of the pack.

    \b
    Examples:
      wikigr eval calibrate --pack packs/physics --dry-run
      wikigr eval calibrate --pack packs/physics --split dev --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

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
    if json_output:
        document = {"stored": not dry_run, **asdict(found)}
        print_json(environment, document)
        return
    environment.print(
        f"{found.name} threshold {found.threshold:.4f} (was {found.before:.4f}): "
        f"answers {100 * found.answered:.1f}% of {found.answerable} answerable questions, "
        f"declines {100 * found.declined:.1f}% of {found.unanswerable} others"
    )
    if dry_run:
        environment.note("Not stored (--dry-run).")

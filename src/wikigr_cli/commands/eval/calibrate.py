"""``wikigr eval calibrate``: fit the abstention threshold of a pack."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.commands.eval.options import Questions, Split
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_json


def calibrate(
    context: typer.Context,
    pack: options.PackName = None,
    questions: Questions = None,
    split: Split = "dev",
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    dry_run: Annotated[bool, options.Build("--dry-run", help="Show the threshold without changing the pack.")] = False,
    json_output: options.Json = False,
) -> None:
    """Fit the probability below which the pack abstains on a split of gold questions and store it in its manifest.

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
    from wikigr.profiles.files import load_profile
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
        document = {"schema_version": SCHEMA_VERSION, "stored": not dry_run, **asdict(found)}
        print_json(environment, document)
        return
    environment.print(
        f"{found.name} threshold {found.threshold:.4f} (was {found.before:.4f}): "
        f"answers {100 * found.answered:.1f}% of {found.answerable} answerable questions, "
        f"declines {100 * found.declined:.1f}% of {found.unanswerable} others"
    )
    if dry_run:
        environment.note("Not stored (--dry-run).")

"""``wikigr eval run``: ask gold questions under several profiles and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import options
from wikigr_cli.command import command
from wikigr_cli.commands.eval import gate
from wikigr_cli.commands.eval.report import print_report
from wikigr_cli.environment import Environment
from wikigr_cli.options import Check, Model, Output, Retrieval, Run
from wikigr_cli.render.output import counted


@command(
    profiles=Retrieval(
        "--profile",
        metavar="NAME",
        help="A profile. The others are compared with the first one. Repeatable.",
        autocompletion=options.complete_profiles,
    ),
    ablate=Run(help="Switch off each enhancement of one profile in turn."),
    seed=Run(min=0, help="The seed of the bootstrap and the permutation tests."),
    repeat=Run(min=1, max=100, help="How many times to ask every question."),
    jobs=Run(min=1, max=64, help="How many questions to ask in parallel."),
    primary=Check(metavar="METRIC", help="The metric that decides, declared before the run."),
    margin=Check(help="Differences up to this size do not matter, declared before the run.", min=0.0, max=1.0),
    output=Output("-o", "--output", metavar="DIR", help="The folder of the run; by default named after its content."),
    model=Model(metavar="ID", help="The model that writes the answers: an id or a .gguf file. Default: the profiles'."),
    judge=Model(help="An additional grader of the answers."),
    judge_model=Model(metavar="ID", help="The model of the judge, or a .gguf file; claude-opus-4-6 by default."),
    judge_max_cost=Model(metavar="USD", min=0.0, help="The maximum cost of the judge."),
    fresh=Model(help="Ask models again for cached replies and cache the new ones."),
)
def run(
    environment: Environment,
    pack: str,
    questions: Path | None = None,
    profiles: list[str] | None = None,
    split: str | None = None,
    ablate: bool = False,
    model: str | None = None,
    offline: bool = False,
    seed: int = 0,
    repeat: int = 1,
    jobs: int = 1,
    *,
    primary: str = "accuracy",
    margin: float = 0.02,
    output: Path | None = None,
    required: gate.GateOptions,
    judge: Literal["none", "claude"] = "none",
    judge_model: str | None = None,
    judge_max_cost: float | None = None,
    fresh: bool = False,
    show_all: bool = False,
    json_output: bool = False,
) -> None:
    """Ask every question under every profile and compare the profiles. The same command resumes an interrupted run.

    It prints the verdict, the primary metric and some of the questions that changed; --all prints everything.
    With --min, --baseline, --fail-on, --max-flips or --max-errors, the exit code is 1 unless the last profile (of an
    ablation, the full one) passes the gate.

    Examples:
      wikigr eval run --pack packs/physics --offline -o runs/first
      wikigr eval run -p packs/physics --profile fast --offline -o runs/second
    """
    names = profiles or ["baseline", "enhanced"]
    if ablate and len(names) != 1:
        raise UsageError("--ablate needs exactly one profile.", hint="Example: --profile enhanced --ablate")

    if judge == "none" and (judge_model is not None or judge_max_cost is not None):
        raise UsageError("--judge-model and --judge-max-cost need a judge.", hint="Add --judge claude.")
    wanted = required.requirements(primary, margin)

    from wikigr.evaluation.gate import check_gate, read_baseline
    from wikigr.evaluation.judge import JUDGED, MODEL, NO_JUDGE, JudgeOptions
    from wikigr.evaluation.questions import load_questions, question_file, question_set_hash
    from wikigr.evaluation.run import load_run
    from wikigr.evaluation.runner import Evaluation, ablations, evaluate
    from wikigr.pack.locate import find_pack
    from wikigr.pipeline.connect import with_model
    from wikigr.pipeline.profile_files import load_profile
    from wikigr_cli.render.progress import TerminalProgress

    if judge == "none" and wanted.by_judge:
        raise UsageError(f"The metric {JUDGED} needs a judge.", hint="Add --judge claude.")
    file = questions or question_file(find_pack(pack).root)
    loaded = load_questions(file, split=split)
    chosen = [with_model(load_profile(name), model) for name in names]
    options_of_judge = None if judge == "none" else JudgeOptions(judge_model or MODEL, judge_max_cost)
    blessed = None
    if required.baseline is not None:
        judge_id = NO_JUDGE if options_of_judge is None else options_of_judge.identity
        blessed = read_baseline(required.baseline)
        blessed.require_comparable(wanted, question_set_hash(loaded), len(loaded), judge_id)
    evaluation = Evaluation(
        pack=pack,
        questions=loaded,
        questions_path=str(file),
        split=split,
        profiles=ablations(chosen[0]) if ablate else chosen,
        seed=seed,
        repeat=repeat,
        offline=offline,
        jobs=jobs,
        fresh=fresh,
        judge=options_of_judge,
        subject=chosen[0].name if ablate else chosen[-1].name,
        primary=primary,
        margin=margin,
        sources={profile.name: name for profile, name in zip(chosen, names, strict=True)},
    )
    total = len(loaded) * len(evaluation.profiles) * repeat
    with TerminalProgress(environment, resumes=True) as progress:
        if evaluation.judge is None:
            progress.start("asking", total, "questions")
        else:
            progress.start("asking and judging", 2 * total, "calls")
        _, folder = evaluate(evaluation, output, advance=progress.advance, warn=progress.note)
    stored = load_run(folder)
    environment.note(f"{folder}: {counted(len(stored.samples), 'samples')}")
    broken = next(
        (name for name in stored.run.profiles if all(s.error is not None for s in stored.samples_of(name))), None
    )
    # Print the figures first, because the gate may raise an error.
    if not json_output:
        print_report(environment, stored, "text", show_all=show_all)
    result = check_gate(stored, stored.subject, wanted, blessed) if required and broken is None else None
    if json_output:
        print_report(environment, stored, "json", gate=result)
    if required.junit is not None:
        print_report(environment, stored, "junit", required.junit, gate=result)
    if broken is not None:
        raise WikigrError(f"Every question failed under {broken}: {stored.samples_of(broken)[0].error}")
    if result is not None:
        if not json_output:
            environment.print()
        gate.finish(environment, result, stored, as_json=json_output)

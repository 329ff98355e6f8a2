"""``wikigr eval``: score profiles on gold questions, say what is noise, and gate a CI job."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import completion, options
from wikigr_cli.environment import Environment, plain, plain_json
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus
from wikigr_cli.render import evaluation as render_evaluation
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.evaluation.gate import Baseline, GateResult, Requirements
    from wikigr.evaluation.judge import Label
    from wikigr.evaluation.reports.document import StoredRun

app = typer.Typer(
    help="Score profiles on gold questions, say what is noise, and gate a CI job.",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Declared = Annotated[str, typer.Option("--primary", metavar="METRIC", help="The metric that decides, declared before.")]
DeclaredMargin = Annotated[
    float, typer.Option("--margin", help="A difference up to this is none, declared before.", min=0.0, max=1.0)
]
# What is left out was declared when the run was made.
Primary = Annotated[
    str | None,
    typer.Option("--primary", metavar="METRIC", help="The metric that decides; by default the one that was declared."),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin", help="A difference up to this is none; by default the one that was declared.", min=0.0, max=1.0
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="Gold questions; by default the pack's eval/questions.jsonl."),
]
Split = Annotated[str | None, typer.Option("--split", help="Only the questions of this split.")]


class FailOn(StrEnum):
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"
    NEVER = "never"


class JudgeKind(StrEnum):
    NONE = "none"
    CLAUDE = "claude"


class ReportFormat(StrEnum):
    TEXT = "text"
    MD = "md"
    HTML = "html"
    JUNIT = "junit"
    JSON = "json"
    GITHUB = "github"


Floors = Annotated[
    list[str] | None, typer.Option("--min", metavar="METRIC=VALUE", help="A floor, such as accuracy=0.8. Repeatable.")
]
BaselineFile = Annotated[
    Path | None, typer.Option("--baseline", metavar="FILE", help="A blessed baseline to be no worse than.")
]
FailOnOption = Annotated[
    FailOn | None,
    typer.Option("--fail-on", help="The verdict against the baseline that fails; regression by default."),
]
MaxErrors = Annotated[
    float | None,
    typer.Option(
        "--max-errors", metavar="SHARE", min=0.0, max=1.0, help="Share of samples that may fail; 0 by default."
    ),
]
JudgeLabels = Annotated[
    Path | None,
    typer.Option("--judge-labels", metavar="FILE", help="People's grades (JSON Lines), to hold the judge against."),
]
OneProfile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="The profile to judge; by default the last, of an ablation the whole one."
    ),
]


@app.command("run", epilog=EXIT_CODES_HELP)
def run(
    context: typer.Context,
    pack: Annotated[str | None, options.pack_option("eval_run")] = None,
    questions: Questions = None,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="A profile; the first is what the others are compared with.",
            autocompletion=completion.profiles,
        ),
    ] = None,
    split: Split = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Switch each enhancement of the one profile off in turn.")
    ] = False,
    offline: options.Offline = False,
    seed: Annotated[int, typer.Option(min=0, help="Of bootstrap and permutation tests.")] = 0,
    repeat: Annotated[int, typer.Option(min=1, max=100, help="Ask every question so often.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions asked at once.")] = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to run when few-shot examples leak answers.")
    ] = False,
    primary: Declared = "accuracy",
    margin: DeclaredMargin = 0.02,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="The run's folder; made from what is run.")
    ] = None,
    floors: Floors = None,
    baseline: BaselineFile = None,
    fail_on: FailOnOption = None,
    max_errors: MaxErrors = None,
    judge: Annotated[JudgeKind, typer.Option("--judge", help="Who grades the answers besides.")] = JudgeKind.NONE,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", metavar="ID", help="The judge; claude-opus-4-6 by default.")
    ] = None,
    judge_max_cost: Annotated[
        float | None,
        typer.Option("--judge-max-cost", metavar="USD", min=0.0, help="The most that the judge may cost."),
    ] = None,
    judge_labels: JudgeLabels = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask models again for replies that the cache keeps, and keep the new ones.")
    ] = False,
    json_output: options.Json = False,
) -> None:
    """Ask every question under every profile and compare them. Interrupted, the same command goes on.

    With --min, --baseline, --fail-on or --max-errors the last profile (of an ablation, the whole one) must pass the
    gate, or the exit code is 1.
    """
    environment = context.ensure_object(Environment)
    pack = options.named(pack)
    names = profiles or ["baseline", "enhanced"]
    if ablate and len(names) != 1:
        raise UsageError("--ablate takes apart one profile.", hint="Example: --profile enhanced --ablate")

    if judge is JudgeKind.NONE and any(given is not None for given in (judge_model, judge_max_cost, judge_labels)):
        raise UsageError("There is no judge that this could be said of.", hint="Add --judge claude.")
    wanted = _requirements(floors, fail_on, max_errors, primary, margin)

    from wikigr.evaluation.gate import read_baseline
    from wikigr.evaluation.judge import JUDGED, MODEL, NO_JUDGE, JudgeOptions, read_labels
    from wikigr.evaluation.questions import load_questions, question_set_hash
    from wikigr.evaluation.reports.document import load_run
    from wikigr.evaluation.runner import Evaluation, ablations, evaluate
    from wikigr.pack.locate import find_pack
    from wikigr.profiles.files import load_profile
    from wikigr_cli.render.progress import TerminalProgress

    if judge is JudgeKind.NONE and wanted.by_judge:
        raise UsageError(f"{JUDGED} is a judge's grade, and there is no judge.", hint="Add --judge claude.")
    file = questions or _packs_own(find_pack(pack).root)
    loaded = load_questions(file, split=split)
    chosen = [load_profile(name) for name in names]
    options_of_judge = None if judge is JudgeKind.NONE else JudgeOptions(judge_model or MODEL, judge_max_cost)
    blessed = None
    if baseline is not None:
        judge_id = NO_JUDGE if options_of_judge is None else options_of_judge.identity
        blessed = read_baseline(baseline)
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
        strict=strict,
        fresh=fresh,
        judge=options_of_judge,
        subject=chosen[0].name if ablate else chosen[-1].name,
        primary=primary,
        margin=margin,
        sources={profile.name: name for profile, name in zip(chosen, names, strict=True)},
    )
    # Before anything is paid for.
    labels = None
    if judge_labels is not None:
        labels = read_labels(
            judge_labels,
            questions={question.id for question in loaded},
            profiles={profile.name for profile in evaluation.profiles},
            repeats=repeat,
        )
    total = len(loaded) * len(evaluation.profiles) * repeat
    with TerminalProgress(environment, resumes=True) as progress:
        if evaluation.judge is None:
            progress.start("asking", total, "questions")
        else:
            progress.start("asking and judging", 2 * total, "calls")
        done, folder = evaluate(evaluation, output, advance=progress.advance, warn=progress.note)
    for leak in done.leaks:
        environment.note(
            f"wikigr: few-shot example {leak['example']} gives question {leak['question_id']} away and was left out."
        )
    stored = load_run(folder)
    environment.note(f"{folder}: {render.counted(len(stored.samples), 'samples')}")
    broken = next((name for name in stored.run.profiles if all(s.error is not None for s in stored.of(name))), None)
    gated = _is_gate(floors, baseline, fail_on, max_errors)
    if not json_output:
        # Before the gate, which may find nothing to judge.
        _print_report(environment, stored, primary, margin, ReportFormat.TEXT, labels=labels)
    result = _held_to(stored, None, wanted, blessed) if gated and broken is None else None
    if json_output:
        _print_report(environment, stored, primary, margin, ReportFormat.JSON, labels=labels, gate=result)
    if broken is not None:
        raise WikigrError(f"Every question failed under {broken}: {stored.of(broken)[0].error}")
    if result is not None:
        _tell_gate(environment, result, stored, as_json=json_output)


def _packs_own(root: Path) -> Path:
    """Return the gold questions that a pack carries; raises ``UsageError`` when it has none."""
    file = root / "eval" / "questions.jsonl"
    if not file.is_file():
        raise UsageError(
            f"The pack {root} carries no gold questions (eval/questions.jsonl).", hint="Give --questions FILE."
        )
    return file


@app.command("report", epilog=EXIT_CODES_HELP)
def report(
    context: typer.Context,
    folder: RunFolder,
    report_format: Annotated[ReportFormat, typer.Option("--format", help="How to write it.")] = ReportFormat.TEXT,
    primary: Primary = None,
    margin: Margin = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead of standard output.")
    ] = None,
    judge_labels: JudgeLabels = None,
) -> None:
    """Write the report of a run anew from its samples."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.reports.document import load_run

    stored = load_run(folder)
    labels = None if judge_labels is None else _labels_of(stored, judge_labels)
    _print_report(environment, stored, primary, margin, report_format, output, labels)


def _labels_of(stored: StoredRun, file: Path) -> list[Label]:
    from wikigr.evaluation.judge import NO_JUDGE, read_labels

    if stored.run.judge == NO_JUDGE:
        raise UsageError(f"The run {stored.folder} has no judge to hold against labels.", hint="Add --judge claude.")
    return read_labels(file, questions=stored.questions, profiles=stored.run.profiles, repeats=stored.run.repeat)


def _print_report(
    environment: Environment,
    stored: StoredRun,
    primary: str | None,
    margin: float | None,
    report_format: ReportFormat,
    output: Path | None = None,
    labels: Sequence[Label] | None = None,
    gate: GateResult | None = None,
) -> None:
    from wikigr.atomic import write_atomic
    from wikigr.evaluation.reports.document import report_document

    document = report_document(stored, primary=primary, margin=_checked(margin), labels=labels, gate=gate)
    if report_format is ReportFormat.TEXT and output is None:
        render_evaluation.evaluation(environment, document)
        return
    text = _as_text(document, report_format)
    if output is None:
        write = environment.write_json if report_format is ReportFormat.JSON else environment.write_text
        write(text)
        return
    try:
        write_atomic(output, text)
    except OSError as error:
        raise WikigrError(f"The report {output} cannot be written: {error.strerror}.") from error


def _as_text(document: dict[str, Any], report_format: ReportFormat) -> str:
    import json

    if report_format is ReportFormat.JSON:
        return plain_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
    if report_format is ReportFormat.HTML:
        from wikigr.evaluation.reports.html import html_report

        return html_report(document)
    from wikigr.evaluation.reports.text import github_report, junit_report, markdown_report

    writers = {ReportFormat.JUNIT: junit_report, ReportFormat.GITHUB: github_report}
    return writers.get(report_format, markdown_report)(document)


@app.command("trec", epilog=EXIT_CODES_HELP)
def trec(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where to write the files.")],
    json_output: options.Json = False,
) -> None:
    """Write TREC qrels and a run file for each profile, for other evaluation tools."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.reports.document import export_trec, load_run

    stored = load_run(folder)
    try:
        files = export_trec(stored, output)
    except OSError as error:
        raise WikigrError(f"The TREC files in {output} cannot be written: {error.strerror}.") from error
    if json_output:
        qrels, *runs = map(str, files)
        document = {
            "schema_version": render.SCHEMA_VERSION,
            "qrels": qrels,
            "runs": dict(zip(stored.run.profiles, runs, strict=True)),
        }
        render.json_document(environment, document)
        return
    for file in files:
        environment.print(str(file), overflow="keep")


@app.command("compare", epilog=EXIT_CODES_HELP)
def compare(
    context: typer.Context,
    first: RunFolder,
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="The run to compare it with.")],
    profile: OneProfile = None,
    primary: Primary = None,
    margin: Margin = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare even over different questions or packs, and say so.")
    ] = False,
    json_output: options.Json = False,
) -> None:
    """Compare one profile of two runs over the same questions."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.comparison import compare as compare_samples
    from wikigr.evaluation.reports.document import comparison_document, load_run

    one, other = load_run(first), load_run(second)
    caveats = _caveats(one, other, force=force)
    left, right = _profile_of(one, profile), _profile_of(other, profile)
    primary, margin = _deciding(one, primary, margin)
    comparison = compare_samples(
        one.of(left),
        other.of(right),
        names=_labels((first, left), (second, right)),
        seed=one.run.seed,
        primary=primary,
        margin=margin,
        clusters=one.clusters,
    )
    document = {
        "schema_version": render.SCHEMA_VERSION,
        "caveats": caveats,
        "notices": _choices(one, other, primary, margin),
        **comparison_document(comparison),
    }
    if json_output:
        render.json_document(environment, document)
    else:
        render_evaluation.notices(environment, document["notices"])
        render_evaluation.comparison(environment, document)


@app.command("flips", epilog=EXIT_CODES_HELP)
def flips(
    context: typer.Context,
    first: RunFolder,
    second: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="Another run; this run's first profile when left out.")
    ] = None,
    profile: OneProfile = None,
    primary: Primary = None,
    force: Annotated[bool, typer.Option("--force", help="Compare even over different questions or packs.")] = False,
    json_output: options.Json = False,
) -> None:
    """Show only the questions that changed, with both evidences and the commands that reproduce them."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.comparison import flips as find_flips
    from wikigr.evaluation.reports.document import flip_document, load_run, paired

    one = load_run(first)
    other = one if second is None else load_run(second)
    caveats = [] if second is None else _caveats(one, other, force=force)
    # Within one run the first profile is what the others are compared with.
    before = next(iter(one.run.profiles)) if second is None else _profile_of(one, profile)
    after = _profile_of(other, profile)
    if before == after and (second is None or first.resolve() == second.resolve()):
        raise _no_flips_with_itself(one, before)
    primary, _ = _deciding(one, primary, None)
    changed = find_flips(one.of(before), other.of(after), primary)
    labels = (before, after) if second is None else _labels((first, before), (second, after))
    document = {
        "schema_version": render.SCHEMA_VERSION,
        "caveats": caveats,
        "notices": _choices(one, other, primary, None),
        "primary": primary,
        "paired": paired(one.of(before), other.of(after), primary),
        "flips": [flip_document((one, other), flip, primary, labels) for flip in changed],
    }
    if json_output:
        render.json_document(environment, document)
    else:
        render_evaluation.flips(environment, document, labels)


def _no_flips_with_itself(stored: StoredRun, profile: str) -> UsageError:
    others = [name for name in stored.run.profiles if name != profile]
    return UsageError(
        f"{profile} is what the run's other profiles are compared with: nothing flips between it and itself.",
        hint=f"Give one of them: --profile {' or '.join(others)}"
        if others
        else "Give another run: wikigr eval flips RUN OTHER",
    )


def _labels(*sides: tuple[Path, str]) -> tuple[str, str]:
    """Return names that tell one profile of two runs apart: with the run's folder, in full where both end alike."""
    folders = [folder.name for folder, _ in sides]
    if len(set(folders)) < len(sides):
        folders = [str(folder) for folder, _ in sides]
    before, after = (f"{folder}/{profile}" for folder, (_, profile) in zip(folders, sides, strict=True))
    return before, after


def _caveats(one: StoredRun, other: StoredRun, *, force: bool) -> list[str]:
    from wikigr.evaluation.run import differences

    caveats = differences(one.run, other.run)
    if caveats and not force:
        raise UsageError(
            f"The runs cannot be compared: {', '.join(caveats)}.", hint="--force compares them all the same."
        )
    return caveats


def _profile_of(stored: StoredRun, name: str | None) -> str:
    names = list(stored.run.profiles)
    if name is not None and name not in names:
        raise UsageError(f"The run {stored.folder} has no profile {name!r}.", hint=f"It has {', '.join(names)}.")
    return name or stored.subject


def _deciding(stored: StoredRun, primary: str | None, margin: float | None) -> tuple[str, float]:
    """Return metric and margin: those that were declared for the run where none are given."""
    from wikigr.evaluation.metrics import known_metric

    chosen = _checked(margin)
    return known_metric(primary or stored.run.primary), stored.run.margin if chosen is None else chosen


def _choices(one: StoredRun, other: StoredRun, primary: str, margin: float | None) -> list[str]:
    """Return, in sentences, what was not declared before both runs."""
    from wikigr.evaluation.reports.document import chosen_after

    said = [(str(stored.folder), chosen_after(stored.run, primary, margin)) for stored in (one, other)]
    if said[0][1] == said[1][1]:
        return [f"{choice}." for choice in said[0][1]]
    return [f"{folder}: {choice}." for folder, choices in said for choice in choices]


def _checked(margin: float | None) -> float | None:
    # The range of an option lets through what is no number.
    if margin is not None and not math.isfinite(margin):
        raise UsageError(f"The margin must be a number from 0 to 1, not {margin}.")
    return margin


@app.command("gate", epilog=EXIT_CODES_HELP)
def gate(
    context: typer.Context,
    folder: RunFolder,
    profile: OneProfile = None,
    floors: Floors = None,
    baseline: BaselineFile = None,
    fail_on: FailOnOption = None,
    max_errors: MaxErrors = None,
    primary: Primary = None,
    margin: Margin = None,
    json_output: options.Json = False,
) -> None:
    """Exit 0 when a run reaches what is asked, 1 when it does not, 3 when there is nothing to judge.

    On GitHub Actions a summary and an annotation for each regressed question are written.
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.gate import read_baseline
    from wikigr.evaluation.reports.document import gate_document, load_run

    stored = load_run(folder)
    if not _is_gate(floors, baseline, fail_on, max_errors):
        raise UsageError(
            "There is nothing to hold the run against.",
            hint="Give --baseline FILE, --min METRIC=VALUE or --max-errors SHARE.",
        )
    wanted = _requirements(floors, fail_on, max_errors, *_deciding(stored, primary, margin))
    result = _held_to(stored, profile, wanted, None if baseline is None else read_baseline(baseline))
    if json_output:
        document = {
            "schema_version": render.SCHEMA_VERSION,
            "run": str(folder),
            "primary": wanted.primary,
            "margin": wanted.margin,
            **gate_document(result),
        }
        render.json_document(environment, document)
    _tell_gate(environment, result, stored, as_json=json_output)


def _is_gate(floors: list[str] | None, baseline: Path | None, fail_on: FailOn | None, max_errors: float | None) -> bool:
    """Whether anything was asked of a run. A limit on errors is a requirement of its own, and always holds."""
    return bool(floors) or any(given is not None for given in (baseline, fail_on, max_errors))


def _requirements(
    floors: list[str] | None, fail_on: FailOn | None, max_errors: float | None, primary: str, margin: float
) -> Requirements:
    """Return what was asked of a run; raises ``UsageError`` for what no run could be held to."""
    from wikigr.evaluation.gate import Requirements
    from wikigr.evaluation.metrics import known_metric

    _checked(margin)
    if max_errors is not None and math.isnan(max_errors):
        raise UsageError(f"--max-errors takes a share from 0 to 1, not {max_errors}.")
    return Requirements(
        _floors(floors or []), (fail_on or FailOn.REGRESSION).value, margin, max_errors or 0.0, known_metric(primary)
    )


def _floors(given: list[str]) -> dict[str, float]:
    from wikigr.evaluation.metrics import known_metric

    floors = {}
    for item in given:
        metric, _, value = item.partition("=")
        try:
            floor = float(value)
        except ValueError as error:
            raise UsageError(f"--min takes METRIC=VALUE, not {item!r}.", hint="Example: --min accuracy=0.8") from error
        # Every metric lies there: what is outside is always reached, or never.
        if not 0.0 <= floor <= 1.0:
            raise UsageError(f"--min takes a value from 0 to 1, not {item!r}.", hint="Example: --min accuracy=0.8")
        floors[known_metric(metric.strip())] = floor
    return floors


def _held_to(stored: StoredRun, profile: str | None, wanted: Requirements, baseline: Baseline | None) -> GateResult:
    from dataclasses import replace

    from wikigr.evaluation.gate import check_gate
    from wikigr.evaluation.reports.document import chosen_after

    judged = _profile_of(stored, profile)
    result = check_gate(stored.run, stored.samples, judged, wanted, baseline, clusters=stored.clusters)
    chosen = chosen_after(stored.run, wanted.primary, wanted.margin)
    return replace(result, caveats=(*result.caveats, *chosen))


def _tell_gate(environment: Environment, result: GateResult, stored: StoredRun, *, as_json: bool) -> None:
    """Print the outcome, unless a document holds it; raises ``Exit`` where it failed."""
    if not as_json:
        render_evaluation.gate(environment, result, stored.questions)
    _tell_github(environment, result, stored, beside=as_json)
    if not result.passed:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _tell_github(environment: Environment, result: GateResult, stored: StoredRun, *, beside: bool) -> None:
    """On GitHub Actions, add to the job's summary and annotate the regressed questions; ``beside`` a document on
    stderr.
    """
    if environment.variables.get("GITHUB_ACTIONS") != "true":
        return
    from wikigr.evaluation.reports.text import github_annotations, markdown_gate

    annotations = github_annotations(result, stored.questions, str(stored.run.questions["path"]))
    if not beside:
        environment.write_text(annotations)
    elif annotations:
        environment.complain(annotations.rstrip("\n"), overflow="keep")
    summary = environment.variables.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown_gate(result, stored.questions))
        except OSError as error:
            environment.complain(f"wikigr: the summary {summary} cannot be written: {error.strerror}.")


@app.command("bless", epilog=EXIT_CODES_HELP)
def bless(
    context: typer.Context,
    folder: RunFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The baseline to write.")],
    profile: OneProfile = None,
    json_output: options.Json = False,
) -> None:
    """Make a run the baseline that later runs are held against. Commit the file."""
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.gate import bless as make_baseline
    from wikigr.evaluation.gate import write_baseline
    from wikigr.evaluation.reports.document import load_run

    stored = load_run(folder)
    made = make_baseline(stored.run, stored.samples, _profile_of(stored, profile))
    try:
        write_baseline(output, made)
    except OSError as error:
        raise WikigrError(f"The baseline {output} cannot be written: {error.strerror}.") from error
    if json_output:
        document = {
            "schema_version": render.SCHEMA_VERSION,
            "baseline": str(output),
            "profile": made.profile,
            "questions": len(made.means),
            "question_hash": made.question_hash,
            "pack_digest": made.pack_digest,
            "judge": made.judge,
            "wikigr_version": made.wikigr_version,
        }
        render.json_document(environment, document)
        return
    environment.print(f"{output}: {render.counted(len(made.means), 'questions')} of {made.profile}")


@app.command("calibrate", epilog=EXIT_CODES_HELP)
def calibrate(
    context: typer.Context,
    pack: Annotated[str | None, options.pack_option("eval_calibrate")] = None,
    questions: Questions = None,
    split: Split = "dev",
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the threshold and leave the pack alone.")] = False,
    json_output: options.Json = False,
) -> None:
    """Fit the pack's abstention threshold on a split of gold questions and store it in its manifest."""
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.evaluation.calibration import FittedOn, store_threshold
    from wikigr.evaluation.calibration import calibrate as fit
    from wikigr.evaluation.questions import load_questions, question_set_hash
    from wikigr.pack.locate import find_pack
    from wikigr.pack.open import Pack
    from wikigr.profiles.files import load_profile
    from wikigr_cli.render.progress import TerminalProgress

    layout = find_pack(pack)
    if not dry_run:
        # Before all questions are asked.
        layout.refuse_installed()
    loaded = load_questions(questions or _packs_own(layout.root), split=split)
    with Pack(pack, purpose="queries", preload=True) as opened, TerminalProgress(environment) as progress:
        progress.start("asking", len(loaded), "questions")
        found = fit(opened, loaded, load_profile(profile), advance=progress.advance)
    if not dry_run:
        store_threshold(layout, found.threshold, FittedOn(question_set_hash(loaded), split or "", profile))
    if json_output:
        document = {"schema_version": render.SCHEMA_VERSION, "stored": not dry_run, **asdict(found)}
        render.json_document(environment, document)
        return
    environment.print(
        f"threshold {found.threshold:.4f} (was {found.before:.4f}): answers {100 * found.answered:.1f} % of "
        f"{found.answerable} answerable questions, declines {100 * found.declined:.1f} % of {found.unanswerable} others"
    )
    if dry_run:
        environment.note("Not stored (--dry-run).")


@app.command("validate", epilog=EXIT_CODES_HELP)
def validate(
    context: typer.Context,
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS", help="A file of gold questions.")],
    pack: Annotated[str | None, options.pack_option("eval_validate")] = None,
    split: Split = None,
    json_output: options.Json = False,
) -> None:
    """Check gold questions: their form, duplicates, and, with a pack, gold titles that it lacks and unanswerable
    questions that it answers. Exit 1 when something is found.
    """
    environment = context.ensure_object(Environment)

    from wikigr.evaluation.questions import Problem, check_questions, load_questions
    from wikigr.pipeline.profile import Profile

    problems: list[Problem] = []
    loaded = load_questions(questions, split=split, problems=problems)
    if pack is None:
        # Without a pack every title passes: what is left are duplicates.
        problems += check_questions(loaded, str)
    else:
        from wikigr.pack.open import Pack
        from wikigr.pipeline.builder import build_pipeline

        with Pack(pack, preload=True) as opened:
            answer = build_pipeline(Profile(), opened, offline=True).answer
            problems += check_questions(
                loaded, opened.find_title, headings_in_pack=opened.headings, answer=lambda text: answer(text)
            )
    problems.sort(key=lambda problem: problem.line)
    if json_output:
        rows = [asdict(problem) for problem in problems]
        document = {"schema_version": render.SCHEMA_VERSION, "questions": len(loaded), "problems": rows}
        render.json_document(environment, document)
    else:
        for problem in problems:
            environment.print(f"{questions}:{problem.line}: {plain(problem.message)}", hang=2)
        environment.print(f"{render.counted(len(loaded), 'questions')}, {render.counted(len(problems), 'problems')}")
    if problems:
        raise typer.Exit(ExitStatus.FAILED_CHECK)

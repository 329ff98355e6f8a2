"""The gate of a CI job: floors, non-inferiority against a blessed baseline, and a limit on errors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from wikigr.atomic import write_atomic
from wikigr.errors import UsageError
from wikigr.evaluation.comparison import Comparison, compare, means_by_question, overall
from wikigr.evaluation.judge import ERROR, JUDGED, NO_JUDGE
from wikigr.evaluation.metrics import METRICS, known_metric
from wikigr.evaluation.run import Run
from wikigr.evaluation.samples import RunError, Sample
from wikigr.evaluation.statistics import PairedResult, Verdict

SCHEMA_VERSION = 1
# Over fewer questions no paired test can reach 0.05.
_FEWEST = 6
FailOn = Literal["regression", "inconclusive", "never"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A blessed result: the metrics of every question under one profile, and what they were measured on."""

    profile: str
    pack_digest: str
    question_hash: str
    wikigr_version: str
    means: Mapping[str, Mapping[str, float]]
    judge: str = NO_JUDGE

    def samples(self) -> list[Sample]:
        """Return it as samples, to be compared with a run's."""
        return [Sample(self.profile, question, 0, metrics=metrics) for question, metrics in self.means.items()]

    def require_comparable(self, wanted: Requirements, question_hash: str, questions: int, judge: str) -> None:
        """Raise ``UsageError`` where a run of that many questions, graded by ``judge``, cannot be held to this."""
        if self.question_hash != question_hash or len(self.means) != questions:
            raise UsageError(
                "The baseline was measured on another question set.",
                hint="Give its questions and split, or bless a new one: wikigr eval bless RUN",
            )
        if not any(wanted.primary in metrics for metrics in self.means.values()):
            raise UsageError(
                f"{wanted.primary} applies to no question of the baseline.", hint="Name another metric: --primary"
            )
        if wanted.by_judge and self.judge != judge:
            raise UsageError(
                f"The baseline was graded by another judge: {self.judge}, and this run by {judge}.",
                hint="Grade with the same one (--judge-model), or bless a new baseline: wikigr eval bless RUN",
            )


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a run must reach. ``floors`` by metric; ``errors`` is the largest share of samples that may fail.

    ``fail_on`` says which verdict on the primary metric against the baseline fails: ``regression``, also an
    ``inconclusive`` one, or ``never``. ``margin`` is how much worse still counts as no worse: where the whole interval
    is above it, the run is not inferior, and passes whatever else is unclear.
    """

    floors: Mapping[str, float]
    fail_on: FailOn = "regression"
    margin: float = 0.02
    errors: float = 0.0
    primary: str = "accuracy"

    @property
    def by_judge(self) -> bool:
        """Whether the judge's grades decide."""
        return JUDGED in (*self.floors, self.primary)


@dataclass(frozen=True, slots=True)
class GateCheck:
    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """``regressed`` are the questions that the baseline had right, or righter, by id.

    ``caveats`` say what else than the profile was not the same for run and baseline.
    """

    profile: str
    checks: tuple[GateCheck, ...]
    comparison: Comparison | None
    regressed: tuple[str, ...]
    caveats: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def check_gate(
    run: Run,
    samples: Sequence[Sample],
    profile: str,
    wanted: Requirements,
    baseline: Baseline | None = None,
    *,
    clusters: Mapping[str, str] | None = None,
) -> GateResult:
    """Hold ``samples`` of ``profile`` against ``wanted`` and ``baseline``; ``clusters`` by question id, if any.

    Where the judge's grades decide, an answer that it failed to grade counts among the errors. Raises ``RunError`` when
    there is nothing to judge, and ``UsageError`` for an unknown metric or a baseline of another question set or judge.
    """
    for metric in (*wanted.floors, wanted.primary):
        known_metric(metric)
    for name, number in (("share of errors", wanted.errors), *wanted.floors.items()):
        if not math.isfinite(number):
            raise UsageError(f"The limit of {name} must be a number, not {number}.")
    mine = [sample for sample in samples if sample.profile == profile]
    if not mine:
        raise RunError(f"The run has no samples of the profile {profile!r}.")
    failed = sum(sample.error is not None or (wanted.by_judge and _is_ungraded(sample)) for sample in mine)
    share = failed / len(mine)
    checks = [GateCheck("errors", share <= wanted.errors, f"{failed} of {len(mine)} samples failed")]
    expected = int(run.questions["count"]) * run.repeat
    checks.append(GateCheck("complete", len(mine) == expected, f"{len(mine)} of {expected} samples"))
    if failed == len(mine):
        raise RunError("Every sample of the run failed: there is nothing to judge.")
    means = means_by_question(mine)
    reached = overall(means)
    for metric, floor in wanted.floors.items():
        value = reached.get(metric)
        upward = METRICS[metric].higher_is_better
        passed = value is not None and (value >= floor if upward else value <= floor)
        shown = "does not apply" if value is None else f"{value:.4f}"
        checks.append(GateCheck(f"{metric} {'≥' if upward else '≤'} {floor:g}", passed, shown))
    if baseline is None:
        return GateResult(profile, tuple(checks), None, ())
    baseline.require_comparable(wanted, run.questions["hash"], int(run.questions["count"]), run.judge)
    comparison = compare(
        baseline.samples(),
        mine,
        names=("baseline", profile),
        seed=run.seed,
        primary=wanted.primary,
        margin=wanted.margin,
        clusters=clusters,
    )
    try:
        result = comparison.result(wanted.primary)
    except KeyError:
        raise UsageError(
            f"{wanted.primary} applies to no question of both the run and the baseline.",
            hint="Name another metric: --primary",
        ) from None
    checks.append(_against_baseline(result, wanted))
    sign = 1.0 if METRICS[wanted.primary].higher_is_better else -1.0
    regressed = tuple(
        question
        for question, metrics in means.items()
        if wanted.primary in metrics
        if sign
        * (metrics[wanted.primary] - baseline.means.get(question, {}).get(wanted.primary, metrics[wanted.primary]))
        < 0
    )
    return GateResult(profile, tuple(checks), comparison, regressed, tuple(_caveats(run, baseline)))


def _is_ungraded(sample: Sample) -> bool:
    return sample.judgment is not None and sample.judgment["verdict"] == ERROR


def _caveats(run: Run, baseline: Baseline) -> list[str]:
    """Return what else than the profile may have made a difference: none of it keeps a gate from judging."""
    found = []
    if baseline.pack_digest != run.pack["digest"]:
        found.append("the baseline was measured on another build of the pack")
    if baseline.wikigr_version != run.wikigr_version:
        found.append(f"the baseline was measured by wikigr {baseline.wikigr_version}")
    return found


def _against_baseline(result: PairedResult, wanted: Requirements) -> GateCheck:
    low, high = result.interval.low, result.interval.high
    worst = low if METRICS[wanted.primary].higher_is_better else -high
    # A verdict from too few questions is inconclusive whatever the interval says.
    unclear = result.verdict is Verdict.INCONCLUSIVE and (worst < -wanted.margin or result.n < _FEWEST)
    failed = {
        "regression": result.verdict is Verdict.REGRESSED,
        "inconclusive": result.verdict is Verdict.REGRESSED or unclear,
        "never": False,
    }[wanted.fail_on]
    detail = f"{result.verdict}: {result.difference:+.4f} (95 % interval {low:+.4f} to {high:+.4f})"
    return GateCheck(f"{wanted.primary} against the baseline", not failed, detail)


def bless(run: Run, samples: Sequence[Sample], profile: str) -> Baseline:
    """Return the baseline that this run makes; raises ``RunError`` when it is not whole."""
    mine = [sample for sample in samples if sample.profile == profile]
    expected = int(run.questions["count"]) * run.repeat
    failed = [sample for sample in mine if sample.error is not None]
    if len(mine) != expected or failed:
        raise RunError(
            f"The run is not whole: {len(mine) - len(failed)} of {expected} samples of {profile!r} are good.",
            hint="Run it to its end first; the same command resumes it.",
        )
    means = {
        question: {metric: round(value, 6) for metric, value in sorted(metrics.items())}
        for question, metrics in means_by_question(mine).items()
    }
    return Baseline(profile, run.pack["digest"], run.questions["hash"], run.wikigr_version, means, run.judge)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write ``baseline`` in place of ``path``, one question a line, so that a diff shows which ones changed."""
    values: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **asdict(baseline)}
    means = values.pop("means")
    head = json.dumps(values, ensure_ascii=False, indent=1)[:-2]
    rows = ",\n".join(f"  {json.dumps(q, ensure_ascii=False)}: {json.dumps(m)}" for q, m in means.items())
    write_atomic(path, f'{head},\n "means": {{\n{rows}\n }}\n}}\n')


def read_baseline(path: Path) -> Baseline:
    """Read a blessed baseline; raises ``UsageError`` for what is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("schema_version") != SCHEMA_VERSION:
            raise ValueError("it is of another version")
        for name in ("profile", "pack_digest", "question_hash", "wikigr_version", "judge"):
            if not isinstance(values.get(name, NO_JUDGE if name == "judge" else None), str):
                raise ValueError(f"{name} is missing or no text")
        for question, metrics in values["means"].items():
            for metric, value in metrics.items():
                # Every metric lies in [0, 1]; NaN does not.
                if type(value) not in (int, float) or not 0.0 <= value <= 1.0:
                    raise ValueError(f"{metric} of {question!r} is {value!r}, and not from 0 to 1")
        return Baseline(**values)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"The baseline {path} cannot be used: {error}.", hint="Make one: wikigr eval bless RUN"
        ) from error

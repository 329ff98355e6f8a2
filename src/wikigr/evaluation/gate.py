"""The gate of a CI job: floors, non-inferiority to a blessed baseline, and a limit on errors."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal

from wikigr.errors import UsageError, WikigrError
from wikigr.evaluation.comparison import MARGIN, PRIMARY, flips, means_by_question
from wikigr.evaluation.judge import ERROR, JUDGED, NO_JUDGE
from wikigr.evaluation.metrics import METRICS, known_metric
from wikigr.evaluation.run import MAX_RUN_BYTES, RUN, SCHEMA_VERSION, StoredRun
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.paired import MIN_QUESTIONS, SIGNIFICANCE, PairedResult, Verdict, in_points
from wikigr.evaluation.statistics.significance import sign_p
from wikigr.files import explain_json_error, read_regular, write_atomic
from wikigr.options import Share
from wikigr.validation import NO_OTHER_KEYS, validated

FailOn = Literal["regression", "inconclusive", "never"]
Outcome = Literal["passed", "failed", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of a gate.

    ``floors`` holds the minimum by metric (the maximum if lower is better), and ``errors`` the maximum share of failed
    samples. ``fail_on`` is the verdict on the primary metric that fails: ``regression``, also ``inconclusive``, or
    ``never``. ``margin`` is the largest loss that does not matter: if the whole interval lies above ``-margin``, the
    run is not inferior and passes even if its verdict is inconclusive. ``flips`` is how many answers may be worse than
    in the baseline; without it, an exact test decides whether they are too many. Raises ``UsageError`` for an unknown
    metric or a limit that no run could meet.
    """

    floors: Mapping[str, float]
    fail_on: FailOn = "regression"
    margin: float = MARGIN
    errors: float = 0.0
    primary: str = PRIMARY
    flips: int | None = None

    def __post_init__(self) -> None:
        for metric in (*self.floors, self.primary):
            known_metric(metric)
        limits = (("margin", self.margin), ("share of errors", self.errors), *self.floors.items())
        for name, number in limits:
            # All metrics lie in this range. NaN compares as false.
            if not 0.0 <= number <= 1.0:
                raise UsageError(f"The limit of {name} must be a number from 0 to 1, not {number}.")

    @property
    def by_judge(self) -> bool:
        """Whether a requirement uses the judge's grades."""
        return JUDGED in (*self.floors, self.primary)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A blessed result: the metrics of every question under one profile, with the identity of pack and questions."""

    profile: str
    pack_digest: str
    question_hash: str
    wikigr_version: str
    means: Mapping[str, Mapping[str, Share]]
    judge: str = NO_JUDGE

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    def samples(self) -> list[Sample]:
        """Return the baseline as samples, for a comparison with those of a run."""
        return [Sample(self.profile, question, 0, metrics=metrics) for question, metrics in self.means.items()]

    def require_comparable(self, wanted: Requirements, question_hash: str, questions: int, judge: str) -> None:
        """Raise ``UsageError`` unless a run over these questions, graded by ``judge``, can be compared with it."""
        if self.question_hash != question_hash or len(self.means) != questions:
            raise UsageError(
                "The baseline was measured on another question set.",
                hint="Use its questions and split, or bless a new baseline: wikigr eval bless RUN",
            )
        if not any(wanted.primary in metrics for metrics in self.means.values()):
            raise UsageError(
                f"{wanted.primary} applies to no question of the baseline.", hint="Name another metric: --primary"
            )
        if wanted.by_judge and self.judge != judge:
            raise UsageError(
                f"The baseline was graded by another judge: {self.judge}, but this run by {judge}.",
                hint="Use the same judge (--judge-model), or bless a new baseline: wikigr eval bless RUN",
            )


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One check of a gate, with its measured value or verdict.

    The gate fails unless every check has ``passed``. One that is ``inconclusive`` has passed, because the gate requires
    no proof, but what it checks is neither shown nor excluded. ``questions`` are the ids of those that it may fail for.
    """

    name: str
    passed: bool
    detail: str
    inconclusive: bool = False
    questions: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        return "failed" if not self.passed else "inconclusive" if self.inconclusive else "passed"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The outcome of a gate.

    ``regressed`` holds the ids of the questions that scored better in the baseline. ``caveats`` name differences
    between run and baseline other than the profile.
    """

    profile: str
    checks: tuple[GateCheck, ...]
    regressed: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def check_gate(stored: StoredRun, profile: str, wanted: Requirements, baseline: Baseline | None = None) -> GateResult:
    """Check the samples of ``profile`` against ``wanted`` and ``baseline``.

    If a requirement uses the judge's grades, an ungraded answer counts as an error. Raises ``WikigrError`` if there is
    nothing to judge, and ``UsageError`` for a baseline of another question set or judge.
    """
    run, own = stored.run, stored.samples_of(profile)
    failing = [
        sample.question_id
        for sample in own
        if sample.error is not None
        or (wanted.by_judge and sample.judgment is not None and sample.judgment["verdict"] == ERROR)
    ]
    failed = len(failing)
    if failed == len(own):
        raise WikigrError(f"No sample of the profile {profile!r} succeeded, so there is nothing to judge.")
    allowed = f"at most {100 * wanted.errors:g}% may"
    expected = int(run.questions["count"]) * run.repeat
    checks = (
        GateCheck(
            "errors",
            failed / len(own) <= wanted.errors,
            f"{failed} of {len(own)} samples failed; {allowed}",
            questions=tuple(dict.fromkeys(failing)),
        ),
        GateCheck("complete", len(own) == expected, f"{len(own)} of {expected} samples"),
        *_check_floors(own, wanted.floors),
    )
    if baseline is None:
        return GateResult(profile, checks)
    baseline.require_comparable(wanted, run.questions["hash"], int(run.questions["count"]), run.judge)
    before = baseline.samples()
    declared = {"primary": wanted.primary, "margin": wanted.margin}
    result = stored.compare(before, own, ("baseline", profile), **declared).primary_result
    if result is None:
        raise UsageError(
            f"{wanted.primary} applies to no question of both the run and the baseline.",
            hint="Name another metric: --primary",
        )
    # Differences other than the profile may matter; none of them stops the gate.
    caveats = []
    if baseline.pack_digest != run.pack["digest"]:
        caveats.append("the baseline was measured on another build of the pack")
    if baseline.wikigr_version != run.wikigr_version:
        caveats.append(f"the baseline was measured by wikigr {baseline.wikigr_version}")
    regressed = tuple(sorted(flip.question_id for flip in flips(before, own, wanted.primary) if flip.worse))
    against = (_check_baseline(result, wanted), *_check_flips(result, wanted))
    checks = (*checks, *(replace(check, questions=regressed) for check in against))
    return GateResult(profile, checks, regressed, tuple(caveats))


def _check_floors(samples: Sequence[Sample], floors: Mapping[str, float]) -> Iterator[GateCheck]:
    means = means_by_question(samples).values()
    for metric, floor in floors.items():
        values = [metrics[metric] for metrics in means if metric in metrics]
        upward = METRICS[metric].higher_is_better
        value = fmean(values) if values else math.nan
        passed = value >= floor if upward else value <= floor
        detail = f"{value:.4f}" if values else "does not apply"
        yield GateCheck(f"{metric} {'≥' if upward else '≤'} {floor:g}", passed, detail)


def _check_baseline(result: PairedResult, wanted: Requirements) -> GateCheck:
    # The largest loss that the interval contains; negative if it contains gains only.
    loss = -result.interval.low if METRICS[wanted.primary].higher_is_better else result.interval.high
    regressed, unclear = result.verdict is Verdict.REGRESSED, False
    detail = result.summary
    if result.verdict is Verdict.INCONCLUSIVE:
        margin = f"a loss of more than the margin of {in_points(wanted.margin)}"
        unclear = loss > wanted.margin or result.units < MIN_QUESTIONS
        detail += f"; the data do not exclude {margin}" if unclear else f", but not {margin}"
    failed = {"regression": regressed, "inconclusive": regressed or unclear, "never": False}[wanted.fail_on]
    if failed != (regressed or unclear):
        detail += f" (--fail-on {wanted.fail_on} does not fail for this)"
    return GateCheck(
        f"{wanted.primary} against the baseline", not failed, f"{detail}.", inconclusive=unclear and not failed
    )


def _check_flips(result: PairedResult, wanted: Requirements) -> Iterator[GateCheck]:
    """Yield the check of the answers that are worse than in the baseline: against a limit, or by an exact test.

    The test needs fewer questions than a verdict, because it asks about losses only. It assumes that the questions are
    independent, and a loss within the margin does not fail it.
    """
    metric, losses, wins = METRICS[wanted.primary], result.losses, result.wins
    changed = "changed from right to wrong" if metric.binary else "got worse"
    detail = f"{losses} of {result.n} answers {changed}, {wins} the other way"
    if wanted.flips is not None:
        yield GateCheck("changed answers", losses <= wanted.flips, f"{detail}; at most {wanted.flips} may.")
    elif result.clusters is None:

        def is_loss(count: int) -> bool:
            return sign_p(count, wins) <= SIGNIFICANCE and (count - wins) / result.n > wanted.margin

        least = next(count for count in itertools.count(wins + 1) if is_loss(count))
        test = f"p = {sign_p(losses, wins):.4f} (exact sign test)"
        would = f"{least} would fail" if least <= result.n else f"{result.n} questions are too few to fail"
        passed = losses < least or wanted.fail_on == "never"
        yield GateCheck("changed answers", passed, f"{detail}: {test}; {would}.")


def make_baseline(stored: StoredRun, profile: str) -> Baseline:
    """Return the baseline made from one profile of a run; raise ``WikigrError`` if the run is incomplete."""
    run, own = stored.run, stored.samples_of(profile)
    expected = int(run.questions["count"]) * run.repeat
    good = sum(sample.error is None for sample in own)
    if good != expected:
        raise WikigrError(
            f"The run is incomplete: {good} of {expected} samples of {profile!r} are good.",
            hint="Finish it first; the same command resumes it.",
        )
    means = {
        question: {metric: round(value, 6) for metric, value in sorted(metrics.items())}
        for question, metrics in means_by_question(own).items()
    }
    return Baseline(profile, run.pack["digest"], run.questions["hash"], run.wikigr_version, means, run.judge)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write ``baseline`` to ``path``, one question per line, so that a diff shows which questions changed."""
    values: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **asdict(baseline)}
    means = values.pop("means")
    head = json.dumps(values, ensure_ascii=False, indent=1)[:-2]
    rows = ",\n".join(f"  {json.dumps(q, ensure_ascii=False)}: {json.dumps(m)}" for q, m in means.items())
    write_atomic(path, f'{head},\n "means": {{\n{rows}\n }}\n}}\n')


def read_baseline(path: Path) -> Baseline:
    """Read a blessed baseline; raise ``UsageError`` if the file is not one."""
    if (path / RUN).is_file():
        raise UsageError(
            f"{path} is a run, not a baseline.",
            hint=f"Make a baseline of it: wikigr eval bless {shlex.quote(str(path))} -o baseline.json",
        )
    try:
        values = json.loads(read_regular(path, MAX_RUN_BYTES))
        if values.pop("schema_version") != SCHEMA_VERSION:
            raise ValueError("it has another version")
        return validated(Baseline, json.dumps(values))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else explain_json_error(error)
        raise UsageError(
            f"Cannot use the baseline {path}: {reason}.", hint="Make one: wikigr eval bless RUN -o baseline.json"
        ) from error

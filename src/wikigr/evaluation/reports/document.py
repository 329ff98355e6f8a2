"""The one document that every report is written from: figures, comparisons and questions of a run."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wikigr.atomic import write_atomic
from wikigr.evaluation.abstention import abstention
from wikigr.evaluation.comparison import Comparison, Flip, compare, flips, means_by_question
from wikigr.evaluation.gate import GateResult
from wikigr.evaluation.judge import Label, judge_document
from wikigr.evaluation.metrics import METRICS, known_metric, ranked_articles
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.repeats import repeats
from wikigr.evaluation.run import Run, read_run
from wikigr.evaluation.samples import RunError, Sample, read_samples
from wikigr.evaluation.statistics import bootstrap_interval
from wikigr.evaluation.trec import write_qrels, write_run
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Candidate, Evidence, Section

SCHEMA_VERSION = 1
QUESTIONS = "questions.json"
# The folder, within a run's, of the profiles that can be loaded from nowhere else.
PROFILES = "profiles"
# Of a profile whose answers no model writes, in ``Run.models``.
NO_MODEL = "none"
_QUESTION_FIELDS = {"id", "question", "answers", "gold", "answerable", "type", "line"}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as its folder holds it. ``questions`` are plain mappings by id, with ``line`` in their file."""

    folder: Path
    run: Run
    samples: list[Sample]
    questions: Mapping[str, Mapping[str, Any]]

    def of(self, profile: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.profile == profile]

    @property
    def subject(self) -> str:
        """The profile that is judged when none is named."""
        return self.run.subject or list(self.run.profiles)[-1]

    @property
    def clusters(self) -> dict[str, str] | None:
        """The cluster of every question, where the question set has clusters."""
        found = {id_: str(question["cluster"]) for id_, question in self.questions.items() if question.get("cluster")}
        return found or None


def keep_questions(folder: Path, questions: Sequence[GoldQuestion]) -> None:
    """Put the questions beside the samples, so that reports need nothing else."""
    rows = {question.id: asdict(question) for question in questions}
    write_atomic(folder / QUESTIONS, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")


def load_run(folder: Path) -> StoredRun:
    """Read a run's folder; raises ``RunError`` when a part is missing or damaged."""
    run = read_run(folder)
    try:
        questions = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"The questions of the run {folder} cannot be read: {error}.") from error
    if not isinstance(questions, dict) or not all(
        isinstance(row, dict) and row.keys() >= _QUESTION_FIELDS for row in questions.values()
    ):
        raise RunError(f"The questions of the run {folder} are not those of a run.")
    samples = read_samples(folder)
    for sample in samples:
        if sample.question_id not in questions or sample.profile not in run.profiles:
            raise RunError(
                f"The samples in {folder} are not of its run: "
                f"it has no question {sample.question_id!r} under {sample.profile!r}."
            )
    return StoredRun(folder, run, samples, questions)


def gold_questions(stored: StoredRun) -> list[GoldQuestion]:
    """Return the questions of a run as they were asked."""
    return [
        GoldQuestion(
            **{
                **question,
                "answers": tuple(question["answers"]),
                "gold": tuple(Gold(**gold) for gold in question["gold"]),
            }
        )
        for question in stored.questions.values()
    ]


def export_trec(stored: StoredRun, folder: Path) -> list[Path]:
    """Write the TREC files of a run into ``folder``: ``qrels.txt`` and ``PROFILE.run`` for each profile.

    Returns the files. A score is the best of an article's sections, over the sections that the samples keep. Raises
    ``OSError``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    questions = gold_questions(stored)
    files = [folder / "qrels.txt"]
    write_qrels(files[0], questions)
    by_id = {question.id: question for question in questions}
    for profile in stored.run.profiles:
        rankings: dict[str, list[tuple[str, float]]] = {}
        for sample in stored.of(profile):
            if sample.repeat == 0 and sample.error is None:
                found = [(_evidence(entry), float(entry["score"])) for entry in sample.ranking]
                scored: dict[str, float] = {}
                for item, score in found:
                    (docid,) = ranked_articles(by_id[sample.question_id], [item])
                    scored.setdefault(docid, score)
                rankings[sample.question_id] = list(scored.items())
        files.append(folder / f"{profile}.run")
        write_run(files[-1], rankings, profile)
    return files


def _evidence(entry: Mapping[str, Any]) -> Evidence:
    """Return a ranked section as a sample keeps it: without its text."""
    id_ = str(entry["section_id"])
    section = Section(id_, article_title(id_), "", "", str(entry["source_id"]), 0)
    return Evidence(section, Candidate(id_, float(entry["score"])))


def report_document(
    stored: StoredRun,
    *,
    primary: str | None = None,
    margin: float | None = None,
    resamples: int = 9999,
    labels: Sequence[Label] | None = None,
    gate: GateResult | None = None,
) -> dict[str, Any]:
    """Return the report of a run: the first profile is what the others are compared with.

    ``primary`` and ``margin`` are those that were declared for the run when left out; others are named as chosen after
    it. ``labels`` are people's grades, which the judge's are held against; ``gate`` is what the run was held to.
    Raises ``UsageError`` for an unknown metric.

    Everything but ``latency`` and ``latency_cached`` is the same, byte for byte, for the same samples and seed.
    """
    primary = stored.run.primary if primary is None else known_metric(primary)
    margin = stored.run.margin if margin is None else margin
    names = [name for name in stored.run.profiles if stored.of(name)]
    against = _compared(stored)
    comparisons = [
        compare(
            stored.of(names[0]),
            stored.of(name),
            names=(names[0], name),
            seed=stored.run.seed,
            primary=primary,
            margin=margin,
            clusters=stored.clusters,
        )
        for name in against
    ]
    first_answers: dict[str, list[Sample]] = {}
    for sample in stored.samples:
        if sample.repeat == 0:
            first_answers.setdefault(sample.question_id, []).append(sample)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": asdict(stored.run),
        "primary": primary,
        "margin": margin,
        "metrics": {
            metric.name: {
                "higher_is_better": metric.higher_is_better,
                "binary": metric.binary,
                "description": metric.description,
            }
            for metric in METRICS.values()
        },
        "profiles": [_profile(stored, name, primary, resamples) for name in names],
        "judge": judge_document(stored.run, stored.samples, labels),
        "comparisons": [comparison_document(comparison) for comparison in comparisons],
        "flips": {
            name: [
                flip_document((stored, stored), flip, primary, (names[0], name))
                for flip in flips(stored.of(names[0]), stored.of(name), primary)
            ]
            for name in against
        },
        "gate": None if gate is None else gate_document(gate),
        "notices": [
            *(f"{choice}." for choice in chosen_after(stored.run, primary, margin)),
            *_notices(stored, against),
        ],
        "questions": [_question(stored.questions[id_], first_answers.get(id_, [])) for id_ in sorted(stored.questions)],
    }


def _compared(stored: StoredRun) -> list[str]:
    """Return the profiles that have an answered question in common with the run's first one."""
    first, *others = stored.run.profiles
    answered = means_by_question(stored.of(first)).keys()
    return [name for name in others if answered & means_by_question(stored.of(name)).keys()]


def _notices(stored: StoredRun, against: Sequence[str]) -> list[str]:
    """Return, in sentences, what keeps the figures of a run from being what they seem."""
    found = []
    expected = len(stored.questions) * stored.run.repeat
    for name in stored.run.profiles:
        count = len(stored.of(name))
        if count != expected:
            found.append(f"{name}: the run is not whole, {count} of {expected} samples are there.")
    if stored.run.missing:
        found.append(missing_articles(stored.run.missing))
    if stored.run.leaks:
        found.append(_leaks(stored.run.leaks))
    first, *others = stored.run.profiles
    found += [
        f"{name} is not compared with {first}: they have no answered question in common."
        for name in others
        if name not in against
    ]
    # A model that may write more is another arm, whatever else is the same.
    limits = {name: profile.get("synthesis", {}).get("max_tokens") for name, profile in stored.run.profiles.items()}
    if not stored.run.offline and len(set(limits.values())) > 1:
        each = ", ".join(f"{name} {limit}" for name, limit in limits.items())
        found.append(f"The profiles may write answers of different length (tokens: {each}).")
    return found


def missing_articles(titles: Sequence[str]) -> str:
    """Return what is to be said of gold titles that a pack has no article of."""
    named = ", ".join(repr(title) for title in titles[:3])
    return (
        f"Gold articles that the pack lacks, and that nothing can find ({len(titles)}): {named}"
        f"{' and others' if len(titles) > 3 else ''} (wikigr eval validate lists them)."
    )


def _leaks(leaks: Sequence[Mapping[str, Any]]) -> str:
    """Return what is to be said of few-shot examples that give questions away."""
    examples = dict.fromkeys(leak["example"] for leak in leaks)
    named = ", ".join(f"example {leak['example']} (question {leak['question_id']})" for leak in leaks[:3])
    some = "1 few-shot example gives" if len(examples) == 1 else f"{len(examples)} few-shot examples give"
    return (
        f"{some} gold questions away and stood in no prompt: {named}"
        f"{' and others' if len(leaks) > 3 else ''} (all of them in run.json)."
    )


def chosen_after(run: Run, primary: str, margin: float | None = None) -> list[str]:
    """Return, without a full stop, which of the two was not declared before the run: a choice that saw the figures."""
    found = []
    if primary != run.primary:
        found.append(f"{run.primary} was declared as the primary metric before the run; {primary} was chosen after it")
    if margin is not None and margin != run.margin:
        found.append(f"{run.margin:g} was declared as the margin before the run; {margin:g} was chosen after it")
    return found


def paired(first: Sequence[Sample], second: Sequence[Sample], metric: str) -> int:
    """Return how many questions have ``metric`` under both arms."""
    left, right = means_by_question(first), means_by_question(second)
    return sum(metric in left[question] and metric in right.get(question, {}) for question in left)


def gate_document(result: GateResult) -> dict[str, Any]:
    """Return the outcome of a gate as plain values."""
    return {
        "profile": result.profile,
        "passed": result.passed,
        "checks": [asdict(check) for check in result.checks],
        "regressed": list(result.regressed),
        "caveats": list(result.caveats),
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    values = asdict(comparison)
    values["results"] = [
        {
            **_finite({**asdict(result), "verdict": str(result.verdict)}),
            "higher_is_better": METRICS[result.metric].higher_is_better,
        }
        for result in comparison.results
    ]
    return values


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Return ``values`` with ``None`` for what is no number: JSON knows no NaN."""
    return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in values.items()}


def flip_document(
    runs: tuple[StoredRun, StoredRun], flip: Flip, metric: str, labels: tuple[str, str]
) -> dict[str, Any]:
    """Return a flip of ``metric`` with both evidences and the commands that reproduce them.

    ``runs`` are those of its two sides, ``labels`` what tells the sides apart.
    """
    question = runs[0].questions.get(flip.question_id, {})
    return {
        "question_id": flip.question_id,
        "question": question.get("question", ""),
        "answers": list(question.get("answers", [])),
        "difference": flip.difference,
        "worse": (flip.difference < 0) == METRICS[metric].higher_is_better,
        "sides": [
            {
                "label": label,
                "profile": sample.profile,
                "answer": sample.answer,
                "query_type": sample.query_type,
                "confidence": sample.confidence,
                "citations": list(sample.citations),
                "ranking": [entry["section_id"] for entry in sample.ranking[:5]],
                "command": _command(stored, question.get("question", ""), sample.profile),
            }
            for stored, sample, label in zip(runs, (flip.first, flip.second), labels, strict=True)
        ],
    }


def _location(run: Run) -> str:
    """Return the pack as it was named for the run; the name in its manifest for runs that did not keep that."""
    return str(run.pack.get("path") or run.pack["name"])


def _command(stored: StoredRun, question: str, profile: str) -> str:
    """Return the command that asks this again, safe to be pasted into a shell whatever the question holds.

    Like the run, it asks a model or none.
    """
    options = ["--pack", _location(stored.run), "--profile", _source(stored, profile)]
    if stored.run.offline or stored.run.models.get(profile) == NO_MODEL:
        options.append("--offline")
    options.append("--explain")
    # What begins with a dash would be taken for an option.
    words = [*options, "--", question] if question.startswith("-") else [question, *options]
    return shlex.join(["wikigr", "ask", *words])


def _source(stored: StoredRun, profile: str) -> str:
    """Return by what ``--profile`` finds a profile of the run: as it was named, else its file in the run's folder."""
    if profile in stored.run.sources:
        return stored.run.sources[profile]
    kept = stored.folder / PROFILES / f"{profile}.yaml"
    # Runs of an earlier wikigr kept none.
    return str(kept) if kept.is_file() else profile


def _profile(stored: StoredRun, name: str, primary: str, resamples: int) -> dict[str, Any]:
    samples = stored.of(name)
    good = [sample for sample in samples if sample.error is None]
    means = means_by_question(samples)
    clusters = stored.clusters
    metrics = {}
    for metric in METRICS:
        by_question = {id_: by_metric[metric] for id_, by_metric in means.items() if metric in by_metric}
        if by_question:
            values = list(by_question.values())
            keys = [clusters.get(id_, id_) for id_ in by_question] if clusters else None
            interval = bootstrap_interval(values, seed=stored.run.seed, resamples=resamples, clusters=keys)
            metrics[metric] = {
                "mean": sum(values) / len(values),
                "low": interval.low,
                "high": interval.high,
                "questions": len(values),
            }
    return {
        "name": name,
        "samples": len(samples),
        "errors": len(samples) - len(good),
        "degraded": sum(sample.degraded for sample in good),
        "abstained": sum(sample.query_type == "abstained" for sample in good),
        "metrics": metrics,
        "abstention": _abstention(stored, good, resamples),
        "repeats": _repeats(stored, samples, primary),
        "usage": _usage(good),
        "latency": _latency([sample for sample in good if not sample.cached]),
        "latency_cached": _latency([sample for sample in good if sample.cached]),
    }


def _abstention(stored: StoredRun, samples: Sequence[Sample], resamples: int) -> dict[str, Any] | None:
    answerable = {id_: bool(question["answerable"]) for id_, question in stored.questions.items()}
    found = abstention(samples, answerable, seed=stored.run.seed, resamples=resamples, clusters=stored.clusters)
    if found is None:
        return None
    values = asdict(found)
    for name in ("precision", "recall", "auroc"):
        if values[name] is not None:
            interval = values[name].pop("interval")
            values[name] |= {"low": interval["low"], "high": interval["high"], "method": interval["method"]}
    return values


def _repeats(stored: StoredRun, samples: Sequence[Sample], primary: str) -> dict[str, Any] | None:
    found = repeats(samples, stored.run.repeat, primary)
    return None if found is None else asdict(found)


def _usage(samples: Sequence[Sample]) -> dict[str, Any]:
    used = [sample.usage for sample in samples if sample.usage]
    costs = [usage.get("cost_usd") for usage in used]
    return {
        "calls": sum(usage.get("calls", 0) for usage in used),
        "input_tokens": sum(usage.get("input_tokens", 0) for usage in used),
        "output_tokens": sum(usage.get("output_tokens", 0) for usage in used),
        "cost_usd": None if any(cost is None for cost in costs) else sum(costs),
        "cached": sum(sample.cached for sample in samples),
    }


def _latency(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """Return median and 95th percentile of each stage in milliseconds, ``total`` being the whole answer."""
    by_stage: dict[str, list[float]] = {}
    for sample in samples:
        for stage, value in sample.timings.items():
            by_stage.setdefault(stage.removesuffix("_ms"), []).append(value)
    return {
        stage: {"p50": float(np.median(values)), "p95": float(np.quantile(values, 0.95))}
        for stage, values in by_stage.items()
    }


def _question(question: Mapping[str, Any], samples: Sequence[Sample]) -> dict[str, Any]:
    return {
        "id": question["id"],
        "question": question["question"],
        "answers": list(question["answers"]),
        "type": question["type"],
        "answerable": question["answerable"],
        "line": question["line"],
        "by_profile": {
            sample.profile: {
                "answer": sample.answer,
                "query_type": sample.query_type,
                "confidence": sample.confidence,
                "metrics": dict(sample.metrics),
                "error": sample.error,
                "judgment": sample.judgment,
            }
            for sample in samples
        },
    }

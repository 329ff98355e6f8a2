"""The report document: the figures, comparisons, flips and questions of a run as plain values.

Every report format is written from it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from wikigr.answer.answer import ABSTAINED
from wikigr.evaluation.comparison import Comparison, Flip, flips, means_by_question
from wikigr.evaluation.gate import GateResult
from wikigr.evaluation.groups import group_figures, hops_of, metric_figures, repeats
from wikigr.evaluation.judge import ERROR, NO_JUDGE, SCORES
from wikigr.evaluation.metrics import METRICS
from wikigr.evaluation.reliability import abstention, level_precision, reliability
from wikigr.evaluation.run import (
    NO_MODEL,
    PROFILES,
    SCHEMA_VERSION,
    Run,
    StoredRun,
    describe_leaks,
    describe_missing_articles,
)
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.intervals import Estimate
from wikigr.llm.options import SynthesisOptions
from wikigr.llm.usage import Usage


def report_document(stored: StoredRun, *, resamples: int = 9999, gate: GateResult | None = None) -> dict[str, Any]:
    """Return the report of a run, and the outcome of its ``gate``. The other profiles are compared with the first one.

    The same samples and seed give the same bytes, except for ``latency`` and ``latency_cached``.
    """
    primary, margin = stored.run.primary, stored.run.margin
    first, *others = stored.run.profiles
    reference = stored.samples_of(first)
    answered = means_by_question(reference).keys()
    # The profiles that share an answered question with the first one.
    compared = {
        name: samples for name in others if answered & means_by_question(samples := stored.samples_of(name)).keys()
    }
    comparisons = [stored.compare(reference, samples, (first, name)) for name, samples in compared.items()]
    first_answers: dict[str, list[Sample]] = {}
    for sample in stored.samples:
        if sample.repeat == 0:
            first_answers.setdefault(sample.question_id, []).append(sample)
    return {
        "schema_version": SCHEMA_VERSION,
        # The time would make two reports of the same samples differ.
        "run": {key: value for key, value in asdict(stored.run).items() if key != "created"},
        "subject": stored.subject,
        "primary": primary,
        "margin": margin,
        "metrics": {
            name: _fields(metric, "higher_is_better", "binary", "description") for name, metric in METRICS.items()
        },
        "profiles": [
            _profile(stored, name, samples, primary, resamples)
            for name in stored.run.profiles
            if (samples := stored.samples_of(name))
        ],
        "judge": _judge(stored.run, stored.samples),
        "comparisons": [comparison_document(comparison) for comparison in comparisons],
        "flips": {
            name: [flip_document((stored, stored), flip, (first, name)) for flip in flips(reference, samples, primary)]
            for name, samples in compared.items()
        },
        "gate": None if gate is None else gate_document(gate),
        "notices": _notices(stored, list(compared)),
        "questions": [_question(stored.questions[id_], first_answers.get(id_, [])) for id_ in sorted(stored.questions)],
    }


def _notices(stored: StoredRun, compared: Sequence[str]) -> list[str]:
    """Return one sentence per problem that makes the figures of a run misleading."""
    run = stored.run
    found = []
    expected = len(stored.questions) * run.repeat
    for name in run.profiles:
        count = len(stored.samples_of(name))
        if count != expected:
            found.append(f"{name}: the run is incomplete, with {count} of {expected} samples.")
    if run.missing:
        found.append(describe_missing_articles(run.missing))
    if run.leaks:
        found.append(describe_leaks(run.leaks))
    first, *others = run.profiles
    found += [
        f"{name} is not compared with {first}: they have no answered question in common."
        for name in others
        if name not in compared
    ]
    # A model that may write longer answers is a different arm, even if everything else is equal.
    limits = {name: profile.get("synthesis", {}).get("max_tokens") for name, profile in run.profiles.items()}
    if not run.offline and len(set(limits.values())) > 1:
        each = ", ".join(f"{name} {limit}" for name, limit in limits.items())
        found.append(f"The profiles may write answers of different lengths (tokens: {each}).")
    return found


def gate_document(result: GateResult) -> dict[str, Any]:
    """Return the outcome of a gate as plain values."""
    return {
        "profile": result.profile,
        "passed": result.passed,
        "checks": [
            {**_fields(check, "name", "passed", "outcome", "detail"), "questions": list(check.questions)}
            for check in result.checks
        ],
        "regressed": list(result.regressed),
        "caveats": list(result.caveats),
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values, with None instead of NaN, which JSON does not have."""
    results = []
    for result in comparison.results:
        values = {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in asdict(result).items()}
        better = METRICS[result.metric].higher_is_better
        results.append({**values, "verdict": str(result.verdict), "higher_is_better": better})
    return {**asdict(comparison), "summary": comparison.summary, "results": results}


def side_document(stored: StoredRun, profile: str) -> dict[str, Any]:
    """Return what identifies one side of a comparison of two runs; ``created`` is None for runs without a date."""
    run = stored.run
    return {
        "path": str(stored.folder),
        "profile": profile,
        "created": run.created or None,
        "pack": {key: run.pack.get(key) for key in ("name", "version", "digest")},
        "questions": run.questions["count"],
    }


def flip_document(runs: tuple[StoredRun, StoredRun], flip: Flip, labels: tuple[str, str]) -> dict[str, Any]:
    """Return a flip with the evidence of both sides and the commands that reproduce them.

    ``runs`` and ``labels`` hold the run and the label of each side.
    """
    question = runs[0].questions.get(flip.question_id, {"question": "", "answers": []})
    return {
        "question_id": flip.question_id,
        "question": question["question"],
        "answers": list(question["answers"]),
        "difference": flip.difference,
        "worse": flip.worse,
        "sides": [
            {
                "label": label,
                **_fields(sample, "profile", *_ANSWER, "citations"),
                "ranking": [entry["section_id"] for entry in sample.ranking[:5]],
                "command": _command(stored, question["question"], sample.profile),
            }
            for stored, sample, label in zip(runs, (flip.first, flip.second), labels, strict=True)
        ],
    }


def _command(stored: StoredRun, question: str, profile: str) -> str:
    """Return the shell command that asks the question again, with or without a model as in the run."""
    run = stored.run
    # Profiles made for the run, as in an ablation, have a file in its folder, except in runs of earlier releases.
    file = stored.folder / PROFILES / f"{profile}.yaml"
    source = run.sources.get(profile) or (str(file) if file.is_file() else profile)
    # Earlier releases stored only the name of the pack.
    options = ["--pack", str(run.pack.get("path") or run.pack["name"]), "--profile", source]
    if run.offline or run.models.get(profile) == NO_MODEL:
        options.append("--offline")
    model = run.profiles[profile].get("synthesis", {}).get("model")
    if run.models.get(profile, NO_MODEL) != NO_MODEL and model not in (None, SynthesisOptions().model):
        options += ["--model", str(model)]
    options.append("--explain")
    # A question that begins with a dash would be parsed as an option.
    words = [*options, "--", question] if question.startswith("-") else [question, *options]
    return shlex.join(["wikigr", "ask", *words])


def _profile(stored: StoredRun, name: str, samples: Sequence[Sample], primary: str, resamples: int) -> dict[str, Any]:
    good = [sample for sample in samples if sample.error is None]
    means = means_by_question(samples)
    answerable = {id_: bool(question["answerable"]) for id_, question in stored.questions.items()}
    drawn: dict[str, Any] = {"seed": stored.run.seed, "resamples": resamples, "clusters": stored.clusters}
    return {
        "name": name,
        "samples": len(samples),
        "errors": len(samples) - len(good),
        "degraded": sum(sample.degraded for sample in good),
        "abstained": sum(sample.query_type == ABSTAINED for sample in good),
        "metrics": metric_figures(means, METRICS, **drawn),
        "by_hops": group_figures("hops", hops_of, means, stored.questions, **drawn),
        "by_type": group_figures("type", lambda asked: asked["type"] or None, means, stored.questions, **drawn),
        "abstention": _plain(abstention(good, answerable, **drawn)),
        "reliability": _plain(reliability(good, **drawn)),
        "levels": _plain(level_precision(good, clusters=stored.clusters)),
        "repeats": repeats(samples, stored.run.repeat, primary),
        "usage": _usage(good),
        "latency": _latency([sample for sample in good if not sample.cached]),
        "latency_cached": _latency([sample for sample in good if sample.cached]),
    }


def _plain(figures: Any) -> Any:
    """Return figures with their estimates as objects."""
    if isinstance(figures, Estimate):
        return asdict(figures)
    if isinstance(figures, dict):
        return {key: _plain(value) for key, value in figures.items()}
    return [_plain(value) for value in figures] if isinstance(figures, list) else figures


def _usage(samples: Sequence[Sample]) -> dict[str, Any]:
    used = sum((Usage(**sample.usage) for sample in samples), Usage())
    counts = _fields(used, "calls", "input_tokens", "output_tokens", "cost_usd")
    return {**counts, "cached": sum(sample.cached for sample in samples)}


def _latency(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """Return the median and the 95th percentile of each stage in milliseconds; ``total`` is the whole answer."""
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
        **{key: question[key] for key in ("id", "question", "answers", "type", "answerable", "line")},
        "hops": hops_of(question),
        "by_profile": {
            sample.profile: {**_fields(sample, *_ANSWER, "metrics", "error", "judgment"), "level": sample.level or None}
            for sample in samples
        },
    }


_ANSWER = ("answer", "span", "query_type", "confidence")


def _fields(value: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _judge(run: Run, samples: Sequence[Sample]) -> dict[str, Any] | None:
    """Return the figures of the judge, or None for a run without one.

    ``judged`` counts verdicts, ``errors`` counts replies without a verdict. Usage and cost are those of the judge only.
    """
    if run.judge == NO_JUDGE:
        return None
    used = sum((Usage(**sample.judge_usage) for sample in samples), Usage())
    verdicts = [sample.judgment["verdict"] for sample in samples if sample.judgment is not None]
    model, _, rubric = run.judge.partition(" rubric:")
    return {
        "model": model,
        "rubric": rubric,
        "judged": sum(verdict in SCORES for verdict in verdicts),
        "errors": sum(verdict == ERROR for verdict in verdicts),
        "usage": {key: count for key, count in used.to_dict().items() if key != "cost_usd"},
        "cost_usd": used.cost_usd,
    }

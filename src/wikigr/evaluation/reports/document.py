"""The report document: the figures, comparisons, flips and questions of a run as plain values.

Every report format is written from it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np

from wikigr.answer.answer import ABSTAINED
from wikigr.evaluation.abstention import abstention
from wikigr.evaluation.agreement import Label, agreement
from wikigr.evaluation.comparison import Comparison, Flip, compare, flips, means_by_question
from wikigr.evaluation.gate import GateResult
from wikigr.evaluation.groups import Group, group_figures, hops_of, metric_figures, type_of
from wikigr.evaluation.judge import ERROR, NO_JUDGE, SCORES
from wikigr.evaluation.metrics import METRICS, known_metric
from wikigr.evaluation.reliability import level_precision, reliability
from wikigr.evaluation.repeats import repeats
from wikigr.evaluation.risk_coverage import risk_coverage
from wikigr.evaluation.run import NO_MODEL, PROFILES, Run, StoredRun, describe_missing_articles, late_choices
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.intervals import Estimate
from wikigr.llm.usage import Usage

SCHEMA_VERSION = 1


def report_document(
    stored: StoredRun,
    *,
    primary: str | None = None,
    margin: float | None = None,
    resamples: int = 9999,
    labels: Sequence[Label] | None = None,
    gate: GateResult | None = None,
) -> dict[str, Any]:
    """Return the report of a run. The other profiles are compared with the first one.

    ``primary`` and ``margin`` default to those declared for the run; the report says if they were chosen later.
    ``labels`` are human grades to compare the judge with, and ``gate`` is the outcome of a gate. Raises ``UsageError``
    for an unknown metric.

    The same samples and seed give the same bytes, except for ``latency`` and ``latency_cached``.
    """
    primary = stored.run.primary if primary is None else known_metric(primary)
    margin = stored.run.margin if margin is None else margin
    names = [name for name in stored.run.profiles if stored.samples_of(name)]
    others = _comparable_profiles(stored)
    comparisons = [
        compare(
            stored.samples_of(names[0]),
            stored.samples_of(name),
            names=(names[0], name),
            seed=stored.run.seed,
            primary=primary,
            margin=margin,
            clusters=stored.clusters,
        )
        for name in others
    ]
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
                flip_document((stored, stored), flip, (names[0], name))
                for flip in flips(stored.samples_of(names[0]), stored.samples_of(name), primary)
            ]
            for name in others
        },
        "gate": None if gate is None else gate_document(gate),
        "notices": [
            *(f"{choice}." for choice in late_choices(stored.run, primary, margin)),
            *_notices(stored, others),
        ],
        "questions": [_question(stored.questions[id_], first_answers.get(id_, [])) for id_ in sorted(stored.questions)],
    }


def _comparable_profiles(stored: StoredRun) -> list[str]:
    """Return the profiles that share an answered question with the first profile of the run."""
    first, *others = stored.run.profiles
    answered = means_by_question(stored.samples_of(first)).keys()
    return [name for name in others if answered & means_by_question(stored.samples_of(name)).keys()]


def _notices(stored: StoredRun, compared: Sequence[str]) -> list[str]:
    """Return one sentence per problem that makes the figures of a run misleading."""
    found = []
    expected = len(stored.questions) * stored.run.repeat
    for name in stored.run.profiles:
        count = len(stored.samples_of(name))
        if count != expected:
            found.append(f"{name}: the run is incomplete, with {count} of {expected} samples.")
    if stored.run.missing:
        found.append(describe_missing_articles(stored.run.missing))
    if stored.run.leaks:
        found.append(_describe_leaks(stored.run.leaks))
    first, *others = stored.run.profiles
    found += [
        f"{name} is not compared with {first}: they have no answered question in common."
        for name in others
        if name not in compared
    ]
    # A model that may write longer answers is a different arm, even if everything else is equal.
    limits = {name: profile.get("synthesis", {}).get("max_tokens") for name, profile in stored.run.profiles.items()}
    if not stored.run.offline and len(set(limits.values())) > 1:
        each = ", ".join(f"{name} {limit}" for name, limit in limits.items())
        found.append(f"The profiles may write answers of different lengths (tokens: {each}).")
    return found


def _describe_leaks(leaks: Sequence[Mapping[str, Any]]) -> str:
    """Return the notice about few-shot examples that leak gold questions."""
    examples = dict.fromkeys(leak["example"] for leak in leaks)
    named = ", ".join(f"example {leak['example']} (question {leak['question_id']})" for leak in leaks[:3])
    count = "1 few-shot example leaks" if len(examples) == 1 else f"{len(examples)} few-shot examples leak"
    return (
        f"{count} gold questions, and no prompt used them: {named}"
        f"{' and others' if len(leaks) > 3 else ''} (run.json lists them all)."
    )


def gate_document(result: GateResult) -> dict[str, Any]:
    """Return the outcome of a gate as plain values."""
    return {
        "profile": result.profile,
        "passed": result.passed,
        "checks": [
            {"name": check.name, "passed": check.passed, "outcome": check.outcome, "detail": check.detail}
            for check in result.checks
        ],
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


def side_document(stored: StoredRun, profile: str) -> dict[str, Any]:
    """Return what identifies one side of a comparison of two runs; ``created`` is None for runs without a date."""
    run = stored.run
    return {
        "path": str(stored.folder),
        "profile": profile,
        "created": run.created or None,
        "pack": {"name": run.pack["name"], "version": run.pack.get("version"), "digest": run.pack["digest"]},
        "questions": run.questions["count"],
    }


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Return ``values`` with ``None`` instead of NaN, which JSON does not have."""
    return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in values.items()}


def flip_document(runs: tuple[StoredRun, StoredRun], flip: Flip, labels: tuple[str, str]) -> dict[str, Any]:
    """Return a flip with the evidence of both sides and the commands that reproduce them.

    ``runs`` and ``labels`` hold the run and the label of each side.
    """
    question = runs[0].questions.get(flip.question_id, {})
    return {
        "question_id": flip.question_id,
        "question": question.get("question", ""),
        "answers": list(question.get("answers", [])),
        "difference": flip.difference,
        "worse": flip.worse,
        "sides": [
            {
                "label": label,
                "profile": sample.profile,
                "answer": sample.answer,
                "span": sample.span,
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
    """Return the pack as given for the run. Earlier releases stored only the name in its manifest."""
    return str(run.pack.get("path") or run.pack["name"])


def _command(stored: StoredRun, question: str, profile: str) -> str:
    """Return the shell command that asks the question again, with or without a model as in the run."""
    options = ["--pack", _location(stored.run), "--profile", _source(stored, profile)]
    if stored.run.offline or stored.run.models.get(profile) == NO_MODEL:
        options.append("--offline")
    options.append("--explain")
    # A question that begins with a dash would be parsed as an option.
    words = [*options, "--", question] if question.startswith("-") else [question, *options]
    return shlex.join(["wikigr", "ask", *words])


def _source(stored: StoredRun, profile: str) -> str:
    """Return the ``--profile`` value of a profile: as given for the run, else its file in the folder of the run."""
    if profile in stored.run.sources:
        return stored.run.sources[profile]
    file = stored.folder / PROFILES / f"{profile}.yaml"
    # Earlier releases did not store profiles.
    return str(file) if file.is_file() else profile


def _profile(stored: StoredRun, name: str, primary: str, resamples: int) -> dict[str, Any]:
    samples = stored.samples_of(name)
    good = [sample for sample in samples if sample.error is None]
    means = means_by_question(samples)
    clusters = stored.clusters
    seed = stored.run.seed
    groups = partial(group_figures, means, stored.questions, seed=seed, resamples=resamples, clusters=clusters)
    answerable = {id_: bool(question["answerable"]) for id_, question in stored.questions.items()}
    drawn: dict[str, Any] = {"seed": seed, "resamples": resamples, "clusters": clusters}
    ranked = _plain(risk_coverage(good, **drawn))
    if ranked is not None:
        ranked["accuracy"] = [{"coverage": at, **estimate} for at, estimate in ranked["accuracy"].items()]
        ranked["curve"] = [{"coverage": at, "risk": risk} for at, risk in ranked["curve"]]
    scored = _plain(reliability(good, **drawn))
    if scored is not None:
        scored["bins"] = [{"from": each.pop("low"), "to": each.pop("high"), **each} for each in scored["bins"]]
    return {
        "name": name,
        "samples": len(samples),
        "errors": len(samples) - len(good),
        "degraded": sum(sample.degraded for sample in good),
        "abstained": sum(sample.query_type == ABSTAINED for sample in good),
        "metrics": metric_figures(means, METRICS, **drawn),
        "by_hops": [{"hops": group.key, **_without_key(group)} for group in groups(hops_of)],
        "by_type": [{"type": group.key, **_without_key(group)} for group in groups(type_of)],
        "abstention": _plain(abstention(good, answerable, **drawn)),
        "risk_coverage": ranked,
        "reliability": scored,
        "levels": _plain(level_precision(good, clusters=clusters)),
        "repeats": _plain(repeats(samples, stored.run.repeat, primary)),
        "usage": _usage(good),
        "latency": _latency([sample for sample in good if not sample.cached]),
        "latency_cached": _latency([sample for sample in good if sample.cached]),
    }


def _without_key(group: Group) -> dict[str, Any]:
    return {"questions": group.questions, "metrics": group.metrics}


def _plain(value: Any) -> Any:
    """Return ``value`` with plain values instead of the dataclasses in it; an estimate has its interval beside it."""
    if isinstance(value, Estimate):
        interval = value.interval
        return {"value": value.value, "low": interval.low, "high": interval.high, "method": interval.method}
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


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
        "id": question["id"],
        "question": question["question"],
        "answers": list(question["answers"]),
        "type": question["type"],
        "hops": hops_of(question),
        "answerable": question["answerable"],
        "line": question["line"],
        "by_profile": {
            sample.profile: {
                "answer": sample.answer,
                "span": sample.span,
                "query_type": sample.query_type,
                "level": sample.level or None,
                "confidence": sample.confidence,
                "metrics": dict(sample.metrics),
                "error": sample.error,
                "judgment": sample.judgment,
            }
            for sample in samples
        },
    }


def judge_document(run: Run, samples: Sequence[Sample], labels: Sequence[Label] | None = None) -> dict[str, Any] | None:
    """Return the figures of the judge, or ``None`` for a run without one.

    ``judged`` counts verdicts, ``errors`` counts replies without a verdict. ``agreement`` is ``None`` without
    ``labels``, and the figures are ``advisory`` unless it contains a kappa. Usage and cost are those of the judge only.
    """
    if run.judge == NO_JUDGE:
        return None
    agreed = None if labels is None else agreement(samples, labels, seed=run.seed)
    used = sum((Usage(**sample.judge_usage) for sample in samples), Usage())
    verdicts = [sample.judgment["verdict"] for sample in samples if sample.judgment is not None]
    model, _, rubric = run.judge.partition(" rubric:")
    return {
        "model": model,
        "rubric": rubric,
        "judged": sum(verdict in SCORES for verdict in verdicts),
        "errors": sum(verdict == ERROR for verdict in verdicts),
        "usage": {
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_tokens": used.cache_read_tokens,
            "cache_write_tokens": used.cache_write_tokens,
        },
        "cost_usd": used.cost_usd,
        "agreement": agreed,
        "advisory": agreed is None or agreed["kappa"] is None,
    }

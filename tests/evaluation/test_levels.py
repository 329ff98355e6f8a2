"""The share of the answers of each level that are right."""

from __future__ import annotations

from dataclasses import replace

from tests.evaluation.answers import sample

from wikigr.evaluation.levels import level_precision
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics.wilson import wilson_interval


def answered(question: str, level: str, right: float, **fields: object) -> Sample:
    return replace(sample(question, 0.5, right), level=level, **fields)  # type: ignore[arg-type]


def test_each_level_has_its_number_and_its_share() -> None:
    rows = [answered(f"s{n}", "sure", float(n > 0)) for n in range(4)] + [answered("n", "not_sure", 0.0)]
    found = level_precision(rows)
    assert found is not None
    sure, likely, not_sure = found
    assert (sure.level, sure.answers, sure.precision and sure.precision.value) == ("sure", 4, 0.75)
    assert sure.precision is not None and sure.precision.interval == wilson_interval(0.75, 4)
    assert (likely.level, likely.answers, likely.precision) == ("likely", 0, None)
    assert (not_sure.level, not_sure.answers, not_sure.precision and not_sure.precision.value) == ("not_sure", 1, 0.0)


def test_what_is_no_answer_does_not_count() -> None:
    good = answered("a", "sure", 1.0)
    left_out = [
        replace(good, query_type="abstained", level="not_covered"),
        replace(good, query_type="own_knowledge", level="not_covered", metrics={"accuracy": 0.0}),
        replace(good, error="failed"),
        replace(good, metrics={}),
    ]
    assert level_precision([good, *left_out]) == level_precision([good])
    # A run of an older version.
    assert level_precision([replace(good, level="")]) is None
    assert level_precision([]) is None


def test_repeats_and_clusters_are_one_trial() -> None:
    once = level_precision([answered("a", "sure", 1.0), answered("b", "sure", 0.0)])
    rows = [
        answered(question, "sure", right, repeat=r) for question, right in (("a", 1.0), ("b", 0.0)) for r in range(3)
    ]
    many = level_precision(rows)
    assert once is not None and many is not None
    assert (once[0].answers, many[0].answers) == (2, 6)
    assert many[0].precision == once[0].precision
    joined = level_precision(rows, clusters={"a": "x", "b": "x"})
    assert joined is not None and joined[0].precision is not None
    assert joined[0].precision.interval == wilson_interval(0.5, 1)

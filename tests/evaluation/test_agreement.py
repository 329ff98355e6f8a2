from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wikigr.errors import UsageError
from wikigr.evaluation.agreement import Label, agreement, cohens_kappa, read_labels
from wikigr.evaluation.reports.document import judge_document
from wikigr.evaluation.run import Run
from wikigr.evaluation.samples import Sample


def test_kappa_worked_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    assert cohens_kappa(second, first) == pytest.approx(0.4)
    assert cohens_kappa(first, first) == 1.0
    assert cohens_kappa([0, 1, 0, 1], [0, 0, 1, 1]) == 0.0
    assert cohens_kappa([0, 1], [1, 0]) == -1.0
    assert math.isnan(cohens_kappa(["yes", "yes"], ["yes", "yes"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_kappa_agrees_with_statsmodels(pairs: list[tuple[int, int]]) -> None:
    from statsmodels.stats import inter_rater

    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    assume(len(set(first + second)) > 1)
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    assert cohens_kappa(first, second) == pytest.approx(inter_rater.cohens_kappa(table, return_results=False))


def test_kappa_needs_labels_of_equal_number() -> None:
    for labels in ([], ["yes", "no"]):
        with pytest.raises(ValueError, match="labels do not pair"):
            cohens_kappa(labels, labels[:1])


def run(judge: str = "claude-opus-4-6 rubric:abc", seed: int = 0) -> Run:
    return Run({}, {}, {}, {}, seed, 1, False, judge=judge)


def graded(*pairs: tuple[str, str]) -> tuple[list[Sample], list[Label]]:
    """Samples with the judge's verdicts, and labels for them."""
    found = [Sample("a", f"q{n}", 0, judgment={"verdict": one}) for n, (one, _) in enumerate(pairs)]
    return found, [Label(f"q{n}", "a", 0, other) for n, (_, other) in enumerate(pairs)]


def test_agreement_is_cohens_kappa_over_what_both_graded() -> None:
    pairs = [("correct", "correct")] * 20 + [("incorrect", "incorrect")] * 12 + [("partly", "correct")] * 4
    pairs += [("incorrect", "partly")] * 4 + [("error", "correct")] * 3
    found, labels = graded(*pairs)
    agreed = agreement(found, [*labels, Label("q0", "other", 0, "correct")], seed=3)
    good = [pair for pair in pairs if pair[0] != "error"]
    kappa = cohens_kappa([one for one, _ in good], [other for _, other in good])
    assert (agreed["items"], agreed["kappa"]) == (40, kappa)
    low, high = agreed["interval"]
    assert 0.3 < low < kappa < high < 1.0
    assert agreed == agreement(found, labels, seed=3)
    assert agreement(found, labels, seed=4)["interval"] != agreed["interval"]


def test_agreement_that_is_not_defined_leaves_the_figures_advisory() -> None:
    for pairs in ([], [("correct", "correct")] * 5, [("error", "correct")]):
        found, labels = graded(*pairs)
        document = judge_document(run(), found, labels)
        assert document is not None and document["agreement"]["kappa"] is None and document["advisory"]
    # Agreement without a flaw has no spread to draw an interval from.
    found, labels = graded(("correct", "correct"), ("partly", "partly"), ("incorrect", "incorrect"))
    document = judge_document(run(), found, labels)
    assert document is not None and (document["agreement"]["kappa"], document["advisory"]) == (1.0, False)


def test_the_document_counts_and_adds_up() -> None:
    used = {"calls": 1, "input_tokens": 100, "output_tokens": 10, "cost_usd": 0.25}
    found = [Sample("a", f"q{n}", 0, judgment={"verdict": "correct"}, judge_usage=used) for n in range(3)]
    document = judge_document(run(), [*found, Sample("a", "q9", 0, error="down", usage=used)])
    assert document is not None
    assert (document["model"], document["rubric"], document["judged"]) == ("claude-opus-4-6", "abc", 3)
    assert (document["usage"]["input_tokens"], document["cost_usd"]) == (300, 0.75)
    assert (document["agreement"], document["advisory"]) == (None, True)
    assert judge_document(run("none"), found) is None


GOOD = {"question_id": "q1", "profile": "a", "label": "partly"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "invalid JSON"),
        ("[]", "must be an object"),
        (json.dumps({**GOOD, "question_id": "q9"}), "no question 'q9'"),
        (json.dumps({**GOOD, "profile": "b"}), "no profile 'b'"),
        (json.dumps({**GOOD, "repeat": 2}), "no repeat 2"),
        (json.dumps({**GOOD, "repeat": True}), "repeat"),
        (json.dumps({**GOOD, "label": "good"}), "'good' is not a label"),
        (json.dumps({**GOOD, "label": None}), "`label` must be a valid string"),
        (json.dumps({**GOOD, "lable": "partly"}), "no key `lable`"),
        (json.dumps(GOOD), "label on line 1"),
    ],
)
def test_a_mistake_in_the_labels_is_named_with_its_line(tmp_path: Path, line: str, says: str) -> None:
    read: Callable[..., list[Label]] = lambda: read_labels(  # noqa: E731
        tmp_path / "labels.jsonl", questions={"q1"}, profiles={"a"}, repeats=2
    )
    good = json.dumps(GOOD) + "\n" + json.dumps({**GOOD, "repeat": 1}) + "\n"
    (tmp_path / "labels.jsonl").write_text(good)
    assert read() == [Label("q1", "a", 0, "partly"), Label("q1", "a", 1, "partly")]
    (tmp_path / "labels.jsonl").write_text(good + line + "\n")
    with pytest.raises(UsageError) as refused:
        read()
    assert "labels.jsonl, line 3" in refused.value.message and says in refused.value.message


def test_labels_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read the labels"):
        read_labels(tmp_path / "none.jsonl", questions=(), profiles=(), repeats=1)

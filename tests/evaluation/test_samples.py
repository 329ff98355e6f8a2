from __future__ import annotations

import json
from pathlib import Path

import pytest

from wikigr.errors import WikigrError
from wikigr.evaluation.samples import SAMPLES, Sample, SampleStore, lock_run, read_samples, write_line


def test_what_is_appended_is_read_and_the_last_of_a_key_counts(tmp_path: Path) -> None:
    store = SampleStore(tmp_path)
    span = {"text": "Tübingen", "section_id": "a#0", "start": 3, "end": 11}
    good = Sample(
        "p", "q", 0, answer="Tübingen", span=span, metrics={"accuracy": 1.0, "mrr": float("nan")}, warnings=("w",)
    )
    store.append(Sample("p", "q", 0, error="down"))
    store.append(good)
    store.append(Sample("a", "q", 0))
    store.close()
    found = read_samples(tmp_path)
    assert [sample.profile for sample in found] == ["a", "p"]
    assert (found[1].answer, found[1].metrics, found[1].error) == ("Tübingen", {"accuracy": 1.0}, None)
    assert (found[0].span, found[1].span) == (None, span)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_costs_only_itself(tmp_path: Path, cut: int) -> None:
    store = SampleStore(tmp_path)
    for n in range(3):
        store.append(Sample("p", f"q{n}", 0, answer="ä"))
    store.close()
    path = tmp_path / SAMPLES
    path.write_bytes(path.read_bytes()[:-cut])
    assert [sample.question_id for sample in read_samples(tmp_path)] == ["q0", "q1"]
    again = SampleStore(tmp_path)
    again.append(Sample("p", "q2", 0))
    again.close()
    assert [sample.question_id for sample in read_samples(tmp_path)] == ["q0", "q1", "q2"]


def test_a_line_torn_within_a_character_costs_only_itself(tmp_path: Path) -> None:
    store = SampleStore(tmp_path)
    for n in range(2):
        store.append(Sample("p", f"q{n}", 0, answer="ä"))
    store.close()
    path = tmp_path / SAMPLES
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex("ä".encode()) + 1])
    assert [sample.question_id for sample in read_samples(tmp_path)] == ["q0"]


@pytest.mark.parametrize(
    "fields",
    [
        {"metrics": {"accuracy": "x"}},
        {"metrics": {"accuracy": float("inf")}},
        {"metrics": {"accuracy": -0.1}},
        {"confidence": float("nan")},
        {"ranking": [{"section_id": "a#0", "score": float("inf")}]},
        {"ranking": [{"score": 0.5}]},
        {"citations": ["x"]},
        {"timings": {"total_ms": "x"}},
        {"repeat": "0"},
        {"span": {"section_id": "a#0", "start": 0, "end": 4}},
        {"usage": {"tokens": 3}},
    ],
)
def test_a_field_of_another_type_is_named(tmp_path: Path, fields: dict[str, object]) -> None:
    whole = json.loads(write_line(Sample("p", "q", 0, metrics={"accuracy": 1.0})))
    (tmp_path / SAMPLES).write_text(json.dumps(whole | fields) + "\n")
    with pytest.raises(WikigrError, match="Line 1"):
        read_samples(tmp_path)


@pytest.mark.parametrize(
    "line", ["{", "[]", "3", '{"profile": "p"}', '{"profile": "p", "question_id": 3, "repeat": 0}']
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / SAMPLES).write_text(write_line(Sample("p", "q", 0)) + line + "\n")
    with pytest.raises(WikigrError, match="Line 2"):
        read_samples(tmp_path)


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with lock_run(tmp_path), pytest.raises(WikigrError, match="Another evaluation"), lock_run(tmp_path):
        pass
    with lock_run(tmp_path):
        pass

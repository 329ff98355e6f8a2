from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wikigr.errors import UsageError
from wikigr.evaluation.questions import Gold, GoldQuestion, load_questions, question_set_hash

ROOT = Path(__file__).parents[2]
PUBLIC = ROOT.parent / "shared" / "data"

LINE: dict[str, Any] = {
    "id": "q1",
    "question": "Where was Planck born?",
    "answers": ["Kiel"],
    "gold": [{"title": "Max Planck", "section": "Life"}],
    "answerable": True,
    "type": "single",
    "split": "dev",
}
UNANSWERABLE = {"id": "q9", "question": "Who?", "answers": [], "gold": [], "answerable": False, "split": "test"}


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in LINE.items() if k != key}


def test_a_line_of_the_project(tmp_path: Path) -> None:
    line = {**LINE, "cluster": "planck", "gold": [*LINE["gold"], {"title": "Kiel", "source_id": "kiel.md"}], "x": 1}
    path = write(tmp_path / "q.jsonl", line, "", UNANSWERABLE)
    gold = (Gold("Max Planck", "Life"), Gold("Kiel", None, "kiel.md"))
    assert load_questions(path) == [
        GoldQuestion("q1", "Where was Planck born?", ("Kiel",), gold, True, "single", "dev", "planck", 1, hops=1),
        GoldQuestion("q9", "Who?", (), (), False, "", "test", None, 3),
    ]


@pytest.mark.parametrize(
    ("fields", "hops"),
    [
        ({"type": "single"}, 1),
        ({"type": "two-hop"}, 2),
        ({"type": "Three hops"}, 3),
        ({"type": "4hop"}, 4),
        ({"type": "comparison"}, None),
        # Numbers of classes, and words that only begin or end like a number of hops.
        ({"type": "2"}, None),
        ({"type": "two"}, None),
        ({"type": "0-hop"}, None),
        ({"type": "single-document"}, None),
        ({"type": "comparison", "hops": 2}, 2),
        ({"type": "two-hop", "hops": 3}, 3),
    ],
)
def test_hops(tmp_path: Path, fields: dict[str, Any], hops: int | None) -> None:
    (question,) = load_questions(write(tmp_path / "q.jsonl", {**LINE, **fields}))
    assert question.hops == hops


def test_lines_of_a_public_set(tmp_path: Path) -> None:
    common = {"question": "Which?", "gold_ids": ["p1", "p2"], "gold_titles": ["A", "B"]}
    path = write(
        tmp_path / "q.jsonl",
        {"id": 7, "answers": ["x", "x", "y"], **common},
        {"id": "b", "answers": [], "is_impossible": True, **common},
        {"id": "c", "answers": ["plausible"], "is_impossible": True, **common, "gold_ids": None},
        {"id": "d", "answers": ["x"], "is_impossible": False, **common, "gold_ids": [None, "p2"]},
    )
    first, second, third, fourth = load_questions(path)
    assert (first.id, first.answers, first.answerable) == ("7", ("x", "y"), True)
    assert first.gold == second.gold == (Gold("A", None, "p1"), Gold("B", None, "p2"))
    assert not second.answerable
    assert (third.answers, third.gold) == ((), (Gold("A"), Gold("B")))
    assert fourth.gold == (Gold("A"), Gold("B", None, "p2"))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "questions"
    path.write_bytes(compress(json.dumps(LINE).encode()))
    assert [question.id for question in load_questions(path)] == ["q1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": ', "invalid JSON"),
        ("[1]", "must be an object"),
        ({**LINE, "hops": 0}, "`hops` must be greater than or equal to 1"),
        (without("id"), "`id`: field required"),
        ({**LINE, "id": [1]}, "`id` must be a valid string"),
        ({**LINE, "question": " "}, "`question` must have at least 1 character"),
        ({**LINE, "question": "Who? " * 5_000}, "the question has 24,999 characters, more than 20,000"),
        ({**LINE, "question": "\u200b"}, "the question is empty"),
        (without("answers"), "no answers"),
        ({**LINE, "answers": "Kiel"}, "`answers` must be a valid array"),
        (without("gold"), "no gold article"),
        ({**LINE, "gold": [{"section": "Life"}]}, r"`gold\[0\].title`: field required"),
        ({**LINE, "gold": [{"title": "Kiel", "section": 1}]}, r"`gold\[0\].section` must be a valid string"),
        ({**LINE, "gold_titles": ["Kiel"]}, "give one of them"),
        ({**LINE, "answerable": "yes"}, "`answerable` must be a valid boolean"),
        ({**LINE, "answerable": False}, "not `answerable`, but has `answers`"),
        ({**LINE, "is_impossible": True}, "contradict"),
        ({**without("gold"), "gold_titles": ["A", "B"], "gold_ids": ["p1"]}, "2 `gold_titles` for 1 `gold_ids`"),
        ({**without("gold"), "gold_ids": ["p1"]}, "0 `gold_titles` for 1 `gold_ids`"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, line: object, message: str) -> None:
    path = write(tmp_path / "q.jsonl", {**LINE, "id": "good"}, "", line)
    with pytest.raises(UsageError, match=rf"q\.jsonl, line 3: .*{message}"):
        load_questions(path)


def test_an_id_that_occurs_twice_names_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", LINE, UNANSWERABLE, {**LINE, "split": "test"})
    with pytest.raises(UsageError, match=r"q\.jsonl: the id 'q1' is used twice, on line 1 and on line 3"):
        load_questions(path, split="dev")


def test_splits(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", LINE, UNANSWERABLE)
    assert [question.id for question in load_questions(path, split="test")] == ["q9"]
    with pytest.raises(UsageError, match="no questions of the split 'train': its splits are dev, test"):
        load_questions(path, split="train")
    with pytest.raises(UsageError, match="none of its questions names a split"):
        load_questions(write(tmp_path / "r.jsonl", without("split")), split="dev")


@pytest.mark.parametrize(("name", "answerable"), [("hotpotqa", 897), ("squad2", 3936)])
def test_public_sets(name: str, answerable: int) -> None:
    path = PUBLIC / name / "queries.jsonl.xz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    questions = load_questions(path)
    assert sum(question.answerable for question in questions) == answerable
    assert all(question.gold for question in questions if question.answerable)
    assert all(gold.source_id for question in questions for gold in question.gold)


QUESTION = GoldQuestion(
    "q1", "Where was Planck born?", ("Kiel", "Holstein"), (Gold("A"), Gold("B")), True, "", "", "", 1
)
OTHER = replace(QUESTION, id="q2", question="When was Planck born?")


def test_the_hash_does_not_depend_on_order_or_place() -> None:
    turned = replace(QUESTION, answers=QUESTION.answers[::-1], gold=QUESTION.gold[::-1], line=7)
    assert question_set_hash([QUESTION, OTHER]) == question_set_hash([OTHER, turned])
    assert question_set_hash([replace(QUESTION, hops=2)]) == question_set_hash([QUESTION])
    assert len(question_set_hash([])) == 64


def test_the_hash_depends_on_all_that_is_said() -> None:
    cases: list[dict[str, Any]] = [
        {"id": "q3"},
        {"question": "Where was Planck born"},
        {"answers": ("Kiel",)},
        {"answers": ("Kiel", "Holstein", "Germany")},
        {"gold": (Gold("A"), Gold("B", "Life"))},
        {"gold": (Gold("A"), Gold("B", None, "Life"))},
        {"answerable": False},
        {"type": "single"},
        {"split": "dev"},
        {"cluster": "c"},
    ]
    assert [
        change
        for change in cases
        if question_set_hash([replace(QUESTION, **change), OTHER]) == question_set_hash([QUESTION, OTHER])
    ] == []

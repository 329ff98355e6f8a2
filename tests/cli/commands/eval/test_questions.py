"""``wikigr eval validate``."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ...conftest import ROOT_PACK, Wikigr


def test_validate_names_what_is_wrong_with_questions(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    row = {"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Nowhere"}],
           "answerable": True, "type": "single", "split": "dev"}  # fmt: skip
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": "b"}) + "\n")
    result = wikigr("eval", "validate", "q.jsonl", "--pack", str(physics_pack))
    assert result.code == 1
    assert "q.jsonl:2: asks the same as 'a'" in result.out
    assert "no article 'Nowhere'" in result.out


def test_validate_names_every_mistake_of_form(wikigr: Wikigr, tmp_path: Path) -> None:
    row = {"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Spin"}], "split": "dev"}
    lines = [json.dumps({**row, "answers": []}), "{", json.dumps(row), json.dumps({**row, "question": "Who?"})]
    (tmp_path / "q.jsonl").write_text("\n".join([*lines, json.dumps({**row, "id": "b"})]))
    for options in ((), ("--split", "dev"), ("--split", "test")):
        result = wikigr("eval", "validate", "q.jsonl", "--json", *options)
        document = json.loads(result.out)
        assert (result.code, result.err) == (1, "")
        found = [(p["line"], p["kind"], p["question_id"]) for p in document["problems"]]
        assert found[:3] == [(1, "form", ""), (2, "form", ""), (4, "form", "a")]
        assert found[3:] == ([] if "test" in options else [(5, "duplicate", "b")])
        assert document["questions"] == (0 if "test" in options else 2)
    text = wikigr("eval", "validate", "q.jsonl")
    told = text.out.splitlines()
    assert (text.code, text.err, told[-1]) == (1, "", "2 questions, 4 problems")
    assert told[0].startswith("q.jsonl:1: the question is answerable, but has no answers")
    assert told[1].startswith("q.jsonl:2: invalid JSON")
    assert told[2] == "q.jsonl:4: the id 'a' is used twice, on line 3 and on line 4"


def test_validate_warns_of_answers_in_the_wrong_place(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    row = {"id": "a", "question": "Is Kiel a town?", "answers": ["Kiel", "Ghent"], "gold": [{"title": "Max Planck"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    result = wikigr("eval", "validate", "q.jsonl", "--pack", str(physics_pack))
    assert (result.code, result.out.splitlines()) == (
        0,
        [
            "q.jsonl:1: warning: the question contains its answer 'Kiel'",
            "q.jsonl:1: warning: no gold location contains the accepted answer 'Ghent'",
            "1 question, 0 problems, 2 warnings",
        ],
    )
    document = json.loads(wikigr("eval", "validate", "q.jsonl", "--json").out)
    assert (document["problems"], [warning["kind"] for warning in document["warnings"]]) == ([], ["answer-in-question"])


def test_the_questions_of_the_demo_pack_are_valid(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Regression: an unanswerable question that the pack answers wrongly was a problem, and set exit code 1."""
    wrong = SimpleNamespace(abstained=False, text="Wrong.")
    monkeypatch.setattr("wikigr.pipeline.pipeline.Pipeline.answer", lambda *_: wrong)
    # tests/packs checks the others.
    for name, step, questions, unanswerable in (("questions", 8, 13, 2), ("composed", 3, 10, 0)):
        lines = (ROOT_PACK / "eval" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "some.jsonl").write_text("".join(lines[::step]), encoding="utf-8")
        result = wikigr("eval", "validate", "some.jsonl", "--pack", str(physics_pack), "--json")
        document = json.loads(result.out)
        assert (result.code, document["questions"], document["problems"]) == (0, questions, [])
        # What the pack answers wrongly is listed for a reader all the same.
        assert [warning["kind"] for warning in document["warnings"]] == ["answered"] * unanswerable


def test_validate_of_clean_questions_says_so_on_stdout(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(
        '{"id": "a", "question": "What is spin?", "answers": ["x"], "gold": [{"title": "Spin"}]}'
    )
    result = wikigr("-q", "eval", "validate", "q.jsonl")
    assert (result.code, result.out, result.err) == (0, "1 question, 0 problems\n", "")
    split = wikigr("eval", "validate", "q.jsonl", "--split", "dev")
    assert (split.code, "names a split" in split.err) == (2, True)

"""The questions of the bench eval/real agree with the sources that are shipped, and its runner judges what it says."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from eval.real import __main__ as bench
from eval.real import packs
from eval.real.packs import SOURCES, BenchSource
from eval.real.questions import NOT_COVERED, BenchQuestion, find_mistakes, load_questions
from eval.real.scores import Outcome, calibration_error, judge, score
from wikigr.answer.answer import ABSTAINED, EXTRACTIVE, Answer, PossibleAnswer
from wikigr.answer.citations import StoredText
from wikigr.answer.probability import Level
from wikigr.retrieval.trace import Trace

QUESTIONS = [question for source in SOURCES for question in load_questions(source)]
README = (packs.HERE / "README.md").read_text(encoding="utf-8")
SHIPPED = [source for source in SOURCES if source.is_shipped]


@pytest.fixture
def fern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BenchSource:
    """Return a source of one note with two questions."""
    note = tmp_path / "fern.md"
    note.write_text("# Fern\n\nThe fern house is opened by Tobias Wren every Monday.\n", encoding="utf-8")
    monkeypatch.setattr(packs, "HERE", tmp_path)
    source = BenchSource("fern", note)
    source.questions.parent.mkdir()
    write(
        source,
        {
            "id": "1",
            "kind": "person",
            "question": "Who opens the fern house?",
            "gold": "Wren",
            "quotes": ["Tobias Wren"],
        },
        {"id": "2", "kind": NOT_COVERED, "question": "Who won the cup?", "gold": None, "quotes": []},
    )
    return source


def write(source: BenchSource, *lines: dict[str, object]) -> None:
    source.questions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def question(gold: str | None) -> BenchQuestion:
    return BenchQuestion("q", "fern", "person" if gold else NOT_COVERED, "Who?", gold, ("quote",) if gold else ())


def answer(text: str, *, short: str = "", confidence: float = 0.5, kind: str = EXTRACTIVE) -> Answer:
    span = StoredText(short, "Fern#0", 0, len(short)) if short else None
    return Answer(question="Who?", text=text, query_type=kind, confidence=confidence, trace=Trace(), span=span)


def test_quotes_are_in_the_shipped_sources_and_match_the_gold() -> None:
    assert [mistake for source in SHIPPED for mistake in find_mistakes(source)] == []


def test_the_bench_is_as_large_and_as_varied_as_its_readme_says() -> None:
    assert len(QUESTIONS) >= 300
    assert len(SOURCES) >= 10
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({" ".join(question.question.casefold().split()) for question in QUESTIONS}) == len(QUESTIONS)
    for source in SOURCES:
        questions = load_questions(source)
        unanswerable = sum(question.gold is None for question in questions)
        assert 1 / 6 <= unanswerable / len(questions) <= 1 / 4, source.name
        assert f"| `{source.name}` | {len(questions)} | {unanswerable} |" in README, source.name
    assert f"{len(QUESTIONS)} questions on seventeen sources" in README
    rare = [kind for kind, count in Counter(question.kind for question in QUESTIONS).items() if count < 5]
    assert rare == []


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({"quotes": ["Tobias Finch"], "gold": "Finch"}, "does not contain 'Tobias Finch'"),
        ({"gold": "Monday"}, "the gold does not match the quotes"),
        ({"gold": None}, "needs gold and quotes"),
        ({"question": "Does Wren open it?"}, "the gold matches the question"),
    ],
)
def test_mistakes_in_questions_are_found(fern: BenchSource, change: dict[str, object], mistake: str) -> None:
    assert find_mistakes(fern) == []
    first = json.loads(fern.questions.read_text(encoding="utf-8").splitlines()[0])
    write(fern, {**first, **change})
    (found, *_) = find_mistakes(fern)
    assert found.startswith("1: ")
    assert mistake in found


def test_the_short_answer_and_the_text_are_judged_and_an_abstention_is_not() -> None:
    assert judge(question("wren"), answer("He does. [1]", short="Tobias Wren")).right
    assert judge(question("wren"), answer("Tobias Wren does. [1]")).right
    assert not judge(question(r"\[1\]"), answer("Tobias Wren does. [1]")).right
    assert not judge(question(None), answer("Tobias Wren does. [1]")).right
    declined = judge(question("wren"), answer("Not covered: wren", kind=ABSTAINED))
    assert declined.declined
    assert not declined.right
    levels: tuple[Level, ...] = ("sure", "likely", "not_sure")
    assert [judge(question("x"), replace(answer("x"), level=level)).is_sure for level in levels] == [True, False, False]


def test_surroundings_and_alternatives_count_as_near() -> None:
    around = [StoredText(text, "Fern#0", 0, len(text)) for text in ("The fern house.", "Opened by Wren on Mondays.")]
    alternative = PossibleAnswer(text="Tobias does. [1]", confidence=0.2, context=around[1])
    rich = replace(answer("Nobody does."), level="likely", context=around[0], alternatives=(alternative,))
    for gold in ("wren", "fern house", "tobias"):
        outcome = judge(question(gold), rich)
        assert (outcome.right, outcome.near, outcome.is_sure) == (False, True, False)
    assert not judge(question("finch"), rich).near


def test_shares_are_of_what_their_names_say() -> None:
    right = Outcome(question("a"), printed="a", right=True, near=True, confidence=0.9, is_sure=True)
    near = Outcome(question("a"), printed="b", near=True, confidence=0.4)
    wrong = Outcome(question(None), printed="b", confidence=0.9, is_sure=True)
    declined = Outcome(question(None), declined=True)
    unasked = Outcome(question("a"))
    found = score([right, right, near, wrong, declined, unasked])
    assert (found.answerable, found.unanswerable, found.sure_answers) == (4, 2, 3)
    assert (found.right, found.near, found.sure, found.not_covered) == (0.5, 0.75, 2 / 3, 0.5)
    assert score([]).right is None
    assert calibration_error([declined, unasked]) is None
    assert calibration_error([replace(right, confidence=1.0), unasked]) == 0.0


def test_a_pack_is_built_once_asked_and_rebuilt_when_the_source_changes(
    fern: BenchSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "SOURCES", (fern, BenchSource("moss", tmp_path / "missing", "moss-doc")))
    run = ["--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "bench.json")]

    assert bench.main([*run, "--min", "right=1", "--min", "not_covered=1"]) == 0
    printed = capsys.readouterr()
    assert "moss is skipped: apt-get install moss-doc" in printed.err
    assert "fern                       2  100.0%  100.0%" in printed.out
    document = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert document["all"]["right"] == 1.0
    assert [outcome["declined"] for outcome in document["outcomes"]] == [False, True]

    manifest = tmp_path / "cache" / "fern" / "manifest.json"
    before = manifest.stat().st_mtime_ns
    assert bench.main(run) == 0
    assert manifest.stat().st_mtime_ns == before
    fern.location.write_text("# Fern\n\nThe fern house is opened by nobody.\n", encoding="utf-8")
    assert bench.main([*run, "--min", "right=0.5"]) == 1
    assert manifest.stat().st_mtime_ns > before
    assert "'right' is 0.000, below the floor of 0.5" in capsys.readouterr().err


def test_questions_on_a_source_that_cannot_be_read_count_as_not_answered(
    fern: BenchSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no JSON\n", encoding="utf-8")
    monkeypatch.setattr(bench, "SOURCES", (BenchSource("fern", broken),))
    assert bench.main(["--cache", str(tmp_path / "cache"), "--min", "right=0.1"]) == 1
    printed = capsys.readouterr()
    assert "fern: no pack" in printed.err
    assert "0 of 1" in printed.out

"""The questions of ``asked`` that answers are judged by, and the thresholds that are fitted on them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.answers.asked import OwnQuestion, asked_sources
from training.answers.collect import JudgedAnswers, collect
from training.answers.fit import cross_fit, highest_with_share, lowest_above_share, lowest_with_share, make_rows
from training.answers.questions import QuestionSource
from wikigr.answer.probability import Features, terms
from wikigr.pack.open import Pack


def asked(kind: str, *accepted: str, evidence: str = "") -> OwnQuestion:
    return OwnQuestion("?", accepted=accepted, kind=kind, evidence=evidence)


EVIDENCE = "The ferry does not run on Sundays in winter"
CASES: list[tuple[OwnQuestion, str, str, bool]] = [
    (asked("number", "14"), "The pier has 14 posts.", "", True),
    (asked("number", "14"), "The pier has 141 posts.", "", False),
    (asked("number", "14"), f"14 posts. {'Further text. ' * 20}", "", False),
    (asked("number", "14"), f"14 posts. {'Further text. ' * 20}", "14 posts", True),
    (asked("howto", "pull the lever"), f"First pull  the\nlever. {'Further text. ' * 20}", "", True),
    (asked("howto", "pull the lever"), f"First pull the lever. {'Further text. ' * 80}", "", False),
    (asked("option", "--dry-run"), "Use `--dry-run` [1].", "", True),
    (asked("list", "oars", "rope", "bell"), "| oars | rope |", "", False),
    (asked("list", "oars", "rope", "bell"), "- oars\n- rope\n- bell", "", True),
    (asked("list", "oars", "rope", "bell", "flag"), "- oars\n- rope\n- bell", "", True),
    (asked("yesno", "no", evidence=EVIDENCE), "No: it stays in the harbor.", "", True),
    (asked("yesno", "no", evidence=EVIDENCE), f"Yes. {EVIDENCE}.", "", False),
    (asked("yesno", "no", evidence=EVIDENCE), f"{EVIDENCE}, only then.", "", True),
    (asked("yesno", "no", evidence=EVIDENCE), "The ferry runs.", "", False),
    (asked("unanswerable"), "The pier has 14 posts.", "", False),
]


@pytest.mark.parametrize(("question", "text", "short", "is_right"), CASES)
def test_what_counts_as_right(question: OwnQuestion, text: str, short: str, is_right: bool) -> None:
    assert question.is_right(text, short) is is_right


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Return a collection of three manuals, one of which is put aside, and a desk."""
    rows = [
        {"page": "a.html", "question": "How wide is the lock?", "kind": "number", "answer": "9 m", "evidence": "9 m"},
        {"page": "a.html", "question": "Who paid for the lock?", "kind": "unanswerable", "answer": None},
    ]
    sections = [
        {"heading": "Harbor › Lock", "text": "The lock is 9 m wide.\n# not a heading"},
        {"heading": "", "text": "The harbor was dug in 1911."},
    ]
    for name in ("harbor", "kiln", "mill"):
        questions = tmp_path / "questions" / f"{name}.jsonl"
        questions.parent.mkdir(exist_ok=True)
        questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        pages = [
            {"page": page, "title": f"{name} {page}", "sections": sections} for page in ("a.html", "b.html", "a.html")
        ]
        stored = tmp_path / "pages" / f"{name}.jsonl.xz"
        stored.parent.mkdir(exist_ok=True)
        with lzma.open(stored, "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(page) + "\n" for page in pages)
    documentation = {name: {"package": f"{name}-doc", "folder": "/usr/share/html"} for name in ("harbor", "kiln")}
    (tmp_path / "sources.json").write_text(json.dumps(documentation), encoding="utf-8")
    page = tmp_path / "packages" / "kiln-doc" / "usr" / "share" / "html" / "a.html"
    page.parent.mkdir(parents=True)
    page.write_text("<title>A whole page</title><p>The lock is 9 m wide.<p>It leaks.", encoding="utf-8")
    desk = [{"file": "list.md", "question": "Who opens?", "kind": "who", "answer": "Ada", "evidence": "Ada opens"}]
    _write_rows(tmp_path / "desk" / "shop" / "questions.jsonl", desk)
    (tmp_path / "desk" / "shop" / "list.md").write_text("# List\n\nAda opens the shop at nine.\n", encoding="utf-8")
    return tmp_path


def test_a_source_is_a_pack_of_what_is_asked_about(collection: Path, tmp_path: Path) -> None:
    folders = (collection, collection / "pages", collection / "packages", tmp_path / "work")
    every = {s.name: s for s in asked_sources(*folders, 7, aside=False)}
    kept = {s.name for s in asked_sources(*folders, 7, aside=True)}
    assert every.keys() == {"manual-harbor", "manual-kiln", "manual-mill", "desk-shop"}
    assert len(kept & {"manual-harbor", "manual-kiln", "manual-mill"}) == 2, "a third is never read"
    source = every["manual-mill"]
    assert sorted(question.covered for question in source.questions) == [False, True]
    assert _titles(source) == ["mill a.html"]
    with Pack(source.build()) as pack:
        assert pack.text_of("mill a.html").count("9 m wide") == 2, "all excerpts of a page are one article"
    judged = list(collect(source, reader=False, seed=7))
    assert sorted((item.covered, item.removed) for item in judged) == [(False, False), (True, False)]
    (answered,) = [item for item in judged if item.covered]
    assert any(answered.right) and not all(answered.right)
    assert _titles(every["manual-kiln"]) == ["A whole page"], "where the package is there"
    assert _titles(every["desk-shop"]) == ["List"], "the questions are not among the files"


def _titles(source: QuestionSource) -> list[str]:
    with Pack(source.build()) as pack:
        return [title for (title,) in pack.graph.rows("MATCH (a:Article) RETURN a.title ORDER BY a.title", {})]


def test_thresholds_by_share() -> None:
    probability = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    weights = np.ones(5)
    assert highest_with_share(probability, weights, 0.4) == 0.3
    assert highest_with_share(probability, weights, 0.0) == 0.1
    assert highest_with_share(probability, np.zeros(5), 0.4) == 0.0
    assert lowest_above_share(probability, weights, 0.5) == pytest.approx(0.3001)
    right = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    assert lowest_with_share(probability, right, weights, 1.0) == 0.4


def judged_answers(source: str, number: int, *, covered: bool) -> JudgedAnswers:
    """Return a question with two candidates, the one of the greater margin right if there is an answer."""
    margin = (0.2 + 0.05 * (number % 7)) * (1 if covered else -1)
    shared = {"coverage": 0.5, "section": 0.4, "nearest": 0.4, "first": 1.0, "sentence": 0.5}
    features = tuple(
        Features("span", "value", {**shared, "fit": 1.0, "margin": value, "gap": value})  # type: ignore[arg-type]
        for value in (margin, -0.4)
    )
    return JudgedAnswers("asked", source, f"{number}?", covered, False, features, (covered, False), ((1,), (0,)))


def test_rows_hold_the_terms_and_weights_find_the_right_candidate() -> None:
    judged = [judged_answers(f"s{n % 8}", n, covered=n % 4 > 0) for n in range(64)]
    names = sorted(terms(judged[0].features[0]))
    rows = make_rows(judged, names)
    assert rows.values.shape == (128, len(names))
    row = rows.values.toarray()[2]
    assert dict(zip(names, row, strict=True)) == terms(judged[1].features[0])
    assert all(item.order[0] == 0 for item in cross_fit(judged) if item.judged.covered)

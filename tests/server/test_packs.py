"""Packs that many threads share, and that are replaced or vanish meanwhile."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.server.conftest import Build

from wikigr.documents.answer import answer_document
from wikigr.errors import PackError, UsageError
from wikigr.pipeline.graph_queries import find_neighbors
from wikigr.retrieval.trace import Trace
from wikigr.server.packs import ServedPacks

KETTLE = [("Kettle", "The kettle is made of copper."), ("Lamp", "The lamp is made of brass.")]
NEW_KETTLE = [("Kettle", "The kettle is made of silver."), ("Lamp", "The lamp is made of brass.")]
QUESTION = "What is the kettle made of?"


@pytest.fixture
def kitchen(tmp_path: Path, build: Build) -> Path:
    return build(tmp_path / "kitchen", KETTLE)


@pytest.fixture
def packs(kitchen: Path) -> Iterator[ServedPacks]:
    served = ServedPacks([str(kitchen)], offline=True)
    yield served
    served.close()


def answer(packs: ServedPacks, question: str = QUESTION, pack: str | None = None) -> Any:
    with packs.session(pack) as session:
        pipeline = session.pipeline("enhanced")
        return answer_document(pipeline.answer(question, trace=Trace()), pipeline, explain=True)


def timeless(document: Any) -> str:
    """The document without times."""
    document.pop("timings")
    for stage in document["explain"]["stages"]:
        stage.pop("ms")
    return json.dumps(document, sort_keys=True)


def test_sixteen_threads_get_the_answers_of_one(physics_pack: Path, run_every_graph: Callable[[], None]) -> None:
    lines = (ROOT / "packs" / "physics" / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    # A question of several hops may run into its time limit when it has a sixteenth of a processor.
    questions = [q for q in (json.loads(line) for line in lines) if q["type"] == "single"][:8]
    packs = ServedPacks([str(physics_pack)], offline=True)

    def ask(question: str) -> str | None:
        document = answer(packs, question)
        return None if document["degraded"] else timeless(document)

    texts = [question["question"] for question in questions]
    alone = [ask(text) for text in texts]
    run_every_graph()
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(ask, texts * 2))
        neighbors = list(pool.map(lambda _: edges(packs), range(32)))
    assert [pair for pair in zip(alone * 2, together, strict=True) if None not in pair and pair[0] != pair[1]] == []
    assert sum(document is not None for document in together) >= 8
    assert neighbors == [neighbors[0]] * 32
    packs.close()


def edges(packs: ServedPacks) -> list[str]:
    with packs.session() as session:
        (pack,) = session.pack.members
        found = find_neighbors(pack, "Spin", relation=None, inverse=None, limit=50, note=print)
        return [str(edge) for edge in found.edges]


def test_a_replaced_pack_is_opened_again(packs: ServedPacks, kitchen: Path, build: Build) -> None:
    assert "copper" in answer(packs)["answer"]
    build(kitchen, NEW_KETTLE)
    assert "silver" in answer(packs)["answer"]


def test_a_question_under_way_finishes_with_the_old_pack(packs: ServedPacks, kitchen: Path, build: Build) -> None:
    with packs.session() as session:
        pipeline = session.pipeline("enhanced")
        build(kitchen, NEW_KETTLE)
        assert "silver" in answer(packs)["answer"]
        assert "copper" in pipeline.answer(QUESTION).text
        (old,) = session.pack.members
    # Its database is closed after the last question.
    with pytest.raises(RuntimeError):
        old.graph.rows("MATCH (a:Article) RETURN a.title")
    assert "silver" in answer(packs)["answer"]


def test_no_question_fails_while_a_pack_is_replaced(packs: ServedPacks, kitchen: Path, build: Build) -> None:
    stop = threading.Event()
    found: list[str] = []

    def ask() -> None:
        # Without a pause, the builds would wait for the processor most of the time.
        while not stop.wait(0.05):
            found.append(answer(packs)["answer"])

    with ThreadPoolExecutor(4) as pool:
        askers = [pool.submit(ask) for _ in range(4)]
        for number in range(4):
            build(kitchen, NEW_KETTLE if number % 2 == 0 else KETTLE)
        stop.set()
        for asker in askers:
            asker.result()
    assert all("silver" in text or "copper" in text for text in found) and found
    assert "copper" in answer(packs)["answer"]
    (opened,) = packs._opened.values()
    assert opened.used == 0 and len(opened.idle) <= 5


def test_a_pack_that_vanishes_is_reported_until_it_is_back(packs: ServedPacks, kitchen: Path, build: Build) -> None:
    away = kitchen.with_name("away")
    shutil.move(kitchen, away)
    for _ in range(2):
        with pytest.raises(PackError, match="There is no pack"):
            answer(packs)
    assert packs.missing() == ["kitchen"]
    shutil.move(away, kitchen)
    assert "copper" in answer(packs)["answer"]
    assert packs.missing() == []


def test_a_damaged_pack_is_reported(packs: ServedPacks, kitchen: Path) -> None:
    (kitchen / "manifest.json").write_text("{")
    with pytest.raises(PackError):
        answer(packs)


def test_several_packs_answer_as_one_or_each_for_itself(birds: Path, machines: Path) -> None:
    packs = ServedPacks([str(machines), str(birds), str(machines)], offline=True)
    assert packs.names == ("birds", "machines") and packs.repeated == (str(machines),)
    both = answer(packs, "Who patented the tower crane?")
    assert both["citations"][0]["pack"] == "machines" and "Liebherr" in both["answer"]
    assert "pack" not in answer(packs, "Who patented the tower crane?", "machines")["citations"][0]
    assert "Liebherr" not in answer(packs, "Who patented the tower crane?", "birds")["answer"]
    assert {len(opened.pack.members) for opened in packs._opened.values()} == {1, 2}
    # One encoder serves them all.
    with packs.session() as one, packs.session("birds") as other:
        assert one.pack.encoder is other.pack.encoder
    packs.close()


def test_one_pack_vanishes_and_the_others_stay(tmp_path: Path, birds: Path, build: Build) -> None:
    kitchen = build(tmp_path / "kitchen", KETTLE)
    packs = ServedPacks([str(birds), str(kitchen)], offline=True)
    shutil.rmtree(kitchen)
    with pytest.raises(PackError, match="kitchen"):
        answer(packs)
    assert answer(packs, "How long does a crane live?", "birds")["answer"]
    packs.close()


def test_names_are_looked_up_nowhere_else(packs: ServedPacks, kitchen: Path) -> None:
    for name in (str(kitchen), "../kitchen", "", ".", "kitchen/", "pack.db"):
        with pytest.raises(UsageError, match="This server has no pack"), packs.session(name):
            pass
    for name in ("../enhanced", "/etc/passwd", "profile.yaml", ""):
        with pytest.raises(UsageError, match="There is no profile"):
            packs.load(name)


def test_a_pack_must_be_there_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="There is no pack"):
        ServedPacks([str(tmp_path / "nowhere")])
    with pytest.raises(UsageError, match="No pack was given"):
        ServedPacks([])

"""Packs that many threads share, and that are replaced or vanish meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.server.conftest import Build

from wikigr.documents.answer import answer_document
from wikigr.documents.graph import neighbors_document
from wikigr.errors import PackError, UsageError
from wikigr.retrieval.trace import Trace
from wikigr.server.packs import ServedPacks

KETTLE = [("Kettle", "The kettle is made of copper."), ("Lamp", "The lamp is made of brass.")]
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
        return answer_document(pipeline.answer(question, trace=Trace()), pipeline, explain=20)


def timeless(document: Any) -> str:
    """The document without times."""
    document.pop("timings")
    for stage in document["explain"]["stages"]:
        stage.pop("ms")
    return json.dumps(document, sort_keys=True)


@pytest.mark.trust
def test_sixteen_threads_get_the_answers_of_one(physics_pack: Path, run_every_graph: Callable[[], None]) -> None:
    lines = (ROOT / "packs" / "physics" / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    # A question of several hops may run into its time limit when it has a sixteenth of a processor.
    questions = [q for q in (json.loads(line) for line in lines) if q["type"] == "single"][:3]
    packs = ServedPacks([str(physics_pack)], offline=True)

    def ask(question: str) -> str | None:
        document = answer(packs, question)
        return None if document["degraded"] else timeless(document)

    texts = [question["question"] for question in questions]
    alone = [ask(text) for text in texts]
    run_every_graph()
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(ask, texts * 5))
        neighbors = list(pool.map(lambda _: edges(packs), range(16)))
    assert [pair for pair in zip(alone * 5, together, strict=True) if None not in pair and pair[0] != pair[1]] == []
    assert sum(document is not None for document in together) >= 8
    assert neighbors == [neighbors[0]] * 16
    packs.close()


def edges(packs: ServedPacks) -> list[str]:
    with packs.session() as session:
        (pack,) = session.pack.members
        found = neighbors_document(pack, "Spin", relation=None, inverse=None, limit=50, note=print)
        return [str(edge) for edge in found["edges"]]


def test_packs_stay_open_as_they_were(packs: ServedPacks, kitchen: Path, build: Build) -> None:
    build(kitchen, [("Kettle", "The kettle is made of silver."), *KETTLE[1:]])
    assert "copper" in answer(packs)["answer"] and packs.listed[0][0].given_as == "kitchen"
    with packs.session() as session:
        packs.close()
        # Packs are not closed under a question.
        assert session.pack.text_of("Kettle")


def test_several_packs_answer_as_one_or_each_for_itself(birds: Path, machines: Path) -> None:
    packs = ServedPacks([str(machines), str(birds), str(machines)], offline=True)
    assert packs.names == ("birds", "machines") and packs.repeated == (str(machines),)
    both = answer(packs, "Who patented the tower crane?")
    assert both["citations"][0]["pack"] == "machines" and "Liebherr" in both["answer"]
    assert "pack" not in answer(packs, "Who patented the tower crane?", "machines")["citations"][0]
    assert "Liebherr" not in answer(packs, "Who patented the tower crane?", "birds")["answer"]
    # One encoder serves them all.
    with packs.session() as one, packs.session("birds") as other:
        assert one.pack.encoder is other.pack.encoder
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

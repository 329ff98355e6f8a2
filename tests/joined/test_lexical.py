"""Lexical search over several indexes, compared with one index of everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from wikigr.index.lexical import LexicalIndex, LexicalWriter
from wikigr.joined.pack import JoinedLexicalIndex

Make = Callable[[str, Mapping[str, str]], LexicalIndex]
# Every text has four tokens, so that the average length is the same in all indexes.
CODE = {
    "json#0": "json reads a string",
    "list#0": "list sorts a sequence",
    "set#0": "set drops a string",
    "wave#0": "wave module reads files",
}
PHYSICS = {"electron#0": "electron is a wave", "photon#0": "photon is a wave", "sound#0": "sound as wave_train"}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def index(name: str, texts: Mapping[str, str]) -> LexicalIndex:
        with LexicalWriter(tmp_path / name) as writer:
            for section_id, text in texts.items():
                writer.add(section_id, "", "", text)
        return LexicalIndex(tmp_path / name)

    return index


@pytest.mark.parametrize(
    "query", ["wave", "a wave", "a wave a waves", "string reads", "wave_train", "WAVE AND string", "_", "nothing", ""]
)
def test_scores_are_those_of_one_index(make: Make, query: str) -> None:
    parts = [make("code", CODE), make("physics", PHYSICS)]
    whole = make("whole", {**CODE, **PHYSICS})
    joined = JoinedLexicalIndex(parts, lambda number, section_id: section_id)
    found, expected = joined.search(query, 10), whole.search(query, 10)
    assert {hit.section_id: hit.score for hit in found} == pytest.approx(
        {hit.section_id: hit.score for hit in expected}, rel=1e-4
    )
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert joined.search(query, 2) == found[:2]
    assert joined.search(query, 0) == []


def test_rarity_is_that_of_one_index(make: Make) -> None:
    joined = JoinedLexicalIndex([make("code", CODE), make("physics", PHYSICS)], lambda number, section_id: section_id)
    whole = make("whole", {**CODE, **PHYSICS})
    assert len(joined) == len(whole) == 7
    for stem in ("wave", "string", "a", "nothing"):
        assert joined.frequency(stem) == whole.frequency(stem)
        assert joined.rarity(stem) == whole.rarity(stem)


def test_a_rare_word_of_one_pack_does_not_outweigh_the_others(make: Make) -> None:
    code, physics = make("code", CODE), make("physics", PHYSICS)
    assert code.search("wave", 1)[0].score > 2 * physics.search("wave", 1)[0].score
    joined = JoinedLexicalIndex([code, physics], lambda number, section_id: f"{number}:{section_id}")
    scores = {hit.section_id: hit.score for hit in joined.search("wave", 10)}
    assert scores["0:wave#0"] == pytest.approx(scores["1:photon#0"], rel=1e-4)

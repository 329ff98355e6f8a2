from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.errors import PackError
from wikigr.index.lexical import LexicalIndex

from ..conftest import Wikigr


@pytest.mark.parametrize("options", [(), ("--mode", "dense"), ("--mode", "lexical"), ("--fusion", "rrf")])
def test_every_mode_finds_the_article(wikigr: Wikigr, physics_pack: Path, options: tuple[str, ...]) -> None:
    result = wikigr("search", "superconductivity", "--pack", str(physics_pack), "--top-k", "3", "--json", *options)
    document = json.loads(result.out)
    assert document["schema_version"] == 1
    assert [r["rank"] for r in document["results"]] == [1, 2, 3]
    assert document["results"][0]["title"] == "Superconductivity"
    assert set(document["results"][0]) >= {"rank", "title", "section_id", "section", "source_id", "score", "content"}
    scores = [r["score"] for r in document["results"]]
    assert scores == sorted(scores, reverse=True)
    assert document["timings"]["total_ms"] > 0


def test_text_output_is_one_heading_and_one_snippet_a_result(wikigr: Wikigr, physics_pack: Path) -> None:
    lines = wikigr("search", "spin", "--pack", str(physics_pack), "-k", "2").out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("  1. ")
    assert lines[2].startswith("  2. ")


def test_a_batch_is_json_lines_in_order(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("search", "--batch", "-", "--pack", str(physics_pack), "-k", "1", stdin="laser\nspin\n")
    assert [json.loads(line)["question"] for line in result.out.splitlines()] == ["laser", "spin"]


def test_a_wrong_mode_is_wrong_usage(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("search", "x", "--pack", str(physics_pack), "--mode", "fuzzy")
    assert result.code == 2
    assert "hybrid" in result.err


def test_a_batch_names_a_question_that_fails_and_goes_on(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    """Regression: one damaged posting list ended the batch with a traceback of a Rust panic and exit code 1."""
    pack = shutil.copytree(physics_pack, tmp_path / "damaged")
    _damage_postings(pack / "lexical", damaged="spin", whole="laser")
    result = wikigr("search", "--mode", "lexical", "--batch", "-", "--pack", str(pack), stdin="laser\nspin\nlaser\n")
    assert result.code == 3
    first, second, third = (json.loads(line) for line in result.out.splitlines())
    assert first["results"]
    assert (second["id"], second["question"]) == ("2", "spin")
    assert second["error"].startswith("Cannot read the lexical index")
    assert third["results"] == first["results"]
    assert "question 2: Cannot read the lexical index" in result.err
    assert "1 of the questions could not be answered" in result.err
    alone = wikigr("search", "spin", "--mode", "lexical", "--pack", str(pack))
    assert (alone.code, alone.out) == (4, "")
    assert "Cannot read the lexical index" in alone.err


def _damage_postings(folder: Path, *, damaged: str, whole: str) -> None:
    """Flip a bit of the postings so that ``damaged`` can no longer be searched, but ``whole`` can."""
    (file,) = folder.glob("*.idx")
    good = file.read_bytes()
    for place in range(len(good)):
        # A new file, because the old one is mapped into memory.
        file.unlink()
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x80]) + good[place + 1 :])
        try:
            LexicalIndex(folder).search(whole, 10)
        except PackError:
            continue
        try:
            LexicalIndex(folder).search(damaged, 10)
        except PackError as error:
            assert type(error.__cause__).__name__ == "PanicException"
            return
    pytest.fail(f"no flip damages {damaged!r} only")

"""Questions to begin with: only what the pack is sure of, and never a failed build."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError
from wikigr.evaluation.starters import find_starters
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.manifest import parse_manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.sources.detect import open_source


def test_the_pack_is_sure_of_its_starters(physics_pack: Path) -> None:
    found = find_starters(physics_pack)
    assert len(found) == 3 == len(set(found))
    with Pack(physics_pack) as pack:
        pipeline = Pipeline(Profile(), pack, offline=True)
        assert [pipeline.answer(question).level for question in found] == ["sure"] * 3
    assert find_starters(physics_pack) == found


def test_gold_questions_come_first(physics_pack: Path, tmp_path: Path) -> None:
    questions = ["Where was Werner Heisenberg born?", "Who is the mayor of Vessin?", "When was Niels Bohr born?"]
    lines = [
        {"id": str(n), "question": question, "answers": ["x"], "gold": [{"title": "Spin"}]}
        for n, question in enumerate(questions)
    ]
    pack = Path(shutil.copytree(physics_pack, tmp_path / "pack"))
    (pack / "eval").mkdir(exist_ok=True)
    file = pack / "eval" / "questions.jsonl"
    file.write_text("not JSON\n" + "".join(json.dumps(line) + "\n" for line in lines))
    assert find_starters(pack)[0] == "When was Niels Bohr born?"
    assert "Who is the mayor of Vessin?" not in find_starters(pack)


def test_headings_that_ask(tmp_path: Path, encoder: Embedder) -> None:
    note = tmp_path / "notes" / "faq.md"
    note.parent.mkdir()
    note.write_text(
        "# Harbor\n\nThe harbor of Vessin has an office.\n\n"
        "## Which channel does the office use?\n\nThe office answers on channel 9.\n\n"
        "## How to book a berth\n\n1. Call the office.\n2. Name the ship.\n\n## Why?\n\nBecause.\n\n"
        "## 2.1. Who heads the pilot station?\n\nKarim Haddad heads the pilot station of Vessin.\n"
    )
    build_pack(open_source(note.parent), str(note.parent), tmp_path / "pack", encoder, BuildOptions(name="harbor"))
    found = find_starters(tmp_path / "pack")
    assert "How do I book a berth?" in found and "Why?" not in found
    assert "Who heads the pilot station?" in found


def test_rows_with_names(tmp_path: Path, encoder: Embedder) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    rows = "| Iron | 1538 °C |\n| Copper | 1085 °C |\n| Tin | 232 °C |\n"
    (notes / "metals.md").write_text(f"# Metals\n\nMetals.\n\n| Metal | Melting point |\n| --- | --- |\n{rows}")
    berths = "".join(f"| {number} | Quay {number * 7} |\n" for number in range(1, 8))
    (notes / "berths.md").write_text(f"# Harbor\n\n## Berths\n\n| Berth | Mooring |\n| --- | --- |\n{berths}")
    (notes / "shops.md").write_text("# Shops\n\n| Honey | To shops |\n| --- | --- |\n| Heather | 9 |\n| Lime | 8 |\n")
    build_pack(open_source(notes), str(notes), tmp_path / "pack", encoder, BuildOptions(name="metals"))
    found = find_starters(tmp_path / "pack")
    assert {"What is the melting point of Copper?", "What is the mooring of berth 4?"} <= set(found)
    assert not any("to shops" in question for question in found)


def test_a_manifest_holds_few_short_starters(physics_pack: Path) -> None:
    fields = json.loads((physics_pack / "manifest.json").read_text())
    assert parse_manifest(json.dumps({**fields, "starters": ["What is spin?"]}).encode()).starters == ("What is spin?",)
    for bad in ("What?", [1], ["a"] * 4, ["a" * 161], ["\x1b[31m"], None):
        with pytest.raises(PackError, match="starters"):
            parse_manifest(json.dumps({**fields, "starters": bad}).encode())

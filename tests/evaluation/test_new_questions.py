"""Drafts of gold questions: what is asked, what is left out, and that each quotation answers its question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.metrics.accuracy import accuracy
from wikigr.evaluation.new_questions import Draft, draft_questions
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.sources.detect import open_source

NOTES = {
    "Printer": "The printer is in room 214, next to the kitchen. It was bought in 2021 from a shop in Leeds.\n\n"
    "# Toner\nJonas Weber orders the toner. A cartridge lasts 3,000 pages. Please don't shake them! "
    "The tray is emptied by Amira Haddad.\n\n# Scanner\nThe scanner was replaced in 2019. It is repaired by hand.",
    "Kettle": "The kettle is a steel model with a wooden handle. The kettle takes two minutes to boil. It is "
    "descaled by Jonas Weber. Kettle is kept by Amira Haddad. "
    "The kettle lid is cleaned by Kim Lee.",
    "Ada Lovelace": "Ada Lovelace was an English mathematician. She was born in London on 10 December 1815. She "
    "published the notes in 1843. Her father died in 1824. She moved in 1835.",
    # None of these stands on its own, names its subject or has an answer.
    "Rest": "TODO: buy milk? He moved it in 1999. It holds many things. Tom Okafor presented his budget there.\n\n"
    "# More\nThis is the case in 2020. The next one was moved to 9 April 2024. New York is large. See (p. 4).",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    source = folder / "notes.jsonl"
    source.write_text("".join(json.dumps({"id": t, "title": t, "text": text}) + "\n" for t, text in NOTES.items()))
    build_pack(open_source(source), str(source), folder / "pack", encoder, BuildOptions(name="notes"))
    return folder / "pack"


def drafted(location: Path, count: int, seed: int = 0) -> list[Draft]:
    with Pack(location) as pack:
        return draft_questions(pack, count, seed=seed)


def test_only_sentences_that_stand_on_their_own_are_asked(notes: Path) -> None:
    assert {(draft.question, draft.answer, draft.section) for draft in drafted(notes, 100)} == {
        ("Where is the printer?", "room 214", None),
        ("When was the printer bought?", "2021", None),
        ("Who orders the toner?", "Jonas Weber", "Toner"),
        ("How many pages does a cartridge last?", "3,000", "Toner"),
        ("By whom is the tray emptied?", "Amira Haddad", "Toner"),
        ("When was the scanner replaced?", "2019", "Scanner"),
        ("By whom is the kettle descaled?", "Jonas Weber", None),
        ("By whom is the kettle kept?", "Amira Haddad", None),
        ("By whom is the kettle lid cleaned?", "Kim Lee", None),
        ("What is the kettle?", "steel model", None),
        ("How many minutes does the kettle take to boil?", "two", None),
        ("Who was Ada Lovelace?", "English mathematician", None),
        ("When was Ada Lovelace born?", "10 December 1815", None),
        ("Where was Ada Lovelace born?", "London", None),
        ("When did Ada Lovelace publish the notes?", "1843", None),
    }


def test_every_quotation_answers_its_question(physics_pack: Path) -> None:
    drafts = drafted(physics_pack, 1000)
    assert len(drafts) > 40 and len({draft.question for draft in drafts}) == len(drafts)
    with Pack(physics_pack) as pack:
        rows = pack.graph.rows("MATCH (a:Article)-[:HAS_SECTION]->(s:Section) RETURN a.title, s.title, s.content")
    sections = {(title, heading): content for title, heading, content in rows}
    for draft in drafts:
        assert accuracy(draft.quote, [draft.answer]) and not accuracy(draft.question, [draft.answer]), draft
        assert draft.quote in sections[draft.title, draft.section or "Introduction"], draft
        assert draft.source is not None and draft.source.startswith("file://"), draft


def test_the_seed_decides_the_choice(physics_pack: Path) -> None:
    first = drafted(physics_pack, 15)
    assert first == drafted(physics_pack, 15) and len(first) == 15
    assert {draft.question for draft in drafted(physics_pack, 15, seed=1)} != {draft.question for draft in first}
    # No kind of question and no article crowds out the others.
    assert len({draft.kind for draft in first}) >= 4 and len({draft.title for draft in first}) == 15

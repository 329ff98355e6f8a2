"""Small packs with content of every kind: aliases, categories, links, mentions, and a graph of triples."""

from __future__ import annotations

import json
from pathlib import Path

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.detect import open_source

_RECORDS = [
    {"id": "a", "title": "Alpha", "text": "Alpha is the first letter. See Beta.\n# Use\nAlpha decay.", "links": ["b"]},
    {"id": "b", "title": "Beta", "text": "Beta is the second letter.", "links": ["Alpha"], "aliases": ["Letter two"]},
    {"id": "g", "title": "Gamma", "text": "Gamma rays are light of high energy.", "categories": ["Physics", "Light"]},
]
_TRIPLES = [
    ("Mira Holt", "born_in", "Varnstad"),
    ("Varnstad", "located_in", "Orlandia"),
    ("Mira Holt", "spouse", "Ben Ode"),
    ("Ben Ode", "birth_date", "1815-12-10"),
]


def build_letters(folder: Path, encoder: Embedder) -> Path:
    """Build a pack of three articles, with worked examples and gold questions, in ``folder``."""
    source = folder.with_name(f"{folder.name}.jsonl")
    source.write_text("".join(json.dumps(record) + "\n" for record in _RECORDS))
    build_pack(open_source(source), str(source), folder, encoder, BuildOptions(name="letters"))
    (folder / "few_shot_examples.json").write_text('[{"question": "What is Beta?", "answer": "A letter."}]\n')
    (folder / "eval").mkdir()
    (folder / "eval" / "questions.jsonl").write_text('{"question": "What is Alpha?", "answer": "A letter."}\n')
    return folder


def build_triples(folder: Path, encoder: Embedder) -> Path:
    """Build a pack from a graph of triples in ``folder``."""
    source = folder.with_name(f"{folder.name}.tsv")
    source.write_text("".join("\t".join(row) + "\n" for row in _TRIPLES))
    build_pack(open_source(source), str(source), folder, encoder, BuildOptions(name="people"))
    return folder

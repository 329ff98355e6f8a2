"""Small packs with content of every kind: aliases, categories, links, mentions, and a graph of triples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import find_prepared
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.layout import ENCODER, MANIFEST
from wikigr.pack.manifest import describe_files, read_manifest
from wikigr.reader.prepared import copy_prepared
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


def bundle_encoder(pack: Path) -> Path:
    """Copy the encoder of ``pack`` and its reader into it, as ``--bundle-encoder`` does; returns their folder."""
    manifest = read_manifest(pack / MANIFEST)
    copy_prepared(find_prepared(manifest.encoder.model_id).folder, pack / ENCODER)
    list_encoder(pack)
    return pack / ENCODER


def list_encoder(pack: Path) -> None:
    """Record the present files of the bundled encoder in the manifest of ``pack``."""
    manifest = read_manifest(pack / MANIFEST)
    files = {name: record for name, record in manifest.files.items() if not name.startswith(f"{ENCODER}/")}
    files |= {f"{ENCODER}/{name}": record for name, record in describe_files(pack / ENCODER).items()}
    (pack / MANIFEST).write_text(replace(manifest, files=files, bundled_encoder=True).to_json(), encoding="utf-8")


def build_triples(folder: Path, encoder: Embedder) -> Path:
    """Build a pack from a graph of triples in ``folder``."""
    source = folder.with_name(f"{folder.name}.tsv")
    source.write_text("".join("\t".join(row) + "\n" for row in _TRIPLES))
    build_pack(open_source(source), str(source), folder, encoder, BuildOptions(name="people"))
    return folder

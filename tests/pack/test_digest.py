"""The content digest, recomputed from the database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from wikigr.graph.engine import Graph
from wikigr.pack import digest
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import DATABASE, MANIFEST
from wikigr.pack.manifest import read_manifest


def recomputed(pack: Path) -> str:
    with Graph(pack / DATABASE) as graph:
        return database_digest(graph, read_manifest(pack / MANIFEST).encoder)


def test_it_is_the_one_of_the_build(letters_pack: Path, people_pack: Path, physics_pack: Path) -> None:
    for pack in (letters_pack, people_pack, physics_pack):
        assert recomputed(pack) == read_manifest(pack / MANIFEST).digest


def test_it_is_the_same_whatever_the_pages(
    physics_pack: Path, people_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ARTICLE_PAGE", "SECTION_PAGE", "ENTITY_PAGE"):
        monkeypatch.setattr(digest, name, 3)
    for pack in (physics_pack, people_pack):
        assert recomputed(pack) == read_manifest(pack / MANIFEST).digest


CHANGES = [
    ("letters", "MATCH (a:Article {title: 'Alpha'}) SET a.content = 'Alpha is the last letter.'"),
    ("letters", "MATCH (a:Article {title: 'Gamma'}) SET a.categories = ['Physics']"),
    ("letters", "MATCH (a:Article {title: 'Alpha'}) SET a.url = 'https://example.org'"),
    ("letters", "MATCH (a:Article {title: 'Beta'}) SET a.aliases = ['Letter three']"),
    ("letters", "MATCH (s:Section {section_id: 'Alpha#1'}) SET s.title = 'Misuse'"),
    ("letters", "MATCH (s:Section {section_id: 'Alpha#1'}) SET s.heading_path = ['Other']"),
    ("letters", "MATCH (s:Section {section_id: 'Alpha#1'}) SET s.end_offset = s.end_offset - 1"),
    ("letters", "MATCH (s:Section {section_id: 'Alpha#1'}) SET s.anchor = 'other'"),
    ("letters", "MATCH (:Article {title: 'Alpha'})-[r:LINKS_TO]->() DELETE r"),
    ("letters", "MATCH (:Article {title: 'Alpha'})-[r:MENTIONS]->() DELETE r"),
    ("letters", "MATCH (a:Article {title: 'Gamma'}), (b:Article {title: 'Beta'}) CREATE (a)-[:LINKS_TO]->(b)"),
    ("people", "MATCH (e:Entity {entity_id: 'orlandia'}) SET e.name = 'Utopia'"),
    ("people", "MATCH (e:Entity {entity_id: 'orlandia'}) SET e.type = 'value'"),
    ("people", "MATCH (e:Entity {entity_id: 'orlandia'}) SET e.aliases = ['Utopia']"),
    ("people", "MATCH ()-[r:RELATED_TO {relation: 'spouse'}]->() SET r.relation = 'enemy'"),
    ("people", "MATCH ()-[r:RELATED_TO {relation: 'enemy'}]->() DELETE r"),
    ("people", "MATCH (:Article {title: 'Varnstad'})-[r:HAS_ENTITY]->() DELETE r"),
]


def test_every_change_of_the_content_changes_it(letters_pack: Path, people_pack: Path, tmp_path: Path) -> None:
    for pack in (letters_pack, people_pack):
        manifest = read_manifest(pack / MANIFEST)
        copy = shutil.copytree(pack, tmp_path / manifest.name)
        seen = {manifest.digest}
        with Graph(copy / DATABASE, read_only=False) as graph:
            for which, change in CHANGES:
                if which == manifest.name:
                    graph.execute(change)
                    changed = database_digest(graph, manifest.encoder)
                    assert changed not in seen, change
                    seen.add(changed)

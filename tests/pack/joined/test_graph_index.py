"""Joining graph indexes, compared with the index of one pack with everything."""

from __future__ import annotations

from pathlib import Path

from tests.pack.joined.conftest import build

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.graph_index import GraphIndex
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.joined import article_titles, join_graph_indexes
from wikigr.pack.open import Pack
from wikigr.sources.detect import open_source


def index_of(folder: Path) -> GraphIndex:
    with Pack(folder) as pack:
        return pack.graph_index


def test_the_graph_is_that_of_one_pack_with_all_articles(birds: Path, lifts: Path, birds_and_lifts: Path) -> None:
    whole = index_of(birds_and_lifts)
    joined = join_graph_indexes([index_of(birds), index_of(lifts)], lambda number, title: title, whole.digest)
    assert joined.equals(whole)
    assert article_titles(joined) == ["Crane", "Heron", "Lift", "Owl", "Winch"]
    assert len(joined.indices)


def test_a_node_of_two_packs_connects_them(tmp_path: Path, encoder: Embedder) -> None:
    rows = [("Mira Holt", "born_in", "Varnstad"), ("Otto Prim", "lives_in", "Varnstad"), ("Otto Prim", "keeps", "Owl")]
    folders = []
    for name, part in (("one", rows[:1]), ("two", rows[1:]), ("all", rows)):
        source = tmp_path / f"{name}.tsv"
        source.write_text("".join("\t".join(row) + "\n" for row in part))
        build_pack(open_source(source), str(source), tmp_path / name, encoder, BuildOptions(name=name))
        folders.append(tmp_path / name)
    one, two, whole = map(index_of, folders)
    assert join_graph_indexes([one, two], lambda number, title: title, whole.digest).equals(whole)
    owl = build(tmp_path / "birds", [{"id": "o", "title": "Owl", "text": "The owl hunts mice."}], encoder)
    joined = join_graph_indexes([index_of(owl), two], lambda number, title: title, "digest")
    # The entity "owl" is the article of that name.
    assert [joined.node(number).key for number in range(len(joined))] == ["Otto Prim", "Owl", "varnstad"]
    assert joined.indices[joined.indptr[1] : joined.indptr[2]].tolist() == [0]

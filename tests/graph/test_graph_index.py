"""The graph index: nodes, edges, names, and damaged or hostile files."""

from __future__ import annotations

import io
import json
import os
import shutil
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tampering import accept_changes

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import GraphIndex, index_graph, load_graph_index
from wikigr.graph.neighborhood import Neighborhood, Node, article
from wikigr.graph.schema import ddl
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack import layout as parts
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.rerankers.graph_walk import GraphWalkOptions
from wikigr.retrieval.trace import Trace
from wikigr.sources.detect import open_source

Edges = Sequence[tuple[str, str]]
_ARRAYS = ("ends", "indptr", "indices", "name_hashes", "name_nodes")


@contextmanager
def database(
    folder: Path,
    articles: Sequence[str] | Mapping[str, Sequence[str]] = (),
    *,
    links: Edges = (),
    mentions: Edges = (),
    entities: Sequence[tuple[str, str | None, str | None]] = (),
    owned: Edges = (),
    facts: Edges = (),
) -> Iterator[Graph]:
    """Make a database with articles (and their aliases), entities (id, name, type) and edges between their keys."""
    with Graph(folder / "pack.db", read_only=False) as graph:
        for statement in ddl(4):
            graph.execute(statement)
        aliases = articles if isinstance(articles, Mapping) else dict.fromkeys(articles)
        for title, names in aliases.items():
            graph.execute(
                "CREATE (:Article {title: $title, aliases: $names})", {"title": title, "names": names or None}
            )
        for key, name, kind in entities:
            graph.execute("CREATE (:Entity {entity_id: $k, name: $n, type: $t})", {"k": key, "n": name, "t": kind})
        for table, edges in (("LINKS_TO", links), ("MENTIONS", mentions), ("HAS_ENTITY", owned)):
            if edges:
                graph.copy(table, pa.table({"from": [a for a, _ in edges], "to": [b for _, b in edges]}))
        if facts:
            unknown = pa.array([None] * len(facts), pa.string())
            ends = {"from": [a for a, _ in facts], "to": [b for _, b in facts]}
            graph.copy("RELATED_TO", pa.table({**ends, "relation": ["r"] * len(facts), "section_id": unknown}))
        yield graph


def edges_of(index: GraphIndex) -> set[tuple[str, str]]:
    pairs = set()
    for number in range(len(index)):
        row = index.indices[index.indptr[number] : index.indptr[number + 1]].tolist()
        assert row == sorted(set(row))
        assert number not in row
        pairs |= {(index.node(number).key, index.node(int(other)).key) for other in row}
    return pairs


def both(edges: Edges) -> set[tuple[str, str]]:
    return {pair for a, b in edges for pair in ((a, b), (b, a))}


def same(one: GraphIndex, other: GraphIndex) -> bool:
    plain = (one.digest, one.articles, one.text) == (other.digest, other.articles, other.text)
    return plain and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in _ARRAYS)


# -- what is in it


def test_nodes_edges_and_names(tmp_path: Path) -> None:
    articles = {"Beta (letter)": ["Second letter"], "Alpha": [], "Lonely": []}
    with database(
        tmp_path,
        articles,
        links=[("Alpha", "Beta (letter)"), ("Alpha", "Beta (letter)"), ("Beta (letter)", "Alpha"), ("Alpha", "Alpha")],
        mentions=[("Beta (letter)", "Alpha")],
        entities=[
            ("alpha", "Alpha", "article"),
            ("greece", "Greece", "entity"),
            ("x9", None, "entity"),
            ("x8", "", None),
            ("1905", "1905", "value"),
            ("beta (letter)", "Beta (letter)", "value"),
        ],
        owned=[("Alpha", "alpha"), ("Alpha", "greece"), ("Alpha", "1905")],
        facts=[("alpha", "greece"), ("greece", "greece"), ("greece", "x9"), ("x9", "1905"), ("beta (letter)", "x9")],
    ) as graph:
        index = index_graph(graph, "d")
        assert [index.node(number) for number in range(len(index))] == [
            article("Alpha"), article("Beta (letter)"), article("Lonely"), Node("entity", "greece", "Greece"),
            Node("entity", "x8", ""), Node("entity", "x9", ""),
        ]  # fmt: skip
        # A nameless entity is the same node to those who read the database.
        assert Neighborhood(graph).nodes([("entity", "x8"), ("entity", "x9")]) == [index.node(4), index.node(5)]
    assert edges_of(index) == both(
        [("Alpha", "Beta (letter)"), ("Alpha", "greece"), ("greece", "x9"), ("Beta (letter)", "x9")]
    )
    assert np.diff(index.indptr).tolist() == [2, 2, 0, 2, 0, 2]
    assert index.names == ["Alpha", "Beta (letter)", "Lonely", "Greece", "", ""]
    for name in ("beta", "beta (letter)", "beta letter", "second letter"):
        assert index.named(name) == [1]
    assert (index.named("x9"), index.named("1905"), index.named(""), index.named("Alpha")) == ([5], [], [], [])
    assert index.number_of_node(article("Lonely")) == 2
    assert [index.number_of_node(article(title)) for title in ("lonely", "Greece", "greece", "", "Zeta")] == [None] * 5
    assert [index.number_of_node(index.node(number)) for number in range(6)] == list(range(6))
    assert index.number_of_node(Node("entity", "alpha", "Alpha")) is None
    assert index.number_of_node(Node("entity", "zeta", "Zeta")) is None
    for number in (-1, 6):
        with pytest.raises(IndexError):
            index.node(number)


def test_titles_that_differ_in_case_are_two_nodes_of_one_name(tmp_path: Path) -> None:
    with database(
        tmp_path,
        ["SPIN", "Spin"],
        links=[("Spin", "SPIN")],
        entities=[("spin", "Spin", "article")],
        owned=[("Spin", "spin")],
    ) as graph:
        index = index_graph(graph, "")
    assert index.named("spin") == [0, 1]
    assert (index.number_of_node(article("SPIN")), index.number_of_node(article("Spin"))) == (0, 1)
    assert index.numbers_of(["Spin", "spin", "SPIN"]) == {"Spin": 1, "SPIN": 0}
    assert edges_of(index) == both([("SPIN", "Spin")])


@pytest.mark.parametrize("articles", [[], ["A", "B"]])
def test_a_graph_without_edges(tmp_path: Path, articles: list[str]) -> None:
    with database(tmp_path, articles) as graph:
        index = index_graph(graph, "")
    index.save(tmp_path / "index.npz")
    loaded = load_graph_index(tmp_path / "index.npz")
    assert same(index, loaded)
    assert (len(loaded), loaded.articles, np.diff(loaded.indptr).tolist()) == (
        len(articles),
        len(articles),
        [0] * len(articles),
    )
    assert loaded.names == articles
    assert loaded.number_of_node(article("C")) is None


def test_deleted_rows_leave_no_gap(tmp_path: Path) -> None:
    with database(tmp_path, ["C", "A", "B"], links=[("A", "B"), ("C", "A")]) as graph:
        graph.execute("MATCH (a:Article {title: 'C'}) DETACH DELETE a")
        graph.execute("CREATE (:Article {title: 'D'})")
        graph.execute("MATCH (a:Article {title: 'D'}), (b:Article {title: 'B'}) CREATE (a)-[:LINKS_TO]->(b)")
        index = index_graph(graph, "")
    assert index.names == ["A", "B", "D"]
    assert edges_of(index) == both([("A", "B"), ("B", "D")])


NAMES = st.text(
    st.one_of(st.characters(codec="utf-8", exclude_characters="\0"), st.sampled_from("aA_ éß(),’𝚺\u0301")),
    min_size=1,
    max_size=12,
)


@settings(max_examples=6)
@given(titles=st.lists(NAMES, unique=True, max_size=8), keys=st.lists(NAMES, unique=True, max_size=5), data=st.data())
def test_any_graph_is_symmetric_is_found_again_and_is_kept(
    tmp_path_factory: pytest.TempPathFactory, titles: list[str], keys: list[str], data: st.DataObject
) -> None:
    def some(sources: list[str], targets: list[str]) -> list[tuple[str, str]]:
        if not sources or not targets:
            return []
        pair = st.tuples(st.sampled_from(sources), st.sampled_from(targets))
        return data.draw(st.lists(pair, max_size=12))

    folder = tmp_path_factory.mktemp("any")
    entities = [
        (key, data.draw(st.none() | NAMES), data.draw(st.sampled_from(["entity", "value", None]))) for key in keys
    ]
    with database(
        folder, titles, links=some(titles, titles), owned=some(titles, keys), facts=some(keys, keys), entities=entities
    ) as graph:
        index = index_graph(graph, "digest")
    pairs = edges_of(index)
    assert pairs == {(b, a) for a, b in pairs}
    assert index.articles == len(titles)
    for title in titles:
        number = index.number_of_node(article(title))
        assert number is not None
        assert index.node(number) == article(title)
    unknown = {title + "?" for title in titles}.difference(titles)
    assert index.numbers_of([*titles, *unknown]) == {title: index.number_of_node(article(title)) for title in titles}
    for number in range(len(index)):
        assert index.number_of_node(index.node(number)) == number
    index.save(folder / "index.npz")
    assert same(load_graph_index(folder / "index.npz"), index)


# -- the file


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> GraphIndex:
    links = [("Ä", "Beta"), ("Beta", "Gamma")]
    with database(tmp_path_factory.mktemp("index"), {"Ä": ["A umlaut"], "Beta": [], "Gamma": []}, links=links) as graph:
        return index_graph(graph, "digest")


def contents(index: GraphIndex, **changed: Any) -> dict[str, Any]:
    fields = {name: getattr(index, name) for name in _ARRAYS}
    plain = {"version": 1, "digest": index.digest, "articles": index.articles}
    return {**plain, "text": np.frombuffer(index.text, dtype=np.uint8), **fields, **changed}


def test_a_handwritten_index_is_read(tmp_path: Path, index: GraphIndex) -> None:
    np.savez(tmp_path / "index.npz", **contents(index))
    assert same(load_graph_index(tmp_path / "index.npz"), index)


def changes(index: GraphIndex) -> dict[str, dict[str, Any]]:
    return {
        "articles": {"articles": 4},
        "no articles": {"articles": -1},
        "articles of another shape": {"articles": np.array([1, 2])},
        "ends": {"ends": index.ends[:-1]},
        "ends past the text": {"ends": index.ends + 1},
        "ends within a character": {"ends": np.array([*index.ends[:-2], 21, 22])},
        "ends that go back": {"ends": index.ends[::-1]},
        "no text": {"text": np.full(len(index.text), 0xFF, dtype=np.uint8)},
        "indptr": {"indptr": index.indptr[:-1]},
        "indptr that starts late": {"indptr": np.array([1, 3, 4, 4])},
        "indptr that goes back": {"indptr": np.array([0, 3, 1, 4])},
        "negative indptr": {"indptr": np.array([-1, 1, 3, 4])},
        "empty indptr": {"indptr": index.indptr[:0]},
        "one number for indptr": {"indptr": np.array(3)},
        "indices": {"indices": index.indices + np.int32(9)},
        "negative indices": {"indices": index.indices - np.int32(9)},
        "two dimensions": {"indices": index.indices.reshape(2, -1)},
        "other numbers": {"indices": index.indices.astype(np.float32)},
        "text for hashes": {"name_hashes": np.array([str(n) for n in index.name_hashes])},
        "name_nodes": {"name_nodes": index.name_nodes[:-1]},
        "name_nodes of nothing": {"name_nodes": index.name_nodes + np.int32(9)},
        "version": {"version": 2},
        "endless version": {"version": float("inf")},
        "a word for a version": {"version": "one"},
    }


def test_numbers_that_point_to_nothing_are_refused(tmp_path: Path, index: GraphIndex) -> None:
    for what, changed in changes(index).items():
        np.savez(tmp_path / "index.npz", **contents(index, **changed))
        try:
            load_graph_index(tmp_path / "index.npz")
        except PackError as error:
            assert "index.npz" in error.message
        else:
            pytest.fail(f"{what} was not noticed")


def test_equal_indexes(index: GraphIndex) -> None:
    assert index.equals(replace(index, indices=index.indices.copy()))
    assert not index.equals(replace(index, articles=2))
    assert not index.equals(replace(index, indices=index.indices[::-1]))
    assert not index.equals(replace(index, name_nodes=index.name_nodes[:-1]))


def test_an_index_of_a_larger_graph_is_refused(tmp_path: Path, index: GraphIndex) -> None:
    index.save(tmp_path / "index.npz")
    assert same(load_graph_index(tmp_path / "index.npz", len(index)), index)
    with pytest.raises(PackError, match="more nodes than the pack"):
        load_graph_index(tmp_path / "index.npz", len(index) - 1)


def test_a_compressed_index_is_not_read(tmp_path: Path, index: GraphIndex) -> None:
    """Regression: a compressed index of 1 MB took 3.2 GB."""
    ends = np.zeros(500_000, dtype=np.int64)
    np.savez_compressed(tmp_path / "compressed.npz", **contents(index, ends=ends))
    assert (tmp_path / "compressed.npz").stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(PackError, match="is compressed"):
        load_graph_index(tmp_path / "compressed.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_a_file_without_one_of_the_arrays_is_refused(tmp_path: Path, index: GraphIndex) -> None:
    for left_out in ("version", "digest", "text", *_ARRAYS):
        fields = contents(index)
        del fields[left_out]
        np.savez(tmp_path / "index.npz", **fields)
        with pytest.raises(PackError, match=left_out):
            load_graph_index(tmp_path / "index.npz")


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("field", ["version", "digest", "articles", "text", *_ARRAYS])
def test_a_pickle_is_never_opened(tmp_path: Path, index: GraphIndex, field: str) -> None:
    trapped = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.savez(tmp_path / "index.npz", **contents(index, **{field: trapped}))
    with pytest.raises(PackError, match=f"its array {field} holds objects"):
        load_graph_index(tmp_path / "index.npz")
    assert not (tmp_path / "sprung").exists()
    np.load(tmp_path / "index.npz", allow_pickle=True)[field]
    assert (tmp_path / "sprung").exists(), "the trap is none"


@pytest.mark.parametrize("claimed", [10**9, 10**30])
def test_a_false_count_is_an_ordinary_error(tmp_path: Path, index: GraphIndex, claimed: int) -> None:
    index.save(tmp_path / "honest.npz")
    with zipfile.ZipFile(tmp_path / "honest.npz") as old, zipfile.ZipFile(tmp_path / "index.npz", "w") as new:
        for entry in old.namelist():
            data = old.read(entry)
            if entry == "indices.npy":
                shape, lie = f"({len(index.indices)},)".encode(), f"({claimed},)".encode()
                assert shape in data
                data = data.replace(shape + b", }" + b" " * (len(lie) - len(shape)), lie + b", }")
                assert lie in data
            new.writestr(entry, data)
    with pytest.raises(PackError, match="does not have the size in its header"):
        load_graph_index(tmp_path / "index.npz")


def test_a_foreign_file_a_folder_and_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "index.npz"
    single = io.BytesIO()
    np.save(single, np.arange(3))
    foreign = [b"", b"PK", b"not a zip", b"\x80\x04K\x01.", b"PK\x05\x06" + bytes(18), single.getvalue()]
    for data in foreign:
        path.write_bytes(data)
        with pytest.raises(PackError, match="Cannot read the graph index"):
            load_graph_index(path)
    (tmp_path / "folder.npz").mkdir()
    for name in ("folder.npz", "missing.npz"):
        with pytest.raises(PackError, match="Cannot read the graph index"):
            load_graph_index(tmp_path / name)


# -- in a pack

RECORDS: list[dict[str, object]] = [
    {"id": "a", "title": "Alpha", "text": "Alpha is the first letter. See Beta.", "links": ["b"]},
    {"id": "b", "title": "Beta", "text": "Beta is the second letter.", "aliases": ["Letter two"]},
    {"id": "g", "title": "Gamma", "text": "Gamma is the third letter.", "links": ["Beta"]},
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    return build(tmp_path_factory.mktemp("built"), encoder, RECORDS)


@pytest.fixture
def letters(built: Path, tmp_path: Path) -> Path:
    """A copy of the pack that a test may change."""
    return shutil.copytree(built, tmp_path / "letters")


def build(folder: Path, encoder: Embedder, records: Sequence[dict[str, object]], name: str = "letters") -> Path:
    source = folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    build_pack(open_source(source), str(source), folder / name, encoder, BuildOptions(name="letters"))
    return folder / name


def test_a_build_keeps_the_index_and_the_pack_uses_it(letters: Path) -> None:
    assert all(check.passed for check in validate_pack(letters))
    with Pack(letters) as pack:
        stored = load_graph_index(letters / parts.GRAPH_INDEX)
        assert same(pack.graph_index, stored)
        assert pack.graph_index_warning == ""
        assert same(stored, index_graph(pack.graph, pack.manifest.digest))
        assert pack.graph_index is pack.graph_index
        assert edges_of(stored) == both([("Alpha", "Beta"), ("Gamma", "Beta")])
        assert stored.named("letter two") == [1]


def replace_content(path: Path, content: bytes) -> None:
    """Replace a file as a build does, so that an index that is mapped keeps its content."""
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("damage", ["missing", "foreign", "of another content"])
def test_an_unusable_index_is_rebuilt_with_a_warning(
    letters: Path, tmp_path: Path, encoder: Embedder, damage: str
) -> None:
    path = letters / parts.GRAPH_INDEX
    good = load_graph_index(path)
    if damage == "missing":
        path.unlink()
    elif damage == "foreign":
        replace_content(path, b"{}")
    else:
        other = build(tmp_path, encoder, RECORDS[:2], "other")
        replace_content(path, (other / parts.GRAPH_INDEX).read_bytes())
        accept_changes(letters)
    with Pack(letters) as pack:
        trace = Trace()
        found = Pipeline(Profile(), pack).search("What is Alpha?", top_k=3, trace=trace)
        assert same(pack.graph_index, good)
        assert found[0].section.title == "Alpha"
        (warning,) = trace.warnings
        assert "It was rebuilt in memory; `wikigr pack build` stores one in the pack." in warning
        assert ("belongs to other content" in warning) is (damage == "of another content")
        assert not trace.degraded


def test_a_question_is_answered_without_an_index(letters: Path) -> None:
    (letters / parts.GRAPH_INDEX).unlink()
    with Graph(letters / parts.DATABASE, read_only=False) as graph:
        graph.execute("DROP TABLE MENTIONS")
    accept_changes(letters)
    plain = Profile().override(GraphWalkOptions, enabled=False)
    with Pack(letters) as pack:
        trace = Trace()
        found = Pipeline(Profile(), pack).search("What is Alpha?", top_k=3, trace=trace)
        assert trace.degraded
        assert {"graph_walk"} <= {record.stage for record in trace.stages if record.degraded}
        assert any("MENTIONS" in warning for warning in trace.warnings)
        assert found == Pipeline(plain, pack).search("What is Alpha?", top_k=3, trace=Trace())

"""Check the files beside the database of an untrusted pack: those derived from it, and the examples and questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikigr.checks import Check
from wikigr.distribution.untrusted_database import edge_offsets, section_texts
from wikigr.errors import PackError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import GraphIndexError, index_graph, load_graph_index
from wikigr.graph.pagerank_cache import PageRankCacheError, read_pack_cache
from wikigr.index.lexical_comparison import lexical_difference
from wikigr.pack import layout as parts
from wikigr.pack.extras import check_example_count, read_extra
from wikigr.pack.manifest import EXAMPLES, QUESTIONS, file_path
from wikigr.pack.open import Pack


def check_companions(pack: Pack, *, compare: bool) -> Iterator[Check]:
    """Check that the files of ``pack`` beside its database can be read and belong to it.

    With ``compare``, the lexical index and the graph index must equal new ones made from the database.
    """
    if compare:
        yield _lexical(pack)
    yield _pagerank(pack)
    if parts.GRAPH_INDEX in pack.manifest.files:
        yield _graph_index(pack, compare=compare)
    if EXAMPLES in pack.manifest.files:
        yield _extra(pack, EXAMPLES, _describe_examples)
    if QUESTIONS in pack.manifest.files:
        yield _extra(pack, QUESTIONS, _describe_questions)


def _lexical(pack: Pack) -> Check:
    try:
        difference = lexical_difference(pack.lexical, section_texts(pack.graph))
    except PackError as error:
        difference = error.message
    return Check("lexical content", difference is None, difference or "the same as in a new index")


def _pagerank(pack: Pack) -> Check:
    manifest = pack.manifest
    try:
        cache = read_pack_cache(pack.layout.part(parts.PAGERANK), manifest.counts["articles"])
    except PageRankCacheError as error:
        return Check("PageRank", False, error.message)
    if not cache.fits(manifest.digest, manifest.counts):
        return Check("PageRank", False, "belongs to other content")
    foreign = cache.scores.keys() - {title for (title,) in pack.graph.rows("MATCH (a:Article) RETURN a.title")}
    return Check(
        "PageRank",
        not foreign,
        f"has {len(foreign):,} titles that the pack does not have" if foreign else "matches the content",
    )


def _graph_index(pack: Pack, *, compare: bool) -> Check:
    name, counts, digest = "graph index", pack.manifest.counts, pack.manifest.digest
    try:
        stored = load_graph_index(pack.layout.part(parts.GRAPH_INDEX), counts["articles"] + counts["entities"])
    except GraphIndexError as error:
        return Check(name, False, error.message)
    if stored.digest != digest:
        return Check(name, False, "belongs to other content")
    if compare and not stored.equals(index_graph(pack.graph, digest, _read_edges)):
        return Check(name, False, "differs from a new index")
    return Check(name, True, "matches the content")


def _read_edges(graph: Graph, source: str, relation: str, target: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Read edges like ``link_graph.read_edges``, but without a temporary file, which the process may not write."""
    pairs = np.array(list(edge_offsets(graph, source, relation, target)), dtype=np.int32).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _extra(pack: Pack, name: str, describe: Callable[[Path], str]) -> Check:
    try:
        return Check(name, True, describe(file_path(pack.layout, name)))
    except (ValueError, RecursionError) as error:
        return Check(name, False, str(error))


def _describe_examples(path: Path) -> str:
    records = json.loads(read_extra(path))
    examples = records.get("examples") if isinstance(records, dict) else records
    if not isinstance(examples, list):
        raise ValueError(f"{path} has no list of examples")
    check_example_count(path, len(examples))
    return f"{len(examples):,} worked examples"


def _describe_questions(path: Path) -> str:
    lines = [line for line in read_extra(path).decode("utf-8-sig").split("\n") if line.strip()]
    if not all(isinstance(json.loads(line), dict) for line in lines):
        raise ValueError(f"{path} has a line that is not an object")
    return f"{len(lines):,} gold questions"

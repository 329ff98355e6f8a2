"""The checks on an untrusted pack: its files, then everything that a question may read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikigr.checks import Check
from wikigr.distribution.untrusted_database import (
    check_relations,
    check_schema,
    check_values,
    edge_offsets,
    section_texts,
)
from wikigr.embeddings.tokenization import check_tokenizer
from wikigr.errors import ModelError, PackError
from wikigr.graph.engine import Graph
from wikigr.graph.graph_index import index_graph, load_graph_index
from wikigr.graph.pagerank_cache import read_pack_cache
from wikigr.index.lexical import LexicalIndex
from wikigr.index.lexical_comparison import lexical_difference
from wikigr.languages import language_of
from wikigr.pack import layout as parts
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import (
    EXAMPLES,
    QUESTIONS,
    Manifest,
    check_example_count,
    file_path,
    read_extra,
    read_manifest,
)
from wikigr.pack.models import BUNDLED_HINT
from wikigr.pack.open import Pack
from wikigr.pack.validate import check_files, check_parts
from wikigr.reader.passage import Passage
from wikigr.reader.prepared import NoReaderError

DISTRUST = "Do not use it. Get it again from a source that you trust."
SEARCH = "search"
LAST_CHECK = "digest"


def untrusted_checks(folder: Path, reserve: int, links: Path) -> Iterator[Check]:
    """Yield the checks on the pack in ``folder`` as they finish; a failure that makes the rest unsafe ends them.

    ``reserve`` is the number of bytes of address space for the engine: a power of two, larger than the database.
    ``links`` is a writable folder of links to the lexical index. Runs in a sandboxed process, because a malicious
    database can crash the engine. Raises ``WikigrError`` and the errors of the libraries that read the files.
    """
    for group in _groups(folder, reserve, links):
        passed = True
        for check in group:
            passed = passed and (check.passed or not check.required)
            yield check if check.passed or check.fix else replace(check, fix=DISTRUST)
        if not passed:
            return


def _groups(folder: Path, reserve: int, links: Path) -> Iterator[Iterator[Check]]:
    """Yield groups of checks, each of which relies on those before it."""
    layout = find_pack(folder)
    manifest = read_manifest(layout.part(parts.MANIFEST))
    yield _before_opening(layout, manifest)
    graph = Graph(layout.part(parts.DATABASE), address_space=reserve)
    lexical = LexicalIndex(layout.part(parts.LEXICAL), language_of(manifest.language), links=links)
    with Pack(folder, graph=graph, lexical=lexical) as pack:
        yield check_schema(graph, manifest)
        yield check_values(graph)
        yield _parts(pack)
        yield check_relations(graph)
        yield _content(pack)


def _before_opening(layout: Layout, manifest: Manifest) -> Iterator[Check]:
    """Check what must hold before the engine and the tokenizer open their files."""
    yield from check_files(layout, manifest)
    database = layout.part(parts.DATABASE)
    strays = sorted(path.name for path in database.parent.glob(f"{parts.DATABASE}?*"))
    if strays:
        # The engine would replay a write-ahead log or shadow file.
        name = strays[0] if len(strays[0]) <= 80 else strays[0][:80] + "…"
        yield Check("files", False, f"{name!r} next to the database, which the engine would read")
    if manifest.bundled_encoder:
        try:
            check_tokenizer(layout.part(parts.ENCODER))
        except ModelError as error:
            yield Check("tokenizer", False, error.message)


def _parts(pack: Pack) -> Iterator[Check]:
    for check in check_parts(pack):
        # A bundled encoder must work; any other may be missing on this machine.
        required = check.name != "encoder" or pack.manifest.bundled_encoder
        yield check if required else replace(check, required=False)


def _content(pack: Pack) -> Iterator[Check]:
    found, wanted = database_digest(pack.graph, pack.manifest.encoder), pack.manifest.digest
    yield from _companions(pack, compare=found == wanted)
    yield from _search(pack)
    if pack.manifest.bundled_encoder:
        yield from _read(pack)
    detail = f"{found[:16]}, the same as in the manifest"
    if found != wanted:
        detail = f"{found[:16]} for the content, but {wanted[:16]} in the manifest: one of them was changed"
    yield Check(LAST_CHECK, found == wanted, detail)


def _search(pack: Pack) -> Iterator[Check]:
    """Search the pack for one of its own titles. Done here, because a malicious bundled encoder may never return."""
    titles = pack.graph.rows("MATCH (a:Article)-[:HAS_SECTION]->(:Section) RETURN a.title ORDER BY a.title LIMIT 1")
    if not titles:
        yield Check(SEARCH, True, "nothing to find")
        return
    title = titles[0][0]
    try:
        vector = pack.encoder.encode([title])[0]
    except ModelError as error:
        yield Check(SEARCH, False, error.message, error.hint or "", required=pack.manifest.bundled_encoder)
        return
    found = [*pack.nearest(vector, 10), *pack.lexical.search(title, 10)]
    yield Check(SEARCH, bool(found), f"{'finds' if found else 'does not find'} one of its own titles")


def _read(pack: Pack) -> Iterator[Check]:
    """Let the reader beside the bundled encoder, if there is one, read a sentence, for the same reason."""
    text = f"This is the pack {pack.manifest.name}."
    try:
        pack.reader.read("Which pack is this?", [Passage("", "", text, ((0, len(text)),))])
    except NoReaderError:
        return
    except (ModelError, PackError) as error:
        yield Check("reading", False, error.message, BUNDLED_HINT)
    else:
        yield Check("reading", True, "the reader reads a sentence")


def _companions(pack: Pack, *, compare: bool) -> Iterator[Check]:
    """Check that the files of ``pack`` beside its database can be read and belong to it.

    With ``compare``, the lexical index and the graph index must equal new ones made from the database.
    """
    if compare:
        try:
            difference = lexical_difference(pack.lexical, section_texts(pack.graph))
        except PackError as error:
            difference = error.message
        yield Check("lexical content", difference is None, difference or "the same as in a new index")
    yield _pagerank(pack)
    if parts.GRAPH_INDEX in pack.manifest.files:
        yield _graph_index(pack, compare=compare)
    for name, describe in ((EXAMPLES, _describe_examples), (QUESTIONS, _describe_questions)):
        if name in pack.manifest.files:
            try:
                yield Check(name, True, describe(file_path(pack.layout, name)))
            except (ValueError, RecursionError) as error:
                yield Check(name, False, str(error))


def _pagerank(pack: Pack) -> Check:
    manifest = pack.manifest
    try:
        cache = read_pack_cache(pack.layout.part(parts.PAGERANK), manifest.digest, manifest.counts)
    except PackError as error:
        return Check("PageRank", False, error.message)
    foreign = cache.scores.keys() - {title for (title,) in pack.graph.rows("MATCH (a:Article) RETURN a.title")}
    unknown = f"has {len(foreign):,} titles that the pack does not have"
    return Check("PageRank", not foreign, unknown if foreign else "matches the content")


def _graph_index(pack: Pack, *, compare: bool) -> Check:
    name, counts, digest = "graph index", pack.manifest.counts, pack.manifest.digest
    try:
        stored = load_graph_index(pack.layout.part(parts.GRAPH_INDEX), counts["articles"] + counts["entities"])
    except PackError as error:
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

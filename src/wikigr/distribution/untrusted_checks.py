"""The checks on an untrusted pack: its files, then everything that a question may read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wikigr.checks import Check
from wikigr.distribution.untrusted_companions import check_companions
from wikigr.distribution.untrusted_database import check_relations, check_schema, check_values
from wikigr.embeddings.tokenization import check_tokenizer
from wikigr.errors import ModelError, PackError
from wikigr.graph.engine import Graph
from wikigr.index.lexical import LexicalIndex
from wikigr.languages.language import language_of
from wikigr.pack import layout as parts
from wikigr.pack.digest import database_digest
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import BUNDLED_HINT, Pack
from wikigr.pack.validate import check_files, check_parts
from wikigr.reader.passage import Passage
from wikigr.reader.prepared import NoReaderError

DISTRUST = "Do not use it. Get it again from a source that you trust."
SEARCH = "search"
READING = "reading"
LAST_CHECK = "digest"

_SEARCH_LIMIT = 10


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
    yield from check_companions(pack, compare=found == wanted)
    yield from _search(pack)
    if pack.manifest.bundled_encoder:
        yield from _read(pack)
    yield Check(
        LAST_CHECK,
        found == wanted,
        f"{found[:16]}, the same as in the manifest"
        if found == wanted
        else f"{found[:16]} for the content, but {wanted[:16]} in the manifest: one of them was changed",
    )


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
    found = [*pack.nearest(vector, _SEARCH_LIMIT), *pack.lexical.search(title, _SEARCH_LIMIT)]
    yield Check(SEARCH, bool(found), f"{'finds' if found else 'does not find'} one of its own titles")


def _read(pack: Pack) -> Iterator[Check]:
    """Let the reader beside the bundled encoder, if there is one, read a sentence, for the same reason."""
    text = f"This is the pack {pack.manifest.name}."
    try:
        pack.reader.read("Which pack is this?", [Passage("", "", text, ((0, len(text)),))])
    except NoReaderError:
        return
    except (ModelError, PackError) as error:
        yield Check(READING, False, error.message, BUNDLED_HINT)
    else:
        yield Check(READING, True, "the reader reads a sentence")

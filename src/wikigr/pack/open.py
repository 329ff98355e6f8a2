"""An open pack, or several packs as one, for reading and asking."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.errors import PackError
from wikigr.graph.engine import Graph, reserved_space
from wikigr.index.candidate import Hit, Section
from wikigr.index.dense import DenseIndex, DenseMethod
from wikigr.index.lexical import LexicalIndex
from wikigr.languages import Language, language_of
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import NO_BLOCKS, Manifest, damaged_files, read_manifest
from wikigr.pack.models import Models
from wikigr.pack.section_urls import SectionUrls
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.graph.graph_index import GraphIndex
    from wikigr.graph.pagerank_cache import PageRankCache
    from wikigr.reader.reader import Reader

# What a pack keeps of the sections that were read: further questions, and the hops of one, ask for many of them again.
_MAX_KEPT_SECTIONS, _MAX_KEPT_CHARS = 1_024, 20_000


class Corpus(ABC):
    """The sections, the graph and the models that a pipeline searches and reads.

    ``layout`` is the folder that worked examples are read from, and ``label`` the name by which results call the
    corpus. ``preloads`` says whether its models are loaded before they are needed. Close it, or use it as a context
    manager.
    """

    lexical: LexicalIndex
    preloads: bool

    def __init__(self, layout: Layout, manifest: Manifest, models: Models) -> None:
        """Use ``models``, which corpora with the same encoder share."""
        self.layout = layout
        self.manifest = manifest
        self.models = models
        self.label = manifest.name
        self.graph_index_warning = ""

    @property
    def language(self) -> Language:
        """The language of the text."""
        return language_of(self.manifest.language)

    @property
    def blocks_warning(self) -> str:
        """Which packs have no blocks, and how to add them, or an empty string."""
        lacking = " and ".join(repr(pack.label) for pack in self.members if not pack.manifest.has_blocks)
        advice = "Rebuild with `wikigr pack update PACK --from SOURCE` to add them."
        return lacking and f"The blocks of {lacking}, built by an earlier version: {NO_BLOCKS}. {advice}"

    @property
    def encoder(self) -> Embedder:
        """The encoder for questions, loaded on first use."""
        return self.start_encoder().result()

    @property
    def reader(self) -> Reader:
        """The reader of the encoder, loaded on first use.

        Raises ``NoReaderError`` if there is none for this encoder, ``ModelError`` if it must be prepared (again), and
        ``PackError`` if it is bundled with a pack and damaged.
        """
        return self.start_reader().result()

    @property
    def base_reader(self) -> Reader:
        """The reader ``base``, loaded on first use; it reads the text of any pack.

        Raises ``ModelError`` if it must be prepared (again).
        """
        return self.start_base_reader().result()

    def start_encoder(self) -> Future[Embedder]:
        """Start loading the encoder in the background, unless that is done."""
        return self.models.encoder

    def start_reader(self) -> Future[Reader]:
        """Start loading the reader in the background, unless that is done."""
        return self.models.reader

    def start_base_reader(self) -> Future[Reader]:
        """Start loading the reader ``base`` in the background, unless that is done."""
        return self.models.base_reader

    @property
    @abstractmethod
    def members(self) -> tuple[Pack, ...]:
        """The packs on disk that this corpus consists of."""

    @abstractmethod
    def origin(self, section_id: str) -> tuple[Pack, str]:
        """Return the member that stores a section, and the id that the section has there."""

    def title_of(self, member: Pack, title: str) -> str:
        """Return the title that an article of ``member`` has here."""
        return title

    def id_of(self, member: Pack, section_id: str) -> str:
        """Return the id that a section of ``member`` has here."""
        return section_id

    @abstractmethod
    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        """Return the ``limit`` sections nearest to ``query`` by cosine similarity, see ``DenseIndex.nearest``."""

    @abstractmethod
    def dense_method(self, limit: int) -> DenseMethod:
        """Return how ``nearest`` finds ``limit`` sections, see ``DenseIndex.method``."""

    @property
    @abstractmethod
    def dense_warning(self) -> str:
        """Why vectors are compared in a slower way than they could be, or an empty string."""

    @abstractmethod
    def sections(self, section_ids: Sequence[str]) -> dict[str, Section]:
        """Return the stored sections with these ids, by id; unknown ids are omitted."""

    @abstractmethod
    def urls_of(self, section_ids: Iterable[str]) -> dict[str, str | None]:
        """Return the address of each section, see ``SectionUrls.find``."""

    @property
    @abstractmethod
    def graph_index(self) -> GraphIndex:
        """The graph as arrays."""

    @abstractmethod
    def _all_titles(self) -> Iterable[str]:
        """Return the titles of all articles."""

    @cached_property
    def _titles(self) -> Mapping[str, str]:
        return {fold(title): title for title in self._all_titles()}

    def find_title(self, name: str) -> str | None:
        """Return the title that matches ``name``, ignoring case, underscores and Unicode form, or ``None``."""
        return self._titles.get(fold(name))

    @abstractmethod
    def text_of(self, title: str) -> str:
        """Return the text of the article ``title``, ``""`` if there is none."""

    @abstractmethod
    def headings(self, title: str) -> list[str]:
        """Return the headings of the sections of the article ``title``, in order."""

    def clock(self) -> float:
        """Return the time in seconds of the clock for timings; tests override it."""
        return time.perf_counter()

    @abstractmethod
    def connect(self) -> Self:
        """Return this corpus with database connections of its own, for another thread; close it before this one.

        Everything that no thread changes is shared: the databases, the indexes, the models and the graph as arrays.
        """

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Pack(Corpus):
    """An open pack: its manifest, graph, lexical index and encoder. No method writes to the pack."""

    def __init__(
        self,
        location: str | Path,
        *,
        encoder: str | None = None,
        purpose: Purpose = "query",
        threads: int | None = None,
        preload: bool = False,
        read_only: bool = True,
        small_reserve: bool = False,
        graph: Graph | None = None,
        lexical: LexicalIndex | None = None,
        models: Models | None = None,
    ) -> None:
        """Open the pack at ``location`` (a folder, a ``.db`` file or an installed pack's name).

        ``encoder`` overrides the name or path of the pack's model; a model with other weights raises
        ``PackError`` on first use. ``purpose`` and ``threads`` are passed to ``open_encoder``. ``preload``
        starts loading the encoder in the background and reads the vectors meanwhile. ``read_only`` is the mode in which
        the database is opened, and ``small_reserve`` reserves no more address space for it than it needs: a process has
        room for 15 databases with the engine's default. ``graph`` and ``lexical`` are already open. ``models`` are
        those of an open pack with the same encoder, which this one uses instead of loading its own.
        Raises ``PackError`` when the pack is missing, damaged or has another format.
        """
        layout = find_pack(location)
        with layout.reading():
            manifest = read_manifest(layout.part(parts.MANIFEST))
            super().__init__(layout, manifest, models or Models(layout, manifest, encoder, purpose, threads))
            if preload:
                self.start_encoder()
            self._damaged = damaged_files(self.layout, self.manifest)
            damage = self.damage_of(parts.DATABASE) or self.damage_of(parts.LEXICAL)
            if damage:
                # What the engine or the lexical index would read: that could end the process.
                raise PackError(
                    f"The pack {self.layout.root} is damaged: {damage}.",
                    hint="Get the pack again, or build it again. `wikigr pack verify` checks all of it.",
                )
            database = self.layout.part(parts.DATABASE)
            space = reserved_space(database.stat().st_size) if small_reserve and database.is_file() else None
            self.graph = graph or Graph(database, read_only=read_only, address_space=space)
            self.lexical = lexical or LexicalIndex(self.layout.part(parts.LEXICAL), self.language)
            self.dense = DenseIndex(
                self.graph,
                self.layout.part(parts.VECTORS) if self.manifest.has_quantized_vectors else None,
                self.manifest.counts["sections"],
                self.manifest.encoder.dimension,
                self.manifest.digest,
                has_vector_index=self.manifest.vector_index,
                damage=self.damage_of(parts.VECTORS),
            )
        self._kept_sections: dict[str, Section] = {}
        self.preloads = preload
        if preload:
            # While the encoder loads in another thread.
            self.dense.read_ahead()

    def damage_of(self, part: str) -> str:
        """Return what is wrong with a part of the pack, or ``""``."""
        found = ((name, problem) for name, problem in self._damaged.items() if name.split("/")[0] == part)
        return next((f"{name} {problem}" for name, problem in found), "")

    @property
    def members(self) -> tuple[Pack, ...]:
        return (self,)

    def origin(self, section_id: str) -> tuple[Pack, str]:
        return self, section_id

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        return self.dense.nearest(query, limit, exact=exact)

    def dense_method(self, limit: int) -> DenseMethod:
        return self.dense.method(limit)

    @property
    def dense_warning(self) -> str:
        return self.dense.warning

    def sections(self, section_ids: Sequence[str]) -> dict[str, Section]:
        # Lookups by key: a join with the list of ids would read the text of the whole pack.
        query = (
            "MATCH (s:Section {section_id: $key}) RETURN s.section_id, s.article_title, s.title, s.content, "
            f"s.source_id, s.position{', s.blocks' if self.manifest.has_blocks else ''}"
        )
        # Connections of other threads share what is kept, and may empty it meanwhile.
        kept = self._kept_sections
        found = {each: section for each in section_ids if (section := kept.get(each)) is not None}
        missing = [each for each in section_ids if each not in found]
        read = {row[0]: Section(*row) for row in self.graph.look_up(query, missing)} if missing else {}
        new = {each: section for each, section in read.items() if len(section.content) <= _MAX_KEPT_CHARS}
        if len(kept) + len(new) > _MAX_KEPT_SECTIONS:
            kept.clear()
        if len(new) <= _MAX_KEPT_SECTIONS:
            kept.update(new)
        found |= read
        return {each: found[each] for each in section_ids if each in found}

    def urls_of(self, section_ids: Iterable[str]) -> dict[str, str | None]:
        return self._urls.find(section_ids)

    @cached_property
    def _urls(self) -> SectionUrls:
        return SectionUrls(self.graph, self.layout, self.manifest.source["format"])

    @cached_property
    def graph_index(self) -> GraphIndex:
        """The graph as arrays: the stored index, or one rebuilt from the database if that is missing or outdated."""
        from wikigr.graph.graph_index import index_graph, load_graph_index

        path, counts = self.layout.part(parts.GRAPH_INDEX), self.manifest.counts
        if not path.exists():
            cause = "The pack has no graph index."
        elif self.damage_of(parts.GRAPH_INDEX):
            # Damaged arrays can fail in any way, so they are not read.
            cause = "The pack's graph index is damaged."
        else:
            try:
                index = load_graph_index(path, counts["articles"] + counts["entities"])
                if index.digest == self.manifest.digest:
                    return index
                cause = "The pack's graph index belongs to other content."
            except PackError as error:
                cause = error.message
        self.graph_index_warning = f"{cause} It was rebuilt in memory; `wikigr pack build` stores one in the pack."
        return index_graph(self.graph, self.manifest.digest)

    @cached_property
    def pagerank(self) -> Mapping[str, float]:
        try:
            return self.read_pagerank().scores
        except PackError:
            return {}

    def read_pagerank(self) -> PageRankCache:
        """Read the pack's PageRank; raises ``PackError`` if it cannot be used."""
        from wikigr.graph.pagerank_cache import read_pack_cache

        path, damage = self.layout.part(parts.PAGERANK), self.damage_of(parts.PAGERANK)
        return read_pack_cache(path, self.manifest.digest, self.manifest.counts, damage)

    def _all_titles(self) -> Iterable[str]:
        return (title for (title,) in self.graph.rows("MATCH (a:Article) RETURN a.title"))

    def text_of(self, title: str) -> str:
        rows = self.graph.rows("MATCH (a:Article {title: $title}) RETURN a.content", {"title": title})
        return next((text for (text,) in rows), "")

    def headings(self, title: str) -> list[str]:
        found = "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section)"
        rows = self.graph.rows(f"{found} RETURN s.title, s.position ORDER BY s.position", {"title": title})
        return [heading for heading, _ in rows]

    def connect(self) -> Self:
        twin = copy.copy(self)
        twin.graph = self.graph.connect()
        twin.dense = self.dense.connect(twin.graph)
        # It reads with the connection, and keeps what it has read.
        twin.__dict__.pop("_urls", None)
        return twin

    def close(self) -> None:
        self.graph.close()

"""What questions are asked of: an open pack, or several as one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.embeddings.embedder import Embedder, Vectors
    from wikigr.graph.graph_index import GraphIndex
    from wikigr.index.candidate import Hit, Section
    from wikigr.index.dense import DenseMethod
    from wikigr.index.lexical import LexicalIndex
    from wikigr.pack.layout import Layout
    from wikigr.pack.manifest import Manifest
    from wikigr.pack.open import Pack
    from wikigr.reader.reader import Reader

_Opened = TypeVar("_Opened")


class Corpus(ABC):
    """The sections, the graph and the models that a pipeline searches and reads.

    ``layout`` is the folder that worked examples are read from, and ``label`` the name by which results call the
    corpus. ``preloads`` says whether its models are loaded before they are needed. Close it, or use it as a context
    manager.
    """

    lexical: LexicalIndex
    preloads: bool

    def __init__(self, layout: Layout, manifest: Manifest, models_from: Corpus | None = None) -> None:
        """``models_from`` is an open corpus with the same encoder, whose models this one uses."""
        self.layout = layout
        self.manifest = manifest
        self.label = manifest.name
        self.graph_index_warning = ""
        self._models_from = models_from
        self._encoder: Future[Embedder] | None = None
        self._reader: Future[Reader] | None = None

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

    def start_encoder(self) -> Future[Embedder]:
        """Start loading the encoder in the background, unless that is done."""
        if self._models_from is not None:
            return self._models_from.start_encoder()
        if self._encoder is None:
            self._encoder = _in_background(self._open_encoder)
        return self._encoder

    def start_reader(self) -> Future[Reader]:
        """Start loading the reader in the background, unless that is done."""
        if self._models_from is not None:
            return self._models_from.start_reader()
        if self._reader is None:
            self._reader = _in_background(self._open_reader)
        return self._reader

    @abstractmethod
    def _open_encoder(self) -> Embedder: ...

    @abstractmethod
    def _open_reader(self) -> Reader: ...

    @property
    @abstractmethod
    def members(self) -> tuple[Pack, ...]:
        """The packs on disk that this corpus consists of."""

    @abstractmethod
    def origin(self, section_id: str) -> tuple[Pack, str]:
        """Return the member that stores a section, and the id that the section has there."""

    @abstractmethod
    def title_of(self, member: Pack, title: str) -> str:
        """Return the title that an article of ``member`` has here."""

    @abstractmethod
    def id_of(self, member: Pack, section_id: str) -> str:
        """Return the id that a section of ``member`` has here."""

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


def _in_background(open_: Callable[[], _Opened]) -> Future[_Opened]:
    thread = ThreadPoolExecutor(1, thread_name_prefix="model")
    opened = thread.submit(open_)
    thread.shutdown(wait=False)
    return opened

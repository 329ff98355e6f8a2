"""The models of a pack, each loaded in the background when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import ModelError, PackError
from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.reader.reader import Reader

_Opened = TypeVar("_Opened")

# How to fix a damaged encoder or reader that is part of a pack.
BUNDLED_HINT = "Get the pack again, or build it again with --bundle-encoder."


def encoder_source(layout: Layout, manifest: Manifest) -> str:
    """Return the encoder to open for a pack: the path of the bundled one, or the id of its model."""
    return str(layout.part(parts.ENCODER)) if manifest.bundled_encoder else manifest.encoder.model_id


class Models:
    """The encoder of a pack, its reader, and the reader ``base``; the arguments are those of ``Pack``."""

    def __init__(
        self, layout: Layout, manifest: Manifest, encoder: str | None, purpose: Purpose, threads: int | None
    ) -> None:
        self._layout = layout
        self._manifest = manifest
        self._source = encoder or encoder_source(layout, manifest)
        self._purpose: Purpose = purpose
        self._threads = threads

    @cached_property
    def encoder(self) -> Future[Embedder]:
        return _in_background(self._open_encoder)

    @cached_property
    def reader(self) -> Future[Reader]:
        return _in_background(self._open_reader)

    @cached_property
    def base_reader(self) -> Future[Reader]:
        return _in_background(self._open_base_reader)

    def _open_reader(self) -> Reader:
        from wikigr.embeddings.models import find_prepared
        from wikigr.reader.prepared import PreparedReader, find_reader
        from wikigr.reader.reader import Reader

        with self._opening("reader") as is_bundled:
            encoder = find_prepared(self._source)
            prepared = PreparedReader.beside(encoder) if is_bundled else find_reader(encoder)
            return Reader(prepared, threads=self._threads, packed=self._purpose != "query")

    def _open_base_reader(self) -> Reader:
        from wikigr.reader.base import find_base
        from wikigr.reader.reader import Reader

        return Reader(find_base(), threads=self._threads, packed=self._purpose != "query")

    def _open_encoder(self) -> Embedder:
        from wikigr.embeddings.loader import open_encoder

        with self._opening("encoder"):
            encoder = open_encoder(self._source, purpose=self._purpose, threads=self._threads)
        if encoder.identity != self._manifest.encoder:
            from shlex import quote

            own, other = (
                f"{each.model_id} ({each.dimension} dimensions, weights {each.weights_sha256[:12]})"
                for each in (self._manifest.encoder, encoder.identity)
            )
            raise PackError(
                f"The pack {self._manifest.name!r} was built with {own}, but the encoder is {other}. Their vectors "
                "cannot be compared.",
                hint="Omit the encoder, or build the pack again with --embedding-model "
                f"{quote(encoder.identity.model_id)}.",
            )
        return encoder

    @contextmanager
    def _opening(self, model: str) -> Iterator[bool]:
        """Yield whether the models are bundled; an error of a bundled ``model`` then says how to fix the pack."""
        is_bundled = self._source == str(self._layout.part(parts.ENCODER))
        try:
            yield is_bundled
        except ModelError as error:
            from wikigr.reader.prepared import NoReaderError

            if isinstance(error, NoReaderError) or not is_bundled:
                raise
            raise PackError(
                f"The {model} that is bundled with the pack {self._manifest.name!r} is damaged: {error.message}",
                hint=BUNDLED_HINT,
            ) from error


def _in_background(open_: Callable[[], _Opened]) -> Future[_Opened]:
    thread = ThreadPoolExecutor(1, thread_name_prefix="model")
    opened = thread.submit(open_)
    thread.shutdown(wait=False)
    return opened

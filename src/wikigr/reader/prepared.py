"""The prepared reader in the folder of a prepared encoder: its files, and how they are written and checked.

``reader.json`` is written last, so a folder that has it has the other files as well. Opening compares their sizes; the
digests are compared by ``verify``. The graph of the reader holds offsets into the weights of the encoder's graph, so
``reader.json`` names the digest of that graph.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikigr.embeddings import prepared as encoders
from wikigr.embeddings import prepared_files
from wikigr.embeddings.int8 import Ranges, ranges_from_json, ranges_to_json
from wikigr.embeddings.prepared import TOKENIZER, PreparedModel
from wikigr.embeddings.prepared_files import (
    PREPARE_HINT,
    UNFINISHED,
    Files,
    PreparedFile,
    files_from_json,
    files_to_json,
)
from wikigr.errors import ModelError
from wikigr.files import sync, sync_tree
from wikigr.reader.adapter import ADAPTER, Adapter, AdapterDescription, as_json
from wikigr.reader.passage import SMALL, Calibration, ReaderName

FORMAT_VERSION = 1
DESCRIPTION = "reader.json"
GRAPH = "reader.onnx"
GRAPH_DATA = "reader.onnx.data"


class NoReaderError(ModelError):
    """There is no reader for this encoder."""


@dataclass(frozen=True, slots=True)
class PreparedReader:
    """A reader that is ready to run.

    ``adapter_sha256`` says which one, and ``ranges`` in which ranges it rounds values, unless it computes in single
    precision.
    """

    folder: Path
    adapter_sha256: str
    calibration: Calibration
    ranges: Ranges | None
    files: Files

    @property
    def graph(self) -> Path:
        """The ONNX graph."""
        return self.folder / GRAPH

    @property
    def tokenizer(self) -> Path:
        """The tokenizer, which is that of the encoder."""
        return self.folder / TOKENIZER

    @classmethod
    def beside(cls, encoder: PreparedModel) -> PreparedReader:
        """Open the reader in the folder of ``encoder``.

        Raises ``NoReaderError`` if there is none, and ``ModelError`` if it is damaged or of another encoder.
        """
        folder = encoder.folder

        def parse(described: Mapping[str, Any]) -> PreparedReader:
            if described["base_sha256"] != encoder.identity.weights_sha256:
                raise ValueError("it belongs to an encoder with other weights")
            if described["encoder_graph_sha256"] != _graph_sha256(encoder):
                raise ValueError("it belongs to another graph of the encoder")
            return cls(
                folder,
                str(described["adapter_sha256"]),
                Calibration.from_json(described["calibration"]),
                ranges_from_json(described["ranges"]) if "ranges" in described else None,
                files_from_json(described["files"], {GRAPH, GRAPH_DATA}),
            )

        try:
            reader = prepared_files.read_prepared(folder / DESCRIPTION, FORMAT_VERSION, parse)
        except FileNotFoundError as error:
            raise NoReaderError(f"The reader has not been prepared in {folder}.", hint=PREPARE_HINT) from error
        prepared_files.check_sizes(folder, reader.files)
        return reader

    def is_of(self, adapter: AdapterDescription) -> bool:
        """Return whether it was prepared from ``adapter``, with its calibration and ranges."""
        prepared = (self.adapter_sha256, self.calibration, self.ranges)
        return prepared == (adapter.sha256, adapter.calibration, adapter.ranges)

    def verify(self) -> None:
        """Compare every file with its recorded digest; raises ``ModelError`` for the first that differs."""
        prepared_files.verify(self.folder, self.files)


def find_reader(encoder: PreparedModel) -> PreparedReader:
    """Return the reader beside ``encoder``, which must be the one that ships with this version of wikigr.

    Raises ``NoReaderError`` if the encoder is not the one that the reader was trained on, and ``ModelError`` if the
    reader must be prepared (again).
    """
    shipped = AdapterDescription.read()
    if encoder.identity.weights_sha256 != shipped.base_sha256:
        raise NoReaderError(
            f"There is no reader for the encoder {encoder.identity.model_id}, only for {shipped.base_model}."
        )
    try:
        found = PreparedReader.beside(encoder)
    except NoReaderError as error:
        raise ModelError(error.message, hint=error.hint) from error
    if not found.is_of(shipped):
        raise ModelError(f"The reader in {encoder.folder} is of another version of wikigr.", hint=PREPARE_HINT)
    return found


def reader_in(folder: Path) -> PreparedReader | None:
    """Return the reader in the folder of a prepared encoder, or ``None``; raises ``ModelError`` if one is damaged."""
    try:
        return PreparedReader.beside(PreparedModel.from_folder(folder))
    except NoReaderError:
        return None


def ready_readers(encoder: str, *, is_bundled: bool) -> list[ReaderName]:
    """Return the readers that can read for a pack with this ``encoder``: an id or a folder, that of the pack or not."""
    from wikigr.embeddings.models import find_prepared

    try:
        prepared = find_prepared(encoder)
        if is_bundled:
            PreparedReader.beside(prepared)
        else:
            find_reader(prepared)
    except ModelError:
        return []
    return [SMALL]


def prepare_reader(encoder: PreparedModel, *, adapter: Path = ADAPTER, force: bool = False) -> PreparedReader | None:
    """Write the reader into the folder of ``encoder`` unless it is there, and return it; ``force`` writes it again.

    Returns ``None`` if the adapter belongs to other weights than those of ``encoder``. Two processes may do this at
    once, because they write the same bytes. Raises ``ModelError``, also if the folder cannot be written.
    """
    shipped = AdapterDescription.read(adapter)
    if encoder.identity.weights_sha256 != shipped.base_sha256:
        return None
    if not force:
        try:
            ready = PreparedReader.beside(encoder)
        except ModelError:
            ready = None
        if ready is not None and ready.is_of(shipped):
            return ready
    _write(encoder, Adapter(adapter))
    return PreparedReader.beside(encoder)


def copy_prepared(source: Path, target: Path) -> None:
    """Copy the prepared encoder in the folder ``source``, and its reader if there is one, to the new folder ``target``.

    Other files in ``source`` are left out. Raises ``ModelError`` if the encoder or the reader is damaged, and
    ``OSError``.
    """
    encoder, reader = PreparedModel.from_folder(source), reader_in(source)
    names = [encoders.DESCRIPTION, *(file.name for file in encoder.files)]
    if reader is not None:
        names += [DESCRIPTION, *(file.name for file in reader.files)]
    target.mkdir()
    for name in names:
        shutil.copyfile(source / name, target / name)


def _write(encoder: PreparedModel, adapter: Adapter) -> None:
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(adapter.description.base_model) as source:
        try:
            prepared_files.remove_abandoned(encoder.folder)
            with tempfile.TemporaryDirectory(
                prefix=UNFINISHED, dir=encoder.folder, ignore_cleanup_errors=True
            ) as temporary:
                _write_files(source, encoder, adapter, Path(temporary))
                _publish(Path(temporary), encoder.folder)
        except OSError as error:
            raise ModelError(f"Cannot write the reader to {encoder.folder}: {error.strerror or error}.") from error


def _write_files(source: Path, encoder: PreparedModel, adapter: Adapter, folder: Path) -> None:
    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.reader.graph import write_reader_graph

    checkpoint = Checkpoint.read(source)
    write_reader_graph(checkpoint.weights, checkpoint.config, adapter, folder, GRAPH, encoder=encoder.graph)
    files = tuple(PreparedFile.of(folder, name) for name in (GRAPH_DATA, GRAPH))
    ranges = adapter.description.ranges
    described = {
        "format_version": FORMAT_VERSION,
        "adapter_sha256": adapter.description.sha256,
        "base_sha256": adapter.description.base_sha256,
        "encoder_graph_sha256": _graph_sha256(encoder),
        "calibration": asdict(adapter.description.calibration),
        "files": files_to_json(files),
        **({"ranges": ranges_to_json(ranges)} if ranges is not None else {}),
    }
    (folder / DESCRIPTION).write_text(as_json(described), encoding="utf-8")
    sync_tree(folder)


def _publish(unfinished: Path, target: Path) -> None:
    """Move the files of ``unfinished`` to ``target``, the description last."""
    # Another version's description must not stand beside this one's files.
    (target / DESCRIPTION).unlink(missing_ok=True)
    for name in (GRAPH_DATA, GRAPH):
        (unfinished / name).replace(target / name)
    sync(target)
    (unfinished / DESCRIPTION).replace(target / DESCRIPTION)
    sync(target)


def _graph_sha256(encoder: PreparedModel) -> str:
    """Return the recorded digest of the encoder's graph; hashing the file would delay every question."""
    return next(file.sha256 for file in encoder.files if file.name == encoders.GRAPH)

"""Prepared readers: their files and checks, and the small reader in the folder of a prepared encoder.

``reader.json`` is written last, so a folder that has it has the other files as well. Opening compares their sizes; the
digests are compared by ``verify``. The graph of the small reader holds offsets into the weights of the encoder's graph,
so ``reader.json`` names the digest of that graph. The reader ``base`` has a folder of its own (``wikigr.reader.base``).
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
from wikigr.reader.passage import BASE, SMALL, Calibration, ReaderName

FORMAT_VERSION = 1
DESCRIPTION = "reader.json"
GRAPH = "reader.onnx"
GRAPH_DATA = "reader.onnx.data"
# The files of each reader, in the order in which they are written.
FILES: Mapping[ReaderName, tuple[str, ...]] = {
    SMALL: (GRAPH_DATA, GRAPH),
    BASE: (GRAPH_DATA, GRAPH, TOKENIZER),
}


class NoReaderError(ModelError):
    """There is no reader for this encoder."""


@dataclass(frozen=True, slots=True)
class PreparedReader:
    """The reader ``name``, ready to run.

    ``adapter_sha256`` says which one, and ``ranges`` in which ranges it rounds values, unless it computes in single
    precision.
    """

    name: ReaderName
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
        """The tokenizer, that of the encoder for the small reader."""
        return self.folder / TOKENIZER

    @property
    def repair_hint(self) -> str:
        """The command that writes a damaged reader again."""
        return f"{prepare_hint(self.name)} --force"

    @classmethod
    def beside(cls, encoder: PreparedModel) -> PreparedReader:
        """Open the small reader in the folder of ``encoder``.

        Raises ``NoReaderError`` if there is none, and ``ModelError`` if it is damaged or of another encoder.
        """
        return cls.in_folder(SMALL, encoder.folder, encoder)

    @classmethod
    def in_folder(cls, name: ReaderName, folder: Path, encoder: PreparedModel | None = None) -> PreparedReader:
        """Open the reader ``name`` in ``folder``, which must be that of ``encoder`` if one is given.

        Raises ``NoReaderError`` if there is none, and ``ModelError`` if it is damaged.
        """

        def parse(described: Mapping[str, Any]) -> PreparedReader:
            if encoder is not None and described["base_sha256"] != encoder.identity.weights_sha256:
                raise ValueError("it belongs to an encoder with other weights")
            if encoder is not None and described["encoder_graph_sha256"] != _graph_sha256(encoder):
                raise ValueError("it belongs to another graph of the encoder")
            return cls(
                name,
                folder,
                str(described["adapter_sha256"]),
                Calibration.from_json(described["calibration"]),
                ranges_from_json(described["ranges"]) if "ranges" in described else None,
                files_from_json(described["files"], set(FILES[name])),
            )

        try:
            reader = prepared_files.read_prepared(folder / DESCRIPTION, FORMAT_VERSION, parse)
            prepared_files.check_sizes(folder, reader.files)
        except FileNotFoundError as error:
            raise NoReaderError(f"The reader has not been prepared in {folder}.", hint=prepare_hint(name)) from error
        except ModelError as error:
            raise ModelError(error.message, hint=f"{prepare_hint(name)} --force") from error
        return reader

    def is_of(self, adapter: AdapterDescription) -> bool:
        """Return whether it was prepared from ``adapter``, with its calibration and ranges."""
        prepared = (self.adapter_sha256, self.calibration, self.ranges)
        return prepared == (adapter.sha256, adapter.calibration, adapter.ranges)

    def verify(self) -> None:
        """Compare every file with its recorded digest; raises ``ModelError`` for the first that differs."""
        prepared_files.verify(self.folder, self.files)


def prepare_hint(name: ReaderName) -> str:
    """Return the command that prepares the reader ``name``."""
    return PREPARE_HINT if name == SMALL else f"{PREPARE_HINT} --reader {name}"


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
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(shipped.base_model) as source:
        write_reader(SMALL, source, Adapter(adapter), encoder.folder, encoder)
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


def write_reader(
    name: ReaderName, source: Path, adapter: Adapter, folder: Path, encoder: PreparedModel | None = None
) -> None:
    """Write the reader ``name`` of ``adapter`` to ``folder``, which is that of ``encoder`` if there is one.

    ``source`` holds the files of the adapter's base. Raises ``ModelError``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        prepared_files.remove_abandoned(folder)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder, ignore_cleanup_errors=True) as temporary:
            _write_files(name, source, adapter, Path(temporary), encoder)
            _publish(name, Path(temporary), folder)
    except OSError as error:
        raise ModelError(f"Cannot write the reader to {folder}: {error.strerror or error}.") from error


def _write_files(name: ReaderName, source: Path, adapter: Adapter, folder: Path, encoder: PreparedModel | None) -> None:
    from wikigr.embeddings.checkpoint import Checkpoint
    from wikigr.reader.graph import write_reader_graph

    checkpoint = Checkpoint.read(source)
    shared = encoder.graph if encoder is not None else None
    write_reader_graph(checkpoint.weights, checkpoint.config, adapter, folder, GRAPH, encoder=shared)
    if TOKENIZER in FILES[name]:
        (folder / TOKENIZER).write_text(checkpoint.tokenizer_json(), encoding="utf-8")
    ranges = adapter.description.ranges
    described = {
        "format_version": FORMAT_VERSION,
        "adapter_sha256": adapter.description.sha256,
        "base_sha256": adapter.description.base_sha256,
        "calibration": asdict(adapter.description.calibration),
        "files": files_to_json(tuple(PreparedFile.of(folder, file) for file in FILES[name])),
        **({"encoder_graph_sha256": _graph_sha256(encoder)} if encoder is not None else {}),
        **({"ranges": ranges_to_json(ranges)} if ranges is not None else {}),
    }
    (folder / DESCRIPTION).write_text(as_json(described), encoding="utf-8")
    sync_tree(folder)


def _publish(name: ReaderName, unfinished: Path, target: Path) -> None:
    """Move the files of ``unfinished`` to ``target``, the description last."""
    # Another version's description must not stand beside this one's files.
    (target / DESCRIPTION).unlink(missing_ok=True)
    for file in FILES[name]:
        (unfinished / file).replace(target / file)
    sync(target)
    (unfinished / DESCRIPTION).replace(target / DESCRIPTION)
    sync(target)


def _graph_sha256(encoder: PreparedModel) -> str:
    """Return the recorded digest of the encoder's graph; hashing the file would delay every question."""
    return next(file.sha256 for file in encoder.files if file.name == encoders.GRAPH)

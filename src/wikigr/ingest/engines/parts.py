"""Parquet files on a shared folder or in object storage: the inputs and outputs of the tasks of a cluster."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.atomic import write_atomic
from wikigr.errors import BuildError
from wikigr.pack.layout import Layout

if TYPE_CHECKING:
    import pyarrow as pa

# Neither keys nor vectors nor texts repeat, so dictionaries would only be larger.
_FORMAT: dict[str, Any] = {"use_dictionary": False, "compression": "zstd"}

# The folder of the file by which a node shows that it sees the same staging path.
CHECK = "check"


def input_folder(stage: str) -> str:
    return f"{stage}/input"


def output_folder(stage: str) -> str:
    return f"{stage}/output"


class DamagedPartError(BuildError):
    """A staged part has changed since it was written, or was not written completely."""


@dataclass(frozen=True, slots=True)
class PartStore:
    """Parquet files below ``location``: an absolute path, or a URI that pyarrow knows, such as ``s3://bucket/path``.

    A file is called by the key of its content and by its CRC-32, because the checksums of Parquet itself do not cover
    the metadata.
    """

    location: str

    def write(self, folder: str, key: str, table: pa.Table) -> str:
        """Write ``table`` as a file in ``folder`` and return the file's name below the store; raises ``BuildError``."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self._errors("write to"):
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink, **_FORMAT)
            content = sink.getvalue()
            name = f"{folder}/{key}-{zlib.crc32(content):08x}.parquet"
            filesystem, path = self._place(name)
            if filesystem.type_name == "local":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                write_atomic(Path(path), content.to_pybytes())
            else:
                # A file in object storage appears when it is complete.
                with filesystem.open_output_stream(path) as stream:
                    stream.write(content)
        return name

    def read(self, name: str) -> pa.Table:
        """Return the content of the file ``name``; raises ``DamagedPartError`` or another ``BuildError``."""
        import pyarrow.parquet as pq

        content = self._content(name)
        # Not ``read_table``, which would look for the keys of partitions in the path.
        return pq.ParquetFile(content).read()

    def is_intact(self, name: str) -> bool:
        """Return whether the file ``name`` is as it was written; raises ``BuildError`` if it cannot be read."""
        try:
            self._content(name)
        except DamagedPartError:
            return False
        return True

    def names(self, folder: str) -> dict[str, str]:
        """Return the names of the files in ``folder`` by key; raises ``BuildError``."""
        from pyarrow.fs import FileSelector

        with self._errors("read from"):
            filesystem, path = self._place(folder)
            found = filesystem.get_file_info(FileSelector(path, allow_not_found=True))
            names = sorted(info.base_name for info in found if info.is_file and info.extension == "parquet")
        return {name.partition("-")[0]: f"{folder}/{name}" for name in names}

    def remove_file(self, name: str) -> None:
        """Remove the file ``name``; raises ``BuildError``."""
        with self._errors("remove files from"):
            filesystem, path = self._place(name)
            filesystem.delete_file(path)

    def remove(self) -> None:
        """Remove all files, as far as that is possible."""
        from pyarrow.fs import FileType

        with self._errors("remove files from"):
            filesystem, path = self._place("")
            if filesystem.get_file_info(path).type == FileType.Directory:
                filesystem.delete_dir(path)

    def _content(self, name: str) -> pa.Buffer:
        with self._errors("read from"):
            filesystem, path = self._place(name)
            with filesystem.open_input_file(path) as stream:
                content = stream.read_buffer()
        if not name.endswith(f"-{zlib.crc32(content):08x}.parquet"):
            raise DamagedPartError(f"The file {name} in the staging path {self.location} is damaged.")
        return content

    def _place(self, name: str) -> tuple[Any, str]:
        filesystem, root = _open(self.location)
        return filesystem, f"{root}/{name}".rstrip("/")

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (OSError, pa.ArrowInvalid) as error:
            raise BuildError(
                f"Cannot {what} the staging path {self.location}: {getattr(error, 'strerror', None) or error}",
                hint="All machines of the cluster must be able to read and write it; --staging-path sets it.",
            ) from error


@lru_cache
def _open(location: str) -> tuple[Any, str]:
    """Return the file system of ``location`` and the path in it."""
    from pyarrow.fs import FileSystem, LocalFileSystem

    if "://" not in location:
        return LocalFileSystem(), location
    filesystem, path = FileSystem.from_uri(location)
    return filesystem, path


def staging_location(path: str | None, destination: Path) -> str:
    """Return where the build of ``destination`` stages its parts below ``path``.

    Without ``path``, this is a folder among the working files of the pack. Builds of different packs do not share it.
    """
    from hashlib import sha256

    # Not resolved: a link may lead elsewhere on another machine.
    absolute = destination.absolute()
    if path is None:
        return str(Layout(absolute).parquet_parts)
    own = f"{absolute.name}-{sha256(os.fsencode(absolute)).hexdigest()[:12]}"
    if "://" in path:
        scheme, _, rest = path.partition("://")
        where, question, query = rest.partition("?")
        return f"{scheme}://{where.rstrip('/')}/wikigr-{own}{question}{query}"
    return str(Path(path).absolute() / f"wikigr-{own}")

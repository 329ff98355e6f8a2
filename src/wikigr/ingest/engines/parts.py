"""Parquet files on a shared folder or in object storage: the inputs and outputs of the tasks of a cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.errors import BuildError
from wikigr.pack.layout import Layout

if TYPE_CHECKING:
    import pyarrow as pa

# Neither keys nor vectors nor texts repeat, so dictionaries would only be larger.
_FORMAT: dict[str, Any] = {"use_dictionary": False, "compression": "zstd", "write_page_checksum": True}

# The file by which a node shows that it sees the same staging path.
CHECK = "check.parquet"


def input_name(stage: str, key: str) -> str:
    return f"{stage}/input/{key}.parquet"


def output_name(stage: str, key: str) -> str:
    return f"{stage}/output/{key}.parquet"


@dataclass(frozen=True, slots=True)
class PartStore:
    """Parquet files below ``location``: an absolute path, or a URI that pyarrow knows, such as ``s3://bucket/path``.

    Every file is complete or missing, so one that exists need not be computed again.
    """

    location: str

    def write(self, name: str, table: pa.Table) -> None:
        """Write ``table`` as the file ``name``, which may contain slashes; raises ``BuildError``."""
        import pyarrow.parquet as pq

        with self._errors("write to"):
            filesystem, path = self._place(name)
            if filesystem.type_name != "local":
                # A file in object storage appears when it is complete.
                pq.write_table(table, path, filesystem=filesystem, **_FORMAT)
                return
            filesystem.create_dir(str(Path(path).parent))
            partial = f"{path}.{uuid.uuid4().hex}"
            pq.write_table(table, partial, filesystem=filesystem, **_FORMAT)
            filesystem.move(partial, path)

    def read(self, name: str) -> pa.Table:
        """Return the content of the file ``name``; raises ``BuildError``."""
        import pyarrow.parquet as pq

        with self._errors("read from"):
            filesystem, path = self._place(name)
            # Not ``read_table``, which would look for the keys of partitions in the path.
            with filesystem.open_input_file(path) as stream:
                return pq.ParquetFile(stream, page_checksum_verification=True).read()

    def names(self, folder: str) -> set[str]:
        """Return the names of the complete files in ``folder``, without it; raises ``BuildError``."""
        from pyarrow.fs import FileSelector

        with self._errors("read from"):
            filesystem, path = self._place(folder)
            found = filesystem.get_file_info(FileSelector(path, allow_not_found=True))
            return {info.base_name for info in found if info.is_file and info.extension == "parquet"}

    def remove(self) -> None:
        """Remove all files, as far as that is possible."""
        from pyarrow.fs import FileType

        with self._errors("remove files from"):
            filesystem, path = self._place("")
            if filesystem.get_file_info(path).type == FileType.Directory:
                filesystem.delete_dir(path)

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

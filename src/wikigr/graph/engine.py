"""A database of LadybugDB and queries on it."""

from __future__ import annotations

import importlib
import importlib.util  # LadybugDB 0.15.3 uses importlib.util for Arrow parameters without importing it
import re
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.files import open_regular

ENGINE = "real_ladybug"
# The newest storage version that the engine reads, which is the one that it writes.
STORAGE_VERSION = 40

# Bytes. Enough for the vectors of a scan over a large pack; beyond that, the engine evicts pages.
READ_BUFFER_POOL = 256 << 20
WRITE_BUFFER_POOL = 1 << 30

# Lookups by key in one statement: starting a statement takes longer than the lookup, and planning this many takes 4 ms.
# Half of the sections whose units are read.
_KEYS_AT_ONCE = 10

# The engine's message when the system refuses to reserve virtual memory.
_MMAP_FAILED = re.compile(r"Mmap for size (\d+) failed")

# A database begins with these bytes and the storage version: an unsigned integer of 8 bytes, little-endian.
_MAGIC = b"LBUG"
_HEADER_BYTES = 12


def import_engine(name: str = ENGINE) -> ModuleType:
    """Return the module of the engine; raises ``UsageError`` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UsageError(f"The database engine {name} is not installed.", hint=f"Run `pip install {name}`.") from error


def check_storage_version(database: Path) -> None:
    """Raise ``PackError`` if a newer engine than this one wrote ``database``; other damage shows when it is opened."""
    try:
        with open_regular(database) as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return
    version = int.from_bytes(header[len(_MAGIC) :], "little")
    if len(header) == _HEADER_BYTES and header.startswith(_MAGIC) and version > STORAGE_VERSION:
        raise PackError(
            f"The database {database} has storage version {version}, and {ENGINE} reads versions up to "
            f"{STORAGE_VERSION}.",
            hint="Update wikigr, or build the pack again.",
        )


def reserved_space(size: int) -> int:
    """Return the address space in bytes that the engine needs for a database of ``size`` bytes; see ``Graph``."""
    return 1 << (max(1 << 30, 2 * size) - 1).bit_length()


class QueryError(WikigrError, RuntimeError):
    """The engine rejected a query or failed to run it. Also a ``RuntimeError``, as the documented API promises."""


class Graph:
    """A database and a connection to it, for one thread at a time; ``connect`` gives another thread its own.

    ``engine`` names the module. The tests of the vector index use ``kuzu``, the former name of LadybugDB, which has the
    same interface and the VECTOR extension linked in.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = True,
        engine: str = ENGINE,
        threads: int = 0,
        address_space: int | None = None,
    ) -> None:
        """Open the database at ``path``, or an in-memory one for ``:memory:``.

        Raises ``PackError``, and ``WikigrError`` under a limit on virtual memory.

        ``address_space`` is the number of bytes that the engine reserves: a power of two, larger than the file. The
        engine's default of 8 TiB does not fit a process with a memory limit.
        """
        pool = READ_BUFFER_POOL if read_only else WRITE_BUFFER_POOL
        if read_only and not path.is_file():
            raise PackError(f"There is no database at {path}.", hint="Build the pack again with `wikigr pack build`.")
        # The engine treats an empty file as a new database.
        if read_only and path.stat().st_size == 0:
            raise PackError(f"The database {path} is empty.", hint="Build the pack again with `wikigr pack build`.")
        check_storage_version(path)
        module = import_engine(engine)
        try:
            reserved = {} if address_space is None else {"max_db_size": address_space}
            if threads:
                reserved["max_num_threads"] = threads
            # The engine's messages contain the path, from which callers remove it: "." would remove every period.
            location = str(path if str(path) == ":memory:" else path.absolute())
            database = module.Database(location, read_only=read_only, buffer_pool_size=pool, **reserved)
            connection = module.Connection(database, num_threads=threads)
        except (RuntimeError, IndexError, MemoryError) as error:
            refused = _MMAP_FAILED.search(str(error))
            if refused is not None:
                raise _memory_limit(int(refused[1])) from error
            raise PackError(
                f"Cannot open the database {path}: {_one_line(error)}.",
                hint="Run `wikigr pack validate` on the pack, or build it again.",
            ) from error
        self._use(module, connection, database)

    @classmethod
    def of(cls, connection: Any) -> Self:
        """Return a graph over a connection that the caller owns.

        Raises ``TypeError`` if ``connection`` is not a connection of the engine.
        """
        names = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
        for engine in (ENGINE, "kuzu"):
            if engine in names:
                module = import_engine(engine)
                if isinstance(connection, module.Connection):
                    graph = cls.__new__(cls)
                    graph._use(module, connection, None)
                    return graph
        raise TypeError(f"conn must be a LadybugDB Connection, not {type(connection).__name__}")

    def connect(self) -> Graph:
        """Return another connection to the same database, for another thread; close it before this graph."""
        module = import_engine(self.engine)
        graph = Graph.__new__(Graph)
        graph._use(module, module.Connection(self.connection.database), None)
        graph._owns_connection = True
        return graph

    def _use(self, module: ModuleType, connection: Any, database: Any) -> None:
        self.connection = connection
        self._database = database  # None if the caller owns it
        self._owns_connection = database is not None
        self._prepare = module.PreparedStatement
        self._plans: dict[str, Any] = {}
        self.engine = module.__name__
        self.version: str = module.version
        self.storage_version = int(module.storage_version)

    @property
    def path(self) -> Path | None:
        """The database file, or ``None`` for an in-memory database."""
        where = str(self.connection.database.database_path)
        return None if where in ("", ":memory:") else Path(where)

    def rows(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Sequence[Any]]:
        """Run one statement and return its rows; raises ``QueryError``.

        Statements with parameters are prepared once and cached, because planning takes longer than most queries.
        """
        result = self._run(self._planned(cypher, parameters) if parameters else cypher, parameters)
        try:
            rows: list[Sequence[Any]] = result.get_all()
            return rows
        except RuntimeError as error:
            raise _query_failed(error) from error
        finally:
            result.close()

    def look_up(self, cypher: str, keys: Sequence[str]) -> list[Sequence[Any]]:
        """Run a statement with the parameter ``$key`` for each of ``keys``, and return the rows of all of them.

        The statement must have no ``ORDER BY``. Raises ``QueryError``.
        """
        united = " UNION ALL ".join(cypher.replace("$key", f"$key{n}") for n in range(_KEYS_AT_ONCE))
        whole = len(keys) - len(keys) % _KEYS_AT_ONCE
        rows: list[Sequence[Any]] = []
        for first in range(0, whole, _KEYS_AT_ONCE):
            rows += self.rows(united, {f"key{n}": key for n, key in enumerate(keys[first : first + _KEYS_AT_ONCE])})
        for key in keys[whole:]:
            rows += self.rows(cypher, {"key": key})
        return rows

    def arrow(self, cypher: str) -> Any:
        """Run one statement and return a ``pyarrow.Table``; raises ``QueryError``."""
        result = self._run(cypher, None)
        try:
            return result.get_as_arrow(0)
        except RuntimeError as error:  # a type without an Arrow equivalent, such as the sum of unsigned integers
            raise _query_failed(error) from error
        finally:
            result.close()

    def execute(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run one statement for its effect; raises ``QueryError``."""
        self._run(cypher, parameters).close()

    def copy(self, table: str, rows: Any) -> None:
        """Append a ``pyarrow.Table`` to ``table``. The name is not escaped, so it must not come from a user."""
        if rows.num_rows:
            self.execute(f"COPY {table} FROM $rows", {"rows": rows})

    def _planned(self, cypher: str, parameters: Mapping[str, Any]) -> Any:
        if cypher not in self._plans:
            if len(self._plans) >= 64:
                self._plans.clear()
            try:
                self._plans[cypher] = self._prepare(self.connection, cypher, dict(parameters))
            except RuntimeError as error:
                raise _query_failed(error) from error
        return self._plans[cypher]

    def _run(self, cypher: Any, parameters: Mapping[str, Any] | None) -> Any:
        try:
            return self.connection.execute(cypher, dict(parameters) if parameters else None)
        except RuntimeError as error:
            raise _query_failed(error) from error

    def close(self) -> None:
        """Close the connection and the database, unless the caller owns them."""
        self._plans.clear()
        if self._owns_connection:
            self.connection.close()
        if self._database is not None:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _query_failed(error: RuntimeError) -> QueryError:
    return QueryError(f"The database query failed: {_one_line(error)}.")


def _memory_limit(size: int) -> WikigrError:
    """Return the error for a reservation of ``size`` bytes that the system refused."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = f"The database engine cannot reserve {size / 2**30:,.1f} GiB of virtual memory"
    if limit == resource.RLIM_INFINITY:
        return WikigrError(
            f"{needed}, because the system refuses it.",
            hint="Check the system's memory limits (on Linux: vm.overcommit_memory), then run the same command again.",
        )
    return WikigrError(
        f"{needed}, because this process is limited to {limit / 2**30:,.1f} GiB (ulimit -v). It uses only a small part "
        "of that memory.",
        hint="Remove the limit with `ulimit -v unlimited`, then run the same command again.",
    )


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")

"""The graph engine: the only place that imports LadybugDB."""

from __future__ import annotations

import importlib
import importlib.util  # LadybugDB 0.15.3 uses importlib.util on an Arrow parameter without importing it
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from wikigr.errors import PackError, WikigrError

# Bytes. Enough to hold the vectors of a large pack's scan; the engine evicts beyond it.
READ_BUFFER_POOL = 256 << 20
WRITE_BUFFER_POOL = 1 << 30

_MAX_PLANS = 64


# kuzu is LadybugDB under its former name, and has the VECTOR extension linked in.
_ENGINES = ("real_ladybug", "kuzu")


class QueryError(WikigrError, RuntimeError):
    """The engine refused or failed a query (also a ``RuntimeError``, as the documented API promises)."""


class Graph:
    """A database and one connection to it.

    ``engine`` names the module: ``real_ladybug``, or ``kuzu``, which has the same interface and the VECTOR
    extension linked in (the tests run the index path on it).
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = True,
        engine: str = "real_ladybug",
        threads: int = 0,
        address_space: int | None = None,
    ) -> None:
        """Open the database at ``path``, or one in memory for ``:memory:``; raises ``PackError``.

        ``address_space`` is how many bytes the engine reserves (a power of two, larger than the file) in the place of
        its 8 TiB, which no limit on a process would allow.
        """
        module = importlib.import_module(engine)
        pool = READ_BUFFER_POOL if read_only else WRITE_BUFFER_POOL
        if read_only and not path.is_file():
            raise PackError(f"There is no database at {path}.", hint="Build the pack again with `wikigr pack build`.")
        # The engine would take an empty file for a new database.
        if read_only and path.stat().st_size == 0:
            raise PackError(f"The database {path} is empty.", hint="Build the pack again with `wikigr pack build`.")
        try:
            reserved = {} if address_space is None else {"max_db_size": address_space}
            database = module.Database(str(path), read_only=read_only, buffer_pool_size=pool, **reserved)
            connection = module.Connection(database, num_threads=threads)
        except (RuntimeError, IndexError, MemoryError) as error:
            raise PackError(
                f"The database {path} cannot be opened: {_one_line(error)}.",
                hint="Run `wikigr pack validate` on the pack, or build it again.",
            ) from error
        self._use(module, connection, database)

    @classmethod
    def of(cls, connection: Any) -> Self:
        """Return a graph over a connection that the caller opened and will close.

        Raises ``TypeError`` when ``connection`` is no connection of the engine.
        """
        names = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
        for engine in _ENGINES:
            if engine in names:
                module = importlib.import_module(engine)
                if isinstance(connection, module.Connection):
                    graph = cls.__new__(cls)
                    graph._use(module, connection, None)
                    return graph
        raise TypeError(f"conn must be a LadybugDB Connection, not {type(connection).__name__}")

    def _use(self, module: ModuleType, connection: Any, database: Any) -> None:
        self.connection = connection
        self._database = database  # None: the caller's
        self._prepare = module.PreparedStatement
        self._plans: dict[str, Any] = {}
        self.engine = module.__name__
        self.version: str = module.version
        self.storage_version = int(module.storage_version)

    @property
    def path(self) -> Path | None:
        """The database file; ``None`` for a database in memory."""
        where = str(self.connection.database.database_path)
        return None if where in ("", ":memory:") else Path(where)

    def rows(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Sequence[Any]]:
        """Run one statement and return its rows; raises ``QueryError``.

        A statement with parameters is planned once and kept: planning costs more than most of our queries.
        """
        result = self._run(self._planned(cypher, parameters) if parameters else cypher, parameters)
        try:
            rows: list[Sequence[Any]] = result.get_all()
            return rows
        finally:
            result.close()

    def arrow(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run one statement and return a ``pyarrow.Table``; raises ``QueryError``."""
        result = self._run(cypher, parameters)
        try:
            return result.get_as_arrow(0)
        finally:
            result.close()

    def execute(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run one statement for its effect; raises ``QueryError``."""
        self._run(cypher, parameters).close()

    def copy(self, table: str, rows: Any) -> None:
        """Append a ``pyarrow.Table`` to ``table`` (a name of ours, never of the user's)."""
        if rows.num_rows:
            self.execute(f"COPY {table} FROM $rows", {"rows": rows})

    def _planned(self, cypher: str, parameters: Mapping[str, Any]) -> Any:
        if cypher not in self._plans:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            try:
                self._plans[cypher] = self._prepare(self.connection, cypher, dict(parameters))
            except RuntimeError as error:
                raise QueryError(f"The database query failed: {_one_line(error)}.") from error
        return self._plans[cypher]

    def _run(self, cypher: Any, parameters: Mapping[str, Any] | None) -> Any:
        try:
            return self.connection.execute(cypher, dict(parameters) if parameters else None)
        except RuntimeError as error:
            raise QueryError(f"The database query failed: {_one_line(error)}.") from error

    @contextmanager
    def sibling(self, timeout: float) -> Iterator[Graph]:
        """Open another connection to the same database, whose queries are interrupted after ``timeout`` seconds.

        The limit is the connection's, so this graph keeps none. It is closed on leaving.
        """
        connection = type(self.connection)(self.connection.database, num_threads=self.connection.num_threads)
        try:
            connection.set_query_timeout(max(1, round(timeout * 1000)))  # 0 would mean no limit
            yield Graph.of(connection)
        finally:
            connection.close()

    def close(self) -> None:
        """Close what this graph opened; a caller's own connection stays open."""
        self._plans.clear()
        if self._database is not None:
            self.connection.close()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")

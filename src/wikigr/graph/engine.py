"""The graph engine: the only place that imports LadybugDB."""

from __future__ import annotations

import importlib
import importlib.util  # LadybugDB 0.15.3 uses importlib.util on an Arrow parameter without importing it
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wikigr.errors import PackError, WikigrError

# Bytes. Enough to hold the vectors of a large pack's scan; the engine evicts beyond it.
READ_BUFFER_POOL = 256 << 20
WRITE_BUFFER_POOL = 1 << 30

_MOST_PLANS = 64


class QueryError(WikigrError):
    """The engine refused or failed a query."""


class Graph:
    """A database and one connection to it.

    ``engine`` names the module: ``real_ladybug``, or ``kuzu``, which has the same interface and the VECTOR
    extension linked in (the tests run the index path on it).
    """

    def __init__(self, path: Path, *, read_only: bool = True, engine: str = "real_ladybug", threads: int = 0) -> None:
        module = importlib.import_module(engine)
        pool = READ_BUFFER_POOL if read_only else WRITE_BUFFER_POOL
        if read_only and not path.is_file():
            raise PackError(f"There is no database at {path}.")
        try:
            self._database = module.Database(str(path), read_only=read_only, buffer_pool_size=pool)
            self.connection = module.Connection(self._database, num_threads=threads)
        except (RuntimeError, IndexError, MemoryError) as error:
            raise PackError(
                f"The database {path} cannot be opened: {_one_line(error)}.",
                hint="Run `wikigr pack validate` on the pack, or build it again.",
            ) from error
        self._prepare = module.PreparedStatement
        self._plans: dict[str, Any] = {}
        self.path = path
        self.engine = engine
        self.version: str = module.version
        self.storage_version = int(module.storage_version)

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
            if len(self._plans) >= _MOST_PLANS:
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

    def close(self) -> None:
        self._plans.clear()
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

"""Which engine opens a database: ``real_ladybug``, or its successor ``ladybug``.

A process can use only one of them, because they register the same types: loading the second one crashes the process.
Both read the databases of ``real_ladybug``. Only ``ladybug`` reads its own, and it converts every database that it
opens for writing.
"""

from __future__ import annotations

import importlib
import importlib.util  # LadybugDB 0.15.3 uses importlib.util for Arrow parameters without importing it
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from wikigr.errors import PackError, UsageError

# The engine that creates databases, and that opens those which it can read. The default is the first below.
VARIABLE = "WIKIGR_DATABASE_ENGINE"
# The storage version that each engine writes, which is also the newest that it reads; oldest first.
STORAGE_VERSIONS = {"real_ladybug": 40, "ladybug": 49}
DEFAULT_ENGINE = "real_ladybug"

_INSTALL = {"real_ladybug": "pip install real_ladybug==0.15.3", "ladybug": "pip install 'wikigr[ladybug]'"}
# A database begins with these bytes and the storage version: an unsigned integer of 8 bytes, little-endian.
_MAGIC = b"LBUG"
_HEADER_BYTES = 12


def choose_engine(database: Path, *, read_only: bool = True) -> str:
    """Return the module name of the engine that opens ``database``, or creates it if there is no such file.

    That is the engine that this process has loaded. Otherwise it is the one that ``WIKIGR_DATABASE_ENGINE`` names, or
    the default, if it can read the file, else the one that can. A database that is opened for writing keeps its storage
    version. Raises ``PackError`` if the engine for the file is not installed or cannot be used in this process, and
    ``UsageError`` if the variable names no installed engine.
    """
    loaded = loaded_engine()
    if loaded is not None and read_only:
        # Closing the file would release the locks on it, if this process has the database open already.
        return loaded
    chosen = loaded or _configured_engine()
    found = read_storage_version(database)
    native = _native_engine(found)
    if found is None or native is None or native == chosen or (read_only and found <= STORAGE_VERSIONS[chosen]):
        return chosen
    if loaded is None and is_installed(native):
        return native
    if loaded is not None and found <= STORAGE_VERSIONS[loaded]:
        raise PackError(
            f"The database {database} cannot be opened for writing: {loaded}, which this process uses, would convert "
            f"it from storage version {found} to {STORAGE_VERSIONS[loaded]}.",
            hint=f"Open it read-only, or in a process that uses {native}.",
        )
    raise unreadable(database, found, loaded)


def unreadable(database: Path, storage_version: int, loaded: str | None) -> PackError:
    """Return the error for a database that the engine of this process cannot read, or none that is installed."""
    native = _native_engine(storage_version)
    what = f"The database {database} has storage version {storage_version}"
    if native is None or native == loaded:
        return PackError(f"{what}, which no known engine reads.", hint="Update wikigr, or build the pack again.")
    install = "" if is_installed(native) else f"Run `{_INSTALL[native]}`. "
    if loaded is None:
        return PackError(f"{what}, which the engine {native} reads. It is not installed.", hint=install.strip())
    return PackError(
        f"{what}, which {loaded} cannot read, and this process already uses {loaded}.",
        hint=f"{install}Set {VARIABLE}={native}, which reads both, and run the same command again.",
    )


def _native_engine(storage_version: int | None) -> str | None:
    """Return the oldest engine that reads ``storage_version``."""
    if storage_version is None:
        return None
    return next((name for name, newest in STORAGE_VERSIONS.items() if storage_version <= newest), None)


def prepare_engine(databases: Iterable[Path]) -> None:
    """Load the engine that reads all of ``databases``, before the first of them is opened.

    Raises the errors of ``choose_engine``. An engine that is already loaded stays.
    """
    if loaded_engine() is not None:
        return
    newest = max(databases, key=lambda database: read_storage_version(database) or 0)
    import_engine(choose_engine(newest))


def loaded_engine() -> str | None:
    """Return the name of the engine that this process has imported, by wikigr or by its caller."""
    # Another package provides a module `ladybug`, too.
    return next((name for name in STORAGE_VERSIONS if hasattr(sys.modules.get(name), "Database")), None)


def is_installed(engine: str) -> bool:
    """Return whether ``engine`` can be imported."""
    return importlib.util.find_spec(engine) is not None


def import_engine(engine: str | None = None) -> ModuleType:
    """Return the module of ``engine`` with its library loaded; by default that of a new database.

    Raises ``UsageError`` if it is not installed, or if this process already uses the other engine.
    """
    loaded = loaded_engine()
    name = engine or loaded or _configured_engine()
    if loaded is not None and name in STORAGE_VERSIONS and name != loaded:
        raise UsageError(f"This process already uses the database engine {loaded}, so it cannot use {name}.")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise _not_installed(name) from error
    _ = module.version  # ladybug loads its library on first use, which the walls of a sandbox would prevent
    return module


def read_storage_version(database: Path) -> int | None:
    """Return the storage version in the header of ``database``, or ``None`` if it is not a database of LadybugDB."""
    try:
        with database.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return None
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        return None
    return int.from_bytes(header[len(_MAGIC) :], "little")


def _configured_engine() -> str:
    """Return the engine that the environment names, or the default."""
    name = os.environ.get(VARIABLE, "").strip()
    if not name:
        return DEFAULT_ENGINE
    if name not in STORAGE_VERSIONS:
        raise UsageError(f"{VARIABLE} is {name!r}.", hint=f"Set it to {' or '.join(STORAGE_VERSIONS)}, or unset it.")
    if not is_installed(name):
        raise _not_installed(name)
    return name


def _not_installed(engine: str) -> UsageError:
    hint = f"Run `{_INSTALL[engine]}`." if engine in _INSTALL else None
    return UsageError(f"The database engine {engine} is not installed.", hint=hint)

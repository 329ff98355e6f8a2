"""The documents of Debian packages that are installed."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from wikigr.distribution.recipes.recipe import DebianPackage
from wikigr.errors import SourceError

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class InstalledDocs:
    """The ``folder`` of the documents, and the installed package that holds it, ``""`` if ``dpkg`` does not know."""

    folder: Path
    package: str
    version: str


def find_documents(source: DebianPackage) -> InstalledDocs:
    """Return where the documents are; raises ``SourceError`` with the command that installs them."""
    # Links of different names lead to the same documents.
    found = {folder.resolve() for folder in Path("/").glob(source.folder.lstrip("/")) if folder.is_dir()}
    if not found:
        raise _missing(source)
    folder = max(found, key=_natural_order)
    package = _owner(folder, source.package)
    return InstalledDocs(folder, package, _version(package))


def _missing(source: DebianPackage) -> SourceError:
    version = _version(source.package)
    if version:
        return SourceError(
            f"{source.package} {version} is installed, but without its documents: there is no {source.folder}.",
            hint="Containers often leave out /usr/share/doc (path-exclude in /etc/dpkg/dpkg.cfg.d). Remove that line, "
            f"then run: apt-get install --reinstall {source.package}",
        )
    return SourceError(
        f"The documents of the Debian package {source.package} are not installed: there is no {source.folder}.",
        hint=f"apt-get install {source.package}. On another system, give a copy of the documents with --source.",
    )


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a key that orders ``python3.9`` before ``python3.11``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(path)) if part]


def _owner(folder: Path, package: str) -> str:
    """Return the installed package that holds ``folder``, preferably ``package``."""
    # sqlite3-doc, sqlite3: /usr/share/doc/sqlite3
    names = _dpkg_query("--search", str(folder)).partition(": ")[0].split(", ")
    owners = [name.partition(":")[0] for name in names]
    return package if package in owners else owners[0]


def _version(package: str) -> str:
    """Return the version of an installed package, ``""`` if it is not installed."""
    status, _, version = _dpkg_query("--show", "--showformat=${db:Status-Status} ${Version}", package).partition(" ")
    return version if status == "installed" else ""


def _dpkg_query(*arguments: str) -> str:
    """Return what ``dpkg-query`` prints, ``""`` where it does not exist or finds nothing."""
    program = which("dpkg-query")
    if program is None or not all(arguments):
        return ""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout if done.returncode == 0 else ""

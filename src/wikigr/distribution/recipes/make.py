"""Make the pack of a recipe, of documents on the disk or of a download whose SHA-256 is checked.

Downloads are kept in the cache folder, in a folder named after their SHA-256, so that the next build needs no network
and citations can open the documents.
"""

from __future__ import annotations

import filecmp
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from wikigr.distribution.archive import normalize_sha256
from wikigr.distribution.download import is_url, open_download, redact_url
from wikigr.distribution.recipes.recipe import Recipe, recipe_argument
from wikigr.distribution.recipes.unpack import unpack_archive
from wikigr.embeddings.loader import open_encoder
from wikigr.errors import SourceError, UsageError
from wikigr.files import locked
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.destination import check_destination
from wikigr.pack.manifest import QUESTIONS, file_sha256
from wikigr.progress import Progress, Silent
from wikigr.settings import cache_folder
from wikigr.sources.detect import open_source

_MAX_DOWNLOAD_BYTES = 256 << 30
_UNPACKED = "unpacked"


@dataclass(frozen=True, slots=True)
class Documents:
    """The ``location`` of documents, and where they come from, in the words of the manifest's ``source``."""

    location: Path
    provenance: Mapping[str, str]


def fetch(
    recipe: Recipe,
    source: str | None = None,
    sha256: str | None = None,
    *,
    allow_private: bool = False,
    progress: Progress | None = None,
) -> Documents:
    """Return the documents of ``recipe``, downloaded and unpacked if necessary.

    ``source`` (a path or a URL) and ``sha256`` are what the user chose in place of the recipe's.

    Raises ``SourceError`` if they are missing, damaged or not those that the recipe means, ``UsageError`` for a choice
    that does not apply or if nothing says which SHA-256 a download must have, and ``WikigrError`` if a download fails.
    """
    progress = progress or Silent()
    pinned = recipe.source.archive or recipe.source.file
    place = source or (pinned.url if pinned is not None else str(recipe.local_path))
    sha256 = normalize_sha256(sha256)
    if not is_url(place):
        if not Path(place).exists():
            hint = f"Correct `source` in {recipe.file}, or give --source a folder, a file or an https:// URL."
            raise SourceError(f"{place} does not exist.", hint=hint)
        if Path(place).is_dir() or (pinned is None and source is None):
            if sha256 is not None:
                raise UsageError("--sha256 needs a source that is a file.", hint="Leave --sha256 out.")
            return Documents(Path(place), {})
    sha256 = sha256 or (pinned.sha256 if pinned is not None else None)
    if sha256 is None and is_url(place):
        stated = recipe.source.file.checksum if recipe.source.file is not None and source is None else None
        raise UsageError(
            f"Nothing says which SHA-256 {redact_url(place)} must have.",
            hint=f"Give the one that its publisher states{f' at {stated}' if stated else ''}: "
            f"wikigr pack make {recipe_argument(recipe)} --sha256 HEX",
        )
    try:
        sha256 = sha256 or file_sha256(Path(place))
        store = cache_folder() / "sources" / sha256
        store.mkdir(parents=True, exist_ok=True)
        with locked(store / ".lock", on_wait=lambda: None):
            file = _file(place, sha256, store, progress, allow_private=allow_private)
            provenance = {**({"url": redact_url(place)} if is_url(place) else {}), "sha256": sha256}
            archive = recipe.source.archive
            location = file if archive is None else _unpack(file, store / _UNPACKED, archive.folder or "", progress)
            return Documents(location, provenance)
    except OSError as error:
        raise SourceError(
            f"Cannot store the source of {recipe.name}: {error.strerror or error}"
            + (f" ({error.filename})." if error.filename is not None else "."),
            hint="Free some disk space, or set XDG_CACHE_HOME to another folder, then run the same command again.",
        ) from error


def _file(place: str, sha256: str, store: Path, progress: Progress, *, allow_private: bool) -> Path:
    """Return the file at ``place``, a path or a URL, which is downloaded into ``store`` unless it is there."""
    if not is_url(place):
        _require_sha256(Path(place), place, sha256)
        return Path(place)
    name = re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(urlsplit(place).path).name).lstrip(".")
    kept = store / ("source" if name.lower() in ("", _UNPACKED) else name[-200:])
    if not (kept.is_file() and file_sha256(kept) == sha256):
        with open_download(
            place,
            cache_folder() / "downloads",
            max_bytes=_MAX_DOWNLOAD_BYTES,
            allow_private=allow_private,
            progress=progress,
        ) as found:
            _require_sha256(found, redact_url(place), sha256)
            found.replace(kept)
    return kept


def _require_sha256(file: Path, label: str, sha256: str) -> None:
    found = file_sha256(file)
    if found != sha256:
        raise SourceError(
            f"{label} is not the file that is expected: its SHA-256 is {found}, not {sha256}.",
            hint="Nothing was built. Ask the publisher, or whoever wrote the recipe, which of the two is right.",
        )


def _unpack(archive: Path, unpacked: Path, folder: str, progress: Progress) -> Path:
    """Return ``folder`` in what ``archive`` contains, which is unpacked unless it is there."""
    if not unpacked.is_dir():
        progress.start("unpacking", 1, "archive")
        unpack_archive(archive, unpacked)
        progress.advance(1)
    if not (unpacked / folder).exists():
        names = ", ".join(sorted(entry.name for entry in unpacked.iterdir())[:5])
        raise SourceError(f"{archive.name} has no folder {folder}; it contains {names}.")
    return unpacked / folder


def make_pack(
    recipe: Recipe,
    documents: Documents,
    destination: Path,
    *,
    jobs: int,
    progress: Progress | None = None,
) -> BuildReport:
    """Build the pack of ``recipe`` from its ``documents`` in the folder ``destination``, with its gold questions.

    ``jobs`` is that of ``BuildOptions``. Raises like ``build_pack``, and ``UsageError`` for a destination with other
    files.
    """
    progress = progress or Silent()
    chosen, location = recipe.options, str(documents.location)
    check_destination(location, destination)
    source = open_source(location, chosen.source_format)
    options = BuildOptions(
        name=recipe.name,
        version=recipe.version,
        description=recipe.description,
        license=recipe.license,
        attribution=recipe.attribution,
        limit=chosen.limit,
        jobs=jobs,
        keep_going=chosen.keep_going,
        provenance={"recipe": recipe.name, "homepage": recipe.homepage, **documents.provenance},
    )
    encoder = open_encoder(chosen.embedding_model, purpose="bulk")
    report = build_pack(source, location, destination, encoder, options, progress=progress)
    questions, target = recipe.questions_file, destination / QUESTIONS
    if questions is not None and not target.exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(questions, target)
    elif questions is not None and not filecmp.cmp(questions, target, shallow=False):
        # The user may have added their own.
        progress.note(f"{target} differs from the questions of the recipe and is kept.")
    return report

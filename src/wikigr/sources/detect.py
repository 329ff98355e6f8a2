"""Choose the reader for a source: by the requested format, or by the file's content and name."""

from __future__ import annotations

import os
from pathlib import Path

from wikigr.errors import MissingSourceError, SourceError, UsageError
from wikigr.sources.article import Source
from wikigr.sources.formats import FORMAT_NAMES, FORMATS, HEAD_BYTES, SourceFormat, format_named
from wikigr.sources.streams import STDIN, open_bytes


def open_source(
    location: str | Path,
    format: str | None = None,  # noqa: A002 - the option's name
    *,
    follow_links: bool = False,
) -> Source:
    """Return the reader for ``location``: a file, a folder, or ``"-"`` for standard input.

    Links that lead out of a folder are left out without ``follow_links``.

    Raises ``SourceError`` when the input is missing, unreadable or empty, and ``UsageError`` when ``format`` is
    unknown or cannot be detected, when the format cannot read this kind of input, or when ``location`` is a pipe or
    device.
    """
    requested = format_named(format) if format is not None else None
    if str(location) == STDIN:
        return _stdin_format(requested).open(STDIN)
    path = Path(location)
    if not path.exists():
        raise MissingSourceError(f"{path} does not exist.", hint="Check the path.")
    if not path.is_file() and not path.is_dir():
        # Detection and every resumed build read the source again, which would block on a pipe or find it empty.
        raise UsageError(
            f"{path} is a pipe or a device, not a file; use - for JSON Lines on standard input.",
            hint="Write other formats to a file first.",
        )
    row = requested or detect_format(path)
    if requested is not None and path.is_file():
        _refuse_other_content(path, requested)
    # JSON Lines reports a folder while reading, as a source that cannot be read.
    if path.is_dir() and not row.reads_folders and not row.reads_stdin:
        raise UsageError(f"{path} is a folder; the {row.name} format needs a file.")
    return row.open(path, follow_links=follow_links)


def _stdin_format(requested: SourceFormat | None) -> SourceFormat:
    readable = next(row for row in FORMATS if row.reads_stdin)
    if requested is not None and not requested.reads_stdin:
        raise UsageError(
            f"Standard input is read as {readable.name}; the {requested.name} format needs a file or folder."
        )
    return requested or readable


def detect_format(path: Path) -> SourceFormat:
    """Return the format of an existing file or folder; raises as ``open_source`` does."""
    return _detect_folder(path) if path.is_dir() else _detect_file(path)


def _detect_folder(path: Path) -> SourceFormat:
    """Return the format that has the most files in the folder, hidden ones aside.

    Formats that can be mixed count as one.
    """
    rows = [row for row in FORMATS if row.reads_folders and not row.combines]
    counts = dict.fromkeys((row.name for row in rows), 0)
    for _, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names = [name for name in files if not name.startswith(".")]
        for row in rows:
            counts[row.name] += sum(map(row.has_suffix, names))
    found = [row for row in rows if counts[row.name]]
    if not found:
        raise SourceError(
            f"{path} has no {' or '.join(counts)} files.",
            hint="For other formats, name the file instead of its folder.",
        )
    deciding = {row.name for row in found if not row.companion} or {row.name for row in found}
    # HTML beside notes was made from them, unless office files show that people keep their documents here.
    has_office = "office" in deciding and not format_named("office").missing_packages
    groups = [row.combines for row in FORMATS if row.combines and (has_office or "office" not in row.combines)]
    groups += [(row.name,) for row in rows]
    chosen = max(groups, key=lambda group: sum(counts[name] for name in group if name in deciding))
    present = [name for name in chosen if counts[name]]
    return format_named(present[0]) if len(present) == 1 else next(row for row in FORMATS if row.combines == chosen)


def _refuse_other_content(path: Path, requested: SourceFormat) -> None:
    """Raise ``UsageError`` if the content of the file says that it is in another format than the one requested."""
    head = _head(path)
    certain = next((row for row in FORMATS if row.content_decides and row.sniff is not None and row.sniff(head)), None)
    if certain is not None and certain is not requested and certain.name not in requested.combines:
        raise UsageError(
            f"{path} is not in the format {requested.name}: its content is that of {certain.description}.",
            hint=f"Leave --source-format out, or use --source-format {certain.name}.",
        )


def _head(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")


def _detect_file(path: Path) -> SourceFormat:
    head = _head(path)
    if not head.strip():
        raise SourceError(f"{path} is empty.")
    named = [row for row in FORMATS if not row.content_decides and not row.combines and row.has_suffix(path.name)]
    sniffed = [
        row
        for row in FORMATS
        if row.sniff is not None and (row in named or not row.sniffs_own_suffixes) and row.sniff(head)
    ]
    certain = [row for row in sniffed if row.content_decides]
    # The content chooses among formats with the same suffix.
    named.sort(key=lambda row: not (row.sniffs_own_suffixes and row in sniffed))
    # Data is often called ".txt" too.
    found = [*certain, *(row for row in named if not row.companion), *sniffed, *named]
    if not found:
        raise UsageError(
            f"Cannot detect the format of {path}. Name it with --source-format: {', '.join(FORMAT_NAMES)}."
        )
    return found[0]

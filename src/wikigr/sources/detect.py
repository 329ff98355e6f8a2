"""Choose the reader for a source: by the requested format, or by the file's content and name."""

from __future__ import annotations

from pathlib import Path

from wikigr.errors import MissingSourceError, SourceError, UsageError
from wikigr.sources.article import Source
from wikigr.sources.formats import (
    FOLDER,
    FORMAT_NAMES,
    FORMATS,
    HEAD_BYTES,
    SourceFormat,
    format_named,
)
from wikigr.sources.source_files import visible_files
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
        if requested is not None and not requested.reads_stdin:
            raise UsageError(f"Standard input is read as jsonl; the {requested.name} format needs a file or folder.")
        return (requested or format_named("jsonl")).open(STDIN)
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
    if path.is_file() and row.name == FOLDER:
        raise UsageError(f"{path} is a file; the format {FOLDER} needs a folder.", hint="Leave --source-format out.")
    if requested is not None and path.is_file():
        _refuse_other_content(path, requested)
    # JSON Lines reports a folder while reading, as a source that cannot be read.
    if path.is_dir() and not row.reads_folders and not row.reads_stdin:
        raise UsageError(f"{path} is a folder; the {row.name} format needs a file.")
    return row.open(path, follow_links=follow_links)


def detect_format(path: Path) -> SourceFormat:
    """Return the format of an existing file or folder; raises as ``open_source`` does."""
    return _detect_folder(path) if path.is_dir() else _detect_file(path)


def _detect_folder(path: Path) -> SourceFormat:
    """Return the format of the documents in the folder, or ``folder`` if they have several.

    A folder with more HTML pages than other documents is one of HTML pages: the others accompany them. That is not so
    if there are office files, which show that people keep their documents here.
    """
    rows = [row for row in FORMATS if row.converter]
    files = list(visible_files(path))
    counts = {row: sum(row.has_suffix(file.name) for file in files) for row in rows}
    present = [row for row in rows if counts[row]]
    if not present:
        raise SourceError(
            f"{path} has no {' or '.join(row.name for row in rows)} files.",
            hint="For other formats, name the file instead of its folder.",
        )
    # Office files that cannot be read are left out, unless there is nothing else.
    readable = [row for row in present if not row.missing_packages] or present
    deciding = [row for row in readable if not row.companion] or readable
    html = format_named("html")
    others = sum(counts[row] for row in deciding if row is not html)
    if html in deciding and counts[html] > others and not any(row.packages for row in deciding):
        return html
    only = readable[0] if len(readable) == 1 else None
    return only if only is not None and only.reads_folders else format_named(FOLDER)


def _refuse_other_content(path: Path, requested: SourceFormat) -> None:
    """Raise ``UsageError`` if the content of the file says that it is in another format than the one requested."""
    head = _head(path)
    certain = next((row for row in FORMATS if row.content_decides and row.sniff is not None and row.sniff(head)), None)
    if certain is not None and certain is not requested:
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
    named = [row for row in FORMATS if not row.content_decides and row.name != FOLDER and row.has_suffix(path.name)]
    sniffed = [
        row
        for row in FORMATS
        if row.sniff is not None and (row in named or not row.sniffs_own_suffixes) and row.sniff(head)
    ]
    certain = [row for row in sniffed if row.content_decides]
    # The content chooses among formats with the same suffix.
    named.sort(key=lambda row: not (row.sniffs_own_suffixes and row in sniffed))
    # Data is often called ".txt" too.
    found = [*certain, *(row for row in named if not row.companion or row in sniffed), *sniffed, *named]
    if not found:
        raise UsageError(
            f"Cannot detect the format of {path}. Name it with --source-format: {', '.join(FORMAT_NAMES)}."
        )
    return found[0]

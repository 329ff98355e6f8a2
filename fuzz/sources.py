"""Read a source as a build does, and check what it yields."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from wikigr.errors import RecordError, SourceError, UsageError
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source

MAX_RECORDS = 20_000


def read_source(path: Path, format_name: str | None) -> tuple[str, str]:
    """Read a source or its first ``MAX_RECORDS`` records; returns ``read`` or ``refused``, and what was found.

    Every exception that a source does not document passes through.
    """
    articles = bad = 0
    try:
        source = open_source(path, format_name)
        for record in islice(source.records(), MAX_RECORDS):
            try:
                for item in source.parse(record):
                    if isinstance(item, SourceArticle):
                        assert item.title.strip(), item
                        articles += 1
            except RecordError:
                bad += 1
    except (SourceError, UsageError) as error:
        return "refused", error.message[:200]
    return "read", f"{articles} articles, {bad} bad records"


def read_file(data: bytes, file_name: str, format_name: str | None) -> None:
    """Read a file with the content ``data``."""
    with TemporaryDirectory(prefix="wikigr-fuzz-") as folder:
        path = Path(folder, file_name)
        path.write_bytes(data)
        read_source(path, format_name)

"""Reads sources in a process with a limit on its memory: a line of JSON for each path that comes on standard input.

``python source_child.py MEGABYTES``; a line in is ``["format", "path"]``, a line out ``[kind, detail, peak KiB]``.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from wikigr.errors import RecordError, SourceError, UsageError
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source

MAX_RECORDS = 20_000


def read(name: str, path: Path) -> tuple[str, str]:
    """Read a source to its end, or its first records; whatever is no error of ours ends the process."""
    articles = bad = 0
    try:
        source = open_source(path, name or None)
        for number, record in enumerate(source.records()):
            if number == MAX_RECORDS:
                break
            try:
                articles += sum(isinstance(item, SourceArticle) for item in source.parse(record))
            except RecordError:
                bad += 1
    except (SourceError, UsageError) as error:
        return "refused", error.message[:200]
    return "read", f"{articles} articles, {bad} bad records"


def main() -> None:
    # Every parser is loaded before the limit: what counts is what a source makes of it.
    from wikigr.sources import mediawiki, rdf, triples, zim  # noqa: F401

    limit = int(sys.argv[1]) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        name, path = json.loads(line)
        kind, detail = read(name, Path(path))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sys.stdout.write(json.dumps([kind, detail, peak]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Read sources in a process with a memory limit; paths come on standard input, one JSON line each.

``python source_child.py MEGABYTES`` reads lines ``["format", "path"]`` and writes lines ``[kind, detail, peak KiB]``.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from pathlib import Path

from wikigr.errors import RecordError, SourceError, UsageError
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.formats import FORMATS

MAX_RECORDS = 20_000


def read(name: str, path: Path) -> tuple[str, str]:
    """Read a source or its first ``MAX_RECORDS`` records; unexpected exceptions end the process."""
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
    # Load all parsers before setting the limit, so that it applies to the sources alone.
    for row in FORMATS:
        import_module(row.reader.partition(":")[0])

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

"""Read sources in a process with a memory limit; paths come on standard input, one JSON line each.

``python -m tests.trust.source_child MEGABYTES`` reads lines ``["format", "path"]`` and writes lines
``[kind, detail, peak KiB]``.
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from pathlib import Path

from fuzz.targets import read_source

from wikigr.sources.formats import FORMATS


def peak_kib() -> int:
    """Return the peak memory of this process; ``ru_maxrss`` would begin with that of the process that started it."""
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM:"))


def main() -> None:
    # Load all parsers before setting the limit, so that it applies to the sources alone.
    for row in FORMATS:
        for name in filter(None, (row.reader, row.converter)):
            import_module(name.partition(":")[0])

    limit = int(sys.argv[1]) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for line in sys.stdin:
        name, path = json.loads(line)
        kind, detail = read_source(Path(path), name or None)
        sys.stdout.write(json.dumps([kind, detail, peak_kib()]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

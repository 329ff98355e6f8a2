"""``wikigr pack update --watch``: update a pack whenever its source changes."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

from wikigr.errors import WikigrError
from wikigr.progress import Silent
from wikigr.sources.detect import open_source
from wikigr.sources.watching import check_watchable, watch_files
from wikigr.versions.review import UpdateOptions
from wikigr.versions.update import UpdateReport, update_pack
from wikigr_cli.environment import Environment
from wikigr_cli.render.changes import update_document
from wikigr_cli.render.output import counted, print_json_line


class _Notes(Silent):
    """Shows the notes of an update; its stages are too short for bars."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def note(self, message: str) -> None:
        self._environment.note(message)


def keep_current(
    environment: Environment,
    folder: Path,
    source: str,
    source_format: str | None,
    chosen: UpdateOptions,
    *,
    as_json: bool,
) -> None:
    """Update the pack in ``folder`` now and after every change, with a line for each update, until Ctrl-C.

    An update that fails is reported, and the next change is waited for. The pack stays whole if it is interrupted.
    """
    path = check_watchable(source)
    try:
        for number, _ in enumerate(watch_files(path, note=environment.note)):
            begun = time.perf_counter()
            try:
                opened = open_source(source, source_format, follow_links=chosen.follow_links)
                report = update_pack(folder, opened, source, options=chosen, progress=_Notes(environment))
            except WikigrError as error:
                environment.report(error)
            else:
                if as_json:
                    print_json_line(environment, update_document(report, folder, dry_run=False))
                elif report.build is not None:
                    environment.print(f"{datetime.now():%H:%M:%S} {_summary(report, time.perf_counter() - begun)}")
            environment.stdout.flush()
            if number == 0:
                environment.note(f"Watching {source}. Ctrl-C stops.")
    except KeyboardInterrupt:
        environment.note("Stopped watching.")


def _summary(report: UpdateReport, seconds: float) -> str:
    """Return an update in one line: ``1 article added, 2 changed; 3 sections encoded in 1.2 s``."""
    content, build = report.diff.content, report.build
    changes = {
        "added": len(content.added),
        "removed": len(content.removed),
        "renamed": len(content.renamed),
        "changed": len(content.changed),
    }
    parts = [f"{count:,} {kind}" for kind, count in changes.items() if count]
    what = f"articles: {', '.join(parts)}" if parts else "links, names or files changed"
    encoded = counted(build.embedded, "sections") if build is not None else "no section"
    return f"{what}; {encoded} encoded in {seconds:.1f} s, version {report.diff.b.version}"

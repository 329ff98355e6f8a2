"""The evaluation runs in a folder, and their reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wikigr.errors import WikigrError
from wikigr.evaluation.reports.document import report_document
from wikigr.evaluation.reports.html import html_report
from wikigr.evaluation.run import RUN, load_run, read_run
from wikigr.evaluation.samples import SAMPLES
from wikigr.server.web.addresses import address

_MAX_RUNS = 200
_MAX_REPORTS = 8


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list; ``problem`` says why its report cannot be shown, or is empty.

    ``created`` is the time in UTC, which runs of earlier releases lack.
    """

    name: str
    href: str
    pack: str
    created: str
    questions: int
    profiles: tuple[str, ...]
    problem: str


def list_runs(folder: Path) -> tuple[RunRow, ...]:
    """Return the runs directly in ``folder``, the newest first; a folder that does not exist has none."""
    if not folder.is_dir():
        return ()
    rows = [_row(entry) for entry in sorted(folder.iterdir()) if (entry / RUN).is_file()]
    return tuple(sorted(rows, key=lambda row: row.created, reverse=True)[:_MAX_RUNS])


def find_run(folder: Path, name: str) -> Path:
    """Return the folder of the run ``name``; raises ``KeyError`` if it is not one of the runs in ``folder``."""
    # Names are compared with what the folder contains. A path is never made from one.
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if entry.name == name and (entry / RUN).is_file():
            return entry
    raise KeyError(name)


def report_of(run: Path) -> str:
    """Return the HTML report of a run; raises ``WikigrError`` if the run cannot be read."""
    changed = tuple(file.stat().st_mtime_ns for file in (run / RUN, run / SAMPLES) if file.is_file())
    return _report(run, changed)


@lru_cache(maxsize=_MAX_REPORTS)
def _report(run: Path, changed: tuple[int, ...]) -> str:
    return html_report(report_document(load_run(run)))


def _row(folder: Path) -> RunRow:
    href = address("/runs", {"run": folder.name})
    try:
        run = read_run(folder)
    except WikigrError as error:
        return RunRow(folder.name, href, "", "", 0, (), error.message)
    return RunRow(
        name=folder.name,
        href=href,
        pack=f"{run.pack['name']} {run.pack.get('version', '')}".strip(),
        created=run.created,
        questions=run.questions["count"],
        profiles=tuple(run.profiles),
        problem="",
    )

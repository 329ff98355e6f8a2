"""What ``wikigr pack diff`` and ``wikigr pack update`` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document
from wikigr_cli.render.pack import build_document, print_build

if TYPE_CHECKING:
    from wikigr.ingest.update import UpdateReport
    from wikigr.pack.diff import PackDiff

# Without --all, this many changes of each kind are printed.
_MAX_CHANGES = 10
_COUNTED = ("articles", "sections", "links", "mentions", "triples")


def diff_document(found: PackDiff) -> dict[str, Any]:
    """Return what ``wikigr pack diff --json`` prints."""
    content = {
        "added": list(found.content.added),
        "removed": [{"title": title} for title in found.content.removed],
        "changed": [{"title": title} for title in found.content.changed],
    }
    return {"schema_version": SCHEMA_VERSION, "differs": found.differs, **asdict(found), "content": content}


def print_diff(environment: Environment, document: Document, *, everything: bool) -> None:
    """Print the counts, and all changes with ``everything``, else the first of each kind."""
    a, b, content = document["a"], document["b"], document["content"]
    environment.print(f"{a['name']} {a['version']} → {b['name']} {b['version']}", style="bold")
    counts = [f"{name} {a[name]:,} → {b[name]:,}" for name in _COUNTED if a[name] or b[name]]
    same = "the same" if a["digest"] == b["digest"] else f"{a['digest'][:12]} → {b['digest'][:12]}"
    environment.print(", ".join(counts), style="dim", hang=2)
    environment.print(f"digest {same}", style="dim")
    lines = {
        "articles added": [f"+ {title}" for title in content["added"]],
        "articles removed": [f"- {row['title']}" for row in content["removed"]],
        "articles changed": [row["title"] for row in content["changed"]],
    }
    for kind, changes in lines.items():
        _print_kind(environment, kind, changes, None if everything else _MAX_CHANGES)
    if not document["differs"]:
        environment.print("The content is the same.")
    elif not any(lines.values()):
        environment.print("The articles are the same; links, mentions or triples differ.")


def _print_kind(environment: Environment, kind: str, lines: Sequence[str], limit: int | None) -> None:
    if not lines:
        return
    environment.print(f"{kind}: {len(lines):,}", style="bold")
    for line in lines[:limit]:
        environment.print(f"  {line}", hang=4)
    if limit is not None and len(lines) > limit:
        environment.print(f"  … and {len(lines) - limit:,} more (--all)", style="dim")


def update_document(report: UpdateReport, folder: Path, *, dry_run: bool) -> dict[str, Any]:
    """Return what ``wikigr pack update --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pack": str(folder),
        "updated": report.build is not None,
        "dry_run": dry_run,
        "version": report.diff.b.version,
        "digest": report.diff.b.digest,
        "diff": diff_document(report.diff),
        "build": None if report.build is None else build_document(report.build, folder),
    }


def print_update(environment: Environment, document: Document, *, everything: bool) -> None:
    """Print what an update did, or would do."""
    from wikigr.pack.layout import readable_path

    found, pack = document["diff"], readable_path(Path(document["pack"]))
    if not found["differs"]:
        environment.print(f"{pack}: nothing changed and nothing was written.")
        return
    print_diff(environment, found, everything=everything)
    environment.print()
    if document["build"] is None:
        environment.note("Nothing was written (--dry-run).")
        return
    print_build(environment, document["build"])
    if found["a"]["version"] != document["version"]:
        environment.print(f"{pack} is now version {document['version']}.", style="bold")

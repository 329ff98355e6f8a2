"""``wikigr pack diff`` and ``wikigr pack update``: what changed between two packs, and follow a source."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.commands.pack.build import SOURCE_FORMAT, build_document, print_build
from wikigr_cli.commands.pack.distribution import installed_document, print_installed
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Check, Input, Metadata, Output, Run
from wikigr_cli.render.output import SCHEMA_VERSION, Document

if TYPE_CHECKING:
    from wikigr.pack.diff import PackDiff

EVERYTHING = Output("--all", help="Show all changes, not only the first ten of each kind.")


# Without --all, this many changes of each kind are printed.
_MAX_CHANGES = 10
_COUNTED = ("articles", "sections", "links", "mentions", "triples")


def _diff_document(found: PackDiff) -> dict[str, Any]:
    content = {
        "added": list(found.content.added),
        "removed": [{"title": title} for title in found.content.removed],
        "changed": [{"title": title} for title in found.content.changed],
    }
    return {"schema_version": SCHEMA_VERSION, "differs": found.differs, **asdict(found), "content": content}


def _print_diff(environment: Environment, document: Document, *, everything: bool) -> None:
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
        shown = changes if everything else changes[:_MAX_CHANGES]
        if changes:
            environment.print(f"{kind}: {len(changes):,}", style="bold")
        for line in shown:
            environment.print(f"  {line}", hang=4)
        if len(shown) < len(changes):
            environment.print(f"  … and {len(changes) - len(shown):,} more (--all)", style="dim")
    if not document["differs"]:
        environment.print("The content is the same.")
    elif not any(lines.values()):
        environment.print("The articles are the same; links, mentions or triples differ.")


def _print_update(environment: Environment, document: Document, *, everything: bool) -> None:
    from wikigr.pack.layout import readable_path

    found, pack = document["diff"], readable_path(Path(document["pack"]))
    if not found["differs"]:
        environment.print(f"{pack}: nothing changed and nothing was written.")
        return
    _print_diff(environment, found, everything=everything)
    environment.print()
    if document["build"] is None:
        environment.note("Nothing was written (--dry-run).")
        return
    print_build(environment, document["build"])
    if found["a"]["version"] != document["version"]:
        environment.print(f"{pack} is now version {document['version']}.", style="bold")


@command(
    before=options.Pack(metavar="A", help="The old pack."),
    after=options.Pack(metavar="B", help="The new pack."),
    everything=EVERYTHING,
    exit_code=Check(help="Exit with 1 if the packs differ."),
)
def diff(before: str, after: str, everything: bool = False, exit_code: bool = False) -> Iterator[Result]:
    """Compare two packs: counts, and the articles that differ.

    Examples:
      wikigr pack diff packs/notes packs/notes
      wikigr pack diff packs/notes packs/notes --exit-code --json
    """
    from wikigr.pack.diff import diff_packs

    difference = diff_packs(before, after)
    yield _diff_document(difference), partial(_print_diff, everything=everything)
    if exit_code and difference.differs:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


@command(
    pack=options.Pack(metavar="PACK", help="The folder of the pack, or the name of an installed pack."),
    source_format=SOURCE_FORMAT,
    source=Input("--from", metavar="SOURCE", help="The source to follow: anything that `pack build` reads."),
    pack_version=Metadata(metavar="VERSION", help="The new semantic version, a higher one. Default: unchanged."),
    dry_run=Run(help="Show what would change and write nothing."),
    force=Run(
        help="Allow the removal of more than half of the articles, or the installation of an older version.",
    ),
    everything=EVERYTHING,
)
def update(
    environment: Environment,
    pack: str,
    source: str | None = None,
    source_format: str | None = None,
    pack_version: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    keep_going: bool = False,
    follow_links: bool = False,
    jobs: int = options.PROCESSORS,
    everything: bool = False,
) -> Result:
    """Update PACK from its source, encoding only what changed.

    The name, description, license, encoder, test questions and examples stay. Without --from, an installed pack is
    downloaded again from where it was installed.

    Examples:
      wikigr pack update packs/notes --from notes --dry-run
      wikigr pack update packs/notes --from notes
    """
    pack_version = options.check_version(pack_version)

    from wikigr.pack.layout import installed_name
    from wikigr.pack.locate import find_pack
    from wikigr_cli.render.progress import TerminalProgress

    folder = find_pack(pack).root
    installed = installed_name(folder)
    if source is None:
        if installed is None:
            raise UsageError(
                f"{pack} is not an installed pack, so --from must name its source.",
                hint=f"wikigr pack update {pack} --from SOURCE",
            )
        if dry_run or source_format or pack_version:
            raise UsageError("--dry-run, --source-format and --pack-version need --from SOURCE.")

        from wikigr.distribution.install import update_installed

        with TerminalProgress(environment) as progress:
            return installed_document(update_installed(installed, force=force, progress=progress)), print_installed
    if installed is not None:
        raise UsageError(
            f"{pack} is an installed pack. Its publisher's next update would undo your changes.",
            hint=f"Update a copy: cp -RL {shlex.quote(str(folder))} COPY && "
            f"wikigr pack update COPY --from {shlex.quote(source)}",
        )

    from wikigr.evaluation.starters import store_starters
    from wikigr.ingest.update import UpdateOptions, update_pack
    from wikigr.sources.detect import open_source

    chosen = UpdateOptions(pack_version, force, dry_run, jobs, keep_going, follow_links)
    opened = open_source(source, source_format, follow_links=follow_links)
    with TerminalProgress(environment) as progress:
        report = update_pack(folder, opened, source, options=chosen, progress=progress)
        if report.build is not None:
            store_starters(folder, progress)
    document = {
        "pack": str(folder),
        "updated": report.build is not None,
        "dry_run": dry_run,
        "version": report.diff.b.version,
        "digest": report.diff.b.digest,
        "diff": _diff_document(report.diff),
        "build": None if report.build is None else build_document(report.build, folder),
    }
    return document, partial(_print_update, everything=everything)

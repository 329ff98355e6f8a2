"""``wikigr pack diff`` and ``wikigr pack update``: what changed between two packs, and follow a source."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.commands.pack.build import SOURCE_FORMAT
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Check, Input, Metadata, Output, Run
from wikigr_cli.render.changes import diff_document, print_diff, print_update, update_document
from wikigr_cli.render.packs import installed_document, print_installed

EVERYTHING = Output("--all", help="Show all changes, not only the first ten of each kind.")


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
    yield diff_document(difference), partial(print_diff, everything=everything)
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
    return update_document(report, folder, dry_run=dry_run), partial(print_update, everything=everything)

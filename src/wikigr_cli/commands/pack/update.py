"""``wikigr pack diff`` and ``wikigr pack update``: what changed between two packs, and follow a source."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.commands.pack.build import SourceFormat
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.changes import diff_document, print_diff, print_update, update_document
from wikigr_cli.render.output import print_result
from wikigr_cli.render.packs import installed_document, print_installed

Everything = Annotated[bool, options.Output("--all", help="Show all changes, not only the first ten of each kind.")]


def diff(
    context: typer.Context,
    before: Annotated[str, options.Pack(metavar="A", help="The old pack.")],
    after: Annotated[str, options.Pack(metavar="B", help="The new pack.")],
    everything: Everything = False,
    exit_code: Annotated[bool, options.Check("--exit-code", help="Exit with 1 if the packs differ.")] = False,
    json_output: options.Json = False,
) -> None:
    """Compare two packs: the counts, and the titles of the articles that differ.

    \b
    Examples:
      wikigr pack diff packs/notes packs/notes
      wikigr pack diff packs/notes packs/notes --exit-code --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.pack.diff import diff_packs

    difference = diff_packs(before, after)
    print_text = partial(print_diff, everything=everything)
    print_result(environment, diff_document(difference), print_text, as_json=json_output)
    if exit_code and difference.differs:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def update(
    context: typer.Context,
    pack: Annotated[
        str, options.Pack(metavar="PACK", help="The folder of the pack, or the name of an installed pack.")
    ],
    source: Annotated[
        str | None,
        options.Input("--from", metavar="SOURCE", help="The source to follow: anything that `pack build` reads."),
    ] = None,
    source_format: SourceFormat = None,
    pack_version: Annotated[
        str | None,
        options.Metadata(
            "--pack-version", metavar="VERSION", help="The new semantic version, a higher one. Default: unchanged."
        ),
    ] = None,
    dry_run: Annotated[bool, options.Run("--dry-run", help="Show what would change and write nothing.")] = False,
    force: Annotated[
        bool,
        options.Run(
            "--force",
            help="Allow the removal of more than half of the articles, or the installation of an older version.",
        ),
    ] = False,
    keep_going: options.KeepGoing = False,
    follow_links: options.FollowLinks = False,
    jobs: options.Jobs = options.PROCESSORS,
    everything: Everything = False,
    json_output: options.Json = False,
) -> None:
    """Update PACK from its source, encoding only what changed.

    The name, description, license, encoder, gold questions and examples stay. A calibrated abstention threshold is
    recalibrated. Without --from, an installed pack is downloaded again from where it was installed.

    \b
    Examples:
      wikigr pack update packs/notes --from notes --dry-run
      wikigr pack update packs/notes --from notes
    """
    environment = context.ensure_object(Environment)
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
            document = installed_document(update_installed(installed, force=force, progress=progress))
        print_result(environment, document, print_installed, as_json=json_output)
        return
    if installed is not None:
        raise UsageError(
            f"{pack} is an installed pack. Its publisher's next update would undo your changes.",
            hint=f"Update a copy: cp -RL {shlex.quote(str(folder))} COPY && "
            f"wikigr pack update COPY --from {shlex.quote(source)}",
        )

    from wikigr.evaluation.recalibration import recalibrate
    from wikigr.ingest.update import UpdateOptions, update_pack
    from wikigr.sources.detect import open_source

    chosen = UpdateOptions(pack_version, force, dry_run, jobs, keep_going, follow_links)
    opened = open_source(source, source_format, follow_links=follow_links)
    with TerminalProgress(environment) as progress:
        report = update_pack(folder, opened, source, options=chosen, recalibrate=recalibrate, progress=progress)
    document = update_document(report, folder, dry_run=dry_run)
    print_result(environment, document, partial(print_update, everything=everything), as_json=json_output)

"""``wikigr pack update``: bring a pack up to date with its source."""

from __future__ import annotations

import shlex
from functools import partial
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.commands.pack.build import SourceFormat
from wikigr_cli.commands.pack.diff import Everything
from wikigr_cli.environment import Environment
from wikigr_cli.render.changes import print_update, update_document
from wikigr_cli.render.distribution import installed_document, print_installed
from wikigr_cli.render.output import print_result


def update(
    context: typer.Context,
    pack: Annotated[
        str,
        typer.Argument(
            metavar="PACK",
            help="The folder of the pack, or the name of an installed pack.",
            autocompletion=options.complete_packs,
            callback=options.note_ambiguous_pack,
        ),
    ],
    source: Annotated[
        str | None,
        options.Input("--from", metavar="SOURCE", help="The source to follow: anything that `pack build` reads."),
    ] = None,
    source_format: SourceFormat = None,
    pack_version: Annotated[
        str | None, options.Build("--pack-version", help="The new semantic version. Default: the suggested one.")
    ] = None,
    dry_run: Annotated[bool, options.Build("--dry-run", help="Show what would change and write nothing.")] = False,
    force: Annotated[
        bool,
        options.Build(
            "--force",
            help="Allow the removal of more than half of the articles, or the installation of an older version.",
        ),
    ] = False,
    keep_going: options.KeepGoing = False,
    follow_links: options.FollowLinks = False,
    jobs: options.Jobs = options.PROCESSORS,
    watch: Annotated[
        bool,
        options.Build("--watch", help="Keep the pack current: update it whenever the source changes, until Ctrl-C."),
    ] = False,
    everything: Everything = False,
    json_output: options.Json = False,
) -> None:
    """Update PACK from its SOURCE in one step; only changed sections are encoded again.

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
        if dry_run or source_format or pack_version or watch:
            raise UsageError("--dry-run, --source-format, --pack-version and --watch need --from SOURCE.")

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

    from wikigr.sources.detect import open_source
    from wikigr.versions.update import UpdateOptions, plan_update, update_pack

    chosen = UpdateOptions(pack_version, force, jobs, keep_going, follow_links)
    if watch:
        if dry_run or pack_version:
            raise UsageError("--watch does not go with --dry-run or --pack-version.")

        from wikigr_cli.watching import keep_current

        keep_current(environment, folder, source, source_format, chosen, as_json=json_output)
        return
    opened = open_source(source, source_format, follow_links=follow_links)
    with TerminalProgress(environment) as progress:
        run = plan_update if dry_run else update_pack
        report = run(folder, opened, source, options=chosen, progress=progress)
    document = update_document(report, folder, dry_run=dry_run)
    print_result(environment, document, partial(print_update, everything=everything), as_json=json_output)

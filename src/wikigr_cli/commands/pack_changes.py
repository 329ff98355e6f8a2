"""``wikigr pack diff`` and ``wikigr pack update``: what changed between two packs, packs that follow their source."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.changes.next_version import RULE
from wikigr.errors import UsageError
from wikigr_cli import completion, options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus
from wikigr_cli.render import changes as render_changes
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.changes.update import UpdateReport

_RULE = f"The suggested version — {RULE}"

Everything = Annotated[bool, typer.Option("--all", help="Show all of each kind, not the first ten.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file to ``wikigr pack``."""
    app.command("diff", epilog=f"{_RULE}\n\n{EXIT_CODES_HELP}")(diff)
    app.command("update", epilog=f"{_RULE}\n\n{EXIT_CODES_HELP}")(update)


def diff(
    context: typer.Context,
    before: Annotated[str, typer.Argument(metavar="A", help="The pack as it was.", autocompletion=completion.packs)],
    after: Annotated[str, typer.Argument(metavar="B", help="The pack as it is.", autocompletion=completion.packs)],
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="Gold questions to follow; those of B, else of A, when left out."
        ),
    ] = None,
    everything: Everything = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 when the packs differ.")] = False,
    json_output: options.Json = False,
) -> None:
    """Tell what changed from pack A to pack B, which gold questions it moves, and the next version."""
    environment = context.ensure_object(Environment)

    from wikigr.changes.diff import diff_packs

    found = diff_packs(before, after, questions=questions)
    document = render_changes.diff_document(found)
    if json_output:
        render.json_document(environment, document)
    else:
        render_changes.diff(environment, document, everything=everything)
    if exit_code and found.differs:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def update(
    context: typer.Context,
    pack: Annotated[
        str,
        typer.Argument(
            metavar="PACK", help="The pack's folder, or the name of an installed pack.", autocompletion=completion.packs
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="SOURCE", help="What the pack follows: anything that `pack build` reads."),
    ] = None,
    source_format: Annotated[
        str | None, typer.Option("--format", help="The source's format; detected when left out.")
    ] = None,
    pack_version: Annotated[
        str | None, typer.Option("--pack-version", help="The new version (semver); the suggested one when left out.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change and write nothing.")] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Update even when more than half of the articles are gone; install even an older version."
        ),
    ] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out records that cannot be read instead of stopping.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that parse; all processors when left out.")] = None,
    everything: Everything = False,
    json_output: options.Json = False,
) -> None:
    """Make PACK follow its SOURCE: only what changed is encoded, and the pack changes all at once or not at all.

    Name, description, license, encoder, gold questions and examples stay; a fitted abstention threshold is fitted anew.
    Without --from an installed pack is fetched anew from where it was installed from.
    """
    environment = context.ensure_object(Environment)
    pack_version = options.semantic(pack_version)

    from wikigr.pack.layout import installed_name
    from wikigr.pack.locate import find_pack

    folder = find_pack(pack).root
    installed = installed_name(folder)
    if source is None:
        if installed is None:
            raise UsageError(
                f"{pack} is no installed pack, so its source has to be named.",
                hint=f"wikigr pack update {pack} --from SOURCE",
            )
        if dry_run or source_format or pack_version:
            raise UsageError("--dry-run, --format and --pack-version go with --from SOURCE.")
        _update_installed(environment, installed, force=force, json_output=json_output)
        return
    if installed is not None:
        raise UsageError(
            f"{pack} is an installed pack: its content is its publisher's, and its next update would undo yours.",
            hint=f"Update a copy: cp -RL {shlex.quote(str(folder))} COPY && "
            f"wikigr pack update COPY --from {shlex.quote(source)}",
        )

    from wikigr.changes.review import UpdateOptions
    from wikigr.changes.update import plan_update, update_pack
    from wikigr.sources.detect import open_source
    from wikigr_cli.render.progress import TerminalProgress

    opened = open_source(source, source_format)
    chosen = UpdateOptions(pack_version, force, jobs or _processors(), keep_going)
    with TerminalProgress(environment) as progress:
        act = plan_update if dry_run else update_pack
        report = act(folder, opened, source, options=chosen, progress=progress)
    _show(environment, report, folder, dry_run=dry_run, everything=everything, json_output=json_output)


def _show(
    environment: Environment, report: UpdateReport, folder: Path, *, dry_run: bool, everything: bool, json_output: bool
) -> None:
    document = render_changes.update_document(report, folder, dry_run=dry_run)
    if json_output:
        render.json_document(environment, document)
    else:
        render_changes.update(environment, document, everything=everything)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _update_installed(environment: Environment, name: str, *, force: bool, json_output: bool) -> None:
    from wikigr.distribution.install import update_installed
    from wikigr_cli.commands.pack_install import installed_document, print_installed
    from wikigr_cli.render.progress import TerminalProgress

    with TerminalProgress(environment) as progress:
        document = installed_document(update_installed(name, force=force, progress=progress))
    if json_output:
        render.json_document(environment, document)
    else:
        print_installed(environment, document)

"""``wikigr pack validate`` and ``wikigr pack verify``: check a pack of your own, or one from somebody else."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.distribution import verify_document
from wikigr_cli.render.output import all_passed, checks_document, print_checks, print_result


def validate(context: typer.Context, pack: options.PackArgument = None, json_output: options.Json = False) -> None:
    """Check that the parts of a pack agree: counts, offsets, vectors, index, encoder and version.

    Exits with 4 if a check fails.

    \b
    Examples:
      wikigr pack validate packs/physics
      wikigr pack validate --pack packs/notes --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "its folder")

    from wikigr.pack.validate import validate_pack

    checks = validate_pack(pack)
    print_result(environment, checks_document(checks), print_checks, as_json=json_output)
    if not all_passed(checks):
        raise typer.Exit(ExitStatus.PACK)


def verify(
    context: typer.Context,
    pack: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|PACK",
            help="An archive or a pack.",
            autocompletion=options.complete_packs,
            callback=options.note_ambiguous_pack,
        ),
    ] = None,
    sha256: options.Sha256 = None,
    trust: options.Trust = None,
    json_output: options.Json = False,
) -> None:
    """Check an untrusted pack before it is used: archive, signature, database and digest.

    The database is first opened in a process with limited resources. Exits with 4 if a check fails.

    \b
    Examples:
      wikigr pack verify physics.wikigr
      wikigr pack verify signed.wikigr --trust key.pub
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack, "an archive or a folder")

    from wikigr.distribution.signature import read_public_key
    from wikigr.distribution.verify import verify as verify_pack

    verified = verify_pack(pack, sha256=sha256, trust=[read_public_key(key) for key in trust or ()])
    print_result(environment, verify_document(verified), print_checks, as_json=json_output)
    if not all_passed(verified.checks):
        raise typer.Exit(ExitStatus.PACK)

"""``wikigr pack install``: packs that are used by name."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.distribution import installed_document, print_installed, print_pins
from wikigr_cli.render.output import print_result


def install(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="An archive (FILE.wikigr), its https:// URL, or a pack's folder.")
    ],
    sha256: options.Sha256 = None,
    trust: options.Trust = None,
    name: Annotated[
        str | None, options.Build("--name", help="Install the pack under this name. Default: its own name.")
    ] = None,
    force: Annotated[
        bool,
        options.Build(
            "--force", help="Replace a newer version or a pack signed by another key, and accept any version."
        ),
    ] = False,
    allow_private: options.AllowPrivate = False,
    json_output: options.Json = False,
) -> None:
    """Install a pack under a name. Every part is verified before anything uses it.

    The installed version stays in use until the new one is complete. Interrupted downloads resume. Downloads use no
    proxy.

    \b
    Examples:
      wikigr pack install physics.wikigr
      wikigr pack install signed.wikigr --trust key.pub --name signed
    """
    environment = context.ensure_object(Environment)

    from wikigr.distribution.install import install as install_pack
    from wikigr.distribution.signature import read_public_key
    from wikigr_cli.render.progress import TerminalProgress

    keys = [read_public_key(key) for key in trust or ()]
    with TerminalProgress(environment) as progress:
        installed = install_pack(
            source, sha256=sha256, trust=keys, name=name, force=force, allow_private=allow_private, progress=progress
        )
    if installed.changed and sha256 is None and not keys:
        print_pins(environment, installed)
    print_result(environment, installed_document(installed), print_installed, as_json=json_output)

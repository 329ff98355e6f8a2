"""``wikigr open``: read a cited section in the pager or in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.commands.show import Target
from wikigr_cli.environment import Environment


def open(  # noqa: A001 -- the name of the command
    context: typer.Context,
    target: Target,
    pack: options.PackName = None,
    quote: Annotated[
        str | None, options.Output(metavar="TEXT", help="Highlight this text. Its white space may differ.")
    ] = None,
    browser: Annotated[
        bool, options.Output("--browser", help="Open the web address or the source file in the browser.")
    ] = False,
) -> None:
    """Open a section or an article of a pack.

    The text is shown in the pager ($PAGER, or less), and printed if standard output is not a terminal.

    \b
    Examples:
      wikigr open "Louis de Broglie#3" --pack packs/physics
      wikigr open Spin --pack packs/physics --quote angular
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr_cli.reading import check_quote, open_in_browser, open_in_pager

    quote = check_quote(quote)
    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, environment.note)
        opener = open_in_browser if browser else open_in_pager
        opener(environment, opened, title, section_id, quote)

"""``wikigr show`` and ``wikigr open``: print a section or an article, or read it in the pager or the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result

Target = Annotated[
    str,
    typer.Argument(
        metavar="SECTION_ID|TITLE...",
        help="A section id (Title#3), a title with a heading (Title#Heading), or a title. Case and underscores do not "
        "matter.",
    ),
]


def show(
    context: typer.Context, target: Target, pack: options.PackName = None, json_output: options.Json = False
) -> None:
    """Print a section of a pack, or the outline of an article.

    A section is printed with the sections before and after it and the articles that it names; an article with its
    lead and the ids of its sections.

    \b
    Examples:
      wikigr show Louis de Broglie --pack packs/physics
      wikigr show "Louis de Broglie#3" --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.pack.article_view import view_article, view_section
    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr.responses.article import article_document, section_document
    from wikigr_cli.render.section import print_article, print_section

    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        environment.note(text)

    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, note)
        if section_id is not None:
            section = section_document(view_section(opened, section_id), opened.manifest, notes)
            print_result(environment, section, print_section, as_json=json_output)
        else:
            article = article_document(view_article(opened, title), opened.manifest, notes)
            print_result(environment, article, print_article, as_json=json_output)


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
    from wikigr_cli.viewer import check_quote, open_in_browser, open_in_pager

    quote = check_quote(quote)
    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, environment.note)
        opener = open_in_browser if browser else open_in_pager
        opener(environment, opened, title, section_id, quote)

"""``wikigr show``, ``open`` and ``why``: read a section or an article, and see what the stages did with it."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.documents.answer import why_document
from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result, print_trace
from wikigr_cli.render.search import print_why

Target = Annotated[
    str,
    typer.Argument(
        metavar="SECTION_ID|TITLE...",
        help="A section id (Title#3), a title with a heading (Title#Heading), or a title. Case and underscores do not "
        "matter.",
    ),
]


def show(context: typer.Context, target: Target, pack: options.RequiredPack, json_output: options.Json = False) -> None:
    """Print a section of a pack, or the outline of an article.

    A section is printed with the sections before and after it and the articles that it names; an article with its
    lead and the ids of its sections.

    \b
    Examples:
      wikigr show Louis de Broglie --pack packs/physics
      wikigr show "Louis de Broglie#3" --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.documents.article import article_document, section_document
    from wikigr.pack.article_view import view_article, view_section
    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr_cli.render.section import print_article, print_section

    notes: list[str] = []
    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, notes.append)
        for note in notes:
            environment.note(note)
        if section_id is not None:
            section = section_document(view_section(opened, section_id), opened.manifest, notes)
            print_result(environment, section, print_section, as_json=json_output)
        else:
            article = article_document(view_article(opened, title), opened.manifest, notes)
            print_result(environment, article, print_article, as_json=json_output)


def open(  # noqa: A001 -- the name of the command
    context: typer.Context,
    target: Target,
    pack: options.RequiredPack,
    quote: Annotated[
        str | None, options.Output(metavar="TEXT", help="Highlight this text. Its white space may differ.")
    ] = None,
    browser: Annotated[
        bool, options.Output("--browser", help="Open the web address or the source file in the browser.")
    ] = False,
) -> None:
    """Print a section or an article, or open its source.

    \b
    Examples:
      wikigr open "Louis de Broglie#3" --pack packs/physics
      wikigr open Spin --pack packs/physics --quote angular
    """
    environment = context.ensure_object(Environment)

    if quote is not None and not quote.strip():
        raise UsageError("--quote must not be empty.")

    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr_cli.render.section import open_place, print_place

    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, environment.note)
        (open_place if browser else print_place)(environment, opened, title, section_id, quote)


def why(
    context: typer.Context,
    question: options.RequiredQuestion,
    title: Annotated[
        str,
        typer.Argument(metavar="TITLE", help="The expected article, in quotes. Case and underscores do not matter."),
    ],
    pack: options.RequiredPack,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    section: Annotated[
        str | None, options.Input(metavar="S", help="Follow only this section: a heading or a section id.")
    ] = None,
    offline: options.Offline = False,
    json_output: options.Json = False,
) -> None:
    """Show where each stage ranked an article, and what dropped it.

    The question is answered as by `wikigr ask`: a model is called if there is an API key or a server, unless --offline
    is given.

    \b
    Examples:
      wikigr why "What is spin?" Spin --pack packs/physics
      wikigr why who proposed matter waves "Louis de Broglie" -p packs/physics
    """
    environment = context.ensure_object(Environment)

    from wikigr.pack.open import Pack
    from wikigr.pipeline.profile_files import load_profile

    chosen = load_profile(profile)
    with Pack(pack, preload=True) as opened:
        # Imported while the encoder loads.
        from wikigr.pipeline.connect import connect
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.pipeline.target import find_article, find_section
        from wikigr.pipeline.why import explain_article

        pipeline = Pipeline(chosen, opened, model=connect(chosen, offline=offline), offline=offline)
        title = find_article(opened, title, environment.note)
        section_id = None if section is None else find_section(opened, title, section)
        answer = pipeline.answer(question)
        print_trace(environment, answer.trace)
        explained = explain_article(answer, title, section_id)
    print_result(environment, why_document(answer, explained), print_why, as_json=json_output)

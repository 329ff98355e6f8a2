"""``wikigr why``: what every stage did with an expected article."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.responses.answer import why_document
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import print_result, print_trace
from wikigr_cli.render.why import print_why


def why(
    context: typer.Context,
    question: options.RequiredQuestion,
    title: Annotated[
        str,
        typer.Argument(metavar="TITLE", help="The expected article, in quotes. Case and underscores do not matter."),
    ],
    pack: options.PackName = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    section: Annotated[
        str | None, options.Input(metavar="S", help="Follow only this section: a heading or a section id.")
    ] = None,
    offline: options.Offline = False,
    json_output: options.Json = False,
) -> None:
    """Show where every stage ranked an expected article, and what dropped it.

    The question is answered as by `wikigr ask`: a model is called if there is an API key or a server, unless --offline
    is given.

    \b
    Examples:
      wikigr why "What is spin?" Spin --pack packs/physics
      wikigr why who proposed matter waves "Louis de Broglie" -p packs/physics
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.pack.open import Pack
    from wikigr.profiles.files import load_profile

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

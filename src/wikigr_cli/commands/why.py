"""``wikigr why``: what became of an article that was expected for a question."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render import graph as render_graph
from wikigr_cli.render import output as render


def why(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question.")],
    title: Annotated[str, typer.Argument(help="The article that was expected; case and underscores do not matter.")],
    pack: Annotated[str | None, options.pack_option("why")] = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    section: Annotated[
        str | None, typer.Option(metavar="S", help="Follow this one section of it: a heading or a section id.")
    ] = None,
    offline: options.Offline = False,
    json_output: options.Json = False,
) -> None:
    """Say for an expected article where every stage ranked it, and what dropped it.

    The question is answered as `wikigr ask` does it: where there is an API key or a server, its model is asked, unless
    --offline is given.
    """
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.pack.open import Pack
    from wikigr.profiles.files import load_profile

    chosen = load_profile(profile)
    with Pack(pack, preload=True) as opened:
        from wikigr.graph.neighborhood import Neighborhood  # while the encoder loads
        from wikigr.pipeline.builder import build_pipeline, connect
        from wikigr.pipeline.why import explain_article, find_section
        from wikigr_cli.commands.graph import find_nodes

        pipeline = build_pipeline(chosen, opened, model=None if offline else connect(chosen), offline=offline)
        (node,) = find_nodes(environment, pipeline.resources.linker, Neighborhood(opened.graph), [title])
        if node.kind != "article":
            raise UsageError(
                f"{node.label!r} is an entity, not an article.", hint="`wikigr graph neighbors` shows where it stands."
            )
        section_id = None if section is None else find_section(opened, node.key, section)
        answer = pipeline.answer(question)
        render.trace(environment, answer.trace)
        explained = explain_article(answer, node.key, section_id)
    document = render_graph.why_document(answer, explained)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.why(environment, document)

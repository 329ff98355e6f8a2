"""``wikigr graph triplets``: explore relations from the nodes that a question names."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.commands.graph.link import link_question
from wikigr_cli.environment import Environment
from wikigr_cli.render.graph import note_truncation, print_triplets, print_warnings, triplets_document
from wikigr_cli.render.output import print_result


def triplets(
    context: typer.Context,
    question: options.RequiredQuestion,
    pack: options.PackName = None,
    sources: Annotated[
        list[str] | None,
        options.Input("--start", metavar="NAME", help="Start from this article or entity. Repeatable."),
    ] = None,
    max_relations: Annotated[
        int, options.Retrieval(min=1, help="The maximum number of relations to follow in an iteration.")
    ] = 5,
    max_entities: Annotated[
        int, options.Retrieval(min=1, help="The maximum number of entities to explore in an iteration.")
    ] = 5,
    max_iterations: Annotated[
        int, options.Retrieval(min=1, max=100, help="The maximum number of iterations; each goes one hop further.")
    ] = 3,
    max_triplets: Annotated[
        int, options.Retrieval("--top-k", "-k", min=1, help="The maximum number of triplets in total.")
    ] = 60,
    json_output: options.Json = False,
) -> None:
    """Explore the relations most similar to a question, from the nodes that it names. Calls no model.

    \b
    Examples:
      wikigr graph triplets "What did Bohr change?" --pack packs/physics
      wikigr graph triplets "Who knew him?" --start Spin -p packs/physics
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.question.question import checked

    question = checked(question)
    with Pack(pack, preload=True) as opened:
        from wikigr.retrieval.entity_linking import open_linker
        from wikigr.retrieval.explore.rule_pruner import RulePruner
        from wikigr.retrieval.explore.triplets import TripletRetriever
        from wikigr.retrieval.name_matching import find_nodes

        neighborhood = Neighborhood(opened.graph)
        if sources:
            matcher = open_linker(opened).matcher
            starts = find_nodes(sources, matcher, neighborhood, environment.note)
        else:
            links = sorted(link_question(opened, question), key=lambda link: (-link.score, link.start, link.node))
            starts = list(dict.fromkeys(neighborhood.unified(link.node) for link in links))
        retriever = TripletRetriever(
            neighborhood,
            RulePruner(opened.encoder, opened.graph),
            max_num_relations=max_relations,
            max_num_entities=max_entities,
            max_num_iterations=max_iterations,
            max_num_triplets=max_triplets,
        )
        result = retriever.retrieve(question, starts)
        warnings = print_warnings(environment, opened)
    document = triplets_document(question, starts, result, warnings)
    print_result(environment, document, print_triplets, as_json=json_output)
    note_truncation(
        environment, "raise --top-k and the --max-... limits to explore further.", truncated=result.truncated
    )

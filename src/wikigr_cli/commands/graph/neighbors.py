"""``wikigr graph neighbors``: the edges of a node."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wikigr.responses.article import neighbors_document
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.graph import note_truncation, print_neighbors, print_warnings
from wikigr_cli.render.output import print_result


class Direction(StrEnum):
    OUT = "out"
    IN = "in"
    BOTH = "both"


def neighbors(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME...", help="An article or entity. Case and underscores do not matter.")
    ],
    pack: options.PackName = None,
    relation: Annotated[
        str | None,
        options.Retrieval(metavar="R", help="Show only LINKS_TO, MENTIONS, HAS_ENTITY or this relation of the pack."),
    ] = None,
    direction: Annotated[
        Direction, options.Retrieval(help="Show outgoing edges, incoming edges or both.")
    ] = Direction.BOTH,
    limit: Annotated[
        int,
        options.Retrieval(
            "--top-k",
            "-k",
            min=1,
            max=10_000,
            help="The maximum number of edges of each kind and direction. All facts are one kind.",
        ),
    ] = 20,
    json_output: options.Json = False,
) -> None:
    """Show the edges of an article or entity.

    \b
    Examples:
      wikigr graph neighbors Louis de Broglie --pack packs/physics
      wikigr graph neighbors Spin --direction in -k 5 --pack packs/physics
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.pack.open import Pack
    from wikigr.pipeline.graph_queries import find_neighbors

    with Pack(pack) as opened:
        found = find_neighbors(
            opened,
            name,
            relation=relation,
            inverse=None if direction is Direction.BOTH else direction is Direction.IN,
            limit=limit,
            note=environment.note,
        )
        warnings = print_warnings(environment, opened)
    document = neighbors_document(found.node, found.edges, found.truncated, warnings)
    print_result(environment, document, print_neighbors, as_json=json_output)
    hint = "--top-k shows more edges of a kind, --relation one kind only."
    note_truncation(environment, hint, truncated=document["truncated"])

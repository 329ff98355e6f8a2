"""``wikigr graph neighbors``: the edges of a node."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.linking import find_nodes, note_truncation, open_linker, print_warnings
from wikigr_cli.render.graph import neighbors_document, print_neighbors
from wikigr_cli.render.output import print_result

if TYPE_CHECKING:
    from wikigr.graph.neighborhood import Neighborhood


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
        typer.Option(metavar="R", help="Show only LINKS_TO, MENTIONS, HAS_ENTITY or this relation of the pack."),
    ] = None,
    direction: Annotated[Direction, typer.Option(help="Show outgoing edges, incoming edges or both.")] = Direction.BOTH,
    limit: Annotated[
        int,
        typer.Option(
            "--top-k",
            "-k",
            min=1,
            max=10_000,
            help="The maximum number of edges of each kind and direction. All facts are one kind.",
        ),
    ] = 20,
    json_output: options.Json = False,
) -> None:
    """Show the edges of an article or entity."""
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        neighborhood = Neighborhood(opened.graph)
        (node,) = find_nodes(environment, open_linker(opened), neighborhood, [name])
        found = neighborhood.expand(
            [node],
            relations=None if relation is None else [_stored_relation(relation, neighborhood)],
            inverse=None if direction is Direction.BOTH else direction is Direction.IN,
            most=limit,
        )
        warnings = print_warnings(environment, opened)
    document = neighbors_document(node, found.edges[node], bool(found.cut), warnings)
    print_result(environment, document, print_neighbors, as_json=json_output)
    hint = "--top-k shows more edges of a kind, --relation one kind only."
    note_truncation(environment, hint, truncated=document["truncated"])


def _stored_relation(name: str, neighborhood: Neighborhood) -> str:
    """Return the stored spelling of a relation."""
    from wikigr.retrieval.explore.metapath import parse_metapath
    from wikigr.text import scrub

    steps = parse_metapath(scrub(name), neighborhood)
    if len(steps) != 1 or steps[0].inverse:
        raise UsageError(f"--relation takes one relation, not {name!r}.", hint="For inverse edges add --direction in.")
    return steps[0].relation

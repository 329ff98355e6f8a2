"""``wikigr graph paths``: shortest paths between two nodes, and paths along a metapath."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.linking import find_nodes, note_truncation, open_linker, print_warnings
from wikigr_cli.render.graph import paths_document, print_paths
from wikigr_cli.render.output import print_result


def paths(
    context: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="The first article or entity.")],
    end: Annotated[
        str | None, typer.Argument(metavar="[B]", help="The last article or entity; optional with --metapath.")
    ] = None,
    pack: options.PackName = None,
    metapath: Annotated[
        str | None,
        typer.Option(metavar="STEPS", help='Follow these relations: "director -> born_in". ~R follows R backward.'),
    ] = None,
    max_hops: Annotated[int, typer.Option(min=1, help="The maximum number of edges in a shortest path, up to 8.")] = 4,
    max_paths: Annotated[
        int, typer.Option("--top-k", "-k", min=1, max=10_000, help="The maximum number of paths.")
    ] = 10,
    json_output: options.Json = False,
) -> None:
    """Show the shortest paths between two nodes, or the paths along a metapath.

    Shortest paths follow edges in both directions. ~R in a path is an edge R in the opposite direction.
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)
    if end is None and metapath is None:
        raise UsageError(
            "Give two names, or one name and --metapath.", hint='Example: wikigr graph paths "Isaac Newton" "Moon"'
        )

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.retrieval.explore.metapath import parse_metapath
    from wikigr.retrieval.explore.metapath_search import follow_metapath
    from wikigr.retrieval.explore.shortest_paths import shortest_paths
    from wikigr.text import scrub

    with Pack(pack) as opened:
        neighborhood = Neighborhood(opened.graph)
        steps = None if metapath is None else parse_metapath(scrub(metapath), neighborhood)
        names = [start] if end is None else [start, end]
        nodes = find_nodes(environment, open_linker(opened), neighborhood, names)
        target = nodes[1] if end is not None else None
        if steps is not None:
            found = follow_metapath(neighborhood, nodes[0], steps, target=target, max_paths=max_paths)
        else:
            found = shortest_paths(neighborhood, *nodes, max_hops=max_hops, max_paths=max_paths)
        warnings = print_warnings(environment, opened)
    document = paths_document(nodes[0], target, steps, found, warnings)
    print_result(environment, document, partial(print_paths, max_hops=max_hops), as_json=json_output)
    if not found.paths:
        hint = f"a {'smaller --max-hops' if steps is None else 'shorter metapath'} can be searched completely."
    elif len(found.paths) < max_paths:
        hint = "the search stopped at its limit."
    else:
        hint = "--top-k shows more paths."
    note_truncation(environment, hint, truncated=found.truncated)

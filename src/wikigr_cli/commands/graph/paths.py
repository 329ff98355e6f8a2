"""``wikigr graph paths``: shortest paths between two nodes, and paths along a metapath."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr.responses.article import paths_document
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.graph import note_truncation, print_paths, print_warnings
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
        options.Retrieval(
            metavar="STEPS", help='Follow these relations: "director -> born_in". ~R follows R backward.'
        ),
    ] = None,
    max_hops: Annotated[
        int, options.Retrieval(min=1, help="The maximum number of edges in a shortest path, up to 8.")
    ] = 4,
    max_paths: Annotated[
        int, options.Retrieval("--top-k", "-k", min=1, max=10_000, help="The maximum number of paths.")
    ] = 10,
    json_output: options.Json = False,
) -> None:
    """Show the shortest paths between two nodes, or the paths along a metapath.

    Shortest paths follow edges in both directions. ~R in a path is an edge R in the opposite direction.

    \b
    Examples:
      wikigr graph paths Spin "Louis de Broglie" --pack packs/physics
      wikigr graph paths Spin --metapath "LINKS_TO" -k 3 --pack packs/physics
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)
    if end is None and metapath is None:
        raise UsageError(
            "Give two names, or one name and --metapath.", hint='Example: wikigr graph paths "Isaac Newton" "Moon"'
        )

    from wikigr.pack.open import Pack
    from wikigr.pipeline.graph_queries import find_paths

    with Pack(pack) as opened:
        found = find_paths(
            opened, start, end, metapath=metapath, max_hops=max_hops, max_paths=max_paths, note=environment.note
        )
        warnings = print_warnings(environment, opened)
    document = paths_document(found.start, found.end, found.steps, found.paths, warnings)
    print_result(environment, document, partial(print_paths, max_hops=max_hops), as_json=json_output)
    if not found.paths.paths:
        hint = f"a {'smaller --max-hops' if found.steps is None else 'shorter metapath'} can be searched completely."
    elif len(found.paths.paths) < max_paths:
        hint = "the search stopped at its limit."
    else:
        hint = "--top-k shows more paths."
    note_truncation(environment, hint, truncated=found.paths.truncated)

"""``wikigr pagerank verify``: compare PageRank caches with a new computation."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from wikigr.errors import WikigrError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus, exit_status
from wikigr_cli.render.output import SCHEMA_VERSION, print_json
from wikigr_cli.render.pagerank import print_verified

if TYPE_CHECKING:
    from wikigr.graph.pagerank_cache import PageRankCache

# The accuracy of the reference figures.
_MAX_DIFFERENCE = 1e-6


def verify(context: typer.Context, packs: options.PackArguments, json_output: options.Json = False) -> None:
    """Compute PageRank again and compare it with the caches of packs. Exits with 1 if a score differs by over 1e-6.

    \b
    Examples:
      wikigr pagerank verify packs/physics
      wikigr pagerank verify --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)

    from wikigr.graph.pagerank_cache import PageRankCacheError
    from wikigr.pack.pagerank import stored

    rows: list[dict[str, Any]] = []
    failure: ExitStatus | None = None
    for pack in packs:
        try:
            row = _compare(pack, stored(pack))
        except WikigrError as error:
            # A damaged cache fails the check; a damaged pack ends the command with the exit code of its error.
            if not isinstance(error, PageRankCacheError):
                failure = failure or exit_status(error)
            row = {"pack": pack, "passed": False, "error": error.message}
        rows.append(row)
        if not json_output:
            print_verified(environment, row)
    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "packs": rows})
    if failure is not None:
        raise typer.Exit(failure)
    if not all(row["passed"] for row in rows):
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _compare(pack: str, cache: PageRankCache) -> dict[str, Any]:
    """Compare a cache with a new computation with the same parameters."""
    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import compute

    parameters = cache.parameters or Parameters()
    fresh, _ = compute(pack, parameters)
    titles = cache.scores.keys() | fresh.scores.keys()
    largest = max((abs(cache.scores.get(t, 0.0) - fresh.scores.get(t, 0.0)) for t in titles), default=0.0)
    return {
        "pack": pack,
        "passed": largest <= _MAX_DIFFERENCE,
        "articles": len(fresh.scores),
        "largest_difference": largest,
        **asdict(parameters),
    }

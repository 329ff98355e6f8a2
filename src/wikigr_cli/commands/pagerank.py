"""``wikigr pagerank``: precompute, show and verify the PageRank of packs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr.suggestions import did_you_mean
from wikigr_cli.command import Renderer, command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus, exit_status
from wikigr_cli.options import PACK_ARGUMENTS, Argument, Output, Run
from wikigr_cli.render import graph as render
from wikigr_cli.render.output import Document, print_warning

# Titles of at least this similarity, of 100, are suggested.
_MIN_SIMILARITY = 75
# The accuracy of the reference figures.
_MAX_DIFFERENCE = 1e-6


def _print_each(show: Renderer, environment: Environment, document: Document) -> None:
    for row in document["packs"]:
        show(environment, row)


@command(
    partial(_print_each, render.print_built),
    packs=PACK_ARGUMENTS,
    output=Output("-o", "--output", metavar="FILE", help="The file to write. Default: the cache of the pack."),
    damping=Run(help="The damping factor, between 0 and 1."),
    tol=Run(help="Stop when the total change is below this times the number of articles."),
    max_iter=Run(min=1, help="The maximum number of iterations."),
    force=Run(help="Compute the scores even if the cache is valid."),
)
def build(
    environment: Environment,
    packs: list[str],
    output: Path | None = None,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    force: bool = False,
) -> Iterator[Document]:
    """Compute PageRank over the hyperlinks of packs.

    A cache with the same content and parameters is not computed again. If a pack fails, the other packs are still
    computed, and the exit code is that of the first failure.

    Examples:
      wikigr pagerank build packs/physics
      wikigr pagerank build packs/physics -o scores.json
    """
    if output is not None and len(packs) > 1:
        raise UsageError("-o works with a single pack only.", hint="Omit it to write into each pack.")
    if not 0.0 < damping < 1.0:
        raise UsageError(f"--damping must be between 0 and 1 (exclusive), not {damping}.")
    if not 0.0 < tol <= 1e-3:
        raise UsageError(f"--tol must be above 0 and at most 0.001, not {tol}.")

    from wikigr.files import cannot_write
    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import build_cache

    def build_one(pack: str) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            built = build_cache(pack, Parameters(damping, max_iter, tol), output=output, force=force)
        except OSError as error:
            raise cannot_write("the cache", output or Path(pack), error) from error
        return {
            "pack": pack,
            "file": str(built.file),
            "articles": built.articles,
            "links": built.links,
            "written": built.written,
            "milliseconds": round((time.perf_counter() - started) * 1000.0, 1),
        }

    def failed(pack: str, error: WikigrError) -> tuple[dict[str, Any], ExitStatus]:
        environment.report(error)
        return {"pack": pack, "error": error.message}, exit_status(error)

    return _for_each(packs, build_one, failed)


def _for_each(
    packs: list[str],
    work: Callable[[str], dict[str, Any]],
    failed: Callable[[str, WikigrError], tuple[dict[str, Any], ExitStatus]],
) -> Iterator[Document]:
    """Yield the row that ``work`` gives for each pack, or that of its failure; exit with the first failure's code."""
    rows: list[dict[str, Any]] = []
    status = ExitStatus.OK
    for pack in packs:
        try:
            rows.append(work(pack))
        except WikigrError as error:
            row, code = failed(pack, error)
            rows.append(row)
            status = status or code
    yield {"packs": rows}
    if status == ExitStatus.OK and not all(row.get("passed", True) for row in rows):
        status = ExitStatus.FAILED_CHECK
    if status:
        raise typer.Exit(status)


@command(render.print_top)
def top(environment: Environment, pack: str, top_k: int = 10) -> Document:
    """List the articles with the highest PageRank.

    Examples:
      wikigr pagerank top --pack packs/physics
      wikigr pagerank top --pack packs/physics -k 3 --json
    """
    scores = _scores(environment, pack)
    best = sorted(scores, key=lambda title: (-scores[title], title))[:top_k]
    rows = [{"rank": n, "title": title, "score": scores[title]} for n, title in enumerate(best, start=1)]
    return {"articles": rows}


@command(
    render.print_article, title=Argument(metavar="TITLE...", help="The article. Case and underscores do not matter.")
)
def show(environment: Environment, title: str, pack: str) -> Document:
    """Show the PageRank of an article and its rank among all articles.

    Examples:
      wikigr pagerank show Albert Einstein --pack packs/physics
      wikigr pagerank show Spin --pack packs/physics --json
    """
    scores = _scores(environment, pack)
    if not scores:
        raise UsageError("The pack has no hyperlinks to rank by.")

    from rapidfuzz.process import extractOne

    from wikigr.text import fold

    by_fold = {fold(known): known for known in scores}
    found = by_fold.get(fold(title))
    if found is None:
        # A pack may have millions of titles, so they are compared in C.
        near = extractOne(fold(title), by_fold.keys(), score_cutoff=_MIN_SIMILARITY)
        hint = did_you_mean([by_fold[near[0]]] if near else [])
        raise UsageError(f"The pack has no PageRank for an article {title!r}.", hint=hint)
    rank = 1 + sum(score > scores[found] for score in scores.values())
    return {"title": found, "score": scores[found], "rank": rank, "articles": len(scores)}


def _scores(environment: Environment, pack: str) -> dict[str, float]:
    """Return the scores of the pack's cache, or compute them if the cache is unusable."""
    from wikigr.graph.pagerank_cache import PageRankCacheError, Parameters
    from wikigr.pack.pagerank import compute, stored

    try:
        cache = stored(pack)
    except PageRankCacheError as error:
        print_warning(environment, f"{error.message} PageRank is computed again.")
        cache, _ = compute(pack, Parameters())
    return dict(cache.scores)


@command(partial(_print_each, render.print_verified), packs=PACK_ARGUMENTS)
def verify(packs: list[str]) -> Iterator[Document]:
    """Compute PageRank again and compare it with the caches of packs. Exits with 1 if a score differs by over 1e-6.

    Examples:
      wikigr pagerank verify packs/physics
      wikigr pagerank verify --pack packs/physics --json
    """
    from wikigr.graph.pagerank_cache import PageRankCacheError

    def failed(pack: str, error: WikigrError) -> tuple[dict[str, Any], ExitStatus]:
        # A damaged cache fails the check; a damaged pack ends the command with the exit code of its error.
        code = ExitStatus.OK if isinstance(error, PageRankCacheError) else exit_status(error)
        return {"pack": pack, "passed": False, "error": error.message}, code

    return _for_each(packs, _compare, failed)


def _compare(pack: str) -> dict[str, Any]:
    """Compare the cache of a pack with a new computation with the same parameters."""
    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import compute, stored

    cache = stored(pack)
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


pagerank = group(
    """Precompute, show and verify the PageRank of packs.

    Examples:
      wikigr pagerank build packs/physics
    """,
    {"build": build, "top": top, "show": show, "verify": verify},
)

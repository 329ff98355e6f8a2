"""``wikigr pagerank top`` and ``wikigr pagerank show``: the scores of a pack."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr.suggestions import did_you_mean
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, print_result, print_warning
from wikigr_cli.render.pagerank import print_article, print_top

# Titles of at least this similarity, of 100, are suggested.
_MIN_SIMILARITY = 75


def top(
    context: typer.Context,
    pack: options.PackName = None,
    top_k: Annotated[int, options.Retrieval("--top-k", "-k", min=1, help="The maximum number of articles.")] = 10,
    json_output: options.Json = False,
) -> None:
    """List the articles with the highest PageRank.

    \b
    Examples:
      wikigr pagerank top --pack packs/physics
      wikigr pagerank top --pack packs/physics -k 3 --json
    """
    environment = context.ensure_object(Environment)
    scores = _scores(environment, options.require_pack(pack))
    best = sorted(scores, key=lambda title: (-scores[title], title))[:top_k]
    rows = [{"rank": n, "title": title, "score": scores[title]} for n, title in enumerate(best, start=1)]
    print_result(environment, {"schema_version": SCHEMA_VERSION, "articles": rows}, print_top, as_json=json_output)


def show(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE...", help="The article. Case and underscores do not matter.")],
    pack: options.PackName = None,
    json_output: options.Json = False,
) -> None:
    """Show the PageRank of an article and its rank among all articles.

    \b
    Examples:
      wikigr pagerank show Albert Einstein --pack packs/physics
      wikigr pagerank show Spin --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)
    scores = _scores(environment, options.require_pack(pack))

    from rapidfuzz.process import extractOne

    from wikigr.text import fold

    if not scores:
        raise UsageError("The pack has no hyperlinks to rank by.")

    by_fold = {fold(known): known for known in scores}
    found = by_fold.get(fold(title))
    if found is None:
        # A pack may have millions of titles, so they are compared in C.
        near = extractOne(fold(title), by_fold.keys(), score_cutoff=_MIN_SIMILARITY)
        hint = did_you_mean([by_fold[near[0]]] if near else [])
        raise UsageError(f"The pack has no PageRank for an article {title!r}.", hint=hint)
    document = {
        "schema_version": SCHEMA_VERSION,
        "title": found,
        "score": scores[found],
        "rank": 1 + sum(score > scores[found] for score in scores.values()),
        "articles": len(scores),
    }
    print_result(environment, document, print_article, as_json=json_output)


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

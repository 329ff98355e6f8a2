"""``wikigr pagerank``: precompute, look at and check the PageRank of packs."""

from __future__ import annotations

import time
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import completion, options
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus, status_of
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.graph.pagerank_cache import PageRankCache

app = typer.Typer(
    help="Precompute, show and check the PageRank of packs.",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)
# The difference from a fresh computation up to which a cache counts as right (reference figures: 1e-6).
_TOLERATED = 1e-6
# Of 100: how alike a title must be to be suggested.
_NEAR = 75


class Format(StrEnum):
    JSON = "json"
    PARQUET = "parquet"


@app.command("build", epilog=EXIT_CODES_HELP)
def build(
    context: typer.Context,
    packs: Annotated[
        list[str],
        typer.Argument(metavar="PACK...", help="Packs: folders, .db files or names.", autocompletion=completion.packs),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write here; the pack's own cache when left out."),
    ] = None,
    damping: Annotated[float, typer.Option(help="Damping factor, between 0 and 1.")] = 0.85,
    tol: Annotated[float, typer.Option(help="Stop when the change falls below this times the articles.")] = 1e-6,
    max_iter: Annotated[int, typer.Option(min=1, help="Give up after so many iterations.")] = 100,
    force: Annotated[bool, typer.Option("--force", help="Compute even when what is there is fresh.")] = False,
    file_format: Annotated[
        Format | None, typer.Option("--format", help="Of FILE; by its ending when left out.")
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Compute PageRank over the hyperlinks of packs, one summary line each.

    A cache with the same content and parameters is left as it is. A pack that fails does not keep the others from
    being done; the exit code is then that of the first failure.
    """
    environment = context.ensure_object(Environment)
    if output is not None and len(packs) > 1:
        raise UsageError("-o takes the cache of one pack.", hint="Leave it out to write into each pack.")
    if not 0.0 < damping < 1.0:
        raise UsageError(f"--damping must lie between 0 and 1 (exclusive), not {damping}.")
    if not 0.0 < tol <= 1e-3:
        raise UsageError(f"--tol must lie above 0 and be at most 0.001, not {tol}.")
    chosen = _format(output, file_format)

    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import build_cache

    parameters = Parameters(damping, max_iter, tol)
    rows: list[dict[str, Any]] = []
    failure: ExitStatus | None = None
    for pack in packs:
        begun = time.perf_counter()
        try:
            done = build_cache(pack, parameters, output=output, file_format=chosen.value, force=force)
        except (WikigrError, OSError) as error:
            mine = (
                error
                if isinstance(error, WikigrError)
                else WikigrError(f"{output or pack} cannot be written: {error}.")
            )
            failure = failure or status_of(mine)
            environment.complain(f"wikigr: {plain(mine.message)}")
            if mine.hint:
                environment.complain(plain(mine.hint))
            rows.append({"pack": pack, "error": mine.message})
            continue
        milliseconds = round((time.perf_counter() - begun) * 1000.0, 1)
        rows.append(
            {
                "pack": pack,
                "file": str(done.file),
                "articles": done.articles,
                "links": done.links,
                "written": done.written,
                "milliseconds": milliseconds,
            }
        )
        if not json_output:
            what = f"written in {milliseconds:.0f} ms" if done.written else "fresh"
            counts = f"{render.counted(done.articles, 'articles')}, {render.counted(done.links, 'links')}"
            environment.print(f"{plain(pack)}: {counts}, {done.file} {what}", hang=2)
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "packs": rows})
    if failure is not None:
        raise typer.Exit(failure)


@app.command("top", epilog=EXIT_CODES_HELP)
def top(
    context: typer.Context,
    pack: Annotated[str | None, options.pack_option("pagerank_top")] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many articles.")] = 10,
    json_output: options.Json = False,
) -> None:
    """List the articles of highest PageRank."""
    environment = context.ensure_object(Environment)
    scores = _scores(environment, pack)
    best = sorted(scores, key=lambda title: (-scores[title], title))[:count]
    if json_output:
        rows = [{"rank": n, "title": title, "score": scores[title]} for n, title in enumerate(best, start=1)]
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "articles": rows})
        return
    for n, title in enumerate(best, start=1):
        environment.print(f"{n:>4}. {scores[title]:.6f}  {plain(title)}", hang=16)
    if not best:
        environment.note("The pack has no hyperlinks to rank by.")


@app.command("show", epilog=EXIT_CODES_HELP)
def show(
    context: typer.Context,
    title: Annotated[str, typer.Argument(help="The article; case and underscores do not matter.")],
    pack: Annotated[str | None, options.pack_option("pagerank_show")] = None,
    json_output: options.Json = False,
) -> None:
    """Show the PageRank of one article and its place among all."""
    environment = context.ensure_object(Environment)
    scores = _scores(environment, pack)

    from rapidfuzz.process import extractOne

    from wikigr.text import fold

    if not scores:
        raise UsageError("The pack has no hyperlinks to rank by.")

    by_fold = {fold(known): known for known in scores}
    found = by_fold.get(fold(title))
    if found is None:
        near = extractOne(fold(title), by_fold.keys(), score_cutoff=_NEAR)
        raise UsageError(
            f"The pack ranks no article {title!r}.", hint=f"Did you mean {by_fold[near[0]]!r}?" if near else None
        )
    rank = 1 + sum(score > scores[found] for score in scores.values())
    document = {"title": found, "score": scores[found], "rank": rank, "articles": len(scores)}
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, **document})
    else:
        environment.print(f"{plain(found)}: {scores[found]:.6f}, rank {rank:,} of {len(scores):,}")


@app.command("verify", epilog=EXIT_CODES_HELP)
def verify(
    context: typer.Context,
    packs: Annotated[
        list[str],
        typer.Argument(metavar="PACK...", help="Packs: folders, .db files or names.", autocompletion=completion.packs),
    ],
    json_output: options.Json = False,
) -> None:
    """Compute PageRank anew and compare it with the packs' caches. Exit 1 when one differs by more than 1e-6."""
    environment = context.ensure_object(Environment)

    from wikigr.graph.pagerank_cache import PageRankCacheError
    from wikigr.pack.pagerank import stored

    rows: list[dict[str, Any]] = []
    failure: ExitStatus | None = None
    for pack in packs:
        try:
            row = _compared(pack, stored(pack))
        except PageRankCacheError as error:
            row = {"pack": pack, "passed": False, "error": error.message}
        except WikigrError as error:
            failure = failure or status_of(error)
            row = {"pack": pack, "passed": False, "error": error.message}
        rows.append(row)
        if not json_output:
            environment.print(f"{plain(pack)}: ", end="")
            environment.print("ok" if row["passed"] else "DIFFERS" if "error" not in row else "FAILED", end="")
            environment.print(f", {plain(row['error'])}" if "error" in row else _in_words(row), hang=2)
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "packs": rows})
    if failure is not None:
        raise typer.Exit(failure)
    if not all(row["passed"] for row in rows):
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _compared(pack: str, cache: PageRankCache) -> dict[str, Any]:
    """Compare a cache with what its own parameters give now."""
    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import compute

    parameters = cache.parameters or Parameters()
    fresh, _ = compute(pack, parameters)
    titles = cache.scores.keys() | fresh.scores.keys()
    worst = max((abs(cache.scores.get(t, 0.0) - fresh.scores.get(t, 0.0)) for t in titles), default=0.0)
    return {
        "pack": pack,
        "passed": worst <= _TOLERATED,
        "articles": len(fresh.scores),
        "largest_difference": worst,
        **asdict(parameters),
    }


def _in_words(row: dict[str, Any]) -> str:
    return (
        f", largest difference {row['largest_difference']:.1e} (damping {row['damping']:g}, tolerance {row['tol']:g})"
    )


def _format(output: Path | None, wanted: Format | None) -> Format:
    """Return the format to write: the one asked for, else the one that the file's ending says."""
    if output is None:
        if wanted is Format.PARQUET:
            raise UsageError("A pack's own cache is JSON.", hint="Name a file for Parquet: -o scores.parquet")
        return Format.JSON
    return wanted or (Format.PARQUET if output.suffix == ".parquet" else Format.JSON)


def _scores(environment: Environment, pack: str | None) -> dict[str, float]:
    """Return the pack's scores: its cache, or computed where that is of no use."""
    pack = options.named(pack)

    from wikigr.graph.pagerank_cache import PageRankCacheError, Parameters
    from wikigr.pack.pagerank import compute, stored

    cache: PageRankCache
    try:
        cache = stored(pack)
    except PageRankCacheError as error:
        environment.note(f"wikigr: {plain(error.message)} PageRank is computed anew.")
        cache, _ = compute(pack, Parameters())
    return dict(cache.scores)

"""``wikigr pagerank build``: compute PageRank caches."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus, exit_status
from wikigr_cli.render.output import SCHEMA_VERSION, print_json
from wikigr_cli.render.pagerank import print_built


class Format(StrEnum):
    JSON = "json"
    PARQUET = "parquet"


def build(
    context: typer.Context,
    packs: options.PackArguments,
    output: Annotated[
        Path | None,
        options.Output("-o", "--output", metavar="FILE", help="The file to write. Default: the cache of the pack."),
    ] = None,
    damping: Annotated[float, options.Build(help="The damping factor, between 0 and 1.")] = 0.85,
    tol: Annotated[
        float, options.Build(help="Stop when the total change is below this times the number of articles.")
    ] = 1e-6,
    max_iter: Annotated[int, options.Build(min=1, help="The maximum number of iterations.")] = 100,
    force: Annotated[bool, options.Build("--force", help="Compute the scores even if the cache is valid.")] = False,
    file_format: Annotated[
        Format | None, options.Output("--format", help="The format of FILE. Default: determined by its suffix.")
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Compute PageRank over the hyperlinks of packs and print one line for each pack.

    A cache with the same content and parameters is not computed again. If a pack fails, the other packs are still
    computed, and the exit code is that of the first failure.

    \b
    Examples:
      wikigr pagerank build packs/physics
      wikigr pagerank build packs/physics -o scores.parquet
    """
    environment = context.ensure_object(Environment)
    if output is not None and len(packs) > 1:
        raise UsageError("-o works with a single pack only.", hint="Omit it to write into each pack.")
    if not 0.0 < damping < 1.0:
        raise UsageError(f"--damping must be between 0 and 1 (exclusive), not {damping}.")
    if not 0.0 < tol <= 1e-3:
        raise UsageError(f"--tol must be above 0 and at most 0.001, not {tol}.")
    chosen = _format(output, file_format)

    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import build_cache

    parameters = Parameters(damping, max_iter, tol)
    rows: list[dict[str, Any]] = []
    failure: ExitStatus | None = None
    for pack in packs:
        started = time.perf_counter()
        try:
            built = build_cache(pack, parameters, output=output, file_format=chosen.value, force=force)
        except (WikigrError, OSError) as error:
            known = error if isinstance(error, WikigrError) else WikigrError(f"Cannot write {output or pack}: {error}.")
            failure = failure or exit_status(known)
            environment.report(known)
            rows.append({"pack": pack, "error": known.message})
            continue
        row = {
            "pack": pack,
            "file": str(built.file),
            "articles": built.articles,
            "links": built.links,
            "written": built.written,
            "milliseconds": round((time.perf_counter() - started) * 1000.0, 1),
        }
        rows.append(row)
        if not json_output:
            print_built(environment, row)
    if json_output:
        print_json(environment, {"schema_version": SCHEMA_VERSION, "packs": rows})
    if failure is not None:
        raise typer.Exit(failure)


def _format(output: Path | None, chosen: Format | None) -> Format:
    """Return the format to write: the chosen one, else the one that fits the suffix of the file."""
    if output is None:
        if chosen is Format.PARQUET:
            raise UsageError("The cache of a pack is JSON.", hint="Give a file for Parquet: -o scores.parquet")
        return Format.JSON
    return chosen or (Format.PARQUET if output.suffix == ".parquet" else Format.JSON)

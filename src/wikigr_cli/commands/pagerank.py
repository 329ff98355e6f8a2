"""``wikigr pagerank``: precompute the PageRank of packs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli.command import command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus, exit_status
from wikigr_cli.options import PACK_ARGUMENTS, Output, Run
from wikigr_cli.render.output import Document, counted


def _print_built(environment: Environment, document: Document) -> None:
    """Print one line for each pack whose PageRank cache was written, or was still valid; failures were reported."""
    for row in document["packs"]:
        if "error" not in row:
            outcome = f"written in {row['milliseconds']:.0f} ms" if row["written"] else "fresh"
            counts = f"{counted(row['articles'], 'articles')}, {counted(row['links'], 'links')}"
            environment.print(f"{row['pack']}: {counts}, {row['file']} {outcome}", hang=2)


@command(
    _print_built,
    packs=PACK_ARGUMENTS,
    output=Output("-o", "--output", metavar="FILE", help="The file to write. Default: the cache of the pack."),
    force=Run(help="Compute the scores even if the cache is valid."),
)
def build(
    environment: Environment, packs: list[str], output: Path | None = None, force: bool = False
) -> Iterator[Document]:
    """Compute PageRank over the hyperlinks of packs.

    A cache with the same content is not computed again. If a pack fails, the other packs are still
    computed, and the exit code is that of the first failure.

    Examples:
      wikigr pagerank build packs/physics
      wikigr pagerank build packs/physics -o scores.json
    """
    if output is not None and len(packs) > 1:
        raise UsageError("-o works with a single pack only.", hint="Omit it to write into each pack.")

    from wikigr.files import cannot_write
    from wikigr.graph.pagerank_cache import Parameters
    from wikigr.pack.pagerank import build_cache

    rows: list[dict[str, Any]] = []
    status = ExitStatus.OK
    for pack in packs:
        started = time.perf_counter()
        try:
            built = build_cache(pack, Parameters(), output=output, force=force)
        except OSError as error:
            raise cannot_write("the cache", output or Path(pack), error) from error
        except WikigrError as error:
            environment.report(error)
            rows.append({"pack": pack, "error": error.message})
            status = status or exit_status(error)
        else:
            milliseconds = round((time.perf_counter() - started) * 1000.0, 1)
            rows.append({"pack": pack, **asdict(built), "file": str(built.file), "milliseconds": milliseconds})
    yield {"packs": rows}
    if status:
        raise typer.Exit(status)


pagerank = group(
    """Precompute the PageRank of packs.

    Examples:
      wikigr pagerank build packs/physics
    """,
    {"build": build},
)

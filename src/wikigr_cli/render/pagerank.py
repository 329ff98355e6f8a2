"""What ``wikigr pagerank`` prints."""

from __future__ import annotations

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, counted


def print_built(environment: Environment, row: Document) -> None:
    """Print one line for a pack whose PageRank cache was written, or was still valid."""
    outcome = f"written in {row['milliseconds']:.0f} ms" if row["written"] else "fresh"
    counts = f"{counted(row['articles'], 'articles')}, {counted(row['links'], 'links')}"
    environment.print(f"{row['pack']}: {counts}, {row['file']} {outcome}", hang=2)


def print_top(environment: Environment, document: Document) -> None:
    """Print the articles with the highest PageRank, one per line."""
    for article in document["articles"]:
        environment.print(f"{article['rank']:>4}. {article['score']:.6f}  {article['title']}", hang=16)
    if not document["articles"]:
        environment.note("The pack has no hyperlinks to rank by.")


def print_article(environment: Environment, document: Document) -> None:
    """Print the PageRank and the rank of one article."""
    environment.print(
        f"{document['title']}: {document['score']:.6f}, rank {document['rank']:,} of {document['articles']:,}"
    )


def print_verified(environment: Environment, row: Document) -> None:
    """Print one line for a pack whose PageRank cache was compared with a new computation."""
    environment.print(f"{row['pack']}: ", end="")
    if "error" in row:
        environment.print(f"FAILED, {row['error']}", hang=2)
        return
    difference = f"largest difference {row['largest_difference']:.1e}"
    parameters = f"damping {row['damping']:g}, tolerance {row['tol']:g}"
    environment.print(f"{'ok' if row['passed'] else 'DIFFERS'}, {difference} ({parameters})", hang=2)

"""``wikigr graph``: the graph of a pack."""

from __future__ import annotations

from wikigr_cli.command_table import group
from wikigr_cli.commands.graph import cypher, link, neighbors, paths, triplets

app = group(
    """Explore the graph of a pack: names, neighbors, triplets, paths, Cypher and schema.

    \b
    Examples:
      wikigr graph neighbors Spin --pack packs/physics
    """,
    {
        "link": link.link,
        "neighbors": neighbors.neighbors,
        "triplets": triplets.triplets,
        "paths": paths.paths,
        "cypher": cypher.cypher,
        "schema": cypher.schema,
    },
)

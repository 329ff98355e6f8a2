"""``wikigr pagerank``: precompute, show and verify the PageRank of packs."""

from __future__ import annotations

from wikigr_cli.command_table import group
from wikigr_cli.commands.pagerank import build, show, verify

app = group(
    """Precompute, show and verify the PageRank of packs.

    \b
    Examples:
      wikigr pagerank build packs/physics
    """,
    {"build": build.build, "top": show.top, "show": show.show, "verify": verify.verify},
)

"""``wikigr pack``: build, inspect, choose, compare, update and distribute packs."""

from __future__ import annotations

from wikigr_cli.command_table import group
from wikigr_cli.commands.pack import build, distribution, info, remove, update

pack = group(
    """Build, inspect, choose, update and distribute packs.

    Examples:
      wikigr pack build notes -o packs/notes
      wikigr pack info packs/notes
    """,
    {
        "build": build.build,
        "make": build.make,
        "info": info.info,
        "list": info.list_packs,
        "use": info.use,
        "validate": distribution.validate,
        "diff": update.diff,
        "update": update.update,
        "export": distribution.export,
        "verify": distribution.verify,
        "install": distribution.install,
        "remove": remove.remove,
    },
)

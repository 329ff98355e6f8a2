"""``wikigr pack``: build, inspect, choose, compare, update and distribute packs."""

from __future__ import annotations

from wikigr.versions.next_version import RULE
from wikigr_cli.command_table import group
from wikigr_cli.commands.pack import build, diff, export, info, install, make, remove, update, use, verify

_VERSION_RULE = f"The suggested version: {RULE}"

app = group(
    """Build, inspect, choose, compare, update and distribute knowledge packs.

    \b
    Examples:
      wikigr pack build notes -o packs/notes
      wikigr pack info packs/notes
    """,
    {
        "build": build.build,
        "make": make.make,
        "info": info.info,
        "list": info.list_packs,
        "use": use.use,
        "validate": verify.validate,
        "diff": diff.diff,
        "update": update.update,
        "export": export.export,
        "verify": verify.verify,
        "install": install.install,
        "remove": remove.remove,
    },
    epilogs={"diff": _VERSION_RULE, "update": _VERSION_RULE},
)

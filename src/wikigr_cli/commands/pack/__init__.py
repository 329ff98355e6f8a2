"""``wikigr pack``: build, inspect, compare, update and distribute packs."""

from __future__ import annotations

from wikigr.changes.next_version import RULE
from wikigr_cli.command_table import group
from wikigr_cli.commands.pack import build, diff, export, info, install, update, verify

_VERSION_RULE = f"The suggested version: {RULE}"

app = group(
    "Build, inspect, compare, update and distribute knowledge packs.",
    {
        "build": build.build,
        "info": info.info,
        "list": info.list_packs,
        "validate": verify.validate,
        "diff": diff.diff,
        "update": update.update,
        "export": export.export,
        "verify": verify.verify,
        "install": install.install,
        "remove": install.remove,
    },
    epilogs={"diff": _VERSION_RULE, "update": _VERSION_RULE},
)

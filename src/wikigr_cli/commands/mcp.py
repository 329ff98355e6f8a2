"""``wikigr mcp``: give an assistant the packs as tools, over standard input and output."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment


class Client(StrEnum):
    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    VSCODE = "vscode"
    CURSOR = "cursor"


def mcp(
    context: typer.Context,
    pack: options.PackNames = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    offline: options.Offline = False,
    print_config: Annotated[
        Client | None,
        options.Server(
            "--print-config", metavar="CLIENT", help="Print what to paste into the settings of this client."
        ),
    ] = None,
) -> None:
    """Serve packs to an assistant over the Model Context Protocol (MCP), on standard input and output.

    The assistant starts this command itself; --print-config prints its settings for claude-desktop, claude-code, vscode
    or cursor. Needs the extra `serve`.

    \b
    Examples:
      wikigr mcp --pack packs/physics --print-config claude-code
      wikigr mcp --pack packs/physics --print-config cursor
    """
    environment = context.ensure_object(Environment)
    packs = options.require_packs(pack)
    if print_config is not None:
        from wikigr.pack.locate import find_pack, packs_named
        from wikigr.profiles.names import SUFFIXES
        from wikigr.serve.mcp.client_config import client_config

        for name in packs:
            find_pack(name)
        # The assistant starts the command in another folder.
        located = [packs_named(name)[0].path if packs_named(name) else Path(name) for name in packs]
        command = [_program(), "mcp", *(part for path in located for part in ("--pack", str(path.absolute())))]
        is_path = "/" in profile or profile.endswith(SUFFIXES)
        profile = str(Path(profile).absolute()) if is_path else profile
        command += ["--profile", profile] if profile != options.DEFAULT_PROFILE else []
        command += ["--offline"] if offline else []
        environment.write_text(client_config(print_config, command) + "\n")
        return

    from wikigr_cli.packs import open_served, require_extra

    require_extra("mcp")
    # The protocol takes longer to import than the packs to open.
    Thread(target=import_module, args=("wikigr.serve.mcp.stdio",), daemon=True).start()
    served = open_served(environment, packs, profile, offline=offline)

    from wikigr.serve.app import LOOKUP_THREADS, THREADS, TIME_LIMIT, WAITING
    from wikigr.serve.mcp.stdio import serve_stdio

    def stop(number: int, frame: FrameType | None) -> None:
        # The interpreter would wait for the thread that reads a line, and for those that wait for a model.
        try:
            if number == signal.SIGINT:
                environment.print_error("Interrupted.")
        finally:
            os._exit(128 + number)

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve_stdio(served, threads=THREADS, lookup_threads=LOOKUP_THREADS, waiting=WAITING, time_limit=TIME_LIMIT)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _program() -> str:
    """Return the path of the program ``wikigr`` that runs, or its name if it is not a file."""
    own = Path(sys.argv[0])
    if own.name == "wikigr" and os.access(own, os.X_OK):
        return str(own.absolute())
    return shutil.which("wikigr") or "wikigr"

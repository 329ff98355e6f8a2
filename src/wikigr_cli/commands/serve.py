"""``wikigr serve`` and ``wikigr mcp``: answer a browser, programs and assistants."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, Literal

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import command
from wikigr_cli.environment import Environment
from wikigr_cli.options import Server

if TYPE_CHECKING:
    from wikigr.server.packs import ServedPacks


@command(
    host=Server(metavar="ADDRESS", help="Listen on this address. Others than loopback need --token."),
    port=Server(min=0, max=65535, help="Listen on this port; 0 is any free one."),
    token=Server(metavar="SECRET", help="Answer only clients that send this secret, at least 16 characters long."),
    allowed_host=Server(
        metavar="NAME", help="Answer requests for this host name, such as that of a proxy (repeatable)."
    ),
    originals=Server(
        "--sources", metavar="FOLDER", help="Hand out the source files of the packs that are in this folder."
    ),
    open_browser=Server("--open", help="Open the address in the browser."),
)
def serve(
    environment: Environment,
    pack: list[str] | None = None,
    host: str = "127.0.0.1",
    port: int = 8642,
    token: str | None = None,
    allowed_host: list[str] | None = None,
    profile: str = options.DEFAULT_PROFILE,
    offline: bool = False,
    originals: Path | None = None,
    open_browser: bool = False,
) -> None:
    """Serve packs over HTTP: a web page, a JSON API and MCP.

    The API is under /api, and the Model Context Protocol (MCP) at /mcp.

    The packs stay open, so an answer takes a fraction of the time of `wikigr ask`; after `wikigr pack update`, start it
    again. Ctrl-C stops the server after the requests under way. Needs the extra `serve`.

    Examples:
      wikigr serve --pack packs/physics --open
      wikigr serve --pack packs/physics --host 0.0.0.0 --token $SECRET
    """
    packs = options.require_packs(pack)
    run_server(
        environment, packs, profile,
        offline=offline, host=host, port=port, token=token, allowed_host=allowed_host, originals=originals,
        question="" if open_browser else None,
    )  # fmt: skip


def run_server(
    environment: Environment,
    packs: Sequence[str],
    profile: str,
    *,
    offline: bool,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    allowed_host: list[str] | None = None,
    originals: Path | None = None,
    question: str | None = None,
) -> None:
    """Serve packs until the user stops it, and open a ``question`` in the browser; an empty one opens the page."""
    require_extra("serve")

    from wikigr.server.app import create_app, listen, run_app
    from wikigr.server.security import check_allowed_hosts, check_binding

    check_binding(host, token)
    check_allowed_hosts(allowed_host or ())
    if originals is not None and not originals.is_dir():
        raise UsageError(f"{originals} is not a folder.")
    with listen(host, port) as listener:
        served = open_served(environment, packs, profile, offline=offline)

        address = f"http://{_reachable(host, listener.getsockname()[0])}:{listener.getsockname()[1]}/"
        if question:
            from urllib.parse import urlencode

            address += f"?{urlencode({'q': question})}"

        def ready() -> None:
            # A service may be started without a standard output.
            with suppress(OSError):
                environment.print(address)
            environment.note(f"Serving {', '.join(served.names)}. Ctrl-C stops the server.")
            if question is not None:
                import webbrowser

                webbrowser.open(address)

        app = create_app(served, host=host, token=token, allowed_hosts=allowed_host or (), originals=originals)
        run_app(app, listener, on_ready=ready)
    environment.note("Stopped.")


def _reachable(host: str, bound: str) -> str:
    """Return ``host`` as it is written in an address, or one of this machine if the server listens on all of them."""
    if ip_address(bound.partition("%")[0]).is_unspecified:
        return "[::1]" if ":" in bound else "127.0.0.1"
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


@command(print_config=Server(metavar="CLIENT", help="Print what to paste into the settings of this client."))
def mcp(
    environment: Environment,
    pack: list[str] | None = None,
    profile: str = options.DEFAULT_PROFILE,
    offline: bool = False,
    print_config: Literal["claude-desktop", "claude-code", "vscode", "cursor"] | None = None,
) -> None:
    """Serve packs to an assistant (MCP).

    It speaks the Model Context Protocol on standard input and output.

    The assistant starts this command itself; --print-config prints its settings for claude-desktop, claude-code, vscode
    or cursor. Needs the extra `serve`.

    Examples:
      wikigr mcp --pack packs/physics --print-config claude-code
      wikigr mcp --pack packs/physics --print-config cursor
    """
    packs = options.require_packs(pack)
    if print_config is not None:
        from wikigr.pack.locate import find_pack, packs_named
        from wikigr.pipeline.profile import SUFFIXES

        for name in packs:
            find_pack(name)
        # The assistant starts the command in another folder.
        located = [packs_named(name)[0].path if packs_named(name) else Path(name) for name in packs]
        command = [_program(), "mcp", *(part for path in located for part in ("--pack", str(path.absolute())))]
        is_path = "/" in profile or profile.endswith(SUFFIXES)
        profile = str(Path(profile).absolute()) if is_path else profile
        command += ["--profile", profile] if profile != options.DEFAULT_PROFILE else []
        command += ["--offline"] if offline else []
        environment.write_text(_client_config(print_config, command) + "\n")
        return

    require_extra("mcp")
    # The protocol takes longer to import than the packs to open.
    Thread(target=import_module, args=("wikigr.server.mcp",), daemon=True).start()
    served = open_served(environment, packs, profile, offline=offline)

    from wikigr.server.mcp import serve_stdio

    def stop(number: int, frame: FrameType | None) -> None:
        # The interpreter would wait for the thread that reads a line, and for those that wait for a model.
        try:
            if number == signal.SIGINT:
                environment.print_error("Interrupted.")
        finally:
            os._exit(128 + number)

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve_stdio(served)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _client_config(client: str, command: Sequence[str]) -> str:
    """Return what to paste into the settings of ``client`` so that it starts ``command``."""
    if client == "claude-code":
        return shlex.join(["claude", "mcp", "add", "wikigr", "--", *command])
    entry = {"command": command[0], "args": list(command[1:])}
    settings = (
        {"servers": {"wikigr": {"type": "stdio", **entry}}} if client == "vscode" else {"mcpServers": {"wikigr": entry}}
    )
    return json.dumps(settings, indent=2, ensure_ascii=False)


def _program() -> str:
    """Return the path of the program ``wikigr`` that runs, or its name if it is not a file."""
    own = Path(sys.argv[0])
    if own.name == "wikigr" and os.access(own, os.X_OK):
        return str(own.absolute())
    return shutil.which("wikigr") or "wikigr"


def require_extra(command: str) -> None:
    """Raise ``UsageError`` unless the packages of the extra ``serve`` are installed."""
    missing = [name for name in ("mcp", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"`wikigr {command}` needs {', '.join(missing)}, which is not installed.",
            hint="Install it: pip install 'wikigr[serve]'",
        )


def open_served(environment: Environment, packs: Sequence[str], profile: str, *, offline: bool) -> ServedPacks:
    """Open the packs of a server; a note on stderr names those that were given twice."""
    from wikigr.server.packs import ServedPacks

    served = ServedPacks(packs, profile=profile, offline=offline)
    for location in served.repeated:
        environment.note(f"wikigr: {location} is among the packs already, so it counts once.")
    return served

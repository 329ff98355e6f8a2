"""``wikigr serve``: answer a browser, programs and assistants over HTTP."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment


def serve(
    context: typer.Context,
    pack: options.PackNames = None,
    host: Annotated[
        str, options.Server(metavar="ADDRESS", help="Listen on this address. Others than loopback need --token.")
    ] = "127.0.0.1",
    port: Annotated[int, options.Server(min=0, max=65535, help="Listen on this port; 0 is any free one.")] = 8642,
    token: Annotated[
        str | None,
        options.Server(
            metavar="SECRET", help="Answer only clients that send this secret, at least 16 characters long."
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        options.Server(
            metavar="NAME", help="Answer requests for this host name, such as that of a proxy (repeatable)."
        ),
    ] = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    offline: options.Offline = False,
    open_browser: Annotated[bool, options.Server("--open", help="Open the address in the browser.")] = False,
) -> None:
    """Serve packs over HTTP: a web page, a JSON API under /api, and the Model Context Protocol (MCP) at /mcp.

    The packs stay open, so an answer takes a fraction of the time of `wikigr ask`. A pack that is replaced, as by
    `wikigr pack update`, is opened again. Ctrl-C stops the server after the requests under way. Needs the extra
    `serve`.

    \b
    Examples:
      wikigr serve --pack packs/physics --open
      wikigr serve --pack packs/physics --host 0.0.0.0 --token $SECRET
    """
    environment = context.ensure_object(Environment)
    packs = options.require_packs(pack)

    from wikigr_cli.packs import open_served, require_extra
    from wikigr_cli.render.output import counted

    require_extra("serve")

    from wikigr.serve.security import check_allowed_hosts, check_binding
    from wikigr.serve.server import listen, run_app

    check_binding(host, token)
    check_allowed_hosts(allowed_host or ())
    with listen(host, port) as listener:
        served = open_served(environment, packs, profile, offline=offline)

        from wikigr.evaluation.run import RUNS
        from wikigr.serve.app import create_app
        from wikigr.serve.web.routes import WebPage

        address = f"http://{_reachable(host, listener.getsockname()[0])}:{listener.getsockname()[1]}/"
        if token is not None:
            from urllib.parse import urlencode

            address += f"?{urlencode({'token': token})}"

        def ready() -> None:
            environment.print(address)
            environment.note(f"Serving {', '.join(served.names)}. Ctrl-C stops the server.")
            if open_browser:
                import webbrowser

                webbrowser.open(address)

        pages = WebPage(served, RUNS).routes()
        app = create_app(served, host=host, token=token, allowed_hosts=allowed_host or (), pages=pages)
        cut_off = run_app(app, listener, on_ready=ready)
    environment.note(f"Stopped; {counted(cut_off, 'requests')} cut off." if cut_off else "Stopped.")


def _reachable(host: str, bound: str) -> str:
    """Return ``host`` as it is written in an address, or one of this machine if the server listens on all of them."""
    if ip_address(bound.partition("%")[0]).is_unspecified:
        return "[::1]" if ":" in bound else "127.0.0.1"
    return f"[{host}]" if ":" in host and not host.startswith("[") else host

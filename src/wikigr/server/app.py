"""The web application: the JSON API, the Model Context Protocol and the page, and the process that serves it."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from wikigr.errors import UsageError, WikigrError
from wikigr.server.api import api_routes, error_response
from wikigr.server.log import start_log
from wikigr.server.packs import ServedPacks
from wikigr.server.page import page_routes
from wikigr.server.security import HEALTH, Security, is_loopback, remember_token
from wikigr.server.service import Service
from wikigr.server.workers import CRASH

# Seconds for requests under way after SIGTERM or Ctrl-C; a second signal ends them.
GRACE = 4
# The maximum number of open connections, if the process may open twice as many files.
MAX_CONNECTIONS = 1_000
# Bytes of requests that a client may send ahead of the answers.
_MAX_AHEAD = 128 << 10
# Seconds for which the address of a client that was cut off for sending more cannot connect.
_PAUSE = 1.0


def create_app(
    packs: ServedPacks,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    originals: Path | None = None,
    **limits: Any,
) -> Starlette:
    """Return the application that serves ``packs``; it closes them when it ends.

    ``host`` is the address at which it will listen, ``allowed_hosts`` the names of a proxy in front of it, and
    ``token`` the secret that clients must send, if any. Clients may read source files of the packs that are in the
    folder ``originals``. ``limits`` are those of ``Service``.
    """
    service = Service(packs, shows_paths=is_loopback(host) and not allowed_hosts, originals=originals, **limits)
    mcp = _McpEndpoint(service)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(mcp.run())
            yield
            running.cancel()
        service.close()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "packs": len(packs.names)})

    async def sign_in(request: Request) -> Response:
        response = Response(status_code=204)
        if token is not None:
            remember_token(request, response, token)
        return response

    return Starlette(
        routes=[
            Route(HEALTH, health),
            *api_routes(service, needs_token=token is not None),
            Route("/api/session", sign_in, methods=["POST"]),
            Route("/mcp", mcp, methods=["POST"]),
            *page_routes(service),
        ],
        middleware=[Middleware(Security, host=host, token=token, allowed_hosts=allowed_hosts)],
        exception_handlers={HTTPException: _on_http_error, 500: _on_crash},
        lifespan=lifespan,
    )


class _McpEndpoint:
    """The Model Context Protocol over HTTP, loaded for its first client, because its SDK is slow to import."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._is_wanted = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._endpoint: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._is_wanted.set()
        await self._is_ready.wait()
        assert self._endpoint is not None
        await self._endpoint(scope, receive, send)

    async def run(self) -> None:
        """Serve the protocol, once it is wanted, until cancelled."""
        await self._is_wanted.wait()
        mcp = await asyncio.to_thread(import_module, "wikigr.server.mcp")
        server = mcp.make_server(self._service)
        self._endpoint = mcp.http_endpoint(server)
        async with server.session_manager.run():
            self._is_ready.set()
            await asyncio.Event().wait()


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    document = {"schema_version": 1, "error": f"{error.detail}.", "hint": None}
    return JSONResponse(document, status_code=error.status_code, headers=error.headers)


async def _on_crash(request: Request, error: Exception) -> Response:
    """Tell the client nothing about a bug; the log has its traceback."""
    return error_response(CRASH)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free one. Raises ``UsageError`` for a bad address or a port in use."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{host!r} is not an address of this machine: {error}.") from error
    try:
        both = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server((address[0], port), family=family, backlog=1024, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"Port {port} is in use: another program listens there.",
                hint="Choose another one with --port, or 0 for any free port.",
            ) from error
        raise UsageError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error


def run_app(app: Starlette, listener: socket.socket, *, on_ready: Callable[[], None]) -> None:
    """Serve ``app`` until SIGTERM or Ctrl-C.

    Requests under way then have ``GRACE`` seconds. ``on_ready`` is called when the first client can connect. Raises
    ``WikigrError`` if the application cannot start.
    """
    server = AppServer(app, on_ready)
    asyncio.run(server.serve(sockets=[listener]))
    if not server.started:
        raise WikigrError("The server could not start.")


class _Protocol(H11Protocol):
    """Drops connections far above the limit, at which uvicorn answers with an error: they would use up all files.

    It also drops those that send too much ahead of the answers: uvicorn reads on after each answer, and would keep all
    that is sent by a client who reads nothing. Its address is in ``paused`` then, with the time until which it cannot
    connect; otherwise it would get ever more answers that it does not read.
    """

    def __init__(self, *arguments: Any, paused: dict[str, float], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._paused = paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        is_paused = self.client is not None and self._paused.get(self.client[0], 0.0) > self.loop.time()
        if is_paused or len(self.connections) > 1.5 * (self.limit_concurrency or MAX_CONNECTIONS):
            transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Bodies are taken out of it as they arrive.
        if len(self.conn.trailing_data[0]) > _MAX_AHEAD:
            self._pause()
            self.transport.abort()

    def _pause(self) -> None:
        now = self.loop.time()
        for address in [address for address, until in self._paused.items() if until <= now]:
            del self._paused[address]
        if self.client is not None:
            self._paused[self.client[0]] = now + _PAUSE


class AppServer(uvicorn.Server):
    """Serves an application, and returns normally when it is told to stop."""

    def __init__(self, app: Starlette, on_ready: Callable[[], None]) -> None:
        start_log()
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, max(8, files // 2))
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="error",
                access_log=False,  # it would hold tokens
                http=cast(type[H11Protocol], partial(_Protocol, paused={})),
                limit_concurrency=most,
                # So many connections are accepted before the first of them is counted.
                backlog=max(8, most // 8),
                timeout_graceful_shutdown=GRACE,
                ws="none",
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=32 << 10,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Requests that are cut off are no bugs.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again when it has stopped, which would end the process by it.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        old = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

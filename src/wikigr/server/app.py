"""The web application: the JSON API, the Model Context Protocol and pages, behind the checks of every request."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from wikigr.errors import PackError, WikigrError
from wikigr.server.api import api_routes, error_response
from wikigr.server.event_stream import CRASH
from wikigr.server.mcp.http import McpEndpoint
from wikigr.server.packs import ServedPacks
from wikigr.server.security import HEALTH, Security, is_loopback
from wikigr.server.service import Service
from wikigr.server.workers import Usage, Workers

# Threads for questions, questions that wait for one, and seconds until a client is told that it takes too long.
THREADS = max(4, os.cpu_count() or 1)
WAITING = 64
# Threads for pages and lookups, which no model delays.
LOOKUP_THREADS = 4
TIME_LIMIT = 120.0


def create_app(
    packs: ServedPacks,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    allowed_hosts: Sequence[str] = (),
    pages: Sequence[BaseRoute] = (),
    threads: int = THREADS,
    waiting: int = WAITING,
    time_limit: float = TIME_LIMIT,
) -> Starlette:
    """Return the application that serves ``packs``; it closes them when it ends.

    ``host`` is the address at which it will listen, ``allowed_hosts`` the names of a proxy in front of it, and
    ``token`` the secret that clients must send, if any. ``pages`` are more routes; their handlers find the ``Service``
    in ``request.app.state.service``. ``threads``, ``waiting`` and ``time_limit`` are those of ``Workers`` for
    questions.
    """
    # Together, because lookups slow the questions of others down as well.
    usage = Usage()
    workers = Workers(threads=threads, waiting=waiting, time_limit=time_limit, usage=usage)
    lookups = Workers(threads=LOOKUP_THREADS, waiting=waiting, time_limit=time_limit, usage=usage)
    service = Service(packs, workers, lookups, shows_paths=is_loopback(host) and not allowed_hosts)
    endpoint = McpEndpoint(service)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(packs.close)
            stack.callback(workers.close)
            stack.callback(lookups.close)
            await stack.enter_async_context(endpoint.run())
            yield

    async def health(request: Request) -> Response:
        missing = packs.missing()
        if missing:
            return error_response(PackError(f"These packs are not there any more: {', '.join(missing)}."))
        return JSONResponse({"status": "ok", "packs": len(packs.names)})

    app = Starlette(
        routes=[
            Route(HEALTH, health),
            *api_routes(service, needs_token=token is not None),
            Route("/mcp", endpoint),
            *pages,
        ],
        middleware=[Middleware(Security, host=host, token=token, allowed_hosts=allowed_hosts)],
        exception_handlers={HTTPException: _on_http_error, WikigrError: _on_error, 500: _on_crash},
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.mcp = endpoint
    return app


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    document = {"schema_version": 1, "error": f"{error.detail}.", "hint": None}
    return JSONResponse(document, status_code=error.status_code, headers=error.headers)


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WikigrError)
    return error_response(error)


async def _on_crash(request: Request, error: Exception) -> Response:
    """Tell the client nothing about a bug; the log has its traceback."""
    return error_response(CRASH)

"""The Model Context Protocol over HTTP ("streamable HTTP")."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from wikigr.server.security import MAX_BODY_BYTES
from wikigr.server.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_MAX_SESSIONS = 200
# Seconds until a session without requests is forgotten.
_IDLE_LIMIT = 1800.0
# The SDK's modules import each other, and two threads that import them at the same time may find half of one.
_IMPORTING = threading.Lock()


class McpEndpoint:
    """The endpoint ``/mcp`` as an ASGI application; it works while ``run`` is entered.

    The protocol takes longer to import than everything else, so that happens in the background.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._closing = asyncio.Event()
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self._manager = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        serving = asyncio.create_task(self._serve(self._manager, stop))
        try:
            yield
        finally:
            stop.set()
            await serving

    async def _serve(self, ready: asyncio.Future[StreamableHTTPSessionManager], stop: asyncio.Event) -> None:
        try:
            manager = await asyncio.to_thread(_make_manager, self._service)
        except BaseException:
            ready.cancel()
            raise
        async with manager.run():
            ready.set_result(manager)
            await stop.wait()

    def end_streams(self) -> None:
        """End the streams on which clients wait for messages, so that the server can stop."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None
        manager = await asyncio.shield(self._manager)
        if "mcp-session-id" not in Headers(scope=scope):
            await _make_room(manager)
        if scope["method"] != "GET":
            await manager.handle_request(scope, receive, send)
            return
        state = {"started": False, "complete": False}

        async def noted(message: Message) -> None:
            state["started"] = state["started"] or message["type"] == "http.response.start"
            state["complete"] = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        handling = asyncio.ensure_future(manager.handle_request(scope, receive, noted))
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait((handling, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()
            handling.cancel()
            await asyncio.gather(handling, return_exceptions=True)
        if state["started"] and not state["complete"]:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _make_room(manager: StreamableHTTPSessionManager) -> None:
    """End the session that has been idle longest if there is no room for another one.

    The SDK would refuse new sessions until the old ones expire, and clients that crash never end theirs.
    """
    sessions = manager._server_instances
    if len(sessions) < _MAX_SESSIONS:
        return
    # A session with a request under way has no deadline.
    deadlines = {name: one.idle_scope.deadline for name, one in sessions.items() if one.idle_scope is not None}
    oldest = min(deadlines, key=lambda name: deadlines[name], default=None)
    if oldest is not None and deadlines[oldest] < math.inf:
        await manager._discard_session(oldest, sessions[oldest])


def _make_manager(service: Service) -> StreamableHTTPSessionManager:
    with _IMPORTING:
        from mcp.server.transport_security import TransportSecuritySettings

        from wikigr.server.mcp.server import make_server

    server = make_server(service)
    # This makes the session manager; the application around it is not used, because ``Security`` checks requests.
    server.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=_IDLE_LIMIT,
        # Requests at the same time may each find room.
        max_sessions=2 * _MAX_SESSIONS,
    )
    return server.session_manager

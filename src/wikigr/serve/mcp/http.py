"""The Model Context Protocol over HTTP ("streamable HTTP")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Message, Receive, Scope, Send

from wikigr.serve.mcp.server import make_server
from wikigr.serve.security import MAX_BODY_BYTES
from wikigr.serve.service import Service

_MAX_SESSIONS = 200
# Seconds until a session without requests is forgotten.
_IDLE_LIMIT = 1800.0


class McpEndpoint:
    """The endpoint ``/mcp`` as an ASGI application; it works while ``run`` is entered."""

    def __init__(self, service: Service) -> None:
        self._server = make_server(service)
        # This makes the session manager; the application around it is not used, because ``Security`` checks requests.
        self._server.streamable_http_app(
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=MAX_BODY_BYTES,
            session_idle_timeout=_IDLE_LIMIT,
            max_sessions=_MAX_SESSIONS,
        )
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._server.session_manager.run():
            yield

    def end_streams(self) -> None:
        """End the streams on which clients wait for messages, so that the server can stop."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = self._server.session_manager
        if scope["method"] != "GET":
            await manager.handle_request(scope, receive, send)
            return
        state = {"started": False, "complete": False}

        async def noted(message: Message) -> None:
            state["started"] = state["started"] or message["type"] == "http.response.start"
            state["complete"] = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async with anyio.create_task_group() as group:

            async def wait() -> None:
                await self._closing.wait()
                group.cancel_scope.cancel()

            group.start_soon(wait)
            await manager.handle_request(scope, receive, noted)
            group.cancel_scope.cancel()
        if state["started"] and not state["complete"]:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

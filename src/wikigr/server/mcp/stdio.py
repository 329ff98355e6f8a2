"""The Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from wikigr.server.mcp.server import make_server
from wikigr.server.packs import ServedPacks
from wikigr.server.service import Service
from wikigr.server.workers import Workers


def serve_stdio(packs: ServedPacks, *, threads: int, lookup_threads: int, waiting: int, time_limit: float) -> None:
    """Answer one client until it closes standard input; the limits are those of ``Workers``."""
    workers = Workers(threads=threads, waiting=waiting, time_limit=time_limit)
    lookups = Workers(threads=lookup_threads, waiting=waiting, time_limit=time_limit)
    try:
        asyncio.run(_serve(make_server(Service(packs, workers, lookups))))
    finally:
        workers.close()
        lookups.close()
        packs.close()


async def _serve(server: MCPServer[Any]) -> None:
    # The SDK ignores invalid lines (`run_stdio_async`), and their client would wait for an answer forever.
    lowlevel = server._lowlevel_server
    async with stdio_server() as (lines, replies), anyio.create_task_group() as tasks:
        valid, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def answer_invalid() -> None:
            async with valid:
                async for line in lines:
                    if isinstance(line, Exception):
                        await replies.send(SessionMessage(_error(line)))
                    else:
                        await valid.send(line)

        tasks.start_soon(answer_invalid)
        await lowlevel.run(messages, replies, lowlevel.create_initialization_options())


def _error(error: Exception) -> JSONRPCError:
    if isinstance(error, ValidationError) and any(row["type"] == "json_invalid" for row in error.errors()):
        data = ErrorData(code=PARSE_ERROR, message="The line is not valid JSON.")
    else:
        data = ErrorData(code=INVALID_REQUEST, message="The line is not a JSON-RPC message.")
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)

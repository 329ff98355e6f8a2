"""The Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio

from wikigr.serve.mcp.server import make_server
from wikigr.serve.packs import ServedPacks
from wikigr.serve.service import Service
from wikigr.serve.workers import Workers


def serve_stdio(packs: ServedPacks, *, threads: int, waiting: int, time_limit: float) -> None:
    """Answer one client until it closes standard input; the limits are those of ``Workers``."""
    workers = Workers(threads=threads, waiting=waiting, time_limit=time_limit)
    try:
        asyncio.run(make_server(Service(packs, workers)).run_stdio_async())
    finally:
        workers.close()
        packs.close()

"""The events of a question while it is answered, for Server-Sent Events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from wikigr.errors import WikigrError
from wikigr.server.workers import Task

EVENT_STREAM = "text/event-stream"
# What keeps a stream without events open, and the seconds until it is sent.
WAITING = ": waiting\n\n"
KEEP_ALIVE = 15.0
CRASH = WikigrError("The server failed.")
# The one that uvicorn prints.
_LOG = logging.getLogger("uvicorn.error")


async def stream_events(
    answer: Callable[[Task], Awaitable[Any]], show: Callable[[str, Any], str]
) -> AsyncIterator[str]:
    """Yield the events of ``answer``, each in the form that ``show`` gives its kind and its value.

    ``stage`` and ``text`` come while it is answered, each with a string. ``answer`` with what it returns, or ``error``
    with a ``WikigrError``, is the last one. The answer is cancelled when the client goes away.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def report(kind: str, value: str) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, (kind, value))

    async def run() -> None:
        try:
            queue.put_nowait(("answer", await answer(Task(report))))
        except WikigrError as error:
            queue.put_nowait(("error", error))
        except Exception:  # noqa: BLE001 -- the response has begun, so no other handler can tell the client
            _LOG.exception("A question failed.")
            queue.put_nowait(("error", CRASH))
        finally:
            queue.put_nowait(None)

    running = asyncio.ensure_future(run())
    try:
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), KEEP_ALIVE)
            except TimeoutError:
                yield WAITING
                continue
            if event is None:
                break
            yield show(*event)
    finally:
        running.cancel()

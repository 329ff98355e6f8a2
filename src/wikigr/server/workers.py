"""A bounded pool of threads for what blocks, and the events of a question while it is answered."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from wikigr.errors import WikigrError

_Result = TypeVar("_Result")

EVENT_STREAM = "text/event-stream"
CRASH = WikigrError("The server failed.")
# Seconds without an event after which a comment keeps a stream open.
KEEP_ALIVE = 15.0


class BusyError(WikigrError):
    """Too many questions are waiting."""


class TimeLimitError(WikigrError):
    """A question took longer than the server allows."""


class Cancelled(Exception):  # noqa: N818
    """The client went away, or the time is up; ends a question between two stages."""


class Task:
    """One question in a thread. Its client reads the stages and the text that arrive; ``cancel`` ends it."""

    def __init__(self, on_event: Callable[[str, Any], None] | None = None) -> None:
        """Call ``on_event`` in the thread with the kind of an event and its value: ``stage``, ``offline``, ``text``."""
        self._on_event = on_event
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def on_stage(self, name: str) -> None:
        """Report that a stage begins; raises ``Cancelled`` if the client does not wait any more."""
        self._report("stage", name)

    def on_text(self, piece: str) -> None:
        """Report a piece of a model's answer; raises ``Cancelled`` like ``on_stage``."""
        self._report("text", piece)

    def on_offline(self, document: Any) -> None:
        """Report the answer that needs no model, before a model writes; raises ``Cancelled`` like ``on_stage``."""
        self._report("offline", document)

    def _report(self, kind: str, value: Any) -> None:
        if self._cancelled.is_set():
            raise Cancelled
        if self._on_event is not None:
            self._on_event(kind, value)


class Workers:
    """Runs functions in at most ``threads`` threads, with at most ``waiting`` more in a queue.

    ``time_limit`` is in seconds, from the arrival of a question to its answer. A question that is cancelled or late
    ends at its next stage; until then it keeps its thread. (With the limiter of ``anyio.to_thread``, it would free its
    place at once, and clients that come and go could start any number of threads.)
    """

    def __init__(self, *, threads: int, waiting: int, time_limit: float) -> None:
        self._time_limit = time_limit
        self._places = threading.Semaphore(threads + waiting)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="question")

    async def run(self, function: Callable[[Task], _Result], task: Task | None = None) -> _Result:
        """Return what ``function`` returns.

        Raises ``BusyError`` and ``TimeLimitError``. If the caller is cancelled, so is the ``task``.
        """
        task = task or Task()
        if not self._places.acquire(blocking=False):
            raise BusyError("The server is answering too many questions.", hint="Try again in a few seconds.")
        try:
            future = self._pool.submit(function, task)
        except RuntimeError as error:
            raise BusyError("The server is shutting down.") from error
        future.add_done_callback(lambda _: self._places.release())
        try:
            async with asyncio.timeout(self._time_limit) as limit:
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeLimitError(
                f"The answer took longer than {self._time_limit:g} seconds.",
                hint="Try again, or ask with a faster profile.",
            ) from error
        finally:
            task.cancel()

    def close(self) -> None:
        """Take no more questions; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def stream_events(
    answer: Callable[[Task], Awaitable[Any]], show: Callable[[str, Any], str]
) -> AsyncIterator[str]:
    """Yield the Server-Sent Events of ``answer``, each in the form that ``show`` gives its kind and its value.

    ``stage`` and ``text`` come while it is answered, each with a string, and ``offline`` with the document of the
    answer that needs no model. ``answer`` with what it returns, or ``error`` with a ``WikigrError``, is the last one.
    The answer is cancelled when the client goes away.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def report(kind: str, value: Any) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, (kind, value))

    async def run() -> None:
        try:
            queue.put_nowait(("answer", await answer(Task(report))))
        except WikigrError as error:
            queue.put_nowait(("error", error))
        except Exception:
            logging.getLogger("uvicorn.error").exception("A question failed.")
            queue.put_nowait(("error", CRASH))
        finally:
            queue.put_nowait(None)

    running = asyncio.ensure_future(run())
    try:
        while True:
            try:
                event = await asyncio.wait_for(queue.get(), KEEP_ALIVE)
            except TimeoutError:
                yield ": waiting\n\n"
                continue
            if event is None:
                break
            yield show(*event)
    finally:
        running.cancel()

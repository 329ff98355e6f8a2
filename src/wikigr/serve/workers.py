"""A bounded pool of threads for the requests of many clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from wikigr.errors import WikigrError

_Result = TypeVar("_Result")


class BusyError(WikigrError):
    """Too many questions are waiting."""


class TimeLimitError(WikigrError):
    """A question took longer than the server allows."""


class Cancelled(Exception):  # noqa: N818
    """The client went away, or the time is up; ends a question between two stages."""


class Task:
    """One question in a thread. Its client reads the stages and the text that arrive; ``cancel`` ends it."""

    def __init__(self, on_event: Callable[[str, str], None] | None = None) -> None:
        """Call ``on_event`` with ``stage`` and its name, or ``text`` and a piece of a model's answer, in the thread."""
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

    def _report(self, kind: str, value: str) -> None:
        if self._cancelled.is_set():
            raise Cancelled
        if self._on_event is not None:
            self._on_event(kind, value)


class Workers:
    """Runs functions in at most ``threads`` threads, with at most ``waiting`` more in a queue.

    ``time_limit`` is in seconds, from the arrival of a question to its answer. A question that is cancelled or late
    ends at its next stage; until then it keeps its thread.
    """

    def __init__(self, *, threads: int, waiting: int, time_limit: float) -> None:
        self.threads = threads
        self._most = threads + waiting
        self._time_limit = time_limit
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="question")
        self._count = 0

    async def run(self, function: Callable[[Task], _Result], task: Task | None = None) -> _Result:
        """Return what ``function`` returns; call it from one event loop only.

        Raises ``BusyError`` and ``TimeLimitError``. If the caller is cancelled, so is the ``task``.
        """
        if self._count >= self._most:
            raise BusyError("The server is answering too many questions.", hint="Try again in a few seconds.")
        task = task or Task()
        loop = asyncio.get_running_loop()
        future = self._pool.submit(function, task)
        self._count += 1
        future.add_done_callback(lambda done: _in_loop(loop, self._release))
        try:
            async with asyncio.timeout(self._time_limit):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if not task_timed_out(future):
                raise
            raise TimeLimitError(
                f"The answer took longer than {self._time_limit:g} seconds.",
                hint="Try again, or ask with a faster profile.",
            ) from error
        finally:
            task.cancel()

    def _release(self) -> None:
        self._count -= 1

    def close(self) -> None:
        """Take no more questions; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def task_timed_out(future: Future[_Result]) -> bool:
    """Return whether ``future`` has no exception of its own, so that a ``TimeoutError`` is the limit's."""
    return not future.done() or future.cancelled() or future.exception() is None


def _in_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call ``function`` in the thread of ``loop``, which may be closed already."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)

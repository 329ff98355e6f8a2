"""A bounded pool of threads, which the requests of many clients share fairly."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from wikigr.errors import WikigrError

_Result = TypeVar("_Result")

# The network address that the request under way comes from; "" outside a server.
CLIENT: ContextVar[str] = ContextVar("client", default="")


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


@dataclass(frozen=True)
class _Turn:
    """A thread for one question of a client."""

    client: str
    is_heavy: bool
    begun: float


class _Turns:
    """Gives at most ``most`` turns at a time, next to the client that used the least time in the last minutes.

    A client that used more than the mean of all is heavy. All heavy clients together have half of the turns at most, so
    that the others hardly wait behind their questions; a client that is alone has all turns. At most ``waiting``
    requests wait. One more takes the place of the last one of the client with most of them, unless it is that client's
    own. Call the methods from one event loop only.
    """

    def __init__(self, most: int, waiting: int) -> None:
        self._free = most
        self._free_for_heavy = max(1, most // 2)
        self._most_waiting = waiting
        self._queues: dict[str, deque[asyncio.Future[_Turn]]] = {}
        # Seconds of each client in this minute and in the one before.
        self._used: dict[str, float] = {}
        self._used_before: dict[str, float] = {}
        self._minute = 0

    async def take(self, client: str) -> _Turn:
        """Wait for a turn, which ``give_back`` ends; raises ``BusyError`` if too many wait."""
        self._forget()
        self._used.setdefault(client, 0.0)
        if self._has_turn(client):
            return self._begin(client)
        if sum(map(len, self._queues.values())) >= self._most_waiting:
            longest = max(self._queues.values(), key=len, default=deque())
            if len(longest) <= len(self._queues.get(client, ())) + 1:
                raise _busy()
            refused = longest.pop()
            if not refused.done():
                refused.set_exception(_busy())
        given: asyncio.Future[_Turn] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(given)
        try:
            return await given
        except asyncio.CancelledError:
            if given.cancelled():
                self._withdraw(client, given)
            elif given.exception() is None:  # too late
                self.give_back(given.result())
            raise

    def give_back(self, turn: _Turn) -> None:
        """End a turn and give it to the next client."""
        self._free += 1
        self._free_for_heavy += turn.is_heavy
        self._forget()
        self._used[turn.client] = self._used.get(turn.client, 0) + time.monotonic() - turn.begun
        for client in sorted(self._queues, key=self._time_of):
            queue = self._queues[client]
            while queue and self._has_turn(client):
                given = queue.popleft()
                if not given.done():
                    given.set_result(self._begin(client))
            if not queue:
                del self._queues[client]

    def close(self) -> None:
        """Refuse all who wait."""
        for queue in self._queues.values():
            for given in queue:
                if not given.done():
                    given.set_exception(BusyError("The server is shutting down."))
        self._queues.clear()

    def _begin(self, client: str) -> _Turn:
        turn = _Turn(client, self._is_heavy(client), time.monotonic())
        self._free -= 1
        self._free_for_heavy -= turn.is_heavy
        return turn

    def _has_turn(self, client: str) -> bool:
        return self._free > 0 and (self._free_for_heavy > 0 or not self._is_heavy(client))

    def _is_heavy(self, client: str) -> bool:
        everyone = self._used.keys() | self._used_before.keys()
        return self._time_of(client) * len(everyone) > sum(map(self._time_of, everyone))

    def _time_of(self, client: str) -> float:
        return self._used.get(client, 0) + self._used_before.get(client, 0)

    def _forget(self) -> None:
        minute = int(time.monotonic() / 60)
        if minute != self._minute:
            self._used_before = self._used if minute == self._minute + 1 else {}
            self._used = {}
            self._minute = minute

    def _withdraw(self, client: str, given: asyncio.Future[_Turn]) -> None:
        queue = self._queues.get(client, deque())
        if given in queue:
            queue.remove(given)
            if not queue:
                del self._queues[client]


class Workers:
    """Runs functions in at most ``threads`` threads, with at most ``waiting`` more in a queue.

    The clients in the queue take turns, so that one with many questions does not hold up the others.
    ``time_limit`` is in seconds, from the arrival of a question to its answer. A question that is cancelled or late
    ends at its next stage; until then it keeps its thread.
    """

    def __init__(self, *, threads: int, waiting: int, time_limit: float) -> None:
        self.threads = threads
        self._time_limit = time_limit
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="question")
        self._turns = _Turns(threads, waiting)

    async def run(self, function: Callable[[Task], _Result], task: Task | None = None) -> _Result:
        """Return what ``function`` returns; call it from one event loop only.

        Raises ``BusyError`` and ``TimeLimitError``. If the caller is cancelled, so is the ``task``.
        """
        task = task or Task()
        loop = asyncio.get_running_loop()
        future: Future[_Result] | None = None
        try:
            async with asyncio.timeout(self._time_limit):
                turn = await self._turns.take(CLIENT.get())
                future = self._pool.submit(function, task)
                future.add_done_callback(lambda done: _in_loop(loop, lambda: self._turns.give_back(turn)))
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if future is None:
                raise _busy() from error
            if not task_timed_out(future):
                raise
            raise TimeLimitError(
                f"The answer took longer than {self._time_limit:g} seconds.",
                hint="Try again, or ask with a faster profile.",
            ) from error
        finally:
            task.cancel()

    def close(self) -> None:
        """Take no more questions; those under way end by themselves."""
        self._turns.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _busy() -> BusyError:
    return BusyError("The server is answering too many questions.", hint="Try again in a few seconds.")


def task_timed_out(future: Future[_Result]) -> bool:
    """Return whether ``future`` has no exception of its own, so that a ``TimeoutError`` is the limit's."""
    return not future.done() or future.cancelled() or future.exception() is None


def _in_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call ``function`` in the thread of ``loop``, which may be closed already."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)

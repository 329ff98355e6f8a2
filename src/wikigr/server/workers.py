"""A bounded pool of threads for what blocks, and the events of a question while it is answered."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from wikigr.errors import WikigrError

_Result = TypeVar("_Result")

EVENT_STREAM = "text/event-stream"
CRASH = WikigrError("The server failed.")
# The address of the client whose request is handled; "" for an assistant at standard input.
CLIENT: ContextVar[str] = ContextVar("CLIENT", default="")
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


@dataclass(frozen=True, eq=False, slots=True)
class _Question:
    client: str
    function: Callable[[], Any]
    answer: asyncio.Future[Any]

    def refuse(self, reason: str, hint: str | None = None) -> None:
        if not self.answer.done():
            self.answer.set_exception(BusyError(reason, hint=hint))


class Workers:
    """Runs functions in at most ``threads`` threads, with at most ``waiting`` more in a queue.

    The next one is the first of the client with the fewest in threads and in the queue. Clients with more than one
    question share half of the threads. If the queue is full, the last one of the client with the most is refused.
    All methods belong to one event loop.

    ``time_limit`` is in seconds, from the arrival of a question to its answer. A question that is cancelled or late
    ends at its next stage; until then it keeps its thread. (With the limiter of ``anyio.to_thread``, it would free its
    place at once, and clients that come and go could start any number of threads.)
    """

    def __init__(self, *, threads: int, waiting: int, time_limit: float) -> None:
        self._threads = threads
        self._places = threads + waiting
        self._time_limit = time_limit
        self._waiting: list[_Question] = []
        self._under_way: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="question")
        self._is_closed = False

    async def run(self, function: Callable[[Task], _Result], task: Task | None = None) -> _Result:
        """Return what ``function`` returns.

        Raises ``BusyError`` and ``TimeLimitError``. If the caller is cancelled, so is the ``task``.
        """
        if self._is_closed:
            raise BusyError("The server is shutting down.")
        task = task or Task()
        question = _Question(CLIENT.get(), partial(function, task), asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        self._start()
        if len(self._waiting) + self._under_way.total() > self._places:
            self._refuse_one()
        try:
            async with asyncio.timeout(self._time_limit) as limit:
                answer: _Result = await question.answer
                return answer
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeLimitError(
                f"The answer took longer than {self._time_limit:g} seconds.",
                hint="Try again, or ask with a faster profile.",
            ) from error
        finally:
            task.cancel()
            if question in self._waiting:
                self._waiting.remove(question)
                if not self._is_closed:
                    # Its client may have one question less than two now.
                    self._start()

    def _start(self) -> None:
        """Start what may start now."""
        held = self._held()
        most = (self._threads + 1) // 2
        while self._under_way.total() < self._threads:
            shared = sum(count for client, count in self._under_way.items() if held[client] > 1)
            may_start = [each for each in self._waiting if held[each.client] == 1 or shared < most]
            if not may_start:
                break
            question = min(may_start, key=lambda each: held[each.client])
            self._waiting.remove(question)
            self._under_way[question.client] += 1
            self._pool.submit(question.function).add_done_callback(partial(self._on_done, question))

    def _on_done(self, question: _Question, done: Future[Any]) -> None:
        # In the thread; the event loop may have ended before it.
        with suppress(RuntimeError):
            question.answer.get_loop().call_soon_threadsafe(self._end, question, done)

    def _end(self, question: _Question, done: Future[Any]) -> None:
        self._under_way -= Counter([question.client])
        if not self._is_closed:
            self._start()
        if question.answer.done():
            return
        if (error := done.exception()) is not None:
            question.answer.set_exception(error)
        else:
            question.answer.set_result(done.result())

    def _held(self) -> Counter[str]:
        """Return how many threads and places in the queue each client has."""
        return self._under_way + Counter(question.client for question in self._waiting)

    def _refuse_one(self) -> None:
        """Refuse the last question in the queue of the client with the most."""
        held = self._held()
        refused = max(reversed(self._waiting), key=lambda each: held[each.client])
        self._waiting.remove(refused)
        self._start()
        refused.refuse("The server is answering too many questions.", hint="Try again in a few seconds.")

    def close(self) -> None:
        """Take no more questions; those under way end by themselves."""
        self._is_closed = True
        for question in self._waiting:
            question.refuse("The server is shutting down.")
        self._waiting.clear()
        self._pool.shutdown(wait=False)


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

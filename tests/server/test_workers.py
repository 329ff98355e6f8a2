"""The pool of threads: its limits, and how it ends questions that nobody waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from wikigr.server.workers import BusyError, Cancelled, Task, TimeLimitError, Workers


def test_more_questions_than_may_wait_are_refused() -> None:
    async def ask() -> None:
        workers = Workers(threads=2, waiting=1, time_limit=60)
        gate = threading.Event()
        under_way = [asyncio.create_task(workers.run(lambda _: gate.wait(30))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too many questions"):
            await workers.run(lambda _: True)
        gate.set()
        assert await asyncio.gather(*under_way) == [True] * 3
        assert await workers.run(lambda _: "next") == "next"
        workers.close()
        with pytest.raises(BusyError, match="shutting down"):
            await workers.run(lambda _: True)

    asyncio.run(ask())


def test_an_abandoned_question_keeps_its_thread_until_it_ends() -> None:
    async def ask() -> None:
        workers = Workers(threads=1, waiting=0, time_limit=60)
        gate = threading.Event()
        asking = asyncio.create_task(workers.run(lambda _: gate.wait(30)))
        await asyncio.sleep(0.05)
        asking.cancel()
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError):
            await workers.run(lambda _: True)
        gate.set()
        await asyncio.sleep(0.05)
        assert await workers.run(lambda _: True)

    asyncio.run(ask())


def ends(started: threading.Event, ended: threading.Event) -> Callable[[Task], None]:
    """A question of many stages, which says when it ended."""

    def run(task: Task) -> None:
        try:
            while True:
                started.set()
                task.on_stage("stage")
                ended.wait(0.001)
        except Cancelled:
            ended.set()
            raise

    return run


def test_a_late_question_is_reported_and_ends_at_its_next_stage() -> None:
    started, ended = threading.Event(), threading.Event()

    async def ask() -> None:
        # In this time, the thread must begin.
        workers = Workers(threads=1, waiting=0, time_limit=1.0)
        with pytest.raises(TimeLimitError, match="longer than 1 seconds"):
            await workers.run(ends(started, ended))
        assert await asyncio.to_thread(ended.wait, 30)

    asyncio.run(ask())


def test_a_cancelled_question_ends_at_its_next_stage() -> None:
    started, ended = threading.Event(), threading.Event()

    async def ask() -> None:
        workers = Workers(threads=1, waiting=1, time_limit=60)
        asking = asyncio.create_task(workers.run(ends(started, ended)))
        # This one waits for the thread, and is never started.
        waiting = asyncio.create_task(workers.run(lambda _: pytest.fail("it was cancelled")))
        assert await asyncio.to_thread(started.wait, 30)
        waiting.cancel()
        asking.cancel()
        assert await asyncio.to_thread(ended.wait, 30)
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(ask())


def test_an_error_of_the_question_reaches_the_client() -> None:
    def fail(_: Task) -> None:
        raise TimeoutError("of its own")

    async def ask() -> None:
        with pytest.raises(TimeoutError, match="of its own"):
            await Workers(threads=1, waiting=0, time_limit=60).run(fail)

    asyncio.run(ask())

"""The pool of threads: its limits, and how it ends questions that nobody waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import copy_context

import pytest

from wikigr.server.workers import CLIENT, BusyError, Cancelled, Task, TimeLimitError, Workers


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


def ask_from(client: str, workers: Workers, function: Callable[[Task], object]) -> asyncio.Task[object]:
    """Ask as a request of ``client`` does."""
    context = copy_context()
    context.run(CLIENT.set, client)
    return asyncio.create_task(workers.run(function), context=context)


class Answers:
    """Functions that wait for ``gate``, and the names of those that have begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gate = threading.Event()

    def __call__(self, name: str) -> Callable[[Task], object]:
        def answer(_: Task) -> None:
            self.begun.append(name)
            assert self.gate.wait(30)

        return answer


def test_the_client_with_the_fewest_questions_is_next() -> None:
    answers = Answers()

    async def ask() -> None:
        workers = Workers(threads=1, waiting=10, time_limit=60)
        asked = [ask_from(name[0], workers, answers(name)) for name in ("a1", "a2", "a3", "b1", "c1", "b2", "a4")]
        await asyncio.sleep(0)
        answers.gate.set()
        await asyncio.gather(*asked)

    asyncio.run(ask())
    assert answers.begun == ["a1", "c1", "b1", "b2", "a2", "a3", "a4"]


@pytest.mark.parametrize("clients", [["greedy"] * 5, ["greedy", "eager"] * 2])
def test_clients_with_several_questions_leave_half_of_the_threads_to_others(clients: list[str]) -> None:
    answers = Answers()

    async def ask() -> None:
        workers = Workers(threads=12, waiting=10, time_limit=60)
        first = [ask_from(client, workers, answers(client)) for client in clients for _ in range(2)]
        await asyncio.sleep(0)
        others = [ask_from(f"other {n}", workers, answers("other")) for n in range(6)]
        async with asyncio.timeout(20):
            while answers.begun.count("other") < 6:
                await asyncio.sleep(0.01)
        assert len(answers.begun) == 12
        answers.gate.set()
        await asyncio.gather(*first, *others)

    asyncio.run(ask())


def test_a_question_may_start_when_its_client_withdraws_another() -> None:
    answers = Answers()
    others = Answers()

    async def ask() -> None:
        workers = Workers(threads=4, waiting=10, time_limit=60)
        ended = [ask_from(f"other {n}", workers, others("other")) for n in range(2)]
        busy = [ask_from("busy", workers, answers("busy")) for _ in range(2)]
        await asyncio.sleep(0)
        later = [ask_from("later", workers, answers(f"later {n}")) for n in range(2)]
        await asyncio.sleep(0)
        others.gate.set()
        await asyncio.gather(*ended)
        assert "later 0" not in answers.begun
        later[1].cancel()
        async with asyncio.timeout(20):
            while "later 0" not in answers.begun:
                await asyncio.sleep(0.01)
        answers.gate.set()
        await asyncio.gather(*busy, *later, return_exceptions=True)

    asyncio.run(ask())


def test_a_full_queue_refuses_the_last_question_of_the_client_with_the_most() -> None:
    answers = Answers()

    async def ask() -> None:
        workers = Workers(threads=1, waiting=3, time_limit=60)
        greedy = [ask_from("greedy", workers, answers(f"greedy {n}")) for n in range(4)]
        await asyncio.sleep(0)
        others = [ask_from(f"other {n}", workers, answers(f"other {n}")) for n in range(2)]
        await asyncio.sleep(0)
        again = [ask_from(client, workers, answers("again")) for client in ("greedy", "other 0")]
        found = await asyncio.gather(*greedy[2:], *again, return_exceptions=True)
        assert [str(error) for error in found] == ["The server is answering too many questions."] * 4
        answers.gate.set()
        await asyncio.gather(*greedy[:2], *others)

    asyncio.run(ask())
    assert answers.begun == ["greedy 0", "greedy 1", "other 0", "other 1"]


def test_questions_that_wait_when_the_server_stops_are_refused() -> None:
    answers = Answers()

    async def ask() -> None:
        workers = Workers(threads=1, waiting=3, time_limit=60)
        asked = [ask_from("a", workers, answers(f"{n}")) for n in range(3)]
        await asyncio.sleep(0)
        workers.close()
        for waiting in asked[1:]:
            with pytest.raises(BusyError, match="shutting down"):
                await waiting
        answers.gate.set()
        await asked[0]

    asyncio.run(ask())
    assert answers.begun == ["0"]

"""The pool of threads: its limits, and how it ends questions that nobody waits for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from itertools import islice

import pytest

from wikigr.serve.server import network_of
from wikigr.serve.workers import CLIENT, BusyError, Cancelled, Task, TimeLimitError, Workers


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
        # The callbacks that free the places run in the loop.
        await asyncio.sleep(0.01)
        assert await workers.run(lambda _: "next") == "next"
        workers.close()

    asyncio.run(ask())


def answers(clients: str, *, waiting: int) -> tuple[list[str], list[str]]:
    """Ask one question for each letter of ``clients``, its client; return who was answered, in order, and who refused.

    There is one thread, and all questions are there before the first is answered.
    """
    answered: list[str] = []
    refused: list[str] = []
    gate = threading.Event()

    async def ask_all() -> None:
        workers = Workers(threads=1, waiting=waiting, time_limit=60)

        async def ask(client: str) -> None:
            CLIENT.set(client)
            try:
                answered.append(await workers.run(lambda _: client if gate.wait(30) else "late"))
            except BusyError:
                refused.append(client)

        tasks = [asyncio.create_task(ask(client)) for client in clients]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*tasks)
        workers.close()

    asyncio.run(ask_all())
    return answered, refused


@pytest.mark.parametrize(
    ("clients", "waiting", "answered", "refused"),
    [
        ("aaaaab", 5, "a b aaaa", ""),
        ("aaaabcbc", 7, "a bbcc aaa", ""),
        # For others, the last questions of the client with most of them are refused.
        ("aaaaab", 4, "a b aaa", "a"),
        ("aaaabbb", 3, "a b aa", "abb"),
        ("aaaaaa", 3, "aaaa", "aa"),
        ("ab", 0, "a", "b"),
    ],
)
def test_the_client_that_used_the_least_time_is_next(clients: str, waiting: int, answered: str, refused: str) -> None:
    got, turned_away = answers(clients, waiting=waiting)
    expected = iter(got)
    # The order within a group depends on microseconds.
    assert [sorted(islice(expected, len(group))) for group in answered.split()] == [
        sorted(group) for group in answered.split()
    ]
    assert len(got) == len(answered.replace(" ", ""))
    assert sorted(turned_away) == sorted(refused)


def test_clients_that_used_more_than_the_mean_have_half_of_the_threads() -> None:
    async def run(workers: Workers, client: str, function: Callable[[], object]) -> object:
        CLIENT.set(client)
        return await workers.run(lambda _: function())

    async def ask_all() -> None:
        workers = Workers(threads=4, waiting=8, time_limit=60)
        await asyncio.create_task(run(workers, "light", lambda: None))
        await asyncio.create_task(run(workers, "heavy", lambda: time.sleep(0.2)))
        gate = threading.Event()
        begun: list[str] = []

        def wait(client: str) -> None:
            begun.append(client)
            gate.wait(30)

        tasks = [asyncio.create_task(run(workers, client, lambda c=client: wait(c))) for client in ["heavy"] * 4]  # type: ignore[misc]
        await asyncio.sleep(0.05)
        assert begun == ["heavy"] * 2
        tasks.append(asyncio.create_task(run(workers, "light", lambda: wait("light"))))
        await asyncio.sleep(0.05)
        assert begun == ["heavy", "heavy", "light"]
        gate.set()
        await asyncio.gather(*tasks)
        workers.close()

    asyncio.run(ask_all())


def test_a_client_that_is_alone_has_all_threads() -> None:
    async def ask_all() -> None:
        workers = Workers(threads=4, waiting=4, time_limit=60)
        for _ in range(2):
            together = threading.Barrier(4, timeout=30)
            tasks = [asyncio.create_task(workers.run(lambda _: together.wait())) for _ in range(4)]  # noqa: B023
            assert sorted(await asyncio.gather(*tasks)) == [0, 1, 2, 3]
        workers.close()

    asyncio.run(ask_all())


def test_a_question_that_is_cancelled_or_late_while_it_waits_leaves_its_place() -> None:
    async def ask() -> None:
        workers = Workers(threads=1, waiting=1, time_limit=0.2)
        gate = threading.Event()
        first = asyncio.create_task(workers.run(lambda _: gate.wait(30)))
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too many questions"):
            await workers.run(lambda _: pytest.fail("it is late"))
        waiting = asyncio.create_task(workers.run(lambda _: pytest.fail("it was cancelled")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(TimeLimitError):
            await first
        gate.set()
        await asyncio.sleep(0.05)
        assert await workers.run(lambda _: "next") == "next"
        # Those that wait when the server stops are told so.
        gate.clear()
        busy = asyncio.create_task(workers.run(lambda _: gate.wait(30)))
        last = asyncio.create_task(workers.run(lambda _: pytest.fail("the server stops")))
        await asyncio.sleep(0.01)
        workers.close()
        with pytest.raises(BusyError, match="shutting down"):
            await last
        gate.set()
        assert await busy

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_ipv6_network_are_one_client(address: str, network: str) -> None:
    assert network_of(address) == network


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

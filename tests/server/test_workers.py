"""The pool of threads: its limits, and how it ends questions that nobody waits for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from itertools import islice
from types import SimpleNamespace

import pytest

from wikigr.server import workers as module
from wikigr.server.server import client_at
from wikigr.server.workers import CLIENT, BusyError, Cancelled, Client, Task, TimeLimitError, Usage, Workers


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
    """Ask one question for each letter of ``clients``; return the letters that were answered, in order, and refused.

    Each small letter is a network with one client; all capitals are clients of one network. There is one thread, and
    all questions are there before the first is answered.
    """
    answered: list[str] = []
    refused: list[str] = []
    gate = threading.Event()

    async def ask_all() -> None:
        workers = Workers(threads=1, waiting=waiting, time_limit=60)

        async def ask(client: str) -> None:
            CLIENT.set(Client("capitals" if client.isupper() else client, client))
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
        # Many clients of one network share the turn and the places of one client.
        ("ABCDab", 5, "A ab BCD", ""),
        ("ABCDab", 3, "A ab B", "CD"),
        ("ABCDa", 3, "A a BC", "D"),
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


def test_clients_that_used_more_than_their_share_have_a_quarter_of_the_threads() -> None:
    async def run(workers: Workers, client: str, function: Callable[[], object]) -> object:
        CLIENT.set(Client(client, client))
        return await workers.run(lambda _: function())

    async def ask_all() -> None:
        workers = Workers(threads=8, waiting=8, time_limit=60)
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


def test_the_clients_of_a_network_share_its_fair_share() -> None:
    usage = Usage()
    many = [Client("many", str(number)) for number in range(1_000)]
    for client in many:
        usage.add(client, 0.1)
    for client in (Client("one", "a"), Client("one", "b"), Client("two", "c")):
        usage.add(client, 2.0)
    new = Client("three", "d")
    usage.add(new)
    # No client of many used as much as the others, but all of them together did.
    assert all(usage.is_heavy(client) for client in many)
    assert not usage.is_heavy(Client("two", "c")) and not usage.is_heavy(new)
    order = sorted([many[-1], Client("one", "a"), Client("two", "c"), new], key=usage.order)
    assert [client.network for client in order] == ["three", "two", "one", "many"]


def test_many_networks_of_a_provider_share_the_fair_share_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 60.0
    monkeypatch.setattr("wikigr.server.workers.time", SimpleNamespace(monotonic=lambda: now))
    usage = Usage()
    many = [client_at(f"2001:db8:{number:x}::1") for number in range(5_000)]
    others = [client_at("2001:db9::1"), client_at("192.0.2.7")]
    for client in others:
        usage.add(client, 2.0)
    for client in many[: module.MAX_NETWORKS_OF_PROVIDER]:
        usage.add(client, 0.1)
    # The customers of a provider are not blamed for each other.
    assert all(map(usage.is_heavy, others)) and not any(map(usage.is_heavy, many))
    for client in many[module.MAX_NETWORKS_OF_PROVIDER :]:
        usage.add(client, 0.1)
    assert not any(map(usage.is_heavy, others)) and all(map(usage.is_heavy, many))
    assert len(usage._networks) == 3
    of_network, own = usage.order(many[-1])
    assert (round(of_network), own) == (500, 0.1)
    now += 60.0 * 30
    usage.add(many[0])
    assert usage.place(many[0]) == many[0]


def test_many_networks_of_a_provider_do_not_take_all_places_in_the_queue() -> None:
    async def ask_all() -> None:
        workers = Workers(threads=1, waiting=8, time_limit=60)
        gate = threading.Event()

        async def run(client: Client) -> object:
            CLIENT.set(client)
            return await workers.run(lambda _: gate.wait(30))

        many = [client_at(f"2001:db8:{number:x}::1") for number in range(100)]
        tasks = [asyncio.create_task(run(client)) for client in many]
        await asyncio.sleep(0)
        asked = asyncio.create_task(run(client_at("2001:db9::1")))
        await asyncio.sleep(0)
        gate.set()
        assert await asked
        refused = [found for found in await asyncio.gather(*tasks, return_exceptions=True) if found is not True]
        assert {type(found) for found in refused} == {BusyError} and len(refused) == 100 - 1 - 8 + 1
        workers.close()

    asyncio.run(ask_all())


def test_what_is_remembered_of_clients_is_bounded_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 60.0
    monkeypatch.setattr("wikigr.server.workers.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(module, "MAX_NETWORKS", 4)
    monkeypatch.setattr(module, "MAX_CLIENTS", 3)
    usage = Usage()
    for network in range(10):
        for address in range(10):
            usage.add(Client(str(network), str(address)), 1.0)
    kept = usage._networks
    assert list(kept) == ["6", "7", "8", "9"]
    assert all(list(network.clients) == ["7", "8", "9"] for network in kept.values())
    # A network has used what those of its clients used that were forgotten.
    assert usage.order(Client("9", "9")) == (10.0, 1.0) and usage.order(Client("9", "0")) == (10.0, 0.0)
    now += 60.0
    usage.add(Client("9", "9"))
    assert usage.order(Client("9", "9")) == (5.0, 0.5)
    now += 60.0 * 20
    usage.add(Client("new", "new"))
    assert list(kept) == ["new"]


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
    ("address", "client"),
    [
        ("192.0.2.7", Client("192.0.2.7/32", "192.0.2.7/32")),
        ("::ffff:192.0.2.7", Client("192.0.2.7/32", "192.0.2.7/32")),
        ("2001:db8:5:1:2:3:4:5", Client("2001:db8:5::/48", "2001:db8:5:1::/64", "2001:db8::/32")),
        ("fe80::1%eth0", Client("fe80::/48", "fe80::/64", "fe80::/32")),
        ("testclient", Client("testclient", "testclient")),
    ],
)
def test_addresses_of_one_small_ipv6_network_are_one_client(address: str, client: Client) -> None:
    assert client_at(address) == client


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

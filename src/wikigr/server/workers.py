"""A bounded pool of threads, which the requests of many clients share fairly."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from wikigr.errors import WikigrError

_Result = TypeVar("_Result")

# The networks, and the clients of each, whose use of the threads is remembered.
MAX_NETWORKS = 512
MAX_CLIENTS = 256
# With more networks, a provider counts as one network.
MAX_NETWORKS_OF_PROVIDER = 64
# Seconds of use that are forgotten when a minute begins.
_NEGLIGIBLE = 0.001


class Client(NamedTuple):
    """Who is to have a fair share of the threads: an address in a network of a provider, all as text.

    ``provider`` is empty if it is not known.
    """

    network: str
    address: str
    provider: str = ""


# Outside a server, there is only one client.
_ALONE = Client("", "")
# The client whose request is under way.
CLIENT: ContextVar[Client] = ContextVar("client", default=_ALONE)


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


class Usage:
    """The seconds that each client has used; each minute, what it used before counts half as much.

    Every network has the same fair share of the time, and so has every client of one network: whoever has many
    addresses in a network gains nothing by them. A provider with more than ``MAX_NETWORKS_OF_PROVIDER`` networks
    becomes one network, whose clients they are, until its use is forgotten. Keeps at most ``MAX_NETWORKS`` networks and
    ``MAX_CLIENTS`` clients of each, those seen last.
    """

    def __init__(self) -> None:
        self._networks: OrderedDict[str, _Network] = OrderedDict()
        self._minute = _minute_now()

    def add(self, client: Client, seconds: float = 0.0) -> None:
        """Note that ``client`` was seen, and that it used ``seconds`` more."""
        self._age()
        client = self.place(client)
        network = self._networks.setdefault(client.network, _Network(client.provider))
        network.seconds += seconds
        network.clients[client.address] = network.clients.get(client.address, 0.0) + seconds
        _keep_latest(self._networks, client.network, MAX_NETWORKS)
        _keep_latest(network.clients, client.address, MAX_CLIENTS)
        self._join_networks_of(client.provider)

    def place(self, client: Client) -> Client:
        """Return the network, and the address in it, that the use of ``client`` is counted for."""
        joined = client.provider and client.provider in self._networks
        return Client(client.provider, client.network) if joined else client

    def _join_networks_of(self, provider: str) -> None:
        names = [name for name, network in self._networks.items() if provider and network.provider == provider]
        if len(names) > MAX_NETWORKS_OF_PROVIDER:
            clients = {name: self._networks.pop(name).seconds for name in names}
            self._networks[provider] = _Network("", sum(clients.values()), OrderedDict(clients))

    def order(self, client: Client) -> tuple[float, float]:
        """Return the key that sorts clients by what their networks used, and then by what they used themselves."""
        client = self.place(client)
        network = self._networks.get(client.network, _Network())
        return network.seconds, network.clients.get(client.address, 0.0)

    def is_heavy(self, client: Client) -> bool:
        """Return whether a client, or its network, used more than its fair share."""
        of_network, own = self.order(client)
        client = self.place(client)
        share = sum(network.seconds for network in self._networks.values()) / max(1, len(self._networks))
        clients = self._networks[client.network].clients if client.network in self._networks else ()
        return of_network > share or own * max(1, len(clients)) > share

    def _age(self) -> None:
        minutes, self._minute = _minute_now() - self._minute, _minute_now()
        if not minutes:
            return
        for name, network in list(self._networks.items()):
            network.seconds /= 2.0**minutes
            for address, seconds in list(network.clients.items()):
                network.clients[address] = seconds / 2.0**minutes
                if network.clients[address] < _NEGLIGIBLE:
                    del network.clients[address]
            if network.seconds < _NEGLIGIBLE:
                del self._networks[name]


@dataclass(slots=True)
class _Network:
    """What a network used, and its clients; ``seconds`` includes clients that are not kept."""

    provider: str = ""
    seconds: float = 0.0
    clients: OrderedDict[str, float] = field(default_factory=OrderedDict)


def _minute_now() -> int:
    return int(time.monotonic() / 60)


def _keep_latest(kept: OrderedDict[str, Any], name: str, most: int) -> None:
    kept.move_to_end(name)
    if len(kept) > most:
        kept.popitem(last=False)


@dataclass(frozen=True)
class _Turn:
    """A thread for one question of a client."""

    client: Client
    is_heavy: bool
    begun: float


class _Turns:
    """Gives at most ``most`` turns at a time, next to the client that comes first in the order of ``usage``.

    All clients that used more than their fair share have a quarter of the turns together, so that the others hardly
    wait behind their questions, nor compete with them for the processor; a client that is alone has all turns. At most
    ``waiting`` requests wait. One more takes the place of the last one of the network, and in it of the client, with
    most of them, unless it is that client's own. Call the methods from one event loop only.
    """

    def __init__(self, most: int, waiting: int, usage: Usage) -> None:
        self._free = most
        self._free_for_heavy = max(1, most // 4)
        self._most_waiting = waiting
        self._usage = usage
        self._queues: dict[Client, deque[asyncio.Future[_Turn]]] = {}

    async def take(self, client: Client) -> _Turn:
        """Wait for a turn, which ``give_back`` ends; raises ``BusyError`` if too many wait."""
        self._usage.add(client)
        if self._has_turn(client):
            return self._begin(client)
        if sum(map(len, self._queues.values())) >= self._most_waiting:
            self._refuse_one_for(client)
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
        self._usage.add(turn.client, time.monotonic() - turn.begun)
        for client in sorted(self._queues, key=self._usage.order):
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

    def _begin(self, client: Client) -> _Turn:
        turn = _Turn(client, self._usage.is_heavy(client), time.monotonic())
        self._free -= 1
        self._free_for_heavy -= turn.is_heavy
        return turn

    def _has_turn(self, client: Client) -> bool:
        return self._free > 0 and (self._free_for_heavy > 0 or not self._usage.is_heavy(client))

    def _refuse_one_for(self, newcomer: Client) -> None:
        """Refuse the last request of the client with most of them; raises ``BusyError`` if that is the newcomer."""
        waiting = Counter({client: len(queue) for client, queue in self._queues.items()})
        waiting[newcomer] += 1
        network_of = {client: self._usage.place(client).network for client in waiting}
        networks: Counter[str] = Counter()
        for client, count in waiting.items():
            networks[network_of[client]] += count
        most = max(
            reversed(waiting), key=lambda client: (networks[network_of[client]], waiting[client], client == newcomer)
        )
        if most == newcomer:
            raise _busy()
        refused = self._queues[most].pop()
        if not refused.done():
            refused.set_exception(_busy())
        if not self._queues[most]:
            del self._queues[most]

    def _withdraw(self, client: Client, given: asyncio.Future[_Turn]) -> None:
        queue = self._queues.get(client, deque())
        if given in queue:
            queue.remove(given)
            if not queue:
                del self._queues[client]


class Workers:
    """Runs functions in at most ``threads`` threads, with at most ``waiting`` more in a queue.

    The clients in the queue take turns by their ``usage``, so that one with many questions does not hold up the others;
    several ``Workers`` may share it. ``time_limit`` is in seconds, from the arrival of a question to its answer. A
    question that is cancelled or late ends at its next stage; until then it keeps its thread.
    """

    def __init__(self, *, threads: int, waiting: int, time_limit: float, usage: Usage | None = None) -> None:
        self._time_limit = time_limit
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="question")
        self._turns = _Turns(threads, waiting, usage or Usage())

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

"""Ray clusters: start or join one, check its nodes, and run tasks on them (extra ``ray``)."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from wikigr import __version__
from wikigr.errors import UsageError, WikigrError

# How often Ray runs a task again that failed, or whose process or node died.
_RETRIES = 3
_CHECK_SECONDS = 120
_KEPT = "Vectors that are finished are kept: run the same command again."
_LARGER_STORE = f"Start its nodes with a larger --object-store-memory, or free disk space for spilling. {_KEPT}"

_T = TypeVar("_T")
_R = TypeVar("_R")


class ClusterError(WikigrError):
    """A Ray cluster cannot be reached or used, or a task failed on it repeatedly."""


# A picklable check of a node, which runs on it. Returns what is wrong, as the end of "The node … ", and how to fix it.
Check = Callable[[], tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to a cluster. ``workers`` is the largest number of tasks at a time; the default is one per CPU."""

    workers: int | None

    @property
    def gpus(self) -> int:
        import ray

        return int(ray.cluster_resources().get("GPU", 0))

    def check(self, check: Check) -> None:
        """Run ``check`` on every node that can run workers; raises ``ClusterError`` for the first with a problem.

        Also raises it for a node with another version of wikigr, or without it. A node that dies during the check is
        not a problem, because it gets no work.
        """
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = sorted(
            (node["NodeManagerHostname"], node["NodeID"])
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        )
        if not nodes:
            raise ClusterError(
                "No node of the Ray cluster has a CPU for workers.", hint="Add a node with --num-cpus=1."
            )
        with _as_cluster_error("The check of its nodes"):
            look = ray.remote(num_cpus=0, max_retries=1)(_node_check(__version__, ray.cloudpickle.dumps(check)))
            found = {
                look.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(): name
                for name, node in nodes
            }
            done, late = ray.wait(list(found), num_returns=len(found), timeout=_CHECK_SECONDS)
            problems = [(found[ref], *wrong) for ref in done if (wrong := _result_of_check(ref)) is not None]
        problems += [
            (found[ref], f"did not answer within {_CHECK_SECONDS} seconds", "See `ray status` on that node.")
            for ref in late
        ]
        if problems:
            name, problem, hint = min(problems)
            others = f" {len(problems) - 1} more of the {len(nodes)} nodes have problems." if len(problems) > 1 else ""
            raise ClusterError(f"The node {name} of the Ray cluster {problem}.{others}", hint=hint)

    def map(
        self,
        function: Callable[[Any, _T], _R],
        shared: Any,
        items: Iterable[_T],
        *,
        name: Callable[[_T], str],
        gpus: float = 0,
        salvage: bool = False,
    ) -> Iterator[_R]:
        """Yield ``function(shared, item)`` for each of ``items``, in order.

        A bounded number of items is in the cluster at a time. ``function`` may keep state in its process, such as a
        model, and ``shared`` is sent once to each node. A task that raises ``WikigrError``, ``OSError`` or
        ``MemoryError``, or whose process or node dies, runs again elsewhere, up to three times; then ``ClusterError``
        is raised, which names the item with ``name``. With ``salvage``, the results of later items that are finished by
        then are yielded first. ``gpus`` is the number of GPUs of each task.
        """
        import ray
        from ray.exceptions import RayError

        call = ray.remote(
            num_cpus=1,
            num_gpus=gpus,
            max_calls=0,  # a process keeps its model, on a GPU as well
            max_retries=_RETRIES,
            retry_exceptions=[WikigrError, OSError, MemoryError],
        )(function)
        reference = None
        window: deque[tuple[str, Any]] = deque()

        def first() -> _R:
            what, result = window.popleft()
            with _as_cluster_error(what):
                value: _R = ray.get(result)
                return value

        # Enough tasks that a worker has work while its last result is collected.
        most = self.workers or 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        try:
            for item in items:
                with _as_cluster_error(name(item)):
                    # Shared after the first item: a source is complete when it has begun to read.
                    reference = ray.put(shared) if reference is None else reference
                    window.append((name(item), call.remote(reference, item)))
                if len(window) >= most:
                    yield first()
            while window:
                yield first()
        except ClusterError:
            if salvage and window:
                others = [result for _, result in window]
                for result in ray.wait(others, num_returns=len(others), timeout=0)[0]:
                    with suppress(RayError):
                        yield ray.get(result)
            raise


def _result_of_check(reference: Any) -> tuple[str, str] | None:
    import ray
    from ray.exceptions import NodeDiedError, TaskUnschedulableError

    try:
        problem: tuple[str, str] | None = ray.get(reference)
    except (NodeDiedError, TaskUnschedulableError):
        return None
    return problem


def _node_check(expected: str, pickled: bytes) -> Callable[[], tuple[str, str] | None]:
    """Return the function to run on each node. Ray sends nested functions whole, so it needs no wikigr there."""

    def look() -> tuple[str, str] | None:
        import pickle

        install = f"Install it there: pip install 'wikigr[ray]=={expected}'"
        try:
            from wikigr import __version__ as found
        except ImportError as error:
            return f"has no wikigr ({error})", install
        if found != expected:
            return f"has version {found} of wikigr, but this is version {expected}", install
        problem: tuple[str, str] | None = pickle.loads(pickled)()  # noqa: S301 - from this process
        return problem

    return look


@contextmanager
def connect(address: str | None = None, workers: int | None = None) -> Iterator[Cluster]:
    """Join the cluster at ``address`` (``HOST:PORT``, or ``auto`` for the one on this machine), or start a local one.

    A local cluster has ``workers`` CPUs, by default all of this machine, and ends with the block. Raises ``UsageError``
    without the extra or for a malformed address, and ``ClusterError`` if the cluster cannot be reached.
    """
    # Ray reads these when it is imported. It would print messages of its own and report its use to its makers.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(f"Cannot import Ray: {error}.", hint="pip install 'wikigr[ray]'") from error
    options: dict[str, Any] = {"address": "local", "num_cpus": workers, "include_dashboard": False}
    if address is not None:
        _require_reachable(address)
        options = {"address": address}
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (RuntimeError, ValueError, OSError) as error:
        where = f"the Ray cluster at {address}" if address else "a local Ray cluster"
        raise ClusterError(
            f"Cannot {'join' if address else 'start'} {where}: {' '.join(str(error).split())[:400]}",
            hint="Check it with `ray status`. All nodes need the same versions of Python and Ray." if address else None,
        ) from error
    try:
        yield Cluster(workers)
    finally:
        ray.shutdown()


def _require_reachable(address: str) -> None:
    """Raise unless something listens at ``address``: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in address:
        raise UsageError(
            f"--ray-address {address[:80]!r} is not HOST:PORT.",
            hint="Give the address that `ray start --head` printed, usually with port 6379, and run the command on a "
            "machine of the cluster (`ray job submit` does that).",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"There is no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}.",
            hint="Start it with `ray start --head`, or omit --ray-address to start one on this machine.",
        ) from error


@contextmanager
def _as_cluster_error(what: str) -> Iterator[None]:
    """Turn the errors of Ray into a ``ClusterError`` that says what failed."""
    from ray.exceptions import ObjectStoreFullError, OutOfDiskError, RayError, RayTaskError, WorkerCrashedError

    try:
        yield
    except (RayError, ConnectionError) as error:
        cause = error.cause if isinstance(error, RayTaskError) and error.cause is not None else error
        if isinstance(cause, ObjectStoreFullError | OutOfDiskError):
            message, hint = "The object store of a node of the Ray cluster is full.", _LARGER_STORE
        elif isinstance(cause, WorkerCrashedError):
            message, hint = f"{what} failed: its process ended, perhaps because memory ran out.", _KEPT
        elif isinstance(cause, WikigrError):
            message, hint = f"{what} failed: {cause.message}", cause.hint or _KEPT
        else:
            reason = " ".join(str(cause).split())
            message, hint = f"{what} failed: {type(cause).__name__}: {reason[-500:]}", _KEPT
        raise ClusterError(message, hint=hint) from error

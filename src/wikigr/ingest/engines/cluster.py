"""Ray clusters: start or join one, check its nodes, and run a worker's numbered tasks on them (extra ``ray``)."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from wikigr import __version__
from wikigr.errors import UsageError, WikigrError

# A task that fails is run again after all others, and then once more.
_ATTEMPTS = 3
# Tasks that wait at each worker, so that it has work while its last result is collected. More would unbalance the end.
_TASKS_PER_WORKER = 2

# Calls of ``Cluster.map`` that wait or run, for each CPU.
_CALLS_PER_CPU = 4

_CONNECT_SECONDS = 10
_CHECK_SECONDS = 120

_KEPT = "What is finished is kept: the same command resumes there."

_LARGER_STORE = f"Start its nodes with a larger --object-store-memory, or free disk space for spilling. {_KEPT}"

_T = TypeVar("_T")
_R = TypeVar("_R")


class ClusterError(WikigrError):
    """A Ray cluster cannot be reached or used, or a task failed on it repeatedly."""


class Worker(Protocol):
    """A picklable object that runs tasks. Each worker process has its own copy and may keep state in it."""

    def __call__(self, task: int) -> str:
        """Run the task with this number and return its result; raises ``WikigrError``."""
        ...


class Check(Protocol):
    """A picklable check of a node, which runs on it."""

    def __call__(self) -> tuple[str, str] | None:
        """Return what is wrong with this node, as the end of "The node … ", and how to fix it; ``None`` if nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection to a cluster. ``workers`` is the largest number of worker processes; the default is one per CPU.

    ``ledger`` is the actor that knows which tasks run.
    """

    workers: int | None
    ledger: Any

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
        with _as_cluster_error():
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

    def share(self, value: bytes) -> Any:
        """Put ``value`` into the cluster's object store, once for all workers of a node; return the reference."""
        import ray

        with _as_cluster_error():
            return ray.put(value)

    def map(self, function: Callable[[Any, _T], list[_R]], shared: Any, items: Iterable[_T]) -> Iterator[_R]:
        """Yield what ``function(shared, item)`` returns for each of ``items``, in order.

        A bounded number of them is in the cluster at a time. Calls whose node dies run elsewhere.
        """
        import ray

        with _as_cluster_error():
            call = ray.remote(num_cpus=1)(function)
            most = _CALLS_PER_CPU * max(1, int(ray.cluster_resources().get("CPU", 1)))
            reference = None
            window: deque[Any] = deque()
            for item in items:
                # Shared after the first item: a source is complete when it has begun to read.
                reference = ray.put(shared) if reference is None else reference
                window.append(call.remote(reference, item))
                if len(window) >= most:
                    yield from ray.get(window.popleft())
            while window:
                yield from ray.get(window.popleft())

    def run(
        self,
        worker: Worker,
        tasks: Sequence[int],
        *,
        name: Callable[[int], str],
        note: Callable[[str], None],
        gpus: float = 0,
    ) -> Iterator[tuple[int, str]]:
        """Run ``tasks`` and yield each with its result, as Ray reports them finished.

        A task whose node dies runs elsewhere. A task that raises ``WikigrError``, ``OSError`` or ``MemoryError``, or
        ends its process, is named to ``note`` (``name`` says which it is) and runs again after the others, at most
        twice; then ``ClusterError`` is raised. ``gpus`` is the number of GPUs of each worker.
        """
        remaining = list(tasks)
        for attempt in range(1, _ATTEMPTS + 1):
            failed = []
            for row in self._rows(worker, remaining, gpus):
                if not row["failed"]:
                    yield row["task"], row["result"]
                    continue
                failed.append(row)
                again = "It is tried again." if attempt < _ATTEMPTS else "It is not tried again."
                note(f"{name(row['task'])} failed on the node {row['node']}: {row['result']} {again}")
            if not failed:
                return
            first = failed[0]
            # If everything fails, the cause is the same for all.
            if attempt == _ATTEMPTS or len(failed) == len(remaining) > _TASKS_PER_WORKER:
                break
            remaining = sorted(row["task"] for row in failed)
        more = f" {len(failed) - 1:,} other parts failed too." if len(failed) > 1 else ""
        times = "once" if attempt == 1 else f"{attempt} times"
        raise ClusterError(
            f"{name(first['task'])} failed {times}, the last time on the node {first['node']}: {first['result']}{more}",
            hint=first["hint"] or _KEPT,
        )

    def _rows(self, worker: Worker, tasks: Sequence[int], gpus: float) -> Iterator[dict[str, Any]]:
        if not tasks:
            return
        import ray
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        most = self.workers or int(ray.cluster_resources().get("GPU" if gpus else "CPU", 1)) or 1
        # A pool of fixed size would wait forever for a worker whose node died.
        pool = ray.data.ActorPoolStrategy(
            min_size=1,
            max_size=most,
            initial_size=min(most, len(tasks)),
            max_tasks_in_flight_per_actor=_TASKS_PER_WORKER,
        )
        with _as_cluster_error():
            rows = ray.data.from_items([{"task": task} for task in tasks], override_num_blocks=len(tasks))
            # Ray runs a task again whose process died, without limit: a lost node fails several attempts in a second.
            yield from rows.map(
                _Runner,
                fn_constructor_args=(worker, self.ledger, uuid.uuid4().hex),
                compute=pool,
                num_cpus=1,
                num_gpus=gpus or None,
            ).iter_rows()


class _Runner:
    """Runs a worker's tasks in a process of the cluster; a failure is a result, because Ray would end the whole run."""

    def __init__(self, worker: Worker, ledger: Any, run: str) -> None:
        self._worker = worker
        self._ledger = ledger
        self._run_id = run

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        import ray

        task, node = int(row["task"]), ray.get_runtime_context().get_node_id()
        if ray.get(self._ledger.begin.remote(self._run_id, task, node)):
            result, failed, hint = self._run(task)
        else:
            result, failed, hint = "Its process ended, perhaps because memory ran out.", True, ""
        ray.get(self._ledger.end.remote(self._run_id, task))
        return {"task": task, "result": result, "failed": failed, "hint": hint, "node": socket.gethostname()}

    def _run(self, task: int) -> tuple[str, bool, str]:
        try:
            return self._worker(task), False, ""
        except WikigrError as error:
            return error.message, True, error.hint or ""
        except (OSError, MemoryError) as error:
            return f"{type(error).__name__}: {error}", True, ""


class _Ledger:
    """Knows which tasks run, and where. Ray runs a task again when its process has ended, and does not say so."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], str] = {}

    def begin(self, run: str, task: int, node: str) -> bool:
        """Note that ``task`` of ``run`` begins on ``node``; return whether it may.

        It may not if it ended its process, and the node lives.
        """
        import ray

        before = self._running.get((run, task))
        self._running[run, task] = node
        return before is None or before not in {found["NodeID"] for found in ray.nodes() if found["Alive"]}

    def end(self, run: str, task: int) -> None:
        """Note that ``task`` of ``run`` has returned."""
        self._running.pop((run, task), None)


def _start_ledger() -> Any:
    """Start a ledger in a process on this machine, which is not lost with a worker node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0)(_Ledger).options(scheduling_strategy=here).remote()


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
        import ray.data
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
        yield Cluster(workers, _start_ledger())
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
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"There is no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}.",
            hint="Start it with `ray start --head`, or omit --ray-address to start one on this machine.",
        ) from error


@contextmanager
def _as_cluster_error() -> Iterator[None]:
    """Turn the errors of Ray into a ``ClusterError`` with one message."""
    from ray.data.exceptions import SystemException
    from ray.exceptions import ObjectStoreFullError, OutOfDiskError, RayError, RayTaskError

    try:
        yield
    except (ObjectStoreFullError, OutOfDiskError) as error:
        raise ClusterError(
            "The object store of the Ray cluster is full.",
            hint=_LARGER_STORE,
        ) from error
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, (ObjectStoreFullError, OutOfDiskError)):
            raise ClusterError(
                "The object store of a node of the Ray cluster is full.",
                hint=_LARGER_STORE,
            ) from error
        if isinstance(cause, WikigrError):
            raise cause from error
        raise _failed(cause if cause is not None else error) from error
    except (RayError, SystemException, ConnectionError) as error:
        raise _failed(error) from error


def _failed(error: BaseException) -> ClusterError:
    reason = " ".join(str(error).split()) or type(error).__name__
    return ClusterError(
        f"The Ray cluster failed: {type(error).__name__}: {reason[-500:] if len(reason) > 500 else reason}", hint=_KEPT
    )

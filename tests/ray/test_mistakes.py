"""What can be wrong with a cluster: each is one clear error, before any work is done."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ray.conftest import Recorder, add_worker, build_on, run_wikigr

from wikigr import __version__
from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.engines.cluster import ClusterError, connect

FULL_DISK = {"automatic_object_spilling_enabled": False, "local_fs_capacity_threshold": 0.0}
MakeCluster = Callable[..., Any]


def test_a_cluster_that_is_not_there(source: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    done = run_wikigr(
        "pack", "build", str(source), "-o", str(tmp_path / "pack"), "--engine", "ray", "--ray-address", address
    )
    assert done.returncode == 3
    assert f"There is no Ray cluster at {address}: Connection refused." in done.stderr
    assert "ray start --head" in done.stderr


def test_a_server_that_is_not_a_cluster_on_this_machine() -> None:
    with pytest.raises(ClusterError, match="Cannot join the Ray cluster at auto"), connect("auto"):
        pass


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ('__version__ = "0.0.1"', f"has version 0.0.1 of wikigr, but this is version {__version__}"),
        ('raise ModuleNotFoundError("No module named wikigr")', "has no wikigr"),
    ],
)
def test_a_worker_with_another_version_of_wikigr_or_without_it(
    make_cluster: MakeCluster, source: Path, tmp_path: Path, encoder: Embedder, module: str, problem: str
) -> None:
    old = tmp_path / "old" / "wikigr"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text(module)
    cluster = make_cluster()
    add_worker(cluster, env_vars={"PYTHONPATH": str(old.parent)})
    with pytest.raises(ClusterError, match=problem) as caught:
        build_on(cluster.address, source, tmp_path / "pack", encoder, Recorder())
    assert f"wikigr[ray]=={__version__}" in (caught.value.hint or "")


def test_a_cluster_without_workers(make_cluster: MakeCluster, source: Path, tmp_path: Path, encoder: Embedder) -> None:
    cluster = make_cluster(0)
    with pytest.raises(ClusterError, match="No node of the Ray cluster has a CPU") as caught:
        build_on(cluster.address, source, tmp_path / "pack", encoder, Recorder())
    assert "--num-cpus" in (caught.value.hint or "")


def test_a_node_that_dies_while_it_is_checked_is_left_out(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(_system_config={"health_check_period_ms": 500, "health_check_failure_threshold": 2})
    add_worker(cluster, env_vars={"DIES_WHEN_CHECKED": "1", "PYTHONPATH": os.environ["PYTHONPATH"]})
    with connect(cluster.address) as joined:
        joined.check(_kill_node)


def _kill_node() -> None:
    """Kill the parent of this process, which runs the node, if the node is to die."""
    if os.environ.get("DIES_WHEN_CHECKED"):
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(1)


def test_a_worker_without_the_model(make_cluster: MakeCluster, source: Path, tmp_path: Path, encoder: Embedder) -> None:
    cluster = make_cluster()
    add_worker(cluster, env_vars={"XDG_CACHE_HOME": str(tmp_path / "empty"), "PYTHONPATH": os.environ["PYTHONPATH"]})
    with pytest.raises(
        ClusterError, match=r"cannot open the encoder: .* has not been prepared on this machine"
    ) as caught:
        build_on(cluster.address, source, tmp_path / "pack", encoder, Recorder())
    assert "On every node: wikigr model prepare" in (caught.value.hint or "")


def test_a_source_that_a_worker_does_not_have(
    make_cluster: MakeCluster, source: Path, tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = make_cluster()
    monkeypatch.chdir(source.parent)
    with pytest.raises(ClusterError, match=r"cannot read the source /proc/self/cwd/towns\.jsonl: No such file"):
        build_on(cluster.address, Path("/proc/self/cwd/towns.jsonl"), tmp_path / "pack", encoder, Recorder())


def test_a_full_object_store(make_cluster: MakeCluster, source: Path, tmp_path: Path, encoder: Embedder) -> None:
    import ray

    # When memory is full, Ray goes on on the disk, until the disk is nearly full. Here it always is.
    cluster = make_cluster(_system_config={**FULL_DISK, "oom_grace_period_s": 1})
    ray.init(address=cluster.address, namespace="hog", log_to_driver=False)
    hog = ray.remote(num_cpus=0)(_Hog).options(name="hog", lifetime="detached").remote()
    assert ray.get(hog.fill.remote())
    ray.shutdown()
    with pytest.raises(ClusterError, match=r"The object store of .* is full") as caught:
        build_on(cluster.address, source, tmp_path / "pack", encoder, Recorder())
    assert "--object-store-memory" in (caught.value.hint or "")


class _Hog:
    """Fills the object store of its node and keeps it full."""

    def __init__(self) -> None:
        self._kept: list[object] = []

    def fill(self) -> bool:
        import ray
        from ray.exceptions import ObjectStoreFullError, OutOfDiskError

        for size in (8 << 20, 1 << 20, 1 << 17, 1 << 14):
            for _ in range(20):
                try:
                    self._kept.append(ray.put(np.zeros(size, dtype=np.uint8)))
                except (ObjectStoreFullError, OutOfDiskError):
                    break
            else:
                return False
        return True

"""Damaged files never end a process and never change an answer: it is refused with a message, or stays the same.

``WIKIGR_DAMAGES`` is the number of damages of each test; 500 take about seven minutes on two cores.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.trust import damage

from .conftest import Tally, try_seeds

DAMAGES = int(os.environ.get("WIKIGR_DAMAGES", "60"))
SEED = int(os.environ.get("WIKIGR_TRUST_SEED", "20261121"))


@pytest.fixture
def pack(physics_pack: Path, tmp_path: Path) -> Path:
    return shutil.copytree(physics_pack, tmp_path / "pack", ignore=shutil.ignore_patterns(".*", "articles", "eval"))


def test_ask_refuses_or_answers_the_same(pack: Path, tally: Callable[[str], Tally]) -> None:
    count = tally("random damage: ask")
    broken = try_seeds(damage.__name__, str(pack), first=SEED, times=DAMAGES, count=count)
    assert not broken, "\n".join(broken)
    assert count.outcome["refused"] > count.tried // 2


@contextmanager
def serving(pack: Path) -> Iterator[tuple[subprocess.Popen[bytes], httpx2.Client]]:
    """Serve a pack from a process of its own, and ask it once, so that it has read everything it preloads."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from wikigr_cli.entry import main; main()", "serve", "--offline"]
    process = subprocess.Popen([*command, "--pack", str(pack), "--port", str(port)], stderr=subprocess.DEVNULL)
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while process.poll() is None:
            try:
                client.post("/api/ask", json={"question": damage.QUESTION})
                break
            except httpx2.ConnectError:
                time.sleep(0.1)
        try:
            yield process, client
        finally:
            process.terminate()
            process.wait()


def test_a_server_whose_pack_is_damaged_goes_on(pack: Path, tally: Callable[[str], Tally]) -> None:
    """Regression: the engine read a database that had changed, and ended the server with SIGSEGV or SIGBUS."""
    count, rng = tally("random damage: serve"), random.Random(SEED)
    whole = shutil.copytree(pack, pack.parent / "whole")

    def ask(client: httpx2.Client) -> tuple[int, str]:
        response = client.post("/api/ask", json={"question": damage.QUESTION})
        document = response.json()
        return response.status_code, document.get("answer") or document["error"]

    with serving(pack) as (process, client):
        good = ask(client)
        assert good[0] == 200
        for _ in range(DAMAGES):
            name = damage.damaged_part(pack, rng)
            found = ask(client)
            assert process.poll() is None, name
            if found[0] == 503:
                assert "cannot be read" in found[1]
                count.refused()
            else:
                assert found == good, name
                count.harmless()
            shutil.copy2(whole / name, pack / name)
            assert ask(client) == good, name
    assert process.returncode == 0
    assert count.outcome["refused"] > DAMAGES // 2

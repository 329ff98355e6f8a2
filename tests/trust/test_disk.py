"""Fill or write-protect the disk: the previous state remains, and the message says how to continue."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.trust.conftest import Process, Tally
from tests.trust.hostile import QUESTION

from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout


def mounted(folder: Path, *options: str) -> Iterator[Path]:
    folder.mkdir()
    done = (
        subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
        if os.geteuid() == 0
        else None
    )
    if done is None or done.returncode:
        pytest.skip("mounting is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    yield from mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=3m", "tmpfs")


SOURCE = "".join(
    json.dumps({"title": f"Bees {n}", "text": f"Bees {n} make honey. " * 40, "links": [f"Bees {n + 1}"]}) + "\n"
    for n in range(60)
)


def test_a_build_on_a_full_disk(process: Process, small: Path, tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    (tmp_path / "a.jsonl").write_text(SOURCE)
    for size in ("1m", "3m", "5m"):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(small)], check=True)
        result = process("pack", "build", "a.jsonl", "-o", str(small / "p"))
        assert result.code == 3, (size, result)
        assert "a bug" not in result.err, result.err
        assert "same command again" in result.err, result.err
        tally("full disk").refused()
    subprocess.run(["mount", "-o", "remount,size=200m", str(small)], check=True)
    assert process("pack", "build", "a.jsonl", "-o", str(small / "p")).code == 0
    ranks = Layout(small / "p").part(parts.PAGERANK)
    before = ranks.read_bytes()
    with (small / "filler").open("wb") as filler:
        block = b"x" * 65536
        try:
            while True:
                filler.write(block)
                filler.flush()
        except OSError:
            pass
    result = process("pagerank", "build", str(small / "p"), "--force")
    assert result.code == 3, result
    assert ranks.read_bytes() == before
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Bees 1"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    run = ("eval", "run", "--pack", str(small / "p"), "--questions", "gold.jsonl", "--offline", "-o", str(small / "r"))
    result = process(*run)
    assert result.code == 3, result
    assert "a bug" not in result.err, result.err
    (small / "filler").unlink()
    assert process(*run).code == 0
    assert process("ask", "Who makes honey?", "--pack", str(small / "p"), "--offline").code == 0
    tally("full disk").refused(2)

"""Fill or write-protect the disk: the previous state remains, and the message says how to continue."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.trust.conftest import Process, Tally
from tests.trust.hostile import QUESTION

from wikigr.pack.manifest import file_sha256


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
        remount(small, f"size={size}")
        result = process("pack", "build", "a.jsonl", "-o", str(small / "p"))
        assert result.code == 3, (size, result)
        assert "a bug" not in result.err, result.err
        assert "same command again" in result.err, result.err
        tally("full disk").refused()
    remount(small, "size=200m")
    assert process("pack", "build", "a.jsonl", "-o", str(small / "p")).code == 0


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)


def files(folder: Path) -> dict[Path, str]:
    return {path: file_sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_what_is_there_stays_and_answers(
    process: Process, small: Path, tmp_path: Path, tally: Callable[[str], Tally], state: str
) -> None:
    remount(small, "size=200m")
    (tmp_path / "a.jsonl").write_text(SOURCE)
    (tmp_path / "b.jsonl").write_text(SOURCE.replace("honey", "wax"))
    (tmp_path / "questions").write_text("Who makes honey?\n" * 3)
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Bees 1"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    pack, archive = str(small / "p"), str(tmp_path / "p.wikigr")
    assert process("pack", "build", "a.jsonl", "-o", pack).code == 0
    assert process("pack", "export", pack, "-o", archive).code == 0
    (small / "r.json").write_text("an older receipt")
    before = files(small)
    if state == "full":
        with (small / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"x" * 4096)
    else:
        remount(small, "ro")
    ask = ("ask", "Who makes honey?", "--pack", pack, "--offline")
    build, update = (
        ("pack", "build", "b.jsonl", "-o", str(small / "new")),
        ("pack", "update", pack, "--from", "b.jsonl"),
    )
    for arguments in (
        build,
        update,
        ("pack", "export", pack, "-o", str(small / "p.wikigr")),
        ("pack", "install", archive),
        ("pagerank", "build", pack, "--force"),
        ("pagerank", "build", pack, "-o", str(small / "ranks.json")),
        ("eval", "run", "--pack", pack, "--questions", "gold.jsonl", "--offline", "-o", str(small / "run")),
        (*ask, "--receipt", str(small / "r.json")),
        ("ask", "--batch", "questions", "--pack", pack, "--offline", "--receipt", str(small / "many.jsonl")),
    ):
        result = process(*arguments, XDG_DATA_HOME=str(small / "data"))
        # That a folder is read-only is seen before anything is done: wrong usage.
        assert result.code in ((3,) if state == "full" else (2, 3)), (arguments, result)
        assert not any(word in result.err for word in ("a bug", "Traceback")), (arguments, result.err)
        assert before.items() <= files(small).items(), arguments
        tally(f"{state} disk").refused()
    assert process(*ask).code == 0
    if state == "full":
        (small / "filler").unlink()
    else:
        remount(small, "rw")
    for arguments in (build, update):
        assert process(*arguments).code == 0

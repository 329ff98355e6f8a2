"""An update is killed at any moment, and a pack is asked while it is updated: the old pack answers, or the new one."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.manifest import read_manifest
from wikigr.pack.validate import validate_pack
from wikigr.sources.detect import open_source

from .conftest import Tally, kills

SEED = int(os.environ.get("WIKIGR_TRUST_SEED", "20261121"))
KILLS = kills(25)
# Processes that ask a pack while it is updated, one time after another.
READERS = 16
UPDATES = 3
_COMMAND = "from wikigr_cli.entry import main; main()"


def write(path: Path, year: int) -> Path:
    """Write a source of which one sentence says ``year``, and every article has a section that does not change."""
    # No section is the same in all articles: a build leaves out what the pages of a source repeat.
    text = "Town {n} has a river.\n# Bridge\nThe bridge of Town {n} was built in {year}."
    records = [{"id": str(n), "title": f"Town {n}", "text": text.format(n=n, year=year)} for n in range(12)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def towns(tmp_path: Path, encoder: Embedder) -> tuple[Path, dict[int, str], list[Path]]:
    """A pack, the digests of builds from scratch by year, and the sources."""
    digests, sources = {}, []
    for year in (1850, 1950):
        source = write(tmp_path / f"{year}.jsonl", year)
        built = build_pack(open_source(source), str(source), tmp_path / str(year), encoder, BuildOptions(name="towns"))
        digests[year] = built.manifest.digest
        sources.append(source)
    assert digests[1850] != digests[1950]
    shutil.copytree(tmp_path / "1850", tmp_path / "pack")
    return tmp_path / "pack", digests, sources


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Run a command in its own process group and discard its output."""
    return subprocess.Popen(
        [sys.executable, "-c", _COMMAND, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def whole(pack: Path) -> str:
    """Return the digest of a pack of which every check passes."""
    failed = [check for check in validate_pack(pack) if not check.passed]
    assert not failed, failed
    return read_manifest(pack / "manifest.json").digest


def test_killed_at_any_moment_the_pack_is_whole_and_the_same_command_finishes(
    towns: tuple[Path, dict[int, str], list[Path]], tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    pack, digests, (_, source) = towns
    count = tally("pack update killed")
    began = time.monotonic()
    assert start("pack", "update", str(pack), "--from", str(source)).wait() == 0
    undisturbed = time.monotonic() - began
    moments = random.Random(SEED)
    states = set()
    for _ in range(KILLS):
        shutil.rmtree(pack)
        shutil.copytree(tmp_path / "1850", pack)
        process = start("pack", "update", str(pack), "--from", str(source))
        time.sleep(moments.uniform(0.1, 1.1) * undisturbed)
        if process.poll() is None:
            # The command alone: the process in which its engine writes has to end by itself.
            process.kill()
        process.wait()
        digest = whole(pack)
        assert digest in digests.values()
        states.add(digest)
        assert finish(pack, source) == digests[1950]
        assert not any((pack / ".wikigr").glob("staging*"))
        count.harmless()
    assert digests[1850] in states


def finish(pack: Path, source: Path) -> str:
    """Run the same update again and return the digest of the pack."""
    assert start("pack", "update", str(pack), "--from", str(source)).wait() == 0
    return whole(pack)


_ASK = """
import gc, json, sys
from pathlib import Path
from wikigr.errors import WikigrError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
profile, stop = load_profile("enhanced"), Path(sys.argv[2])
while True:
    try:
        with Pack(sys.argv[1]) as pack:
            answer = Pipeline(profile, pack, offline=True).answer("When was the bridge of Town 3 built?")
            print(json.dumps([pack.manifest.digest, answer.text]), flush=True)
    except WikigrError as error:
        print(json.dumps(["error", error.message]), flush=True)
    # Sixteen processes would otherwise hold the sessions of many openings at once, a gigabyte each.
    gc.collect()
    if stop.exists():
        break
"""


def test_a_pack_that_sixteen_processes_ask_while_it_is_updated_answers_from_one_state(
    towns: tuple[Path, dict[int, str], list[Path]], tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    pack, digests, sources = towns
    stop = tmp_path / "stop"
    count = tally(f"pack asked by {READERS} processes while it is updated")
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", _ASK, str(pack), str(stop)],
            bufsize=0,  # `communicate` returns nothing of what a buffer has read
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(READERS)
    ]
    try:
        # All have answered from the first state before it changes.
        first = [reader.stdout.readline() for reader in readers if reader.stdout is not None]
        for number in range(1, UPDATES + 1):
            assert start("pack", "update", str(pack), "--from", str(sources[number % 2])).wait() == 0
    finally:
        stop.touch()
    answers: list[tuple[str, str]] = []
    for line, reader in zip(first, readers, strict=True):
        out, err = reader.communicate()
        assert reader.returncode == 0, err.decode()
        answers += [tuple(json.loads(answer)) for answer in (line + out).decode().splitlines()]
    year_of = {digest: str(year) for year, digest in digests.items()}
    for digest, text in answers:
        if digest == "error":
            count.refused()
            continue
        assert year_of[digest] in text
        count.harmless()
    assert {digest for digest, _ in answers} >= set(year_of)

"""Ask one process many questions: memory remains flat, and every answer arrives in order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Tally

QUESTIONS = int(os.environ.get("WIKIGR_LOAD_QUESTIONS", "1000"))
# Bytes that a question may leave behind, after the first third; 10,000 questions then cost 20 MB at most.
MAX_KEPT = 2_000
_COMMAND = "from wikigr_cli.app import main; main()"
_WORDS = "spin energy photon atom light wave nucleus experiment theory prize measurement laser electron".split()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_questions(physics_pack: Path, tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    count = tally("questions through --batch with flat memory")
    # Few different words: thousands of different ones cost a few kB each at first, and 0.15 kB in the long run.
    pairs = ((_WORDS[n % 13], _WORDS[n // 13 % 13], 1900 + n % 7) for n in range(QUESTIONS))
    asked = [f"What has {one} to do with {other} in {year}?" for one, other, year in pairs]
    file = tmp_path / "questions.txt"
    file.write_text("\n".join(asked) + "\n")
    command = [sys.executable, "-c", _COMMAND, "-q", "ask", "--batch", str(file), "--offline"]
    process = subprocess.Popen([*command, "--pack", str(physics_pack)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    resident, got = [], []
    for line in process.stdout:
        got.append(json.loads(line)["question"])
        pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
        resident.append(int(pages) * os.sysconf("SC_PAGE_SIZE"))
    assert process.wait() == 0
    assert got == asked
    third = len(resident) // 3
    first, last = max(resident[: 2 * third]), max(resident[third:])
    assert last - first <= MAX_KEPT * third
    count.harmless(len(got))


_ENCODE = """
import os, random, sys
from pathlib import Path
from wikigr.embeddings.loader import open_encoder

encoder = open_encoder(backend=sys.argv[1], purpose="bulk")
draw = random.Random(0)
for call in range(1, 401):
    encoder.encode([" ".join(draw.choices(sys.argv[2:], k=draw.randint(1, 40))) for _ in range(draw.randint(1, 60))])
    if call % 200 == 0:
        print(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_memory_does_not_grow_with_batches_of_any_shape(tally: Callable[[str], Tally], backend: str) -> None:
    pytest.importorskip(backend, reason=f"{backend} is not installed")
    count = tally("batches of texts encoded with flat memory")
    command = [sys.executable, "-c", _ENCODE, backend, *_WORDS]
    before, after = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert after - before < 40 << 20
    count.harmless(200)

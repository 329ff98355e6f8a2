"""Ask one process many questions: memory remains flat, and every answer arrives in order."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.conftest import ROOT

from .conftest import Tally

QUESTIONS = int(os.environ.get("WIKIGR_LOAD_QUESTIONS", "1500"))
# Questions before the first measurement; they load what a process loads once, and find the names in most sentences.
WARM_UP = 1_000
# Of these, the first ones, which need more memory than all others.
LONG = 50
BLOCK = 100
# kB of anonymous memory that each question may leave behind.
MAX_KEPT_KB = 0.25
# kB that all questions together may add: the allocator keeps the most memory that any one of them needed.
MAX_ADDED_KB = 2_000
# A full garbage collection empties the free lists of CPython. Otherwise they fill up over thousands of questions, with
# 2,000 tuples of each length, and look like a leak.
_COMMAND = """
import gc, signal
signal.signal(signal.SIGPROF, lambda *_: gc.collect())
signal.setitimer(signal.ITIMER_PROF, 0.5, 0.5)
from wikigr_cli.entry import main
main()
"""
_FORMS = ("What is known about {}?", "Who studied {}?", "When did {} happen?", "Why is it that {}?", "How many {}?")
_WORDS = "spin energy photon atom light wave nucleus experiment theory prize measurement laser electron".split()


def questions_about(articles: Path, count: int) -> list[str]:
    """Return ``count`` different questions made of all words of the articles, seven consecutive ones in each."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted(articles.glob("*.md")))
    words = re.findall(r"[\w'’-]+", text)
    # The second round cuts the text at other places than the first.
    runs = [" ".join(words[at : at + 7]) for first in (0, 3) for at in range(first, len(words) - 7, 7)]
    asked = list(dict.fromkeys(_FORMS[n % len(_FORMS)].format(run) for n, run in enumerate(runs)))
    assert len(asked) >= count
    return asked[:count]


def anonymous_kb(process: int) -> int:
    """Return the memory of a process in kB without mapped files, whose pages the kernel can drop and share."""
    found = re.search(r"^Anonymous: +(\d+) kB$", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is read from /proc/PID/smaps_rollup")
def test_memory_does_not_grow_with_questions(physics_pack: Path, tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    count = tally("questions through --batch with flat memory")
    asked = questions_about(ROOT / "packs" / "physics" / "articles", WARM_UP + QUESTIONS)
    # Their windows are longer than those of all others, so the reader's allocator grows to the size of the largest
    # windows that are read at once before the first measurement. Otherwise it grows by 2 MB whenever two need more.
    asked[:LONG] = [" ".join(asked[n : n + 12]) for n in range(LONG)]
    file = tmp_path / "questions.txt"
    file.write_text("\n".join(asked) + "\n")
    command = [sys.executable, "-c", _COMMAND, "-q", "ask", "--batch", str(file), "--offline"]
    blocks: list[list[int]] = []
    got = []
    with subprocess.Popen([*command, "--pack", str(physics_pack)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            got.append(json.loads(line)["question"])
            # The process may have ended after the last answer.
            if WARM_UP <= number < len(asked) - 1:
                if (number - WARM_UP) % BLOCK == 0:
                    blocks.append([])
                blocks[-1].append(anonymous_kb(process.pid))
    assert process.returncode == 0
    assert got == asked
    levels = [statistics.median(block) for block in blocks]
    # The median ignores the few blocks in which one question needed more memory than all before it.
    kept = statistics.median(after - before for before, after in pairwise(levels)) / BLOCK
    assert kept <= MAX_KEPT_KB, levels
    assert levels[-1] - levels[0] <= MAX_ADDED_KB, levels
    count.harmless(len(got))


_ENCODE = """
import os, random, sys
from pathlib import Path
from wikigr.embeddings.loader import open_encoder

encoder = open_encoder(purpose="bulk")
draw = random.Random(0)
for call in range(1, 401):
    encoder.encode([" ".join(draw.choices(sys.argv[1:], k=draw.randint(1, 40))) for _ in range(draw.randint(1, 60))])
    if call % 200 == 0:
        print(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_batches_of_any_shape(tally: Callable[[str], Tally]) -> None:
    count = tally("batches of texts encoded with flat memory")
    command = [sys.executable, "-c", _ENCODE, *_WORDS]
    before, after = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert after - before < 40 << 20
    count.harmless(200)

"""Damage the files of a pack at random, as a bad disk or an interrupted copy does, and ask it from forked processes.

Run as a program, because it forks a process for each damage and a test process has threads:
``python -m tests.trust.damage PACK FIRST COUNT`` prints one JSON object per damage, where ``FIRST`` is the first seed.
"""

from __future__ import annotations

import importlib
import json
import random
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.trust.flips import BROKEN, HARMLESS, REFUSED, forked, use

from wikigr.pack.layout import MANIFEST
from wikigr.pack.manifest import read_manifest

QUESTION = "When was Max Born born?"
ASK = ["ask", "--offline", QUESTION, "--json"]
_BLOCK = 4096


def damage(path: Path, rng: random.Random) -> None:
    """Change or zero bytes of a file, cut it, or swap two of its blocks; the file differs afterwards."""
    before = path.read_bytes()
    data = bytearray(before)
    while bytes(data) == before:
        kind = rng.choice(("bytes", "zeros", "cut", "swap"))
        one, other = rng.randrange(len(data)), rng.randrange(len(data))
        if kind == "bytes":
            for _ in range(rng.choice((1, 16, 400, len(data) // 4))):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == "zeros":
            data[one : one + _BLOCK] = bytes(len(data[one : one + _BLOCK]))
        elif kind == "cut":
            del data[one:]
        else:
            size = min(_BLOCK, len(data) - one, len(data) - other)
            data[one : one + size], data[other : other + size] = data[other : other + size], data[one : one + size]
    path.write_bytes(data)


def damaged_part(pack: Path, rng: random.Random) -> str:
    """Damage the database, or for every second seed any part, and return its name."""
    names = sorted(read_manifest(pack / MANIFEST).files)
    name = rng.choice([rng.choice(names), "pack.db"])
    damage(pack / name, rng)
    return name


def _same_with_a_warning(results: list[Any], good: list[Any], errors: str) -> bool:
    """Tell whether the answer is the same, and what was made again instead of read is named."""
    return results[0]["answer"] == good[0]["answer"] and bool(errors)


def main() -> None:
    pack, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    code, modules = forked(lambda: [use(pack, [ASK]), sorted(sys.modules)][1])
    assert code == 0, modules
    for module in modules:
        # Once here, and not again in every forked process.
        with suppress(ImportError):
            importlib.import_module(module)
    code, good = forked(lambda: use(pack, [ASK]))
    assert (code, good[0][0]) == (0, 0), good
    for seed in range(first, first + count):
        copy = shutil.copytree(pack, pack.parent / f"damaged-{seed}", ignore=shutil.ignore_patterns(".*"))
        name = damaged_part(copy, random.Random(seed))
        code, found = forked(lambda copy=copy: use(copy, [ASK]))  # type: ignore[misc]
        shutil.rmtree(copy)
        if code != 0:
            outcome = [BROKEN, name, f"ended with {code}"]
        else:
            exit_code, results, errors = found[0]
            if exit_code == 4 and "damaged" in errors:
                outcome = [REFUSED, name, ""]
            elif exit_code == 0 and (results == good[0][1] or _same_with_a_warning(results, good[0][1], errors)):
                outcome = [HARMLESS, name, ""]
            else:
                outcome = [BROKEN, name, f"exit code {exit_code}: {errors or results}"]
        sys.stdout.write(json.dumps([seed, *outcome]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Damage the files of a pack at random, as a bad disk or an interrupted copy does, and ask it from forked processes.

Run as a program, because it forks a process for each damage and a test process has threads:
``python -m tests.trust.damage PACK FIRST COUNT`` prints one JSON object per damage, where ``FIRST`` is the first seed.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.tampering import damage
from tests.trust.flips import BROKEN, HARMLESS, REFUSED, forked, good_results, use

from wikigr.pack.layout import MANIFEST
from wikigr.pack.manifest import read_manifest

QUESTION = "When was Max Born born?"
ASK = ["ask", "--offline", QUESTION, "--json"]


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
    good = good_results(pack, [ASK])
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

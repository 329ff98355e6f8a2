"""What a question names of the values of tables."""

from __future__ import annotations

import os
import subprocess
import sys

SHARES = """
from types import SimpleNamespace
from wikigr.answer.candidates.grid import Asked

weights = {f"word{number}": 1 / number for number in range(3, 40)}
asked = Asked(SimpleNamespace(weights=weights), [], [])
print([asked.share(frozenset(list(weights)[:count])).hex() for count in range(1, 37)])
"""


def test_a_share_is_the_same_to_the_last_digit_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SHARES], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1

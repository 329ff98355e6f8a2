"""What a question names of the values of tables."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from wikigr.answer.candidates.grid import Asked


def shares() -> list[str]:
    weights = {f"word{number}": 1 / number for number in range(3, 40)}
    grid: Any = SimpleNamespace(weights=weights)
    asked = Asked(grid, [], [])
    return [asked.share(frozenset(list(weights)[:count])).hex() for count in range(1, 37)]


def test_a_share_is_the_same_to_the_last_digit_in_every_process() -> None:
    program = "from tests.answer.candidates.test_grid import shares; print(shares())"
    variables = {**os.environ, "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=variables, check=True, capture_output=True, text=True)
    # The seed of this process is a random one.
    assert done.stdout.strip() == str(shares())

"""The order in which pytest runs the tests, and who runs them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import ROOT, files_of_others, pytest_collection_modifyitems


def test_files_elsewhere_run_after_the_first_folders() -> None:
    tests = ROOT / "tests"
    paths = [Path("/elsewhere/a.py"), tests / "test_text.py", tests / "training" / "b.py", tests / "agent" / "c.py"]
    items: list[Any] = [SimpleNamespace(path=path) for path in paths]
    pytest_collection_modifyitems(items)
    assert [item.path for item in items] == [paths[3], paths[2], paths[0], paths[1]]


@pytest.mark.parametrize("workers", [1, 3, 6])
def test_every_file_has_one_worker(workers: int) -> None:
    every = set((ROOT / "tests").rglob("test_*.py"))
    shares = [every - files_of_others([], number, workers) for number in range(workers)]
    assert all(shares)
    assert sorted(file for share in shares for file in share) == sorted(every)

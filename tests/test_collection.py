"""The order in which pytest runs the tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.conftest import ROOT, pytest_collection_modifyitems


def test_files_elsewhere_run_after_the_first_folders() -> None:
    tests = ROOT / "tests"
    paths = [Path("/elsewhere/a.py"), tests / "test_text.py", tests / "agent" / "c.py"]
    items: list[Any] = [SimpleNamespace(path=path) for path in paths]
    pytest_collection_modifyitems(items)
    assert [item.path for item in items] == [paths[2], paths[0], paths[1]]

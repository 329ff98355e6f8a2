"""Find the targets, their corpora and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
DICTIONARIES = FOLDER / "dictionaries"
TARGETS = tuple(sorted(path.stem.removeprefix("fuzz_") for path in FOLDER.glob("fuzz_*.py")))


def load_target(name: str) -> Callable[[bytes], None]:
    """Return the function that tries one input; it raises an exception when a promise does not hold."""
    target: Callable[[bytes], None] = import_module(f"fuzz.fuzz_{name}").TestOneInput
    return target


def seeds(name: str) -> list[Path]:
    """Return the files of the corpus of a target."""
    return sorted(path for path in (FOLDER / "corpus" / name).iterdir() if path.is_file())

"""What the tests of the command line share: ``wikigr`` in-process, and in a process of its own (``MAIN``)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from wikigr.evaluation.statistics import intervals
from wikigr.version import changes
from wikigr_cli.app import run
from wikigr_cli.environment import Environment


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


# The console script, for tests that start a process: ``python -c MAIN ask ...``.
MAIN = "from wikigr_cli.entry import main; main()"
ROOT_PACK = Path(__file__).parents[2] / "packs" / "physics"

Wikigr = Callable[..., Result]
_RESAMPLE = intervals._resample


@pytest.fixture(scope="module", autouse=True)
def quick_evaluations() -> Iterator[None]:
    """Draw a fiftieth of the resamples of a bootstrap interval, and look for changes of the checkout once.

    A report on an ablation takes two seconds less.
    """

    def resample_less(*sample: Any, resamples: int, **options: Any) -> Any:
        return _RESAMPLE(*sample, resamples=min(resamples, 199), **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_resample", resample_less)
        patch.setattr("wikigr.evaluation.runner.changes", cache(changes))
        yield


@pytest.fixture
def every_resample(quick_evaluations: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as many resamples as another process does."""
    monkeypatch.setattr(intervals, "_resample", _RESAMPLE)


@pytest.fixture
def wikigr(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wikigr:
    """Run a command line in-process, away from the user's own settings and variables."""
    for variable in ("WIKIGR_PACK", "NO_COLOR", "FORCE_COLOR", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: str = "") -> Result:
        environment = Environment(io.StringIO(stdin), io.StringIO(), io.StringIO())
        with monkeypatch.context() as patch:
            # Starting parser processes takes a fifth of a small build; tests/ingest/engines tests them.
            for command in {"build", "make", "update"}.intersection(arguments):
                patch.setenv(f"WIKIGR_PACK_{command.upper()}_JOBS", "0")
            code = run(arguments, environment)
        assert isinstance(environment.stdout, io.StringIO)
        assert isinstance(environment.stderr, io.StringIO)
        return Result(code, environment.stdout.getvalue(), environment.stderr.getvalue())

    return call

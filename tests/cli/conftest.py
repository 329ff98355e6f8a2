"""What the tests of the command line share: ``wikigr`` in-process, and in a process of its own (``MAIN``)."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from tests.resampling import resample, share_intervals

from wikigr.evaluation.asking import ask_question
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics import intervals
from wikigr.files import write_atomic
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_schema import profile_values
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


@pytest.fixture(scope="module", autouse=True)
def quick_evaluations(outputs_of_graphs: Path) -> Iterator[None]:
    """Compute equal intervals once, of few resamples, and look for changes of the checkout once.

    Runs without a model take over the samples of earlier runs, from any test of any worker: the same question to the
    same pack under the same profile has the same answer.
    """

    def ask_once(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
        if pipeline.model is not None:
            return ask_question(pipeline, question, repeat)
        pack = pipeline.pack.manifest
        asked = (pack.digest, pack.thresholds, profile_values(pipeline.profile), replace(question, line=0), repeat)
        key = hashlib.sha256(repr(asked).encode()).hexdigest()
        file = outputs_of_graphs / f"sample-{key}"
        if file.exists():
            found = pickle.loads(file.read_bytes())
            assert isinstance(found, Sample)
            return found
        sample = ask_question(pipeline, question, repeat)
        if sample.error is None:
            write_atomic(file, pickle.dumps(sample))
        return sample

    with pytest.MonkeyPatch.context() as patch:
        share_intervals(patch)
        patch.setattr("wikigr.evaluation.runner.changes", cache(changes))
        patch.setattr("wikigr.evaluation.runner.ask_question", ask_once)
        yield


@pytest.fixture
def every_resample(quick_evaluations: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as many resamples as another process does."""
    monkeypatch.setattr(intervals, "_resample", resample)


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

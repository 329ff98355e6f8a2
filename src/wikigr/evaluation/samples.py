"""Samples: what one profile did with one question. ``samples.jsonl`` is the single source of truth of a run."""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wikigr.errors import WikigrError
from wikigr.llm.usage import Usage

SAMPLES = "samples.jsonl"


class RunError(WikigrError):
    """A run's folder is damaged, in use, or not of the run that is meant."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One question under one profile.

    ``metrics`` holds a number by metric; one that does not apply is missing. ``ranking`` are the first sections
    retrieved. ``error`` says why there is no answer; such a sample counts neither as right nor as wrong. ``cached``:
    a model had a part in the answer, and all of its replies came from the cache, so that ``timings`` and ``usage`` are
    not those of a model. ``judgment`` is the judge's ``{verdict, reason, model}``, and ``judge_usage`` what all
    attempts at one used, apart from ``usage``.
    """

    profile: str
    question_id: str
    repeat: int
    answer: str = ""
    query_type: str = ""
    confidence: float = 0.0
    metrics: Mapping[str, float] = field(default_factory=dict)
    citations: tuple[Mapping[str, Any], ...] = ()
    ranking: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False
    error: str | None = None
    judgment: Mapping[str, Any] | None = None
    judge_usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.profile, self.question_id, self.repeat


def write_line(sample: Sample) -> str:
    """Return ``sample`` as a line of JSON; metrics that are no number are left out."""
    values = asdict(sample)
    values["metrics"] = {name: value for name, value in sample.metrics.items() if not math.isnan(value)}
    return json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n"


class SampleStore:
    """Appends samples to a run's file, each line whole and on disk before the next."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SAMPLES
        self._drop_torn_line()
        self._file = self._path.open("a", encoding="utf-8")

    def _drop_torn_line(self) -> None:
        """Cut off what a killed run left of its last line."""
        if not self._path.exists():
            return
        with self._path.open("rb+") as file:
            content = file.read()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                file.truncate(whole)

    def append(self, sample: Sample) -> None:
        self._file.write(write_line(sample))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read_samples(folder: Path) -> list[Sample]:
    """Return the samples of a run in the order of profile, question and repeat; the last of a key counts.

    A torn last line is left out. Raises ``RunError`` for any other line that is no sample.
    """
    path = folder / SAMPLES
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"The samples {path} cannot be read: {error.strerror}.") from error
    found: dict[tuple[str, str, int], Sample] = {}
    # In bytes: what a kill left of the last line may end within a character.
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        sample = _parse(line, path, number)
        found[sample.key] = sample
    return sorted(found.values(), key=lambda sample: sample.key)


def _parse(line: bytes, path: Path, number: int) -> Sample:
    try:
        values = json.loads(line)
        for name in ("citations", "ranking", "warnings"):
            values[name] = tuple(values[name])
        sample = Sample(**values)
        _check(sample)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RunError(
            f"Line {number} of {path} is no sample: {error}.",
            hint="Delete that line; the command that made the run then asks its question again.",
        ) from error
    return sample


def _check(sample: Sample) -> None:
    """Raise ``TypeError`` for a field of another type, and ``ValueError`` for a figure that is no number."""
    for name in ("profile", "question_id", "answer", "query_type"):
        if not isinstance(getattr(sample, name), str):
            raise TypeError(f"{name} is no text")
    if type(sample.repeat) is not int:
        raise TypeError("repeat is no whole number")
    if sample.error is not None and not isinstance(sample.error, str):
        raise TypeError("error is no text")
    for name in ("metrics", "timings"):
        numbers = getattr(sample, name)
        if not isinstance(numbers, dict):
            raise TypeError(f"{name} are no numbers by name")
        for key, value in numbers.items():
            if type(value) not in (int, float) or not math.isfinite(value):
                raise ValueError(f"{name}: {key} is {value!r}, which is no number")
            if name == "metrics" and not 0.0 <= value <= 1.0:
                raise ValueError(f"{name}: {key} is {value!r}, and not from 0 to 1")
    if type(sample.confidence) not in (int, float) or not 0.0 <= sample.confidence <= 1.0:
        raise ValueError(f"confidence is {sample.confidence!r}, and not from 0 to 1")
    for entry in sample.ranking:
        if not isinstance(entry, dict) or not isinstance(entry.get("section_id"), str):
            raise TypeError("ranking holds something else than sections")
        if type(entry.get("score")) not in (int, float) or not math.isfinite(entry["score"]):
            raise ValueError(f"the score of {entry['section_id']} is {entry.get('score')!r}, which is no number")
    if not all(isinstance(entry, dict) for entry in sample.citations):
        raise TypeError("citations holds something else than citations")
    for name in ("usage", "judge_usage"):
        Usage(**getattr(sample, name))
    if sample.judgment is not None and "verdict" not in sample.judgment:
        raise TypeError("a judgment has no verdict")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run's folder; raises ``RunError`` when another process writes there or it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise RunError(f"The folder {folder} cannot be written: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(
                f"Another evaluation is writing to {folder}.", hint="Give it a folder of its own: -o"
            ) from error
        yield
    finally:
        os.close(handle)

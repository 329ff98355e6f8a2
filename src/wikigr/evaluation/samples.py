"""Samples, the results of one profile on one question. ``samples.jsonl`` is the source of all figures of a run."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from wikigr.errors import WikigrError
from wikigr.files import locked, read_regular
from wikigr.llm.usage import Usage
from wikigr.options import Share
from wikigr.validation import NO_OTHER_KEYS, Finite, Having, validated

SAMPLES = "samples.jsonl"
MAX_SAMPLES_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Sample:
    """The result of one profile on one question.

    - ``span``: the short answer as ``{text, section_id, start, end}``, or None without one (and in older runs).
    - ``level``: how sure the answer is, as in ``Answer``; empty in older runs.
    - ``metrics``: the value of each metric that applies, in [0, 1].
    - ``ranking``: the first retrieved sections, best first. ``confidence``: in [0, 1].
    - ``error``: the reason why there is no answer. A failed sample counts as neither right nor wrong.
    - ``cached``: a model took part in the answer and all of its replies came from the cache, so ``timings`` and
      ``usage`` are not those of a model.
    - ``judgment``: the judge's ``{verdict, reason, model}``. ``judge_usage``: the usage of all attempts to judge, which
      ``usage`` does not include.
    """

    profile: str
    question_id: str
    repeat: int
    answer: str = ""
    query_type: str = ""
    confidence: Share = 0.0
    metrics: Mapping[str, Share] = field(default_factory=dict)
    citations: tuple[Mapping[str, Any], ...] = ()
    ranking: tuple[Annotated[Mapping[str, Any], Having(section_id=str, score=Finite)], ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: bool = False
    timings: Mapping[str, Finite] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False
    error: str | None = None
    judgment: Annotated[Mapping[str, Any], Having(verdict=str)] | None = None
    judge_usage: Mapping[str, Any] = field(default_factory=dict)
    span: Annotated[Mapping[str, Any], Having(text=str)] | None = None
    level: str = ""

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    @property
    def key(self) -> tuple[str, str, int]:
        return self.profile, self.question_id, self.repeat


def write_line(sample: Sample) -> str:
    """Return ``sample`` as a line of JSON without the metrics that are NaN."""
    values = asdict(sample)
    values["metrics"] = {name: value for name, value in sample.metrics.items() if not math.isnan(value)}
    return json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n"


def cluster_keys(samples: Sequence[Sample], clusters: Mapping[str, str] | None) -> list[str]:
    """Return what the bootstrap draws each sample with: the cluster of its question, or the question without one."""
    return [(clusters or {}).get(sample.question_id, sample.question_id) for sample in samples]


class SampleStore:
    """An append-only sample file. Each line is complete and on disk before the next one is written."""

    def __init__(self, folder: Path) -> None:
        path = folder / SAMPLES
        # Not through a link, which may lead to a file of the user's.
        safely = os.O_NOFOLLOW | os.O_NONBLOCK
        self._file = open(  # noqa: SIM115
            path, "a+b", opener=lambda name, flags: os.open(name, flags | safely, 0o644)
        )
        # Remove the incomplete last line of a killed run.
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)

    def append(self, sample: Sample) -> None:
        self._file.write(write_line(sample).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read_samples(folder: Path) -> list[Sample]:
    """Return the samples of a run, sorted by profile, question and repeat.

    If a key occurs more than once, the last sample counts. An incomplete last line is ignored. Raises ``WikigrError``
    for any other invalid line.
    """
    path = folder / SAMPLES
    try:
        content = read_regular(path, MAX_SAMPLES_BYTES)
    except (OSError, ValueError) as error:
        raise WikigrError(f"Cannot read the samples {path}: {getattr(error, 'strerror', None) or error}.") from error
    found: dict[tuple[str, str, int], Sample] = {}
    # Bytes, because an incomplete last line may end inside a character.
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            sample = validated(Sample, line)
            for used in (sample.usage, sample.judge_usage):
                Usage(**used)
        except (ValueError, TypeError) as error:
            raise WikigrError(
                f"Line {number} of {path} is not a valid sample: {error}.",
                hint="Delete the line and repeat the command that made the run: it asks the question again.",
            ) from error
        found[sample.key] = sample
    return sorted(found.values(), key=lambda sample: sample.key)


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Create and lock the folder of a run; raise ``WikigrError`` if another process uses it or it is not writable."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder / ".lock"))
        except BlockingIOError as error:
            raise WikigrError(
                f"Another evaluation is writing to {folder}.", hint="Choose another folder: -o"
            ) from error
        except OSError as error:
            raise WikigrError(f"Cannot write to the folder {folder}: {error.strerror}.") from error
        yield

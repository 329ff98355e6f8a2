"""Encoders of workers that fail, or end their process. Worker processes import this module."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.ingest.engines.ray_engine import WorkerEncoder


@dataclass(frozen=True)
class FailingEncoder(WorkerEncoder):
    """Fails on the batch with the section of ``MARKED``, as often as the file ``FAILURES`` next to ``log`` says.

    ``error`` is how: ``"exit"`` ends the process, and others are raised.
    """

    log: str = ""
    error: str = "RuntimeError"

    def open(self) -> Embedder:
        return _Failing(super().open(), Path(self.log), self.error)


MARKED = "marked for failure"
FAILURES = "failures"


class _Failing:
    def __init__(self, encoder: Embedder, log: Path, error: str) -> None:
        self._encoder = encoder
        self._log = log
        self._error = error

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        if any(MARKED in text for text in texts):
            failures = len(self._log.read_text().splitlines()) if self._log.exists() else 0
            if failures < int((self._log.parent / FAILURES).read_text()):
                with self._log.open("a") as file:
                    file.write(f"{len(texts)}\n")
                if self._error == "exit":
                    os._exit(9)
                raise {"RuntimeError": RuntimeError, "OSError": OSError}[self._error]("CUDA out of memory")
        return self._encoder.encode(texts)

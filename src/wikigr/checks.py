"""A check and its outcome, with the mend beside a failure: what ``doctor`` and ``pack validate`` report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """``passed`` false with ``required`` true is a failure; with ``required`` false it is worth knowing only."""

    name: str
    passed: bool
    detail: str
    mend: str = ""
    required: bool = True

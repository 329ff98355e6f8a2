"""The result of a check, as reported by ``wikigr doctor``, ``wikigr pack validate`` and ``wikigr replay``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A check that did not pass is a failure if ``required``, and otherwise a note.

    ``fix`` says how to fix it. The field names are keys of the JSON output, so they must not change.
    """

    name: str
    passed: bool
    detail: str
    fix: str = ""
    required: bool = True


def all_passed(checks: Iterable[Check]) -> bool:
    """Return whether every required check passed."""
    return all(check.passed or not check.required for check in checks)

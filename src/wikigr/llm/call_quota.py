"""How many calls, and how long, one question may take of a model that is asked again and again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from wikigr.llm.budget import BudgetError
from wikigr.llm.client import Claude
from wikigr.llm.reply import Reply


class Completes(Protocol):
    """What answers one request: ``Claude``, or an ``CallQuota`` of it."""

    def complete(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply: ...


class CallQuota:
    """Asks ``client`` at most ``calls`` times and not after ``seconds`` from now; its own budget holds as well."""

    def __init__(self, client: Claude, *, calls: int, seconds: float) -> None:
        self._client = client
        self._most = calls
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self.calls = 0

    def complete(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply:
        """As ``Claude.complete``; raises ``BudgetError``, before the call, when the allowance is used up."""
        if self.calls >= self._most:
            raise BudgetError(f"The {self._most} calls that a question may take are used up.")
        if time.monotonic() >= self._ends:
            raise BudgetError(f"The {self._seconds:g} s that a question may take are over.")
        self.calls += 1
        return self._client.complete(system=system, messages=messages, max_tokens=max_tokens, model=model, extra=extra)

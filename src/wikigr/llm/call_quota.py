"""A quota on the number and the time of model calls for one question."""

from __future__ import annotations

import time
from typing import Any

from wikigr.llm.budget import BudgetError
from wikigr.llm.model_client import ModelClient
from wikigr.llm.reply import Reply


class CallQuota:
    """Limits a client to ``calls`` calls within the next ``seconds``, in addition to the client's own budget."""

    def __init__(self, client: ModelClient, *, calls: int, seconds: float) -> None:
        self._client = client
        self._max_calls = calls
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self.calls = 0

    def complete(self, **request: Any) -> Reply:
        """Like ``ModelClient.complete``, but raises ``BudgetError`` instead of calling if the quota is exhausted."""
        if self.calls >= self._max_calls:
            raise BudgetError(f"The question has used its quota of {self._max_calls} model calls.")
        if time.monotonic() >= self._deadline:
            raise BudgetError(f"The question has used its quota of {self._seconds:g} s for model calls.")
        self.calls += 1
        return self._client.complete(**request)

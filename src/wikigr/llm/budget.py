"""The budget of a run, checked before every call: one that exceeds it is not made."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from wikigr.errors import UsageError, WikigrError
from wikigr.llm.usage import Usage, cost


class BudgetError(WikigrError):
    """The next call could exceed the run's budget, so it was not made."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The worst case of a call in progress: its tokens, and its US dollars (0 without a dollar limit)."""

    tokens: int
    cost_usd: float


class Budget:
    """The limits of one run on tokens (input, output and cached together) and on US dollars; ``None`` means no limit.

    Thread-safe: the worst case of every call in progress is reserved. Raises ``UsageError`` for a negative limit.
    """

    def __init__(self, max_tokens: int | None = None, max_cost_usd: float | None = None) -> None:
        for limit in (max_tokens, max_cost_usd):
            if limit is not None and not limit >= 0:
                raise UsageError(f"A budget cannot be {limit}.")
        self.max_tokens = max_tokens
        self.max_cost_usd = max_cost_usd
        self._lock = threading.Lock()
        self._spent = Usage()
        self._held: list[Reservation] = []

    @property
    def spent(self) -> Usage:
        """The usage settled so far."""
        return self._spent

    def reserve(self, model: str, prompt_bytes: int, max_output_tokens: int) -> Reservation:
        """Reserve the worst case of a call whose request has ``prompt_bytes`` bytes of UTF-8.

        Raises ``BudgetError`` if the reservation could exceed a limit, and ``UsageError`` for a dollar limit on a model
        whose price is unknown.
        """
        # Claude's tokenizer is not public. English takes about four bytes per token, and dense text rarely less than
        # two. The API adds to a prompt what 500 tokens cover.
        prompt_tokens = -(-prompt_bytes // 2) + 500
        tokens = prompt_tokens + max_output_tokens
        with self._lock:
            used = self._spent.total_tokens + sum(held.tokens for held in self._held)
            if self.max_tokens is not None and used + tokens > self.max_tokens:
                raise BudgetError(
                    f"The budget of {self.max_tokens:,} tokens stopped the run: {used:,} are spent or in use, and the "
                    f"next call to {model} may use up to {tokens:,}.",
                    hint="Raise budget.max_tokens in the profile.",
                )
            # Writing to the prompt cache is the most expensive kind of input token.
            worst = cost(model, cache_write_tokens=prompt_tokens, output_tokens=max_output_tokens)
            wanted = Reservation(tokens, self._afford(model, worst))
            self._held.append(wanted)
        return wanted

    def _afford(self, model: str, dollars: float | None) -> float:
        """Return ``dollars`` if they are left, and 0 without a dollar limit; raises ``BudgetError``."""
        if self.max_cost_usd is None:
            return 0.0
        if dollars is None or self._spent.cost_usd is None:
            raise UsageError(
                f"The price of the model {model} is unknown, so a budget in dollars cannot be enforced.",
                hint="Set a budget in tokens instead: budget.max_tokens in the profile.",
            )
        used = self._spent.cost_usd + sum(held.cost_usd for held in self._held)
        if used + dollars > self.max_cost_usd:
            raise BudgetError(
                f"The budget of ${self.max_cost_usd:.4f} stopped the run: ${used:.4f} is spent or in use, and the "
                f"next call to {model} may cost up to ${dollars:.4f}.",
                hint="Raise budget.max_cost_usd in the profile, or --max-cost.",
            )
        return dollars

    def settle(self, usage: Usage, reservation: Reservation | None = None, *, worst_case: bool = False) -> None:
        """Add the actual usage of a call and release its reservation.

        With ``worst_case``, the call was interrupted and its usage beyond ``usage`` is unknown, so the remainder of the
        reservation stays in place.
        """
        with self._lock:
            self._spent += usage
            if reservation is not None:
                self._held.remove(reservation)
                if worst_case:
                    tokens = max(0, reservation.tokens - usage.total_tokens)
                    self._held.append(Reservation(tokens, max(0.0, reservation.cost_usd - (usage.cost_usd or 0.0))))

"""What calls of a model used, and what that cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and US dollars of ``calls`` calls that were billed; two of them add up.

    ``input_tokens`` are those that no cache was involved in, as the Messages API counts them. ``cost_usd`` is
    ``None`` where a price is unknown, and so is every sum with it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    calls: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            calls=self.calls + other.calls,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )

    def __sub__(self, earlier: Usage) -> Usage:
        """What came after ``earlier``, a sum that this one contains."""
        known = self.cost_usd is not None and earlier.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens - earlier.input_tokens,
            output_tokens=self.output_tokens - earlier.output_tokens,
            cache_read_tokens=self.cache_read_tokens - earlier.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens - earlier.cache_write_tokens,
            calls=self.calls - earlier.calls,
            cost_usd=(self.cost_usd or 0.0) - (earlier.cost_usd or 0.0) if known else None,
        )

    @property
    def total_tokens(self) -> int:
        """Every token that went in or came out, cached ones included."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def to_dict(self) -> dict[str, int | float | None]:
        return asdict(self)

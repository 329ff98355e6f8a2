"""The tokens that model calls used, and their cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and the cost of ``calls`` billed calls; supports ``+`` and ``-``.

    ``input_tokens`` excludes tokens read from or written to the prompt cache, as in the Messages API. ``cost_usd`` is
    ``None`` if a price is unknown, and then so is every sum that includes it. Some servers do not say how many tokens
    they used: such a call adds no tokens, and its price is unknown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    calls: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        return self._plus(other, 1)

    def __sub__(self, earlier: Usage) -> Usage:
        """Return the usage since ``earlier``, an earlier value of the same running total."""
        return self._plus(earlier, -1)

    def _plus(self, other: Usage, sign: int) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens + sign * other.input_tokens,
            output_tokens=self.output_tokens + sign * other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + sign * other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + sign * other.cache_write_tokens,
            calls=self.calls + sign * other.calls,
            cost_usd=(self.cost_usd or 0.0) + sign * (other.cost_usd or 0.0) if known else None,
        )

    @property
    def total_tokens(self) -> int:
        """All input and output tokens, including cached ones."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def is_unknown(self) -> bool:
        """Whether none of the calls reported its tokens."""
        return self.calls > 0 and self.total_tokens == 0

    def to_dict(self) -> dict[str, int | float | None]:
        return asdict(self)

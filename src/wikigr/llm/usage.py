"""The tokens that model calls used, and their cost at the list prices of ``prices.yaml``.

The price of an unlisted model is unknown, not 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

_SNAPSHOT = re.compile(r"-\d{8}\Z")


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
        pairs = zip(astuple(self), astuple(other), strict=True)
        added: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return Usage(*added)

    def __sub__(self, earlier: Usage) -> Usage:
        """Return the usage since ``earlier``, an earlier value of the same running total."""
        negated: list[Any] = [None if value is None else -value for value in astuple(earlier)]
        return self + Usage(*negated)

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


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float


def price_of(model: str) -> Price | None:
    """Return the price of a model id, or of the listed id of which it is a dated snapshot; ``None`` if unlisted."""
    prices = _prices()
    return prices.get(model) or prices.get(_SNAPSHOT.sub("", model))


def cost(
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
) -> float | None:
    """Return the cost of these tokens in US dollars, or ``None`` if the model's price is unknown."""
    price = price_of(model)
    if price is None:
        return None
    return (
        input_tokens * price.input
        + output_tokens * price.output
        + cache_read_tokens * price.cache_read
        + cache_write_tokens * price.cache_write
    ) / 1_000_000


@cache
def _prices() -> Mapping[str, Price]:
    import yaml

    listed = yaml.safe_load(Path(__file__).with_name("prices.yaml").read_text(encoding="utf-8"))
    return {model: Price(**price) for model, price in listed["models"].items()}

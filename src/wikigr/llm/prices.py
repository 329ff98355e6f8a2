"""What a model's tokens cost: the list prices of ``prices.yaml``. An unlisted model has no price, not a price of 0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SNAPSHOT = re.compile(r"-\d{8}\Z")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float


def price_of(model: str) -> Price | None:
    """The price of a listed model id, or of the listed id that a dated snapshot belongs to; else ``None``."""
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
    """US dollars for these tokens, or ``None`` where the model's price is unknown."""
    price = price_of(model)
    if price is None:
        return None
    return (
        input_tokens * price.input
        + output_tokens * price.output
        + cache_read_tokens * price.cache_read
        + cache_write_tokens * price.cache_write
    ) / _MILLION


@cache
def _prices() -> Mapping[str, Price]:
    import yaml

    listed = yaml.safe_load(Path(__file__).with_name("prices.yaml").read_text(encoding="utf-8"))
    return {model: Price(**price) for model, price in listed["models"].items()}

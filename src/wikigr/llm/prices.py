"""List prices of models, from ``prices.yaml``. The price of an unlisted model is unknown, not 0."""

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
    ) / _MILLION


@cache
def _prices() -> Mapping[str, Price]:
    import yaml

    listed = yaml.safe_load(Path(__file__).with_name("prices.yaml").read_text(encoding="utf-8"))
    return {model: Price(**price) for model, price in listed["models"].items()}

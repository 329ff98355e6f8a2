from __future__ import annotations

import datetime
from pathlib import Path

import pytest
import yaml

import wikigr.llm.usage
from wikigr.llm.usage import Price, cost, price_of

LISTED = yaml.safe_load(Path(wikigr.llm.usage.__file__).with_name("prices.yaml").read_text())


def test_the_list_says_from_when_it_is() -> None:
    assert isinstance(LISTED["as_of"], datetime.date)
    assert LISTED["unit"] == "USD per million tokens"


def test_every_listed_price_is_plausible(subtests: pytest.Subtests) -> None:
    assert LISTED["models"]
    for model in LISTED["models"]:
        with subtests.test(model=model):
            price = price_of(model)
            assert price is not None
            assert 0 < price.cache_read < price.input < price.cache_write < price.output
            assert price.cache_write == pytest.approx(1.25 * price.input)
            assert price.output == pytest.approx(5 * price.input)


def test_a_snapshot_costs_as_much_as_its_alias() -> None:
    cases = [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-1-20250805", "claude-opus-4-1"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
    ]
    assert [
        (snapshot, alias)
        for snapshot, alias in cases
        if price_of(snapshot) != price_of(alias) or price_of(alias) is None
    ] == []


@pytest.mark.parametrize(
    "model",
    ["", "llama3.2", "claude-opus-4-60", "claude-opus-4-6-2025", "claude-opus-4-6-202511011", "x-claude-opus-4-6"],
)
def test_an_unlisted_model_has_no_price(model: str) -> None:
    assert price_of(model) is None
    assert cost(model, input_tokens=1) is None


def test_the_cost_is_that_of_each_kind_of_token() -> None:
    assert price_of("claude-opus-4-6") == Price(input=5.0, output=25.0, cache_write=6.25, cache_read=0.5)
    million = 1_000_000
    assert cost("claude-opus-4-6", input_tokens=million) == pytest.approx(5.0)
    assert cost("claude-opus-4-6", output_tokens=million) == pytest.approx(25.0)
    assert cost("claude-opus-4-6", cache_write_tokens=million) == pytest.approx(6.25)
    assert cost("claude-opus-4-6", cache_read_tokens=million) == pytest.approx(0.5)
    assert cost("claude-haiku-4-5", input_tokens=2000, output_tokens=300) == pytest.approx(0.0035)

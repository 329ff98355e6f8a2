from __future__ import annotations

from wikigr.llm.usage import Usage


def test_two_usages_add_up() -> None:
    added = Usage(1, 2, 3, 4, 1, 0.5) + Usage(10, 20, 30, 40, 2, 0.25)
    assert added == Usage(11, 22, 33, 44, 3, 0.75)
    assert added.total_tokens == 110


def test_an_unknown_cost_makes_every_sum_unknown() -> None:
    unknown = Usage(1, 1, calls=1, cost_usd=None)
    assert (unknown + Usage()).cost_usd is None
    assert (Usage(cost_usd=3.0) + unknown + Usage(cost_usd=1.0)).cost_usd is None


def test_the_dictionary_has_every_field() -> None:
    assert Usage(1, 2, 3, 4, 5, None).to_dict() == {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_tokens": 3,
        "cache_write_tokens": 4,
        "calls": 5,
        "cost_usd": None,
    }

"""Where a quotation stands in the text of a section."""

from __future__ import annotations

import pytest

from wikigr_cli.render.section import find_quote

TEXT = "Turn the red\nlever (slowly).  Then wait."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("red lever (slowly).", "red\nlever (slowly)."),
        ("slowly). Then", "slowly).  Then"),
        ("lever .slowly", None),
        ("turn", None),
        (" ", None),
    ],
)
def test_a_quotation_is_found_whatever_its_white_space(quote: str, found: str | None) -> None:
    span = find_quote(TEXT, quote)
    assert (TEXT[span[0] : span[1]] if span is not None else None) == found

"""Wikitext is balanced before the parser sees it."""

import pytest

from wikigr.sources.wikitext.preprocess import prepare


@pytest.mark.parametrize(
    ("wikitext", "prepared"),
    [
        ("a {{b|{{c}} d", "a {{c}} d"),
        ("a {{b}} c}} d]]", "a {{b}} c d"),
        ("[[a [[b]]", "a [[b]]"),
        ("{{a|[[b}} c", "{{a|b}} c"),
        ("{| class=x\n| a {{b\n|}\n|}", "{| class=x\n| a b\n|}\n|}"),
        ("{|\n| a {{b}}", "\n| a {{b}}"),
        ("{{a|\n|}}", "{{a|\n|}}"),
        ("{{{a|b}}}", "{{{a|b}}}"),
        ("[[a|" * 30 + "]]" * 30, "[[a|" * 25 + "a|" * 5 + "]]" * 25),
    ],
)
def test_brackets_without_partner_never_reach_the_parser(wikitext: str, prepared: str) -> None:
    assert prepare(wikitext).text == prepared

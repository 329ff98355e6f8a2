"""Words that a hyphen divides between lines are joined."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.test_struck_text import text_of

TEXT = """The milling ma-
chine of Orsk was sold in Decem-
  ber. It is a long-
term loan, like other long-term loans, by the Nord-
Ost line, pre-
and post-war. A con\u00ad
crete mill; a semi\u00adcolon. The mill wheel: a mill-
wheel of oak.
"""
JOINED = (
    "The milling machine of Orsk was sold in December. It is a long-term loan, like other long-term loans, by the "
    "Nord- Ost line, pre- and post-war. A concrete mill; a semicolon. The mill wheel: a mill-wheel of oak."
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", TEXT),
        ("a.md", f"# Mill\n\n{TEXT}"),
        ("a.rst", f"Mill\n====\n\n{TEXT.replace('  ber', 'ber')}"),
        ("a.html", f"<meta charset=utf-8><h1>Mill</h1><p>{TEXT.replace('milling', 'mil<b>ling</b>')}"),
    ],
)
def test_divided_words(tmp_path: Path, name: str, text: str) -> None:
    assert " ".join(text_of(tmp_path, name, text.encode()).split()) == JOINED


def test_code_is_kept_as_it_is(tmp_path: Path) -> None:
    assert text_of(tmp_path, "a.md", b"# Mill\n\n```\nma-\nchine\n```\n") == "ma-\nchine"

from __future__ import annotations

from dataclasses import replace

import pytest

from wikigr.answer.citations import Citation, verify
from wikigr.errors import WikigrError
from wikigr.index.candidate import Section

SECTION = Section("Spin#0", "Spin", "Introduction", "Electrons spin. So do protons.", "spin.md", 0)
GOOD = Citation(1, "Spin", "Spin#0", "Introduction", "spin.md", "So do protons.", 16, 30)


def test_a_quotation_of_the_stored_text_passes() -> None:
    verify((GOOD,), {"Spin#0": SECTION})


@pytest.mark.parametrize(
    "wrong",
    [
        replace(GOOD, start=15), replace(GOOD, end=29), replace(GOOD, quote="So do neutrons."),
        replace(GOOD, section_id="Spin#1"), replace(GOOD, quote="", start=3, end=3),
    ],
)  # fmt: skip
def test_anything_else_is_refused(wrong: Citation) -> None:
    with pytest.raises(WikigrError, match="Citation 1"):
        verify((wrong,), {"Spin#0": SECTION})

"""What the claims of a reply need beside the rows of ``test_replies``."""

from __future__ import annotations

import pytest
from tests.answer.evidence import evidence

from wikigr.answer.claims import Claims

SECTIONS = (
    evidence("Orbit#0", "The allowed energies are\n\nE = −13.6 eV / n²\n\nand the smallest orbit has 0.0529 nm.", 0.9),
    evidence("Loan#0", "The yearly rate is called r.\nA = P · (1 + r)ⁿ\nP is the sum that is lent.", 0.8),
    evidence("Tank#0", "It is full at once if\n\n  flow ≥ 4 l/min\n\nNothing else counts.", 0.7),
)
QUESTION = "How large is a whale?"


@pytest.mark.parametrize("line", ["E = −13.6 eV / n²", "A = P · (1 + r)ⁿ", "flow ≥ 4 l/min"])
def test_an_equation_is_supported_as_a_whole_line(line: str) -> None:
    (support,) = Claims(SECTIONS, QUESTION).find(line)
    section, start, end = support
    assert line in section.content[start:end]


@pytest.mark.parametrize(
    "line", ["E = −13.6 eV", "E = −14.6 eV / n²", "A = P · (2 + r)ⁿ", "flow ≥ 5 l/min", "P · (1 + r)ⁿ"]
)
def test_an_equation_that_is_cut_or_changed_is_not(line: str) -> None:
    assert Claims(SECTIONS, QUESTION).find(line) == ()

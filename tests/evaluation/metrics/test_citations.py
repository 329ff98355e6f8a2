from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.evaluation.metrics.examples import KIEL, SPIN, WORK, citation

from wikigr.evaluation.metrics.citations import citation_precision, citation_recall, verified_share
from wikigr.evaluation.questions import Gold


def test_citations_of_gold_places(subtests: pytest.Subtests) -> None:
    for cited, gold, precision, recall in [
        ([KIEL], [Gold("max_planck")], 1.0, 1.0),
        ([KIEL, SPIN], [Gold("Max Planck")], 0.5, 1.0),
        ([KIEL, WORK], [Gold("Max Planck", "LIFE")], 0.5, 1.0),
        ([WORK], [Gold("Max Planck", "Life")], 0.0, 0.0),
        ([KIEL], [Gold("Max Planck"), Gold("Spin")], 1.0, 0.5),
        ([KIEL], [Gold("Max Planck", None, "p2")], 0.0, 0.0),
        ([KIEL], [Gold("Another name", None, "p1")], 1.0, 1.0),
        ([KIEL], [Gold("Max Planck", "Work", "p1")], 0.0, 0.0),
        ([], [Gold("Spin")], math.nan, 0.0),
        ([KIEL], [], math.nan, math.nan),
    ]:
        with subtests.test(cited=cited):
            citations = [citation(section) for section in cited]
            assert citation_precision(citations, gold) == pytest.approx(precision, nan_ok=True)
            assert citation_recall(citations, gold) == pytest.approx(recall, nan_ok=True)


def test_a_citation_verifies_only_against_the_stored_text() -> None:
    stored = {section.section_id: section for section in (KIEL, WORK)}
    good = citation(KIEL)
    assert verified_share([good, citation(WORK)], stored) == 1.0
    assert verified_share([good, replace(good, quote="Planck was!")], stored) == 0.5
    assert verified_share([good, citation(SPIN)], stored) == 0.5
    assert verified_share([good], stored, failed=3) == 0.25
    assert verified_share([], stored, failed=1) == 0.0
    assert math.isnan(verified_share([], stored))

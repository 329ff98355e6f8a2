from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.metrics.examples import KIEL

from wikigr.evaluation.metrics.hallucination import hallucination_rate


def test_hallucination() -> None:
    cases = [
        (["Planck was born in Kiel."], [KIEL.content], 0.0),
        (["Planck was born in Bern."], [KIEL.content], 0.0),
        (["Einstein was raised in Bern."], [KIEL.content], 1.0),
        (["Born: Bern"], [KIEL.content], 1.0),
        (["Planck was born in Kiel in 1859."], [KIEL.content], 1.0),
        (["Planck's Kiel", "Electrons spin fast."], [KIEL.content], 0.5),
        (["Electrons were born in Kiel, where they spin."], ["Electrons spin.", "Born in Kiel."], 1.0),
        (["It has 1,000 units."], ["There are 1000 units."], 0.0),
        (["Planck was born."], [], 1.0),
        (["So it is.", "Electrons spin."], ["Electrons spin."], 0.0),
        (["So it is."], ["Electrons spin."], math.nan),
        ([], ["Electrons spin."], math.nan),
    ]
    assert [
        (sentences, cited, rate)
        for sentences, cited, rate in cases
        if hallucination_rate(sentences, cited) != pytest.approx(rate, nan_ok=True)
    ] == []


@given(st.lists(st.sampled_from(["Planck in Kiel.", "In 1858.", "Spin.", "It is."])), st.lists(st.just(KIEL.content)))
def test_more_sources_never_support_less(sentences: list[str], cited: list[str]) -> None:
    rate = hallucination_rate(sentences, cited)
    if not math.isnan(rate):
        assert 0.0 <= hallucination_rate(sentences, [*cited, "Electrons spin."]) <= rate <= 1.0

from __future__ import annotations

import math

import pytest
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

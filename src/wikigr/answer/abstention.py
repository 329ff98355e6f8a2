"""Decide whether the pack covers a question: the probability of the best answer, and a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wikigr.answer.probability import AnswerModel, Level

# The name of the stage in traces.
ABSTENTION = "abstention"

# The exact text of an abstention.
NOT_COVERED = "The pack does not cover this."
# … and of the reply to a line that asks nothing.
NOT_A_QUESTION = "This is not a question."

# The name of a pack's own threshold in its manifest (of an earlier release), which replaces that of the model.
# Answers of a lower probability are abstentions. Earlier releases had thresholds on other scales, under other names.
THRESHOLD_NAME = "answer"


@dataclass(frozen=True, slots=True)
class Confidence:
    """``value`` in [0, 1] is the probability that the best answer is right, and ``level`` what that is called.

    ``threshold`` is the probability below which the pack does not cover the question. ``missing`` is one of two things
    that the question compares, if the pack says nothing of it. ``cannot_list`` says that the question asks for all that
    there are, and the best answer names one.
    """

    value: float
    level: Level
    threshold: float
    missing: str = ""
    cannot_list: bool = False

    @property
    def abstain(self) -> bool:
        return self.level == "not_covered"


def assess(probability: float, model: AnswerModel, thresholds: Mapping[str, float]) -> Confidence:
    """Return how sure an answer of this probability is, with the ``thresholds`` of its pack's manifest."""
    threshold = thresholds.get(THRESHOLD_NAME, model.covered)
    return Confidence(probability, model.level(probability, threshold), threshold)


NO_ANSWER = Confidence(0.0, "not_covered", 0.0)

"""The table of answer strategies: who writes the answer, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.answer.answer import ABSTAINED, EXTRACTIVE, OWN_KNOWLEDGE, SYNTHESIS, Answer
from wikigr.answer.extractive import ExtractiveOptions, write_extractive
from wikigr.answer.stages import Draft, level_of_claims
from wikigr.llm.options import FewShotOptions
from wikigr.retrieval.state import Resources

if TYPE_CHECKING:
    from wikigr.answer.synthesizer import Synthesizer

# Receives the pieces of an answer as they are written.
OnText = Callable[[str], None]


@dataclass
class Writers:
    """What strategies write with. ``few_shot_path`` is a file of worked examples that replaces the pack's own."""

    resources: Resources
    few_shot: FewShotOptions
    extractive: ExtractiveOptions
    few_shot_path: Path | None = None

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Writes answers with the model; imported on first use, because most answers do not use a model."""
        from wikigr.answer.synthesizer import Synthesizer

        return Synthesizer(self.resources, self.few_shot, self.few_shot_path)

    def quote(self, draft: Draft, answer: Answer) -> Answer:
        """Return the answer in quotations, which needs no model."""
        return write_extractive(self.resources.pack, draft, answer, self.extractive)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to write an answer of type ``query_type``.

    ``applies`` is called only while the answer is an abstention; ``write`` may return it unchanged.
    """

    query_type: str
    applies: Callable[[Resources, Draft], bool]
    write: Callable[[Writers, Draft, Answer, OnText | None], Answer]


def _synthesize(writers: Writers, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
    written = writers.synthesizer.write(answer, on_text)
    return written if written.abstained else replace(written, level=level_of_claims(draft, written.confidence))


# They are tried in this order until one has written an answer.
STRATEGIES = (
    Strategy(
        SYNTHESIS,
        lambda resources, draft: resources.model is not None and not draft.confidence.abstain,
        _synthesize,
    ),
    Strategy(
        EXTRACTIVE,
        lambda resources, draft: resources.model is None and bool(draft.answers) and not draft.confidence.abstain,
        lambda writers, draft, answer, on_text: writers.quote(draft, answer),
    ),
    Strategy(
        OWN_KNOWLEDGE,
        lambda resources, draft: resources.model is not None and resources.synthesis.own_knowledge,
        lambda writers, draft, answer, on_text: writers.synthesizer.from_own_knowledge(answer),
    ),
)

QUERY_TYPES = frozenset({ABSTAINED, *(strategy.query_type for strategy in STRATEGIES)})

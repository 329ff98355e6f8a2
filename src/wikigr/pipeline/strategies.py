"""The table of answer strategies: who writes the answer, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.answer.answer import EXTRACTIVE, OWN_KNOWLEDGE, SYNTHESIS, Answer
from wikigr.answer.extractive import SENTENCE_KINDS, ExtractiveOptions, write_extractive
from wikigr.answer.requests import style_of
from wikigr.answer.stages import Draft
from wikigr.llm.options import FewShotOptions, ModelFileOptions
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
    model_file: ModelFileOptions
    few_shot_path: Path | None = None

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Writes answers with the model; imported on first use, because most answers do not use a model."""
        from wikigr.answer.synthesizer import Synthesizer

        return Synthesizer(self.resources, self.few_shot, self.model_file, self.few_shot_path)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to write an answer of type ``query_type``.

    ``applies`` is asked with the answer so far, an abstention at first; ``write`` may return it unchanged.
    """

    query_type: str
    applies: Callable[[Resources, Draft, Answer], bool]
    write: Callable[[Writers, Draft, Answer, OnText | None], Answer]


def _asks_model(resources: Resources, draft: Draft, answer: Answer) -> bool:
    if resources.model is None or draft.confidence.abstain:
        return False
    # In reply to a short request, a model writes one sentence, which cannot replace a list, steps or several hops.
    is_sentence = answer.kind in SENTENCE_KINDS or (len(answer.citations) == 1 and "\n" not in answer.text)
    return is_sentence or style_of(resources.synthesis) != "short"


# All that apply write in this order: a model after what was found without it, which it may confirm or replace.
STRATEGIES = (
    Strategy(
        EXTRACTIVE,
        lambda resources, draft, answer: answer.abstained and bool(draft.answers) and not draft.confidence.abstain,
        lambda writers, draft, answer, on_text: write_extractive(
            writers.resources.pack, draft, answer, writers.extractive
        ),
    ),
    Strategy(
        SYNTHESIS,
        _asks_model,
        lambda writers, draft, answer, on_text: writers.synthesizer.write(draft, answer, on_text),
    ),
    Strategy(
        OWN_KNOWLEDGE,
        lambda resources, draft, answer: (
            answer.abstained and resources.model is not None and resources.synthesis.own_knowledge
        ),
        lambda writers, draft, answer, on_text: writers.synthesizer.from_own_knowledge(answer),
    ),
)

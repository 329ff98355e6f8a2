"""The table of answer strategies: who writes the answer, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikigr.answer.answer import Answer, QueryType
from wikigr.answer.draft import Draft
from wikigr.answer.extractive import write_extractive

if TYPE_CHECKING:
    from wikigr.pipeline.pipeline import Pipeline

# Receives the pieces of an answer as they are written.
OnText = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to write an answer. ``applies`` looks at the answer so far, which begins as an abstention."""

    query_type: QueryType
    applies: Callable[[Pipeline, Draft, Answer], bool]
    write: Callable[[Pipeline, Draft, Answer, OnText | None], Answer]


def _can_synthesize(pipeline: Pipeline, draft: Draft, answer: Answer) -> bool:
    return pipeline.model is not None and not draft.confidence.abstain


def _synthesize(pipeline: Pipeline, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
    return pipeline.synthesizer.write(answer, on_text)


def _can_quote(pipeline: Pipeline, draft: Draft, answer: Answer) -> bool:
    return pipeline.model is None and not draft.confidence.abstain


def _quote(pipeline: Pipeline, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
    return write_extractive(pipeline.pack, draft, answer, on_text)


def _may_use_own_knowledge(pipeline: Pipeline, draft: Draft, answer: Answer) -> bool:
    return answer.abstained and pipeline.model is not None and pipeline.resources.synthesis.own_knowledge


def _answer_from_own_knowledge(pipeline: Pipeline, draft: Draft, answer: Answer, on_text: OnText | None) -> Answer:
    return pipeline.synthesizer.from_own_knowledge(answer)


# Every strategy that applies runs, in this order, on what the one before it returned.
STRATEGIES = (
    Strategy("synthesis", _can_synthesize, _synthesize),
    Strategy("extractive", _can_quote, _quote),
    Strategy("own_knowledge", _may_use_own_knowledge, _answer_from_own_knowledge),
)

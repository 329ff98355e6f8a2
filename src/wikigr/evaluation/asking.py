"""Ask a gold question and score the answer."""

from __future__ import annotations

from dataclasses import asdict

from wikigr.errors import UsageError, WikigrError
from wikigr.evaluation.metrics import score
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.samples import Sample
from wikigr.llm.budget import BudgetError
from wikigr.pipeline.pipeline import Pipeline
from wikigr.retrieval.candidates import fetch

# The number of ranked sections that are stored and scored. They nearly always cover ten different articles.
MAX_RANKED = 20


def ask_question(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
    """Ask ``question`` and score the answer. A failure is a sample with an ``error``.

    Raises ``BudgetError`` for an exhausted budget, and ``UsageError`` for a mistake in the profile.
    """
    name = pipeline.profile.name
    model = pipeline.model
    asked = hits = 0
    if model is not None:
        # The cache keeps the reply of each repeat separately.
        model.repeat = repeat
        asked, hits = model.asked, model.hits
    try:
        answer = pipeline.answer(question.question)
        ranking = fetch(pipeline.pack, answer.ranking[:MAX_RANKED])
    except (BudgetError, UsageError):
        raise
    except WikigrError as error:
        return Sample(name, question.id, repeat, error=error.message)
    return Sample(
        profile=name,
        question_id=question.id,
        repeat=repeat,
        answer=answer.text,
        query_type=answer.query_type,
        confidence=round(answer.confidence, 6),
        level=answer.level,
        span=None if answer.span is None else asdict(answer.span),
        metrics={metric: round(value, 6) for metric, value in score(question, answer, ranking).items()},
        citations=tuple(
            {"section_id": c.section_id, "title": c.title, "quote": c.quote, "start": c.start, "end": c.end}
            for c in answer.citations
        ),
        ranking=tuple(
            {"section_id": e.section.section_id, "source_id": e.section.source_id, "score": round(e.score, 6)}
            for e in ranking
        ),
        warnings=tuple(answer.trace.warnings),
        degraded=answer.trace.degraded,
        timings=dict(answer.trace.timings()),
        usage=answer.usage.to_dict() if answer.usage.calls else {},
        cached=model is not None and model.asked == asked and model.hits > hits,
    )

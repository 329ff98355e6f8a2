"""The document of ``wikigr why``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.responses.pack import SCHEMA_VERSION

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.pipeline.why import Why
    from wikigr.responses.shapes import WhyDocument


def why_document(answer: Answer, explained: Why, warnings: Sequence[str] = ()) -> WhyDocument:
    """Return what ``wikigr why --json`` prints; ``warnings`` are about the name of the article."""
    return {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "title": explained.title,
        "section_id": explained.section_id,
        "profile": answer.profile,
        "outcome": explained.outcome,
        "reason": explained.reason,
        "dropped_at": explained.dropped_at,
        "setting": explained.setting,
        "stages": [
            {
                "stage": stage.stage,
                "rank": stage.rank,
                "article_rank": stage.article_rank,
                "of": stage.of,
                "section_id": stage.section_id,
                "score": None if stage.score is None else round(stage.score, 6),
                "reason": stage.reason or None,
            }
            for stage in explained.stages
        ],
        "abstained": answer.abstained,
        "degraded": answer.trace.degraded,
        "warnings": [*warnings, *answer.trace.warnings],
    }

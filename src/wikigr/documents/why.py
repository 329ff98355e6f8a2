"""Explain what happened to an article that was expected in an answer: its rank at every stage, and what dropped it.

Everything is read from the answer and its trace. Nothing is retrieved or computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wikigr.answer.answer import OWN_KNOWLEDGE, SYNTHESIS, Answer
from wikigr.answer.citations import CITATIONS
from wikigr.answer.extractive import MIN_PROBABILITY, SENTENCE_FLOOR
from wikigr.answer.stages import FindAnswers, RankSentences, ReadSentences
from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.graph.schema import article_title
from wikigr.pipeline.stages import ANSWER_STAGES, RETRIEVAL_STAGES
from wikigr.reader.passage import ReaderOptions
from wikigr.retrieval.trace import StageRecord

if TYPE_CHECKING:
    from wikigr.documents.shapes import WhyDocument

# What a stage did with the article, see ``why_document``.
_Rank = dict[str, Any]

_RANKING = {stage.name: stage for stage in (*RETRIEVAL_STAGES, *ANSWER_STAGES) if stage.ranks}
# The section of a profile that configures a stage.
_SETTINGS = {stage.name: stage.options.section for stage in RETRIEVAL_STAGES} | {
    ReadSentences.name: ReaderOptions.section,
}
_NOT_FOUND = "it was not found before"


def why_document(
    answer: Answer, title: str, section_id: str | None = None, warnings: Sequence[str] = ()
) -> WhyDocument:
    """Return what ``wikigr why --json`` prints about the article ``title``, or about its section ``section_id``.

    It was ``cited``, ``read`` but not cited, ``dropped`` at a stage, or ``not_found``. Of each stage, ``rank``, from 1,
    is that of its best section among the ``of`` sections there, ``article_rank`` that among their articles; both are
    ``None`` if the stage does not have it, and ``reason`` says why. ``warnings`` are about the name of the article.
    """
    target = _Target(answer, title, section_id)
    stages: list[_Rank] = []
    dropped_at: _Rank | None = None
    found = False
    before: _Rank | None = None
    for record in answer.trace.stages:
        row = _RANKING.get(record.stage)
        if row is None:
            continue
        stage = target.rank_at(record, before, dropped_at)
        stages.append(stage)
        # One ranker may find what the other one does not, and a failed stage drops nothing.
        if row.ranker or (record.degraded and stage["rank"] is None):
            continue
        if stage["rank"] is not None:
            found, dropped_at, before = True, None, stage
        elif found and dropped_at is None:
            dropped_at = stage
    stages.append(target.rank_in_citations(found=found, dropped_at=dropped_at))
    setting = None
    outcome = "read"
    if stages[-1]["rank"] is not None:
        numbers = [f"[{c.n}]" for c in answer.citations if target.matches(c.section_id)]
        outcome, reason = "cited", f"The answer quotes it: {', '.join(numbers)}."
    elif not answer.abstained and any(target.matches(c.section_id) for o in answer.alternatives for c in o.citations):
        reason = "The answer does not quote it, but one of the other possible answers does."
    elif not found:
        rankers = [stage for stage in stages if stage["stage"] in _RANKING and _RANKING[stage["stage"]].ranker]
        reasons = dict.fromkeys(str(stage["reason"]) for stage in rankers)
        outcome, reason = "not_found", f"It was never a candidate: {', and '.join(reasons)}."
    elif dropped_at is not None and (setting := _SETTINGS.get(dropped_at["stage"])) is not None:
        outcome, reason = "dropped", f"It was dropped at {dropped_at['stage']}: {dropped_at['reason']}."
    else:
        reason = f"It was read, but not quoted: {(dropped_at or stages[-1])['reason']}."
    return {
        "schema_version": SCHEMA_VERSION,
        "question": answer.question,
        "title": title,
        "section_id": section_id,
        "profile": answer.profile,
        "outcome": outcome,
        "reason": reason,
        "dropped_at": dropped_at["stage"] if dropped_at is not None and outcome == "dropped" else None,
        "setting": setting,
        "stages": stages,
        "abstained": answer.abstained,
        "degraded": answer.trace.degraded,
        "warnings": [*warnings, *answer.trace.warnings],
    }


class _Target:
    """The article, or the one section of it, to follow through the stages."""

    def __init__(self, answer: Answer, title: str, section_id: str | None) -> None:
        self._answer = answer
        self._title = title
        self._section_id = section_id
        self._candidates = {candidate.section_id: candidate for candidate in answer.ranking}

    def matches(self, section_id: str) -> bool:
        if self._section_id is not None:
            return section_id == self._section_id
        return article_title(section_id) == self._title

    def rank_at(self, record: StageRecord, before: _Rank | None, dropped_at: _Rank | None) -> _Rank:
        """Return its rank at a stage; ``before`` is its last rank, ``dropped_at`` the stage that dropped it."""
        found = self._rank_in(record.stage, record.ranking)
        if found is not None:
            return found
        reason = self._absent(record, before) if dropped_at is None else _dropped(dropped_at)
        return _rank(record.stage, len(record.ranking), reason=reason)

    def rank_in_citations(self, *, found: bool, dropped_at: _Rank | None) -> _Rank:
        """Return its rank among the citations, as if they were a stage."""
        cited = [citation.section_id for citation in self._answer.citations]
        rank = self._rank_in(CITATIONS, cited)
        if rank is not None:
            return rank
        reason = _NOT_FOUND if not found else self._not_cited() if dropped_at is None else _dropped(dropped_at)
        return _rank(CITATIONS, len(cited), reason=reason)

    def _rank_in(self, stage: str, ranking: Sequence[str]) -> _Rank | None:
        place = next((n for n, section_id in enumerate(ranking) if self.matches(section_id)), None)
        if place is None:
            return None
        titles = list(dict.fromkeys(article_title(section_id) for section_id in ranking[: place + 1]))
        score = self._score(stage, ranking[place])
        known = {"section_id": ranking[place], "score": None if score is None else round(score, 6)}
        return _rank(stage, len(ranking), rank=place + 1, article_rank=titles.index(self._title) + 1, **known)

    def _score(self, stage: str, section_id: str) -> float | None:
        if stage in (RankSentences.name, ReadSentences.name):
            own = (s for s in self._answer.sentences if s.section.section_id == section_id)
            return max((s.score if stage == ReadSentences.name else s.feature_score for s in own), default=None)
        row, candidate = _RANKING.get(stage), self._candidates.get(section_id)
        return candidate.scores.get(row.score) if row is not None and candidate is not None else None

    def _absent(self, record: StageRecord, before: _Rank | None) -> str:
        if record.degraded:
            return "the stage failed and was skipped"
        row = _RANKING[record.stage]
        absent = record.absent or row.reason.format(count=len(record.ranking))
        if before is None:
            return absent if row.finds else _NOT_FOUND
        return record.dropped.get(before["section_id"], absent)

    def _not_cited(self) -> str:
        answer = self._answer
        (ranking,) = [record.ranking for record in answer.trace.stages if record.stage == FindAnswers.name] or [()]
        number = next((n for n, section_id in enumerate(ranking, start=1) if self.matches(section_id)), None)
        if number is None:
            return "it holds none of the answers that were found"
        best = f"by its best answer, it is number {number} of {len(ranking)} sections"
        if answer.abstained:
            return f"{best}, and the answer is that the pack does not cover the question"
        if answer.query_type == OWN_KNOWLEDGE:
            return f"{best}, and the model answered from its own memory"
        if answer.query_type == SYNTHESIS:
            return f"{best}, and the model cited other sections"
        quoted = (
            "the likeliest answer is quoted, and after a sentence others, up to extractive.max_sentences, with a "
            f"probability of at least {MIN_PROBABILITY:g} and {SENTENCE_FLOOR:.0%} of the best one, if none repeats "
            "another"
        )
        return f"{best}; {quoted}"


def _dropped(dropped_at: _Rank) -> str:
    return f"it was dropped at {dropped_at['stage']}"


def _rank(stage: str, of: int, **known: Any) -> _Rank:
    unknown = dict.fromkeys(("rank", "article_rank", "of", "section_id", "score", "reason"))
    return {"stage": stage, **unknown, "of": of, **known}

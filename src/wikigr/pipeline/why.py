"""What became of an article that was expected in an answer: its rank at every stage, and what dropped it.

All of it is read from the answer and its trace; nothing is retrieved or computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from wikigr.answer.answer import Answer
from wikigr.answer.extractive import MAX_SENTENCES, SENTENCE_FLOOR
from wikigr.errors import UsageError
from wikigr.graph.schema import article_title
from wikigr.pack.open import Pack
from wikigr.profiles.schema import Profile
from wikigr.retrieval.fusion import POOL
from wikigr.retrieval.trace import StageRecord
from wikigr.text import fold

Outcome = Literal["cited", "read", "dropped", "not_found"]

CITATIONS = "citations"
# Both begin from the question; what one of them lacks the other may have found.
_RANKERS = ("dense", "lexical")
_STAGES = (
    *_RANKERS,
    "fuse",
    "cross_encoder",
    "graph_reranker",
    "graph_walk",
    "multi_strategy",
    "documents",
    "section_quality",
    "sentences",
)
# What follows the ranking: what is read, and what is quoted.
_READING = ("documents", "section_quality")
# The part of a profile that decides about a stage.
_SETTINGS = {
    "dense": "retrieval",
    "lexical": "retrieval",
    "fuse": "retrieval",
    "documents": "multi_doc",
    **{name: name for name in ("cross_encoder", "graph_reranker", "graph_walk", "multi_strategy", "section_quality")},
}
# The score in ``Candidate.scores`` that a stage gave.
_SCORES = {"dense": "dense", "lexical": "lexical", "cross_encoder": "cross_encoder", "graph_walk": "walk"}
_MAX_SECTIONS = 5
_NOT_FOUND = "it was not found before"


@dataclass(frozen=True, slots=True)
class StageRank:
    """Where a stage had the article, by the best of its sections there; ranks are from 1.

    ``rank`` is among the ``of`` sections of the stage, ``article_rank`` among their articles, and both are ``None``
    where the stage does not have it: ``reason`` then says why. ``score`` is on the stage's own scale, where it has one.
    """

    stage: str
    of: int
    rank: int | None = None
    article_rank: int | None = None
    section_id: str | None = None
    score: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """The stages in order, the last of them ``citations``; and the outcome, with ``reason`` in plain words.

    ``cited``; ``read`` and not cited; ``dropped`` at ``dropped_at`` before it could be read; ``not_found`` at all.
    ``setting`` is the part of the profile that decides there.
    """

    title: str
    section_id: str | None
    stages: tuple[StageRank, ...]
    outcome: Outcome
    reason: str
    dropped_at: str | None = None
    setting: str | None = None


def find_section(pack: Pack, title: str, wanted: str) -> str:
    """Return the id of the section ``wanted`` (an id or a heading) of the article ``title``; raises ``UsageError``."""
    query = (
        "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) "
        "RETURN s.section_id, coalesce(s.title, '') ORDER BY s.position, s.section_id"
    )
    sections = {str(id_): str(heading) for id_, heading in pack.graph.rows(query, {"title": title})}
    if wanted in sections:
        return wanted
    for id_, heading in sections.items():
        if fold(heading) == fold(wanted):
            return id_
    near = get_close_matches(wanted, [heading for heading in sections.values() if heading], n=1)
    shown = [
        f"{id_} ({heading})" if heading else id_ for id_, heading in sections.items() if heading in near or not near
    ]
    raise UsageError(
        f"The article {title!r} has no section {wanted!r}.",
        hint=f"It has {', '.join(shown[:_MAX_SECTIONS])}{', …' if len(shown) > _MAX_SECTIONS else ''}.",
    )


def explain_article(answer: Answer, profile: Profile, title: str, section_id: str | None = None) -> Why:
    """Return what became of the article ``title``, or of its one section ``section_id``, on the way to ``answer``."""
    wanted = _Wanted(answer, profile, title, section_id)
    stages: list[StageRank] = []
    dropped_at: StageRank | None = None
    present = False
    before: StageRank | None = None
    for record in answer.trace.stages:
        if record.stage not in _STAGES:
            continue
        stage = wanted.at(record, before, dropped_at)
        stages.append(stage)
        if record.stage in _RANKERS or (record.degraded and stage.rank is None):
            continue
        if stage.rank is not None:
            present, dropped_at, before = True, None, stage
        elif present and dropped_at is None:
            dropped_at = stage
    stages.append(wanted.cited(present=present, dropped_at=dropped_at))
    if stages[-1].rank is not None:
        numbers = [f"[{c.n}]" for c in answer.citations if wanted.is_meant(c.section_id)]
        return Why(title, section_id, tuple(stages), "cited", f"The answer quotes it: {', '.join(numbers)}.")
    if not present:
        reasons = list(dict.fromkeys(stage.reason for stage in stages if stage.stage in _RANKERS))
        reason = f"It was never in the running: {', and '.join(reasons)}."
        return Why(title, section_id, tuple(stages), "not_found", reason)
    if dropped_at is not None and dropped_at.stage != "sentences":
        reason = f"It was dropped at {dropped_at.stage}: {dropped_at.reason}."
        setting = _SETTINGS.get(dropped_at.stage)
        return Why(title, section_id, tuple(stages), "dropped", reason, dropped_at.stage, setting)
    last = dropped_at or stages[-1]
    return Why(title, section_id, tuple(stages), "read", f"It was read, but not quoted: {last.reason}.")


def _gone(dropped_at: StageRank) -> str:
    return f"it was dropped at {dropped_at.stage}"


class _Wanted:
    """The article, or the one section of it, that is followed."""

    def __init__(self, answer: Answer, profile: Profile, title: str, section_id: str | None) -> None:
        self._answer = answer
        self._profile = profile
        self._title = title
        self._section_id = section_id
        self._candidates = {candidate.section_id: candidate for candidate in answer.ranking}

    def is_meant(self, section_id: str) -> bool:
        if self._section_id is not None:
            return section_id == self._section_id
        return article_title(section_id) == self._title

    def at(self, record: StageRecord, before: StageRank | None, dropped_at: StageRank | None) -> StageRank:
        """Return where the stage had it; ``before`` is where it was last, ``dropped_at`` where it was no more."""
        found = self._place(record.stage, record.ranking)
        if found is not None:
            return found
        reason = self._missing(record, before) if dropped_at is None else _gone(dropped_at)
        return StageRank(record.stage, len(record.ranking), reason=reason)

    def cited(self, *, present: bool, dropped_at: StageRank | None) -> StageRank:
        """Return which of the citations is of it, as if they were a stage."""
        cited = [citation.section_id for citation in self._answer.citations]
        found = self._place(CITATIONS, cited)
        if found is not None:
            return found
        reason = _NOT_FOUND if not present else self._not_cited() if dropped_at is None else _gone(dropped_at)
        return StageRank(CITATIONS, len(cited), reason=reason)

    def _place(self, stage: str, ranking: Sequence[str]) -> StageRank | None:
        place = next((n for n, section_id in enumerate(ranking) if self.is_meant(section_id)), None)
        if place is None:
            return None
        titles = list(dict.fromkeys(article_title(section_id) for section_id in ranking[: place + 1]))
        return StageRank(
            stage,
            len(ranking),
            rank=place + 1,
            article_rank=titles.index(self._title) + 1,
            section_id=ranking[place],
            score=self._score(stage, ranking[place]),
        )

    def _score(self, stage: str, section_id: str) -> float | None:
        if stage == "sentences":
            return next((s.score for s in self._answer.sentences if s.section.section_id == section_id), None)
        candidate = self._candidates.get(section_id)
        return candidate.scores.get(_SCORES.get(stage, "")) if candidate is not None else None

    def _missing(self, record: StageRecord, before: StageRank | None) -> str:
        stage, count = record.stage, len(record.ranking)
        if record.degraded:
            return "the stage failed and was left out"
        if stage == "dense":
            return f"it is not among the {count} sections nearest by vectors"
        if stage == "lexical":
            # Fewer than were asked for: these are all that match.
            return (
                "it shares no word with the question" if count < POOL else f"it is not among the {count} best by BM25"
            )
        if stage == "fuse":
            return "no ranker found it"
        if stage == "graph_walk" and before is None:
            return "no short way leads to it from what the question names and finds"
        if before is None or before.section_id is None:
            return _NOT_FOUND
        if stage == "cross_encoder":
            return f"it is not among the {count} that the cross-encoder finds best"
        if stage == "documents" and not self._profile.multi_doc.enabled and before.section_id not in record.dropped:
            best = f", {article_title(record.ranking[0])!r}" if record.ranking else ""
            return f"only sections of the best article{best}, are read (multi_doc is off)"
        if stage == "sentences":
            return "it holds no sentence"
        return record.dropped.get(before.section_id, "it was left out")

    def _not_cited(self) -> str:
        answer = self._answer
        number = next((n for n, s in enumerate(answer.sentences, start=1) if self.is_meant(s.section.section_id)), None)
        if number is None:
            return "none of its sentences was read"
        sentence = f"its best sentence is number {number} of {len(answer.sentences)}"
        if answer.abstained:
            return f"{sentence}, and the answer is that the pack does not cover the question"
        if answer.query_type == "own_knowledge":
            return f"{sentence}, and the model answered from its own memory"
        if answer.model:
            return f"{sentence}, and the model cited others"
        quoted = f"an answer quotes {MAX_SENTENCES} at most, and none below {SENTENCE_FLOOR:.0%} of the best score"
        return f"{sentence}; {quoted}"

"""Order the sections found by their best unit: the sentence, row, item or entry that holds most of the question.

A section about many things has a vector and a BM25 score that are averages; what people ask for is in one of its lines.
Scoring a document by its best passage is MaxP (Dai & Callan 2019, "Deeper Text Understanding for IR with Contextual
Neural Language Modeling"), here with the words of the question instead of a neural model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from wikigr.index.candidate import RELEVANCE, UNIT, Candidate, Section, section_ids
from wikigr.options import Options
from wikigr.question.question import Question
from wikigr.retrieval.candidates import fetch
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.retrieval.units import stemmed_units

# The first sections whose units are read. Of 950 questions on manuals and desks, twenty hold the answer to 97 of 100.
POOL = 20
# The weights, beside a relevance of weight 1, of what the best unit of the article covers of the question, and of what
# a section covers less than that. Other sections of its article are the rivals that a section is taken for; in a corpus
# of short articles about many things (HotpotQA, R@5), a greater weight of the article loses the second one of two hops.
ARTICLE_WEIGHT = 0.25
SECTION_WEIGHT = 1.25


@dataclass(frozen=True, slots=True)
class UnitMatchOptions(Options):
    """Ordering sections by the one sentence, row, item or entry that matches the question best."""

    section: ClassVar[str] = "unit_match"

    enabled: Annotated[
        bool, f"order the first {POOL} sections by the sentence, row or item that holds most of the question, too"
    ] = True


class UnitMatch(RetrievalStage[UnitMatchOptions]):
    """Add to the relevance of each candidate what the best units of its article and of itself cover of the question."""

    name = "unit_match"

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        pool = fetch(self.resources.pack, state.candidates[:POOL])
        covered = [best_coverage(item.section, state.question) for item in pool]
        best: dict[str, float] = {}
        for item, coverage in zip(pool, covered, strict=True):
            best[item.section.title] = max(coverage, best.get(item.section.title, 0.0))
        found = []
        for item, coverage in zip(pool, covered, strict=True):
            of_article = best[item.section.title]
            score = item.candidate.relevance + ARTICLE_WEIGHT * of_article - SECTION_WEIGHT * (of_article - coverage)
            found.append(_with_score(item.candidate, score / (1 + ARTICLE_WEIGHT), {UNIT: coverage}))
        found.sort(key=lambda candidate: -candidate.score)
        record.scored = len(found)
        lowest = found[-1].score if found else 0.0
        read = set(section_ids(found))
        found += (
            _with_score(candidate, min(lowest, candidate.relevance / (1 + ARTICLE_WEIGHT)), {})
            for candidate in state.candidates
            if candidate.section_id not in read
        )
        record.ranking = section_ids(found)
        return replace(state, candidates=tuple(found), sections={e.section.section_id: e.section for e in pool})


def best_coverage(section: Section, question: Question) -> float:
    """Return how much of ``question``, by weight, one unit of ``section`` holds with title and heading, in [0, 1]."""
    named = set(question.stems(f"{section.title} {section.heading}"))
    return max((question.coverage(named.union(own)) for _, _, own in stemmed_units(section, question)), default=0.0)


def _with_score(candidate: Candidate, score: float, scores: dict[str, float]) -> Candidate:
    return Candidate(candidate.section_id, score, {**candidate.scores, **scores, RELEVANCE: score})

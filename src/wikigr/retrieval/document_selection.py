"""Select a few sections of a few articles to read (reference/multidoc-synthesizer.md, "Algorithm")."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from wikigr.graph.schema import section_id
from wikigr.index.candidate import DENSE, FACT, RELEVANCE, UNIT, Candidate, section_ids
from wikigr.options import Auto, Few, Options, Share, or_auto
from wikigr.pack.manifest import MIN_RELEVANCE
from wikigr.question.intent import asks_fact, asks_lead, name_stems
from wikigr.question.question import Question
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.sources.facts import FACTS

# A section with a unit that holds so much of the question, by weight, needs no calibrated cosine: a code or an
# abbreviation says little to an encoder. Of 651 questions about desks, the headline was right for 421 with a minimum
# cosine for all sections, for 427 without one, and with this share for 433 at 0.4, 431 at 0.5 and 427 at 0.6: a half.
_MIN_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class MultiDocOptions(Options):
    """How many articles and sections are read."""

    section: ClassVar[str] = "multi_doc"

    enabled: Annotated[bool, "read several articles; otherwise only the best one"] = True
    num_docs: Annotated[Few | Auto, "articles to read; `auto` depends on the type of question"] = 5
    max_sections: Annotated[Few | Auto, "sections to read from each; `auto` depends on the type of question"] = 3
    min_relevance: Annotated[
        Share | Auto,
        "minimum cosine of a section; `auto` is the pack's, for sections without half of the question in one unit",
    ] = "auto"

    def articles_for(self, question: Question) -> int:
        """Return how many articles to read for ``question``."""
        return or_auto(self.num_docs, question.selection_size.num_docs) if self.enabled else 1

    def sections_for(self, question: Question) -> int:
        """Return how many sections of an article to read for ``question``."""
        return or_auto(self.max_sections, question.selection_size.max_sections)


def select_documents(
    candidates: Sequence[Candidate],
    *,
    num_docs: int,
    max_sections: int,
    min_relevance: float = 0.0,
    min_coverage: float = math.inf,
    required: Collection[str] = (),
) -> tuple[tuple[Candidate, ...], dict[str, str]]:
    """Keep the best ``max_sections`` of each of the best ``num_docs`` articles of ``candidates`` (best first).

    Articles are ranked by the total score of their best ``max_sections`` sections; more sections would favor long
    articles. A negative score counts as 0: no section speaks against its article. Sections with cosine below
    ``min_relevance`` are dropped, except those that state a fact of the graph or hold ``min_coverage`` of the question
    in one unit. The sections with ids in ``required`` are kept as well, whatever their rank, unranked ones last.
    Returns those that were kept, by rank, and why each other section was dropped, by section id.
    """
    known = section_ids(candidates)
    candidates = [*candidates, *(Candidate(lead, 0.0, {RELEVANCE: 0.0}) for lead in required if lead not in known)]
    dropped: dict[str, str] = {}
    by_title: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.section_id in required:
            continue
        is_named = FACT in candidate.scores or candidate.scores.get(UNIT, 0.0) >= min_coverage
        if candidate.scores.get(DENSE, min_relevance) < min_relevance and not is_named:
            dropped[candidate.section_id] = f"cosine below min_relevance {min_relevance:.2f}"
        elif len(by_title.setdefault(candidate.title, [])) >= max_sections:
            dropped[candidate.section_id] = f"its article has {max_sections} better ones"
        else:
            by_title[candidate.title].append(candidate)
    ranked = sorted(by_title, key=lambda title: (-sum(max(c.score, 0.0) for c in by_title[title]), title))
    chosen = set(ranked[:num_docs])
    kept = []
    for candidate in candidates:
        if candidate.section_id in dropped:
            continue
        if candidate.title in chosen or candidate.section_id in required:
            kept.append(candidate)
        else:
            dropped[candidate.section_id] = f"its article is not among the best {num_docs}"
    return tuple(kept), dropped


def calibrated_min_relevance(thresholds: Mapping[str, float]) -> float:
    """Return the pack's calibrated minimum cosine of a relevant section, in [0, 1]."""
    return min(1.0, max(0.0, thresholds.get(MIN_RELEVANCE, 0.0)))


class DocumentSelection(RetrievalStage[MultiDocOptions]):
    """Select the sections that an answer may rest on."""

    name = "documents"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        question, candidates = state.question, state.candidates
        titles = list(dict.fromkeys(candidate.title for candidate in candidates))
        calibrated = calibrated_min_relevance(self.resources.pack.manifest.thresholds)
        min_relevance = or_auto(self.options.min_relevance, calibrated)
        if not self.options.enabled:
            titles, min_relevance = titles[:1], 0.0
            candidates = tuple(candidate for candidate in candidates if candidate.title in titles)
            best = f", {titles[0]!r}," if titles else ""
            record.absent = f"only sections of the best article{best} are read (multi_doc is off)"
        kept, record.dropped = select_documents(
            candidates,
            num_docs=self.options.articles_for(question),
            max_sections=self.options.sections_for(question),
            min_relevance=min_relevance,
            min_coverage=_MIN_COVERAGE if self.options.min_relevance == "auto" else math.inf,
            required=[
                # The leads of the best articles are read if the question asks what they are.
                *(section_id(title, 0) for title in titles[:20] if asks_lead(question, title)),
                *self._facts(question, candidates),
                *(hop.section.section_id for chain in state.chains[:1] for hop in chain.hops),
            ],
        )
        record.scored = len(state.candidates)
        record.ranking = section_ids(kept)
        return replace(state, selected=kept)

    def _facts(self, question: Question, candidates: Sequence[Candidate]) -> list[str]:
        """Return the sections of facts about what ``question`` names: the best one of each of a few articles.

        Facts share few words with a question, and the sections of a long article rank before them. Longer names are
        better ones, and then those without a qualifier: "Ray Charles" rather than "Ray" or "Ray Charles (album)".
        """
        named = [candidate for candidate in candidates[:100] if asks_fact(question, candidate.title)]
        sections = self.resources.pack.sections(section_ids(named))
        facts: dict[str, str] = {}
        for candidate in named:
            section = sections.get(candidate.section_id)
            if section is not None and section.heading == FACTS:
                facts.setdefault(candidate.title, candidate.section_id)
        titles = sorted(facts, key=lambda title: (-len(name_stems(title, question.language)), len(title), title))
        return [facts[title] for title in titles[:2]]

"""From a question to ranked sections, as a profile says."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import UsageError
from wikigr.graph.schema import section_id
from wikigr.index.candidate import Candidate, Evidence, section_ids
from wikigr.pack.open import Pack
from wikigr.profiles import tuning
from wikigr.profiles.schema import Profile
from wikigr.question.terms import QuestionTerms, read_question
from wikigr.retrieval.candidates import checked_question, fetch, find_candidates
from wikigr.retrieval.document_selection import select_documents
from wikigr.retrieval.entity_linking import EntityLinker, Link
from wikigr.retrieval.explore.graph_context import promote_facts
from wikigr.retrieval.fusion import best_of
from wikigr.retrieval.graph_walk import rerank_by_walk
from wikigr.retrieval.rerankers.graph_reranker import GraphReranker
from wikigr.retrieval.rerankers.pagerank_scores import load_scores
from wikigr.retrieval.rerankers.section_quality import score_section_quality
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.answer.few_shot import FewShotManager
    from wikigr.llm.client import Claude
    from wikigr.retrieval.explore.explorer import Explorer
    from wikigr.retrieval.explore.multi_strategy import Exploration
    from wikigr.retrieval.rerankers.cross_encoder import CrossEncoderReranker

# Articles, the best ones, that are compared with what the question names.
_MAX_NAMED = 20

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Context:
    """All that was ranked, best first, the sections chosen from it with their text, and what the graph said.

    ``terms`` and ``vector`` are the question's, the latter where the profile compares vectors.
    """

    ranking: tuple[Candidate, ...]
    evidence: list[Evidence]
    terms: QuestionTerms
    vector: Vectors | None
    exploration: Exploration | None = None


@dataclass(frozen=True, slots=True)
class _Ranking:
    candidates: list[Candidate]
    vector: Vectors | None
    exploration: Exploration | None = None


class Retriever:
    """Finds, reranks and selects the sections of one pack; ``model``, if any, writes other wordings of questions."""

    def __init__(self, pack: Pack, profile: Profile, model: Claude | None = None, *, offline: bool = False) -> None:
        self.pack = pack
        self.profile = profile
        self._model = model
        self._offline = offline
        # Worked examples of Cypher for a planner, if the user has some.
        self.cypher_examples: FewShotManager | None = None

    def search(self, question: str, *, top_k: int, trace: Trace) -> list[Evidence]:
        """Return the best ``top_k`` sections, best first; raises ``UsageError`` for an empty question."""
        if top_k < 1:
            raise UsageError(f"top_k must be at least 1, not {top_k}.")
        candidates = self._ranked(checked_question(question), top_k, top_k, trace).candidates[:top_k]
        with trace.stage("fetch"):
            return fetch(self.pack, candidates)

    def context(self, question: str, trace: Trace, *, within: Collection[str] | None = None) -> Context:
        """Return the sections that an answer may rest on, best first; only of the articles ``within``, if given."""
        breadth = tuning.breadth(question)
        options = self.profile.multi_doc
        num_docs = 1 if not options.enabled else _or(options.num_docs, breadth.num_docs)
        max_sections = _or(options.max_sections, breadth.max_sections)
        ranking = self._ranked(question, 0, num_docs * max_sections, trace, within)
        candidates = ranking.candidates
        with trace.stage("documents") as record:
            floor = _or(options.min_relevance, tuning.min_relevance(self.pack.manifest.thresholds))
            terms = read_question(question, self.pack.lexical)
            titles = list(dict.fromkeys(c.title for c in candidates))[: _MAX_NAMED if options.enabled else 1]
            selection = select_documents(
                candidates if options.enabled else [c for c in candidates if c.title == candidates[0].title],
                num_docs=num_docs,
                max_sections=max_sections,
                min_relevance=floor if options.enabled else 0.0,
                leads=[section_id(title, 0) for title in titles if terms.asks_lead(title)],
            )
            record.scored = len(candidates)
            record.dropped = selection.dropped
            record.ranking = section_ids(selection.kept)
        with trace.stage("fetch"):
            evidence = fetch(self.pack, selection.kept)
        if self.profile.section_quality.enabled:
            evidence = self._leave_out_stubs(question, evidence, trace)
        return Context(tuple(candidates), evidence, terms, ranking.vector, ranking.exploration)

    def _ranked(
        self, question: str, depth: int, wanted: int, trace: Trace, within: Collection[str] | None = None
    ) -> _Ranking:
        """Return all candidates, ranked by every stage that the profile has, or the best ``wanted`` that a
        cross-encoder leaves.
        """
        options = self.profile.retrieval
        if within is not None:
            # All sections: the best ones may not be of the articles that are wanted.
            depth = self.pack.manifest.counts["sections"]
        wordings = [question]
        if options.multi_query:
            wordings += self._rephrased(question, trace)
        runs = [
            find_candidates(self.pack, wording, trace=trace, depth=depth, mode=options.mode, fusion=options.fusion)
            for wording in wordings
        ]
        candidates, vector = runs[0].candidates, runs[0].vector
        if len(runs) > 1:
            rankings = [run.candidates for run in runs]
            candidates = best_of(rankings, key=lambda found: found.section_id, score=lambda found: found.score)
        titles = {fold(title) for title in within} if within is not None else None
        if titles is not None:
            candidates = [candidate for candidate in candidates if fold(candidate.title) in titles]
        if self.profile.cross_encoder.enabled and candidates:
            candidates = self._cross_encode(question, candidates, wanted, trace)
        if self.profile.graph_reranker.enabled and candidates:
            with trace.enhancement("graph_reranker") as record:
                candidates = self._rerank_by_graph(candidates, record)
                record.ranking = section_ids(candidates)
        if titles is None and candidates:
            candidates, exploration = self._along_graph(question, candidates, trace)
            return _Ranking(candidates, vector, exploration)
        return _Ranking(candidates, vector)

    def _along_graph(
        self, question: str, candidates: list[Candidate], trace: Trace
    ) -> tuple[list[Candidate], Exploration | None]:
        """Follow the graph from what the question names and from ``candidates``, as far as the profile says."""
        walk, multi_strategy = self.profile.graph_walk, self.profile.multi_strategy
        if not (walk.enabled or multi_strategy.enabled):
            return candidates, None
        links: list[Link] = []
        with trace.enhancement("entity_linking") as record:
            cosines = {c.title: c.scores["dense"] for c in reversed(candidates) if "dense" in c.scores}
            links = self.linker.link_question(question, relevance=cosines)
            record.warning = self.pack.graph_index_warning
            record.scored = len(links)
            record.notes["links"] = [f"{link.mention} → {link.node.label} ({link.score:.2f})" for link in links]
        if walk.enabled:
            with trace.enhancement("graph_walk") as record:
                candidates = rerank_by_walk(self.pack.graph_index, candidates, links, restart=walk.restart)
                record.scored = len(candidates)
                record.ranking = section_ids(candidates)
        exploration = None
        if multi_strategy.enabled:
            with trace.enhancement("multi_strategy") as record:
                exploration = self.explorer.explore(question, links, candidates, trace)
                # A model sorts out what bears on the question; without one only the facts that answer it do.
                candidates = promote_facts(candidates, exploration.facts if self._model else exploration.chain)
                record.scored = len(exploration.context.lines)
                record.ranking = section_ids(candidates)
                record.notes.update(
                    stop_reason=exploration.stop_reason,
                    iterations=exploration.iterations,
                    context=exploration.context.lines,
                    queries=list(exploration.queries),
                )
        return candidates, exploration

    @cached_property
    def explorer(self) -> Explorer:
        """Looks questions up in the graph."""
        from wikigr.retrieval.explore.explorer import Explorer

        return Explorer(self.pack, self.profile, self.linker, self._model, self.cypher_examples)

    def _rephrased(self, question: str, trace: Trace) -> list[str]:
        with trace.enhancement("multi_query") as record:
            if self._model is None:
                record.degrade("there is no model to rephrase the question with")
                return []
            from wikigr.retrieval.multi_query import rephrase

            wordings = rephrase(question, self._model, self.profile.synthesis.expansion_model)
            record.scored = len(wordings)
            record.notes["wordings"] = wordings
            return wordings
        return []

    def _rerank_by_graph(self, candidates: Sequence[Candidate], record: StageRecord) -> list[Candidate]:
        reranker = self.graph_reranker(record)
        record.scored = len(candidates)
        mixed = reranker.rerank(
            [{"title": c.title, "score": c.relevance, "candidate": c} for c in candidates], top_k=len(candidates)
        )
        return [
            replace(
                result["candidate"],
                score=result["score"],
                scores={**result["candidate"].scores, "relevance": result["candidate"].relevance},
            )
            for result in mixed
        ]

    @cached_property
    def linker(self) -> EntityLinker:
        """Links the names in a question to the pack's graph."""
        return EntityLinker(self.pack.graph_index, self.pack.lexical)

    def graph_reranker(self, record: StageRecord) -> GraphReranker:
        """Return the reranker with the pack's precomputed PageRank; ``record`` notes its weights and what is wrong."""
        record.warning = load_scores(self.pack, self.reranker) or ""
        record.notes.update(alpha=self.reranker.alpha, beta=self.reranker.beta)
        return self.reranker

    @cached_property
    def reranker(self) -> GraphReranker:
        """The graph reranker with the profile's weights."""
        options = self.profile.graph_reranker
        usual = tuning.graph_weights(self.pack.manifest.counts["articles"])
        return GraphReranker(
            self.pack.graph.connection,
            alpha=_or(options.alpha, usual.alpha),
            beta=_or(options.beta, usual.beta),
            cache_ttl=_or(options.cache_ttl, usual.cache_ttl),
        )

    def _cross_encode(
        self, question: str, candidates: Sequence[Candidate], top_k: int, trace: Trace
    ) -> list[Candidate]:
        """Return the best ``top_k`` of twice as many candidates by the cross-encoder; scores become probabilities."""
        with trace.enhancement("cross_encoder") as record:
            evidence = fetch(self.pack, candidates[: 2 * top_k])
            record.scored = len(evidence)
            if not self.cross_encoder.loaded:
                record.degrade(f"the model {self.cross_encoder.model_name} could not be loaded")
            else:
                results = self.cross_encoder.rerank(
                    question,
                    [{"content": e.section.content, "candidate": e.candidate} for e in evidence],
                    top_k=top_k,
                )
                best = [_with_score(result["candidate"], result["ce_score"]) for result in results]
                record.ranking = section_ids(best)
                return best
        return list(candidates)

    @cached_property
    def cross_encoder(self) -> CrossEncoderReranker:
        """The profile's cross-encoder, loaded on first use; offline it is not downloaded."""
        from wikigr.retrieval.rerankers.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(self.profile.cross_encoder.model, download=not self._offline)

    def _leave_out_stubs(self, question: str, evidence: list[Evidence], trace: Trace) -> list[Evidence]:
        with trace.stage("section_quality") as record:
            record.scored = len(evidence)
            threshold = self.profile.section_quality.threshold
            scores = {e.section.section_id: score_section_quality(e.section.content, question) for e in evidence}
            # A section that states a fact of the graph says enough.
            scores.update((e.section.section_id, 1.0) for e in evidence if "fact" in e.candidate.scores)
            kept = [item for item in evidence if scores[item.section.section_id] >= threshold]
            record.ranking = section_ids(item.candidate for item in kept or evidence)
            if not kept:
                # As in the reference, where the whole articles then take their place.
                record.notes["fallback"] = "every section scored below the threshold, so all were kept"
                return evidence
            record.dropped = {
                section_id: _below(score, threshold) for section_id, score in scores.items() if score < threshold
            }
            return kept


def _below(score: float, threshold: float) -> str:
    """Return in words that ``score`` is below ``threshold``, with as many digits as show it."""
    digits = next((n for n in range(2, 7) if f"{score:.{n}f}" != f"{threshold:.{n}f}"), 7)
    return f"quality {score:.{digits}f} below {threshold:.{digits}f}"


def _with_score(candidate: Candidate, ce_score: float) -> Candidate:
    probability = as_probability(ce_score)
    scores = {**candidate.scores, "cross_encoder": ce_score, "relevance": probability}
    return replace(candidate, score=probability, scores=scores)


def as_probability(ce_score: float) -> float:
    """Return a cross-encoder's score, a logit, as a probability: the same order on a scale of 0 to 1."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, ce_score))))


def _or(value: _Number | str, auto: _Number) -> _Number:
    """Return ``value``, or ``auto`` where the profile leaves it to us."""
    return auto if isinstance(value, str) else value

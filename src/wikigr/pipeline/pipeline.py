"""The one way from a question to evidence and an answer, as a profile says."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wikigr.agent.few_shot import FewShotManager
from wikigr.agent.multi_query import rephrase
from wikigr.agent.reranker import GraphReranker
from wikigr.agent.section_quality import score_section_quality
from wikigr.answer.abstention import NOT_COVERED, judge
from wikigr.answer.answer import Answer
from wikigr.answer.citations import Citation, verify
from wikigr.answer.extractive import as_text, quote
from wikigr.answer.facts import facts_among
from wikigr.answer.question_terms import read_question
from wikigr.answer.sentences import rank_sentences
from wikigr.answer.synthesis import (
    CitationStyle,
    Request,
    Writer,
    Written,
    build_request,
    own_knowledge_request,
)
from wikigr.errors import UsageError
from wikigr.llm.client import BadRequestError, BlockEnd, Claude, TextDelta
from wikigr.llm.usage import Usage
from wikigr.pack.open import Pack
from wikigr.pipeline import tuning
from wikigr.pipeline.pagerank_scores import load_scores
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.candidate import Candidate, Evidence
from wikigr.retrieval.documents import select_documents
from wikigr.retrieval.hybrid import checked_question, fetch, find_candidates
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.agent.cross_encoder import CrossEncoderReranker


# Entities listed for each cited article.
_MOST_ENTITIES = 20

_Number = TypeVar("_Number", int, float)


class Pipeline:
    """A pack asked as a profile says; made by ``pipeline.builder.build_pipeline``.

    A stage beyond plain retrieval that fails is left out: the trace then says so and ``trace.degraded`` is true.
    """

    def __init__(
        self, pack: Pack, profile: Profile, *, model: Claude | None = None, few_shot_path: Path | None = None
    ) -> None:
        self.pack = pack
        self.profile = profile
        self.model = model
        self.few_shot_path = few_shot_path

    def search(self, question: str, *, top_k: int, trace: Trace | None = None) -> list[Evidence]:
        """Return the best ``top_k`` sections, best first; raises ``UsageError`` for an empty question."""
        if top_k < 1:
            raise UsageError(f"top_k must be at least 1, not {top_k}.")
        trace = trace if trace is not None else Trace()
        return self._ranked(checked_question(question), top_k, trace)[:top_k]

    def answer(
        self,
        question: str,
        *,
        on_text: Callable[[str], None] | None = None,
        within: Collection[str] | None = None,
    ) -> Answer:
        """Answer ``question`` from the pack, or say that the pack does not cover it.

        ``within`` holds the titles of the articles to answer from, if not from all. ``on_text`` is handed the pieces
        of a model's answer as they come; they make up the answer's text. Raises ``UsageError`` for an empty question,
        ``CitationError`` when a quotation does not match the pack, and ``LlmError`` or ``BudgetError`` when a model
        is to write the answer and cannot.
        """
        question = checked_question(question)
        trace = Trace()
        before = self.model.usage if self.model else Usage()
        evidence = self.context(question, trace, within=within)
        with trace.stage("sentences") as record:
            ranked = rank_sentences(evidence, question, read_question(question, self.pack.lexical), self.pack.encoder)
            record.scored = len(ranked)
        with trace.stage("abstention") as record:
            confidence = judge(evidence, ranked, self.pack.manifest.thresholds)
            record.notes.update(confidence.parts)
        answer = Answer(
            question=question,
            text=NOT_COVERED,
            query_type="abstained",
            confidence=confidence.value,
            citations=(),
            evidence=tuple(evidence),
            sentences=tuple(ranked),
            trace=trace,
            profile=self.profile.name,
        )
        if not confidence.abstain:
            answer = self._synthesise(answer, on_text) if self.model else self._quote(answer)
        if answer.abstained and self.model and self.profile.synthesis.own_knowledge:
            answer = self._from_own_knowledge(answer)
        return replace(answer, usage=self.model.usage - before) if self.model else answer

    def request(self, question: str) -> Request:
        """Return what a model would be sent for ``question``, whether or not there is one; sends nothing."""
        question = checked_question(question)
        trace = Trace()
        return self._request(question, self.context(question, trace), self._citation_style(), trace)

    def _quote(self, answer: Answer) -> Answer:
        citations = quote(answer.sentences)
        self._verify(citations, answer.trace)
        return replace(answer, text=as_text(citations), query_type="extractive", citations=citations)

    def _verify(self, citations: Sequence[Citation], trace: Trace) -> None:
        """Check citations against the database, not against what this process already holds."""
        with trace.stage("citations") as record:
            record.scored = len(citations)
            verify(citations, self.pack.sections(list(dict.fromkeys(c.section_id for c in citations))))

    def _synthesise(self, answer: Answer, on_text: Callable[[str], None] | None) -> Answer:
        style = self._citation_style()
        try:
            written = self._write(answer, style, on_text)
        except BadRequestError as error:
            if style == "markers" or self.profile.synthesis.citations == "native":
                raise
            with answer.trace.stage("synthesis") as record:
                record.degrade(f"{error.message} The sections are sent again without search-result blocks.")
            written = self._write(answer, "markers", on_text)
        self._verify(written.citations, answer.trace)
        model = self.profile.synthesis.model
        if written.declined:
            return replace(answer, model=model)
        claims = len(written.citations) + len(written.unverified)
        held = len(written.citations) / claims if claims else 0.0
        return replace(
            answer,
            text=written.text,
            query_type="synthesis",
            confidence=answer.confidence * held,
            citations=written.citations,
            unverified=written.unverified,
            model=model,
        )

    def _write(self, answer: Answer, style: CitationStyle, on_text: Callable[[str], None] | None) -> Written:
        assert self.model is not None
        request = self._request(answer.question, answer.evidence, style, answer.trace)
        options = self.profile.synthesis
        with answer.trace.stage("synthesis") as record:
            writer = Writer(answer.evidence, style, on_text or _discard)
            record.scored = len(answer.evidence)
            record.notes.update(model=options.model, citations=style)
            fields: dict[str, Any] = {**request.to_dict(), "model": options.model, "max_tokens": options.max_tokens}
            if on_text is not None:
                reply = self.model.stream(**fields, on_event=writer.take)
            else:
                reply = self.model.complete(**fields)
                for block in reply.blocks:
                    writer.take(TextDelta(block.text))
                    writer.take(BlockEnd(block))
            if reply.stop_reason == "max_tokens":
                record.warning = f"the answer was cut at {options.max_tokens:,} tokens (synthesis.max_tokens)"
            elif reply.stop_reason == "refusal":
                record.warning = f"{options.model} refused to answer"
            written = writer.finish()
            if written.unverified:
                record.notes["unverified"] = len(written.unverified)
            return written

    def _request(self, question: str, evidence: Sequence[Evidence], style: CitationStyle, trace: Trace) -> Request:
        return build_request(question, evidence, style=style, examples=self._examples(question, trace))

    def _citation_style(self) -> CitationStyle:
        options = self.profile.synthesis
        if options.citations != "auto":
            return options.citations
        return "native" if options.model.startswith("claude") else "markers"

    def _examples(self, question: str, trace: Trace) -> str:
        """Return worked examples for the prompt; a pack without any is as good as one with."""
        if not self.profile.few_shot.enabled:
            return ""
        with trace.enhancement("few_shot") as record:
            try:
                manager = self._few_shot
            except FileNotFoundError:
                record.notes["examples"] = "the pack has none"
                return ""
            examples = manager.get_examples(question)
            record.scored = len(examples)
            return manager.format_for_prompt(examples)
        return ""

    @cached_property
    def _few_shot(self) -> FewShotManager:
        return FewShotManager(
            self.few_shot_path or self.pack.layout.root,
            num_examples=self.profile.few_shot.num_examples,
            encoder=self.pack.encoder,
        )

    def _from_own_knowledge(self, answer: Answer) -> Answer:
        assert self.model is not None
        options = self.profile.synthesis
        with answer.trace.stage("own_knowledge") as record:
            record.notes["model"] = options.model
            reply = self.model.complete(
                **own_knowledge_request(answer.question).to_dict(), model=options.model, max_tokens=options.max_tokens
            )
        text = f"{NOT_COVERED} From the memory of {options.model}, not from the pack: {reply.text.strip()}"
        return replace(answer, text=text, query_type="own_knowledge", confidence=0.0, model=options.model)

    def facts(self, answer: Answer) -> list[str]:
        """Return the statements in the evidence of ``answer``, in its order."""
        place = {item.section.section_id: n for n, item in enumerate(answer.evidence)}
        in_order = sorted(answer.sentences, key=lambda s: (place[s.section.section_id], s.start))
        return facts_among(sentence.text for sentence in in_order)

    def entities(self, answer: Answer) -> list[dict[str, str]]:
        """Return the entities of the articles that ``answer`` cites: ``name``, ``type`` and the ``article``."""
        query = (
            "MATCH (a:Article {title: $title})-[:HAS_ENTITY]->(e:Entity) "
            "RETURN e.name, e.type ORDER BY e.name LIMIT $limit"
        )
        return [
            {"name": name, "type": kind, "article": title}
            for title in answer.sources
            for name, kind in self.pack.graph.rows(query, {"title": title, "limit": _MOST_ENTITIES})
        ]

    def context(self, question: str, trace: Trace, *, within: Collection[str] | None = None) -> list[Evidence]:
        """Return the sections that an answer may rest on, best first; only of the articles ``within``, if given."""
        breadth = tuning.breadth(question)
        options = self.profile.multi_doc
        num_docs = 1 if not options.enabled else _or(options.num_docs, breadth.num_docs)
        max_sections = _or(options.max_sections, breadth.max_sections)
        # All sections, where the best ones may not be of the articles that are wanted.
        depth = 0 if within is None else self.pack.manifest.counts["sections"]
        candidates = self._candidates(question, trace, depth)
        if within is not None:
            wanted = {fold(title) for title in within}
            candidates = [candidate for candidate in candidates if fold(candidate.title) in wanted]
        if self.profile.cross_encoder.enabled:
            read = self._cross_encode(question, candidates, num_docs * max_sections, trace)
            candidates = [item.candidate for item in read]
        with trace.stage("documents") as record:
            floor = _or(options.min_relevance, tuning.min_relevance(self.pack.manifest.thresholds))
            selection = select_documents(
                candidates if options.enabled else [c for c in candidates if c.title == candidates[0].title],
                num_docs=num_docs,
                max_sections=max_sections,
                min_relevance=floor if options.enabled else 0.0,
            )
            record.scored = len(candidates)
            record.dropped = selection.dropped
        with trace.stage("fetch"):
            evidence = fetch(self.pack, selection.kept)
        if self.profile.section_quality.enabled:
            evidence = self._leave_out_stubs(question, evidence, trace)
        return evidence

    def _ranked(self, question: str, top_k: int, trace: Trace) -> list[Evidence]:
        candidates = self._candidates(question, trace, top_k)
        if self.profile.cross_encoder.enabled:
            return self._cross_encode(question, candidates, top_k, trace)
        with trace.stage("fetch"):
            return fetch(self.pack, candidates[:top_k])

    def _candidates(self, question: str, trace: Trace, depth: int) -> list[Candidate]:
        options = self.profile.retrieval
        wordings = [question]
        if options.multi_query:
            wordings += self._rephrased(question, trace)
        runs = [
            find_candidates(self.pack, wording, trace=trace, depth=depth, mode=options.mode, fusion=options.fusion)
            for wording in wordings
        ]
        candidates = runs[0] if len(runs) == 1 else _best_of(runs)
        if self.profile.graph_reranker.enabled and candidates:
            with trace.enhancement("graph_reranker") as record:
                candidates = self._rerank_by_graph(candidates, record)
        return candidates

    def _rephrased(self, question: str, trace: Trace) -> list[str]:
        with trace.enhancement("multi_query") as record:
            if self.model is None:
                record.degrade("there is no model to rephrase the question with")
                return []
            wordings = rephrase(question, self.model, self.profile.synthesis.expansion_model)
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

    def graph_reranker(self, record: StageRecord) -> GraphReranker:
        """Return the reranker with the profile's weights and the pack's precomputed PageRank; ``record`` notes both."""
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

    def _cross_encode(self, question: str, candidates: Sequence[Candidate], top_k: int, trace: Trace) -> list[Evidence]:
        """Return the best ``top_k`` of twice as many candidates by the cross-encoder; scores become probabilities."""
        with trace.stage("fetch"):
            evidence = fetch(self.pack, candidates[: 2 * top_k])
        with trace.enhancement("cross_encoder") as record:
            record.scored = len(evidence)
            if self.cross_encoder._model is None:
                record.degrade(f"the model {self.cross_encoder.model_name} could not be loaded")
            elif evidence:
                results = self.cross_encoder.rerank(
                    question, [{"content": item.section.content, "item": item} for item in evidence], top_k=top_k
                )
                return [_with_score(result["item"], result["ce_score"]) for result in results]
        return evidence[:top_k]

    @cached_property
    def cross_encoder(self) -> CrossEncoderReranker:
        """The profile's cross-encoder, loaded on first use; its ``_model`` is ``None`` when that failed."""
        from wikigr.agent.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(self.profile.cross_encoder.model)

    def _leave_out_stubs(self, question: str, evidence: list[Evidence], trace: Trace) -> list[Evidence]:
        with trace.stage("section_quality") as record:
            record.scored = len(evidence)
            threshold = self.profile.section_quality.threshold
            scores = {e.section.section_id: score_section_quality(e.section.content, question) for e in evidence}
            kept = [item for item in evidence if scores[item.section.section_id] >= threshold]
            if not kept:
                # As in the reference: when nothing passes, everything does.
                record.notes["fallback"] = "every section scored below the threshold, so all were kept"
                return evidence
            record.dropped = {
                section_id: f"quality {score:.2f} below {threshold:.2f}"
                for section_id, score in scores.items()
                if score < threshold
            }
            return kept


def _best_of(runs: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Return the sections of all ``runs``, each with its best score; best first, ties by section id."""
    best: dict[str, Candidate] = {}
    for run in runs:
        for candidate in run:
            known = best.get(candidate.section_id)
            if known is None or candidate.score > known.score:
                best[candidate.section_id] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.section_id))


def _discard(text: str) -> None:
    """Take the pieces of an answer that nobody watches."""


def _with_score(item: Evidence, logit: float) -> Evidence:
    probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))
    scores = {**item.candidate.scores, "cross_encoder": logit, "relevance": probability}
    return replace(item, candidate=replace(item.candidate, score=probability, scores=scores))


def _or(value: _Number | str, auto: _Number) -> _Number:
    """Return ``value``, or ``auto`` where the profile leaves it to us."""
    return auto if isinstance(value, str) else value

"""The one way from a question to evidence and an answer, as a profile says."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.answer.abstention import NOT_COVERED, facts_beside_question, judge
from wikigr.answer.answer import Answer
from wikigr.answer.citations import verify_against
from wikigr.answer.extractive import as_text, quote
from wikigr.answer.facts import facts_among
from wikigr.answer.sentences import rank_sentences, sentences_stating
from wikigr.index.candidate import Evidence
from wikigr.llm.usage import Usage
from wikigr.pack.open import Pack
from wikigr.pipeline.retriever import Context, Retriever
from wikigr.profiles.schema import Profile
from wikigr.retrieval.candidates import checked_question
from wikigr.retrieval.trace import Trace

if TYPE_CHECKING:
    from wikigr.answer.synthesis import Request
    from wikigr.llm.client import Claude
    from wikigr.pipeline.synthesizer import Synthesizer

# Entities listed for each cited article.
_MAX_ENTITIES = 20


class Pipeline:
    """A pack asked as a profile says; made by ``pipeline.builder.build_pipeline``.

    ``model`` is for this pipeline alone while it answers: an answer's usage is what ``model`` counted meanwhile.
    A stage beyond plain retrieval that fails is left out: the trace then says so and ``trace.degraded`` is true.
    """

    def __init__(
        self,
        pack: Pack,
        profile: Profile,
        *,
        model: Claude | None = None,
        few_shot_path: Path | None = None,
        offline: bool = False,
    ) -> None:
        self.pack = pack
        self.profile = profile
        self.model = model
        self.retriever = Retriever(pack, profile, model, offline=offline)
        self._few_shot_path = few_shot_path

    def search(self, question: str, *, top_k: int, trace: Trace | None = None) -> list[Evidence]:
        """Return the best ``top_k`` sections, best first; raises ``UsageError`` for an empty question."""
        return self.retriever.search(question, top_k=top_k, trace=trace if trace is not None else Trace())

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
        trace = Trace(clock=self.pack.clock)
        before = self.model.usage if self.model else Usage()
        context = self.retriever.context(question, trace, within=within)
        evidence = context.evidence
        with trace.stage("sentences") as record:
            ranked = rank_sentences(evidence, question, context.terms, self.pack.encoder, context.vector)
            record.scored = len(ranked)
            record.ranking = tuple(dict.fromkeys(sentence.section.section_id for sentence in ranked))
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
            ranking=context.ranking,
            sentences=tuple(ranked),
            trace=trace,
            profile=self.profile.name,
        )
        if context.exploration is not None:
            answer = replace(
                answer,
                graph_context=tuple(context.exploration.context.lines),
                cypher_query="\n".join(context.exploration.queries),
            )
        if not confidence.abstain:
            answer = self.synthesizer.write(answer, on_text) if self.model else self._quote(answer, context)
        if answer.abstained and self.model and self.profile.synthesis.own_knowledge:
            answer = self.synthesizer.from_own_knowledge(answer)
        return replace(answer, usage=self.model.usage - before) if self.model else answer

    def request(self, question: str, trace: Trace) -> Request:
        """Return what a model would be sent for ``question``, whether or not there is one; sends nothing."""
        question = checked_question(question)
        context = self.retriever.context(question, trace)
        lines = context.exploration.context.lines if context.exploration is not None else ()
        return self.synthesizer.request(question, context.evidence, trace, graph_context=lines)

    def _quote(self, answer: Answer, context: Context) -> Answer:
        exploration = context.exploration
        chain = exploration.chain if exploration is not None else ()
        # A way of which one step is not stated is no answer.
        stating = sentences_stating(chain, answer.sentences)
        citations = quote(answer.sentences, stating)
        if exploration is not None and not stating:
            cited = {(citation.section_id, citation.start) for citation in citations}
            sentences = [s for s in answer.sentences if (s.section.section_id, s.start) in cited]
            if facts_beside_question(sentences, context.terms):
                return replace(answer, confidence=0.0)
        verify_against(self.pack, citations, answer.trace)
        return replace(answer, text=as_text(citations), query_type="extractive", citations=citations)

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Writes answers with the model."""
        # Only with a model: without one a question need not wait for these modules.
        from wikigr.pipeline.synthesizer import Synthesizer

        return Synthesizer(self.pack, self.profile, self.model, self._few_shot_path)

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
            for name, kind in self.pack.graph.rows(query, {"title": title, "limit": _MAX_ENTITIES})
        ]

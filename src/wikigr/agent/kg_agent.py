"""``KnowledgeGraphAgent``: the documented API of the pipeline.

Specified by reference/phase1-enhancements.md and reference/retrieval-enhancements.md.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from wikigr.answer.few_shot import FewShotManager
from wikigr.answer.multi_doc_synthesis import MultiDocSynthesizer
from wikigr.embeddings.loader import EmbeddingGenerator
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.graph.engine import Graph
from wikigr.llm.model_client import ModelClient
from wikigr.llm.options import FewShotOptions, SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.connect import connect
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile
from wikigr.question.question import checked
from wikigr.rerankers.cross_encoder import (
    MS_MARCO,
    CrossEncoderOptions,
    CrossEncoderReranker,
    CrossEncoding,
)
from wikigr.rerankers.graph_reranker import GraphReranker, GraphRerankerOptions, GraphReranking
from wikigr.rerankers.section_quality import (
    CONTENT_QUALITY_THRESHOLD,
    SectionQualityOptions,
    score_section_quality,
)
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.retrieval.document_selection import MultiDocOptions, calibrated_min_relevance
from wikigr.retrieval.entity_linking import nearest_sections
from wikigr.retrieval.multi_query import best_by_title, rephrase
from wikigr.stop_words import STOP_WORDS

if TYPE_CHECKING:
    import anthropic

logger = logging.getLogger(__name__)


class KnowledgeGraphAgent:
    """Answers questions from a pack. Use it as a context manager, or ``close`` it.

    ``use_enhancements`` chooses between the profiles ``enhanced`` and ``baseline``. The ``enable_*`` flags of reranker,
    multi-document retrieval, few-shot examples and cross-encoder switch single enhancements and only apply with it;
    ``enable_multi_query``, which sends the first 500 characters of the question to the Anthropic API, always applies.
    Without a key (``anthropic_api_key`` or the environment) answers are quotations, and nothing leaves the machine.

    ``reranker``, ``few_shot`` and ``cross_encoder`` are the enhancements that ``query`` uses, each ``None`` if it is
    off. ``query`` selects documents from dense and lexical candidates; ``synthesizer`` is the documented selection by
    vectors alone, for callers of its ``retrieve``. ``cypher_examples`` are the patterns of ``cypher_pack_path``.
    """

    CONTENT_QUALITY_THRESHOLD: ClassVar[float] = CONTENT_QUALITY_THRESHOLD
    STOP_WORDS: ClassVar[frozenset[str]] = STOP_WORDS

    def __init__(
        self,
        db_path: str | Path | Pack,
        anthropic_api_key: str | None = None,
        read_only: bool = True,
        use_enhancements: bool = True,
        few_shot_path: str | None = None,
        enable_reranker: bool = True,
        enable_multidoc: bool = True,
        enable_fewshot: bool = True,
        enable_cross_encoder: bool = False,
        synthesis_model: str | None = None,
        cypher_pack_path: str | None = None,
        enable_multi_query: bool = False,
    ) -> None:
        """Open the pack that ``db_path`` (its database file, its folder or its name) belongs to, or use an open one.

        With ``read_only=False`` the engine writes to the file even if nothing changes, which ``wikigr pack validate``
        reports. Raises ``PackError`` when there is no such pack, and ``FileNotFoundError``, ``ValueError`` or
        ``json.JSONDecodeError`` for ``few_shot_path`` and ``cypher_pack_path`` as ``FewShotManager`` does.
        """
        self.pack = db_path if isinstance(db_path, Pack) else Pack(db_path, read_only=read_only)
        self.conn = self.pack.graph.connection
        self.use_enhancements = use_enhancements
        self.enable_reranker = use_enhancements and enable_reranker
        self.enable_multidoc = use_enhancements and enable_multidoc
        self.enable_fewshot = use_enhancements and enable_fewshot
        self.enable_cross_encoder = use_enhancements and enable_cross_encoder
        self.enable_multi_query = enable_multi_query
        self.profile = self._profile(synthesis_model)
        self.synthesis_model = self.profile[SynthesisOptions].model
        self._client: ModelClient | None = connect(self.profile, api_key=anthropic_api_key)
        examples = Path(few_shot_path) if few_shot_path else None
        self._pipeline = Pipeline(self.profile, self.pack, model=self._client, few_shot_path=examples)
        self._generator: EmbeddingGenerator | None = None
        self.cypher_pack_path = cypher_pack_path
        self.synthesizer: MultiDocSynthesizer | None = None
        self.cypher_examples: FewShotManager | None = None
        try:
            if self.enable_multidoc:
                threshold = calibrated_min_relevance(self.pack.manifest.thresholds)
                self.synthesizer = MultiDocSynthesizer(self.conn, min_relevance=threshold)
            if self.enable_fewshot and examples is not None:
                # A file that the caller named must be valid; the pack's own may be skipped with a warning.
                _ = self._pipeline.synthesizer.few_shot
            # Loaded now, so that a warning about it comes early.
            _ = self.cross_encoder
            if cypher_pack_path is not None:
                manager = self.cypher_examples = FewShotManager(cypher_pack_path, encoder=self.pack.encoder)
                self._pipeline.resources.cypher_examples = lambda question: manager.format_for_prompt(
                    manager.get_examples(question)
                )
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_connection(cls, conn: Any, **options: Any) -> Self:
        """Return an agent over an open connection to a pack's database. The caller closes the connection.

        ``options`` are those of the constructor except ``db_path`` and ``read_only``. Raises ``TypeError`` when
        ``conn`` is not a connection or an option is unknown, ``PackError`` when its database is not part of a pack.
        """
        graph = Graph.of(conn)
        if graph.path is None:
            raise PackError("The connection is to an in-memory database, which is not part of a pack.")
        return cls(Pack(graph.path, graph=graph), **options)

    @property
    def reranker(self) -> GraphReranker | None:
        """The graph reranker that ``query`` uses. Set it to replace it."""
        return self._pipeline.stage(GraphReranking).reranker if self.enable_reranker else None

    @reranker.setter
    def reranker(self, reranker: GraphReranker) -> None:
        self._pipeline.stage(GraphReranking).reranker = reranker

    @property
    def cross_encoder(self) -> CrossEncoderReranker | None:
        """The cross-encoder that ``query`` uses. Set it to replace it."""
        return self._pipeline.stage(CrossEncoding).reranker if self.enable_cross_encoder else None

    @cross_encoder.setter
    def cross_encoder(self, cross_encoder: CrossEncoderReranker) -> None:
        self._pipeline.stage(CrossEncoding).reranker = cross_encoder

    @property
    def few_shot(self) -> FewShotManager | None:
        """The worked examples that ``query`` shows a model, if there are any. Set it to replace them."""
        if not self.enable_fewshot:
            return None
        try:
            return self._pipeline.synthesizer.few_shot
        except (OSError, ValueError) as error:
            logger.warning("The pack's few-shot examples are skipped: %s", error)
            return None

    @few_shot.setter
    def few_shot(self, few_shot: FewShotManager) -> None:
        self._pipeline.synthesizer.few_shot = few_shot

    def _profile(self, synthesis_model: str | None) -> Profile:
        profile = load_profile("enhanced" if self.use_enhancements else "baseline")
        profile = (
            profile.override(GraphRerankerOptions, enabled=self.enable_reranker)
            .override(MultiDocOptions, enabled=self.enable_multidoc)
            .override(FewShotOptions, enabled=self.enable_fewshot)
            .override(CrossEncoderOptions, enabled=self.enable_cross_encoder, model=MS_MARCO)
            # Applies to every question (reference/retrieval-enhancements.md), with or without the enhancements.
            .override(SectionQualityOptions, enabled=True, threshold=self.CONTENT_QUALITY_THRESHOLD)
            .override(RetrievalOptions, multi_query=self.enable_multi_query)
        )
        if synthesis_model is not None:
            profile = profile.override(SynthesisOptions, model=synthesis_model)
        return profile

    def query(self, question: str, max_results: int = 10) -> dict[str, Any]:
        """Answer ``question``; ``max_results`` (at least 1) bounds the sources, entities and facts.

        The documented keys are ``answer``, ``sources``, ``entities``, ``facts``, ``cypher_query`` and ``query_type``.
        Further keys are ``citations``, ``confidence``, ``level``, ``degraded``, ``warnings`` and ``usage``. Raises
        ``UsageError`` for an empty question, ``LlmError`` or ``BudgetError`` when a model is to answer and cannot.
        """
        if max_results < 1:
            raise UsageError(f"max_results must be at least 1, not {max_results}.")
        answer = self._pipeline.answer(question)
        retrieved = list(dict.fromkeys(item.section.title for item in answer.evidence))
        return {
            "answer": answer.text,
            "sources": [] if answer.abstained else list(dict.fromkeys([*answer.sources, *retrieved]))[:max_results],
            "entities": self._pipeline.entities(answer)[:max_results],
            "facts": self._pipeline.facts(answer)[:max_results],
            "cypher_query": answer.cypher_query,
            "query_type": answer.query_type,
            "citations": [asdict(citation) for citation in answer.citations],
            "confidence": answer.confidence,
            "level": answer.level,
            "degraded": answer.trace.degraded,
            "warnings": answer.trace.warnings,
            "usage": answer.usage.to_dict(),
        }

    @property
    def token_usage(self) -> dict[str, Any]:
        """The usage of all model calls so far: tokens, calls, and US dollars (``None`` if unknown)."""
        from wikigr.llm.usage import Usage

        return (self._client.usage if self._client else Usage()).to_dict()

    @property
    def claude(self) -> anthropic.Anthropic | None:
        """The underlying Anthropic client, or ``None`` if no Claude answers. Calls through it are not counted."""
        from wikigr.llm.client import Claude

        return self._client.sdk if isinstance(self._client, Claude) else None

    def semantic_search(self, query: str, top_k: int = 5) -> list[dict[str, Any]]:
        """Return the ``top_k`` articles whose best section is nearest to ``query``, best first, ties by title.

        Each holds ``title``, ``similarity`` (cosine), and that section's ``section_id``, ``section`` and ``content``.
        """
        query = checked(query)
        if top_k < 1:
            raise UsageError(f"top_k must be at least 1, not {top_k}.")
        nearest = nearest_sections(query, self.pack, top_k)
        found = self.pack.sections([hit.section_id for hit in nearest])
        return [
            {
                "title": found[hit.section_id].title,
                "similarity": hit.score,
                "section_id": hit.section_id,
                "section": found[hit.section_id].heading,
                "content": found[hit.section_id].content,
            }
            for hit in nearest
        ]

    def _vector_primary_retrieve(self, question: str, max_results: int = 5) -> list[dict[str, Any]]:
        """Return articles as ``semantic_search`` does, for several wordings if ``enable_multi_query`` is set.

        With a cross-encoder, these are the best of twice as many by ``ce_score``.
        """
        wanted = max_results if self.cross_encoder is None else 2 * max_results
        search = self._multi_query_retrieve if self.enable_multi_query else self.semantic_search
        results = search(question, wanted)
        if self.cross_encoder is not None:
            results = self.cross_encoder.rerank(question, results, top_k=max_results)
        return results[:max_results]

    def _multi_query_retrieve(self, question: str, max_results: int = 5) -> list[dict[str, Any]]:
        """Return the articles found for ``question`` and two other wordings of it, each with its best similarity.

        ``max_results`` is clipped to [1, 20] and applies to each wording. If the question cannot be rephrased, only
        the question itself is searched for, with a warning.
        """
        limit = min(20, max(1, max_results))
        wordings = [question]
        try:
            if self._client is None:
                raise UsageError("there is no API key")
            wordings += rephrase(question, self._client, self.profile[SynthesisOptions].expansion_model)
        except WikigrError as error:
            logger.warning("The question could not be rephrased: %s. Only the question itself is searched for.", error)
        return best_by_title(self.semantic_search(wording, top_k=limit) for wording in wordings)

    def _score_section_quality(self, content: str, question: str) -> float:
        return score_section_quality(content, question)

    def _fetch_source_text(
        self, source_titles: Sequence[str], max_articles: int = 5, question: str | None = None
    ) -> str:
        """Return the sections of the first ``max_articles`` articles as one text.

        With ``question``, sections that score below ``CONTENT_QUALITY_THRESHOLD`` are dropped; if none is left,
        the whole articles are returned.
        """
        texts: list[str] = []
        query = (
            "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) "
            "RETURN s.title, s.content ORDER BY s.position"
        )
        titles = [title for name in source_titles[:max_articles] if (title := self.pack.find_title(name))]
        for title in titles:
            kept = [
                f"### {heading}\n{content}"
                for heading, content in self.pack.graph.rows(query, {"title": title})
                if question is None or self._score_section_quality(content, question) >= self.CONTENT_QUALITY_THRESHOLD
            ]
            if kept:
                texts.append("\n\n".join([f"## {title}", *kept]))
        whole = ((title, self.pack.text_of(title)) for title in titles)
        return "\n\n".join(texts or [f"## {title}\n\n{content}" for title, content in whole if content])

    def _build_synthesis_context(self, question: str, kg_results: Mapping[str, Any]) -> str:
        """Return the context for an answer to ``question``: sources, entities, facts and source text.

        ``kg_results`` holds ``sources`` (titles) and optionally ``entities`` and ``facts``, as ``query`` returns them.
        """
        sources = [str(title) for title in kg_results.get("sources", [])]
        entities = [name for entity in kg_results.get("entities", []) if (name := str(entity.get("name", "")))]
        facts = [f"- {fact}" for fact in kg_results.get("facts", [])]
        parts = [
            f"Sources: {', '.join(sources)}" if sources else "",
            f"Entities: {', '.join(entities)}" if entities else "",
            "\n".join(["Facts:", *facts]) if facts else "",
            self._fetch_source_text(sources, question=question),
        ]
        return "\n\n".join(filter(None, parts))

    def _synthesize_answer(
        self,
        question: str,
        kg_results: Mapping[str, Any],
        query_plan: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the text of an answer to ``question`` from the articles in ``kg_results["sources"]``.

        ``query_plan`` is part of the documented signature and is not used.
        """
        titles = [str(title) for title in kg_results.get("sources", [])]
        return self._pipeline.answer(question, within=titles).text

    def _get_embedding_generator(self) -> EmbeddingGenerator:
        """Return the generator for the pack's encoder."""
        if self._generator is None:
            self._generator = EmbeddingGenerator.of(self.pack.encoder)
        return self._generator

    def close(self) -> None:
        """Close the pack and the connections to a model. A connection that the caller opened stays open."""
        if self._client is not None:
            self._client.close()
        self.pack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""From a question to evidence and an answer, by the stages that a profile enables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wikigr.answer.abstention import NOT_A_QUESTION, NOT_COVERED
from wikigr.answer.answer import ABSTAINED, SYNTHESIS, Answer
from wikigr.answer.citations import Citation
from wikigr.answer.extractive import ExtractiveOptions, with_passages
from wikigr.answer.stages import Draft
from wikigr.errors import UsageError
from wikigr.graph.schema import article_title
from wikigr.graph_search.explore.options import MultiStrategyOptions
from wikigr.index.candidate import Evidence
from wikigr.llm.options import FewShotOptions, ModelFileOptions, SynthesisOptions
from wikigr.llm.usage import Usage
from wikigr.pack.open import Corpus
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.stages import ANSWER_STAGES, RETRIEVAL_STAGES, Stage
from wikigr.pipeline.strategies import STRATEGIES, Writers
from wikigr.question.dates import with_dates
from wikigr.question.intent import asks_nothing
from wikigr.question.question import Question, analyze, checked
from wikigr.question.spelling import corrected
from wikigr.reader.passage import BASE, ReaderOptions
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.candidates import Fetch, RetrievalOptions, search_depth
from wikigr.retrieval.document_selection import MultiDocOptions
from wikigr.retrieval.entity_linking import replace_aliases
from wikigr.retrieval.state import PipelineStage, Resources, State, encodes_its_language
from wikigr.retrieval.trace import Trace
from wikigr.segmentation import facts_among
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.answer.requests import Request
    from wikigr.answer.synthesizer import Synthesizer
    from wikigr.llm.model_client import ModelClient

# The name in traces of the replacement of aliases by titles.
_ALIASES = "aliases"

_Stage = TypeVar("_Stage", bound=PipelineStage[Any, Any])
_State = TypeVar("_State", State, Draft)


class Pipeline:
    """A pack that answers as a profile says.

    Without ``model`` (see ``connect``) answers are quotations, and the question stays on this machine. ``model`` must
    not be used by others while the pipeline answers: the usage of an answer is what ``model`` counts in that time.
    ``few_shot_path`` is a file of worked examples that replaces the pack's own. ``offline`` forbids all use of the
    network, also to download a cross-encoder. The reader reads English: packs in other languages are answered without
    it. ``today`` is the day from which "yesterday" and "this week" count, by default that of the clock. If an optional
    stage fails, it is skipped; the trace says so and ``trace.degraded`` is true.
    """

    def __init__(
        self,
        profile: Profile,
        pack: Corpus,
        *,
        model: ModelClient | None = None,
        few_shot_path: Path | None = None,
        offline: bool = False,
        today: date | None = None,
    ) -> None:
        """Raises ``ValueError`` if ``offline`` is set although ``model`` is on a server.

        Raises ``UsageError`` for several packs with a profile that enables ``multi_strategy``.
        """
        if offline and model is not None and not model.runs_here:
            raise ValueError("a pipeline that is offline cannot have a model on a server")
        if len(pack.members) > 1 and profile[MultiStrategyOptions].enabled:
            raise UsageError(
                f"The profile {profile.name} searches the graph of one pack, not of {len(pack.members)}.",
                hint="Give one pack, or turn multi_strategy off.",
            )
        if not pack.language.is_english:
            # Without the reader, and without vectors of an encoder that knows English only.
            profile = profile.override(ReaderOptions, enabled=False)
            if not encodes_its_language(pack) and profile[RetrievalOptions].mode == "hybrid":
                profile = profile.override(RetrievalOptions, mode="lexical")
        self.pack = pack
        self.profile = profile
        self.today = today
        self.model = model
        self.resources = Resources(
            pack, model, profile[SynthesisOptions], profile[ReaderOptions], offline, search=self._search_in_one_hop
        )
        self._writers = Writers(
            self.resources,
            profile[FewShotOptions],
            profile[ExtractiveOptions],
            profile[ModelFileOptions],
            few_shot_path,
        )
        self._stages: dict[type[PipelineStage[Any, Any]], PipelineStage[Any, Any]] = {}

    def stage(self, kind: type[_Stage]) -> _Stage:
        """Return this pipeline's stage of class ``kind``, whether or not the profile enables it."""
        if kind not in self._stages:
            options = next(stage.options for stage in (*RETRIEVAL_STAGES, *ANSWER_STAGES) if stage.run is kind)
            self._stages[kind] = kind(self.resources, self.profile[options])
        stage = self._stages[kind]
        assert isinstance(stage, kind)
        return stage

    def search(self, question: str, *, top_k: int, trace: Trace | None = None) -> list[Evidence]:
        """Return the best ``top_k`` sections, best first; raises the errors of ``checked``."""
        if top_k < 1:
            raise UsageError(f"top_k must be at least 1, not {top_k}.")
        trace = trace if trace is not None else Trace()
        state = self._start(self._analyze(question, trace), limit=top_k, depth=search_depth(top_k))
        state = self._run((stage for stage in RETRIEVAL_STAGES if not stage.reads), state, trace)
        state = replace(state, selected=state.candidates[:top_k])
        found = self._run((stage for stage in RETRIEVAL_STAGES if stage.run is Fetch), state, trace).evidence
        return list(self._with_urls(found))

    def retrieve(self, question: str, trace: Trace, *, within: Collection[str] | None = None) -> State:
        """Return what retrieval finds for an answer to ``question``.

        ``within`` are the titles of the articles to which it is restricted, if any. Raises ``UsageError`` for an empty
        question.
        """
        return self._run(RETRIEVAL_STAGES, self._start_to_read(question, trace, within), trace)

    def read(self, state: State, trace: Trace) -> Draft:
        """Return the possible answers in what was retrieved."""
        return self._run(ANSWER_STAGES, Draft(state), trace)

    def answer(
        self,
        question: str,
        *,
        on_text: Callable[[str], None] | None = None,
        on_offline: Callable[[Answer], None] | None = None,
        within: Collection[str] | None = None,
        trace: Trace | None = None,
    ) -> Answer:
        """Answer ``question`` from the pack, or say that the pack does not cover it.

        ``within`` restricts the answer to the articles of these titles. ``on_offline`` receives the answer without the
        model before the model is asked, and ``on_text`` the pieces of what the model writes as they arrive. Together
        they are the text of the answer, or of what is rejected. ``trace`` records the stages. Raises
        ``UsageError`` for an empty question, ``WikigrError`` when a quotation does not match the pack, and
        ``LlmError`` or ``BudgetError`` when a model is to write the answer and cannot.
        """
        if self.pack.preloads and self.profile[ReaderOptions].enabled:
            self.pack.start_reader()
            if self.profile[ReaderOptions].use == BASE:
                self.pack.start_base_reader()
        trace = trace if trace is not None else Trace(clock=self.pack.clock)
        before = self.model.usage if self.model else Usage()
        question = checked(question)
        if asks_nothing(question, self.pack.language):
            return Answer(
                question=question,
                text=NOT_A_QUESTION,
                query_type=ABSTAINED,
                confidence=0.0,
                trace=trace,
                profile=self.profile.name,
            )
        draft, understood, trace = self._read_as_meant(question, trace, within)
        answer = replace(self._abstention(draft, trace), question=question, understood=understood)
        for strategy in STRATEGIES:
            if strategy.applies(self.resources, draft, answer):
                if strategy.query_type == SYNTHESIS and on_offline is not None:
                    on_offline(self._with_addresses(answer))
                answer = strategy.write(self._writers, draft, answer, on_text)
        if answer.abstained and not answer.alternatives:
            answer = with_passages(self.pack, draft, answer)
        answer = self._with_addresses(answer)
        return replace(answer, usage=self.model.usage - before) if self.model else answer

    def _read_as_meant(self, question: str, trace: Trace, within: Collection[str] | None) -> tuple[Draft, str, Trace]:
        """Return what was read for ``question``, how it was understood if otherwise than as typed, and the trace.

        Words that the pack does not know are corrected if that gives an answer that is likelier to be right.
        """
        meant = question
        if self.pack.language.is_english:
            meant = with_dates(question, self._today())
        draft = self.read(self.retrieve(meant, trace, within=within), trace)
        spelled = corrected(meant, self.pack.lexical, self._is_word, self._is_written)
        if spelled != meant:
            other_trace = Trace(clock=trace.clock, on_stage=trace.on_stage)
            other = self.read(self.retrieve(spelled, other_trace, within=within), other_trace)
            if other.confidence.value > draft.confidence.value:
                return other, spelled, other_trace
        return draft, meant if meant != question else "", trace

    def _today(self) -> date:
        return self.today if self.today is not None else date.today()

    def _is_word(self, word: str) -> bool:
        """Return whether the reader knows ``word``; it reads English only."""
        try:
            return self.pack.language.is_english and self.pack.reader.knows(word)
        except NoReaderError:
            return False

    def _is_written(self, word: str) -> bool:
        """Return whether one of the sections that have the stem of ``word`` has the word, or its plural."""
        # A corrected word is looked for in the first twenty sections.
        found = self.pack.sections([hit.section_id for hit in self.pack.lexical.search(word, 20)])
        written = re.compile(rf"(?<!\w){re.escape(word)}(?:s|es)?(?!\w)", re.IGNORECASE)
        return any(written.search(f"{s.title}\n{s.heading}\n{s.content}") for s in found.values())

    def request(self, question: str, trace: Trace) -> Request:
        """Return what a model would be sent for ``question``, whether or not there is one; sends nothing."""
        return self.synthesizer.request(self.read(self.retrieve(question, trace), trace), trace)

    @property
    def synthesizer(self) -> Synthesizer:
        """Writes answers with the model."""
        return self._writers.synthesizer

    def facts(self, answer: Answer) -> list[str]:
        """Return the statements in the evidence of ``answer``, in its order, or the cited ones if it was not read."""
        if not answer.sentences:
            return facts_among(citation.quote for citation in answer.citations)
        place = {item.section.section_id: n for n, item in enumerate(answer.evidence)}
        in_order = sorted(answer.sentences, key=lambda s: (place[s.section.section_id], s.start))
        return facts_among(sentence.text for sentence in in_order)

    def entities(self, answer: Answer) -> list[dict[str, str]]:
        """Return the entities of the articles that ``answer`` cites: ``name``, ``type`` and the ``article``."""
        query = (
            "MATCH (a:Article {title: $title})-[:HAS_ENTITY]->(e:Entity) "
            "RETURN e.name, e.type ORDER BY e.name LIMIT $limit"
        )
        cited: dict[str, Citation] = {}
        for citation in answer.citations:
            cited.setdefault(article_title(citation.section_id), citation)
        return [
            {"name": name, "type": kind, "article": citation.title}
            for citation in cited.values()
            for name, kind in self.pack.origin(citation.section_id)[0].graph.rows(
                query, {"title": citation.title, "limit": 20}
            )
        ]

    def _with_addresses(self, answer: Answer) -> Answer:
        """Return ``answer`` with the addresses of its sections and citations."""
        rejected = answer.rejected
        return replace(
            answer,
            citations=self._cited_urls(answer.citations),
            alternatives=tuple(replace(o, citations=self._cited_urls(o.citations)) for o in answer.alternatives),
            rejected=None if rejected is None else replace(rejected, citations=self._cited_urls(rejected.citations)),
            evidence=self._with_urls(answer.evidence),
        )

    def _with_urls(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        urls = self.pack.urls_of(item.section.section_id for item in evidence)
        return tuple(replace(item, url=urls[item.section.section_id]) for item in evidence)

    def _cited_urls(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        urls = self.pack.urls_of(citation.section_id for citation in citations)
        return tuple(replace(citation, url=urls[citation.section_id]) for citation in citations)

    def _search_in_one_hop(self, question: str) -> State:
        """Return what retrieval finds for a question that a stage asks."""
        stages = (stage for stage in RETRIEVAL_STAGES if not stage.asks)
        trace = Trace(clock=self.pack.clock)
        return self._run(stages, self._start_to_read(question, trace), trace)

    def _analyze(self, question: str, trace: Trace) -> Question:
        text = asked = checked(question)
        if self.pack.manifest.counts.get("aliases"):
            with trace.enhancement(_ALIASES) as record:
                text = replace_aliases(text, self.resources.linker, self.pack.text_of)
                if text != asked:
                    record.notes["understood"] = text
        analyzed = analyze(text, self.pack.lexical, lambda texts: self.pack.encoder.encode(texts))
        return replace(analyzed, asked="" if text == asked else asked, today=self._today())

    def _start_to_read(self, question: str, trace: Trace, within: Collection[str] | None = None) -> State:
        """Return the state before retrieval of what is to be read for an answer to ``question``."""
        analyzed = self._analyze(question, trace)
        options = self.profile[MultiDocOptions]
        limit = options.articles_for(analyzed) * options.sections_for(analyzed)
        # If retrieval is restricted to some articles, every section is a candidate: the best ones may be in other
        # articles.
        depth = 0 if within is None else self.pack.manifest.counts["sections"]
        return self._start(analyzed, limit=limit, depth=search_depth(depth), within=within)

    def _start(self, question: Question, *, limit: int, depth: int, within: Collection[str] | None = None) -> State:
        titles = frozenset(map(fold, within)) if within is not None else None
        return State(question, limit, depth, titles, wordings=(question,))

    def _run(self, stages: Iterable[Stage], state: _State, trace: Trace) -> _State:
        for row in stages:
            if not row.applies_to(self.profile):
                continue
            stage = self.stage(row.run)
            if not stage.applies(state):
                continue
            with row.traced(trace) as record:
                state = stage.run(state, record, trace)
        return state

    def _abstention(self, draft: Draft, trace: Trace) -> Answer:
        """Return the answer before any strategy has written it."""
        state, missing = draft.state, draft.confidence.missing
        answer = Answer(
            question=state.question.asked or state.question.text,
            text=f"{NOT_COVERED} It says nothing of {missing}." if missing else NOT_COVERED,
            query_type=ABSTAINED,
            confidence=draft.confidence.value,
            evidence=state.evidence,
            ranking=state.candidates,
            sentences=draft.sentences,
            trace=trace,
            profile=self.profile.name,
            reader=draft.reader,
        )
        if state.exploration is None:
            return answer
        return replace(
            answer,
            graph_context=tuple(state.exploration.context.lines),
            cypher_query="\n".join(state.exploration.queries),
        )

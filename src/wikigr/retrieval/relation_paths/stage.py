"""The stage that follows the relation path that a question describes, in packs made of triples."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from wikigr.index.candidate import FACT, RELEVANCE, Candidate, section_ids
from wikigr.retrieval.candidates import fetch
from wikigr.retrieval.relation_paths.options import RelationPathsOptions
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.sources.formats import FORMATS, LinkTarget

if TYPE_CHECKING:
    from wikigr.retrieval.relation_paths.path_search import FoundPath, PathSearch

# Formats whose packs are made of triples.
_OF_TRIPLES = frozenset(row.name for row in FORMATS if row.links is LinkTarget.NODE)
# Paths that are recorded for ``--explain``, the best one first.
_MAX_SHOWN = 6
# Looking for paths ends after this time, whatever the graph; most questions take a few milliseconds.
_MAX_SECONDS = 5.0


class RelationPaths(RetrievalStage[RelationPathsOptions]):
    """Find the path of up to three relations that explains the question best, and the sections that state it.

    A path that explains too little of the question is recorded and not followed; the text is searched instead.
    """

    name = "relation_paths"
    needs_candidates = False
    leaves_articles = True

    def applies(self, state: State) -> bool:
        # A model decides by itself what it needs.
        is_graph = self.resources.pack.manifest.source.get("format") in _OF_TRIPLES
        return is_graph and self.resources.model is None and super().applies(state)

    @cached_property
    def search(self) -> PathSearch:
        """Searches the pack's facts; imported and read on first use, because most packs need none of it."""
        from wikigr.graph.fact_graph import read_facts
        from wikigr.retrieval.relation_paths.path_search import PathSearch

        pack = self.resources.pack
        return PathSearch(read_facts(pack.graph), pack.graph_index, lambda texts: pack.encoder.encode(texts))

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        from wikigr.embeddings.weights import DEFAULT_WEIGHTS_SHA256

        if self.resources.pack.encoder.identity.weights_sha256 != DEFAULT_WEIGHTS_SHA256:
            record.notes["skipped"] = "words are matched with relations by the default encoder's vectors"
            return state
        search = self.search.find(state.question.text, seconds=_MAX_SECONDS, most=_MAX_SHOWN)
        found = search.paths
        if search.out_of_time:
            # Another machine, or the same one when it is less busy, may find another answer.
            record.degraded = True
            record.warning = f"Not all paths were tried: the limit of {_MAX_SECONDS:g} s passed."
        record.scored = len(found)
        record.notes["paths"] = [self.search.describe(path) for path in found]
        state = replace(state, searched_paths=True)
        if not found or not found[0].is_explained:
            record.notes["outcome"] = "no path explains the question"
            return state
        candidates = self._candidates(found[0])
        record.ranking = section_ids(candidates)
        evidence = tuple(fetch(self.resources.pack, candidates))
        facts = self.search.facts_of(found[0], self.options.max_answers)
        return replace(state, candidates=candidates, selected=candidates, evidence=evidence, answers=facts)

    def _candidates(self, path: FoundPath) -> tuple[Candidate, ...]:
        """Return the sections that state the facts of the first answers, in their order."""
        links = [link for chain in path.chains[: self.options.max_answers] for link in chain]
        sections = dict.fromkeys(self.search.facts.section_of(link.row) for link in links)
        return tuple(
            Candidate(section, 1.0 + 1.0 / rank, {RELEVANCE: path.explained, FACT: float(rank)})
            for rank, section in enumerate(filter(None, sections), start=1)
        )

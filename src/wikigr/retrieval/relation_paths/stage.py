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
    from wikigr.pack.open import Pack
    from wikigr.retrieval.relation_paths.path_search import FoundPath, PathSearch
    from wikigr.retrieval.relation_paths.topics import TopicFinder

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
        return bool(self._of_triples) and self.resources.model is None and super().applies(state)

    @cached_property
    def _of_triples(self) -> tuple[Pack, ...]:
        """The packs that are made of triples."""
        return tuple(m for m in self.resources.pack.members if m.manifest.source.get("format") in _OF_TRIPLES)

    @cached_property
    def _searches(self) -> dict[Pack, PathSearch]:
        """Search the facts of each pack; imported and read on first use, because most packs need none of it."""
        from wikigr.graph.fact_graph import read_facts
        from wikigr.retrieval.relation_paths.path_search import PathSearch

        usable = (pack for pack in self._of_triples if _has_default_encoder(pack))
        return {pack: PathSearch(read_facts(pack.graph), pack.encoder) for pack in usable}

    @cached_property
    def _topics(self) -> dict[Pack, TopicFinder]:
        from wikigr.retrieval.relation_paths.topics import TopicFinder

        return {pack: TopicFinder(search.facts, pack.graph_index) for pack, search in self._searches.items()}

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        if not self._searches:
            record.notes["skipped"] = "words are matched with relations by the default encoder's vectors"
            return state
        text = state.question.text
        results = {
            pack: search.find(text, self._topics[pack].find(text), seconds=_MAX_SECONDS, most=_MAX_SHOWN)
            for pack, search in self._searches.items()
        }
        if any(result.out_of_time for result in results.values()):
            record.run_out_of_time(f"Not all paths were tried: the limit of {_MAX_SECONDS:g} s passed.")
        pack = max(results, key=lambda pack: results[pack].paths[0].explained if results[pack].paths else -1.0)
        search, found = self._searches[pack], results[pack].paths
        record.scored = len(found)
        record.notes["paths"] = [search.describe(path) for path in found]
        state = replace(state, searched_paths=True)
        if not found or not found[0].is_explained:
            record.notes["outcome"] = "no path explains the question"
            return state
        candidates = self._candidates(pack, found[0])
        record.ranking = section_ids(candidates)
        evidence = tuple(fetch(self.resources.pack, candidates))
        facts = search.facts_of(found[0], self.options.max_answers)
        chains = tuple(tuple(replace(f, section_id=self._id_of(pack, f.section_id)) for f in c) for c in facts.chains)
        answers = replace(facts, chains=chains)
        return replace(state, candidates=candidates, selected=candidates, evidence=evidence, answers=answers)

    def _id_of(self, pack: Pack, section_id: str) -> str:
        return self.resources.pack.id_of(pack, section_id)

    def _candidates(self, pack: Pack, path: FoundPath) -> tuple[Candidate, ...]:
        """Return the sections that state the facts of the first answers, in their order."""
        links = [link for chain in path.chains[: self.options.max_answers] for link in chain]
        sections = dict.fromkeys(self._searches[pack].facts.section_of(link.row) for link in links)
        return tuple(
            Candidate(self._id_of(pack, section), 1.0 + 1.0 / rank, {RELEVANCE: path.explained, FACT: float(rank)})
            for rank, section in enumerate(filter(None, sections), start=1)
        )


def _has_default_encoder(pack: Pack) -> bool:
    from wikigr.embeddings.published import DEFAULT_WEIGHTS_SHA256

    return pack.encoder.identity.weights_sha256 == DEFAULT_WEIGHTS_SHA256

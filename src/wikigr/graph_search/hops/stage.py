"""The stage that follows what a question describes to what it asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

from wikigr.graph_search.hops.chain_search import ChainSearch, HopsOptions, Search
from wikigr.graph_search.hops.one_hop import known_names, read_question
from wikigr.index.candidate import HOPS, RELEVANCE, Candidate, section_ids
from wikigr.question.comparison import compare, decompose_choice
from wikigr.question.decomposition import decompose
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.candidates import fetch
from wikigr.retrieval.chain import Chain
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace

# Of a section's score: the weight of a rank in a further search, and that of the probability of a chain, relative to
# the first rank for the question itself. Chosen on MuSiQue; recall changes little between half and twice as much.
_SEARCH_WEIGHT = 0.75
_CHAIN_WEIGHT = 2.0
# A section's score for its rank among the results of one search is (1 + _RANK_OFFSET) / (rank + _RANK_OFFSET).
_RANK_OFFSET = 4


class Hops(RetrievalStage[HopsOptions]):
    """Find chains of hops, and rank the sections by the best place that they have in any of the searches."""

    name = "hops"
    leaves_articles = True

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        record.ranking = section_ids(state.candidates)
        text = state.question.text
        comparison, choice = compare(text), decompose_choice(text)
        decompositions = (choice,) if choice is not None else decompose(text)
        if comparison is None and not decompositions:
            record.notes["skipped"] = "the question describes and compares nothing"
            return state
        pack, reading, asked = self.resources.pack, self.resources.reading, state.question
        best = (
            [item.section for item in fetch(pack, state.candidates[:5], state.sections)] if comparison is None else []
        )
        # A question needs no hop if one of the best sections holds its terms to this share, by weight.
        if any(asked.coverage({*asked.stems(s.title), *asked.stems(s.content)}) >= 0.95 for s in best):
            record.notes["skipped"] = "one section says all that the question does"
            return state
        try:
            reader = pack.reader
        except NoReaderError as error:
            self.resources.skip_without_reader(record, error)
            return state
        # Several questions find the same sentences.
        find_names = cache(partial(known_names, self.resources))
        read = partial(read_question, resources=self.resources, reader=reader, options=reading, find_names=find_names)
        search = ChainSearch(read, self.options, pack.clock)
        chains = search.chains(comparison, decompositions)
        candidates = rank_by_searches(state.candidates, search.searches.values(), chains)
        record.scored = len(search.searches)
        record.ranking = section_ids(candidates)
        record.notes["questions"] = list(search.searches)
        record.notes["chains"] = [f"{chain} ({chain.strength:.2f})" for chain in chains]
        record.notes["out_of_questions"] = search.out_of_questions
        if search.out_of_time:
            record.run_out_of_time(
                f"Not all hops were tried: the limit of {self.options.seconds:g} s (hops.seconds) passed."
            )
        return replace(state, candidates=tuple(candidates), chains=chains)


def rank_by_searches(
    candidates: Sequence[Candidate], searches: Iterable[Search], chains: Sequence[Chain]
) -> list[Candidate]:
    """Merge ``candidates`` (best first) with those of further ``searches``.

    A section counts by the best place that it has in any of them, times the weight of the search, and by the
    probability of the best chain in which it was read. Ties break by section id. Scores lie in [0, 1].
    """
    scores: dict[str, float] = {}
    known: dict[str, Candidate] = {}
    further = ((search.candidates, _SEARCH_WEIGHT * search.weight) for search in searches)
    for found, weight in ((candidates, 1.0), *further):
        for rank, candidate in enumerate(found, start=1):
            key = candidate.section_id
            scores[key] = max(scores.get(key, 0.0), weight * (1 + _RANK_OFFSET) / (rank + _RANK_OFFSET))
            before = known.setdefault(key, candidate)
            if candidate.relevance > before.relevance:
                known[key] = candidate
    read: dict[str, float] = {}
    for chain in chains:
        for hop in chain.hops:
            key = hop.section.section_id
            read[key] = max(read.get(key, 0.0), chain.probability)
    merged = []
    for key, candidate in known.items():
        in_chain = read.get(key, 0.0)
        score = (scores[key] + _CHAIN_WEIGHT * in_chain) / (1.0 + _CHAIN_WEIGHT)
        values = {**candidate.scores, RELEVANCE: candidate.relevance, HOPS: in_chain}
        merged.append(replace(candidate, score=score, scores=values))
    return sorted(merged, key=lambda candidate: (-candidate.score, candidate.section_id))

"""The stage that follows the relation path that a question describes, in packs made of triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar

from wikigr.embeddings.model_id import DEFAULT_WEIGHTS_SHA256
from wikigr.index.candidate import FACT, RELEVANCE, Candidate, section_ids
from wikigr.options import Options, Positive
from wikigr.question.decomposition import two_parts
from wikigr.question.intent import asks_yes_no
from wikigr.retrieval.candidates import fetch
from wikigr.retrieval.chain import PathAnswers
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace
from wikigr.sources.formats import FORMATS, LinkTarget

if TYPE_CHECKING:
    from wikigr.graph_search.relation_paths.path_search import FoundPath, PathSearch
    from wikigr.graph_search.relation_paths.topics import TopicFinder
    from wikigr.pack.open import Pack


@dataclass(frozen=True, slots=True)
class RelationPathsOptions(Options):
    """Answering along relations from the thing that the question names; only in packs made of triples."""

    section: ClassVar[str] = "relation_paths"

    enabled: Annotated[bool, "in packs made of triples, answer along the relations that the question describes"] = True
    max_answers: Annotated[Positive, "answers to list; the total is always given"] = 30


# Formats whose packs are made of triples.
_OF_TRIPLES = frozenset(row.name for row in FORMATS if row.links is LinkTarget.NODE)
# Looking for paths ends after this time, whatever the graph; most questions take a few milliseconds.
_MAX_SECONDS = 5.0


class RelationPaths(RetrievalStage[RelationPathsOptions]):
    """Find the paths of up to three relations that explain the question best, and the sections that state them.

    A path that explains too little of the question is recorded and not followed; the text is searched instead. A
    question with two parts needs a path for each.
    """

    name = "relation_paths"
    needs_candidates = False
    leaves_articles = True

    def applies(self, state: State) -> bool:
        # A path leads to what is asked for, and says neither yes nor no.
        return bool(self._of_triples) and not asks_yes_no(state.question) and super().applies(state)

    @cached_property
    def _of_triples(self) -> tuple[Pack, ...]:
        """The packs that are made of triples."""
        return tuple(m for m in self.resources.pack.members if m.manifest.source.get("format") in _OF_TRIPLES)

    @cached_property
    def _searches(self) -> dict[Pack, PathSearch]:
        """Search the facts of each pack; imported and read on first use, because most packs need none of it."""
        from wikigr.graph.fact_graph import read_facts
        from wikigr.graph_search.relation_paths.path_search import PathSearch

        return {
            pack: PathSearch(read_facts(pack.graph), pack.encoder)
            for pack in self._of_triples
            if pack.encoder.identity.weights_sha256 == DEFAULT_WEIGHTS_SHA256
        }

    @cached_property
    def _topics(self) -> dict[Pack, TopicFinder]:
        from wikigr.graph_search.relation_paths.topics import TopicFinder

        return {pack: TopicFinder(search.facts, pack.graph_index) for pack, search in self._searches.items()}

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        if not self._searches:
            record.notes["skipped"] = "words are matched with relations by the default encoder's vectors"
            return state
        parts = two_parts(state.question.text) or (state.question.text,)
        found = [self._find(part, record) for part in parts]
        if not all(paths and paths[0].is_explained for _, paths in found):
            record.notes["outcome"] = "no path explains the question"
            return state
        most = 3 if len(found) == 1 else 1
        followed = [(pack, path) for pack, paths in found for path in paths[:most] if path.is_explained]
        candidates = self._candidates(followed)
        record.ranking = section_ids(candidates)
        evidence = tuple(fetch(self.resources.pack, candidates))
        answers = tuple(self._answers(pack, path) for pack, path in followed)
        if len(found) > 1:
            answers = (_joined(answers),)
        return replace(state, candidates=candidates, selected=candidates, evidence=evidence, paths=answers)

    def _find(self, question: str, record: StageRecord) -> tuple[Pack, list[FoundPath]]:
        """Return the pack whose best path explains most of ``question``, and its paths, best first."""
        results = {
            pack: search.find(question, self._topics[pack].find(question), seconds=_MAX_SECONDS, most=6)
            for pack, search in self._searches.items()
        }
        if any(out_of_time for _, out_of_time in results.values()):
            record.run_out_of_time(f"Not all paths were tried: the limit of {_MAX_SECONDS:g} s passed.")
        pack, (paths, _) = max(
            results.items(), key=lambda item: max((p.explained for p in item[1][0][:1]), default=-1.0)
        )
        record.scored += len(paths)
        record.notes.setdefault("paths", []).extend(self._searches[pack].describe(path) for path in paths)
        return pack, paths

    def _answers(self, pack: Pack, path: FoundPath) -> PathAnswers:
        facts = self._searches[pack].facts_of(path, self.options.max_answers)
        chains = (tuple(replace(f, section_id=self._id_of(pack, f.section_id)) for f in c) for c in facts.chains)
        return replace(facts, chains=tuple(chains))

    def _id_of(self, pack: Pack, section_id: str) -> str:
        return self.resources.pack.id_of(pack, section_id)

    def _candidates(self, found: Sequence[tuple[Pack, FoundPath]]) -> tuple[Candidate, ...]:
        """Return the sections that state the facts of the first answers of each path, in their order."""
        sections: dict[str, float] = {}
        for pack, path in found:
            facts = self._searches[pack].facts
            for link in (link for chain in path.chains[: self.options.max_answers] for link in chain):
                if section := facts.section_of(link.row):
                    sections.setdefault(self._id_of(pack, section), path.explained)
        return tuple(
            Candidate(section, 1.0 + 1.0 / rank, {RELEVANCE: explained, FACT: float(rank)})
            for rank, (section, explained) in enumerate(sections.items(), start=1)
        )


def _joined(parts: Sequence[PathAnswers]) -> PathAnswers:
    """Return the answers to all parts of a question as those of one path."""
    return PathAnswers(
        names=tuple(name for part in parts for name in part.names),
        chains=tuple(chain for part in parts for chain in part.chains),
        total=sum(part.total for part in parts),
        is_cut=any(part.is_cut for part in parts),
        confidence=min(part.confidence for part in parts),
    )

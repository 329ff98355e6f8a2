"""A pruner for triplet retrieval that compares relation names with the question and needs no language model."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from wikigr.embeddings.embedder import Embedder
from wikigr.graph.engine import Graph
from wikigr.graph.neighborhood import STRUCTURAL, Edge, Node, Step
from wikigr.retrieval.explore.answer_chain import SYNONYM_COSINE, select_answer_chain
from wikigr.retrieval.explore.node_describer import NodeDescriber
from wikigr.retrieval.explore.question_words import PartialPath, QuestionWords, Words, join_words
from wikigr.retrieval.explore.relation_text import relation_words, share_stem, verbalize
from wikigr.retrieval.explore.triplets import CandidateRelation, Hop, QuestionPruner, Selection
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# Weights of a relation's score: its cosine to all remaining words of the question, to the words that come next, and to
# the single most similar word, and the share of its words whose stem occurs among the remaining words.
_WEIGHT_REMAINING = 0.25
_WEIGHT_NEXT = 0.25
_WEIGHT_WORD = 0.3
_WEIGHT_STEM = 0.4
# Questions nest ("the mayor of the city where X was born"): the words nearest to the entity belong to the first step.
# Each content word in between discounts the weight of a word by this factor.
_DISTANCE_DISCOUNT = 0.85
# Penalties: for each doubling of a relation's edges at a node, and for going back along the last step.
_EDGES_PENALTY = 0.02
_BACK_PENALTY = 0.2
# The search ends when no relation reaches this score. Unrelated words score about 0.1.
_MIN_RELATION_SCORE = 0.15
# Weights of a triplet's own words, and the penalty for each better triplet of the same relation at the same node, which
# keeps one relation with many ends from filling the next step.
_WEIGHT_NAME = 0.3
_WEIGHT_TRIPLET = 0.2
_SIBLING_PENALTY = 0.02
# Penalty for expanding an entity without an article: most are plain values.
_ENTITY_PENALTY = 0.1
# Penalties: for a relation that skips the noun in "noun of X" or "X's noun" where another relation matches it, and for
# an inverse relation where the node has the same relation forward.
_SKIPPED_PENALTY = 0.3
_INVERSE_PENALTY = 0.05
# Texts that are encoded per question, at about a millisecond each.
_MAX_RELATIONS = 128
_MAX_TRIPLETS = 12


class RulePruner:
    """Prunes by the similarity between names and the question, using only the pack's encoder.

    The steps of a multi-hop question match different words of it: each step is compared with the words that earlier
    steps left unmatched. With ``graph``, linked articles are compared by the vectors of their first sections as well.
    Caches vectors; not thread-safe.
    """

    always_links = False

    def __init__(self, encoder: Embedder, graph: Graph | None = None) -> None:
        self._describer = NodeDescriber(encoder, graph)

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        return _RuleQuestionPruner(self._describer, question, sources)


class _RuleQuestionPruner:
    def __init__(self, describer: NodeDescriber, question: str, sources: Sequence[Node]) -> None:
        self._describer = describer
        self._question = QuestionWords(question, sources)
        self._paths = {
            node: PartialPath(0.0, self._question.remaining, position)
            for node, position in self._question.positions.items()
        }
        self._scores: dict[tuple[str, Words, int], float] = {}
        self._matched: dict[tuple[str, Words, int], frozenset[str]] = {}
        self._begun = False
        # Filled in once the candidate relations at the end of a path are known: the noun that a relation has to match
        # first, and the relations that continue forward.
        self._head_nouns: dict[PartialPath, str] = {}
        self._forward: set[tuple[PartialPath, str]] = set()

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        facts = [candidate for candidate in candidates if candidate.step.relation not in STRUCTURAL]
        facts = self._preselect(facts)
        self._encode_all(facts)
        self._look_ahead(facts)
        best: dict[Step, float] = {}
        highest = 0.0
        for candidate in facts:
            path = self._paths[candidate.node]
            score = self._score(candidate.step, path)
            highest = max(highest, score)
            total = path.score + (score - _EDGES_PENALTY * math.log2(candidate.edges))
            best[candidate.step] = max(best.get(candidate.step, -math.inf), total)
        if self._begun and (
            highest < _MIN_RELATION_SCORE or not any(self._paths[c.node].content_words() for c in candidates)
        ):
            return Selection(finish=True)
        self._begun = True
        ordered = sorted(best, key=lambda step: (-round(best[step], 6), step))
        links = {candidate.step for candidate in candidates if candidate.step.relation in STRUCTURAL}
        ordered += sorted(links, key=lambda step: (step.inverse, STRUCTURAL.index(step.relation)))
        return Selection(tuple(ordered[:limit]))

    def rank_triplets(self, hops: Sequence[Hop]) -> Sequence[Hop]:
        base = {hop: self._base_score(hop) for hop in hops}
        ordered = sorted(hops, key=lambda hop: (-round(base[hop], 6), _sort_key(hop)))
        score: dict[Hop, float] = {}
        siblings: dict[tuple[Node, Step], int] = {}
        bonus = self._text_bonus(ordered)
        for hop in sorted(hops, key=lambda hop: (-round(base[hop] + bonus.get(hop, 0.0), 6), _sort_key(hop))):
            number = siblings.get((hop.node, hop.step), 0)
            siblings[hop.node, hop.step] = number + 1
            score[hop] = base[hop] + bonus.get(hop, 0.0) - _SIBLING_PENALTY * number
        # Facts precede links, whatever their scores.
        ranked = sorted(hops, key=lambda hop: (hop.edge.relation in STRUCTURAL, -round(score[hop], 6), _sort_key(hop)))
        for hop in ranked:
            # Named sources stay starting points, even if another path leads to them.
            if hop.end in self._question.named:
                continue
            if hop.end not in self._paths or score[hop] > self._paths[hop.end].score:
                remaining, position = self._advance(hop.edge.relation, self._paths[hop.node])
                self._paths[hop.end] = PartialPath(score[hop], remaining, position, hop)
        return ranked

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[Hop], limit: int) -> Selection[Node]:
        def rank(item: tuple[int, Node]) -> tuple[float, int]:
            number, node = item
            return -round(self._paths[node].score - (_ENTITY_PENALTY if node.kind == "entity" else 0.0), 6), number

        ends = dict.fromkeys(hop.end for hop in hops if hop.edge.relation not in STRUCTURAL)
        ordered = [node for _, node in sorted(enumerate(ends), key=rank)]
        return Selection(tuple(dict.fromkeys([*ordered, *(hop.end for hop in hops)]))[:limit])

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        return select_answer_chain(self._question, self._paths, found, self._describer)

    def _preselect(self, facts: list[CandidateRelation]) -> list[CandidateRelation]:
        """Keep the relations worth encoding: those that share a stem with the question, then those with few edges."""
        edges: dict[str, int] = {}
        for candidate in facts:
            relation = candidate.step.relation
            edges[relation] = min(edges.get(relation, candidate.edges), candidate.edges)
        if len(edges) <= _MAX_RELATIONS:
            return facts
        nodes = {candidate.node for candidate in facts}
        asked = {word for node in nodes for word in self._paths[node].content_words()}

        def rank(relation: str) -> tuple[bool, int, str]:
            named = any(share_stem(word, other) for word in relation_words(relation).split() for other in asked)
            return not named, edges[relation], relation

        kept = set(sorted(edges, key=rank)[:_MAX_RELATIONS])
        return [candidate for candidate in facts if candidate.step.relation in kept]

    def _encode_all(self, facts: Sequence[CandidateRelation]) -> None:
        """Encode in one batch all texts that the scores of these candidates need."""
        texts = {relation_words(candidate.step.relation) for candidate in facts}
        for path in {self._paths[candidate.node] for candidate in facts}:
            texts |= {join_words(path.remaining), join_words(path.next_words()), *path.content_words()}
        self._describer.encode(sorted(texts))

    def _look_ahead(self, facts: Sequence[CandidateRelation]) -> None:
        """Note the head noun at each path that some relation matches, and the relations that continue forward."""
        by_path: dict[PartialPath, set[str]] = {}
        for candidate in facts:
            path = self._paths[candidate.node]
            by_path.setdefault(path, set()).add(candidate.step.relation)
            if not candidate.step.inverse:
                self._forward.add((path, candidate.step.relation))
        for path, relations in by_path.items():
            head = self._question.head_noun(path)
            if head and any(head in self._matched_words(relation, path) for relation in relations):
                self._head_nouns[path] = head

    def _score(self, step: Step, path: PartialPath) -> float:
        """Return how relevant a step is to the remaining words of the question."""
        key = (step.relation, path.remaining, path.position)
        if key not in self._scores:
            self._scores[key] = self._similarity(relation_words(step.relation), path) if path.remaining else 0.0
        # The reverse of the last step leads to siblings of the previous node.
        last = path.last_hop.step if path.last_hop is not None else None
        back = last is not None and last.relation == step.relation and last.inverse is not step.inverse
        head = self._head_nouns.get(path, "")
        skipped = bool(head) and head not in self._matched_words(step.relation, path)
        inverse = step.inverse and (path, step.relation) in self._forward
        return self._scores[key] - _BACK_PENALTY * back - _SKIPPED_PENALTY * skipped - _INVERSE_PENALTY * inverse

    def _similarity(self, name: str, path: PartialPath) -> float:
        remaining, following, near = join_words(path.remaining), join_words(path.next_words()), path.nearest_words()
        vectors = self._describer.encode([name, remaining, following, *near])
        relation = vectors[name]
        weights = [_DISTANCE_DISCOUNT**number for number in range(len(near))]
        by_word = max((w * float(relation @ vectors[x]) for w, x in zip(weights, near, strict=True)), default=0.0)
        own = [word for word in name.split() if word not in FUNCTION_WORDS] or name.split()
        stems = [
            max((w for w, x in zip(weights, near, strict=True) if share_stem(word, x)), default=0.0) for word in own
        ]
        return (
            _WEIGHT_REMAINING * float(relation @ vectors[remaining])
            + _WEIGHT_NEXT * float(relation @ vectors[following])
            + _WEIGHT_WORD * by_word
            + _WEIGHT_STEM * (sum(stems) / len(stems) if stems else 0.0)
        )

    def _advance(self, relation: str, path: PartialPath) -> tuple[Words, int]:
        """Return the words that remain after a step along ``relation``, and the position that it reaches."""
        if relation in STRUCTURAL or not path.remaining:
            return path.remaining, path.position
        matched = self._matched_words(relation, path)
        places = [place for place, word in path.remaining if word in matched]
        nearest = min(places, key=lambda place: (abs(place - path.position), place)) if places else path.position
        return tuple((place, word) for place, word in path.remaining if word not in matched), nearest

    def _matched_words(self, relation: str, path: PartialPath) -> frozenset[str]:
        """Return the remaining words that ``relation`` matches: those with its stem, or else the closest synonym."""
        key = (relation, path.remaining, path.position)
        if key not in self._matched:
            name = relation_words(relation)
            near = path.nearest_words()
            matched = {asked for asked in near if any(share_stem(asked, word) for word in name.split())}
            # The noun after "which" or "what" describes the end, so another word is matched if there is one.
            others = [word for word in near if word != self._question.answer_noun] or near
            if not matched and others:
                vectors = self._describer.encode([name, *others])
                cosines = [
                    _DISTANCE_DISCOUNT**n * float(vectors[name] @ vectors[word]) for n, word in enumerate(others)
                ]
                best = max(range(len(others)), key=lambda n: (round(cosines[n], 6), -n))
                matched = {others[best]} if cosines[best] >= SYNONYM_COSINE else set()
            self._matched[key] = frozenset(matched)
        return self._matched[key]

    def _base_score(self, hop: Hop) -> float:
        path = self._paths[hop.node]
        score = 0.0 if hop.edge.relation in STRUCTURAL else self._score(hop.step, path)
        name = {word for word in words(hop.end.label) if word not in FUNCTION_WORDS}
        asked = path.content_words()
        named = sum(any(share_stem(word, other) for other in asked) for word in name) / len(name) if name else 0.0
        return path.score + score + _WEIGHT_NAME * named

    def _text_bonus(self, ordered: Sequence[Hop]) -> dict[Hop, float]:
        """Return how much closer each triplet is to the question than the mean of its relation at its node.

        Linked articles are compared by their lead, the first few of the other triplets by their words.
        """
        groups: dict[tuple[Node, Step], list[Hop]] = {}
        for hop in ordered:
            groups.setdefault((hop.node, hop.step), []).append(hop)
        several = [hop for hop in ordered if len(groups[hop.node, hop.step]) > 1]
        if not several:
            return {}
        asked = self._describer.encode([self._question.text])[self._question.text]
        links = [hop for hop in several if hop.edge.relation in STRUCTURAL and hop.end.kind == "article"]
        leads = self._describer.lead_vectors(sorted({hop.end.key for hop in links}))
        cosines = {hop: float(leads[hop.end.key] @ asked) for hop in links if hop.end.key in leads}
        texts = {hop: verbalize(hop.edge) for hop in several if hop not in cosines}
        texts = dict(list(texts.items())[:_MAX_TRIPLETS])
        vectors = self._describer.encode(list(texts.values()))
        cosines.update((hop, float(vectors[text] @ asked)) for hop, text in texts.items())
        bonus: dict[Hop, float] = {}
        for group in groups.values():
            compared = [cosines[hop] for hop in group if hop in cosines]
            mean = sum(compared) / len(compared) if compared else 0.0
            bonus.update((hop, _WEIGHT_TRIPLET * (cosines.get(hop, mean) - mean)) for hop in group)
        return bonus


def _sort_key(hop: Hop) -> tuple[object, ...]:
    return hop.step, hop.end.rank, hop.node.rank, hop.edge.section_id

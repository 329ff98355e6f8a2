"""Select the chain of facts that most likely answers a question, among the paths of a triplet search."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from wikigr.graph.neighborhood import STRUCTURAL, Edge, Node
from wikigr.question.label_type import label_fits
from wikigr.retrieval.explore.node_describer import NodeDescriber
from wikigr.retrieval.explore.question_words import PartialPath, QuestionWords
from wikigr.retrieval.explore.relation_text import relation_words, strip_s
from wikigr.retrieval.explore.triplets import Hop

# Score that a path must gain per step: about the score of a relation that the question names explicitly.
_COST_PER_STEP = 0.6
# Penalty for each content word that no step matches, and the lowest score of an answer.
_UNMATCHED_PENALTY = 0.3
_MIN_SCORE = -0.3
# The noun after "which" or "what" describes the end of the path. Penalty for how much worse the end fits the noun than
# the best end does, and its upper bound.
_KIND_PENALTY = 2.0
_MAX_MISFIT = 0.5
# An unmatched word may describe a node on the path ("the company that produced it"): not at all below the first cosine,
# fully from the second one on.
_MIN_FIT = 0.2
_FULL_FIT = 0.5
# A word matches a relation from this cosine on, which is typical of synonyms.
SYNONYM_COSINE = 0.35
_MAX_PATHS = 8
# Facts of one answer: "which films" asks for all of them.
_MAX_ANSWER_FACTS = 12

# Words that facts do not state. A path that leaves one unmatched answers a different question.
_RESTRICTIVE = frozenset(
    """first second third last former previous original early earlier earliest late later latest next only oldest
    youngest newest largest biggest smallest highest lowest longest shortest tallest""".split()
)


def select_answer_chain(
    question: QuestionWords, paths: Mapping[Node, PartialPath], found: Collection[Edge], describer: NodeDescriber
) -> tuple[Edge, ...]:
    """Return the facts of the best path in ``paths`` (by end), and the facts that answer alongside it.

    The path consists of facts in ``found`` and ends at a node of the expected answer type. It starts at a source that
    the question names, if it names any. Returns an empty chain if no path matches enough of the question.
    """
    candidates = []
    for node, path in paths.items():
        if not label_fits(question.text, node.label):
            continue
        hops: list[Hop] = []
        here = node
        while (hop := paths[here].last_hop) is not None and hop.edge in found and hop not in hops:
            hops.append(hop)
            here = hop.node
        factual = all(hop.edge.relation not in STRUCTURAL for hop in hops)
        if hops and hop is None and factual and (here in question.named or not question.named):
            unmatched = [word for word in path.content_words() if word not in question.answer_kind]
            if any(word in _RESTRICTIVE or word.isdigit() for word in unmatched):
                continue
            score = path.score - _COST_PER_STEP * len(hops)
            candidates.append((score, unmatched, node, hops[::-1]))
    # Describing nodes is expensive, so only the best paths by their words are described.
    candidates.sort(key=lambda item: (-round(item[0] - _UNMATCHED_PENALTY * len(item[1]), 6), item[2].rank))
    del candidates[_MAX_PATHS:]
    noun = question.answer_noun
    fits = {node: describer.fit(noun, node) for _, _, node, _ in candidates} if noun else {}
    best_fit = max(fits.values(), default=0.0)
    ranked = []
    for score, unmatched, node, hops in candidates:
        nodes = [hops[0].node, *(hop.end for hop in hops)]
        relations = {relation_words(hop.edge.relation) for hop in hops}
        unexplained = sum(_unexplained(word, nodes, relations, describer) for word in unmatched)
        misfit = min(_MAX_MISFIT, best_fit - fits.get(node, best_fit))
        score -= _UNMATCHED_PENALTY * unexplained + _KIND_PENALTY * misfit
        if question.counted_noun:
            score += _UNMATCHED_PENALTY * _scaled_fit(describer.fit(question.counted_noun, node))
        ranked.append((-round(score, 6), node.rank, hops))
    if not ranked or -min(ranked)[0] < _MIN_SCORE:
        return ()
    return _with_parallel_answers(min(ranked)[-1], found, question.text)


def _with_parallel_answers(hops: Sequence[Hop], found: Collection[Edge], question: str) -> tuple[Edge, ...]:
    """Return the edges of ``hops``, then those of the other paths in ``found`` with the same steps and source.

    Stops at ``_MAX_ANSWER_FACTS`` edges. Ties break by the names of the nodes.
    """
    edges = sorted(found, key=lambda edge: (edge.source.rank, edge.target.rank, edge.relation))
    paths: list[tuple[tuple[Edge, ...], Node]] = [((), hops[0].node)]
    for hop in hops:
        paths = [
            ((*path, edge), edge.other(node))
            for path, node in paths
            for edge in edges
            if node in (edge.source, edge.target) and edge.step_from(node) == hop.step and edge not in path
        ]
    own = [hop.edge for hop in hops]
    chain = dict.fromkeys(own)
    # Paths that share the most edges with ``hops`` come first.
    shared = sorted(paths, key=lambda item: -sum(a == b for a, b in zip(item[0], own, strict=True)))
    for path, end in shared:
        longer = {**chain, **dict.fromkeys(path)}
        if len(longer) <= _MAX_ANSWER_FACTS and label_fits(question, end.label):
            chain = longer
    return tuple(chain)


def _unexplained(word: str, nodes: Sequence[Node], relations: Collection[str], describer: NodeDescriber) -> float:
    """Return how little ``word`` describes ``nodes``, in [0, 1]; 0 if it is a synonym of one of ``relations``."""
    forms = {word, strip_s(word)}
    vectors = describer.encode(sorted(forms | set(relations)))
    if any(float(vectors[form] @ vectors[name]) >= SYNONYM_COSINE for form in forms for name in relations):
        return 0.0
    return 1.0 - _scaled_fit(max(describer.fit(word, node) for node in nodes))


def _scaled_fit(fit: float) -> float:
    return min(1.0, max(0.0, fit - _MIN_FIT) / (_FULL_FIT - _MIN_FIT))

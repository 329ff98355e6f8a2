"""Score relation paths by how much of the question each of them explains.

Every content word of the question belongs to one step of the path, to the type of that step's end, or to the topic.
Words follow the order of the steps, as English nests descriptions: "who acted in the films written by the writer of X".
The best assignment is found by dynamic programming over all paths at once. Words that nothing explains count against a
path, and so do steps that no word asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wikigr.graph.fact_graph import Numbers, opposite
from wikigr.graph_search.relation_paths.evidence import Floats, RelationEvidence, Weights
from wikigr.question.masked_question import MaskedQuestion

MAX_HOPS = 3
_IMPOSSIBLE = -1e9


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """A path as step numbers, and its score; ``explained`` is the share of the question that it explains, in [0, 1]."""

    steps: tuple[int, ...]
    score: float
    explained: float

    @property
    def rank(self) -> tuple[float, int, tuple[int, ...]]:
        """The key by which paths are sorted, best first: by score, then shorter ones, then by step numbers."""
        return -round(self.score, 6), len(self.steps), self.steps


def score_paths(
    question: MaskedQuestion,
    steps: Sequence[int],
    first: Sequence[int],
    following: Mapping[int, Numbers],
    evidence: RelationEvidence,
    most: int,
    weights: Weights,
) -> list[ScoredPath]:
    """Return the best ``most`` paths that begin with one of ``first``, best first; ties break by step numbers.

    ``steps`` are the rows of ``evidence``, and ``following`` maps each of them to the steps that may come after it.
    """
    rows = {step: row for row, step in enumerate(steps)}
    begin = [rows[step] for step in first]
    after = {row: [rows[s] for s in following[step].tolist() if s in rows] for step, row in rows.items()}
    found: dict[tuple[int, ...], float] = {}
    by_use = {"relation": 1.0, "asked": weights.asked, "kind": weights.kind}
    full = np.array([weights.interrogative if t.is_interrogative else by_use[t.use] for t in question.tokens])
    importance = full * (weights.unknown + (1.0 - weights.unknown) * evidence.strength)
    for order in question.orders:
        table = _Table(question, order, evidence, importance, weights)
        for path, score in table.best_paths(steps, begin, after):
            found[path] = max(found.get(path, _IMPOSSIBLE), score)
    total = float(importance.sum())
    ranked = sorted(found.items(), key=lambda item: (-round(item[1], 6), len(item[0]), item[0]))[:most]
    return [
        ScoredPath(
            tuple(steps[row] for row in path),
            score - weights.unexplained * total,
            _explained(path, evidence, full),
        )
        for path, score in ranked
    ]


def _explained(path: Sequence[int], evidence: RelationEvidence, importance: Floats) -> float:
    """Return the share of the question's words, by importance, that some step of ``path`` explains."""
    rows = list(path)
    by_step = np.maximum(evidence.steps[rows], evidence.pairs[rows].max(axis=2))
    by_token = np.maximum(np.maximum(by_step, evidence.types[rows]).max(axis=0), evidence.topic)
    return float((np.clip(by_token, 0.0, 1.0) * importance).sum() / max(float(importance.sum()), 1e-9))


class _Table:
    """The value of every step for every range of the tokens, in one order of them."""

    def __init__(
        self,
        question: MaskedQuestion,
        order: Sequence[int],
        evidence: RelationEvidence,
        importance: Floats,
        weights: Weights,
    ) -> None:
        self._weights = weights
        self._size = len(order)
        columns = list(order)
        runs = [question.tokens[n].run for n in columns]
        gain = (1.0 + weights.unexplained) * importance[columns]
        named = np.array([0.0 if question.tokens[n].is_interrogative else 1.0 for n in columns])
        by_step = evidence.steps[:, columns]
        by_type = np.where(named > 0, weights.type, 1.0) * evidence.types[:, columns]
        once = np.where(by_type < 0, by_type, np.maximum(by_step, by_type)) * gain
        again = np.where(by_type < 0, by_type, np.maximum(weights.again * by_step, by_type)) * gain
        support = weights.step * by_step * named
        self._topic = np.concatenate([[0.0], np.cumsum(weights.type * evidence.topic[columns] * named * gain)])
        # What two neighboring tokens explain together, beyond what they explain one by one.
        pairs = np.zeros_like(by_step)
        for n in range(1, len(columns)):
            pairs[:, n] = evidence.pairs[:, columns[n - 1], columns[n]]
        # What "same", "also" and the like are worth for each step, as far as the word that they precede names it.
        shared = [n for n, token in enumerate(question.tokens) if token.is_shared and token.use != "kind"]
        asked_back = evidence.relations[:, shared].max(axis=1) if shared else np.full(len(by_step), weights.vague)
        self._asked_back = weights.shared * asked_back * question.is_shared
        self._last = self._fill(runs, once, again, support, pairs, gain, len(by_step))
        # What is asked for ("who", "which year") is about the end of the path.
        inner = np.array([0.0 if question.tokens[n].use == "asked" else 1.0 for n in columns])
        pairs[:, 1:] *= inner[1:] * inner[:-1]
        self._values = self._fill(runs, once * inner, again * inner, support * inner, pairs, gain, len(by_step))

    def _fill(
        self, runs: list[int], once: Floats, again: Floats, support: Floats, pairs: Floats, gain: Floats, count: int
    ) -> Floats:
        """Return the values of steps (axis 0) for the tokens from axis 1 up to axis 2."""
        values = np.full((count, self._size + 1, self._size + 1), _IMPOSSIBLE)
        for begin in range(self._size + 1):
            values[:, begin, begin] = -self._weights.bare
            # The sum of second mentions, and the best gain from counting one run as the first mention.
            base = np.zeros(count)
            best = np.full(count, -self._weights.bare)
            run_gain = np.zeros(count)
            run_support = np.zeros(count)
            for end in range(begin, self._size):
                if end == begin or runs[end] != runs[end - 1]:
                    run_gain = np.zeros(count)
                    run_support = np.full(count, _IMPOSSIBLE)
                base = base + again[:, end]
                run_gain = run_gain + once[:, end] - again[:, end]
                run_support = np.maximum(run_support, support[:, end])
                best = np.maximum(best, run_gain + run_support)
                if end > begin:
                    both = gain[end - 1] * np.maximum(pairs[:, end] - again[:, end - 1] / gain[end - 1], 0.0)
                    both += gain[end] * np.maximum(pairs[:, end] - again[:, end] / gain[end], 0.0)
                    best = np.maximum(best, both + self._weights.step * pairs[:, end])
                values[:, begin, end + 1] = base + best
        return values

    def best_paths(
        self, steps: Sequence[int], begin: Sequence[int], after: Mapping[int, Sequence[int]]
    ) -> list[tuple[tuple[int, ...], float]]:
        """Return paths, as rows, with their scores."""
        found: list[tuple[tuple[int, ...], float]] = []
        paths: list[tuple[int, ...]] = [()]
        reached = self._topic[None, :]
        for _ in range(MAX_HOPS):
            pairs = [(n, row) for n, path in enumerate(paths) for row in (after[path[-1]] if path else begin)]
            if not pairs:
                break
            numbers = np.array([n for n, _ in pairs])
            rows = np.array([row for _, row in pairs])
            turns = np.array([self._turn(steps, paths[n], row) for n, row in pairs]) - self._weights.hop
            complete = (reached[numbers] + self._last[rows, :, -1]).max(axis=1) + turns
            extended = (reached[numbers][:, :, None] + self._values[rows]).max(axis=1) + turns[:, None]
            longer = [(*paths[n], row) for n, row in pairs]
            found += zip(longer, complete.tolist(), strict=True)
            # Keep the prefixes that explain most of the tokens that they have passed.
            promise = extended.max(axis=1)
            kept = np.argsort(-np.round(promise, 6), kind="stable")[:96]
            paths = [longer[n] for n in kept]
            reached = extended[kept]
        return found

    def _turn(self, steps: Sequence[int], path: Sequence[int], row: int) -> float:
        """Return what it is worth to go back along the last relation, which at most one word asks for."""
        if not path or opposite(steps[path[-1]]) != steps[row]:
            return 0.0
        first = not any(opposite(steps[a]) == steps[b] for a, b in pairwise(path))
        return (self._asked_back[row] if first else 0.0) - self._weights.back

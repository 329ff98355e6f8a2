"""How well each word of a question matches each step of a graph, by stems and by the encoder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.embedder import Embedder, Vectors
from wikigr.graph.fact_graph import FactGraph, Numbers, forward, opposite
from wikigr.graph.neighborhood import Step
from wikigr.graph_search.relation_paths.relation_match import RelationMatcher, relation_words, share_stem
from wikigr.question.label_type import DATE_LABEL, NAMELESS_LABEL
from wikigr.question.masked_question import ASKED_KINDS, MaskedQuestion, Role, Token
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import PREFIX_LENGTH


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the evidence and of a path's score, fitted by ``benchmarks/fit_paths.py``.

    Evidence. Cosines between a word and a kind of thing are scaled from ``low_cosine`` and ``high_cosine`` to 0 and 1.
    ``stem`` is what a shared stem adds to the logit of a match, and ``role`` what grammar adds in the direction of a
    step, ``unnamed_role`` times that if no stem is shared. The evidence of a word that asks for something or names a
    kind is raised to ``asked_power`` or ``kind_power``.

    Score. ``step`` is what a step gains if its relation is named in full; ``hop`` is what every step costs, and
    ``bare`` what one costs that no word asks for. ``unexplained`` is the cost of a word that nothing explains,
    ``again`` what a second mention of a relation explains within one step, and ``type`` what the kind of an end does.
    Going back along the last relation costs ``back`` and is worth ``shared`` if a word like "same" or "also" asks for
    it, as far as the word names the relation (``vague`` if there is no such word). ``interrogative``, ``asked`` and
    ``kind`` are the importance of such words, and ``unknown`` that of a word that resembles no relation of the graph.
    """

    low_cosine: float = 0.2
    high_cosine: float = 0.35
    stem: float = 3.4
    role: float = 6.0
    unnamed_role: float = 0.3
    asked_power: float = 1.127
    kind_power: float = 4.6
    step: float = 0.84
    hop: float = 0.345
    bare: float = 2.8
    unexplained: float = 0.6
    again: float = 0.4
    type: float = 0.4
    back: float = 0.1
    shared: float = 1.4
    vague: float = 0.5
    interrogative: float = 0.5
    asked: float = 0.8
    kind: float = 0.21
    unknown: float = 0.8


WEIGHTS = Weights()


Floats = NDArray[np.float64]
# What the ends of a step are: dates, other numbers, or names.
EndKind = Literal["date", "number", "name"]
# How a relation reads: "o is the R of s" (noun), "s is R by o" (passive), "s R o" (verb), "s is the R of o" (of).
Form = Literal["noun", "passive", "verb", "of"]

_LABELS = 40
_MIN_SUFFIX = 5
# The past forms of English verbs that share no stem with the present.
_STRONG_VERBS = dict(
    pair.split(":")
    for pair in """wrote:write sang:sing sung:sing made:make held:hold led:lead won:win taught:teach bought:buy
    sold:sell built:build ran:run gave:give spoke:speak spoken:speak drew:draw drawn:draw began:begin
    begun:begin fought:fight sought:seek kept:keep met:meet flew:fly flown:fly grew:grow grown:grow bore:bear
    borne:bear ate:eat rode:ride chose:choose lost:lose left:leave fed:feed shot:shoot wore:wear swam:swim""".split()
)
_ENDING = re.compile(r"(?:[eo]rs?|ings?|ed|ten|en|ions?|ments?|es?|s)$")

# Whether a step goes forward (1) or backward (-1) if its word has this role, by the form of the relation.
_DIRECTIONS: dict[Form, dict[Role, int]] = {
    "noun": {"possessor": 1, "holder": -1},
    "passive": {"agent": -1, "object": 1, "patient": 1, "possessor": 1, "holder": -1, "subject": -1},
    "verb": {"agent": 1, "subject": 1, "object": -1, "possessor": -1, "holder": 1, "patient": -1},
    "of": {"possessor": -1, "holder": 1, "subject": 1},
}


@dataclass(frozen=True, slots=True)
class StepText:
    """What is known of a step: the words of its relation, how they read, and what its ends are.

    ``signature`` are the steps that start at a large share of its end nodes, ``following`` all that start at any.
    """

    step: Step
    words: tuple[str, ...]
    form: Form
    signature: tuple[int, ...]
    kind: EndKind
    following: Numbers


@dataclass(frozen=True, slots=True)
class RelationEvidence:
    """The similarity in [0, 1] of every step (rows) to every token (columns).

    ``steps`` compares the words with the relation, ``types`` with the ends. ``topic`` compares the words with
    the topic itself.
    """

    steps: Floats
    relations: Floats
    pairs: Floats
    types: Floats
    topic: Floats
    strength: Floats


class EvidenceReader:
    """Compares questions with the steps of one graph; caches texts and vectors. Not thread-safe."""

    def __init__(self, facts: FactGraph, encoder: Embedder, weights: Weights) -> None:
        self.facts = facts
        self._encoder = encoder
        self._weights = weights
        self._texts: dict[int, StepText] = {}
        self._vectors: dict[str, Vectors] = {}

    def text(self, step: int) -> StepText:
        """Return what is known of the step with this number."""
        if step not in self._texts:
            self._texts[step] = self._describe(step)
        return self._texts[step]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors of ``texts``, as rows."""
        if len(self._vectors) > 20_000:
            self._vectors.clear()
        unknown = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if unknown:
            self._vectors.update(zip(unknown, self._encoder.encode(unknown), strict=True))
        return np.stack([self._vectors[text] for text in texts]).astype(np.float64)

    def compare(self, question: MaskedQuestion, steps: Sequence[int], topic: Sequence[int]) -> RelationEvidence:
        """Compare the tokens of ``question`` with ``steps``; ``topic`` are the steps that leave the topic."""
        tokens = question.tokens
        width = len(tokens)
        described = [self.text(step) for step in steps]
        names = list(dict.fromkeys(" ".join(text.words) for text in described))
        relation = np.array([names.index(" ".join(text.words)) for text in described])
        signatures = list(dict.fromkeys(self._signature_text(text.signature) for text in described))
        signature = np.array([signatures.index(self._signature_text(text.signature)) for text in described])
        own = tuple(sorted(topic))
        row = {s: n for n, s in enumerate(steps)}
        near = sorted({(min(p), max(p)) for order in question.orders for p in pairwise(order)})
        texts = [t.text for t in tokens] + [t.phrase for t in tokens]
        texts += [f"{tokens[i].text} {tokens[j].text}" for i, j in near]
        asked = self.vectors(texts)
        is_inverse = np.array([text.step.inverse for text in described])
        logits = self._matcher.logits(asked, self.vectors(names))[is_inverse.astype(int), relation]
        stems = np.array([[stem_match(token.text, name.split()) for token in tokens] for name in names])[relation]
        directions = np.array([[_direction(text, token) for token in tokens] for text in described], dtype=np.float64)
        words = (logits[:, :width] + logits[:, width : 2 * width]) / 2
        grammar = self._weights.stem * stems + self._weights.role * directions * np.where(
            stems > 0, 1.0, self._weights.unnamed_role
        )
        words += grammar
        twins = np.array([[row.get(forward(s), -1), row.get(opposite(forward(s)), -1)] for s in steps])
        shares = _shares(words)
        power = np.array(
            [
                {"relation": 1.0, "asked": self._weights.asked_power, "kind": self._weights.kind_power}[t.use]
                for t in tokens
            ]
        )
        relations = np.vstack([shares, np.zeros(width)])[twins].sum(axis=1)
        matched = _of_relation(shares, twins) ** power
        pairs = np.zeros((len(described), width, width))
        if near:
            joint = logits[:, 2 * width :] + np.stack([grammar[:, i] + grammar[:, j] for i, j in near], axis=1)
            joint = _of_relation(_shares(joint), twins) ** np.array([max(power[i], power[j]) for i, j in near])
            for column, (i, j) in enumerate(near):
                pairs[:, i, j] = pairs[:, j, i] = joint[:, column]
        # A noun for a kind of thing is related to the relations that such things have.
        strength = shares.sum(axis=0)
        diffuse = 1.0 - relations.max(axis=0) / np.maximum(strength, 1e-12)
        cosine_types = self._scaled(self.vectors(signatures) @ asked[:width].T)[signature]
        kinds = np.stack([self._share_of(text.signature, row, shares) for text in described])
        # Words that name relations describe no things.
        describes = np.array([token.use != "relation" for token in tokens])
        types = np.maximum(kinds * diffuse, cosine_types) * describes
        own_type = np.maximum(
            self._share_of(own, row, shares) * diffuse,
            self._scaled(self.vectors([self._signature_text(own)])[0] @ asked[:width].T),
        )
        own_type *= describes
        for column, token in enumerate(tokens):
            if token.is_interrogative:
                types[:, column] = [answer_fit(question.asks, text.kind) for text in described]
                strength[column] = 1.0
        return RelationEvidence(matched, relations, pairs, types, own_type, strength)

    def _scaled(self, cosines: Floats) -> Floats:
        """Map cosines to [0, 1]: unrelated words are at 0, synonyms near 1."""
        low, high = self._weights.low_cosine, self._weights.high_cosine
        return np.asarray(np.clip((cosines - low) / (high - low), 0.0, 1.0))

    @cached_property
    def _matcher(self) -> RelationMatcher:
        return RelationMatcher.load_for(self._encoder.identity)

    def _share_of(self, signature: Sequence[int], row: Mapping[int, int], shares: Floats) -> Floats:
        leaving = {s for s in signature if s == forward(s)} & row.keys()
        rows = [n for s in leaving for n in (row[s], row.get(opposite(s))) if n is not None]
        return np.asarray(shares[sorted(rows)].sum(axis=0))

    def _signature_text(self, signature: Sequence[int]) -> str:
        """Return a text for nodes that the steps of ``signature`` leave."""
        facts = self.facts
        frequent = sorted(signature, key=lambda step: (-int(facts.counts[step]), step))
        frequent.sort(key=lambda step: facts.steps[step].inverse)
        names = (relation_words(facts.steps[step].relation) for step in frequent[:8])
        return ", ".join(dict.fromkeys(filter(None, names))) or "thing"

    def _describe(self, step: int) -> StepText:
        facts = self.facts
        ends = facts.sample_ends(step, 400)
        _, leaving = facts.steps_at(ends)
        shares = np.bincount(leaving, minlength=len(facts.steps)) / max(len(ends), 1)
        frequent = np.flatnonzero(shares >= 0.25)
        labels = [facts.names[end][:200] for end in ends[:: max(1, len(ends) // _LABELS)][:_LABELS]]
        relation = facts.steps[step]
        words = tuple(relation_words(relation.relation).split()) or (relation.relation.lower(),)
        return StepText(
            relation,
            words,
            _form(words),
            tuple(frequent.tolist()),
            _end_kind(labels),
            np.flatnonzero(shares > 0),
        )


def _shares(logits: Floats) -> Floats:
    """Return the probability of every step (rows), where "none of them" has the logit 0."""
    powers = np.exp(np.clip(logits, -30.0, 30.0))
    return np.asarray(powers / (1.0 + powers.sum(axis=0)))


def _of_relation(shares: Floats, twins: NDArray[np.int64]) -> Floats:
    """Return the probability of each step's relation, scaled down if the opposite direction is more probable.

    ``twins`` are the rows of the forward and the inverse step of each relation, or -1.
    """
    both = np.vstack([shares, np.zeros(shares.shape[1])])[twins]
    return np.asarray(both.sum(axis=1) * shares / np.maximum(both.max(axis=1), 1e-12))


def stem_match(word: str, relation: Sequence[str]) -> float:
    """Return 1 if the word has the stem of a word of the relation, 0.8 if its end has ("birthplace"), else 0."""
    own = [other for other in relation if other not in FUNCTION_WORDS] or list(relation)
    if any(share_stem(word, other) or _base(word) == _base(other) for other in own):
        return 1.0
    ends = [word[n:] for n in range(PREFIX_LENGTH - 1, len(word) - _MIN_SUFFIX + 1)]
    long = [other for other in own if len(other) >= _MIN_SUFFIX]
    return 0.8 if any(share_stem(end, other) or _base(end) == _base(other) for end in ends for other in long) else 0.0


@lru_cache(maxsize=4096)
def _base(word: str) -> str:
    """Return a word without the endings that make nouns and participles of verbs: "act" for "actors" and "acted"."""
    word = _STRONG_VERBS.get(word, word)
    bare = _ENDING.sub("", word)
    return bare if len(bare) >= 3 else word


def answer_fit(asks: str, kind: EndKind) -> float:
    """Return how well nodes of this kind answer an interrogative; negative if they cannot."""
    if asks == "when":
        return 1.0 if kind == "date" else -1.0
    if asks.startswith("how "):
        return 1.0 if kind == "number" else 0.3 if kind == "date" else -0.5
    if asks in ASKED_KINDS:
        return 0.3 if kind == "name" else -1.0
    return 0.0


def _direction(text: StepText, token: Token) -> int:
    if token.is_interrogative:
        return 0
    form = text.form
    if form == "verb" and token.role in ("possessor", "holder") and text.words[0] in (token.text, f"{token.text}s"):
        # "the headquarters of X": a noun in the plural.
        form = "noun"
    direction = _DIRECTIONS[form].get(token.role, 0)
    return -direction if text.step.inverse else direction


def _form(words: Sequence[str]) -> Form:
    if len(words) > 1 and words[-1] == "by":
        return "passive"
    if len(words) > 1 and words[-1] == "of":
        return "of"
    first = words[0]
    inflected = len(first) >= PREFIX_LENGTH and first.endswith("s") and not first.endswith(("ss", "us", "is"))
    is_verb = inflected or first in _STRONG_VERBS
    return "verb" if is_verb and (len(words) == 1 or words[1] in FUNCTION_WORDS) else "noun"


def _end_kind(labels: Sequence[str]) -> EndKind:
    half = len(labels) / 2
    if sum(NAMELESS_LABEL.match(label) is not None for label in labels) <= half:
        return "name"
    return "date" if sum(DATE_LABEL.match(label) is not None for label in labels) > half else "number"

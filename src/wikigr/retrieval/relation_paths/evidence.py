"""How well each word of a question matches each step of a graph, by stems and by the encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.embedder import Vectors
from wikigr.graph.fact_graph import FactGraph, Numbers
from wikigr.graph.neighborhood import Step
from wikigr.question.label_type import DATE_LABEL, NAMELESS_LABEL
from wikigr.retrieval.explore.relation_text import relation_words, share_stem
from wikigr.retrieval.relation_paths.masked_question import INTERROGATIVES, MaskedQuestion, Role, Token
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import PREFIX_LENGTH

Floats = NDArray[np.float64]
Encode = Callable[[Sequence[str]], Vectors]
# What the ends of a step are: dates, other numbers, or names.
EndKind = Literal["date", "number", "name"]
# How a relation reads: "o is the R of s" (noun), "s is R by o" (passive), "s R o" (verb), "s is the R of o" (of).
Form = Literal["noun", "passive", "verb", "of"]

# Ends of a step that are looked at to describe them, and the share of them that a step must leave.
_SAMPLE = 400
_LABELS = 40
_MIN_SHARE = 0.25
_MAX_SIGNATURE = 8
_MAX_LABEL_CHARS = 200
# The relations whose ends name the kind of a thing.
_TYPE_RELATIONS = frozenset(("type", "instance of", "rdf type"))
_MIN_SUFFIX = 5
_MAX_TEXTS = 20_000

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

    ``signature`` are the steps that leave many of the ends. ``following`` are the steps that
    leave them.
    """

    step: Step
    words: tuple[str, ...]
    form: Form
    signature: tuple[int, ...]
    kind: EndKind
    following: Numbers


@dataclass(frozen=True, slots=True)
class Evidence:
    """The similarity in [0, 1] of every step (rows) to every token (columns).

    ``steps`` compares the words with the relation, ``types`` with the ends, and ``directions`` is 1 or -1 where the
    grammar of the word speaks for or against the direction of the step, and else 0. ``topic`` compares the words with
    the topic itself.
    """

    steps: Floats
    pairs: Floats
    types: Floats
    directions: Floats
    topic: Floats
    strength: Floats


@dataclass
class EvidenceReader:
    """Compares questions with the steps of one graph; caches texts and vectors. Not thread-safe."""

    facts: FactGraph
    encode: Encode
    _texts: dict[int, StepText] = field(default_factory=dict)
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    def text(self, step: int) -> StepText:
        """Return what is known of the step with this number."""
        if step not in self._texts:
            self._texts[step] = self._describe(step)
        return self._texts[step]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors of ``texts``, as rows."""
        if len(self._vectors) > _MAX_TEXTS:
            self._vectors.clear()
        unknown = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if unknown:
            self._vectors.update(zip(unknown, self.encode(unknown), strict=True))
        return np.stack([self._vectors[text] for text in texts]).astype(np.float64)

    def compare(self, question: MaskedQuestion, steps: Sequence[int], topic: Sequence[int]) -> Evidence:
        """Compare the tokens of ``question`` with ``steps``; ``topic`` are the steps that leave the topic."""
        tokens = question.tokens
        width = len(tokens)
        described = [self.text(step) for step in steps]
        names = list(dict.fromkeys(" ".join(text.words) for text in described))
        relation = np.array([names.index(" ".join(text.words)) for text in described])
        signatures = list(dict.fromkeys(self._signature_text(text.signature) for text in described))
        signature = np.array([signatures.index(self._signature_text(text.signature)) for text in described])
        own = tuple(sorted(topic))
        near = sorted({(min(p), max(p)) for order in question.orders for p in pairwise(order)})
        texts = [t.text for t in tokens] + [t.phrase for t in tokens] + [f"{tokens[i].text} {tokens[j].text}" for i, j in near]
        asked = self.vectors(texts)
        by_name = self.vectors(names)
        cosines = by_name @ asked.T
        words = np.maximum(cosines[:, :width], cosines[:, width : 2 * width])
        stems = np.array([[_shares_stem(token.text, name.split()) for token in tokens] for name in names])
        words = np.maximum(words, stems)
        shares = _softmax(words / TEMPERATURE)
        power = np.array([{"relation": 1.0, "asked": ASKED_POWER, "kind": KIND_POWER}[t.use] for t in tokens])
        strength = _scaled(words)
        matched = strength * (SPECIFIC * shares / shares.max(axis=0) + 1.0 - SPECIFIC)
        pairs = np.zeros((len(names), width, width))
        if near:
            weak = np.array([max(power[i], power[j]) for i, j in near])
            scores = cosines[:, 2 * width :]
            part = _softmax(scores / TEMPERATURE)
            scores = _scaled(scores) * (SPECIFIC * part / part.max(axis=0) + 1.0 - SPECIFIC)
            scores **= weak
            for column, (i, j) in enumerate(near):
                pairs[:, i, j] = pairs[:, j, i] = scores[:, column]
        matched **= power
        # A noun for a kind of thing is related to the relations that such things have.
        highest = strength.max(axis=0)
        cosine_types = _scaled(self.vectors(signatures) @ asked[:width].T)[signature]
        row = {s: int(r) for s, r in zip(steps, relation, strict=True)}
        kinds = np.stack([highest * self._share_of(text.signature, row, shares) for text in described])
        types = np.maximum(kinds, cosine_types)
        own_type = np.maximum(highest * self._share_of(own, row, shares), _scaled(self.vectors([self._signature_text(own)])[0] @ asked[:width].T))
        for column, token in enumerate(tokens):
            if token.is_interrogative:
                types[:, column] = [_answers(question.asks, text.kind) for text in described]
        directions = np.array([[_direction(text, token) for token in tokens] for text in described], dtype=np.float64)
        return Evidence(matched[relation], pairs[relation], types, directions, own_type, highest)

    def _share_of(self, signature: Sequence[int], row: Mapping[int, int], shares: Floats) -> Floats:
        forward = {row[s] for s in signature if s in row and not self.facts.steps[s].inverse}
        inverse = {row[s] for s in signature if s in row and self.facts.steps[s].inverse} - forward
        return shares[sorted(forward)].sum(axis=0) + INVERSE_SHARE * shares[sorted(inverse)].sum(axis=0)

    def _signature_text(self, signature: Sequence[int]) -> str:
        """Return a text for nodes that the steps of ``signature`` leave."""
        facts = self.facts
        frequent = sorted(signature, key=lambda step: (-int(facts.counts[step]), step))
        forward = [relation_words(facts.steps[s].relation) for s in frequent if not facts.steps[s].inverse]
        inverse = [relation_words(facts.steps[s].relation) for s in frequent if facts.steps[s].inverse]
        return ", ".join(dict.fromkeys(filter(None, [*forward, *inverse][:_MAX_SIGNATURE]))) or "thing"

    def _describe(self, step: int) -> StepText:
        facts = self.facts
        ends = facts.sample_ends(step, _SAMPLE)
        owners, leaving = facts.steps_at(ends)
        shares = np.bincount(leaving, minlength=len(facts.steps)) / max(len(ends), 1)
        frequent = np.flatnonzero(shares >= _MIN_SHARE)
        labels = [facts.names[end][:_MAX_LABEL_CHARS] for end in ends[:: max(1, len(ends) // _LABELS)][:_LABELS]]
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


def _scaled(cosines: Floats) -> Floats:
    """Map cosines to [0, 1]: unrelated words are at 0, synonyms near 1."""
    return np.clip((cosines - LOW_COSINE) / (HIGH_COSINE - LOW_COSINE), 0.0, 1.0)


def _softmax(values: Floats) -> Floats:
    """Return the softmax of each column."""
    powers = np.exp(values - values.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))


LOW_COSINE = 0.2
HIGH_COSINE = 0.7
# How sharply relations compete for a word, and how much their competition counts.
TEMPERATURE = 0.08
SPECIFIC = 0.7
INVERSE_SHARE = 0.5
ASKED_POWER = 2.0
KIND_POWER = 4.0


def _shares_stem(word: str, relation: Sequence[str]) -> float:
    """Return 1 if the word, or its end ("birthplace"), has the stem of a content word of the relation, else 0."""
    own = [other for other in relation if other not in FUNCTION_WORDS] or list(relation)
    if any(share_stem(word, other) for other in own):
        return 1.0
    long = [word[n:] for n in range(PREFIX_LENGTH - 1, len(word) - _MIN_SUFFIX + 1)]
    return 0.8 if any(share_stem(end, other) for end in long for other in own if len(other) >= _MIN_SUFFIX) else 0.0


def _answers(asks: str, kind: EndKind) -> float:
    """Return how well nodes of this kind answer an interrogative; negative if they cannot."""
    if asks == "when":
        return 1.0 if kind == "date" else -1.0
    if asks.startswith("how "):
        return 1.0 if kind == "number" else 0.3 if kind == "date" else -0.5
    if asks in INTERROGATIVES:
        return 0.3 if kind == "name" else -1.0
    return 0.0


def _direction(text: StepText, token: Token) -> int:
    direction = _DIRECTIONS[text.form].get(token.role, 0)
    return -direction if text.step.inverse else direction


def _form(words: Sequence[str]) -> Form:
    if len(words) > 1 and words[-1] == "by":
        return "passive"
    if len(words) > 1 and words[-1] == "of":
        return "of"
    first = words[0]
    inflected = len(first) >= PREFIX_LENGTH and first.endswith("s") and not first.endswith(("ss", "us", "is"))
    return "verb" if inflected and (len(words) == 1 or words[1] in FUNCTION_WORDS) else "noun"


def _end_kind(labels: Sequence[str]) -> EndKind:
    half = len(labels) / 2
    if sum(NAMELESS_LABEL.match(label) is not None for label in labels) <= half:
        return "name"
    return "date" if sum(DATE_LABEL.match(label) is not None for label in labels) > half else "number"

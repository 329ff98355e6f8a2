"""Split the evidence into sentences, and score each for how well it answers the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wikigr.embeddings.embedder import Embedder
from wikigr.index.candidate import Evidence, Section
from wikigr.question.question import Question
from wikigr.reader.passage import Span
from wikigr.retrieval.definition_patterns import subject
from wikigr.retrieval.units import Row, stemmed_units
from wikigr.segmentation import ends_as_prose

# Only the best sentences by the other features are encoded: encoding is half the cost of a question. On SQuAD 2.0,
# eight of them find 0.3% more answers among the first three, and thirty-two find no more than eight.
ENCODED = 6

# Weights of the features; they sum to 1. A listwise logistic model fitted on each half of the topics of SQuAD 2.0's
# development set gave nearly the same weights for both; these are the rounded means.
WEIGHTS = {
    "section": 0.15,
    "words": 0.12,
    "context": 0.20,
    "phrases": 0.10,
    "kind": 0.08,
    "vector": 0.20,
    "neighbours": 0.15,
}

# A table row, a list item without a period, a line of code or a question may be the answer, but reads badly as one.
FRAGMENT_FACTOR = 0.85


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """The sentence ``section.content[start:end]``, or another unit of the text, and its features, each in [0, 1].

    ``row`` is set if it is the row of a table or a property.

    ``section_score``: the section's relevance. ``term_coverage``: share of the question's terms in the sentence, by
    weight. ``context_coverage``: the same including the title and the previous sentence, to which a pronoun may refer.
    ``phrase_coverage``: share of the question's word pairs. ``answer_type_match``: 1 if it contains something of the
    expected answer type. ``cosine``: with the question. ``best_cosine``: the highest of its section.

    If the reader has read it, ``span`` is the short answer that it found here, and ``answer_score`` the probability
    that the sentence answers the question. ``name_spans`` are the names in it that were read as answers, too, and
    ``cell_spans`` the short answers in each cell of its row, ``None`` for a cell that was not read.
    """

    section: Section
    start: int
    end: int
    section_score: float
    term_coverage: float
    context_coverage: float
    phrase_coverage: float
    answer_type_match: float
    cosine: float = 0.0
    best_cosine: float = 0.0
    row: Row | None = None
    span: Span | None = None
    answer_score: float | None = None
    name_spans: tuple[Span, ...] = ()
    cell_spans: tuple[Span | None, ...] = ()

    @property
    def text(self) -> str:
        return self.section.content[self.start : self.end]

    @property
    def place(self) -> tuple[str, int]:
        """The section id and the start, which identify the sentence in its pack."""
        return self.section.section_id, self.start

    def parts(self) -> dict[str, float]:
        """Return the features by the names in ``WEIGHTS``, which are those of the JSON output."""
        return {
            "section": self.section_score,
            "words": self.term_coverage,
            "context": self.context_coverage,
            "phrases": self.phrase_coverage,
            "kind": self.answer_type_match,
            "vector": self.cosine,
            "neighbours": self.best_cosine,
        }

    @property
    def is_prose(self) -> bool:
        """Whether it ends as a sentence does, or in a displayed formula."""
        return ends_as_prose(self.text) or ":\n" in self.text

    @property
    def score(self) -> float:
        """How well it answers the question, in [0, 1]."""
        return self.feature_score if self.answer_score is None else self.answer_score

    @property
    def feature_score(self) -> float:
        """The weighted mean of the features, in [0, 1]."""
        parts = self.parts()
        total = sum(weight * parts[part] for part, weight in WEIGHTS.items())
        return total if self.is_prose else FRAGMENT_FACTOR * total


def rank_sentences(evidence: Sequence[Evidence], question: Question, encoder: Embedder | None) -> list[SentenceScore]:
    """Return the sentences of ``evidence``, best first; ties break by title, section and position.

    With an ``encoder``, the ``ENCODED`` best by the other features are also compared with the question by cosine, and
    precede the rest.
    """
    sentences = order_sentences(_split(evidence, question))
    head, tail = sentences[:ENCODED], sentences[ENCODED:]
    if not head or encoder is None:
        return sentences
    # The subject is prepended, because the sentence may say only "it" or "he".
    # A table on one line must not cost more than the whole question.
    vectors = encoder.encode([f"{subject(s.section)}: {s.text[:200]}" for s in head])
    cosines = [max(0.0, float(value)) for value in vectors @ question.vector]
    best: dict[str, float] = {}
    for sentence, cosine in zip(head, cosines, strict=True):
        key = sentence.section.section_id
        best[key] = max(best.get(key, 0.0), cosine)
    head = [
        replace(s, cosine=cosine, best_cosine=best[s.section.section_id])
        for s, cosine in zip(head, cosines, strict=True)
    ]
    return [*order_sentences(head), *tail]


def _split(evidence: Sequence[Evidence], question: Question) -> list[SentenceScore]:
    sentences: list[SentenceScore] = []
    for item in evidence:
        section = item.section
        title = set(question.stems(section.title))
        previous: set[str] = set()
        for unit, text, tokens in stemmed_units(section, question):
            own = set(tokens)
            sentences.append(
                SentenceScore(
                    section=section,
                    start=unit.start,
                    end=unit.end,
                    section_score=min(1.0, max(0.0, item.candidate.relevance)),
                    term_coverage=question.coverage(own),
                    context_coverage=question.coverage(own | previous | title),
                    phrase_coverage=question.phrase_coverage(tokens),
                    answer_type_match=float(question.is_answer_type_in(text)),
                    row=unit.row,
                )
            )
            previous = own
    return sentences


def order_sentences(sentences: Iterable[SentenceScore]) -> list[SentenceScore]:
    """Return ``sentences`` by score, best first; ties break by title, section and position."""
    return sorted(sentences, key=lambda s: (-s.score, s.section.title, s.section.section_id, s.start))

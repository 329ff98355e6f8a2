"""One analysis of a question, made once and handed to every stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import pairwise

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import UsageError
from wikigr.index.lexical import MAX_QUERY_WORDS, LexicalIndex, stems
from wikigr.index.snippets import QueryTerms
from wikigr.languages import ENGLISH, Language
from wikigr.question import patterns
from wikigr.question.answer_type import AnswerType, answer_type
from wikigr.question.dates import Dates, dates_asked_for, dates_in, is_dated, quarters_in
from wikigr.stop_words import QUESTION_WORDS
from wikigr.text import PREFIX_LENGTH, composed, of_families_in, scrub

# Parts of the analysis compare every date or clause of a question with every other one.
MAX_QUESTION_CHARS = 20_000
# Every text is searched for each of them.
_MAX_DATES = 10
_NAME = re.compile(r"(?<=\w )[A-ZÀ-Þ][\w'’-]+")


class QuestionError(UsageError):
    """A question is empty or too long. Others of the same run may be good."""


@dataclass(frozen=True, slots=True)
class SelectionSize:
    """Articles to read, and sections to read of each.

    The numbers come from reference/multidoc-synthesizer.md, "Performance Tuning". Its column ``min_relevance`` suits
    other encoders, so ``auto`` uses the pack's own calibrated threshold instead.
    """

    num_docs: int
    max_sections: int


def selection_size(question: str) -> SelectionSize:
    """Return the documented size of the selection for ``question``, factual unless worded otherwise."""
    if patterns.ASKS_OVERVIEW.search(question):
        return SelectionSize(7, 5)
    if patterns.ASKS_EXPLANATION.search(question):
        return SelectionSize(5, 3)
    if patterns.ASKS_DETAIL.search(question):
        return SelectionSize(3, 3)
    return SelectionSize(3, 2)


@dataclass(frozen=True)
class Question:
    """A question as every stage sees it.

    ``weights`` maps each content stem to its inverse document frequency in the pack. ``pairs`` are neighboring stems,
    at least one of them a content stem. ``answer_type`` is the type of thing that answers it, if the wording shows it;
    ``selection_size`` is how many articles and sections an answer needs. ``language`` is that of the pack. ``asked`` is
    the question in the user's words, if ``text`` has other names in it. ``today`` is the day from which ages count.
    """

    text: str
    weights: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    answer_type: AnswerType | None
    selection_size: SelectionSize
    encode: Callable[[Sequence[str]], Vectors] = field(repr=False, compare=False)
    language: Language = ENGLISH
    asked: str = ""
    today: date | None = None

    def stems(self, text: str) -> list[str]:
        """Return the stems of the words of ``text``, made as those of the question are, and of what is ``restated``."""
        return stems(text, self.language) + self.restated(text)

    def restated(self, text: str) -> list[str]:
        """Return the stems of the dates and quarters of the question that ``text`` has, maybe in another form."""
        found: list[str] = []
        if self._quarters:
            for quarter, _, _ in quarters_in(text):
                found += self._quarters.get(quarter, ())
        written = [date for date, _, _ in dates_in(text)] if self._dates else []
        for asked, own in self._dates:
            if any(map(asked.holds, written)) or is_dated(text, asked):
                found += own
        return found

    @cached_property
    def _dates(self) -> list[tuple[Dates, list[str]]]:
        """The first days that the question names, with its stems for them."""
        dates = dates_asked_for(self.text) if self.language.is_english else []
        return [
            (days, stems(self.text[start:end], self.language))
            for days, start, end in dates[:_MAX_DATES]
            if days.are_days
        ]

    @cached_property
    def _quarters(self) -> dict[int, list[str]]:
        """The quarters of a year that the question names, each with its stems for it."""
        found = quarters_in(self.text) if self.language.is_english else []
        return {quarter: stems(self.text[start:end], self.language) for quarter, start, end in found}

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of capitalized words after another word."""
        # In other languages, capitals do not tell names alike: German has them on every noun, Chinese on none.
        found = _NAME.findall(self.text) if self.language.is_english else ()
        return frozenset(stem for name in found for stem in self.stems(name) if stem in self.weights)

    @cached_property
    def vector(self) -> Vectors:
        """The unit vector of the text, float32 of shape ``(d,)``, encoded on first use."""
        vector: Vectors = self.encode([self.text])[0]
        return vector

    def similarity(self, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each of ``texts`` with the question."""
        return [float(cosine) for cosine in self.encode(texts) @ self.vector] if texts else []

    @cached_property
    def lowered(self) -> str:
        """The text in lower case."""
        return self.text.lower()

    def coverage(self, tokens: Set[str]) -> float:
        """Return the share, by weight, of the question's stems that ``tokens`` holds, in [0, 1]."""
        total = sum(self.weights.values())
        if not total:
            return 0.0
        # A related word shares most of its letters ("Norman", "Normandy").
        related = of_families_in(tokens, (s for s in self.weights if len(s) > PREFIX_LENGTH and s not in tokens))
        found = 0.0
        for stem, weight in self.weights.items():
            if stem in tokens:
                found += weight
            elif stem in related:
                found += 0.7 * weight
        return found / total

    def phrase_coverage(self, tokens: Sequence[str]) -> float:
        """Return the share of the question's pairs that stand side by side in ``tokens``, in [0, 1]."""
        return len(self.pairs & set(pairwise(tokens))) / len(self.pairs) if self.pairs else 0.0

    def is_answer_type_in(self, text: str) -> bool:
        """Return whether ``text`` contains something of the expected type that the question itself does not mention."""
        if self.answer_type is None:
            return True
        return any(match.group().lower() not in self.lowered for match in self.answer_type.found_by.finditer(text))


def analyze(text: str, index: LexicalIndex, encode: Callable[[Sequence[str]], Vectors]) -> Question:
    """Analyze a question against the pack whose lexical index is ``index``; raises the errors of ``checked``.

    ``encode`` maps texts to unit vectors of shape ``(len(texts), d)``. It is not called before the vector is needed.
    """
    text = checked(text)
    language = index.language
    weights = query_terms(text, index).weights
    pairs = frozenset(pair for pair in pairwise(stems(text, language)) if weights.keys() & set(pair))
    return Question(text, weights, pairs, answer_type(text, language), selection_size(text), encode, language)


def query_terms(text: str, index: LexicalIndex) -> QueryTerms:
    """Return the content stems of ``text``, weighted by their rarity in the pack whose lexical index is ``index``."""
    weights = {stem: index.rarity(stem) for stem in content_stems(text, index.language)}
    return QueryTerms(weights, index.language)


def checked(text: str) -> str:
    """Return the text of a question in the form of stored text; raises ``QuestionError`` if it is empty or too long."""
    if len(text) > MAX_QUESTION_CHARS:
        raise QuestionError(f"The question has {len(text):,} characters, more than {MAX_QUESTION_CHARS:,}.")
    text = composed(scrub(text))
    if not text.strip():
        raise QuestionError("The question is empty.")
    return text


def content_stems(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the stems of the words of ``text`` that say what it is about, in order."""
    ignored = language.stop_words(QUESTION_WORDS)
    tokens = (token for token in language.tokens(text)[:MAX_QUERY_WORDS] if token.lower() not in ignored)
    return [stem for token in tokens for stem in stems(token, language)]

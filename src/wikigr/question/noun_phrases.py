"""The noun phrases and the capitalized words of a question, found by its wording alone. English only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from wikigr.names import name_words, strip_possessive
from wikigr.question.grammar import (
    ARTICLES,
    AUXILIARIES,
    DEMONSTRATIVES,
    DO,
    INTERROGATIVES,
    PREPOSITIONS,
    tokenize,
)
from wikigr.stop_words import FUNCTION_WORDS

_DETERMINERS = ARTICLES | DEMONSTRATIVES | frozenset("each every some any no another most".split())
# A new clause begins at these: a pronoun after one may refer to what stands before it.
BOUNDARIES = frozenset(
    "after although and as because before but if once or since than that though unless until when where whether "
    "which while who whom whose".split()
)
OUTSIDE_PHRASES = FUNCTION_WORDS | AUXILIARIES | BOUNDARIES
# The ends of nouns for persons.
_PERSONAL = re.compile(r"(?:man|woman|men|women|people|person|child|children|boy|girl|king|queen|[eo]r|ist|ian)s?$")
PLURAL = re.compile(r"(?:[^s]s|people|children|men|women)$")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase at ``start:end`` of a question."""

    text: str
    start: int
    end: int
    has_article: bool

    @property
    def is_plural(self) -> bool:
        return PLURAL.search(self.text.lower()) is not None

    @property
    def is_personal(self) -> bool:
        return _PERSONAL.search(self.text.lower()) is not None


def words_in(text: str) -> list[str]:
    return [word for word, _, _ in name_words(text)]


def capitalized(text: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalized words of a question after its first word, without possessive endings."""
    words = [word for word in tokenize(text) if not word.is_mark][1:]
    run: list[tuple[int, int]] = []
    for word in words:
        is_name = word.text[0].isupper() and word.lowered not in FUNCTION_WORDS
        if is_name and run and text[run[-1][1] : word.start] == " ":
            run[-1] = run[-1][0], word.end
        elif is_name:
            run.append((word.start, word.end))
    yield from ((start, start + len(strip_possessive(text[start:end]))) for start, end in run)


def noun_phrases(text: str) -> Iterator[NounPhrase]:
    """Yield the runs of content words after an article or another determiner, or an auxiliary.

    What is asked for is none in "Which city did …", where it is an object.
    """
    words = [word for word in tokenize(text) if not word.is_mark]
    lowered = [word.lowered for word in words]
    for number, word in enumerate(lowered):
        asks = word in ("which", "what", "whose")
        # "Since students pay no tuition, …"
        opens_clause = number == 0 and word in BOUNDARIES - INTERROGATIVES
        if not (word in _DETERMINERS or word in AUXILIARIES or asks or opens_clause):
            continue
        run = list(takewhile(lambda n: lowered[n] not in OUTSIDE_PHRASES, range(number + 1, len(words))))
        # "the society elected | Chien-Shiung Wu"
        run = run[:1] + list(takewhile(lambda n: words[n].text.islower() or words[n - 1].text[0].isupper(), run[1:]))
        if not run:
            continue
        if asks and (run[-1] + 1 < len(words) and lowered[run[-1] + 1] in DO):
            continue
        after = lowered[run[-1] + 1 : run[-1] + 2]
        ends = not after or after[0] in ARTICLES | PREPOSITIONS - {"of", "with"}
        if len(run) > 1 and ends and not DO.isdisjoint(lowered[max(0, number - 1) : number + 1]):
            # The verb: "What does a student ticket cost?"
            run.pop()
        is_article = word in _DETERMINERS
        start, end = words[number if is_article else run[0]].start, words[run[-1]].end
        yield NounPhrase(text[start:end], start, end, is_article)

"""How English builds a question: its closed classes of words, and a question's division into words and marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# A longer text is a pasted page rather than a question. The time to match a comparison grows with its square.
MAX_CHARS = 600

ARTICLES = frozenset("a an the".split())
DEMONSTRATIVES = frozenset("that these this those".split())
POSSESSIVES = frozenset("her his its my our their your".split())
PERSONAL = (
    DEMONSTRATIVES
    | POSSESSIVES
    | frozenset("he her here him i it me mine one she theirs them there they us we you".split())
)
PREPOSITIONS = frozenset(
    """about after against as at before between by during for from in into near of on over since to toward towards
    under until with without""".split()
)
COPULAS = frozenset("are is was were".split())
BE = COPULAS | {"am", "be", "been"}
DO = frozenset("did do does".split())
AUXILIARIES = BE | DO | frozenset("can could had has have may might must shall should will would".split())
ASKING_ADVERBS = frozenset("how when where why".split())
# "who" and its forms, which stand for persons.
WHO = frozenset("who whom whose".split())
INTERROGATIVES = ASKING_ADVERBS | WHO | {"what", "which"}
RELATIVES = WHO | {"that", "where", "which"}
COORDINATORS = frozenset("and both or".split())
NEGATIONS = frozenset("neither never no nor not".split())
# Interjections, and the words that go with them.
COURTESIES = frozenset(
    """again afternoon all bye cheers cool day evening everybody everyone fine good goodbye great hello hey hi lot
    morning nice night no ok okay perfect please quite sorry thank thanks thx very welcome well yeah yep yes""".split()
)
_NEGATED = ("n't", "n’t")
# Adjectives and adverbs that "how" asks a number with.
MEASURES = frozenset("big deep far fast heavy high large long many much often old tall".split())
# Relations do not state ranks, negations, reasons and manners. An answer from facts that leaves such a word out answers
# another question.
RESTRICTIVE = NEGATIONS | frozenset(
    """earlier earliest early except excluding fewer first former highest largest last late later latest least less
    longest lowest more most newest next oldest only original previous second shortest smallest biggest tallest third
    why without youngest""".split()
)
# By their values.
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()

# Words keep inner dots and hyphens ("St. Louis", "cobalt-60").
_TOKEN = re.compile(r"[^\W_](?:[\w'’.&–-]*[\w'’])?|[,;:\"“”()]")


@dataclass(frozen=True, slots=True)
class Word:
    """The word or punctuation mark ``text`` at ``start:end`` of a question, and ``lowered`` in lower case."""

    text: str
    start: int
    end: int

    @property
    def lowered(self) -> str:
        return self.text.lower()

    @property
    def is_mark(self) -> bool:
        return not self.text[0].isalnum()


def tokenize(text: str) -> list[Word]:
    """Return the words and punctuation marks of ``text``, in order."""
    return [Word(match[0], *match.span()) for match in _TOKEN.finditer(text)]


def is_negation(word: str) -> bool:
    """Return whether a word, in lower case, negates: "never", "isn't"."""
    return word in NEGATIONS or word.endswith(_NEGATED)


def is_pronoun(text: str) -> bool:
    """Return whether ``text`` only points at what is named elsewhere: "she", "there", "that city"."""
    said = text.lower().split()
    return bool(said) and (
        PERSONAL.issuperset(said) or (said[0] in DEMONSTRATIVES and len(said) <= 2 and text.islower())
    )


def one_of(words: Iterable[str]) -> str:
    """Return the alternatives of a pattern for any of ``words``; put them in a group."""
    return "|".join(sorted(words))

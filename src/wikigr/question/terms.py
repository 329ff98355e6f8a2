"""What a question asks for: its content words with their weight in the pack, and the kind of answer expected."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from wikigr.index.lexical import MAX_QUERY_WORDS, LexicalIndex, query_words, stems
from wikigr.names import bare_name
from wikigr.question.answer_type import expected_kind
from wikigr.segmentation import QUESTION_START

# Words of a question that say how it asks, not what it asks about.
_QUESTION_WORDS = frozenset(
    """a about an and any are as at be been being but by can could did do does for from had has have he her him his
    how i if in into is it its may me might more most much many my of on or our out s she should so some such tell
    than that the their them then there these they this those to too us was we were what when where which while
    who whom whose why will with would you your name called known kind type define describe explain""".split()
)

# "What is a coroutine?", "Who was Ada Lovelace", "define spin", "spin"
_ASKS_WHAT = re.compile(
    r"\W*(?:(?:what|who)(?:['’]s|\s+(?:is|are|was|were))\s(?!(?:about|at|for|from|in|like|of|on|to|with)\b)|"
    r"(?:define|explain|describe)\b|tell me (?:all )?about\b|what (?:do|does|did)\s.+\sdo\W*$|"
    rf"(?!{QUESTION_START}))"
)
_ASKS_LIFE = re.compile(r"\b(?:born|birth\w*|die[ds]?|death)\b")
_ASKS_WHERE = re.compile(r"\b(?:where|place|city|town|country|birthplace)\b")
_ASKS_WHEN = re.compile(r"\b(?:when|dates?|year|day|month|birthday)\b")
_OF_LIFE = frozenset({"born", "birth", "birthday", "die", "death", "date", "day", "year", "month"})

# A stem counts in part when a word of the text shares most of its letters ("Norman", "Normandy").
_RELATED = 0.7
_RELATED_PREFIX = 4
_RELATED_SHARE = 0.7


@dataclass(frozen=True)
class QuestionTerms:
    """``weights`` maps each content stem of the question to its inverse document frequency in the pack.

    ``pairs`` are neighboring stems with a content stem among them. ``expects`` finds the kind of thing that
    would answer (a date, a number, a name …), or is ``None``.
    """

    text: str
    weights: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    expects: re.Pattern[str] | None

    def coverage(self, tokens: Set[str]) -> float:
        """Return the share, by weight, of the question's stems that ``tokens`` holds, in [0, 1]."""
        total = sum(self.weights.values())
        if not total:
            return 0.0
        related = {
            stem
            for token in tokens
            for stem in self._stems_by_start.get(token[:_RELATED_PREFIX], ())
            if _related(stem, token)
        }
        found = 0.0
        for stem, weight in self.weights.items():
            if stem in tokens:
                found += weight
            elif stem in related:
                found += _RELATED * weight
        return found / total

    @cached_property
    def _stems_by_start(self) -> dict[str, list[str]]:
        """The stems that count in part, by their first letters."""
        starts: dict[str, list[str]] = {}
        for stem in self.weights:
            if len(stem) > _RELATED_PREFIX:
                starts.setdefault(stem[:_RELATED_PREFIX], []).append(stem)
        return starts

    def phrase_coverage(self, tokens: Sequence[str]) -> float:
        """Return the share of the question's pairs that stand side by side in ``tokens``, in [0, 1]."""
        return len(self.pairs & set(pairwise(tokens))) / len(self.pairs) if self.pairs else 0.0

    def asks_what_is(self, title: str) -> bool:
        """Tell whether the question asks what, or who, ``title`` is, and nothing else; its bare name does too."""
        if _ASKS_WHAT.match(self.text) is None:
            return False
        named, asked = name_stems(title), set(self.weights)
        return bool(named) and (asked == named or asked == set(_content_stems(title)))

    def asks_what_entry_is(self, heading: str) -> bool:
        """Tell whether the question asks what the entry ``heading`` of a reference is or does; its last name will do.

        "functools.lru_cache" is asked for as ``lru_cache`` too, and not as ``functools``.
        """
        if _ASKS_WHAT.match(self.text) is None:
            return False
        named, asked = _content_stems(heading), self.weights.keys()
        return bool(asked) and asked <= set(named) and named[-1] in asked

    def asks_when_lived(self, title: str) -> bool:
        """Tell whether the question asks when who is called ``title`` was born or died, and nothing else."""
        if not (_ASKS_LIFE.search(self.text) and _ASKS_WHEN.search(self.text)):
            return False
        named = name_stems(title)
        return bool(named) and named <= self.weights.keys() <= named | _OF_LIFE

    def asks_lead(self, title: str) -> bool:
        """Tell whether one looks at the lead of ``title`` first: for what it is, for when one was born or died."""
        if not (_ASKS_LIFE.search(self.text) and (_ASKS_WHEN.search(self.text) or _ASKS_WHERE.search(self.text))):
            return self.asks_what_is(title)
        named = name_stems(title)
        return bool(named) and named <= self.weights.keys()

    def expected_in(self, text: str) -> bool:
        """Tell whether ``text`` holds a thing of the expected kind that the question does not say itself."""
        if self.expects is None:
            return True
        return any(match.group().lower() not in self.text for match in self.expects.finditer(text))


def _related(stem: str, token: str) -> bool:
    shared = 0
    for ours, theirs in zip(stem, token, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared >= _RELATED_SHARE * max(len(stem), len(token))


def name_stems(title: str) -> frozenset[str]:
    """Return the stems of the name in ``title``, without its qualifier, as a question's stems are made."""
    return frozenset(_content_stems(bare_name(title)))


def _content_stems(text: str) -> list[str]:
    """Return the stems of the words of ``text`` that say what it is about, in order."""
    tokens = (token for token in query_words(text)[:MAX_QUERY_WORDS] if token.lower() not in _QUESTION_WORDS)
    return [stem for token in tokens for stem in stems(token)]


def read_question(question: str, index: LexicalIndex) -> QuestionTerms:
    """Analyze ``question`` against the pack that ``index`` belongs to."""
    weights = {stem: index.rarity(stem) for stem in _content_stems(question)}
    pairs = frozenset(pair for pair in pairwise(stems(question)) if weights.keys() & set(pair))
    return QuestionTerms(question.lower(), weights, pairs, expected_kind(question))

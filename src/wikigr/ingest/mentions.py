"""Mentions: occurrences of article names in running text, found with an Aho-Corasick automaton."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wikigr.ingest.engines.engine import Engine
from wikigr.ingest.staging import Staging
from wikigr.names import bare_name, is_part_of_name, is_unspaced, may_be_plain_word, within_word
from wikigr.progress import Progress
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# "I" is always a capital and "A" is mostly the first word of a sentence, so neither can be recognized as a name.
_NEVER_NAMES = frozenset("AI")

# Shorter names match only as written: "Go" the game, but not every "go".
MIN_NAME_CHARS = 3

# A name without a qualifier is as likely as one of which the text contains half the qualifying words.
_UNQUALIFIED_SHARE = 0.5

# Code points in one grapheme cluster. A longer sequence of combining marks is not text, and composing it anew with
# every mark would take quadratic time.
_MAX_CLUSTER_LENGTH = 32


def find_mentions(staging: Staging, progress: Progress, engine: Engine) -> None:
    """Fill ``mention`` by matching the names of all articles against every article's text."""
    matcher = NameMatcher(staging.rows("SELECT name, article FROM name WHERE rank < 2 ORDER BY fold, name"))
    progress.start("linking", staging.count("article"), "articles")
    with staging.transaction():
        articles = (
            (int(n), str(content)) for n, content in staging.rows("SELECT id, content FROM article ORDER BY id")
        )
        for number, found in engine.find_mentions(matcher, articles):
            staging.write("INSERT OR IGNORE INTO mention VALUES (?, ?)", [(number, target) for target in found])
            progress.advance(1)


def find_targets(matcher: NameMatcher, number: int, content: str) -> list[int]:
    """Return the numbers of the articles that ``content``, the text of the article ``number``, mentions, in order."""
    return sorted({target for _, _, target in matcher.find(content)} - {number})


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write an article's name; ``qualifiers`` are the words of the title that it omits.

    A ``weak`` form may be an ordinary word that is capitalized because of its position.
    """

    written: str
    article: int
    qualifiers: frozenset[str]
    only_as_written: bool
    weak: bool


class NameMatcher:
    """Finds names in running text: longest match first, at word boundaries.

    A name matches as it is written, or with its first letter in lower case ("wave function"); other differences in case
    count ("who" does not match "WHO"). Names of function words, of digits, or with fewer than three letters match only
    as written. A single word does not match inside a longer name in the text ("United" in "United States"). A name
    of function words or of one letter does not match where its capital may come from its position, as at the start of a
    sentence. "I", "A" and lowercase function words never match. Scripts without spaces need no word boundaries, but
    names of a single such character are ignored. Composed and decomposed letters are equivalent.

    Texts rarely repeat a title's qualifier, "(planet)" or ", New York", so the bare name is matched as well, but only
    as written. If a name is ambiguous, the articles whose qualifiers appear in the text are chosen.
    """

    def __init__(self, names: Iterable[tuple[Any, ...]]) -> None:
        import ahocorasick

        self._automaton = ahocorasick.Automaton()
        count = 0
        for written, article in names:
            name = unicodedata.normalize("NFC", written)
            count += self._add(name, article, frozenset())
            bare = bare_name(name)
            if bare != name:
                self._add(bare, article, frozenset(words(name)) - frozenset(words(bare)) - FUNCTION_WORDS)
        self._usable = count > 0
        if self._usable:
            self._automaton.make_automaton()

    def _add(self, name: str, article: int, qualifiers: frozenset[str]) -> bool:
        key = _lower(name)
        of_function_words = all(word in FUNCTION_WORDS for word in words(name))
        if (
            not any(c.isalnum() for c in key)
            or name in _NEVER_NAMES
            or (of_function_words and name.islower())
            or (len(name) == 1 and is_unspaced(name))
        ):
            return False
        is_weak = of_function_words or len(name) == 1
        only_as_written = bool(qualifiers) or len(key) < MIN_NAME_CHARS or is_weak or not any(c.isalpha() for c in key)
        # The inner capitals of "IT" and "The Who" do not come from the start of a sentence.
        form = _Form(name, article, qualifiers, only_as_written, is_weak and not any(c.isupper() for c in name[1:]))
        if key in self._automaton:
            self._automaton.get(key).append(form)
        else:
            self._automaton.add_word(key, [form])
        return True

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return ``(start, end, article)`` for each name in ``text``, left to right, without overlaps.

        An ambiguous name is returned once for each of the best-fitting articles.
        """
        if not self._usable:
            return []
        text, places = _composed(text)
        hits: list[tuple[int, int, list[_Form]]] = []
        for last, forms in self._automaton.iter(_lower(text)):
            end = last + 1
            start = end - len(forms[0].written)
            if within_word(text, start) or within_word(text, end):
                continue
            written = text[start:end]
            fitting = [form for form in forms if _is_written(form, written)]
            if any(form.weak for form in fitting) and may_be_plain_word(text, start, end):
                fitting = [form for form in fitting if not form.weak]
            if fitting and not (" " not in written and is_part_of_name(text, start, end)):
                hits.append((start, end, fitting))
        hits.sort(key=lambda hit: (hit[0], -hit[1]))
        known: frozenset[str] | None = None
        chosen: list[tuple[int, int, int]] = []
        free = 0
        for start, end, forms in hits:
            if start < free:
                continue
            free = end
            if len(forms) > 1:
                known = known or frozenset(words(text))
                forms = _best_fitting(forms, known)
            chosen += [(places[start], places[end], form.article) for form in forms]
        return chosen


def _is_written(form: _Form, written: str) -> bool:
    if written == form.written:
        return True
    return not form.only_as_written and written[1:] == form.written[1:] and written[0] == form.written[0].lower()


def _best_fitting(forms: list[_Form], known: frozenset[str]) -> list[_Form]:
    shares = [
        len(form.qualifiers & known) / len(form.qualifiers) if form.qualifiers else _UNQUALIFIED_SHARE for form in forms
    ]
    best = max(shares)
    return [form for form, share in zip(forms, shares, strict=True) if share == best and best > 0]


def _lower(text: str) -> str:
    """Return ``text`` in lower case without changing its length, so that offsets remain valid."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _composed(text: str) -> tuple[str, Sequence[int]]:
    """Return ``text`` in NFC, and the original offset of each of its characters and of its end."""
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    parts: list[str] = []
    begins: list[int] = []
    for place, character in enumerate(text):
        single = unicodedata.normalize("NFC", character)
        is_open = bool(parts) and len(parts[-1]) < _MAX_CLUSTER_LENGTH
        joined = unicodedata.normalize("NFC", parts[-1] + character) if is_open else single
        if is_open and (unicodedata.combining(character) or joined != parts[-1] + single):
            parts[-1] = joined
        else:
            parts.append(single)
            begins.append(place)
    places = [begin for part, begin in zip(parts, begins, strict=True) for _ in part]
    return "".join(parts), [*places, len(text)]

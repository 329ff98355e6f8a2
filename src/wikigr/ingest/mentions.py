"""Mentions: occurrences of article names in running text, found with an Aho-Corasick automaton."""

from __future__ import annotations

import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wikigr.names import bare_name, is_part_of_name, is_unspaced, may_be_plain_word, within_word
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# "I" is always a capital and "A" is mostly the first word of a sentence, so neither can be recognized as a name.
_NEVER_NAMES = frozenset("AI")


def find_targets(matcher: NameMatcher, number: int, content: str) -> list[int]:
    """Return the numbers of the articles that ``content``, the text of the article ``number``, mentions, in order."""
    return sorted({target for _, _, target in matcher.find(content)} - {number})


class _Forms:
    """The ways to write the names of articles, by number, in three flat buffers instead of one object for each.

    A form has the name as written and the words of the title that it omits (``qualifiers``). It may match only as it is
    written, and a weak form may be an ordinary word that is capitalized because of its position.
    """

    _ONLY_AS_WRITTEN, _WEAK = 1, 2

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("q")  # two for each form: of the name as written and of its qualifiers
        self._articles = array("q")
        self._flags = bytearray()

    def __len__(self) -> int:
        return len(self._articles)

    def append(
        self, written: str, article: int, qualifiers: frozenset[str], *, only_as_written: bool, weak: bool
    ) -> None:
        for text in (written, " ".join(sorted(qualifiers))):
            self._text += text.encode()
            self._ends.append(len(self._text))
        self._articles.append(article)
        self._flags.append(self._ONLY_AS_WRITTEN * only_as_written | self._WEAK * weak)

    def all_written(self) -> Iterator[str]:
        return (self.written(form) for form in range(len(self)))

    def written(self, form: int) -> str:
        return self._text[self._ends[2 * form - 1] if form else 0 : self._ends[2 * form]].decode()

    def qualifiers(self, form: int) -> frozenset[str]:
        return frozenset(self._text[self._ends[2 * form] : self._ends[2 * form + 1]].decode().split(" ")) - {""}

    def article(self, form: int) -> int:
        return self._articles[form]

    def is_weak(self, form: int) -> bool:
        return bool(self._flags[form] & self._WEAK)

    def is_written(self, form: int, text: str) -> bool:
        """Return whether ``text``, which is spelled like the form except for case, is a way to write it."""
        written = self.written(form)
        if text == written:
            return True
        if self._flags[form] & self._ONLY_AS_WRITTEN:
            return False
        return text[1:] == written[1:] and text[0] == written[0].lower()


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
        """Build the matcher from pairs of a name and its article's number. It can be pickled."""
        self._forms = _Forms()
        usable = False
        for written, article in names:
            name = unicodedata.normalize("NFC", written)
            usable |= self._add(name, article, frozenset())
            bare = bare_name(name)
            if bare != name:
                self._add(bare, article, frozenset(words(name)) - frozenset(words(bare)) - FUNCTION_WORDS)
        if not usable:
            self._forms = _Forms()
        self._automaton = _automaton(self._forms)

    def __getstate__(self) -> _Forms:
        return self._forms

    def __setstate__(self, forms: _Forms) -> None:
        self._forms = forms
        self._automaton = _automaton(forms)

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
        self._forms.append(
            name,
            article,
            qualifiers,
            only_as_written=bool(qualifiers)
            or len(key) < 3  # "Go" the game, but not every "go"
            or is_weak
            or not any(c.isalpha() for c in key),
            # The inner capitals of "IT" and "The Who" do not come from the start of a sentence.
            weak=is_weak and not any(c.isupper() for c in name[1:]),
        )
        return True

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return ``(start, end, article)`` for each name in ``text``, left to right, without overlaps.

        An ambiguous name is returned once for each of the best-fitting articles.
        """
        if not len(self._forms):
            return []
        text, places = _composed(text)
        spelled: dict[tuple[int, int], list[int]] = defaultdict(list)
        last, is_cut = -1, False
        for form, start, end in self._automaton.find_matches_as_indexes(_lower(text), overlapping=True):
            if end != last:  # matches are ordered by their ends, and most end within a word
                last, is_cut = end, within_word(text, end)
            if not (is_cut or within_word(text, start)):
                spelled[start, end].append(form)
        known: frozenset[str] | None = None
        chosen: list[tuple[int, int, int]] = []
        free = 0
        # Longer names first where several begin.
        for start, end in sorted(spelled, key=lambda span: (span[0], -span[1])):
            if start < free:
                continue
            fitting = self._fitting(sorted(spelled[start, end]), text, start, end)
            if not fitting:
                continue
            free = end
            if len(fitting) > 1:
                known = known or frozenset(words(text))
                fitting = self._best_fitting(fitting, known)
            chosen += [(places[start], places[end], self._forms.article(form)) for form in fitting]
        return chosen

    def _fitting(self, forms: list[int], text: str, start: int, end: int) -> list[int]:
        """Return those of ``forms`` as which the text from ``start`` to ``end`` can be read."""
        written = text[start:end]
        fitting = [form for form in forms if self._forms.is_written(form, written)]
        if any(self._forms.is_weak(form) for form in fitting) and may_be_plain_word(text, start, end):
            fitting = [form for form in fitting if not self._forms.is_weak(form)]
        if fitting and " " not in written and is_part_of_name(text, start, end):
            return []
        return fitting

    def _best_fitting(self, forms: list[int], known: frozenset[str]) -> list[int]:
        """Return those of ``forms`` of whose qualifiers the largest share is among the ``known`` words, if any are."""
        shares = []
        for form in forms:
            qualifiers = self._forms.qualifiers(form)
            # A name without a qualifier is as likely as one of which the text contains half the qualifying words.
            shares.append(len(qualifiers & known) / len(qualifiers) if qualifiers else 0.5)
        best = max(shares)
        return [form for form, share in zip(forms, shares, strict=True) if share == best and best > 0]


def _automaton(forms: _Forms) -> Any:
    """Return an automaton that finds the lower-case form with each number; equal ones are found together."""
    import ahocorasick_rs

    return ahocorasick_rs.AhoCorasick(
        map(_lower, forms.all_written()),
        implementation=ahocorasick_rs.Implementation.ContiguousNFA,
        store_patterns=False,
    )


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
        # A longer sequence of combining marks is not text, and composing it anew with every mark would take quadratic
        # time.
        is_open = bool(parts) and len(parts[-1]) < 32
        joined = unicodedata.normalize("NFC", parts[-1] + character) if is_open else single
        if is_open and (unicodedata.combining(character) or joined != parts[-1] + single):
            parts[-1] = joined
        else:
            parts.append(single)
            begins.append(place)
    places = [begin for part, begin in zip(parts, begins, strict=True) for _ in part]
    return "".join(parts), [*places, len(text)]

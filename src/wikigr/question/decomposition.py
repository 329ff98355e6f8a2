"""Decompose a question about something that it only describes: first who or what that is, then the question about it.

"Where did the man die who invented dynamite?" describes its subject in a relative clause. The clause is found by the
words that begin one; no parse is needed. ``two_parts`` divides a question with two question words, "When and where was
she born?". English only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from wikigr.names import strip_possessive
from wikigr.question.grammar import (
    ARTICLES,
    ASKING_ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    COPULAS,
    INTERROGATIVES,
    MAX_CHARS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    WHO,
    is_negation,
    one_of,
    tokenize,
)
from wikigr.stop_words import FUNCTION_WORDS

_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")

_WITHOUT_NOUN = frozenset("where who".split())
# "the man who led the test take her doctorate": one of these follows the verb of the main clause.
_AFTER_VERB = ARTICLES | PREPOSITIONS | POSSESSIVES
_POSSESSIVE = ("'s", "’s", "s'", "s’")
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[,;:]|['’]s?\b)")
_INTERROGATIVES_IN_PLACE = frozenset("what which".split())


@dataclass(frozen=True, slots=True)
class Decomposition:
    """``description`` asks who or what is described; ``before`` and ``after`` are what the question says of it.

    ``is_clause`` says whether a relative clause describes it, rather than a noun phrase ("the author of …").
    """

    description: str
    before: str
    after: str
    is_clause: bool = True

    def ask_about(self, name: str) -> str:
        """Return the question about ``name`` in place of the description."""
        parts = " ".join(filter(None, (self.before, name, self.after)))
        return _SPACE_BEFORE_MARK.sub("", parts).strip() + "?"


def decompose(question: str) -> tuple[Decomposition, ...]:
    """Return the ways to understand ``question`` as one about something described, the likeliest first; often none.

    The outermost description is taken; a description within it is found by decomposing ``description`` again. Texts of
    more than ``MAX_CHARS`` characters are not decomposed.
    """
    if len(question) > MAX_CHARS:
        return ()
    words = _Words(question.strip().rstrip("?.! "))
    found: list[Decomposition] = []
    inside = False
    pronouns = words.relative_pronouns()
    if pronouns and words.negates_after(min(pronouns)):
        return ()
    for pronoun in pronouns:
        found = found or _by_relative_clause(words, pronoun, inside=inside)
        inside = True
    found = found or _by_noun_phrase(words)
    # More ways to understand one question cost more than they find.
    return tuple(dict.fromkeys(found))[:2]


class _Words:
    """The words and marks of a question; ``lowered`` holds them in lower case."""

    def __init__(self, text: str) -> None:
        quoted = [match.span() for match in _QUOTED.finditer(text)]
        self.text = text
        words = tokenize(text)
        self.places = [(word.start, word.end) for word in words]
        self.lowered = [word.lowered for word in words]
        self._quoted = [any(start < a and b < end for start, end in quoted) for a, b in self.places]
        has_case = text != text.lower() and text != text.upper()
        self._in_name = [has_case and n > 0 and text[start].isupper() for n, (start, _) in enumerate(self.places)]
        self.interrogative = self._find_interrogative()

    def __len__(self) -> int:
        return len(self.places)

    def between(self, first: int, last: int) -> str:
        """Return the text from word ``first`` to before word ``last``."""
        return self.text[self.places[first][0] : self.places[last - 1][1]] if first < last else ""

    def noun_phrase(self, article: int, last: int) -> str:
        """Return the noun phrase from ``article``, which may begin the question, to before word ``last``."""
        return f"{self.lowered[article]} {self.between(article + 1, last)}"

    def is_plain(self, number: int) -> bool:
        """Return whether a word is part of neither a name nor a quotation."""
        return not (self._in_name[number] or self._quoted[number])

    def _find_interrogative(self) -> int | None:
        """Return the place of the word that asks: near the beginning, or else "what" or "which" further on."""
        for number, word in enumerate(self.lowered):
            # "In which city …", but not "The man who …"
            asks = number == 0 or self.lowered[number - 1] in (",", *PREPOSITIONS)
            # The interrogative is among the first words ("In the name of which king …"); a later one begins a clause.
            near = number < 5 and asks
            if word in (INTERROGATIVES if near else _INTERROGATIVES_IN_PLACE):
                return number
        return None

    def names_before(self, last: int) -> bool:
        """Return whether a name or a quotation is among the words before ``last``."""
        return not all(self.is_plain(number) for number in range(last))

    def negates_after(self, first: int) -> bool:
        """Return whether a word from ``first`` on negates, outside of names and quotations."""
        # No text says who has not done something.
        return any(is_negation(self.lowered[n]) and self.is_plain(n) for n in range(first, len(self)))

    def relative_pronouns(self) -> list[int]:
        """Return the pronouns that may begin relative clauses, in order; "that", which may begin others, comes last."""
        found = [n for n in range(2, len(self)) if self._may_begin_clause(n)]
        return sorted(found, key=lambda number: self.lowered[number] == "that")

    def _may_begin_clause(self, number: int) -> bool:
        word, before = self.lowered[number], self.lowered[number - 1]
        return (
            word in RELATIVES
            and number != self.interrogative
            and self.is_plain(number)
            and number + 1 < len(self)
            and before not in ARTICLES
            and before not in COORDINATORS
            and not (word == "that" and before in PREPOSITIONS)
        )

    def end_of_clause(self, pronoun: int) -> int:
        """Return where the relative clause probably ends, if the predicate of the main clause follows it.

        That is before the last content word that follows another one, and that an object, a preposition or nothing
        follows: "… who led the parity test | take her doctorate". The verb of the clause and its subject stay in it.
        """
        content = [number for number in range(pronoun + 1, len(self)) if self._is_content(number)]
        kept = 1 if content[:1] == [pronoun + 1] else 2
        for number in reversed(content[kept:]):
            goes_on = number + 1 < len(self) and self.lowered[number + 1] not in _AFTER_VERB
            if not goes_on and (number - 1 in content or not self.is_plain(number - 1)):
                return number
        return len(self)

    def _is_content(self, number: int) -> bool:
        word = self.lowered[number]
        return self.is_plain(number) and word[0].isalnum() and word not in FUNCTION_WORDS

    def has_verb_before(self, number: int) -> bool:
        """Return whether a verb may stand between word ``number`` and the noun phrase before it: "the man train"."""
        article = _last_article(self, number)
        return article is not None and number - article > 2 and self.awaits_predicate(article)

    def awaits_predicate(self, number: int) -> bool:
        """Return whether the main clause goes on after the noun phrase that begins at ``number``.

        "Where did the man …" waits for a verb, but "who is the man …" and "what was won by the man …" do not.
        """
        if number and self.lowered[number - 1] in PREPOSITIONS - {"of"}:
            return False
        if self.interrogative is None or self.interrogative > number:
            return True
        asked = self.lowered[self.interrogative]
        auxiliaries = [n for n in range(number) if self.lowered[n] in AUXILIARIES and self.is_plain(n)]
        if not auxiliaries:
            return False
        follows = auxiliaries[0] == self.interrogative + 1
        return not (follows and asked in ("who", "what") and self.lowered[auxiliaries[0]] in COPULAS)


def _by_relative_clause(words: _Words, pronoun: int, *, inside: bool) -> list[Decomposition]:
    """Return decompositions by the clause that ``pronoun`` begins, which may be ``inside`` of another one."""
    asked_by = "Who" if words.lowered[pronoun] in WHO else "What"
    begin = pronoun
    if words.lowered[pronoun - 1] in PREPOSITIONS:
        if words.lowered[pronoun] not in _WITHOUT_NOUN:
            begin -= 1
        elif not words.has_verb_before(pronoun - 1):
            # "the girlfriend of who plays Marty", but not "the job did the man train for who …"
            clause = words.between(pronoun, len(words))
            return [Decomposition(f"{clause[0].upper()}{clause[1:]}?", words.between(0, pronoun), "")]
    start, clause = begin, words.between(begin, len(words))
    if words.lowered[begin - 1] == ",":
        begin -= 1
    article = _article_of_described(words, begin, pronoun)
    if article is None:
        return []
    pending = inside or words.awaits_predicate(article)
    if _is_frame(words, article) and not pending:
        # "Who is the man who …" asks for nothing else.
        return []
    before = words.between(0, article)
    found = []
    if pending and begin - article > 2 and words.is_plain(article + 1) and words.is_plain(begin - 1):
        # The verb stands before the clause: "the man die who". The description is "the man who".
        head = words.noun_phrase(article, article + 2)
        found.append(Decomposition(f"{asked_by} is {head} {clause}?", before, words.between(article + 2, begin)))
    # Where the main clause goes on after the relative clause, its end is a guess, so the clause stays in the question.
    head = words.noun_phrase(article, begin)
    described = words.between(start, words.end_of_clause(pronoun)) if pending else clause
    found.append(Decomposition(f"{asked_by} is {head} {described}?", before, clause if pending else ""))
    return found


def _article_of_described(words: _Words, begin: int, pronoun: int) -> int | None:
    """Return the article of what the clause from ``begin`` on describes."""
    article = _last_article(words, begin)
    if article is None or words.lowered[pronoun] != "that":
        return article
    # "the man who proved that …", "climbed a rock after checking that …": no noun stands right before.
    between = {words.lowered[n] for n in range(article, begin)}
    return None if between & (RELATIVES | AUXILIARIES | (PREPOSITIONS - {"of"})) else article


def _last_article(words: _Words, before: int) -> int | None:
    """Return the article of the noun phrase that ends before word ``before``."""
    return next((n for n in range(before - 2, -1, -1) if words.lowered[n] in ARTICLES and words.is_plain(n)), None)


def _by_noun_phrase(words: _Words) -> list[Decomposition]:
    """Return a decomposition by "X's mother" in "X's mother's spouse" or by "the author of X", if X alone is named."""
    for number, (word, following) in enumerate(pairwise(words.lowered)):
        if word.endswith(_POSSESSIVE) and following.endswith(_POSSESSIVE):
            first = _start_of_name(words, number)
            owner = words.between(first, number + 2)
            described = strip_possessive(owner)
            rest = f"{owner[len(described) :]} {words.between(number + 2, len(words))}"
            return [Decomposition(f"Who is {described}?", words.between(0, first), rest, is_clause=False)]
    for article in range(len(words) - 2):
        if words.names_before(article):
            break
        if words.lowered[article] != "the" or not words.is_plain(article + 1) or _is_frame(words, article):
            continue
        link = _place_of_of(words, article)
        if link is not None and words.names_before(len(words)):
            described = words.noun_phrase(article, len(words))
            rest = words.between(link, len(words)) if words.awaits_predicate(article) else ""
            return [Decomposition(f"What is {described}?", words.between(0, article), rest, is_clause=False)]
    return []


def _start_of_name(words: _Words, last: int) -> int:
    """Return where the noun phrase that ends with the possessive ``last`` begins."""
    first = last
    while first > 0 and (not words.is_plain(first - 1) or (words.lowered[first - 1] == "of" and first > 1)):
        first -= 1
    if first > 0 and words.lowered[first - 1] in ARTICLES:
        first -= 1
    return first


def _is_frame(words: _Words, end: int) -> bool:
    """Return whether the words before ``end`` only ask: "who was", "what is"."""
    return all(word in INTERROGATIVES or word in AUXILIARIES for word in words.lowered[:end])


def _place_of_of(words: _Words, article: int) -> int | None:
    """Return the place of "of" in the noun phrase that begins at ``article``, if it follows the noun."""
    # At most four words precede it.
    places = range(article + 2, min(article + 2 + 4, len(words) - 1))
    return next((n for n in places if words.lowered[n] == "of"), None)


_ADVERB = one_of(ASKING_ADVERBS)
_AUXILIARY = one_of(AUXILIARIES)
# "When and where was she born", "how and why does it fail"
_TOGETHER = re.compile(rf"(?P<first>{_ADVERB})\s+and\s+(?P<second>{_ADVERB})\s+(?P<rest>(?:{_AUXILIARY})\s.+)", re.I)
# "Where did she die and when", "in which year was it founded, and why"
_AFTER = re.compile(
    rf"(?P<first>(?:(?:{_ADVERB})|(?:in|at|on|by|for|from|to|with)\s+(?:what|which|whom)\b[^,]*?)"
    rf"\s+(?P<rest>(?:{_AUXILIARY})\s[^,]+?)),?\s+and\s+(?P<second>{_ADVERB})",
    re.I,
)
# "Who discovered radium and when": the person is the subject.
_WHO = re.compile(rf"(?P<first>who\s+(?!(?:{_AUXILIARY})\b)(?P<rest>[^,]+?)),?\s+and\s+(?P<second>{_ADVERB})", re.I)
_ASKING = one_of(INTERROGATIVES)
# "Who directed Solaris and who wrote it"
_EACH = re.compile(rf"(?P<first>(?:{_ASKING})\s[^,]+?),?\s+and\s+(?P<second>(?:{_ASKING})\s[^,]+)", re.I)
_CAPITALIZED = r"[A-ZÀ-Þ0-9][\w'’.-]*"
_NAME = re.compile(rf"(?<=\s)(?:The\s+)?{_CAPITALIZED}(?:\s+(?:(?:of|the|and)\s+)*{_CAPITALIZED})*")


def two_parts(question: str) -> tuple[str, str] | None:
    """Return the two questions that ``question`` asks of one thing, in their order, or ``None`` if it asks one."""
    if len(question) > MAX_CHARS:
        return None
    text = " ".join(question.split()).rstrip(" ?")
    if found := _TOGETHER.fullmatch(text):
        first, second = (f"{found[word].capitalize()} {found['rest']}?" for word in ("first", "second"))
        return first, second
    if found := _AFTER.fullmatch(text):
        return f"{found['first']}?", f"{found['second'].capitalize()} {found['rest']}?"
    if found := _WHO.fullmatch(text):
        return f"{found['first']}?", f"{found['second'].capitalize()} was it that someone {found['rest']}?"
    if found := _EACH.fullmatch(text):
        return _of_one_name(found["first"], found["second"])
    return None


def _of_one_name(first: str, second: str) -> tuple[str, str] | None:
    """Return both questions if ``first`` has one name and ``second``, which has none, refers back to it."""
    from wikigr.question.antecedents import Mention
    from wikigr.question.follow_up import resolve
    from wikigr.question.referents import Turn

    def names_in(text: str) -> list[Mention]:
        return [Mention(*found.span(), found.group()) for found in _NAME.finditer(text)]

    if len(names_in(first)) != 1 or names_in(second):
        return None
    first, second = f"{first}?", f"{second[0].upper()}{second[1:]}?"
    resolved = resolve(second, [Turn(first)], names_in)
    return None if resolved.missing or resolved.question == second else (first, resolved.question)

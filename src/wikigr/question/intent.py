"""What a question asks about a thing: what it is, what an entry of a reference does, or a few words about it."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

from wikigr.languages import ENGLISH, Language
from wikigr.names import bare_name
from wikigr.question import patterns
from wikigr.question.comparison import compared_sides
from wikigr.question.grammar import COURTESIES, INTERROGATIVES, is_negation
from wikigr.question.measure import operation
from wikigr.question.question import Question, content_stems
from wikigr.stop_words import QUESTION_WORDS
from wikigr.text import words

# What a question asks for: the first of these that its wording shows.
Aim = Literal["yes_no", "comparison", "list", "date", "number", "name", "reason", "procedure", "definition", "other"]
AIMS: tuple[Aim, ...] = get_args(Aim)

# Every question compares its words with the titles of a hundred sections.
_MAX_KEPT_TITLES = 4_096


def asked_for(question: Question) -> Aim:
    """Return what ``question`` asks for."""
    text = question.text
    if asks_yes_no(question):
        return "yes_no"
    if compared_sides(text) is not None:
        return "comparison"
    if patterns.ASKS_LIST.match(text):
        return "list"
    if question.answer_type is not None:
        return next(aim for aim in AIMS if aim == question.answer_type.name)
    if patterns.ASKS_PROCEDURE.match(text) or patterns.ASKS_EXPLANATION.match(text):
        return "procedure"
    return "definition" if patterns.ASKS_MEANING.match(text) else "other"


def asks_nothing(text: str, language: Language = ENGLISH) -> bool:
    """Return whether ``text`` is thanks, a greeting, a command or a line without a word, rather than a question."""
    said = words(text)
    # A single sign of another script may be a word.
    if not said or (len(said[0]) == len(said) == 1 and said[0].isascii()) or patterns.COMMAND.match(text):
        return True
    is_polite = not COURTESIES.isdisjoint(said) and INTERROGATIVES.isdisjoint(said)
    return language.is_english and is_polite and COURTESIES.union(QUESTION_WORDS).issuperset(said)


def asks_yes_no(question: Question) -> bool:
    """Return whether yes or no may answer ``question``: it begins with an auxiliary, and offers no choice.

    Auxiliaries are known for English only; "was" begins other questions in German.
    """
    return question.language.is_english and patterns.ASKS_YES_NO.match(question.text) is not None


def asks_all_rows(question: Question) -> bool:
    """Return whether all rows of a table may be needed: for a list, a count, a sum, or the one without a value."""
    return question.language.is_english and (
        operation(question.text) is not None
        or asked_for(question) in ("list", "comparison")
        or any(map(is_negation, words(question.text)))
    )


def asks_definition(question: Question, title: str) -> bool:
    """Return whether ``question`` asks only what or who ``title`` (with or without its qualifier) is."""
    if patterns.ASKS_DEFINITION.match(question.text) is None:
        return False
    named, asked = name_stems(title, question.language), set(question.weights)
    return bool(named) and (asked == named or asked == set(content_stems(title, question.language)))


def asks_entry(question: Question, heading: str) -> bool:
    """Return whether ``question`` asks what the reference entry ``heading`` is or does; its last name is enough.

    "functools.lru_cache" may be called ``lru_cache``, but not ``functools``.
    """
    if patterns.ASKS_DEFINITION.match(question.text) is None:
        return False
    named, asked = content_stems(heading, question.language), question.weights.keys()
    return bool(asked) and asked <= set(named) and named[-1] in asked


def asks_short_answer(question: Question) -> bool:
    """Return whether a name, a date or a few other words may answer, rather than a definition or an explanation."""
    if patterns.ASKS_MEANING.match(question.text):
        return False
    if question.answer_type is not None:
        return question.answer_type.is_short
    return not (patterns.ASKS_OVERVIEW.match(question.text) or patterns.ASKS_EXPLANATION.match(question.text))


def asks_lead(question: Question, title: str) -> bool:
    """Return whether the lead of ``title`` is where to look: for a definition, or for a time or place of a life."""
    text = question.text
    if not patterns.ASKS_LIFE.search(text) or not (
        patterns.ASKS_LIFE_DATE.search(text) or patterns.ASKS_LIFE_PLACE.search(text)
    ):
        return asks_definition(question, title)
    return names(question, title)


def asks_fact(question: Question, title: str) -> bool:
    """Return whether a short fact about ``title``, which ``question`` names, may answer."""
    return asks_short_answer(question) and names(question, title)


def names(question: Question, title: str) -> bool:
    """Return whether ``question`` has all the words of the name in ``title``, with or without its qualifier."""
    named = name_stems(title, question.language)
    return bool(named) and named <= question.weights.keys()


@lru_cache(_MAX_KEPT_TITLES)
def name_stems(title: str, language: Language = ENGLISH) -> frozenset[str]:
    """Return the stems of the name in ``title``, without its qualifier, made as a question's stems are."""
    return frozenset(content_stems(bare_name(title), language))

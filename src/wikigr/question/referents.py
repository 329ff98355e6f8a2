"""What a turn of a conversation was about, for the pronouns of the next question. English only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from wikigr.question import patterns
from wikigr.question.antecedents import ANY, PERSON, Mention, Pronoun
from wikigr.question.grammar import ARTICLES, DO, PREPOSITIONS
from wikigr.question.noun_phrases import PLURAL, noun_phrases, words_in

# A longer answer is a sentence, not the name of anything.
MAX_ANSWER_WORDS = 12

_PEOPLE: frozenset[Pronoun] = frozenset(("they",))
_THING: frozenset[Pronoun] = frozenset(("it",))
# Capitalized words side by side in an answer, which may name a person; "the Royal Society" does not.
_FULL_NAME = re.compile(r"\b(?<![Tt]he )[A-ZÀ-Þ][\w'’-]*\.?(?:[^\S\n]+[A-ZÀ-Þ][\w'’-]+)+")
_MAX_NAMED = 5
# What is called by a number: "TB-412", "R-06".
_CODE = re.compile(r"(?<![\w./-])[A-Z][A-Za-z]{0,5}-\d{2,}[A-Za-z]?(?![\w./-]*\w)")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that was asked and resolved, the short answer (``""`` without one), and the titles it cites.

    ``printed`` is the whole answer, and ``items`` are the names of what it lists, if it lists something.
    """

    question: str
    answer: str = ""
    titles: tuple[str, ...] = ()
    printed: str = ""
    items: tuple[str, ...] = ()


FindNames = Callable[[str], Sequence[Mention]]


@dataclass(frozen=True, slots=True)
class Referent:
    """What a word may stand for, as it is written in a question. ``is_known`` says whether its pronouns are."""

    text: str
    pronouns: frozenset[Pronoun]
    is_known: bool = True
    key: str = ""


def referents_of(turn: Turn, find_names: FindNames) -> list[Referent]:
    """Return what a turn was about, the most salient first."""
    question = turn.question
    mentions = list(find_names(question))
    named = [_of_mention(mention, question) for mention in mentions]
    if patterns.ASKS_LIFE.search(question) and len(named) == 1 and not named[0].is_known:
        named = [Referent(named[0].text, PERSON, key=named[0].key)]
    joined = [
        Referent(f"{one.text} and {other.text}", _PEOPLE, key=f"{one.key} and {other.key}")
        for (one, first), (other, second) in zip(
            zip(named, mentions, strict=True), zip(named[1:], mentions[1:], strict=True), strict=False
        )
        if question[first.end : second.start].strip(" ,") == "and"
    ]
    answers = _answered(turn, find_names)
    # Who it was is what the next question is about; otherwise, what the last one was about.
    asks_for_one = _asks_who(question) or words_in(question)[:1] == ["which"]
    salient = [*answers, *joined, *named] if asks_for_one else [*joined, *named, *answers]
    if answers and not answers[0].is_known:
        salient = [*answers, *joined, *named]
    known = {referent.key for referent in salient}
    names = dict.fromkeys(chain.from_iterable(map(_FULL_NAME.findall, (turn.printed, *turn.titles))))
    printed = [
        Referent(name, PERSON, is_known=_asks_who(question) and not answers, key=name)
        for name in list(names)[:_MAX_NAMED]
        if name not in known
    ]
    cited = [
        _of_mention(mention, title)
        for title in turn.titles
        for mention in list(find_names(title))[:1]
        if mention.name == title and title not in known
    ]
    codes = [Referent(code, _THING, key=code) for code in dict.fromkeys(_CODE.findall(question)) if code not in known]
    phrases = [
        Referent(phrase.text, _PEOPLE if phrase.is_plural else _THING, key=phrase.text)
        for phrase in noun_phrases(question)
        if phrase.has_article and not any(m.start < phrase.end and phrase.start < m.end for m in mentions)
    ]
    # Of a sentence that says who it is, the names come before its title.
    first = [*salient, *(printed if _asks_who(question) else ())]
    return [*first, *cited, *printed, *phrases, *codes] if phrases else [*first, *codes, *cited, *printed]


def _answered(turn: Turn, find_names: FindNames) -> list[Referent]:
    """Return the answer of a turn, if it is the name of something."""
    answer, question = " ".join(turn.answer.split()), turn.question
    words = words_in(answer)
    if not words or len(words) > MAX_ANSWER_WORDS:
        return []
    if patterns.ASKS_DATE.search(question) or patterns.ASKS_NUMBER.search(question) or words[0].isdecimal():
        return []
    if " and " in answer:
        return [Referent(answer, _PEOPLE, key=answer)]
    mentions = list(find_names(answer))
    if len(mentions) == 1 and words_in(answer) in (
        words_in(answer[mentions[0].start : mentions[0].end]),
        ["the", *words_in(answer[mentions[0].start : mentions[0].end])],
    ):
        found = _of_mention(mentions[0], answer)
        if found.is_known:
            return [found]
        answer, key = found.text, found.key
    else:
        key = answer
    if _asks_who(question):
        # "babysitter (until July)" says what somebody is, not who.
        return [Referent(answer, PERSON, key=key)] if answer[:1].isupper() else []
    if patterns.ASKS_LIFE_PLACE.search(question):
        return [Referent(without_preposition(answer), _THING, key=key)]
    if not answer[:1].isupper() and words[0] not in ARTICLES:
        return [Referent(answer, _PEOPLE if PLURAL.search(words[-1]) else _THING, key=key)]
    # A name of which nothing is known, unless it answers what is asked next about.
    is_known = words[0] in ARTICLES or words_in(question)[0] == "which"
    return [Referent(answer, _THING if words[0] in ARTICLES else ANY, is_known, key=key)]


def without_preposition(text: str) -> str:
    first, _, rest = text.partition(" ")
    return rest if rest and first.lower() in PREPOSITIONS else text


def _asks_who(question: str) -> bool:
    """Return whether ``question`` asks who does or is something, so that a person answers it."""
    words = words_in(question)
    for number, word in enumerate(words[:4]):
        if word in ("who", "whom"):
            return words[number + 1 : number + 2] != [] and words[number + 1] not in DO
        if word == "whose":
            return True
    return False


def _of_mention(mention: Mention, text: str) -> Referent:
    """Return a mention as a referent: a person by the whole name, anything else as it is written, with its article."""
    known = mention.pronouns != ANY
    if known and not mention.pronouns & {"it", "they"}:
        return Referent(mention.name, mention.pronouns, key=mention.name)
    written = re.sub(r"['’]s?$", "", text[mention.start : mention.end])
    before = text[: mention.start].split()[-1:]
    if before and before[0].lower() in ARTICLES:
        written = f"{before[0].lower()} {written}"
    return Referent(written, mention.pronouns, known, mention.name)

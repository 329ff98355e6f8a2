"""Resolve a question that leans on earlier ones: "When did he die?", "and where?", "What about Schrödinger?".

The rules are about the wording alone; what is a name and which pronouns stand for it, the caller tells. English only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Literal

from wikigr.names import name_words, strip_possessive
from wikigr.question import patterns
from wikigr.question.grammar import (
    ARTICLES,
    ASKING_ADVERBS,
    AUXILIARIES,
    BE,
    DEMONSTRATIVES,
    DO,
    INTERROGATIVES,
    MAX_CHARS,
    POSSESSIVES,
    PREPOSITIONS,
    one_of,
    tokenize,
)
from wikigr.stop_words import FUNCTION_WORDS

Pronoun = Literal["he", "she", "it", "they"]

MAX_TURNS = 3
# A longer answer is a sentence, not the name of anything.
MAX_ANSWER_WORDS = 12

ANY: frozenset[Pronoun] = frozenset(("he", "she", "it", "they"))
_PERSON: frozenset[Pronoun] = frozenset(("he", "she"))
_PEOPLE: frozenset[Pronoun] = frozenset(("they",))
_THING: frozenset[Pronoun] = frozenset(("it",))

# Every form of a pronoun.
PRONOUNS: dict[str, Pronoun] = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
_POSSESSIVES = frozenset("his hers its their theirs".split())
_DETERMINERS = ARTICLES | DEMONSTRATIVES | frozenset("each every some any no another most".split())
# A new clause begins at these: a pronoun after one may refer to what stands before it.
_BOUNDARIES = frozenset(
    "after although and as because before but if once or since than that though unless until when where whether "
    "which while who whom whose".split()
)
_OUTSIDE_PHRASES = FUNCTION_WORDS | AUXILIARIES | _BOUNDARIES
_PRONOUN = re.compile(rf"\b(?:{'|'.join(PRONOUNS)})\b", re.I)
_OPENING = re.compile(r"\s*(?:(?:and|but|so|then|also|ok|okay|well)\b[\s,]*)+", re.I)
_USUALLY = r"(?:\w+ly|also|ever|often|sometimes|still|usually)\s+"
# "Is it possible to …", "it was believed that …", "What time is it", "How long does it take to …": it means nothing.
_EXPLETIVE = re.compile(
    rf"\bit\s+(?:(?:is|was|be|been)\s+)?(?:{_USUALLY})?[\w-]+(?:\s+\w+)?\s+(?:for\s[^,?]+\s)?(?:to|that|whether|if)\b"
    rf"|\bit\s+(?:{_USUALLY})?(?:takes?|took|costs?|requires?)\b[^,?]*\bto\b"
    r"|\bit\s+(?:like\s+to|rain|snow|matter|mean)|\btime\s+(?:is|was)\s+it\b|\bhow\s+(?:is|was)\s+it\s+that\b"
    r"|\b(?:is|was)\s+it\s+(?:from|to|when|called\s+when)\b"
    r"|\bis\s+it\s+(?:raining|snowing|true|late|safe|legal)\b",
    re.I,
)
# The ends of nouns for persons.
_PERSONAL = re.compile(r"(?:man|woman|men|women|people|person|child|children|boy|girl|king|queen|[eo]r|ist|ian)s?$")
_PLURAL = re.compile(r"(?:[^s]s|people|children|men|women)$")
_WHAT_ABOUT = re.compile(r"(?:(?:and|but|so|ok|okay)\b[\s,]*)?(?:what|how)\s+about\s+(?P<of>[^?]+?)\s*[?.!]*", re.I)
_AND_NAME = re.compile(r"and\s+(?P<of>[^?]+?)\s*[?.!]*", re.I)
_ADVERB = one_of(ASKING_ADVERBS)
_DEGREES = "how (?:many|much|long|far|often)"
_BARE = re.compile(
    rf"(?:(?:{one_of(PREPOSITIONS)})\s+(?:which|what)\s+\w+|which\s+\w+|{_ADVERB}|{_DEGREES}"
    rf"|who(?:\s+else)?|what\s+(?:year|date|century|decade|day|month|city|country|state))"
    rf"(?:\s+and\s+(?:{_ADVERB}))?(?P<exactly>\s+exactly|\s+precisely)?\s*[?.!]*",
    re.I,
)
_DID_THAT = re.compile(
    rf"(?P<asks>{_ADVERB})\s+(?:did|do|does)\s+(?P<who>he|she|they|it)\s+(?:do|say)\s+(?:that|this|so|it)\W*",
    re.I,
)
# "that year" and "then" stand for a time, "there" for a place.
_THAT_TIME = re.compile(
    r"\b(?:(?:in|on|at|during)\s+)?that\s+(?:year|day|time|month|date)\b"
    r"|(?<=\s)then(?=\s*[?.!]*$)",
    re.I,
)
_THERE = re.compile(r"(?<=\s)there(?=\s*[?.!]*$|\s+(?:after|and|before|from|in|on|then|until|when|with)\b)", re.I)
_THERE_IS = re.compile(rf"\b(?:{one_of(BE)})(?:n['’]t)?\s+there\b", re.I)
_MOTION = re.compile(
    r"\b(?:go|goes|went|gone|move[ds]?|come|came|travel\w*|return\w*|get|got|sent|send)\s+there\b", re.I
)
_THIS_NOUN = re.compile(r"\b(?P<this>this|that|these|those)\s+(?P<noun>[a-z][\w-]+)\b", re.I)
_THIS = re.compile(
    r"(?:(?<=\bis )|(?<=\bwas )|(?<=\bdoes )|(?<=\bdid )|(?<=\babout )|(?<=\bfor )|(?<=\bof )|(?<=\bby )"
    r"|(?<=[a-z] ))(?:this|that)(?=\s*[?.!]*$)|(?<=\bis )(?:this|that)(?=\s+(?:called|true|used)\b)"
    r"|(?<=\bdoes )(?:this|that)(?=\s+(?:mean|work)\b)|(?<=\bdid )(?:this|that)(?=\s+(?:happen|work)\b)",
    re.I,
)
_REFERENCE = re.compile(rf"\b(?:{'|'.join(PRONOUNS)}|this|that|these|those|there|then)\b", re.I)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
# "the second one", "the last of them": of what the last answer lists.
_ORDINALS = {word: place for place, word in enumerate("first second third fourth fifth sixth seventh eighth".split())}
_NTH = re.compile(
    rf"\bthe\s+(?P<nth>{one_of(_ORDINALS)}|last|other|(?P<number>\d{{1,2}})(?:st|nd|rd|th))"
    r"(?:\s+(?:one|item|entry|row|of\s+(?:them|these|those))\b|(?=\s*[?.!]*$))",
    re.I,
)
# Capitalized words side by side in an answer, which may name a person; "the Royal Society" does not.
_FULL_NAME = re.compile(r"\b(?<![Tt]he )[A-ZÀ-Þ][\w'’-]*\.?(?:[^\S\n]+[A-ZÀ-Þ][\w'’-]+)+")
_MAX_NAMED = 5
_TOKEN = re.compile(r"[^\s,;:?!()\"“”]+")
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


@dataclass(frozen=True, slots=True)
class Mention:
    """A known ``name`` at ``text[start:end]``, and the pronouns that may stand for it: ``ANY`` if nothing tells."""

    start: int
    end: int
    name: str
    pronouns: frozenset[Pronoun] = ANY


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The question as understood. ``missing`` is what it refers to in words, if nothing before names that."""

    question: str
    missing: str = ""


FindNames = Callable[[str], Sequence[Mention]]


def resolve(question: str, turns: Sequence[Turn], find_names: FindNames) -> FollowUp:
    """Return ``question`` with what it leaves out taken from ``turns``, which were asked before it, the last one last.

    A question that names its own subject is returned as it is, as is the first one. ``find_names`` returns the known
    names in a text, from left to right.
    """
    text = " ".join(question.split())
    if not turns or not text or len(text) > MAX_CHARS:
        return FollowUp(question)
    if not may_refer_back(text):
        return FollowUp(question)
    dialog = _Dialog(turns[-MAX_TURNS:], find_names)
    for step in (dialog.complete_interrogative, dialog.complete_name, dialog.replace_references):
        found = step(text)
        if found is not None:
            return found
    return FollowUp(question)


def may_refer_back(question: str) -> bool:
    """Return whether the wording of ``question`` may refer to an earlier one; most of those that may do not."""
    core = _without_opening(question)
    return any(pattern.search(core) for pattern in (_REFERENCE, _NTH)) or any(
        pattern.fullmatch(text.strip()) is not None
        for pattern, text in ((_WHAT_ABOUT, question), (_AND_NAME, question), (_BARE, core))
    )


@dataclass(frozen=True, slots=True)
class _Referent:
    """What a word may stand for, as it is written in a question. ``is_known`` says whether its pronouns are."""

    text: str
    pronouns: frozenset[Pronoun]
    is_known: bool = True
    key: str = ""


class _Dialog:
    """The turns before a question."""

    def __init__(self, turns: Sequence[Turn], find_names: FindNames) -> None:
        self._turns = turns
        self._find_names = find_names

    def complete_name(self, text: str) -> FollowUp | None:
        """Ask the last question about another name: "What about Schrödinger?", "And in 1930?"."""
        found = _WHAT_ABOUT.fullmatch(text) or _AND_NAME.fullmatch(text)
        if found is None:
            return None
        replaced = self.replace_references(found["of"])
        if replaced is not None and replaced.missing:
            return replaced
        other = replaced.question if replaced is not None else found["of"]
        if _words(found["of"])[0] in POSSESSIVES:
            # "And its weight?"
            return FollowUp(f"What is {other}?")
        first = _words(other)[:2]
        if not first or first[0] in AUXILIARIES or not INTERROGATIVES.isdisjoint(first):
            return None
        last = self._turns[-1].question
        place = self._place_for(other, last)
        if place is None:
            return FollowUp(text, text)
        start, end = place
        # "in Leipzig" replaces "Göttingen" in "in Göttingen".
        words = other.split()
        if words[0].lower() in PREPOSITIONS | ARTICLES and _words(last[:start])[-1:] == [words[0].lower()]:
            other = " ".join(words[1:])
        return FollowUp(last[:start] + other + last[end:])

    def _place_for(self, other: str, last: str) -> tuple[int, int] | None:
        """Return the place in the question ``last`` of what ``other`` replaces, unless there is none or several."""
        year = _YEAR.search(other)
        if year is not None and len(_words(other)) <= 2:
            years = list(_YEAR.finditer(last))
            return years[0].span() if len(years) == 1 else None
        if (like := _only([token.span() for token in _alike(other, last)])) is not None:
            return like
        named = list(self._find_names(other))
        mentions = list(self._find_names(last))
        first = _words(other)[0]
        if first in PREPOSITIONS:
            # "And of a cat?"
            after = [p.start for p in _noun_phrases(last) if _words(last[: p.start])[-1:] == [first]]
            if len(after) == 1:
                # A verb may follow the noun.
                tokens = list(_TOKEN.finditer(last, after[0]))[: len(other.split()) - 1]
                return after[0], tokens[-1].end()
            # "And in France?"
            places = [place for place in _capitalized(last) if _words(last[: place[0]])[-1:] == [first]]
            if len(places) == 1:
                return places[0]
        if len(mentions) > 1 and other[:1].isupper():
            mentions = [m for m in mentions if last[m.start].isupper()]
        if named:
            mentions = [m for m in mentions if m.pronouns & named[0].pronouns]
        if len(mentions) == 1:
            mention = mentions[0]
            possessive = re.match(r"['’]s?$", last[mention.end - 2 : mention.end])
            return mention.start, mention.end - (len(possessive[0]) if possessive else 0)
        bare = other.removeprefix("the ")
        if not mentions and bare[:1].isupper() and (name := _only(list(_capitalized(last)))) is not None:
            start, end = name
            return (start - len("the ") if bare != other and last[:start].endswith("the ") else start), end
        if mentions or named:
            return None
        phrases = [phrase for phrase in _noun_phrases(last) if phrase.has_article]
        return (phrases[0].start, phrases[0].end) if len(phrases) == 1 else None

    def complete_interrogative(self, text: str) -> FollowUp | None:
        """Ask the last question with another interrogative: "and where?", "Why?", "In which city?"."""
        core = _without_opening(text)
        did_that = _DID_THAT.fullmatch(core)
        if did_that is not None:
            core = did_that["asks"]
        elif _BARE.fullmatch(core) is None:
            return None
        asks = core.rstrip("?.! ")
        found = _ask_with(asks[:1].upper() + asks[1:], self._turns[-1])
        return FollowUp(text, text) if found is None else FollowUp(found)

    def replace_references(self, text: str) -> FollowUp | None:
        """Replace the pronouns, and "there", "then" and "this model", that refer to what was named before."""
        core = _without_opening(text)
        own = list(self._find_names(core))
        replacements: dict[tuple[int, int], str] = {}
        for pattern, resolve_match in (
            (_NTH, self._item_of),
            (_THAT_TIME, self._time_of),
            (_THERE, self._place_of),
            (_THIS_NOUN, self._noun_of),
            (_THIS, self._thing_of),
        ):
            for match in pattern.finditer(core):
                if any(start < match.end() and match.start() < end for start, end in replacements):
                    continue
                found = resolve_match(match, core)
                if found is None:
                    return FollowUp(text, match[0])
                if found:
                    replacements[match.span()] = found
        seen: dict[Pronoun, str] = {}
        for match in _PRONOUN.finditer(core):
            written = match[0].lower()
            pronoun = PRONOUNS[written]
            if any(start <= match.start() < end for start, end in replacements):
                continue
            if pronoun in seen or _is_name(match) or _is_expletive(core, match):
                continue
            if _has_antecedent(core, match, own):
                # A later pronoun then refers to the same thing.
                seen[pronoun] = ""
                continue
            referent = self._referent(pronoun, {name.name for name in own} | set(seen.values()))
            if referent is None:
                return FollowUp(text, match[0])
            seen[pronoun] = referent.key
            owns = written in _POSSESSIVES or (written == "her" and _owns(core, match.end()))
            replacements[match.span()] = f"{referent.text}'s" if owns else referent.text
        if not replacements:
            return None
        for (start, end), new in sorted(replacements.items(), reverse=True):
            core = core[:start] + new + core[end:]
        return FollowUp(core[:1].upper() + core[1:])

    # These return what the words at ``match`` stand for: ``""`` if they refer to nothing, ``None`` if it was not named.

    def _time_of(self, match: re.Match[str], core: str) -> str | None:
        for turn in reversed(self._turns):
            if turn.answer and patterns.ASKS_DATE.search(turn.question):
                is_day = re.search(r"\b\d{1,2}\b", turn.answer) is not None
                return f"{'on' if is_day else 'in'} {turn.answer}"
        return None

    def _item_of(self, match: re.Match[str], core: str) -> str | None:
        items = next((turn.items for turn in reversed(self._turns) if turn.items), ())
        nth = match["nth"].lower()
        if not items or (nth == "other" and len(items) != 2):
            # "Which was the first one?" need not refer to a list.
            return ""
        if nth == "other":
            # The one that was not asked about last.
            place = int(items[0] in self._turns[-1].question)
        else:
            place = len(items) - 1 if nth == "last" else int(match["number"] or _ORDINALS.get(nth, 0) + 1) - 1
        return items[place] if 0 <= place < len(items) else None

    def _place_of(self, match: re.Match[str], core: str) -> str | None:
        if _THERE_IS.search(core, max(0, match.start() - 8), match.end()):
            return ""
        to = _MOTION.search(core) is not None
        for turn in reversed(self._turns):
            if turn.answer and patterns.ASKS_LIFE_PLACE.search(turn.question):
                answer = _without_preposition(turn.answer)
                return f"{'to' if to else 'in'} {answer}"
            for referent in self._referents(turn):
                # Where nothing is known of a name, which may be a person's, only the answer counts.
                if "it" in referent.pronouns and (referent.is_known or referent.text == turn.answer):
                    return f"{'to' if to else 'at'} {referent.text}"
        return None

    def _noun_of(self, match: re.Match[str], core: str) -> str | None:
        """Return the name that contains the noun: the Bohr model for "this model"."""
        noun = match["noun"].lower()
        # "the fact that particles …": a clause follows, rather than a noun that the last question was about.
        before = _words(core[: match.start()])[-1:]
        begins = not before or before[0] in AUXILIARIES | PREPOSITIONS or match["this"].lower() != "that"
        if not begins or noun in _OUTSIDE_PHRASES:
            return ""
        for turn in reversed(self._turns):
            for referent in self._referents(turn):
                if _words(referent.text)[-1:] in ([noun], [noun.removesuffix("s")]):
                    return referent.text
        return ""

    def _thing_of(self, match: re.Match[str], core: str) -> str | None:
        referent = self._referent("it", set())
        return None if referent is None else referent.text

    def _referent(self, pronoun: Pronoun, excluded: set[str]) -> _Referent | None:
        """Return the best referent of a pronoun: of the last turn that has one, the first one known to agree."""
        for turn in reversed(self._turns):
            agreeing = [
                referent
                for referent in self._referents(turn)
                if pronoun in referent.pronouns and referent.key not in excluded
            ]
            agreeing.sort(key=lambda referent: not referent.is_known)
            if agreeing:
                return agreeing[0]
        return None

    def _referents(self, turn: Turn) -> list[_Referent]:
        """Return what a turn was about, the most salient first."""
        question = turn.question
        mentions = list(self._find_names(question))
        named = [_of_mention(mention, question) for mention in mentions]
        if patterns.ASKS_LIFE.search(question) and len(named) == 1 and not named[0].is_known:
            named = [_Referent(named[0].text, _PERSON, key=named[0].key)]
        joined = [
            _Referent(f"{one.text} and {other.text}", _PEOPLE, key=f"{one.key} and {other.key}")
            for (one, first), (other, second) in zip(
                zip(named, mentions, strict=True), zip(named[1:], mentions[1:], strict=True), strict=False
            )
            if question[first.end : second.start].strip(" ,") == "and"
        ]
        answers = self._answered(turn)
        # Who it was is what the next question is about; otherwise, what the last one was about.
        asks_for_one = _asks_who(question) or _words(question)[:1] == ["which"]
        salient = [*answers, *joined, *named] if asks_for_one else [*joined, *named, *answers]
        if answers and not answers[0].is_known:
            salient = [*answers, *joined, *named]
        known = {referent.key for referent in salient}
        names = dict.fromkeys(chain.from_iterable(map(_FULL_NAME.findall, (turn.printed, *turn.titles))))
        printed = [
            _Referent(name, _PERSON, is_known=_asks_who(question) and not answers, key=name)
            for name in list(names)[:_MAX_NAMED]
            if name not in known
        ]
        cited = [
            _of_mention(mention, title)
            for title in turn.titles
            for mention in list(self._find_names(title))[:1]
            if mention.name == title and title not in known
        ]
        codes = [
            _Referent(code, _THING, key=code) for code in dict.fromkeys(_CODE.findall(question)) if code not in known
        ]
        phrases = [
            _Referent(phrase.text, _PEOPLE if phrase.is_plural else _THING, key=phrase.text)
            for phrase in _noun_phrases(question)
            if phrase.has_article and not any(m.start < phrase.end and phrase.start < m.end for m in mentions)
        ]
        # Of a sentence that says who it is, the names come before its title.
        first = [*salient, *(printed if _asks_who(question) else ())]
        return [*first, *cited, *printed, *phrases, *codes] if phrases else [*first, *codes, *cited, *printed]

    def _answered(self, turn: Turn) -> list[_Referent]:
        """Return the answer of a turn, if it is the name of something."""
        answer, question = " ".join(turn.answer.split()), turn.question
        words = _words(answer)
        if not words or len(words) > MAX_ANSWER_WORDS:
            return []
        if patterns.ASKS_DATE.search(question) or patterns.ASKS_NUMBER.search(question) or words[0].isdecimal():
            return []
        if " and " in answer:
            return [_Referent(answer, _PEOPLE, key=answer)]
        mentions = list(self._find_names(answer))
        if len(mentions) == 1 and _words(answer) in (
            _words(answer[mentions[0].start : mentions[0].end]),
            ["the", *_words(answer[mentions[0].start : mentions[0].end])],
        ):
            found = _of_mention(mentions[0], answer)
            if found.is_known:
                return [found]
            answer, key = found.text, found.key
        else:
            key = answer
        if _asks_who(question):
            # "babysitter (until July)" says what somebody is, not who.
            return [_Referent(answer, _PERSON, key=key)] if answer[:1].isupper() else []
        if patterns.ASKS_LIFE_PLACE.search(question):
            return [_Referent(_without_preposition(answer), _THING, key=key)]
        if not answer[:1].isupper() and words[0] not in ARTICLES:
            return [_Referent(answer, _PEOPLE if _PLURAL.search(words[-1]) else _THING, key=key)]
        # A name of which nothing is known, unless it answers what is asked next about.
        is_known = words[0] in ARTICLES or _words(question)[0] == "which"
        return [_Referent(answer, _THING if words[0] in ARTICLES else ANY, is_known, key=key)]


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A noun phrase at ``start:end`` of a question."""

    text: str
    start: int
    end: int
    has_article: bool

    @property
    def is_plural(self) -> bool:
        return _PLURAL.search(self.text.lower()) is not None

    @property
    def is_personal(self) -> bool:
        return _PERSONAL.search(self.text.lower()) is not None


def _only(places: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    return places[0] if len(places) == 1 else None


def _alike(other: str, last: str) -> Iterator[re.Match[str]]:
    """Yield the codes in ``last`` that are written like ``other``, if it is one: "TB-412" and "TB-500"."""
    wanted = _shape(other.strip(" ?.!"))
    if wanted.isalpha() or " " in wanted:
        return
    yield from (token for token in _TOKEN.finditer(last) if _shape(token.group().strip(".")) == wanted)


def _shape(text: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text))


def _capitalized(text: str) -> Iterator[tuple[int, int]]:
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


def _words(text: str) -> list[str]:
    return [word for word, _, _ in name_words(text)]


def _without_opening(text: str) -> str:
    """Return ``text`` without "and" and the like at its beginning."""
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening is not None and opening.end() < len(text) else text


def _without_preposition(text: str) -> str:
    first, _, rest = text.partition(" ")
    return rest if rest and first.lower() in PREPOSITIONS else text


def _asks_who(question: str) -> bool:
    """Return whether ``question`` asks who does or is something, so that a person answers it."""
    words = _words(question)
    for number, word in enumerate(words[:4]):
        if word in ("who", "whom"):
            return words[number + 1 : number + 2] != [] and words[number + 1] not in DO
        if word == "whose":
            return True
    return False


def _of_mention(mention: Mention, text: str) -> _Referent:
    """Return a mention as a referent: a person by the whole name, anything else as it is written, with its article."""
    known = mention.pronouns != ANY
    if known and not mention.pronouns & {"it", "they"}:
        return _Referent(mention.name, mention.pronouns, key=mention.name)
    written = re.sub(r"['’]s?$", "", text[mention.start : mention.end])
    before = text[: mention.start].split()[-1:]
    if before and before[0].lower() in ARTICLES:
        written = f"{before[0].lower()} {written}"
    return _Referent(written, mention.pronouns, known, mention.name)


def _ask_with(asks: str, turn: Turn) -> str | None:
    """Return the question of ``turn`` with the interrogative phrase ``asks`` in place of its own, if it makes sense."""
    question = turn.question.rstrip("?.! ")
    words = [(word.lowered, word.start) for word in tokenize(question) if not word.is_mark]
    if not words:
        return None
    place = next((n for n, (word, _) in enumerate(words[:3]) if word in INTERROGATIVES), None)
    auxiliary = next((n for n, (word, _) in enumerate(words) if word in AUXILIARIES), None)
    if asks.lower() == "who else":
        first = words[1][1] if place == 0 and words[0][0] == "who" and len(words) > 1 else None
        return None if first is None else f"{asks} {question[first:]}?"
    if place is None:
        # "Is light a wave?"
        return f"{asks} {question[:1].lower()}{question[1:]}?" if auxiliary == 0 else None
    asked = words[place][0]
    if asked == "what" and auxiliary == place + 1 and words[auxiliary][0] in BE:
        # "What is spin?" says nothing that could be so for a reason.
        return None
    is_subject = auxiliary is None or (asked == "who" and words[auxiliary][0] not in DO) or auxiliary > place + 5
    if not is_subject and auxiliary is not None:
        rest = question[words[auxiliary][1] :]
        if asks.lower() == "who":
            return f"By whom {rest}?" if words[auxiliary][0] in BE else None
        return f"{asks} {rest}?"
    if not turn.answer or asks.lower() == "who" or (asked != "who" and place + 2 >= len(words)):
        return None
    after = words[place + (1 if asked == "who" else 2)][1] if len(words) > place + 1 else None
    return None if after is None else f"{asks} was it that {turn.answer} {question[after:]}?"


def _is_name(match: re.Match[str]) -> bool:
    """Return whether a pronoun is written like a name or an abbreviation: "IT"."""
    return match[0][:1].isupper() and (match.start() > 0 or (len(match[0]) > 1 and match[0].isupper()))


def _is_expletive(text: str, match: re.Match[str]) -> bool:
    return match[0].lower() == "it" and any(
        found.start() <= match.start() < found.end() for found in _EXPLETIVE.finditer(text)
    )


def _owns(text: str, end: int) -> bool:
    """Return whether a noun follows "her", which is then a possessive."""
    after = _words(text[end:])[:1]
    return bool(after) and after[0] not in FUNCTION_WORDS


def _is_misspelled(text: str, match: re.Match[str]) -> bool:
    """Return whether "it's" is written for "its": a single word follows, or one before a preposition."""
    after = re.match(r"['’]s\s+([a-z][\w-]*)\W*(\w*)", text[match.end() :])
    return match[0].lower() == "it" and after is not None and (not after[2] or after[2].lower() in FUNCTION_WORDS)


def _has_antecedent(text: str, match: re.Match[str], names: Sequence[Mention]) -> bool:
    """Return whether the question itself names what a pronoun may stand for, before the pronoun.

    An object does not stand for the subject of its own clause ("What did Einstein think of him?"), and no pronoun for
    the noun right before it ("the paper he wrote") or for what is asked for ("Which city did he leave?").
    """
    written = match[0].lower()
    pronoun = PRONOUNS[written]
    before = text[: match.start()]
    words = _words(before)
    owns = written in _POSSESSIVES or (written == "her" and _owns(text, match.end())) or _is_misspelled(text, match)
    is_object = not owns and (
        written in ("him", "them", "her")
        or (written == "it" and bool(words) and words[-1] not in AUXILIARIES | _BOUNDARIES)
    )
    if written == "it" and not AUXILIARIES.isdisjoint(_words(text[match.end() :])[:1]):
        # "… said it would open …"
        is_object = False
    after = text[match.end() :]
    if "," in after and not INTERROGATIVES.isdisjoint(_words(after)) and INTERROGATIVES.isdisjoint(words):
        # "After its reopening, which films did the theater show?"
        return any(agrees and start > match.end() for start, _, agrees in _antecedents(text, pronoun, names))
    for start, end, agrees in _antecedents(before, pronoun, names):
        between = text[end : match.start()]
        if not agrees or (not between.strip() and not owns):
            continue
        parts = _words(between)
        if (parts == ["of"] and start) or (len(parts) == 1 and parts[0] in AUXILIARIES):
            continue
        is_apart = "," in between or any(word in _BOUNDARIES for word in parts) or "to" in parts[-3:-1]
        if is_object and not is_apart and not (parts and parts[-1].endswith("ing")):
            continue
        return True
    return _is_bound_by_who(text, match, words, owns)


def _is_bound_by_who(text: str, match: re.Match[str], words: Sequence[str], owns: bool) -> bool:
    """Return whether a pronoun stands for whoever is asked for: "Who changed their name?", "Who left after he …"."""
    if not words or words[0] not in ("who", "what") or len(words) < 2 or words[1] in DO:
        return False
    pronoun = PRONOUNS[match[0].lower()]
    if (words[0] == "who") == (pronoun == "it"):
        return False
    if any(word in _BOUNDARIES for word in words[2:]):
        return words[1] not in BE
    if not owns or words[1] in BE:
        return False
    # "Who wrote his biography?" asks about somebody else.
    return pronoun in ("they", "it") or len(_words(text[match.end() :])) > 1


def _antecedents(text: str, pronoun: Pronoun, names: Sequence[Mention]) -> Iterator[tuple[int, int, bool]]:
    """Yield the place of every name and noun phrase in ``text``, and whether ``pronoun`` may stand for it."""
    inside = [name for name in names if name.end <= len(text)]
    for name in inside:
        yield name.start, name.end, pronoun in name.pronouns
    for word in tokenize(text):
        is_named = any(name.start < word.end and word.start < name.end for name in inside)
        if word.start and word.text[0].isupper() and not is_named and word.lowered not in FUNCTION_WORDS:
            yield word.start, word.end, True
    for phrase in _noun_phrases(text):
        if any(name.start < phrase.end and phrase.start < name.end and name.pronouns != ANY for name in inside):
            continue
        if pronoun in _PERSON:
            agrees = phrase.is_personal
        elif pronoun == "they":
            agrees = True
        else:
            agrees = not phrase.is_plural or not phrase.is_personal
        yield phrase.start, phrase.end, agrees


def _noun_phrases(text: str) -> Iterator[_Phrase]:
    """Yield the runs of content words after an article or another determiner, or an auxiliary.

    What is asked for is none in "Which city did …", where it is an object.
    """
    words = [word for word in tokenize(text) if not word.is_mark]
    lowered = [word.lowered for word in words]
    for number, word in enumerate(lowered):
        asks = word in ("which", "what", "whose")
        # "Since students pay no tuition, …"
        opens_clause = number == 0 and word in _BOUNDARIES - INTERROGATIVES
        if not (word in _DETERMINERS or word in AUXILIARIES or asks or opens_clause):
            continue
        run = list(takewhile(lambda n: lowered[n] not in _OUTSIDE_PHRASES, range(number + 1, len(words))))
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
        yield _Phrase(text[start:end], start, end, is_article)

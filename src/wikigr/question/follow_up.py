"""Resolve a question that leans on earlier ones: "When did he die?", "and where?", "What about Schrödinger?".

The rules are about the wording alone; what is a name and which pronouns stand for it, the caller tells. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wikigr.question import patterns
from wikigr.question.antecedents import (
    POSSESSIVE_FORMS,
    PRONOUNS,
    Pronoun,
    has_antecedent,
    is_expletive,
    is_name,
    owns_noun,
)
from wikigr.question.grammar import (
    ARTICLES,
    ASKING_ADVERBS,
    AUXILIARIES,
    BE,
    DO,
    INTERROGATIVES,
    MAX_CHARS,
    POSSESSIVES,
    PREPOSITIONS,
    one_of,
    tokenize,
)
from wikigr.question.noun_phrases import OUTSIDE_PHRASES, capitalized, noun_phrases, words_in
from wikigr.question.referents import FindNames, Referent, Turn, referents_of, without_preposition

MAX_TURNS = 3
_PRONOUN = re.compile(rf"\b(?:{'|'.join(PRONOUNS)})\b", re.I)
_OPENING = re.compile(r"\s*(?:(?:and|but|so|then|also|ok|okay|well)\b[\s,]*)+", re.I)
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
_TOKEN = re.compile(r"[^\s,;:?!()\"“”]+")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The question as understood. ``missing`` is what it refers to in words, if nothing before names that."""

    question: str
    missing: str = ""


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
        if words_in(found["of"])[0] in POSSESSIVES:
            # "And its weight?"
            return FollowUp(f"What is {other}?")
        first = words_in(other)[:2]
        if not first or first[0] in AUXILIARIES or not INTERROGATIVES.isdisjoint(first):
            return None
        last = self._turns[-1].question
        place = self._place_for(other, last)
        if place is None:
            return FollowUp(text, text)
        start, end = place
        # "in Leipzig" replaces "Göttingen" in "in Göttingen".
        words = other.split()
        if words[0].lower() in PREPOSITIONS | ARTICLES and words_in(last[:start])[-1:] == [words[0].lower()]:
            other = " ".join(words[1:])
        return FollowUp(last[:start] + other + last[end:])

    def _place_for(self, other: str, last: str) -> tuple[int, int] | None:
        """Return the place in the question ``last`` of what ``other`` replaces, unless there is none or several."""
        year = _YEAR.search(other)
        if year is not None and len(words_in(other)) <= 2:
            years = list(_YEAR.finditer(last))
            return years[0].span() if len(years) == 1 else None
        if (like := _only([token.span() for token in _alike(other, last)])) is not None:
            return like
        named = list(self._find_names(other))
        mentions = list(self._find_names(last))
        first = words_in(other)[0]
        if first in PREPOSITIONS:
            # "And of a cat?"
            after = [p.start for p in noun_phrases(last) if words_in(last[: p.start])[-1:] == [first]]
            if len(after) == 1:
                # A verb may follow the noun.
                tokens = list(_TOKEN.finditer(last, after[0]))[: len(other.split()) - 1]
                return after[0], tokens[-1].end()
            # "And in France?"
            places = [place for place in capitalized(last) if words_in(last[: place[0]])[-1:] == [first]]
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
        if not mentions and bare[:1].isupper() and (name := _only(list(capitalized(last)))) is not None:
            start, end = name
            return (start - len("the ") if bare != other and last[:start].endswith("the ") else start), end
        if mentions or named:
            return None
        phrases = [phrase for phrase in noun_phrases(last) if phrase.has_article]
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
            if pronoun in seen or is_name(match) or is_expletive(core, match):
                continue
            if has_antecedent(core, match, own):
                # A later pronoun then refers to the same thing.
                seen[pronoun] = ""
                continue
            referent = self._referent(pronoun, {name.name for name in own} | set(seen.values()))
            if referent is None:
                return FollowUp(text, match[0])
            seen[pronoun] = referent.key
            owns = written in POSSESSIVE_FORMS or (written == "her" and owns_noun(core, match.end()))
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
                answer = without_preposition(turn.answer)
                return f"{'to' if to else 'in'} {answer}"
            for referent in referents_of(turn, self._find_names):
                # Where nothing is known of a name, which may be a person's, only the answer counts.
                if "it" in referent.pronouns and (referent.is_known or referent.text == turn.answer):
                    return f"{'to' if to else 'at'} {referent.text}"
        return None

    def _noun_of(self, match: re.Match[str], core: str) -> str | None:
        """Return the name that contains the noun: the Bohr model for "this model"."""
        noun = match["noun"].lower()
        # "the fact that particles …": a clause follows, rather than a noun that the last question was about.
        before = words_in(core[: match.start()])[-1:]
        begins = not before or before[0] in AUXILIARIES | PREPOSITIONS or match["this"].lower() != "that"
        if not begins or noun in OUTSIDE_PHRASES:
            return ""
        for turn in reversed(self._turns):
            for referent in referents_of(turn, self._find_names):
                if words_in(referent.text)[-1:] in ([noun], [noun.removesuffix("s")]):
                    return referent.text
        return ""

    def _thing_of(self, match: re.Match[str], core: str) -> str | None:
        referent = self._referent("it", set())
        return None if referent is None else referent.text

    def _referent(self, pronoun: Pronoun, excluded: set[str]) -> Referent | None:
        """Return the best referent of a pronoun: of the last turn that has one, the first one known to agree."""
        for turn in reversed(self._turns):
            agreeing = [
                referent
                for referent in referents_of(turn, self._find_names)
                if pronoun in referent.pronouns and referent.key not in excluded
            ]
            agreeing.sort(key=lambda referent: not referent.is_known)
            if agreeing:
                return agreeing[0]
        return None


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


def _without_opening(text: str) -> str:
    """Return ``text`` without "and" and the like at its beginning."""
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening is not None and opening.end() < len(text) else text


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

"""Whether a question itself names what its pronouns stand for. English only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wikigr.question.grammar import AUXILIARIES, BE, DO, INTERROGATIVES, tokenize
from wikigr.question.noun_phrases import BOUNDARIES, noun_phrases, words_in
from wikigr.stop_words import FUNCTION_WORDS

Pronoun = Literal["he", "she", "it", "they"]

ANY: frozenset[Pronoun] = frozenset(("he", "she", "it", "they"))
PERSON: frozenset[Pronoun] = frozenset(("he", "she"))

# Every form of a pronoun.
PRONOUNS: dict[str, Pronoun] = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
POSSESSIVE_FORMS = frozenset("his hers its their theirs".split())
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


@dataclass(frozen=True, slots=True)
class Mention:
    """A known ``name`` at ``text[start:end]``, and the pronouns that may stand for it: ``ANY`` if nothing tells."""

    start: int
    end: int
    name: str
    pronouns: frozenset[Pronoun] = ANY


def is_name(match: re.Match[str]) -> bool:
    """Return whether a pronoun is written like a name or an abbreviation: "IT"."""
    return match[0][:1].isupper() and (match.start() > 0 or (len(match[0]) > 1 and match[0].isupper()))


def is_expletive(text: str, match: re.Match[str]) -> bool:
    return match[0].lower() == "it" and any(
        found.start() <= match.start() < found.end() for found in _EXPLETIVE.finditer(text)
    )


def owns_noun(text: str, end: int) -> bool:
    """Return whether a noun follows "her", which is then a possessive."""
    after = words_in(text[end:])[:1]
    return bool(after) and after[0] not in FUNCTION_WORDS


def _is_misspelled(text: str, match: re.Match[str]) -> bool:
    """Return whether "it's" is written for "its": a single word follows, or one before a preposition."""
    after = re.match(r"['’]s\s+([a-z][\w-]*)\W*(\w*)", text[match.end() :])
    return match[0].lower() == "it" and after is not None and (not after[2] or after[2].lower() in FUNCTION_WORDS)


def has_antecedent(text: str, match: re.Match[str], names: Sequence[Mention]) -> bool:
    """Return whether the question itself names what a pronoun may stand for, before the pronoun.

    An object does not stand for the subject of its own clause ("What did Einstein think of him?"), and no pronoun for
    the noun right before it ("the paper he wrote") or for what is asked for ("Which city did he leave?").
    """
    written = match[0].lower()
    pronoun = PRONOUNS[written]
    before = text[: match.start()]
    words = words_in(before)
    owns = (
        written in POSSESSIVE_FORMS
        or (written == "her" and owns_noun(text, match.end()))
        or _is_misspelled(text, match)
    )
    is_object = not owns and (
        written in ("him", "them", "her")
        or (written == "it" and bool(words) and words[-1] not in AUXILIARIES | BOUNDARIES)
    )
    if written == "it" and not AUXILIARIES.isdisjoint(words_in(text[match.end() :])[:1]):
        # "… said it would open …"
        is_object = False
    after = text[match.end() :]
    if "," in after and not INTERROGATIVES.isdisjoint(words_in(after)) and INTERROGATIVES.isdisjoint(words):
        # "After its reopening, which films did the theater show?"
        return any(agrees and start > match.end() for start, _, agrees in _antecedents(text, pronoun, names))
    for start, end, agrees in _antecedents(before, pronoun, names):
        between = text[end : match.start()]
        if not agrees or (not between.strip() and not owns):
            continue
        parts = words_in(between)
        if (parts == ["of"] and start) or (len(parts) == 1 and parts[0] in AUXILIARIES):
            continue
        is_apart = "," in between or any(word in BOUNDARIES for word in parts) or "to" in parts[-3:-1]
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
    if any(word in BOUNDARIES for word in words[2:]):
        return words[1] not in BE
    if not owns or words[1] in BE:
        return False
    # "Who wrote his biography?" asks about somebody else.
    return pronoun in ("they", "it") or len(words_in(text[match.end() :])) > 1


def _antecedents(text: str, pronoun: Pronoun, names: Sequence[Mention]) -> Iterator[tuple[int, int, bool]]:
    """Yield the place of every name and noun phrase in ``text``, and whether ``pronoun`` may stand for it."""
    inside = [name for name in names if name.end <= len(text)]
    for name in inside:
        yield name.start, name.end, pronoun in name.pronouns
    for word in tokenize(text):
        is_named = any(name.start < word.end and word.start < name.end for name in inside)
        if word.start and word.text[0].isupper() and not is_named and word.lowered not in FUNCTION_WORDS:
            yield word.start, word.end, True
    for phrase in noun_phrases(text):
        if any(name.start < phrase.end and phrase.start < name.end and name.pronouns != ANY for name in inside):
            continue
        if pronoun in PERSON:
            agrees = phrase.is_personal
        elif pronoun == "they":
            agrees = True
        else:
            agrees = not phrase.is_plural or not phrase.is_personal
        yield phrase.start, phrase.end, agrees

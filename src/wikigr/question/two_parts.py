"""Divide a question with two question words, "When and where was she born?", into two questions. English only."""

from __future__ import annotations

import re

from wikigr.question.grammar import ASKING_ADVERBS, AUXILIARIES, INTERROGATIVES, MAX_CHARS, one_of

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
_PRONOUN = re.compile(r"\b(?:(?P<possessive>his|its|their)|he|her|him|it|she|they|them)\b", re.I)
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
    """Return both questions if ``first`` has one name and a pronoun in ``second`` stands for it."""
    names = _NAME.findall(first)
    pronoun = _PRONOUN.search(second)
    if len(names) != 1 or pronoun is None or _NAME.search(second):
        return None
    name = f"{names[0]}'s" if pronoun["possessive"] else names[0]
    resolved = f"{second[: pronoun.start()]}{name}{second[pronoun.end() :]}"
    return f"{first}?", f"{resolved[0].upper()}{resolved[1:]}?"

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
    from wikigr.question.follow_up import Mention, Turn, resolve

    def names_in(text: str) -> list[Mention]:
        return [Mention(*found.span(), found.group()) for found in _NAME.finditer(text)]

    if len(names_in(first)) != 1 or names_in(second):
        return None
    first, second = f"{first}?", f"{second[0].upper()}{second[1:]}?"
    resolved = resolve(second, [Turn(first)], names_in)
    return None if resolved.missing or resolved.question == second else (first, resolved.question)

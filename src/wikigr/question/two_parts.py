"""Divide a question with two question words, "When and where was she born?", into two questions. English only."""

from __future__ import annotations

import re

from wikigr.question.grammar import ASKING_ADVERBS, AUXILIARIES, MAX_CHARS, one_of

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
    return None

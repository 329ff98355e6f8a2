"""Whether a node of a graph may answer a question, by its label.

Apart from the answer types, because only questions that follow facts need these patterns compiled.
"""

from __future__ import annotations

import re

from wikigr.question.grammar import MEASURES, MONTHS, WHO, one_of
from wikigr.question.patterns import any_of

_MONTH = f"(?:{one_of(MONTHS)})"
_MEASURE = one_of(MEASURES)

# What a question asks of a graph. These are wider, because they only rule out nodes of another type.
ASKS_DATE_LABEL = re.compile(any_of(["when", r"(?:what|which)\s+(?:year|date|century|decade|day)"]), re.I)
ASKS_NUMBER_LABEL = re.compile(any_of([rf"how\s+(?:{_MEASURE})", r"(?:what|which)\s+number"]), re.I)
ASKS_NAME_LABEL = re.compile(any_of([*WHO, "where"]), re.I)
ASKS_REASON_OR_MANNER = re.compile(rf"\bwhy\b|\bhow\b(?!\s+(?:{_MEASURE})\b)", re.I)

# The label of a graph's node, as a whole: a day, a year or a century. A bare year has at most four digits and no
# separators.
DATE_LABEL = re.compile(
    rf"(?:(?:c\.|ca\.?|circa|about)?\s*-?\d{{1,4}}s?(?:\s*(?:BCE?|CE|AD))?|\D*\d{{1,4}}\s*[-–/]\s*\d{{1,4}}\D*"
    rf"|.*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|\b\d+\s*(?:BCE?|CE|AD)\b|\d(?:st|nd|rd|th)\s+century"
    rf"|(?<![\d.,])\d{{1,4}}([-./])\d{{1,2}}\1\d{{1,4}}(?![\d,])|(?<![\d.,])(?:1\d{{3}}|20\d{{2}})(?![.,]?\d)).*)$",
    re.I | re.DOTALL,
)
DAY_LABEL = re.compile(
    rf".*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|(?<!\d)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d))", re.I | re.DOTALL
)
NAMELESS_LABEL = re.compile(
    rf"[\d\W_]+$|.*(?:\b{_MONTH}\W*\d|\d\W*{_MONTH}\b|\b\d+\s*(?:BCE?|CE|AD)\b)", re.I | re.DOTALL
)


def label_fits(question: str, label: str) -> bool:
    """Return whether a node with this label may be of the type that ``question`` asks for.

    No node is a reason or a manner. Times and numbers do not name persons or places, and vice versa.
    """
    if ASKS_REASON_OR_MANNER.search(question):
        return False
    # A label can be a megabyte long.
    label = label[:200]
    if ASKS_DATE_LABEL.search(question):
        return DATE_LABEL.match(label) is not None
    if ASKS_NUMBER_LABEL.search(question):
        return any(character.isdigit() for character in label) and not DAY_LABEL.match(label)
    return not (ASKS_NAME_LABEL.search(question) and NAMELESS_LABEL.match(label))

"""Every pattern over the wording of a question, and over the text that would answer it. English only."""

from __future__ import annotations

import re

from wikigr.question.grammar import (
    AUXILIARIES,
    COPULAS,
    INTERROGATIVES,
    MEASURES,
    MONTHS,
    PREPOSITIONS,
    WEEKDAYS,
    WHO,
    one_of,
)
from wikigr.segmentation import QUESTION_START

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty hundreds? "
    "thousands? millions? billions? half twice third quarter several percent"
).split()
_CALENDAR_WORDS = [
    *MONTHS,
    *WEEKDAYS,
    *"century centuries decade spring summer autumn winter".split(),
]
_COPULA = one_of(COPULAS)
_MEASURE = one_of(MEASURES)


def any_of(phrases: list[str]) -> str:
    """Return a pattern for any of ``phrases``, each a pattern itself, as whole words."""
    return rf"\b(?:{'|'.join(phrases)})\b"


# What a question asks for, matched anywhere in its text.
ASKS_DATE = re.compile(
    any_of(["when", "what (?:year|date|century|decade|day|month|time)", "which (?:year|century|decade|month)"]), re.I
)
ASKS_NUMBER = re.compile(
    any_of([f"how (?:{_MEASURE})", r"what (?:percent\w*|number|fraction|age|amount|size|temperature)"]), re.I
)
ASKS_NAME = re.compile(
    any_of(
        [
            one_of(WHO | {"where"}),
            "which (?:person|city|country)",
            "what (?:city|country|state|person|company|group|organi[sz]ation)",
        ]
    ),
    re.I,
)
ASKS_REASON = re.compile(any_of(["why"]), re.I)
ASKS_PROCEDURE = re.compile(r"^\W*(?:how (?:do|can|should|would) (?:i|you|we|one)|how to|how is|how are)\b", re.I)

# What a text that answers such a question contains.
DATE = re.compile(
    r"\b(?:1\d{3}|20\d\d)s?\b|\b\d{1,4} ?(?:BC|AD|BCE|CE)\b|\b\d{1,2}(?:st|nd|rd|th) century\b|"
    + any_of(_CALENDAR_WORDS)
)
NUMBER = re.compile(rf"\d|{any_of(_NUMBER_WORDS)}", re.I)
# A capitalized word that does not begin its sentence.
NAME = re.compile(r"(?<=[a-z,;:'\"“(–-] )[A-ZÀ-Þ][\w'’-]+|(?<=[(\"“])[A-ZÀ-Þ][\w'’-]+")
REASON = re.compile(
    any_of("because,due to,since,so that,in order to,as a result,caused?,led to,reasons?,allows?".split(",")), re.I
)
# Code after the sentence that introduces it, a term with its definition, or an option of a command.
PROCEDURE = re.compile(r":\n\n|\n {4}|(?<![\w-])--?[A-Za-z][\w-]*")

# How broad an answer a question asks for.
ASKS_OVERVIEW = re.compile(
    r"^\W*(?:tell me (?:all )?about|describe|discuss|compare|give an overview|summari[sz]e)\b", re.I
)
ASKS_EXPLANATION = re.compile(rf"^\W*(?:how (?!(?:{_MEASURE})\b)|why\b|explain\b)", re.I)
ASKS_DETAIL = re.compile(r"^\W*(?:what|which|how|where)\b.{8,}\b(?:in|within|during|under)\s+(?:the\s+)?\w+", re.I)

# "What is a coroutine?", "Who was Ada Lovelace", "define spin", "spin"
ASKS_DEFINITION = re.compile(
    rf"\W*(?:(?:what|who)(?:['’]s|\s+(?:{_COPULA}))\s(?!(?:{one_of(PREPOSITIONS)}|like)\b)|"
    r"(?:define|explain|describe)\b|tell me (?:all )?about\b|what (?:do|does|did)\s.+\sdo\W*$|"
    rf"(?!{QUESTION_START}))",
    re.I,
)
# The same, where the question itself shows that no title need be known: "What is a coroutine?", "who was ada lovelace",
# but not "What is the capital of France?".
ASKS_MEANING = re.compile(
    rf"\W*(?:(?:what|who)(?:['’]s|\s+(?:{_COPULA}))\s+(?:an?\s+|the\s+)?[\w.'’-]+(?:\s+[\w.'’-]+)?\W*$|"
    r"what (?:do|does|did)\s.+\s(?:do|mean)\W*$|(?:define|explain|describe|list)\b|tell me (?:all )?about\b|"
    rf"(?!{QUESTION_START}|.*\b(?:{one_of(INTERROGATIVES)})\b))",
    re.I,
)
# Birth and death, and whether the time or the place is asked for.
ASKS_LIFE = re.compile(r"\b(?:born|birth\w*|die[ds]?|death)\b", re.I)
ASKS_LIFE_DATE = re.compile(r"\b(?:when|dates?|year|day|month|birthday)\b", re.I)
ASKS_LIFE_PLACE = re.compile(r"\b(?:where|place|city|town|village|country|birthplace)\b", re.I)
# "Do I need a ticket?", but not "Is it red or green?"
ASKS_YES_NO = re.compile(rf"\W*(?:{one_of(AUXILIARIES)})(?:n['’]t)?\s(?!.*\sor\s)", re.I)
# "Which stoves do you sell?", "what are the steps", "list all …", "what kinds of tickets are there"
ASKS_LIST = re.compile(
    r"\W*(?:(?:in\s+)?(?:which|what)\s+(?:(?!(?:is|was|does|has|this|year|century)\b)[\w-]+\s+){0,2}?"
    r"(?!(?:is|was|does|has|this|process|class|status|basis|species|series)\b)[\w-]{2,}(?<!s)s\b|"
    r"what\s+are\b|(?:list|name|enumerate)\b|(?:all|every|everything)\b|"
    r"(?:give|show|tell)\s+(?:me\s+|us\s+)?(?:all|every|(?:a|the)\s+(?:complete\s+|full\s+|whole\s+)?list)\b)",
    re.I,
)
# "List all …", "which … are there": no single one answers.
ASKS_ALL = re.compile(
    r"\W*(?:(?:list|enumerate|all|every)\b|(?:give|name|show)\s+(?:me\s+)?(?:all|every)\b"
    r"|(?:what|which)\s.+\b(?:are|were)\s+there\b)",
    re.I,
)
ASKS_AGE = re.compile(r"\bhow\s+old\b|\b(?:what|which)\b.*\bage\b", re.I)
ASKS_DURATION = re.compile(
    rf"\W*(?:for\s+)?how\s+(?:long|many\s+(?:days|weeks|months|years))\s+(?:{one_of(AUXILIARIES)})\b", re.I
)
# "/help", "wikigr ask …": meant for a prompt or a shell.
COMMAND = re.compile(r"\s*(?:/[a-z]+\s*$|wikigr\s+[a-z-]+\b(?!.*\?))")

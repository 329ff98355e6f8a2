"""The one English stop list. Names, questions, section quality and metrics all derive from it."""

from __future__ import annotations

# Articles, pronouns, auxiliaries, prepositions, conjunctions and interrogatives: `KnowledgeGraphAgent.STOP_WORDS`
# (reference/retrieval-enhancements.md), where they do not count as keywords.
STOP_WORDS: frozenset[str] = frozenset(
    """a an the this that these those
    about as at by for from in into of on to with
    i you he she it we they me him her us them my your his its our their
    am is are was were be been being do does did has have had can could may might must shall should will would
    and or but if nor so than not
    what which who whom whose when where why how there""".split()
)

_QUANTIFIERS = frozenset("any more most out some such then too while".split())

# A name made of these alone ("It", "Now", "The Other Two") is matched only as it is written.
FUNCTION_WORDS: frozenset[str] = (
    STOP_WORDS
    | _QUANTIFIERS
    | frozenset("after all also before here just like no now one only other over two under until up upon".split())
)

# With words that frame a question ("What kind of …", "What is … called?"): the other words are its content. Numbers
# and places stay, because names hold them ("The Two Towers").
QUESTION_WORDS: frozenset[str] = (
    STOP_WORDS
    | _QUANTIFIERS
    | frozenset("called define describe explain kind known many much name s tell type".split())
)

"""The one English stop list. Names, questions, section quality and metrics all derive from it."""

from __future__ import annotations

# Articles, pronouns, auxiliaries, prepositions, conjunctions and interrogatives.
_CORE = frozenset(
    """a an the this that these those
    about as at by for from in into of on to with
    i you he she it we they me him her us them my your his its our their
    is are was were be been do does did has have had can could may might should will would
    and or but if so than
    what which who whom whose when where why how there""".split()
)
_QUANTIFIERS = frozenset("any more most out some such then too while".split())

# `KnowledgeGraphAgent.STOP_WORDS` (reference/retrieval-enhancements.md): words that do not count as keywords.
STOP_WORDS: frozenset[str] = _CORE | frozenset("am being must nor not shall".split())

# A name made of these alone ("It", "Now", "The Other Two") is matched only as it is written.
FUNCTION_WORDS: frozenset[str] = (
    _CORE
    | _QUANTIFIERS
    | frozenset("after all also before here just like must no not now one only other over two under".split())
    | frozenset("until up upon".split())
)

# With words that frame a question ("What kind of …", "What is … called?"): the other words are its content. Negations,
# numbers and places stay, because they matter or because names hold them ("The Two Towers").
QUESTION_WORDS: frozenset[str] = (
    _CORE
    | _QUANTIFIERS
    | frozenset("being called define describe explain kind known many much name s tell type".split())
)

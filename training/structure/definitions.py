"""Questions for the definition of a term, from sentences that say what it is."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from training.examples import Example
from training.structure.building import SEARCH, Rivals, answered, removed, unanswered
from training.structure.life import is_person
from training.structure.passages import Passage
from training.structure.wording import Span, article, choose, clause, lower_first, sentences, words

NAME = "definitions"

_SHARE_OF_NEGATIVES = 0.75
_MAX_TERM_WORDS = 5
_IS = re.compile(
    r"(?P<article>An? |The |)(?P<term>[^\s,.;:()|][^,.;:()|\n]{1,45}?)(?: ?\([^)\n]{1,160}\))?,? (?P<verb>is|are|was"
    r"|were)"
    r" (?P<what>(?:an?|the|any|one of|used to describe|defined as) [^\n]+)"
)
_MEANS = re.compile(
    r"(?P<article>An? |The (?:term )?|)(?P<term>[^\s,.;:()|][^,.;:()|\n]{1,45}?) (?P<verb>means|refers to|stands for|"
    r"denotes) (?P<what>[^\n]+)"
)
_NOT_A_TERM = re.compile(
    r"(?:it|this|that|these|those|there|he|she|they|we|you|i|here|what|which|one|note|if|as|in|on|at|for|when|while"
    r"|but|"
    r"and|because|another|both|all|each|some|most|many|such|so|to|by|from|with|not|only|now|then|his|her|its|their|"
    r"result|default|following|value|first|second|example|reason|purpose|problem|difference|idea|goal|rest|last"
    r"|name)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:this|these|those|above|below|following|former|latter|same)\b")
_VERB_INSIDE = re.compile(r"\b(?:is|are|was|were|has|have|of|can|will|may|that|which|to|you|also|by|does)\b")
_QUESTIONS = (
    "What is {a}{term}?",
    "What is {a}{term}?",
    "What's {a}{term}?",
    "What is meant by {term}?",
    "What does {term} mean?",
    "Define {term}",
    "How is {term} defined?",
    "What is the definition of {term}?",
    "Explain {a}{term}",
    "What kind of thing is {a}{term}?",
    "What exactly is {a}{term}?",
)
_PLURAL = ("What are {term}?", "What are {term}?", "What is meant by {term}?", "Define {term}", "Explain {term}")
_PAST = ("What was {a}{term}?", "What was {a}{term}?", "What kind of thing was {a}{term}?")
_WHO = ("Who was {term}?", "Who was {term}?", "Who is {term}?", "What was {term} known as?", "Tell me who {term} was")


def generate(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions for what the terms are that ``passages`` define."""
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        page = (passage.source, passage.title)
        is_first = page not in seen
        seen.add(page)
        for term, span, templates, noun in _definitions(passage, is_first=is_first):
            question = choose(draw, templates, term=term, a=noun)
            positive = answered(NAME, passage, question, [span])
            yield positive
            if draw.random() > _SHARE_OF_NEGATIVES:
                continue
            made = removed(NAME, passage, question, [span])[:1] if draw.random() < 0.5 else []
            # What is left may still say what the term is.
            yield from (
                example for example in made if not re.search(rf"{re.escape(term)}s? (?:is|are|was) ", example.text)
            )
            rival = None if made else rivals.find(passage, question, positive.accepted)
            says = rf"{re.escape(term)}\W.{{0,40}}\b(?:is|are|was|refer|mean)"
            if rival is not None and rival.title.lower() != term.lower() and not re.search(says, rival.text):
                yield unanswered(NAME, SEARCH, rival, question, positive.accepted)


def _definitions(passage: Passage, *, is_first: bool) -> Iterator[tuple[str, Span, tuple[str, ...], str]]:
    """Yield a term, its definition, the templates that ask for it and its article."""
    text = passage.text
    title = passage.title.partition(" (")[0].lower()
    for number, (start, end) in enumerate(sentences(text)):
        match = _IS.match(text, start, end) or _MEANS.match(text, start, end)
        if match is None or _NOT_A_TERM.match(match["term"]) or _VERB_INSIDE.search(match["term"]):
            continue
        term = match["term"].strip("\"'“”‘’ ")
        first, is_name = term.split()[0], term[:1].isupper() and not match["article"]
        is_title = term.lower() == title or (number < 2 and set(title.split()) <= set(term.lower().split()))
        if words(term) > _MAX_TERM_WORDS or _POINTS_BACK.search(match["what"]) or (is_name and not is_title):
            continue
        if match["article"] in ("The ", "") and not is_title:
            continue
        if is_title and not is_first:
            continue
        span = clause(text, match.start("what"), end)
        if span is None or words(text[slice(*span)]) < 4 or not re.search(r"[a-z]{3}", term):
            continue
        templates: tuple[str, ...] = _QUESTIONS
        if is_name and is_person(passage):
            templates = _WHO if match["verb"] == "was" else ("Who is {term}?",)
        elif match["verb"] in ("are", "were"):
            templates = _PLURAL
        elif match["verb"] == "was":
            templates = _PAST
        if match["verb"] in ("was", "were") and passage.source != "wikispeedia":
            continue
        noun = match["article"].lower().replace("term ", "")
        noun = f"{article(first)} " if noun in ("a ", "an ") else noun if is_title else ""
        yield lower_first(term) if lower_first(term) in text else term, span, templates, noun

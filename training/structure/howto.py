"""Questions of how to do something: from headings that name a task, and from sentences that say what to use."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from training.examples import Example
from training.structure.building import SEARCH, Rivals, answered, removed, unanswered
from training.structure.passages import Passage
from training.structure.wording import (
    MAX_QUESTION_WORDS,
    VERBS,
    Span,
    as_asker,
    choose,
    clause,
    infinitive,
    is_code,
    lower_first,
    points_back,
    sentences,
    words,
)

NAME = "howto"

_SHARE_OF_NEGATIVES = 0.6
_MAX_TASK_WORDS = 14
_MIN_TASK_WORDS = 2
_MAX_CODE_CHARS = 120
_USE = r"(?:use|call|run|set|pass|specify|add|type|enter|execute|invoke|issue|give|choose|select|press|edit|include)"
# Each finds the words of the task ("do") and the beginning of the answer ("how").
_SENTENCES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:In order )?[Tt]o (?P<do>[a-z]+ [^,:;]{{4,90}}), (?:you (?:can|could|should|may|must|need to|have to) "
        rf"|simply"
        rf" |just |please )*(?P<how>{_USE}\b.*)",
        r"(?:[Yy]ou (?:can|may|should) |)(?i:use|call|run|using) (?P<how>(?:the )?\S+(?: [\w-]+){0,4}?) to "
        r"(?P<do>[a-z]+ .*)",
        r"(?P<how>(?:The |A |An |)[A-Z\"'`$%@/<-]?[^,;:.]{2,60}?) (?:can|may|should|could) be used to (?P<do>[a-z]+ "
        r".*)",
        r"(?P<how>(?:The |)[^,;:. ]{2,40}(?: [\w-]+){0,2}) (?:allows|lets|enables) (?:you|users|one|us|the user) "
        r"(?:to )?"
        r"(?P<do>[a-z]+ .*)",
        rf"If you (?:want|wish|need|would like) to (?P<do>[a-z]+ [^,:;]{{4,90}}), (?:then )?(?:you (?:can|could|should|"
        rf"may|must|need to|have to|will need to) |simply |just |please )*(?P<how>{_USE}\b.*)",
        r"[Yy]ou can (?P<do>[a-z]+ [^,:;]{4,80}?) (?P<how>(?:by|using|with) (?:the |\w+ing )[^,:;]{3,}.*)",
        r"(?P<how>[^\s,;:]+(?: [a-z-]+)?) is used to (?P<do>[a-z]+ .*)",
    )
)
_HINT = re.compile(
    r"\b(?:[Tt]o [a-z]+ [^.\n]+, |used to |[Uu]se |want to |wish to |[Yy]ou can |allows |lets |enables )"
)
_QUESTIONS = (
    "How do I {do}?",
    "How do I {do}?",
    "How can I {do}?",
    "How do you {do}?",
    "How to {do}?",
    "What is the way to {do}?",
    "How would I {do} {subject}?",
    "How can I {do} {subject}?",
    "What do I use to {do}?",
    "What can I use to {do}?",
    "What should I do to {do}?",
    "I want to {do}. How?",
)
_TASK_HEADING = re.compile(
    r"^(?:[\d.]+\s+)?(?:(?:How|Steps|Instructions) (?:do I |to )|To |)(?P<verb>[A-Z]?[a-z]+) (?P<rest>[^:?.]{3,60})$"
)
# One line, or the first command after a prompt.
_BLOCK_OF_CODE = re.compile(
    r"(?<=:\n\n)(?P<code>[$%] [^\n]{4,120}(?=\n|$)|(?!-|#|\d+\.|from |import |[\w./-]+(?:\n|$))[^\n]{4,120}(?=\n\n|$))"
)
_STEP = re.compile(r"^ *1[.)] +(?P<step>[^\n]+)", re.MULTILINE)
_PROMPT = re.compile(r"^\s*(?:[$#>%]|>>>|\S*[@~]\S*[$#]) +")
_COMMAND = re.compile(r"[a-z_./-]{2,}(?: |\(|$)|[$<\w]+[ (=<]")
# Verbs that begin a sentence as nouns or adjectives more often.
_NOUNS = frozenset(
    "empty group list name order place process query queue record release set share test tune view".split()
)
_STATES = re.compile(r"\b(?:is|are|was|were|has|have|that|which|this|these|it|also)\b")
_VAGUE_HOW = re.compile(
    r"(?:[Tt]he following|after|in|on|as|for|at|to)\b.*|"
    r"(?:It|This|That|They|These|Those|Which|You|He|She|One|There|What|Such|Each|Both|Either|The following|Some|We|"
    r"The above|The latter|The former|The same|Another|Other|Any|and|or|but|it|this|that|they|these|which|you|them|an?"
    r" \w+|method|function|option|value|parameter|attribute|command|class|not)$"
)


def generate(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions of how to do something, each with a passage that tells and some with one that does not."""
    for passage in passages:
        found = [*_from_sentences(passage), *_from_heading(passage)]
        for task, span in found:
            subject = draw.choice(("", f"in {passage.title}")) if words(passage.title) < 3 else ""
            question = choose(draw, _QUESTIONS, do=task, subject=subject)
            if words(question) > MAX_QUESTION_WORDS:
                continue
            positive = answered(NAME, passage, question, [span])
            yield positive
            if draw.random() > _SHARE_OF_NEGATIVES:
                continue
            made = removed(NAME, passage, question, [span]) if draw.random() < 0.45 else []
            yield from made
            if not made:
                rival = rivals.find(passage, question, positive.accepted)
                if rival is not None and task.split()[-1] not in rival.heading:
                    yield unanswered(NAME, SEARCH, rival, question, positive.accepted)


def _from_sentences(passage: Passage) -> Iterator[tuple[str, Span]]:
    text = passage.text
    if not _HINT.search(text):
        return
    for start, end in sentences(text):
        sentence = text[start:end]
        if " to " not in sentence and "To " not in sentence and "by" not in sentence and "using" not in sentence:
            continue
        for pattern in _SENTENCES:
            match = pattern.match(sentence)
            if match is None:
                continue
            task = _task(match["do"])
            span = _way(text, start + match.start("how"), start + match.end("how"))
            if task and span and not points_back(task) and text[slice(*span)] not in task:
                yield task, span
                break


def _task(text: str, verb: str = "") -> str:
    """Return the words of a task as a person would ask for it, ``""`` if they are unsuitable."""
    cut = clause(text.split("\n")[0], 0, len(text.split("\n")[0]), _MAX_TASK_WORDS)
    task = as_asker(text[slice(*cut)]) if cut else ""
    first = task.split(" ")[0]
    if (
        not _MIN_TASK_WORDS <= words(task) <= _MAX_TASK_WORDS
        or (first not in VERBS and first != verb)
        or first in ("be", "have", "do")
    ):
        return ""
    if (
        re.search(r"\w(?:ing|[A-Z]\w*s) and \w+ing\b|^\w+ and ", task, re.IGNORECASE)
        or task.count("(") != task.count(")")
        or "&" in task
    ):
        return ""
    return "" if task.count('"') % 2 or task.endswith((" of", " to", " the", " and", " in")) else task


def _way(text: str, start: int, end: int) -> Span | None:
    """Return the span that tells how: the block of code that follows, the name to use, or the clause."""
    following = _BLOCK_OF_CODE.search(text, start)
    if following and text[end - 1] == ":" and following.start() - end < 5:
        return _without_prompt(text, *following.span("code"))
    ending = text[start:end]
    named = re.match(
        r"(?:use|call|run|invoke|execute|set|pass|specify|by using|by calling|using|with|via|by)(?: the)? "
        r"(?P<name>(?:[\w-]+ ){0,1}?\S+)(?: (?:option|command|function|method|"
        r"parameter|directive|setting|class|attribute|argument|program|tool|module|flag|variable))?(?=[\s.,;:]|$)",
        ending,
    )
    if named and is_code(named["name"].split()[-1]):
        name = named["name"].rstrip(".,;:")
        name = name.split(" ")[-1] if not is_code(name.split(" ")[0]) else name
        place = start + named.start("name") + named["name"].find(name)
        return place, place + len(name)
    span = clause(text, start, end, max_words=18)
    if not re.match(rf"{_USE}\b|by |using |with ", ending) and _STATES.search(ending):
        return None
    if (
        span is None
        or "|" in text[slice(*span)]
        or _VAGUE_HOW.fullmatch(text[slice(*span)])
        or points_back(text[slice(*span)].split(" ")[0])
    ):
        return None
    return span


def _without_prompt(text: str, start: int, end: int) -> Span | None:
    prompt = _PROMPT.match(text[start:end])
    start += prompt.end() if prompt else len(text[start:end]) - len(text[start:end].lstrip())
    end = start + len(text[start:end].rstrip())
    return (start, end) if 3 < end - start <= _MAX_CODE_CHARS else None


def _from_heading(passage: Passage) -> Iterator[tuple[str, Span]]:
    match = _TASK_HEADING.match(passage.heading)
    if match is None:
        return
    first = match["verb"].lower()
    verb = infinitive(first, passage.text) if first.endswith("ing") else first if first in VERBS else ""
    rest = " ".join(map(lower_first, match["rest"].split())) if match["rest"].istitle() else lower_first(match["rest"])
    task = _task(f"{verb} {rest}", verb) if verb else ""
    is_certain = first.endswith("ing") or re.match(r"[\d.\s]*(?:How|To|Steps)\b", passage.heading)
    if not task or not is_certain:
        return
    step = _STEP.search(passage.text)
    code = _BLOCK_OF_CODE.search(passage.text)
    if step and not (code and code.start() < step.start()):
        span = clause(passage.text, *step.span("step"))
    elif code and _COMMAND.match(_PROMPT.sub("", code["code"])):
        span = _without_prompt(passage.text, *code.span("code"))
    else:
        span = next(_imperatives(passage.text, task), None)
    if span is not None:
        yield task, span


def _imperatives(text: str, task: str) -> Iterator[Span]:
    """Yield the sentences that tell to do something and share a word with the task."""
    about = {word for word in task.lower().split() if len(word) > 3}
    for start, end in sentences(text):
        first = text[start:end].split(" ")[0]
        if first[:1].isupper() and first.lower() in VERBS - _NOUNS and about & set(text[start:end].lower().split()):
            span = clause(text, start, end)
            if span is not None:
                yield span

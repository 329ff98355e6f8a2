"""Questions about the entries of reference documentation, in both directions."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from training.examples import Example, occurrences
from training.structure.building import ATTRIBUTE, ENTITY_SWAP, SEARCH, Rivals, answered, removed, unanswered
from training.structure.entries import Entry, find_entries
from training.structure.passages import Passage
from training.structure.wording import (
    MAX_QUESTION_WORDS,
    VERBS,
    Span,
    as_asker,
    choose,
    clause,
    infinitive,
    lower_first,
    points_back,
    sentences,
    third_person,
    words,
)

NAME = "options"

_SHARE_OF_NEGATIVES = 0.7
_MAX_VALUE_WORDS = 5
_NOT_PROSE = re.compile(
    r"(?:New|Changed|Deprecated|Default|Note|Bases|See|Example|Warning|Type|Use:|Syntax|Inherits|Parameters|Added"
    r"|Return"
    r" type|Returned|Removed|Available|Alias|If|When|For|In|By|As|It|They|You|However|int|void|const|enum|unsigned|"
    r"static|struct|class|method|attribute|function|property|module|exception)\b"
)
_DESCRIPTION = re.compile(r"^Description: \| (?P<text>[^\n]+)", re.MULTILINE)
_SUMMARY = re.compile(r"^\S+ [—–-] (?P<text>[^\n]+)", re.MULTILINE)
_SUBJECT = re.compile(
    r"(?:(?:This|The) (?:\S+ )?(?:option|parameter|argument|setting|directive|variable|property|attribute|keyword|"
    r"function|method|command|flag|field|statement|macro|element|modifier|class|decorator|filter|tag)|\S+_\S+|\S+\(\)) "
    r"(?:is used to |can be used to |simply |also |)(?P<verb>[a-z]+)\b"
)
_NOUN_PHRASE = re.compile(
    r"(?:The |An? |)(?:[\w-]+ ){0,3}(?:number|name|list|path|file|maximum|minimum|time|size|type|value|directory"
    r"|string|"
    r"dictionary|mapping|interval|timeout|port|address|URL|prefix|format|set|tuple|amount|key|class|function|callable|"
    r"object|flags?|mode|level|length|limit|command|character|location|password|user|table|database|host|version)\b"
)
_VALUE = r"(?P<value>[\"“'‘`][^\"”'’`\n]{1,40}[\"”'’`]|[^\s,;()|]+(?: (?:seconds?|minutes?|hours?|days?|bytes?|%s))?)"
_UNITS = "milliseconds|kilobytes|megabytes|percent|MB|kB|KB|ms|weeks?|megabytes"
_END = r"(?=[,;)\]|]|\.?(?:\s*\n|\s*$)|\. |\s+(?:if|when|which|and|but|unless|for|on|in|so|\())"
_DEFAULTS = tuple(
    re.compile(pattern.replace("VALUE", (_VALUE % _UNITS) + _END), re.MULTILINE)
    for pattern in (
        r"^Default: \| (?:[A-Z]\w+ )?(?P<value>[^\n]{1,40})$",
        r"\| Default: (?P<value>[^|\n]{1,40})$",
        r"^ *Default(?: value)?: VALUE",
        r"\b[Dd]efault(?: value| setting)? is (?:set to )?VALUE",
        r"\b[Dd]efaults to VALUE",
        r"\(default(?: is|:|) VALUE",
    )
)
# A sentence rather than a noun phrase.
_STATES = re.compile(
    r"^(?:(?!\b(?:that|which|whether|when|if|who)\b).)*\b(?:is|are|was|were|has|have|must|will|can|should|may)\b"
)
_NOT_VALUES = frozenset(
    "to not that the a an this no used usually same also only taken determined set as chosen whatever it all done "
    "normally applied always platform system what given specified unset empty derived computed true, currently none: "
    "is using to: dependent true/false how when".split()
)
_SINCE = re.compile(
    r"^ *(?:New in (?:version )?|Added in (?:version )?|[Ss]ince:? (?:version )?|Compatibility: \| Available in )"
    r"(?P<value>(?:(?:version|Django|Apache HTTP Server|Apache) )?\d+(?:\.\d+)+)(?= and later|\.?$)",
    re.MULTILINE,
)
_DEPRECATED = re.compile(r"^ *Deprecated since version (?P<value>\d+(?:\.\d+)+)", re.MULTILINE)
_EXCEPTION = r"(?P<value>(?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception|Exit|Warning|NotFound|Timeout|DoesNotExist))"
_RAISES = re.compile(
    r"\b(?:[Rr]aises?|will raise|[Tt]hrows?|is raised:) (?:an? |the )?" + _EXCEPTION + r"(?: exception| error)?,? "
    r"(?P<when>(?:if|when|for|unless|on) [^.;:()\n]{8,90})(?=[.;:(]|$)"
)
_RAISED_FIELD = re.compile(_EXCEPTION + r" [–—-] (?P<when>[Ii]f [^.;:()\n]{8,90})(?=[.;:(\n]|$)")
_RETURNS = re.compile(r"(?:^|\. |\n)Returns? (?P<value>(?:the|a|an|True|the|all|None|whether)\b[^\n]*)")

_SYNONYMS = {
    "specify": ("set", "define"),
    "set": ("specify", "change"),
    "return": ("give",),
    "display": ("show", "print"),
    "print": ("show", "display"),
    "remove": ("delete",),
    "delete": ("remove",),
    "create": ("make",),
    "enable": ("turn on", "switch on"),
    "disable": ("turn off", "switch off"),
    "retrieve": ("get", "fetch"),
    "get": ("retrieve", "find"),
    "determine": ("control", "decide"),
    "control": ("determine", "decide"),
    "list": ("show",),
    "allow": ("permit",),
}
# "What" is the entry with what is known of it: "the option --foo of bar".
_DOES = (
    "What does {what} do?",
    "What does {what} do?",
    "What is {what} for?",
    "What is {what} used for?",
    "What is the purpose of {what}?",
    "What effect does {what} have?",
    "What is the effect of {what}?",
)
_IS = (
    "What is {what}?",
    "What does {what} mean?",
    "What does {what} specify?",
    "What does {what} hold?",
    "What is {what} for?",
)
_WHICH_DOES = (
    "Which {noun} {verbs} {rest}?",
    "What {noun} {verbs} {rest}?",
    "Which {noun} {of} {verbs} {rest}?",
    "What is the {noun} {of} that {verbs} {rest}?",
    "Which {noun} do I need to {verb} {rest}?",
    "What {noun} can I use to {verb} {rest}?",
    "What {noun} is used to {verb} {rest}?",
    "How do I {verb} {rest}?",
    "How can I {verb} {rest}?",
    "What do I use to {verb} {rest}?",
)
_WHICH_IS = (
    "Which {noun} specifies {rest}?",
    "Which {noun} sets {rest}?",
    "Which {noun} {of} gives {rest}?",
    "What {noun} holds {rest}?",
    "Where do I set {rest}?",
)
_DEFAULT = (
    "What is the default value of {what}?",
    "What is the default value for {what}?",
    "What is the default of {what}?",
    "What does {what} default to?",
    "What is {what} by default?",
    "What is the default {name}?",
    "Which value does {what} have by default?",
    "What value is used if {what} is not set?",
)
_SINCE_WHEN = (
    "Since which version is {what} available?",
    "In which version was {what} added?",
    "When was {what} introduced?",
    "Which version added {what}?",
    "Which version introduced {what}?",
    "What version do I need for {what}?",
    "Since when does {what} exist?",
)
_DEPRECATED_WHEN = (
    "Since which version is {what} deprecated?",
    "When was {what} deprecated?",
    "In which version was {what} deprecated?",
)
_RAISE = (
    "What does {what} raise {when}?",
    "Which exception does {what} raise {when}?",
    "What exception is raised by {what} {when}?",
    "What error does {what} raise {when}?",
    "Which error do I get from {what} {when}?",
    "What exception does {what} throw {when}?",
)
_RETURN = (
    "What does {what} return?",
    "What is the return value of {what}?",
    "What do I get back from {what}?",
    "What is returned by {what}?",
)
_REVERSED = 0.5


def generate(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield questions about the entries of ``passages``, and questions that these entries do not answer."""
    entries = [entry for passage in passages for entry in find_entries(passage) if len(entry.name) > 2]
    siblings: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in entries:
        siblings[entry.passage.source, entry.noun].append(entry.name)
    draw.shuffle(entries)
    for entry in entries:
        for question, spans, templates in _questions(entry, draw):
            if words(question) > MAX_QUESTION_WORDS:
                continue
            positive = answered(NAME, entry.passage, question, spans)
            yield positive
            if draw.random() < _SHARE_OF_NEGATIVES:
                yield from _negatives(entry, positive, templates, siblings, rivals, draw)
        yield from _missing(entry, draw)


def _questions(entry: Entry, draw: random.Random) -> Iterator[tuple[str, list[Span], tuple[str, ...]]]:
    """Yield a question, its spans, and the templates that can ask the same of another entry."""
    yield from _description(entry, draw)
    for name, templates, patterns in (
        ("default", _DEFAULT, _DEFAULTS),
        ("since", _SINCE_WHEN, (_SINCE,)),
        ("deprecated", _DEPRECATED_WHEN, (_DEPRECATED,)),
    ):
        found = {match.span("value"): match for pattern in patterns for match in pattern.finditer(entry.body)}
        if len(found) != 1 or (len(re.findall(r"\b[Dd]efault", entry.body)) > 2 and name == "default"):
            continue
        match = next(iter(found.values()))
        value = match["value"].strip().rstrip(".")
        if words(value) > _MAX_VALUE_WORDS or value.lower().split()[0] in _NOT_VALUES or not re.search(r"\w", value):
            continue
        start = entry.start + match.start("value")
        question = choose(draw, templates, what=_what(entry, draw), name=entry.name)
        yield question, [(start, start + len(value))], templates
    for pattern in (_RAISES, _RAISED_FIELD):
        matches = list(pattern.finditer(entry.body))
        for match in matches[:2]:
            when = as_asker(lower_first(match["when"].strip()))
            if points_back(when.replace("it ", "")) and draw.random() < 0.8:
                continue
            start = entry.start + match.start("value")
            question = choose(draw, _RAISE, what=_what(entry, draw), when=when)
            yield question, [(start, start + len(match["value"]))], ()
    returned = _RETURNS.search(entry.body)
    if returned and entry.is_function:
        span = clause(entry.body, returned.start("value"), _sentence_end(entry.body, returned.start("value")))
        if span:
            spans = [(entry.start + span[0], entry.start + span[1])]
            yield choose(draw, _RETURN, what=_what(entry, draw)), spans, _RETURN


def _description(entry: Entry, draw: random.Random) -> Iterator[tuple[str, list[Span], tuple[str, ...]]]:
    """Yield questions for what an entry does or is, and for the entry that does it."""
    place = _defining_sentence(entry)
    if place is None:
        return
    text = entry.passage.text
    subject = _SUBJECT.match(text[place[0] : place[1]])
    start = place[0] + subject.start("verb") if subject else place[0]
    span = clause(text, start, place[1])
    if span is None or words(text[slice(*span)]) < 3:
        return
    said = text[slice(*span)]
    first = said.partition(" ")[0]
    verb = first.lower() if first.lower() in VERBS else infinitive(first.lower())
    verb = "" if first.lower() in ("is", "are", "has", "was", "does") else verb
    if re.match(r"(?:The|An?)\b|\w+ (?:of|for)\b", said):
        verb = ""
    is_phrase = not subject and _NOUN_PHRASE.match(said) and not _STATES.search(said)
    if (not verb and not is_phrase) or entry.name in said.split() or " - " in said or " — " in said:
        return
    templates = _DOES if verb or entry.is_function else _IS
    yield choose(draw, templates, what=_what(entry, draw)), [span], templates
    short = clause(text, *span, max_words=14)
    if entry.named is None or short is None or draw.random() > _REVERSED:
        return
    said = as_asker(text[slice(*short)])
    asked = said.partition(" ")[2] if verb else lower_first(said)
    if words(asked) < 2 or points_back(asked) or entry.name in asked:
        return
    verb = draw.choice((verb, *_SYNONYMS.get(verb, ())))
    first, _, particle = verb.partition(" ")
    if not entry.noun and not verb:
        return
    question = choose(
        draw,
        (_WHICH_DOES if entry.noun else _WHICH_DOES[-3:]) if verb else _WHICH_IS,
        noun=entry.noun,
        of=f"of {entry.owner}" if entry.owner else "",
        verbs=f"{third_person(first)} {particle}" if verb else "",
        verb=verb,
        rest=asked,
    )
    yield question, list(occurrences(text, entry.name)) or [entry.named], ()


def _defining_sentence(entry: Entry) -> Span | None:
    """Return the characters of the first sentence of an entry that says what it does."""
    body = entry.body
    for pattern in (_DESCRIPTION, _SUMMARY):
        match = pattern.search(body[:400])
        if match and (pattern is _DESCRIPTION or body.startswith(entry.name)):
            return entry.start + match.start("text"), entry.start + match.end("text")
    for start, end in islice(sentences(body[:900]), 8):
        sentence = body[start:end]
        is_prose = sentence[:1].isalpha() and " | " not in sentence and words(sentence.split("\n")[0]) > 2
        if is_prose and not _NOT_PROSE.match(sentence) and not re.match(r"\S*[_(=\t]", sentence):
            return entry.start + start, entry.start + end
        if is_prose and _SUBJECT.match(sentence):
            return entry.start + start, entry.start + end
    return None


def _sentence_end(text: str, start: int) -> int:
    match = re.search(r"\.(?:\s|$)|\n", text[start:])
    return start + match.start() if match else len(text)


def _what(entry: Entry, draw: random.Random) -> str:
    """Return how a question may name an entry."""
    name = entry.name
    if entry.is_function and draw.random() < 0.4:
        name = f"{name}()"
    chance = draw.random()
    if entry.owner and (entry.noun in ("parameter", "argument") or chance < 0.4):
        noun = entry.noun or "option"
        return draw.choice((f"the {noun} {name} of {entry.owner}", f"the {name} {noun} of {entry.owner}"))
    if entry.name.startswith("-") and entry.owner and chance < 0.7:
        return f"{entry.owner} {name}"
    if entry.noun and chance < 0.75:
        return draw.choice((f"the {noun} {name}" if (noun := entry.noun) else name, f"the {name} {entry.noun}"))
    return name


def _negatives(
    entry: Entry,
    positive: Example,
    templates: tuple[str, ...],
    siblings: dict[tuple[str, str], list[str]],
    rivals: Rivals,
    draw: random.Random,
) -> Iterator[Example]:
    passage, question, spans = entry.passage, positive.question, positive.spans
    choice = draw.random()
    if choice < 0.35:
        asks_name = spans[0][1] - spans[0][0] == len(entry.name) and entry.name in positive.accepted
        start = entry.named[0] if asks_name and entry.named and entry.start > entry.named[0] else None
        cut = (passage.text.rfind("\n", 0, start) + 1, entry.end) if start is not None else None
        yield from removed(NAME, passage, question, spans, cut)
    elif choice < 0.65 and templates:
        others = siblings[passage.source, entry.noun]
        other = others[draw.randrange(len(others))]
        if other != entry.name and other not in f"{passage.title} {passage.heading} {passage.text}":
            what = f"the {entry.noun} {other}" if entry.noun and draw.random() < 0.5 else other
            asked = choose(draw, templates, what=what, name=other)
            yield unanswered(NAME, ENTITY_SWAP, passage, asked)
    else:
        forward = entry.name not in positive.accepted
        rival = rivals.find(passage, question, positive.accepted, entry.name if forward else "")
        if rival is not None:
            yield unanswered(NAME, SEARCH, rival, question, positive.accepted)


def _missing(entry: Entry, draw: random.Random) -> Iterator[Example]:
    """Yield a question for an attribute that the passage of an entry does not state."""
    text, around = entry.passage.text, f"{entry.passage.title} {entry.passage.heading}"
    what = _what(entry, draw)
    lacking: list[tuple[tuple[str, ...], str]] = []
    if "efault" not in text and f"{entry.name}=" not in text and not re.search(r"\bomitted|not set|unset", text):
        lacking.append((_DEFAULT, ""))
    if not re.search(r"\d\.\d|[Ss]ince|version", text + around):
        lacking.append((_SINCE_WHEN, ""))
    if not re.search(r"raise|[Ee]rror|[Ee]xception|throw|fail", text + around):
        lacking.append((_RAISE, draw.choice(("if the value is invalid", "when it fails", "for invalid input", ""))))
    if "eturn" not in text and entry.is_function:
        lacking.append((_RETURN, ""))
    if lacking and draw.random() < 0.25:
        templates, when = draw.choice(lacking)
        yield unanswered(NAME, ATTRIBUTE, entry.passage, choose(draw, templates, what=what, name=entry.name, when=when))

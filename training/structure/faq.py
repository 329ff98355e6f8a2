"""Questions for FAQ pages: real ones with questions as headings, and invented ones of offices, shops and services."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.examples import Example
from training.structure.building import ATTRIBUTE, REMOVED, SEARCH, Rivals, answered, unanswered
from training.structure.invented import values_of
from training.structure.passages import Passage
from training.structure.wording import Span, as_asker, choose, clause, sentences, upper_first, words

NAME = "faq"

_NUMBERED = re.compile(r"^(?:[A-Z]?[\d.]+[.)]? |Q: ?)+")
_ASKS = re.compile(r"(?:what|who|when|where|which|why|how|is|are|do|does|can|may|should|must|will)\b", re.IGNORECASE)
_SHORT_ANSWER = 4
_SLOT = re.compile(r"\{(\w+)\}")
_ORDINALS = "1st 2nd 3rd 5th 10th 12th 15th 20th 25th 28th".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday".split()
_SPOTS = "parking lot,main gate,fountain,flagpole,loading dock,canteen,warehouse,south entrance,old oak".split(",")
_DEPARTMENTS = "accounting,human resources,purchasing,the legal department,facilities,payroll".split(",")
_NUMBERS = "two three four five six eight nine 2 3 4 5 6 8 10 12".split()
_FORMATS = "CSV,JSON,an Excel workbook,XML,a SQLite file,PDF".split(",")
_BROWSERS = ("Firefox, Chrome and Safari", "Edge and Firefox", "Chrome, Edge and Opera", "Firefox 115 or later")
_PAYMENTS = ("credit card, invoice and bank transfer", "direct debit or invoice", "cash and card", "card or voucher")
_OPENINGS = ("", "", "", "Excuse me, {q}", "Quick question: {q}", "Do you know {i}")
_UNRELATED = (
    "Who is the founder of the company?|How old is the company?|How tall is the office tower?|What is the email "
    "address of the mayor?"
    "|Who designed the logo?|What is the name of the cleaning firm?|How many windows does the building have?"
    "|When was the building built?|Who is the chair of the board?|Which bank do we use?|What is the tax number?"
    "|How many people work here?|What is the capital of Mongolia?|Who painted the mural?|Which train goes to the "
    "airport?"
).split("|")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of an invented FAQ; the span of an answer stands in brackets, its slots in braces."""

    name: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question of an invented FAQ with its answer."""

    topic: Topic
    question: str
    answer: str
    span: Span


def read_topics() -> list[Topic]:
    """Return the topics of invented FAQs."""
    lines = Path(__file__).with_name("faq.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return [Topic(name, tuple(asked.split("|")), tuple(told.split("|"))) for name, asked, told in rows]


def generate(passages: Sequence[Passage], rivals: Rivals, draw: random.Random) -> Iterator[Example]:
    """Yield the questions that are headings, with the beginning of their answer as span."""
    for passage in passages:
        asked = _NUMBERED.sub("", passage.heading).strip()
        if not asked.endswith("?") or not _ASKS.match(asked) or words(asked) > 20 or ". " in asked:
            continue
        span = _first_statement(passage.text)
        if span is None:
            continue
        question = choose(draw, (asked, as_asker(asked), asked))
        shown, offset = _with_question(passage, asked, draw)
        yield answered(NAME, shown, question, [(span[0] + offset, span[1] + offset)])
        rival = rivals.find(passage, question, [passage.text[slice(*span)]])
        if rival is not None and rival.heading != passage.heading:
            if _NUMBERED.sub("", rival.heading).endswith("?"):
                rival, _ = _with_question(rival, _NUMBERED.sub("", rival.heading), draw)
            yield unanswered(NAME, SEARCH, rival, question, (passage.text[slice(*span)],))


def generate_invented(count: int, draw: random.Random) -> Iterator[Example]:
    """Yield questions about ``count`` invented FAQs."""
    topics = read_topics()
    for number in range(count):
        pairs = [_pair(topic, draw) for topic in draw.sample(topics, draw.randint(5, 10))]
        yield from _ask(pairs, f"invented-{number}", draw)


def _first_statement(text: str) -> Span | None:
    """Return the first sentence, or what of the second fits if the first is as short as "No"."""
    spans = list(sentences(text))[:2]
    if not spans or "\n" in text[: spans[0][1]] or "|" in text[slice(*spans[0])] or text[spans[0][1] - 1] == ":":
        return None
    start, end = spans[0]
    if words(text[start:end]) >= _SHORT_ANSWER:
        return clause(text, start, end)
    following = clause(text, *spans[1], max_words=20) if len(spans) > 1 and "\n" not in text[: spans[1][0]] else None
    return (start, following[1]) if following else clause(text, start, end)


def _with_question(passage: Passage, asked: str, draw: random.Random) -> tuple[Passage, int]:
    """Return the passage in one of the forms that FAQs have, and by how much its text moved."""
    form = draw.random()
    if form < 0.4:
        return passage, 0
    if form < 0.7:
        before = f"{asked}\n\n"
        heading = "Introduction"
    else:
        before, heading = f"Q: {asked}\nA: ", "Introduction"
    text = before + passage.text
    return Passage(passage.source, passage.page, passage.title, heading, "", text), len(before)


def _pair(topic: Topic, draw: random.Random) -> Pair:
    slots: dict[str, str] = {}
    text = _SLOT.sub(lambda match: slots.setdefault(match[1], _value(match[1], draw)), draw.choice(topic.answers))
    start, end = text.index("["), text.index("]") - 1
    text = upper_first(text.replace("[", "").replace("]", ""))
    return Pair(topic, draw.choice(topic.questions), text, (start, end))


def _value(slot: str, draw: random.Random) -> str:
    name = values_of("person", draw)[0]
    is_late = slot in ("time2", "time3")
    slot = slot.rstrip("23")
    known = {
        "number": draw.choice(_NUMBERS),
        "days": str(draw.choice((7, 10, 14, 15, 20, 21, 30, 45, 60, 90, 100, 250))),
        "months": draw.choice(("3", "6", "12", "18", "24", "36", "six", "twelve")),
        "ordinal": draw.choice(_ORDINALS),
        "weekday": draw.choice(_WEEKDAYS),
        "time": f"{draw.randint(13, 20) if is_late else draw.randint(6, 12)}:{draw.choice(('00', '15', '30', '45'))}",
        "phone": draw.choice(
            (str(draw.randint(2000, 8999)), f"0{draw.randint(20, 99)} {draw.randint(100000, 999999)}")
        ),
        "email": f"{draw.choice(('office', 'service', 'help', 'team', 'booking'))}@{name.split()[1].lower()}.example",
        "person": name,
        "spot": draw.choice(_SPOTS),
        "dept": draw.choice(_DEPARTMENTS),
        "money": f"{draw.randint(2, 60) * 25} {draw.choice(('euros', 'dollars'))}",
        "cents": str(draw.randint(2, 18) * 5),
        "format": draw.choice(_FORMATS),
        "browsers": draw.choice(_BROWSERS),
        "payments": draw.choice(_PAYMENTS),
    }
    return known[slot] if slot in known else values_of(slot, draw)[0]


def _ask(pairs: list[Pair], page: str, draw: random.Random) -> Iterator[Example]:
    form = draw.choice(("title", "topic", "heading", "lines", "letters"))
    name = draw.choice(("FAQ", "Frequently asked questions", "Good to know", "Help", "Office handbook", "Service"))
    texts: list[str] = []
    offsets: list[int] = []
    for pair in pairs:
        before = {"lines": f"{pair.question}\n", "letters": f"Q: {pair.question}\nA: "}.get(form, "")
        offsets.append(sum(len(text) + len("\n\n") for text in texts) + len(before))
        texts.append(f"{before}{pair.answer}")
    is_page = form in ("lines", "letters")
    for number in draw.sample(range(len(pairs)), 2):
        pair = pairs[number]
        other = max((one for one in pairs if one is not pair), key=lambda one: _shared_words(one, pair))
        asked = _reworded(draw.choice(pair.topic.questions), draw)
        if is_page:
            passage = Passage("invented", page, name, "Introduction", "", "\n\n".join(texts))
            offset = offsets[number]
            lacking = "\n\n".join(text for place, text in enumerate(texts) if place != number)
            negative = Passage("invented", page, name, "Introduction", "", lacking)
        else:
            passage, negative = (_single(one, form, name, page) for one in (pair, other))
            offset = 0
        yield answered(NAME, passage, asked, [(pair.span[0] + offset, pair.span[1] + offset)])
        if draw.random() < 0.8:
            told = pair.answer[slice(*pair.span)]
            if told not in negative.text:
                yield unanswered(NAME, REMOVED if is_page else SEARCH, negative, asked, (told,))
        if draw.random() < 0.25:
            yield unanswered(NAME, ATTRIBUTE, passage, draw.choice(_UNRELATED))


def _shared_words(one: Pair, other: Pair) -> int:
    asked, told = (set(re.findall(r"\w+", text.lower())) for text in (other.question, f"{one.question} {one.answer}"))
    return len(asked & told)


def _single(pair: Pair, form: str, name: str, page: str) -> Passage:
    """Return the passage of one pair: a record with the question or the topic as title, or a section of a page."""
    titles = {"title": (pair.question, "Introduction"), "topic": (pair.topic.name, "Introduction")}
    title, heading = titles.get(form, (name, pair.question))
    return Passage("invented", page, title, heading, "", pair.answer)


def _reworded(question: str, draw: random.Random) -> str:
    opening = draw.choice(_OPENINGS)
    first = question[:1].lower() + question[1:]
    if "{i}" in opening:
        return question
    return opening.format(q=first) if opening else choose(draw, (question,))

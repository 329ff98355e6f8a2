"""How old somebody is, or how long something lasted: computed from the cited dates of its beginning and its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of
from wikigr.answer.candidates.grid import spelled
from wikigr.question import patterns
from wikigr.question.dates import Date, dates_in
from wikigr.question.grammar import MONTHS, PERSONAL
from wikigr.question.question import Question
from wikigr.retrieval.sentences import SentenceScore
from wikigr.text import words

_BEGAN = re.compile(r"\b(?:birth\w*|born|built|founded|opened|first.registration)\b", re.IGNORECASE)
_ENDED = re.compile(r"\b(?:died|death|closed|dissolved|demolished)\b", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\w.,-])(?:1[5-9]|20)\d\d(?![\w.,]*\d)")
# The names of columns that state how long something is; beside one, the time between two dates is another thing.
_LENGTHS = "duration length long"
# "How long is hose 2?", but not "How long is hose 2 used?"
_ASKS_LENGTH = re.compile(r"\W*how\s+long\s+(?:is|are)\s+(?!.*ed\W*$).+", re.IGNORECASE)
# Of what the question names, the share that stands with the dates.
_MIN_NAMED = 0.5


def find_elapsed(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the ages and durations of what the question names, from sentences, rows and properties with their dates."""
    question = material.question
    asks_age = patterns.ASKS_AGE.search(question.text)
    asks = asks_age or patterns.ASKS_DURATION.match(question.text)
    if question.today is None or asks is None:
        return
    today = Date(question.today.year, question.today.month, question.today.day)
    measure = set(question.stems("old age" if asks_age else asks.group()))
    lengths = set(question.stems(_LENGTHS)) if _ASKS_LENGTH.fullmatch(question.text) else set()
    found = []
    for own in material.by_section.values():
        for before, sentence in pairwise((None, *own)):
            assert sentence is not None
            ends = _life(sentence, own) if asks_age else _times(sentence)
            if ends is None:
                continue
            if lengths and sentence.row is not None:
                columns = question.stems(" ".join(map(spelled, sentence.row.columns)))
                if not lengths.isdisjoint(columns):
                    continue
            quotation = _with_subject(before, sentence)
            said = set(question.stems(quotation.text)) | material.place_stems(sentence.section)
            named = _share_named(question, said, measure)
            if named < _MIN_NAMED:
                continue
            began, ended, others = ends
            ended = ended or today
            if began.is_before(ended):
                years = f"{_times_in(began, ended)[0]} years old, on {_written(ended)}"
                time = years if asks_age else _lasted(began, ended)
                # What the sentence names itself, it is rather about than what the one before names.
                fit = named if asks_age or quotation.start == sentence.start else 0.9 * named
                found.append(AnswerCandidate("elapsed", (quotation, *others), lead=f"{time}:", fit=fit))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:3]


def without_their_dates(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ``candidates`` without those whose short answer is a date, if an age or a duration is computed."""
    if not any(candidate.kind == "elapsed" for candidate in candidates):
        return list(candidates)
    return [c for c in candidates if not (dates_in(c.short) or _YEAR.fullmatch(c.short))]


def _with_subject(before: SentenceScore | None, sentence: SentenceScore) -> Quotation:
    """Return ``sentence`` as a quotation, with the one ``before`` it if it begins with a pronoun."""
    first = words(sentence.text)[:1]
    if before is not None and not PERSONAL.isdisjoint(first) and before.section == sentence.section:
        return Quotation(sentence.section, before.start, sentence.end)
    return quotation_of(sentence)


def _share_named(question: Question, said: set[str], measure: set[str]) -> float:
    """Return the share of the question in ``said``, apart from "how old" itself; 0 if one of its names is not there."""
    weights = {stem: weight for stem, weight in question.weights.items() if stem not in measure}
    if not weights or not question.names <= said:
        return 0.0
    return sum(weight for stem, weight in weights.items() if stem in said) / sum(weights.values())


def _life(
    sentence: SentenceScore, own: Sequence[SentenceScore]
) -> tuple[Date, Date | None, tuple[Quotation, ...]] | None:
    """Return when what ``sentence`` tells of began and ended; the end may be another property among ``own``."""
    began, ended = _date_after(_BEGAN, sentence), _date_after(_ENDED, sentence)
    if began is None:
        return None
    if ended is None and sentence.row is not None:
        others = ((other, _date_after(_ENDED, other)) for other in own if other.row)
        last = next(((other, end) for other, end in others if end is not None), None)
        if last is not None:
            return began, last[1], (quotation_of(last[0]),)
    return began, ended, ()


def _times(sentence: SentenceScore) -> tuple[Date, Date | None, tuple[Quotation, ...]] | None:
    """Return the two times that ``sentence`` states, or the one since which something is so."""
    text = sentence.text
    found = [time for time, _, _ in dates_in(text)] or [Date(int(year), 0, 0) for year in _YEAR.findall(text)]
    is_open = len(found) == 1 and _SINCE.search(text) is not None and found[0].year
    if is_open:
        return found[0], None, ()
    if len(found) != 2 or (found[0].day == 0) != (found[1].day == 0):
        return None
    began, ended = found
    year = began.year or ended.year or 1
    began = Date(year, began.month, began.day)
    ended = Date(ended.year or year + ((ended.month, ended.day) < (began.month, began.day)), ended.month, ended.day)
    return began, ended, ()


def _date_after(pattern: re.Pattern[str], sentence: SentenceScore) -> Date | None:
    """Return the first whole day after what ``pattern`` finds."""
    found = pattern.search(sentence.text)
    if found is None:
        return None
    days = (day for day, start, _ in dates_in(sentence.text) if start >= found.end() and day.year and day.day)
    return next(days, None)


def _lasted(began: Date, ended: Date) -> str:
    """Return how long the time from one to the other is: in days if it is short, in years and months, or in years."""
    days = (_day(ended) - _day(began)).days
    years, months = _times_in(began, ended)
    counted = [(years, "year"), (months if began.month else 0, "month")]
    # Shorter times are counted in days.
    if began.day and days <= 62:
        counted = [(days, "day")]
    said = " and ".join(f"{count} {unit}{'s' * (count != 1)}" for count, unit in counted if count)
    return f"{said or 'Less than a year'}, from {_written(began)} to {_written(ended)}"


def _times_in(began: Date, ended: Date) -> tuple[int, int]:
    """Return the whole years and months from one time to another."""
    months = 12 * (ended.year - began.year) + ended.month - began.month - (ended.day < began.day)
    return divmod(months, 12)


def _day(time: Date) -> date:
    # Nobody checks a date of a text: "31 June" is the day after the 30th.
    return date(time.year, time.month or 1, 1) + timedelta(max(0, time.day - 1))


def _written(time: Date) -> str:
    month = f"{MONTHS[time.month - 1]} " if time.month else ""
    year = f"{time.year}" if time.year > 1 else ""
    return f"{time.day or ''} {month}{year}".strip()

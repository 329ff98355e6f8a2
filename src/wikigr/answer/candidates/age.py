"""How old somebody or something is, computed from the cited date of its beginning, and of its end if that is stated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation, quotation_of
from wikigr.question import patterns
from wikigr.question.grammar import MONTHS
from wikigr.question.values import Date, dates_in
from wikigr.retrieval.sentences import SentenceScore

_BEGAN = re.compile(r"\b(?:birth\w*|born|built|founded|opened|first.registration)\b", re.IGNORECASE)
_ENDED = re.compile(r"\b(?:died|death|closed|dissolved|demolished)\b", re.IGNORECASE)
_MAX_CANDIDATES = 3


def find_ages(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the ages of what the question names, from the sentences and properties that say when it began."""
    question = material.question
    if question.today is None or patterns.ASKS_AGE.search(question.text) is None:
        return
    today = Date(question.today.year, question.today.month, question.today.day)
    found = []
    for sentence in material.sentences:
        began, ended = _date_after(_BEGAN, sentence), _date_after(_ENDED, sentence)
        named = question.coverage(set(question.stems(sentence.text)) | material.place_stems(sentence.section))
        if began is None or not named:
            continue
        quotations: tuple[Quotation, ...] = (quotation_of(sentence),)
        if ended is None:
            # The end is another property of the same article.
            others = ((s, _date_after(_ENDED, s)) for s in material.by_section[sentence.section.section_id] if s.row)
            last = next(((s, end) for s, end in others if end is not None), None)
            if last is not None and sentence.row is not None:
                quotations, ended = (*quotations, quotation_of(last[0])), last[1]
        end = ended or today
        if end.is_before(began):
            continue
        years = end.year - began.year - ((end.month, end.day) < (began.month, began.day))
        lead = f"{years} year{'' if years == 1 else 's'}, on {end.day} {MONTHS[end.month - 1]} {end.year}:"
        found.append(AnswerCandidate("age", quotations, lead=lead, fit=named))
    yield from sorted(found, key=lambda candidate: -candidate.fit)[:_MAX_CANDIDATES]


def without_their_dates(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ``candidates`` without those whose short answer is the date from which one of the ages was computed."""
    places = {q.place for candidate in candidates if candidate.kind == "age" for q in candidate.quotations}
    return [c for c in candidates if c.quotations[0].place not in places or c.kind == "age" or not dates_in(c.short)]


def _date_after(pattern: re.Pattern[str], sentence: SentenceScore) -> Date | None:
    """Return the first whole day after what ``pattern`` finds."""
    found = pattern.search(sentence.text)
    if found is None:
        return None
    dates = (date for date, start, _ in dates_in(sentence.text) if start >= found.end() and date.year and date.day)
    return next(dates, None)

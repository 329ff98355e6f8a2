"""The nearest sections, each shortened to its best sentences: what is shown where no answer is sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from wikigr.answer.candidates.candidate import Material, Quotation
from wikigr.answer.citations import StoredText
from wikigr.index.candidate import Section
from wikigr.retrieval.sentences import SentenceScore

# The kind of such a passage among the alternatives.
PASSAGE = "passage"
MAX_PASSAGES = 3
# A shorter section is shown whole. Of 48 questions of ``asked``, as many are answered on the screen with 400
# characters, and one more with 900, which is what the whole sections answer.
MAX_PASSAGE_CHARS = 600


def nearest_passages(material: Material, shown: Sequence[StoredText] = ()) -> Iterator[Quotation]:
    """Yield the passages of the ``MAX_PASSAGES`` nearest sections, nearest first.

    One that is within what is already ``shown`` is left out, and one of the next section takes its place. Of one that
    holds a part of it, the best stretch without that part is what is new.
    """
    number = 0
    for item in material.evidence:
        if number == MAX_PASSAGES:
            return
        units = material.by_section.get(item.section.section_id, [])
        if not units:
            continue
        passage = best_stretch(item.section, units)
        own = [text for text in shown if text.section_id == item.section.section_id]
        if any(passage.is_within(text.section_id, text.start, text.end) for text in own):
            continue
        number += 1
        yield best_stretch(item.section, _best_unseen(units, own)) if _repeats(passage, own) else passage


def _repeats(part: Quotation | SentenceScore, shown: Sequence[StoredText]) -> bool:
    return any(part.start < text.end and text.start < part.end for text in shown)


def _best_unseen(units: Sequence[SentenceScore], shown: Sequence[StoredText]) -> Sequence[SentenceScore]:
    """Return the consecutive ``units`` with the best one of those that repeat nothing; all if there is none."""
    runs = [list(run) for repeats, run in groupby(units, lambda unit: _repeats(unit, shown)) if not repeats]
    return max(runs, key=lambda run: max(unit.score for unit in run), default=units)


def best_stretch(section: Section, units: Sequence[SentenceScore]) -> Quotation:
    """Return the consecutive ``units`` of ``section`` with the highest sum of scores that are not too long together.

    ``units`` are in the order of the text, and there is at least one. A unit that is too long stands alone.
    """
    best = (-1.0, units[0].start, units[0].end)
    first, total = 0, 0.0
    for last, unit in enumerate(units):
        total += unit.score
        while first < last and unit.end - units[first].start > MAX_PASSAGE_CHARS:
            total -= units[first].score
            first += 1
        # The earlier stretch wins a tie, up to errors of the sums.
        if total > best[0] + 1e-9:
            best = (total, units[first].start, unit.end)
    return Quotation(section, best[1], best[2])

"""Answer without a language model: quote what states the likeliest answer, and name others that are possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, Any, ClassVar

from wikigr.answer.answer import EXTRACTIVE, Answer, AnswerHop, PossibleAnswer
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation
from wikigr.answer.citations import Citation, StoredText, verify_against
from wikigr.answer.probability import overlaps
from wikigr.answer.stages import Draft, material_of
from wikigr.index.candidate import Section
from wikigr.options import Few, Options
from wikigr.pack.open import Corpus
from wikigr.retrieval.sentences import SentenceScore
from wikigr.text import escape_marks, words

# Further sentences must be as likely to be right as this share of the first one; below it they are padding.
SENTENCE_FLOOR = 0.75
# … and where a few words answer, a further one must be more likely right than wrong.
MIN_PROBABILITY = 0.5
# Other answers that are shown with a likely one, and the share of its probability that each has at least.
MAX_ALTERNATIVES = 2
ALTERNATIVE_FLOOR = 1 / 3
# Characters of the surroundings before and after a quotation at most.
_MAX_AROUND = 300
# The kinds that quote one sentence, which others may follow.
SENTENCE_KINDS = frozenset(("span", "yes_no", "definition"))
# The kinds of blocks that are running text, in which line breaks say nothing.
_RUNNING = frozenset(("paragraph", "quotation", "caption", "footnote"))
# A sentence that begins so names its subject in the sentence before.
_PRONOUN = re.compile(r"(?:it|its|this|these|they|their|he|his|she|her)\b", re.I)


@dataclass(frozen=True, slots=True)
class ExtractiveOptions(Options):
    """Quoting the pack, where no model writes the answer."""

    section: ClassVar[str] = "extractive"

    max_sentences: Annotated[
        Few, "sentences to quote at most; an answer from several facts or hops quotes one for each of them"
    ] = 3


def write_extractive(pack: Corpus, draft: Draft, answer: Answer, options: ExtractiveOptions) -> Answer:
    """Return ``answer`` with verified quotations of the first of the draft's answers, and with its alternatives.

    Raises ``WikigrError`` when a quotation does not match the pack.
    """
    best = draft.answers[0]
    quoted = [best, *further_answers(draft.answers, options.max_sentences)]
    quotations = list(dict.fromkeys(q for candidate in quoted for q in candidate.quotations))
    citations = quote(quotations)
    level = draft.confidence.level
    others = other_answers(draft.answers, quoted) if level == "likely" else []
    quoted_by_others = [quote(other.quotations) for other in others]
    verify_against(pack, [*citations, *(c for each in quoted_by_others for c in each)], answer.trace)
    material = material_of(draft)
    numbers = {(citation.section_id, citation.start): citation.n for citation in citations}
    stated = replace(
        answer,
        query_type=EXTRACTIVE,
        level=level,
        cannot_list=draft.confidence.cannot_list,
        # The hops, with the citations of the sentences in which they were read.
        chain=tuple(
            AnswerHop(hop.question, hop.answer, numbers[hop.place], round(hop.probability, 4)) for hop in best.hops
        ),
        alternatives=tuple(
            PossibleAnswer(confidence=other.probability, **_stated(other, other.quotations, cited, material))
            for other, cited in zip(others, quoted_by_others, strict=True)
        ),
        **_stated(best, quotations, citations, material),
    )
    return with_passages(pack, draft, stated) if level == "not_sure" else stated


def with_passages(pack: Corpus, draft: Draft, answer: Answer) -> Answer:
    """Return ``answer`` with the passages of the nearest sections as its alternatives, in their order.

    Raises ``WikigrError`` when a quotation does not match the pack.
    """
    shown = [StoredText(c.quote, c.section_id, c.start, c.end) for c in answer.citations]
    passages = list(nearest_passages(material_of(draft), [*shown, *filter(None, (answer.context,))]))
    quoted = [quote((passage,)) for passage in passages]
    verify_against(pack, [citation for (citation,) in quoted], answer.trace)
    found = []
    for passage, cited in zip(passages, quoted, strict=True):
        place = passage.section.section_id, passage.start, passage.end
        within = (a.probability for a in draft.answers if any(q.is_within(*place) for q in a.quotations))
        confidence = max(within, default=0.0)
        found.append(PossibleAnswer(text=as_text((passage,)), kind=PASSAGE, citations=cited, confidence=confidence))
    return replace(answer, alternatives=tuple(found))


def _stated(
    candidate: AnswerCandidate, quotations: Sequence[Quotation], citations: tuple[Citation, ...], material: Material
) -> dict[str, Any]:
    """Return the fields of a ``PossibleAnswer`` that follow from ``candidate`` and the ``citations`` of quotations."""
    section, span, first = candidate.section, candidate.span, candidate.quotations[0]
    return {
        "kind": candidate.kind,
        "text": as_text(quotations, candidate.lead),
        "citations": citations,
        "span": None if span is None else StoredText(candidate.short, section.section_id, span.start, span.end),
        "lead": candidate.lead,
        "context": surroundings(first, material.by_section.get(section.section_id, [])),
    }


def other_answers(answers: Sequence[AnswerCandidate], quoted: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return the best ``MAX_ALTERNATIVES`` of ``answers`` from other sections than those ``quoted`` and one another's.

    None has the short answer of another one, or less than ``ALTERNATIVE_FLOOR`` of the probability of the first one.
    """
    least = ALTERNATIVE_FLOOR * quoted[0].probability
    chosen: list[AnswerCandidate] = []
    sections = {q.section.section_id for candidate in quoted for q in candidate.quotations}
    said = {tuple(words(candidate.short)) for candidate in quoted} - {()}
    for candidate in answers:
        own = {q.section.section_id for q in candidate.quotations}
        short = tuple(words(candidate.short))
        if own & sections or short in said or candidate.probability < least:
            continue
        chosen.append(candidate)
        sections |= own
        said |= {short} - {()}
        if len(chosen) == MAX_ALTERNATIVES:
            break
    return chosen


def further_answers(answers: Sequence[AnswerCandidate], limit: int) -> Iterator[AnswerCandidate]:
    """Yield the answers that are quoted after the first one, at most ``limit`` with it: sentences that say more.

    Each is not far below the first, has another short answer if there are any and then is likelier right than wrong,
    and does not repeat what is quoted.
    """
    best = answers[0]
    if best.kind not in SENTENCE_KINDS:
        return
    chosen = [best]
    least = max(MIN_PROBABILITY if best.span is not None else 0.0, SENTENCE_FLOOR * best.probability)
    for candidate in answers[1:]:
        if len(chosen) == limit:
            return
        # The order is not that of the probabilities.
        is_likely = candidate.kind in SENTENCE_KINDS and candidate.probability >= least
        if is_likely and not any(_repeats(candidate, other) for other in chosen):
            chosen.append(candidate)
            yield candidate


def _repeats(one: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Return whether two answers quote the same text, or have the same short answer or one within the other."""
    if overlaps(one, other):
        return True
    text, before = _spaced(one.text), _spaced(other.text)
    shorter, longer = sorted((text, before), key=len)
    # Two sentences are duplicates if one contains the other and is at least this share of its length: a caption, or
    # the same lead in two articles.
    if shorter in longer and len(shorter) >= 0.7 * len(longer):
        return True
    short, known = _spaced(one.short), _spaced(other.short)
    return bool(one.short and other.short) and (short in known or known in short)


def _spaced(text: str) -> str:
    """Return the words of ``text`` with a space around each, so that one contains another only as whole words."""
    return f" {' '.join(words(text))} "


def quote(quotations: Sequence[Quotation]) -> tuple[Citation, ...]:
    """Return citations of ``quotations``, in order."""
    return tuple(
        Citation(
            n=n,
            title=q.section.title,
            section_id=q.section.section_id,
            heading=q.section.heading,
            source_id=q.section.source_id,
            quote=q.text,
            start=q.start,
            end=q.end,
        )
        for n, q in enumerate(quotations, start=1)
    )


def as_text(quotations: Sequence[Quotation], lead: str = "") -> str:
    """Return quotations as one text, each followed by its number, and preceded by its title if it needs it.

    ``lead`` comes first. Lists, tables, definitions and code keep their lines, and stand on lines of their own.
    """
    text, had_lines = lead, False
    previous = None
    for quotation, citation in zip(quotations, quote(quotations), strict=True):
        said, has_lines = lay_out(quotation)
        gap = "" if not text else "\n" if has_lines or had_lines else " "
        text += f"{gap}{subject_of(citation, previous)}{said} [{citation.n}]"
        previous, had_lines = citation, had_lines or has_lines
    return text


def lay_out(quotation: Quotation) -> tuple[str, bool]:
    """Return the text of a quotation, with single spaces in running text, and whether it has anything else."""
    content, start, end = quotation.section.content, quotation.start, quotation.end
    blocks = [block for block in quotation.section.blocks if block.start < end and block.end > start]
    text, before, after_text = "", start, False
    for block in blocks:
        first, last = max(block.start, start), min(block.end, end)
        is_text = block.kind in _RUNNING
        if text:
            text += " " if is_text and after_text else content[before:first]
        piece = content[first:last]
        if block.kind != "code":
            piece = escape_marks(piece if block.kind == "table" else " ".join(piece.split()))
        text += piece
        before, after_text = last, is_text
    has_lines = any(block.kind not in _RUNNING for block in blocks)
    # A number in the last line of code would seem to belong to it.
    return (f"{text}\n\n" if blocks and blocks[-1].kind == "code" else text), has_lines


def subject_of(citation: Citation, previous: Citation | None = None) -> str:
    """Return the title of a quotation that begins with a pronoun, as what precedes it, or nothing.

    After a ``previous`` quotation from the same section, the pronoun needs no title.
    """
    follows = previous is not None and previous.section_id == citation.section_id
    return f"{citation.title}: " if _PRONOUN.match(citation.quote) and not follows else ""


def surroundings(quotation: Quotation, sentences: Sequence[SentenceScore]) -> StoredText:
    """Return ``quotation`` with the sentence before and the one after it, where they stand on the same line.

    ``sentences`` are those of its section in the order of the text. The items of a list, the rows of a table and facts
    stand on lines of their own.
    """
    content = quotation.section.content
    start, end = quotation.start, quotation.end
    before = next((s for s in reversed(sentences) if s.end <= start), None)
    after = next((s for s in sentences if s.start >= end), None)
    if before is not None and start - before.start <= _MAX_AROUND and "\n" not in content[before.end : start]:
        start = before.start
    if after is not None and after.end - end <= _MAX_AROUND and "\n" not in content[end : after.start]:
        end = after.end
    return StoredText(content[start:end], quotation.section.section_id, start, end)


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
        yield best_stretch(item.section, _best_unseen(units, own)) if _is_shown(passage, own) else passage


def _is_shown(part: Quotation | SentenceScore, shown: Sequence[StoredText]) -> bool:
    return any(part.start < text.end and text.start < part.end for text in shown)


def _best_unseen(units: Sequence[SentenceScore], shown: Sequence[StoredText]) -> Sequence[SentenceScore]:
    """Return the consecutive ``units`` with the best one of those that repeat nothing; all if there is none."""
    runs = [list(run) for repeats, run in groupby(units, lambda unit: _is_shown(unit, shown)) if not repeats]
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

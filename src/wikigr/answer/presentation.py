"""What every output shows of an answer: the words for its level, and its passages in their surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from wikigr.answer.answer import Answer, PossibleAnswer
from wikigr.answer.citations import Citation
from wikigr.answer.extractive import BEFORE_CODE, gap_before, keeps_lines, lay_out, subject_of
from wikigr.answer.probability import Level
from wikigr.index.snippets import find_matches
from wikigr.languages import ENGLISH, Language
from wikigr.llm.usage import Usage
from wikigr.question.question import content_stems

LEVEL_WORDS: Mapping[Level, str] = {
    "sure": "Sure",
    "likely": "Likely",
    "not_sure": "Not sure",
    "not_covered": "Not covered",
}
# The headings of what is shown with a likely answer, and instead of an answer that is not sure.
OTHERS = "Other possible answers"
PERHAPS = "Perhaps one of these:"

# What a part of a passage is: text around the quotation, a quotation, the short answer, a word of the question.
Role = Literal["around", "quoted", "short", "match"]


@dataclass(frozen=True, slots=True)
class Part:
    """The characters ``start:end`` of a passage."""

    start: int
    end: int
    role: Role


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of an answer, and its parts in an order in which a later part may lie within an earlier one."""

    text: str
    parts: tuple[Part, ...] = ()


def level_in_words(level: Level, confidence: float) -> str:
    """Return a level with its confidence: ``Likely (0.87)``."""
    return f"{LEVEL_WORDS[level]} ({confidence:.2f})"


def usage_in_words(usage: Usage) -> str:
    """Return the tokens that a model read and wrote, and their price."""
    if usage.is_unknown:
        return "tokens and cost unknown: the server does not report them"
    tokens_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{tokens_in:,} tokens in, {usage.output_tokens:,} out, {price}"


def is_doubtful(answer: Answer) -> bool:
    """Return whether passages are shown instead of an answer: it quotes the pack and is not sure."""
    return answer.level == "not_sure" and not answer.model and bool(answer.citations)


def numbered_alternatives(answer: Answer) -> tuple[PossibleAnswer, ...]:
    """Return the alternatives with citations that are numbered on from those of the answer, as outputs show them."""
    found = []
    number = len(answer.citations)
    for alternative in answer.alternatives:
        cited = tuple(replace(c, n=number + n) for n, c in enumerate(alternative.citations, start=1))
        number += len(cited)
        found.append(replace(alternative, citations=cited))
    return tuple(found)


def shown_citations(answer: Answer) -> tuple[Citation, ...]:
    """Return the citations of the answer and of its alternatives by the numbers that outputs show."""
    return (*answer.citations, *(c for alternative in numbered_alternatives(answer) for c in alternative.citations))


def passage_of(answer: PossibleAnswer, *, in_context: bool = True, with_numbers: bool = True) -> Passage:
    """Return the text of an answer in which its first quotation stands in its surroundings.

    ``with_numbers`` appends the number of its citation to each quotation. The text of a model stays as it is.
    """
    lead = _lead(answer)
    if lead is None:
        return Passage(answer.text)
    made = _Writer()
    made.write(lead)
    for previous, citation in zip((None, *answer.citations), answer.citations, strict=False):
        is_first = previous is None
        before, after = _around(answer) if is_first and in_context else ("", "")
        subject = subject_of(replace(citation, quote=before or citation.quote), previous)
        quote = lay_out(citation.quote)
        number = f" [{citation.n}]" if with_numbers else ""
        made.write(gap_before(made.text, f"{subject}{before}{quote}{after}"))
        made.write(subject)
        made.write(before, "around")
        start = made.write(quote if number else quote.rstrip(), "quoted")
        if is_first and answer.span is not None:
            begin, end = (
                _laid_out_at(citation.quote, at - citation.start) for at in (answer.span.start, answer.span.end)
            )
            made.mark(start + begin, start + end, "short")
        made.write(number)
        made.write(after, "around")
    return Passage(made.text, tuple(made.parts))


def with_matches(passage: Passage, question: str, language: Language = ENGLISH) -> Passage:
    """Return ``passage`` with the words of ``question`` marked instead of the short answer."""
    found = find_matches(passage.text, set(content_stems(question, language)), language)
    matches = (Part(start, end, "match") for start, end in found)
    return Passage(passage.text, (*(part for part in passage.parts if part.role != "short"), *matches))


def shorten(passage: Passage, max_chars: int, max_lines: int) -> Passage:
    """Return ``passage``, or its beginning with an ellipsis if it is longer."""
    lines = passage.text.split("\n")
    end = min(len(passage.text), len("\n".join(lines[:max_lines])))
    if end > max_chars:
        blank = passage.text.rfind(" ", 1, max_chars)
        end = blank if blank > 0 else max_chars
    if end == len(passage.text):
        return passage
    text = passage.text[:end].rstrip()
    kept = (replace(part, end=min(part.end, len(text))) for part in passage.parts if part.start < len(text))
    return Passage(f"{text} …", tuple(kept))


def _lead(answer: PossibleAnswer) -> str | None:
    """Return what precedes the quotations, or ``None`` if the text does not consist of them."""
    if not answer.citations:
        return None
    first = answer.citations[0]
    # Alternatives are numbered on where they are shown, but not in their texts.
    at = answer.text.find(f"{subject_of(first)}{lay_out(first.quote)} [1]")
    return None if at < 0 else answer.text[:at].rstrip()


def _around(answer: PossibleAnswer) -> tuple[str, str]:
    """Return the text before and after the first quotation.

    What another citation quotes is left out, because it follows anyway.
    """
    first, context = answer.citations[0], answer.context
    if context is None or context.section_id != first.section_id:
        return "", ""
    others = [c for c in answer.citations[1:] if c.section_id == first.section_id]
    before, after = context.text[: max(0, first.start - context.start)], context.text[first.end - context.start :]
    if any(c.start < first.start and c.end > context.start for c in others):
        before = ""
    if any(c.start < context.end and c.end > first.end for c in others):
        after = ""
    has_lines = keeps_lines(context.text)
    return _flow(before, has_lines=has_lines), _flow(after, has_lines=has_lines)


def _flow(text: str, *, has_lines: bool) -> str:
    """Return ``text`` with single blanks, or as it is if it ``has_lines``; a blank or line break at its ends stays."""
    core = text.strip()
    if not core or has_lines:
        return text if core else ""
    ends = (text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :])
    first, last = ("\n" if "\n" in end else " " if end else "" for end in ends)
    return f"{first}{lay_out(core).rstrip()}{last}"


def _laid_out_at(quote: str, place: int) -> int:
    """Return where the character ``place`` of ``quote`` is after ``lay_out``."""
    if keeps_lines(quote):
        return place
    introduction, gap, _ = quote.partition(BEFORE_CODE)
    before = introduction[:place]
    collapsed = " ".join(before.split())
    if place <= len(introduction):
        return len(collapsed) + (1 if collapsed and before[-1].isspace() else 0)
    return len(collapsed) + place - len(introduction) if gap else len(collapsed)


class _Writer:
    """Collects the text of a passage and its parts."""

    def __init__(self) -> None:
        self.text = ""
        self.parts: list[Part] = []

    def write(self, text: str, role: Role | None = None) -> int:
        """Append ``text``; return where it begins."""
        start = len(self.text)
        self.text += text
        if role is not None and text:
            self.mark(start, len(self.text), role)
        return start

    def mark(self, start: int, end: int, role: Role) -> None:
        self.parts.append(Part(start, end, role))

"""Check the citations of a model's reply while it streams in.

Native citations name a range of sentences. Markers in the text name a section, whose sentences must then support the
claim. Every citation that is passed on is a verified span of stored text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.citations import Citation
from wikigr.answer.requests import CitationStyle
from wikigr.index.candidate import Evidence, Section
from wikigr.languages import ENGLISH, Language
from wikigr.llm.reply import Event, TextDelta
from wikigr.retrieval.units import units_of
from wikigr.stop_words import STOP_WORDS
from wikigr.text import words

UNVERIFIED = "[unverified]"


_MARKERS = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_CLAIM_END = re.compile(r"(?<=[.!?\]])[\"'”’)]*\s+(?=\S)|\n+")
# The model's own text that looks like one of our marks, and a bracket that may be the beginning of such text.
_LOOKALIKE = re.compile(r"\[(\d[\d\s,;]*|unverified)\]", re.IGNORECASE)
_OPEN_MARKER = re.compile(r"\[[\w\s,;]{0,40}$")
_NEGATION = re.compile(r"\b(?:not|never|no|none|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Written:
    """The model's checked answer: ``text`` with citation numbers, and the claims whose citations failed.

    ``declined`` means that the model found no answer in the sections.
    """

    text: str
    citations: tuple[Citation, ...]
    unverified: tuple[str, ...]
    declined: bool


@dataclass(slots=True)
class CitationStream:
    """Reads a model's reply piece by piece, checks its citations, and emits the text to print.

    Feed events to ``take`` and call ``finish`` at the end. The pieces that ``emit`` receives together are the answer.
    """

    evidence: Sequence[Evidence]
    style: CitationStyle
    emit: Callable[[str], None]
    language: Language = ENGLISH
    _text: list[str] = field(default_factory=list)
    _pending: str = ""
    _declined: bool | None = None
    _unverified: list[str] = field(default_factory=list)
    _numbers: dict[tuple[str, int, int], Citation] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Read the next event of the reply."""
        if self._declined:
            return
        if isinstance(event, TextDelta):
            self._pending += event.text
            self._detect_refusal()
            if self._declined is False:
                if self.style == "native":
                    self._emit_model_text()
                else:
                    self._emit_claims()
        elif self.style == "native" and event.block.citations:
            self._declined = False
            self._emit_held_back()
            self._emit(self._marks(event.block.text, [self._span_of(citation) for citation in event.block.citations]))

    def finish(self) -> Written:
        """Return the whole answer; without any verified citation, all of it is marked as unverified."""
        if not self._declined:
            self._emit_held_back()
        text = "".join(self._text).strip()
        if text and not self._numbers and not self._unverified and not self._declined:
            self._unverified.append(" ".join(text.split()))
            self._emit(f" {UNVERIFIED}")
            text = f"{text} {UNVERIFIED}"
        return Written(text, tuple(self._numbers.values()), tuple(self._unverified), bool(self._declined))

    def _detect_refusal(self) -> None:
        """Decide as early as possible whether the reply says that the sections do not answer the question.

        Nothing is emitted before the decision, and nothing after a refusal.
        """
        if self._declined is not None:
            return
        begun, refusal = _plain(self._pending), _plain(NOT_COVERED)
        if begun.startswith(refusal):
            self._declined = True
            self._pending = ""
            self._emit(NOT_COVERED)
        elif not refusal.startswith(begun):
            self._declined = False

    def _emit_held_back(self) -> None:
        """Emit what is still held back."""
        held, self._pending = self._pending, ""
        if held:
            self._emit(neutralize_marks(held) if self.style == "native" else self._with_citations(held))

    def _emit_model_text(self) -> None:
        """Emit the model's text, without anything that looks like one of our citation numbers."""
        open_bracket = _OPEN_MARKER.search(self._pending)
        end = open_bracket.start() if open_bracket else len(self._pending)
        ready, self._pending = self._pending[:end], self._pending[end:]
        if ready:
            self._emit(neutralize_marks(ready))

    def _emit(self, text: str) -> None:
        self._text.append(text)
        self.emit(text)

    def _marks(self, claim: str, spans: Sequence[tuple[Section, int, int] | None]) -> str:
        """Return the numbers of the verified spans, or the mark of an unverified claim if there are none."""
        numbers = dict.fromkeys(self._number(*span) for span in spans if span is not None)
        if numbers:
            return " " + "".join(f"[{n}]" for n in numbers)
        self._unverified.append(" ".join(claim.split()))
        return f" {UNVERIFIED}"

    def _number(self, section: Section, start: int, end: int) -> int:
        key = (section.section_id, start, end)
        if key not in self._numbers:
            self._numbers[key] = Citation(
                n=len(self._numbers) + 1,
                title=section.title,
                section_id=section.section_id,
                heading=section.heading,
                source_id=section.source_id,
                quote=section.content[start:end],
                start=start,
                end=end,
            )
        return self._numbers[key].n

    def _span_of(self, citation: Mapping[str, Any]) -> tuple[Section, int, int] | None:
        """Return the span that a search-result citation names, or ``None`` if its text is not the cited one."""
        index, first, last = (
            citation.get(key) for key in ("search_result_index", "start_block_index", "end_block_index")
        )
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in (index, first, last)):
            return None
        assert isinstance(index, int)
        assert isinstance(first, int)
        assert isinstance(last, int)
        if not 0 <= index < len(self.evidence):
            return None
        section = self.evidence[index].section
        units = units_of(section, self.language)
        if not 0 <= first < last <= len(units):
            return None
        sent = "".join(section.content[unit.start : unit.end] for unit in units[first:last])
        if _plain(str(citation.get("cited_text", ""))) != _plain(sent):
            return None
        return section, units[first].start, units[last - 1].end

    def _emit_claims(self) -> None:
        """Emit complete claims; a sentence is held back until its markers have arrived."""
        while match := _CLAIM_END.search(self._pending):
            # A marker after the period still belongs to the sentence before it.
            if self._pending[match.end() :].startswith("["):
                close = self._pending.find("]", match.end())
                if close < 0:
                    return
                following = _CLAIM_END.search(self._pending, close)
                if following is None:
                    return
                match = following
            claim, self._pending = self._pending[: match.end()], self._pending[match.end() :]
            self._emit(self._with_citations(claim))

    def _with_citations(self, claim: str) -> str:
        """Return ``claim`` with its markers replaced by the numbers of verified citations."""
        numbers = [int(n) for found in _MARKERS.findall(claim) for n in re.findall(r"\d+", found)]
        if not numbers:
            return neutralize_marks(claim)
        stated = neutralize_marks(_MARKERS.sub("", claim))
        spans = [
            self._supporting_span(stated, self.evidence[n - 1].section) if 1 <= n <= len(self.evidence) else None
            for n in numbers
        ]
        body = stated.rstrip()
        return body + self._marks(body, spans) + (stated[len(body) :] or claim[len(claim.rstrip()) :])

    def _supporting_span(self, claim: str, section: Section) -> tuple[Section, int, int] | None:
        """Return the shortest run of sentences of ``section`` that best supports ``claim``, or ``None``."""
        wanted = set(words(claim)) - STOP_WORDS
        if not wanted:
            return None
        figures = set(_NUMBER.findall(claim))
        denied = bool(_NEGATION.search(claim))
        units = units_of(section, self.language)
        best: tuple[float, int, int] | None = None
        # Two sentences together may support a claim.
        for size in (1, 2):
            for i in range(len(units) - size + 1):
                start, end = units[i].start, units[i + size - 1].end
                text = section.content[start:end]
                if not figures <= set(_NUMBER.findall(text)) or denied != bool(_NEGATION.search(text)):
                    continue
                share = len(wanted & set(words(f"{section.title} {text}"))) / len(wanted)
                # Paraphrases keep well over half of a claim's words; a sentence about something else in the same
                # article shares only the subject.
                if share >= 0.5 and (best is None or share > best[0]):
                    best = (share, start, end)
        return None if best is None else (section, best[1], best[2])


def neutralize_marks(text: str) -> str:
    """Return the model's text with parentheses in place of brackets that would look like one of our marks."""
    return _LOOKALIKE.sub(r"(\1)", text)


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()

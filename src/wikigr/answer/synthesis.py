"""An answer written by a model from the evidence, each claim tied to a span of stored text that was checked.

The sections go as search-result blocks with citations (each block one sentence, so that a citation is a range of
sentences), or, for servers that do not know these, numbered in the text; the markers that come back are then checked
against the sentences of the section that they name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.citations import Citation
from wikigr.errors import UsageError
from wikigr.index.candidate import Evidence, Section, place
from wikigr.llm.client import Event, TextDelta
from wikigr.llm.prompts import prompt
from wikigr.segmentation import sentence_spans
from wikigr.stop_words import STOP_WORDS
from wikigr.text import words

CitationStyle = Literal["native", "markers"]

UNVERIFIED = "[unverified]"
MAX_QUESTION_CHARS = 20_000

# Share of a claim's content words that the cited sentences must hold, all its numbers included, for a marker to count.
# Rewording keeps well over half; a sentence about something else, even of the same article, shares the subject only.
_SUPPORT = 0.5
# Sentences of a section that together may support a claim.
_WINDOW = 2

_MARKERS = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_CLAIM_END = re.compile(r"(?<=[.!?\]])[\"'”’)]*\s+(?=\S)|\n+")
# What could be taken for a mark of ours, in words that are the model's; and one that may be about to come.
_LOOKALIKE = re.compile(r"\[(\d[\d\s,;]*|unverified)\]", re.IGNORECASE)
_OPEN_MARKER = re.compile(r"\[[\w\s,;]{0,40}$")
_NEGATION = re.compile(r"\b(?:not|never|no|none|neither|nor|without|cannot)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent to the model, without the key."""

    system: tuple[Mapping[str, Any], ...]
    messages: tuple[Mapping[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        return {"system": list(self.system), "messages": list(self.messages)}


@dataclass(frozen=True, slots=True)
class Written:
    """The model's answer after the check: ``text`` with citation numbers, and the claims whose citation failed.

    ``declined`` says that the model found no answer in the sections.
    """

    text: str
    citations: tuple[Citation, ...]
    unverified: tuple[str, ...]
    declined: bool


def build_request(
    question: str,
    evidence: Sequence[Evidence],
    *,
    style: CitationStyle,
    examples: str = "",
    graph_context: Sequence[str] = (),
) -> Request:
    """Return the request for ``question``; raises ``UsageError`` for one that is too long to send.

    ``graph_context`` are lines that a search of the graph found; they are material that cannot be cited.

    The instructions, which never change, come first and are marked for the server's prompt cache.
    """
    _check_length(question)
    instructions = f"{prompt('synthesis')}\n\n{prompt(f'citations_{style}')}"
    system: list[Mapping[str, Any]] = [
        {"type": "text", "text": instructions, "cache_control": {"type": "ephemeral"}},
    ]
    asked = [_asked(question)]
    if examples:
        # Examples are text of the pack: in a block of their own, and never among the instructions.
        asked.insert(0, {"type": "text", "text": f"<examples>\n{prompt('examples')}\n\n{examples}\n</examples>"})
    if graph_context:
        lines = "\n".join(line.replace("<", "&lt;") for line in graph_context)
        block = f"<graph-context>\n{prompt('graph_context')}\n\n{lines}\n</graph-context>"
        asked.insert(0, {"type": "text", "text": block})
    if style == "native":
        content = [*(_search_result(item.section) for item in evidence), *asked]
    else:
        numbered = "\n".join(_numbered(n, item.section) for n, item in enumerate(evidence, start=1))
        content = [{"type": "text", "text": numbered}, *asked]
    return Request(tuple(system), ({"role": "user", "content": content},))


def own_knowledge_request(question: str) -> Request:
    """Return the request that asks the model itself; only for users who chose that. Raises as ``build_request``."""
    _check_length(question)
    system = {"type": "text", "text": prompt("own_knowledge")}
    return Request((system,), ({"role": "user", "content": [_asked(question)]},))


def _asked(question: str) -> dict[str, Any]:
    # A question may come from a file of somebody else's: it passes for no section and no example.
    return {"type": "text", "text": f"Question: {question.replace('<', '&lt;')}"}


def _check_length(question: str) -> None:
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"The question has {len(question):,} characters; at most {MAX_QUESTION_CHARS:,} are sent to a model.",
            hint="Shorten it, or use --offline.",
        )


def _search_result(section: Section) -> dict[str, Any]:
    return {
        "type": "search_result",
        "source": section.section_id,
        "title": place(section.title, section.heading),
        "content": [{"type": "text", "text": section.content[s:e]} for s, e in sentence_spans(section.content)],
        "citations": {"enabled": True},
    }


def _numbered(n: int, section: Section) -> str:
    # An escaped "<" cannot close the block.
    text = section.content.replace("<", "&lt;")
    return f'<section number="{n}" title={_quoted(place(section.title, section.heading))}>\n{text}\n</section>'


def _quoted(text: str) -> str:
    return '"' + text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") + '"'


@dataclass(slots=True)
class Writer:
    """Takes the model's reply piece by piece, checks its citations, and passes on the text to print.

    ``emit`` gets the text in pieces; what was passed on is the answer, there is no second version. Feed events to
    ``take`` and call ``finish`` at the end.
    """

    evidence: Sequence[Evidence]
    style: CitationStyle
    emit: Callable[[str], None]
    _text: list[str] = field(default_factory=list)
    _pending: str = ""
    _declined: bool | None = None
    _unverified: list[str] = field(default_factory=list)
    _numbers: dict[tuple[str, int, int], Citation] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Take the next event of the reply."""
        if self._declined:
            return
        if isinstance(event, TextDelta):
            self._pending += event.text
            self._look_for_refusal()
            if self._declined is False:
                if self.style == "native":
                    self._pass_model_text()
                else:
                    self._pass_claims()
        elif self.style == "native" and event.block.citations:
            self._declined = False
            self._flush()
            self._pass(self._marks(event.block.text, [self._span_of(citation) for citation in event.block.citations]))

    def finish(self) -> Written:
        """Return the whole answer; one without a single verified citation is marked as a whole."""
        if not self._declined:
            self._flush()
        text = "".join(self._text).strip()
        if text and not self._numbers and not self._unverified and not self._declined:
            self._unverified.append(" ".join(text.split()))
            self._pass(f" {UNVERIFIED}")
            text = f"{text} {UNVERIFIED}"
        return Written(text, tuple(self._numbers.values()), tuple(self._unverified), bool(self._declined))

    def _look_for_refusal(self) -> None:
        """Decide, as soon as it can be, whether the reply says that the sections do not answer the question.

        Until then nothing is passed on; after a refusal nothing else of the reply is.
        """
        if self._declined is not None:
            return
        begun, refusal = _plain(self._pending), _plain(NOT_COVERED)
        if begun.startswith(refusal):
            self._declined = True
            self._pending = ""
            self._pass(NOT_COVERED)
        elif not refusal.startswith(begun):
            self._declined = False

    def _flush(self) -> None:
        """Pass on what is still held back."""
        held, self._pending = self._pending, ""
        if held:
            self._pass(disarmed(held) if self.style == "native" else self._checked(held))

    def _pass_model_text(self) -> None:
        """Pass on the model's words, without what could be taken for a citation number of ours."""
        open_bracket = _OPEN_MARKER.search(self._pending)
        end = open_bracket.start() if open_bracket else len(self._pending)
        ready, self._pending = self._pending[:end], self._pending[end:]
        if ready:
            self._pass(disarmed(ready))

    def _pass(self, text: str) -> None:
        self._text.append(text)
        self.emit(text)

    def _marks(self, claim: str, spans: Sequence[tuple[Section, int, int] | None]) -> str:
        """Return the numbers of the spans, or the mark of a claim for which not one could be verified."""
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
        """Return the span that a search-result citation names, or ``None`` when it does not hold what is cited."""
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
        spans = sentence_spans(section.content)
        if not 0 <= first < last <= len(spans):
            return None
        sent = "".join(section.content[s:e] for s, e in spans[first:last])
        if _plain(str(citation.get("cited_text", ""))) != _plain(sent):
            return None
        return section, spans[first][0], spans[last - 1][1]

    def _pass_claims(self) -> None:
        """Pass on the claims that are complete: a sentence is held back until its markers could be read."""
        while match := _CLAIM_END.search(self._pending):
            # A marker after the full stop still belongs to the sentence before it.
            if self._pending[match.end() :].startswith("["):
                close = self._pending.find("]", match.end())
                if close < 0:
                    return
                following = _CLAIM_END.search(self._pending, close)
                if following is None:
                    return
                match = following
            claim, self._pending = self._pending[: match.end()], self._pending[match.end() :]
            self._pass(self._checked(claim))

    def _checked(self, claim: str) -> str:
        """Return ``claim`` with its markers replaced by verified citation numbers."""
        numbers = [int(n) for found in _MARKERS.findall(claim) for n in re.findall(r"\d+", found)]
        if not numbers:
            return disarmed(claim)
        stated = disarmed(_MARKERS.sub("", claim))
        spans = [
            self._supporting(stated, self.evidence[n - 1].section) if 1 <= n <= len(self.evidence) else None
            for n in numbers
        ]
        body = stated.rstrip()
        return body + self._marks(body, spans) + (stated[len(body) :] or claim[len(claim.rstrip()) :])

    @staticmethod
    def _supporting(claim: str, section: Section) -> tuple[Section, int, int] | None:
        """Return the shortest run of sentences of ``section`` that best supports ``claim``, if any does."""
        wanted = set(words(claim)) - STOP_WORDS
        if not wanted:
            return None
        figures = set(_NUMBER.findall(claim))
        denied = bool(_NEGATION.search(claim))
        spans = sentence_spans(section.content)
        best: tuple[float, int, int] | None = None
        for size in range(1, _WINDOW + 1):
            for i in range(len(spans) - size + 1):
                start, end = spans[i][0], spans[i + size - 1][1]
                text = section.content[start:end]
                if not figures <= set(_NUMBER.findall(text)) or denied != bool(_NEGATION.search(text)):
                    continue
                share = len(wanted & set(words(f"{section.title} {text}"))) / len(wanted)
                if share >= _SUPPORT and (best is None or share > best[0]):
                    best = (share, start, end)
        return None if best is None else (section, best[1], best[2])


def disarmed(text: str) -> str:
    """Return the model's words with round brackets where square ones would look like a mark of ours."""
    return _LOOKALIKE.sub(r"(\1)", text)


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()

"""Account for every claim of a model's reply while it streams in: its support in the sections, or a mark.

A claim is a sentence, an item of a list, a row of a table, or a block of code. Citations of the API, marks in any form
and claims without a mark all end as verified spans of stored text, or the claim is marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import PossibleAnswer
from wikigr.answer.citations import Citation
from wikigr.answer.claims import Claims, Support
from wikigr.answer.reply_marks import CITED, OPEN_MARK, ReplyMarks, is_own_line, is_sources_heading, plain
from wikigr.answer.requests import CitationStyle
from wikigr.index.candidate import Evidence, Section
from wikigr.languages import ENGLISH, Language
from wikigr.llm.reply import Event, TextDelta
from wikigr.retrieval.units import units_of
from wikigr.segmentation import sentence_spans

UNVERIFIED = "[unverified]"

_LINE_MARK = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>+)[ \t]+)*")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n")
# A fence with such a label stands around prose.
_PROSE_LABELS = frozenset(("markdown", "md", "text", "txt", "plaintext"))
_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*[\s\[]|[。！？]")
_CLOSE_MARK = re.compile(r"[\]］】〕〗⟧⁆]\s*")
_RULE = re.compile(r"[|:\- \t]++(?:\n|$)")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_FINAL = re.compile(r"(?<![A-Z])[.!?…。！？:]+[\"'”’)*_]*$|\s*\|$")
# A longer sentence or row is divided, and no more of a reply is looked at together.
_MAX_CLAIM_CHARS = 4_000
_PIECE = re.compile(rf"(?s:.{{1,{_MAX_CLAIM_CHARS}}})\n*")


@dataclass(frozen=True, slots=True)
class Written:
    """The model's checked answer: ``text`` with citation numbers, and the claims that nothing supports.

    ``claims`` is the number of all claims. ``declined`` means that the model found no answer in the sections.
    """

    text: str
    citations: tuple[Citation, ...]
    unverified: tuple[str, ...]
    declined: bool
    claims: int
    verified: str = ""


NOTHING = Written("", (), (), False, 0)


@dataclass(slots=True)
class CitationStream:
    """Reads a model's reply piece by piece, checks its claims, and emits the text to print.

    Feed events to ``take`` and call ``finish`` at the end. The pieces that ``emit`` receives together are the answer.
    ``offline`` is the answer to ``question`` without the model, if there is one.
    """

    evidence: Sequence[Evidence]
    style: CitationStyle
    emit: Callable[[str], None]
    language: Language = ENGLISH
    question: str = ""
    offline: PossibleAnswer | None = None
    _text: list[str] = field(default_factory=list)
    _pending: str = ""
    _searched: int = 0
    _at_line_start: bool = True
    _in_sources: bool = False
    _in_prose_fence: bool = False
    _declined: bool | None = None
    _verified: list[str] = field(default_factory=list)
    _unverified: list[str] = field(default_factory=list)
    _numbers: dict[tuple[str, int, int], Citation] = field(default_factory=dict)
    _cited: list[tuple[Support, ...]] = field(default_factory=list)
    _claims: Claims = field(init=False)
    _marks: ReplyMarks = field(init=False)

    def __post_init__(self) -> None:
        self._claims = Claims(self.evidence, self.question, self.offline, self.language)
        self._marks = ReplyMarks(self.evidence)

    def take(self, event: Event) -> None:
        """Read the next event of the reply."""
        if self._declined:
            return
        if isinstance(event, TextDelta):
            for piece in _PIECE.findall(plain(event.text)):
                self._read(piece)
        elif self.style == "native" and event.block.citations:
            self._declined = False
            self._cited.append(tuple(filter(None, map(self._span_of, event.block.citations))))
            self._read(f"[{CITED}{len(self._cited) - 1}]")

    def _read(self, text: str) -> None:
        self._pending += text
        self._detect_refusal()
        if self._declined is False:
            self._emit_complete(is_final=False)

    def finish(self) -> Written:
        """Return the whole answer."""
        if not self._declined:
            self._emit_complete(is_final=True)
        text = "".join(self._text).strip()
        return Written(
            text=text,
            citations=tuple(self._numbers.values()),
            unverified=tuple(self._unverified),
            declined=bool(self._declined),
            claims=len(self._verified) + len(self._unverified),
            verified="\n".join(self._verified),
        )

    def _detect_refusal(self) -> None:
        """Decide as early as possible whether the reply says that the sections do not answer the question.

        Nothing is emitted before the decision, and nothing after a refusal. A refusal does not begin with a page of
        punctuation.
        """
        if self._declined is not None:
            return
        begun, refusal = _letters(self._pending), _letters(NOT_COVERED)
        if begun.startswith(refusal):
            self._declined = True
            self._pending = ""
            self._emit(NOT_COVERED)
        elif not refusal.startswith(begun) or len(self._pending) > _MAX_CLAIM_CHARS:
            self._declined = False

    def _emit(self, text: str) -> None:
        if text:
            self._text.append(text)
            self.emit(text)

    def _emit_complete(self, *, is_final: bool) -> None:
        """Emit the claims that are complete, with their marks."""
        while self._pending and (ends := self._ends_of_claims(is_final)):
            pieces = [self._pending[start:end] for start, end in pairwise((0, *ends))]
            self._pending = self._pending[ends[-1] :]
            self._searched = 0
            for piece in pieces:
                self._emit_claim(piece)
                self._at_line_start = piece.endswith("\n")

    def _ends_of_claims(self, is_final: bool) -> list[int]:
        """Return where the first claims of what is pending end: those of one line, none if that is not known yet."""
        text = self._pending
        line_end = text.find("\n") + 1
        if (line_end or len(text)) > _MAX_CLAIM_CHARS:
            return [_MAX_CLAIM_CHARS]
        if self._at_line_start and text.lstrip(" \t")[:1] in ("`", "~", "|", "") and not (line_end or is_final):
            return []
        if self._at_line_start and (fence := self._fence(text)) is not None:
            closing = re.compile(rf"^[ \t]*{fence[1]}[ \t]*(?:\n|$)", re.MULTILINE)
            closed = closing.search(text, max(fence.end(), self._searched))
            # Its last line may not be whole yet.
            self._searched = text.rfind("\n") + 1
            return [closed.end()] if closed is not None else [len(text)] * is_final
        if self._at_line_start and line_end and text.lstrip().startswith("|"):
            # The line under the names of the columns belongs to them.
            rule = _RULE.match(text, line_end)
            below = text.find("\n", line_end) + 1
            if not is_final and not below and (rule is not None or line_end == len(text)):
                return []
            return [rule.end() if rule is not None and "-" in rule[0] else line_end]
        line = text[:line_end] if line_end else text
        ends: list[int] = []
        if _SENTENCE_ENDS.search(line):
            mark = _LINE_MARK.match(line) if self._at_line_start else None
            start = mark.end() if mark is not None else 0
            for _, end in sentence_spans(line[start:], self.language)[:-1]:
                following = _skip_space(line, start + end)
                # A mark after the period still belongs to the sentence before it.
                while (opened := OPEN_MARK.match(line, following)) is not None:
                    closed = _CLOSE_MARK.search(line, opened.end())
                    if closed is None:
                        return ends or ([] if not line_end and not is_final else [len(line)])
                    following = closed.end()
                if following < len(line) and following > (ends[-1] if ends else 0):
                    ends.append(following)
        if ends:
            return ends
        if line_end:
            blank = _BLANK_LINES.match(text, line_end, _MAX_CLAIM_CHARS)
            assert blank is not None
            # Until something follows, more blank lines may.
            may_go_on = len(text) < _MAX_CLAIM_CHARS and not text[blank.end() :].strip(" \t")
            return [] if may_go_on and not is_final else [blank.end()]
        return [len(text)] * is_final

    def _fence(self, text: str) -> re.Match[str] | None:
        """Return the first line of a block of code, unless it is around prose."""
        found = _FENCE.match(text)
        return None if found is None or self._in_prose_fence or found[2].lower() in _PROSE_LABELS else found

    def _emit_claim(self, piece: str) -> None:
        is_line = self._at_line_start
        fence = self._fence(piece) if is_line else None
        if fence is not None:
            code = re.sub(rf"\n[ \t]*{fence[1]}[ \t]*\n?$", "", piece[fence.end() - 1 :])
            found = self._claims.find_code(code)
            self._emit(f"{piece.rstrip()}\n\n{self._account(code, found).strip()}\n\n")
            return
        if is_line and _FENCE.match(f"{piece}\n") is not None:
            self._in_prose_fence = not self._in_prose_fence
            return
        mark = _LINE_MARK.match(piece) if is_line else None
        lead = mark[0] if mark is not None else ""
        body = piece[len(lead) :]
        if is_sources_heading(body) and (is_line or piece.endswith("\n")):
            self._in_sources = True
            return
        if is_own_line(body) or (is_line and self._marks.is_source_line(body, after_heading=self._in_sources)):
            return
        said, sections, cited = self._marks.read(body)
        if sections and is_line:
            # What is left of a footnote.
            said = said.lstrip(" \t:")
        stated = said.rstrip()
        rest = said[len(stated) :] or body[len(body.rstrip()) :]
        if not stated:
            return
        first, rule, _ = stated.partition("\n")
        # A word above a column only names it.
        judged = " ".join(cell for cell in first.split("|") if len(cell.split()) > 1) if rule else stated
        is_heading = "#" in lead or stated.endswith(":") or bool(rule)
        is_refusal = _letters(stated) == _letters(NOT_COVERED)
        if is_refusal or not self._claims.states_something(judged, is_heading=is_heading):
            self._emit(lead + stated + rest)
            return
        spans = [span for number in cited for span in self._cited[number]]
        found = tuple(spans) if spans and self._claims.accept(stated, spans) else self._claims.find(stated, sections)
        self._in_sources = False
        # A claim does not end in more punctuation than that.
        final = _FINAL.search(first, max(0, len(first) - 100))
        at = final.start() if final is not None else len(first)
        self._emit(lead + stated[:at] + self._account(stated, found) + stated[at:] + rest)

    def _account(self, claim: str, found: Sequence[Support]) -> str:
        """Return the numbers of the spans that support ``claim``, or the mark of an unverified one."""
        said = " ".join(claim.split())
        if not found:
            self._unverified.append(said)
            return f" {UNVERIFIED}"
        self._verified.append(said)
        return " " + "".join(f"[{n}]" for n in dict.fromkeys(self._number(*span) for span in found))

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

    def _span_of(self, citation: Mapping[str, Any]) -> Support | None:
        """Return the span that a search-result citation names, or ``None`` if its text is not the cited one."""
        match citation:
            case {"search_result_index": int(index), "start_block_index": int(first), "end_block_index": int(last)}:
                pass
            case _:
                return None
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


def _skip_space(line: str, position: int) -> int:
    return len(line) - len(line[position:].lstrip())


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()

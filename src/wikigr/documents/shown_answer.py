"""An answer and its alternatives as every output shows them: their quotations as blocks, in their surroundings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wikigr.answer.answer import Answer, PossibleAnswer
from wikigr.answer.citations import Citation
from wikigr.answer.extractive import subject_of
from wikigr.answer.presentation import is_doubtful, surroundings_of
from wikigr.documents.blocks import Mark, Quote, join_blocks, region_of, show_blocks, show_written
from wikigr.documents.pack import fields_of, with_pack
from wikigr.index.snippets import find_matches
from wikigr.pack.open import Corpus
from wikigr.question.question import content_stems

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape, PossibleAnswerShape


class ShownAnswers:
    """Makes the documents of an answer and of its alternatives, with the sections that they quote.

    Passages that are shown instead of an answer have the words of the question marked; those that are shown besides
    one are without their surroundings.
    """

    def __init__(self, answer: Answer, pack: Corpus) -> None:
        self._pack = pack
        self._sections = {item.section.section_id: item.section for item in answer.evidence}
        shown = (answer, *answer.alternatives, *filter(None, (answer.rejected,)))
        cited = {c.section_id for possible in shown for c in possible.citations}
        missing = sorted(cited - self._sections.keys())
        if missing:
            self._sections |= pack.sections(missing)
        self._answer = answer
        self._asked = (
            frozenset(content_stems(answer.question, pack.language))
            if answer.abstained or is_doubtful(answer)
            else None
        )

    def document(self, answer: PossibleAnswer) -> PossibleAnswerShape:
        """Return what an answer and its alternatives have in common."""
        pack = self._pack
        citations = []
        for cited in answer.citations:
            section, marks = self._sections[cited.section_id], _marks_of(answer, cited)
            blocks = show_blocks(section.content, section.blocks, cited.start, cited.end, marks=marks)
            citations.append(with_pack(pack, {**fields_of(cited), "blocks": blocks}))
        return {
            "answer": answer.text,
            "kind": answer.kind,
            "confidence": round(answer.confidence, 4),
            "span": with_pack(pack, fields_of(answer.span)) if answer.span is not None else None,
            "citations": citations,
            "context": with_pack(pack, fields_of(answer.context)) if answer.context is not None else None,
            "blocks": self._blocks(answer),
        }

    def _blocks(self, answer: PossibleAnswer) -> list[BlockShape]:
        """Return an answer as it is shown; what quotes the pack stands in its surroundings."""
        if not (answer.kind and answer.citations):
            return show_written(answer.text, len(answer.citations), is_markdown=bool(self._answer.model))
        shown = show_written(answer.lead, 0)
        previous = None
        for citation in answer.citations:
            section = self._sections[citation.section_id]
            start, end = citation.start, citation.end
            if previous is None and (answer is self._answer or self._asked is not None):
                start, end = surroundings_of(answer)
            # Of several quotations only the rows that they are stand in the table, one below the other.
            if len(answer.citations) == 1:
                start, end = region_of(section.blocks, start, end)
            marks = [Mark(start, citation.start, "around"), Mark(citation.end, end, "around")]
            if (start, end) != (citation.start, citation.end):
                marks.append(Mark(citation.start, citation.end, "quoted"))
            if self._asked is not None:
                found = find_matches(section.content[start:end], self._asked, self._pack.language)
                marks += [Mark(start + first, start + last, "match") for first, last in found]
            else:
                marks += _marks_of(answer, citation)
            quote = Quote(citation.start, citation.end, citation.n)
            blocks = show_blocks(section.content, section.blocks, start, end, marks=marks, quote=quote)
            subject = subject_of(citation, previous) if start == citation.start else ""
            if subject and blocks and blocks[0]["kind"] not in ("table", "code"):
                blocks[0]["runs"].insert(0, {"text": subject, "role": "", "n": None})
            shown = join_blocks(shown, blocks)
            previous = citation
        return shown


def _marks_of(answer: PossibleAnswer, citation: Citation) -> list[Mark]:
    span = answer.span
    if span is None or span.section_id != citation.section_id:
        return []
    return [Mark(span.start, span.end, "short")]

"""The steps of a task: a numbered list, or the commands of a section whose heading names the task."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.answer.candidates.blocks import BEFORE_CODE, MAX_CHARS, numbered_blocks
from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation
from wikigr.index.candidate import Section

_MAX_SECTIONS = 8


def find_steps(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the numbered lists, and the runs of commands, of the best sections; each is whole."""
    for item in material.evidence[:_MAX_SECTIONS]:
        section = item.section
        fit = material.question.coverage(material.place_stems(section))
        numbered = list(numbered_blocks(section.content))
        for block in numbered:
            yield AnswerCandidate("steps", (Quotation(section, block.start, block.end),), fit=fit)
        commands = _commands(material, section) if not numbered else None
        if commands is not None:
            yield AnswerCandidate("commands", (commands,), fit=fit)


def _commands(material: Material, section: Section) -> Quotation | None:
    """Return the text from the first to the last sentence of a section that introduces code, or ``None``."""
    own = [s for s in material.by_section.get(section.section_id, ()) if BEFORE_CODE in s.text]
    if not own or own[-1].end - own[0].start > MAX_CHARS:
        return None
    return Quotation(section, own[0].start, own[-1].end)

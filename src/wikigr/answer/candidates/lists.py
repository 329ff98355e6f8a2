"""Answers that are a part of the structure of a section: lists, steps, tasks of one state, tables, and code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from wikigr.answer.candidates.candidate import MAX_CHARS, AnswerCandidate, Material, Quotation
from wikigr.index.candidate import Section
from wikigr.reader.passage import as_probability
from wikigr.sources.block import Block, TaskState, extent

# The kind of an answer that quotes a whole table.
WHOLE_TABLE = "table"
# Lists, tables and blocks of code that compete, those of the best sections first.
_MAX_LISTS = 8
_MAX_INTRODUCTION_CHARS = 300
# Questions for all tasks of a state, to which a question is compared. A difference of cosines of 0.1 is clear; without
# one, the open tasks are asked for.
_STATES: dict[TaskState, str] = {
    "open": "Which tasks are still open, left to do or not done yet?",
    "done": "Which tasks have been done, finished or completed already?",
}
_STATE_SHARPNESS = 20.0
_STATE_BIAS = 1.5
# Below the first cosine, a question asks for no tasks of a state, and from the second on it does.
_MIN_LIKE, _LIKE = 0.25, 0.4


def find_lists(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the lists of the evidence, each whole and with the sentence that introduces it."""
    for part in islice(_lists(material), _MAX_LISTS):
        begin, fit = _introduced(material, part.section, part.start, part.end)
        start = begin if part.is_first else part.start
        yield AnswerCandidate("list", (Quotation(part.section, start, part.end),), fit=fit)


def find_tables(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the tables of the evidence, each whole and with the sentence that introduces it."""
    tables = ((item.section, block) for item in material.evidence for block in item.section.blocks)
    whole = (found for found in tables if found[1].kind == "table" and len(found[1].rows) > 1 and _is_short(found[1]))
    for section, block in islice(whole, _MAX_LISTS):
        begin, fit = _introduced(material, section, block.start, block.end)
        yield AnswerCandidate(WHOLE_TABLE, (Quotation(section, begin, block.end),), fit=fit)


def find_steps(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the numbered lists of the evidence; each is whole."""
    for part in islice(_lists(material), _MAX_LISTS):
        if part.is_numbered:
            fit = material.question.coverage(material.place_stems(part.section))
            yield AnswerCandidate("steps", (Quotation(part.section, part.start, part.end),), fit=fit)


def find_commands(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the code of the evidence with the sentences that introduce it, each block and all of a section."""
    found = 0
    for item in material.evidence:
        section = item.section
        codes = [block for block in section.blocks if block.kind == "code" and _is_short(block)]
        quoted = [(block.end, *_introduced(material, section, block.start, block.end)) for block in codes]
        if len(quoted) > 1 and quoted[-1][0] - quoted[0][1] <= MAX_CHARS:
            quoted.append((quoted[-1][0], quoted[0][1], material.question.coverage(material.place_stems(section))))
        for end, begin, fit in quoted:
            if found == _MAX_LISTS:
                return
            found += 1
            yield AnswerCandidate("commands", (Quotation(section, begin, end),), fit=fit)


def find_tasks(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the tasks of each section that are open, and those that are done; ``fit`` says which the question wants."""
    sections = [item.section for item in material.evidence]
    listed = [section for section in sections if any(block.kind == "task" for block in section.blocks)][:_MAX_LISTS]
    if not listed:
        return
    like_open, like_done = material.similarity(list(_STATES.values()))
    asks = min(1.0, max(0.0, (max(like_open, like_done) - _MIN_LIKE) / (_LIKE - _MIN_LIKE)))
    wants_open = as_probability(_STATE_SHARPNESS * (like_open - like_done) + _STATE_BIAS)
    for section in listed:
        states: tuple[tuple[TaskState, float], ...] = ("open", wants_open), ("done", 1.0 - wants_open)
        for state, wanted in states:
            quotations = tuple(_tasks(section, state))
            text = "\n".join(quotation.text for quotation in quotations)
            if 0 < len(text) <= MAX_CHARS:
                said = material.place_stems(section) | set(material.question.stems(f"{text} {_STATES[state]}"))
                yield AnswerCandidate("tasks", quotations, fit=asks * wanted * material.question.coverage(said))


def _tasks(section: Section, state: str) -> Iterator[Quotation]:
    """Yield the runs of tasks of this state."""
    tasks = [block for block in section.blocks if block.kind == "task"]
    for label, run in groupby(tasks, key=lambda block: block.label):
        if label == state:
            of_state = list(run)
            yield Quotation(section, of_state[0].start, of_state[-1].end)


@dataclass(frozen=True, slots=True)
class _List:
    """The characters ``start`` to ``end`` of a section: a list, or the first or a later part of a long one."""

    section: Section
    start: int
    end: int
    is_numbered: bool
    is_first: bool


def _lists(material: Material) -> Iterator[_List]:
    """Yield the lists of the evidence; one that is too long for a quotation is cut between items."""
    for item in material.evidence:
        section, blocks = item.section, item.section.blocks
        for heads in sorted(_runs(blocks)):
            ends = [blocks[extent(blocks, head) - 1].end for head in heads]
            first = 0
            for last in range(1, len(heads) + 1):
                start = blocks[heads[first]].start
                if last == len(heads) or ends[last] - start > MAX_CHARS:
                    if last - first > 1:
                        is_numbered = _number(blocks[heads[first]]) is not None
                        yield _List(section, start, ends[last - 1], is_numbered, is_first=first == 0)
                    first = last


def _runs(blocks: Sequence[Block]) -> Iterator[list[int]]:
    """Yield the numbers of the blocks that begin the items of each list."""
    runs: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        for depth in sorted(runs):
            if depth > block.depth or (depth == block.depth and not _continues(blocks[runs[depth][-1]], block)):
                yield runs.pop(depth)
        if block.kind in ("item", "task", "term"):
            runs.setdefault(block.depth, []).append(number)
    yield from runs.values()


def _continues(item: Block, following: Block) -> bool:
    """Return whether ``following``, which is as deep as ``item``, is the next one of its list."""
    number, next_number = _number(item), _number(following)
    if number is not None or next_number is not None:
        return number is not None and next_number == number + 1
    return (item.kind == "term") == (following.kind == "term") and following.kind in ("item", "task", "term")


def _number(item: Block) -> int | None:
    """Return the number of an item of a numbered list, counting letters too, or ``None``."""
    mark = item.label.strip(".)(") if item.kind == "item" else ""
    if mark.isdecimal():
        return int(mark)
    return ord(mark.lower()) if len(mark) == 1 and mark.isalpha() else None


def _is_short(block: Block) -> bool:
    return block.end - block.start <= MAX_CHARS


def _introduced(material: Material, section: Section, start: int, end: int) -> tuple[int, float]:
    """Return where the introduction of what stands at ``start`` begins, and how much of the question it covers."""
    said = material.place_stems(section)
    before = next((s for s in reversed(material.by_section.get(section.section_id, ())) if s.start < start), None)
    if before is not None and before.row is None and end - before.start <= MAX_CHARS:
        text = section.content[before.start : min(before.end, start)]
        last = before.start + len(text.rstrip())
        is_code = any(block.kind == "code" and block.start < last <= block.end for block in section.blocks)
        if len(text) <= _MAX_INTRODUCTION_CHARS and not is_code and not section.content[last:start].strip():
            return before.start, material.question.coverage(said | set(material.question.stems(text)))
    return start, material.question.coverage(said)

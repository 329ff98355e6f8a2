"""Lists over the structure of a pack: headings of an article, rows, tasks of one state, articles of a category."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from wikigr.answer.candidates.candidate import AnswerCandidate, Material, Quotation
from wikigr.answer.candidates.dated import is_of
from wikigr.answer.candidates.grid import spelled
from wikigr.answer.candidates.rows import row_up_to
from wikigr.graph.schema import article_title, section_id
from wikigr.index.candidate import Section
from wikigr.index.stored_blocks import TASK
from wikigr.pack.open import Corpus, Pack
from wikigr.question.dates import dates_asked_for
from wikigr.question.grammar import AUXILIARIES, is_negation, one_of
from wikigr.question.intent import asked_for, names
from wikigr.question.measure import operation
from wikigr.retrieval.units import units_of
from wikigr.sources.block import after_marker
from wikigr.text import words

# Members that are named and quoted; the rest is counted.
_MAX_SHOWN = 30
_MAX_MEMBERS = 1_000
# A larger pack is not searched for all of its tasks and categories.
_MAX_SECTIONS = 50_000
# Words that ask for a list, and what its members are called.
_ASKING = "all are count each enumerate every exist give how list many name number show there total"
_WHOLE_LIST = re.compile(r"\b(?:complete|full|whole) list\b", re.IGNORECASE)
_PARTS = "chapter entry heading part section topic"
_TASKS = "already completed do done due finished left open still task tasks todo yet"
_TAGS = "category tag tagged"
_ARTICLES = f"article document file note page {_TAGS}"
_KIND = re.compile(rf"\W*(?:which|what)\s+(?:[\w-]+\s+){{0,4}}?([\w-]+)\s+(?:{one_of(AUXILIARIES)})\b", re.IGNORECASE)
_DONE = re.compile(r"(?<!be )\b(?:completed|done|finished)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Member:
    """What a list names, what is quoted for it, and what it says."""

    name: str
    quotation: Quotation
    text: str


@dataclass(frozen=True, slots=True)
class _Collection:
    """All ``members`` of one kind; ``what`` says which, with "(s)", and ``stems`` are those that the kind explains."""

    what: str
    stems: Set[str]
    members: Sequence[_Member]


def find_collected(material: Material) -> Iterator[AnswerCandidate]:
    """Yield the members of a part of the structure, counted, if they explain every word of the question.

    What the kind of the members does not explain, they must hold themselves, or they are left out.
    """
    question, pack = material.question, material.pack
    if pack is None or not question.language.is_english:
        return
    lists = operation(question.text) == "count" or asked_for(question) == "list"
    # What the members are called, they need not say: "Which songs are sacred?"
    kind = _KIND.match(question.text)
    whole = " ".join(_WHOLE_LIST.findall(question.text))
    asking = set(question.stems(f"{_ASKING} {whole} {kind[1] if kind is not None else ''}"))
    dated = dates_asked_for(question.text)
    for _, start, end in dated:
        asking |= set(question.stems(question.text[start:end]))
    # ``find_rows`` knows which column a range is about.
    of_rows = lists and not any(days.is_range for days, _, _ in dated)
    found = [
        *_tasks(material, pack),
        *(_headings(material, pack) if lists else ()),
        *(_rows(material) if of_rows else ()),
    ]
    found += (
        _categories(material, pack) if lists or not question.weights.keys().isdisjoint(question.stems(_TAGS)) else ()
    )
    for collection in found:
        rest = question.weights.keys() - asking - collection.stems
        members = [
            member
            for member in collection.members
            if all(is_of(member.quotation, days) for days, _, _ in dated)
            and rest <= material.place_stems(member.quotation.section) | set(question.stems(member.text))
        ]
        if members:
            yield _candidate(collection, members)


def _candidate(collection: _Collection, members: Sequence[_Member]) -> AnswerCandidate:
    shown = members[:_MAX_SHOWN]
    least = "At least " if len(members) >= _MAX_MEMBERS else ""
    some = f", of which {len(shown)} are shown" if len(members) > len(shown) else ""
    counted = collection.what.replace("(s)", "s" * (len(members) != 1), 1)
    lead = f"{least}{len(members)} {counted}{some}: {'; '.join(member.name for member in shown)}."
    return AnswerCandidate("collected", tuple(member.quotation for member in shown), lead=lead, fit=1.0)


def _headings(material: Material, pack: Corpus) -> Iterator[_Collection]:
    """Yield the headings of the highest level that has several, of the articles that the question names."""
    question = material.question
    for title in list(dict.fromkeys(item.section.title for item in material.evidence))[:3]:
        if not names(question, title):
            continue
        section = next(item.section for item in material.evidence if item.section.title == title)
        member, own_id = pack.origin(section.section_id)
        query = (
            "MATCH (:Article {title: $title})-[:HAS_SECTION]->(s:Section) WHERE s.level > 0 "
            "RETURN s.section_id, s.level ORDER BY s.position LIMIT $limit"
        )
        rows = member.graph.rows(query, {"title": article_title(own_id), "limit": _MAX_MEMBERS})
        levels = [level for _, level in rows]
        level = next((level for level in sorted(set(levels)) if levels.count(level) > 1), None)
        ids = [pack.id_of(member, own) for own, found in rows if found == level]
        stored = pack.sections(ids)
        # Of a long section, the first piece.
        sections = {stored[each].heading: stored[each] for each in reversed(ids) if each in stored}
        stems = set(question.stems(f"{_PARTS} {title}"))
        yield _Collection(
            f"section(s) of {title}", stems, [_member(material, s, name) for name, s in reversed(sections.items())]
        )


def _rows(material: Material) -> Iterator[_Collection]:
    """Yield the rows of whole tables whose title, heading or first column the question names."""
    for grid in material.grids:
        section = grid.records[0].section
        if grid.is_whole(material.whole):
            # The first column names the rows.
            named = [
                set(material.question.stems(said))
                for said in (section.title, section.heading, *map(spelled, grid.columns[:1]))
            ]
            stems = frozenset[str]().union(*named)
            if any(own and own <= material.question.weights.keys() for own in named):
                members = [
                    _Member(
                        row.named_for(material.asked),
                        row_up_to(row.values),
                        "\n".join(value.text for value in row.values),
                    )
                    for row in grid.records
                ]
                yield _Collection(f"row(s) of {section.title}", stems, members)


def _tasks(material: Material, pack: Corpus) -> Iterator[_Collection]:
    """Yield the tasks of the pack that are open, or those that are done."""
    stems = set(material.question.stems(_TASKS))
    if stems.isdisjoint(material.question.weights):
        return
    text = material.question.text
    state = "done" if _DONE.search(text) and not any(map(is_negation, words(text))) else "open"
    # Packs of earlier versions have no blocks, and so no tasks.
    members = [member for member in _searched(pack) if member.manifest.has_blocks]
    query = "MATCH (s:Section) WHERE s.blocks CONTAINS $task RETURN s.section_id ORDER BY s.section_id LIMIT $limit"
    found = [
        _Member(
            " ".join((text := section.content[after_marker(section.content, block) : block.end]).split()),
            Quotation(section, block.start, block.end),
            text,
        )
        for section in _sections(pack, members, query, {"task": TASK})
        for block in section.blocks
        if block.kind == "task" and block.label == state
    ]
    yield _Collection(f"{state} task(s)", stems, found[:_MAX_MEMBERS])


def _categories(material: Material, pack: Corpus) -> Iterator[_Collection]:
    """Yield the articles of the categories, and with the tags, that the question names."""
    question = material.question
    named: dict[str, None] = {}
    members = _searched(pack)
    for member in members:
        for (name,) in member.graph.rows(
            "MATCH (a:Article) UNWIND a.categories AS name RETURN DISTINCT name ORDER BY name"
        ):
            stems = set(question.stems(name))
            if stems and stems <= question.weights.keys():
                named[name] = None
    for name in named:
        query = "MATCH (a:Article) WHERE $name IN a.categories RETURN a.title ORDER BY a.title LIMIT $limit"
        sections = _sections(pack, members, query, {"name": name}, is_title=True)
        stems = set(question.stems(f"{_ARTICLES} {name}"))
        yield _Collection(f"article(s) in {name}", stems, [_member(material, s, s.title) for s in sections])


def _searched(pack: Corpus) -> list[Pack]:
    return [member for member in pack.members if member.manifest.counts["sections"] <= _MAX_SECTIONS]


def _sections(
    pack: Corpus, members: Sequence[Pack], query: str, values: dict[str, str], *, is_title: bool = False
) -> Iterator[Section]:
    """Yield the sections whose ids, or the leads of the articles whose titles, ``query`` returns in ``members``."""
    for member in members:
        found = [str(own) for (own,) in member.graph.rows(query, {**values, "limit": _MAX_MEMBERS})]
        ids = [pack.id_of(member, section_id(own, 0) if is_title else own) for own in found]
        stored = pack.sections(ids)
        yield from (stored[each] for each in ids if each in stored)


def _member(material: Material, section: Section, name: str) -> _Member:
    """Return the member that is ``section``, of which the first unit is quoted."""
    units = units_of(section, material.question.language)
    start, end = (units[0].start, units[0].end) if units else (0, len(section.content))
    return _Member(name, Quotation(section, start, end), section.content)

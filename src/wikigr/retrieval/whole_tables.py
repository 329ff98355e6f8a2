"""The other parts of tables that were cut between sections, for questions about all of their rows."""

from __future__ import annotations

from collections.abc import Sequence

from wikigr.graph.schema import article_title, section_id
from wikigr.index.candidate import Candidate, Evidence, Section
from wikigr.pack.open import Corpus

# A longer table is not completed. Of so many sections of the evidence, the tables are.
MAX_PARTS = 64
_MAX_SECTIONS = 12


def complete_tables(pack: Corpus, evidence: Sequence[Evidence]) -> tuple[tuple[Evidence, ...], frozenset[str]]:
    """Return ``evidence``, followed by the missing parts of its tables, and the ids of sections whose tables are whole.

    The parts of a table are in neighboring sections with the same heading and have the same columns.
    """
    known = {item.section.section_id: item.section for item in evidence}
    added: dict[str, Section] = {}
    whole: set[str] = set()
    for item in evidence[:_MAX_SECTIONS]:
        section = item.section
        columns = _columns(section)
        if not columns or section.section_id in whole:
            continue
        parts = [section]
        for step in (1, -1):
            title = article_title(section.section_id)
            around = [section_id(title, section.position + step * n) for n in range(1, MAX_PARTS)]
            # Most tables have one part.
            stored = pack.sections(around[:1])
            if stored and _continues(next(iter(stored.values())), section, columns):
                stored = pack.sections(around)
                for place in around:
                    if place not in stored or not _continues(stored[place], section, columns):
                        break
                    parts.append(stored[place])
        if len(parts) < MAX_PARTS:
            whole |= {part.section_id for part in parts}
            added |= {part.section_id: part for part in parts if part.section_id not in known}
    rest = sorted(added.values(), key=lambda section: (section.title, section.position))
    return (*evidence, *(Evidence(section, Candidate(section.section_id, 0.0)) for section in rest)), frozenset(whole)


def _columns(section: Section) -> frozenset[tuple[str, ...]]:
    return frozenset(block.columns for block in section.blocks if block.kind == "table")


def _continues(other: Section, section: Section, columns: frozenset[tuple[str, ...]]) -> bool:
    return other.heading == section.heading and not columns.isdisjoint(_columns(other))

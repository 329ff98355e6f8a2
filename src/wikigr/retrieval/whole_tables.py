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
    tables = [(item.section, found) for item in evidence[:_MAX_SECTIONS] if (found := _columns(item.section))]
    # Most tables have one part.
    beside = pack.sections([_around(section, step)[0] for section, _ in tables for step in (1, -1)])
    added: dict[str, Section] = {}
    whole: set[str] = set()
    for section, columns in tables:
        if section.section_id in whole:
            continue
        parts = [section]
        for around in (_around(section, 1), _around(section, -1)):
            if _continues(beside.get(around[0]), section, columns):
                stored = pack.sections(around)
                for place in around:
                    if not _continues(stored.get(place), section, columns):
                        break
                    parts.append(stored[place])
        if len(parts) < MAX_PARTS:
            whole |= {part.section_id for part in parts}
            added |= {part.section_id: part for part in parts if part.section_id not in known}
    rest = sorted(added.values(), key=lambda section: (section.title, section.position))
    return (*evidence, *(Evidence(section, Candidate(section.section_id, 0.0)) for section in rest)), frozenset(whole)


def _around(section: Section, step: int) -> list[str]:
    """Return the ids of the sections after (``step`` 1) or before (-1) ``section``, the nearest first."""
    title = article_title(section.section_id)
    return [section_id(title, section.position + step * n) for n in range(1, MAX_PARTS)]


def _columns(section: Section) -> frozenset[tuple[str, ...]]:
    return frozenset(block.columns for block in section.blocks if block.kind == "table")


def _continues(other: Section | None, section: Section, columns: frozenset[tuple[str, ...]]) -> bool:
    return other is not None and other.heading == section.heading and not columns.isdisjoint(_columns(other))

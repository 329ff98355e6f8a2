"""From ranked sections to a few sections of a few articles (reference/multidoc-synthesizer.md, "Algorithm")."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wikigr.index.candidate import Candidate, section_ids


@dataclass(frozen=True, slots=True)
class Selection:
    """The sections kept, in their order of rank, and why each other one was dropped, by section id."""

    kept: tuple[Candidate, ...]
    dropped: dict[str, str]


def select_documents(
    candidates: Sequence[Candidate],
    *,
    num_docs: int,
    max_sections: int,
    min_relevance: float = 0.0,
    leads: Collection[str] = (),
) -> Selection:
    """Keep the best ``max_sections`` of each of the best ``num_docs`` articles of ``candidates`` (best first).

    An article counts as much as its best ``max_sections`` sections together: further ones would favor long articles.
    A section whose cosine is known and lies below ``min_relevance`` is dropped, unless it states a fact of the graph.
    ``leads`` are ids of sections that are kept besides, whatever their rank, the unranked ones last.
    """
    known = section_ids(candidates)
    candidates = [*candidates, *(Candidate(lead, 0.0, {"relevance": 0.0}) for lead in leads if lead not in known)]
    dropped: dict[str, str] = {}
    by_title: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if candidate.section_id in leads:
            continue
        if candidate.scores.get("dense", min_relevance) < min_relevance and "fact" not in candidate.scores:
            dropped[candidate.section_id] = f"cosine below min_relevance {min_relevance:.2f}"
        elif len(by_title.setdefault(candidate.title, [])) >= max_sections:
            dropped[candidate.section_id] = f"its article has {max_sections} better ones"
        else:
            by_title[candidate.title].append(candidate)
    ranked = sorted(by_title, key=lambda title: (-sum(c.score for c in by_title[title]), title))
    chosen = set(ranked[:num_docs])
    kept = []
    for candidate in candidates:
        if candidate.section_id in dropped:
            continue
        if candidate.title in chosen or candidate.section_id in leads:
            kept.append(candidate)
        else:
            dropped[candidate.section_id] = f"its article is not among the best {num_docs}"
    return Selection(tuple(kept), dropped)

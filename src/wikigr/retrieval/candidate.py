"""What retrieval passes on: sections with scores, and where each score came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Scored:
    """A section id with the score that one ranker gave it (its own scale)."""

    section_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A section in the running. ``scores`` holds each ranker's own score and rank, for ``--explain``."""

    section_id: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """A stored section with its text. ``title`` is the article's, ``heading`` the section's."""

    section_id: str
    title: str
    heading: str
    content: str
    source_id: str
    position: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A retrieved section: the stored text and the candidate that it was."""

    section: Section
    candidate: Candidate

    @property
    def score(self) -> float:
        return self.candidate.score

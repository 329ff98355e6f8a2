"""What retrieval passes on: sections with scores, and where each score came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from wikigr.graph.schema import article_title

# Keys of ``Candidate.scores``: the cosine, the BM25 score, the logit of a cross-encoder, the weight of the graph walk,
# the rank of the fact that a section states, and the relevance to the question in [0, 1].
DENSE = "dense"
LEXICAL = "lexical"
CROSS_ENCODER = "cross_encoder"
WALK = "walk"
FACT = "fact"
RELEVANCE = "relevance"


def place(title: str, heading: str | None) -> str:
    """Return how a section is named for a reader: its article, and its heading where it has one."""
    return f"{title} › {heading}" if heading else title


@dataclass(frozen=True, slots=True)
class Hit:
    """A section id with the score that one ranker gave it (its own scale)."""

    section_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A section in the running, ranked by ``score``.

    ``scores`` holds each ranker's own score and rank, for ``--explain``; ``relevance`` among them is what the section
    has to do with the question, in [0, 1], where ``score`` is mixed with something else or of another scale.
    """

    section_id: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of the article that the section belongs to."""
        return article_title(self.section_id)

    @property
    def relevance(self) -> float:
        """What the section has to do with the question, about 0 to 1."""
        return self.scores.get("relevance", self.score)


def section_ids(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the ids of the sections of ``candidates``, in order."""
    return tuple(candidate.section_id for candidate in candidates)


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

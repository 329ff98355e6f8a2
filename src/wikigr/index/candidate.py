"""The data types of retrieval: hits, candidates, sections and evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from wikigr.graph.schema import article_title
from wikigr.text import one_line

if TYPE_CHECKING:
    from wikigr.sources.block import Block

# Keys of ``Candidate.scores``: the cosine, the BM25 score, the logit of a cross-encoder, the weight of the graph walk,
# the rank of the fact that a section states, the probability of a chain of hops in which it was read, and the relevance
# to the question in [0, 1].
DENSE = "dense"
LEXICAL = "lexical"
CROSS_ENCODER = "cross_encoder"
WALK = "walk"
FACT = "fact"
HOPS = "hops"
UNIT = "unit"
RELEVANCE = "relevance"


def place(title: str, heading: str | None) -> str:
    """Return the label of a section for a reader: the article's title, and the heading if there is one."""
    return one_line(f"{title} › {heading}" if heading else title)


@dataclass(frozen=True, slots=True)
class Hit:
    """A section id with the score of one ranker, on that ranker's own scale."""

    section_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A section considered as evidence, ranked by ``score``.

    ``scores`` holds the score and rank that each ranker gave it, for ``--explain``. The entry ``relevance`` is the
    relevance to the question in [0, 1], for stages whose ``score`` is on another scale or combines other signals.
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
        """The relevance to the question, about 0 to 1."""
        return self.scores.get(RELEVANCE, self.score)


def section_ids(candidates: Iterable[Candidate]) -> tuple[str, ...]:
    """Return the section ids of ``candidates``, in order."""
    return tuple(candidate.section_id for candidate in candidates)


@dataclass(frozen=True, slots=True)
class Section:
    """A stored section. ``title`` is the article's title, and ``heading`` is the section's own.

    ``stored_blocks`` is the stored form of its blocks, see ``index.stored_blocks``.
    """

    section_id: str
    title: str
    heading: str
    content: str
    source_id: str
    position: int
    stored_blocks: str = ""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks of ``content``, decoded when they are first needed; raises ``PackError`` if they are damaged."""
        return _blocks_of(self.content, self.stored_blocks)


@lru_cache(maxsize=256)
def _blocks_of(text: str, stored: str) -> tuple[Block, ...]:
    from wikigr.index.stored_blocks import decode_blocks
    from wikigr.sources.block import fill_paragraphs

    return fill_paragraphs(text, decode_blocks(text, stored))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A retrieved section: its stored text, the candidate with its scores, and its address, if that was looked up."""

    section: Section
    candidate: Candidate
    url: str | None = None

    @property
    def score(self) -> float:
        return self.candidate.score

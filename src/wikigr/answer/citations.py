"""Citations: spans of stored text that are verified before they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from wikigr.errors import WikigrError
from wikigr.index.candidate import Section
from wikigr.options import Limits, Name
from wikigr.pack.open import Corpus
from wikigr.retrieval.trace import Trace

# The name of the check in traces.
CITATIONS = "citations"
# Up to the largest integer that every JSON parser preserves.
Offset = Annotated[int, Limits(ge=0, le=2**53)]


@dataclass(frozen=True, slots=True)
class StoredText:
    """A short answer or its surroundings: ``text`` is ``content[start:end]`` of the stored section, in characters."""

    text: Name
    section_id: str
    start: Offset
    end: Offset


@dataclass(frozen=True, slots=True)
class Citation:
    """Citation number ``n`` of an answer: ``quote`` is ``content[start:end]`` of the stored section, in characters.

    ``url`` is the address of the section, ``None`` if it is not known (see ``pack.section_urls``).
    """

    n: int
    title: str
    section_id: str
    heading: str
    source_id: str
    quote: str
    start: int
    end: int
    url: str | None = None


def verify(citations: Sequence[Citation], stored: Mapping[str, Section]) -> None:
    """Check every citation against the stored sections; raises ``WikigrError`` for the first that fails."""
    for citation in citations:
        section = stored.get(citation.section_id)
        if section is None or section.content[citation.start : citation.end] != citation.quote or not citation.quote:
            raise WikigrError(
                f"Citation {citation.n} does not match the text of {citation.section_id!r}: the pack is damaged.",
                hint="Run `wikigr pack validate` on it, or build it again.",
            )


def verify_against(pack: Corpus, citations: Sequence[Citation], trace: Trace) -> None:
    """Check ``citations`` against the database of ``pack``, not against sections that are already in memory."""
    with trace.stage(CITATIONS) as record:
        record.scored = len(citations)
        verify(citations, pack.sections(list(dict.fromkeys(c.section_id for c in citations))))

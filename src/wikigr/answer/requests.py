"""Build the request to the model that writes an answer.

Sections are sent as search-result blocks with citations, one block per sentence, so that a citation is a range of
sentences. Servers that do not know such blocks get the sections numbered in the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wikigr.index.candidate import Evidence, Section, place
from wikigr.languages import ENGLISH, Language
from wikigr.llm import api_of, cites
from wikigr.llm.options import SynthesisOptions
from wikigr.llm.prompts import prompt
from wikigr.retrieval.units import units_of

# With citations of the API, with numbers in the text, or in the format of a short request (``short_request``).
CitationStyle = Literal["native", "markers", "short"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent to the model, apart from the key: ``evidence`` are the sections, in the order of their numbers."""

    system: tuple[Mapping[str, Any], ...]
    messages: tuple[Mapping[str, Any], ...]
    evidence: tuple[Evidence, ...] = ()
    response_format: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        extra = {"extra": {"response_format": self.response_format}} if self.response_format is not None else {}
        return {"system": list(self.system), "messages": list(self.messages), **extra}


def style_of(options: SynthesisOptions) -> CitationStyle:
    """Return how the model of ``options`` is to cite."""
    if options.citations != "auto":
        return options.citations
    if api_of(options.model) == "file":
        return "short"
    return "native" if cites(options.model) else "markers"


def build_request(
    question: str,
    evidence: Sequence[Evidence],
    *,
    style: CitationStyle,
    examples: str = "",
    graph_context: Sequence[str] = (),
    language: Language = ENGLISH,
) -> Request:
    """Return the request for ``question``.

    ``graph_context`` holds lines that a search of the graph found, which the model must not cite. ``language`` is
    that of the sections. The instructions
    never change, so they come first and are marked for the server's prompt cache.
    """
    instructions = f"{prompt('synthesis')}\n\n{prompt(f'citations_{style}')}"
    system = {"type": "text", "text": instructions, "cache_control": {"type": "ephemeral"}}
    asked = [asked_block(question)]
    if examples:
        # Examples are text of the pack, so they get a block of their own and are never among the instructions.
        asked.insert(0, {"type": "text", "text": f"<examples>\n{prompt('examples')}\n\n{examples}\n</examples>"})
    if graph_context:
        asked.insert(0, context_block(graph_context))
    if style == "native":
        content = [*(_search_result(item.section, language) for item in evidence), *asked]
    else:
        sections = "\n".join(numbered(n, item.section) for n, item in enumerate(evidence, start=1))
        content = [{"type": "text", "text": sections}, *asked]
    return Request((system,), ({"role": "user", "content": content},), tuple(evidence))


def own_knowledge_request(question: str) -> Request:
    """Return the request for an answer from the model's memory."""
    system = {"type": "text", "text": prompt("own_knowledge")}
    return Request((system,), ({"role": "user", "content": [asked_block(question)]},))


def context_block(lines: Sequence[str]) -> dict[str, Any]:
    """Return the block of what a search of the graph found."""
    inside = "\n".join(line.replace("<", "&lt;") for line in lines)
    return {"type": "text", "text": f"<graph-context>\n{prompt('graph_context')}\n\n{inside}\n</graph-context>"}


def asked_block(question: str) -> dict[str, Any]:
    """Return the block of the question."""
    # A question may come from an untrusted file; escaped, it cannot pass for a section or an example.
    return {"type": "text", "text": f"Question: {question.replace('<', '&lt;')}"}


def _search_result(section: Section, language: Language) -> dict[str, Any]:
    return {
        "type": "search_result",
        "source": section.section_id,
        "title": place(section.title, section.heading),
        "content": [
            {"type": "text", "text": section.content[unit.start : unit.end]} for unit in units_of(section, language)
        ],
        "citations": {"enabled": True},
    }


def numbered(n: int, section: Section, start: int = 0, end: int | None = None) -> str:
    """Return the block of the characters ``start:end`` of ``section``, with its number."""
    # An escaped "<" cannot close the block.
    text = section.content[start:end].replace("<", "&lt;")
    title = place(section.title, section.heading).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return f'<section number="{n}" title="{title}">\n{text}\n</section>'

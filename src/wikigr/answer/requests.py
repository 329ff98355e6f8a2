"""Build the request to the model that writes an answer.

Sections are sent as search-result blocks with citations, one block per sentence, so that a citation is a range of
sentences. Servers that do not know such blocks get the sections numbered in the text.

A small model, such as one in a file, gets a short request: every token of the prompt costs it time, and more sections
make it less sure. It reads the sections that hold most of the probability of an answer, as far as they fit. Its server
lets it write nothing but a quotation, the number of its section and the answer. The instructions come first and never
change, so the server need not read them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.stages import Draft
from wikigr.index.candidate import Evidence, Section, place
from wikigr.languages import ENGLISH, Language
from wikigr.llm import api_of, cites
from wikigr.llm.options import SynthesisOptions
from wikigr.llm.prompts import object_schema, prompt
from wikigr.llm.reply import Reply
from wikigr.retrieval.units import units_of
from wikigr.segmentation import sentence_spans
from wikigr.text import words

# With citations of the API, with numbers in the text, or in the format of a short request.
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


# Sections are read until they hold this share of the probability of all possible answers.
_SHARE = 0.9
_NAME = "answer"
# What is left of the limit is not worth another section.
_MIN_TOKENS = 40
_MAX_ANSWER_CHARS, _MAX_QUOTATION_CHARS = 400, 500
# Tokenizers split words of more than six letters or so, numbers into digits, and other scripts into characters.
_TOKENS = re.compile(r"[A-Za-z]{1,6}|\d|[^\sA-Za-z\d]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens ``text`` has for most models, rather too many than too few."""
    return sum(1 for _ in _TOKENS.finditer(text))


def build_short_request(draft: Draft, question: str, limit: int, language: Language) -> Request:
    """Return the request for ``question``, with about ``limit`` tokens."""
    instructions = prompt("short_answer")
    asked = asked_block(question)["text"]
    left = limit - estimate_tokens(instructions) - estimate_tokens(asked) - _MIN_TOKENS
    read: list[Evidence] = []
    shown: list[str] = []
    for item in _likeliest(draft):
        start, end = _excerpt(item.section, draft, left if not shown else left // 2, language)
        text = numbered(len(shown) + 1, item.section, start, end)
        size = estimate_tokens(text)
        if shown and size > left:
            continue
        shown.append(text)
        read.append(item)
        left -= size
        if left < _MIN_TOKENS:
            break
    exploration = draft.state.exploration
    lines: list[str] = []
    for line in exploration.context.lines if exploration is not None else ():
        left -= estimate_tokens(line)
        if left < 0:
            break
        lines.append(line)
    blocks = [*shown, *([context_block(lines)["text"]] if lines else []), asked]
    return Request(
        system=({"type": "text", "text": instructions},),
        messages=({"role": "user", "content": "\n".join(blocks)},),
        evidence=tuple(read),
        response_format=_format(len(read)),
    )


def read_short_reply(reply: Reply) -> str:
    """Return a reply as a sentence with the number of its section, or as it is if it has another format."""
    match reply.input_of(_NAME):
        case {"quotation": str(quotation), "section": int(section), "answer": str(answer)}:
            said = " ".join((_uncut(answer, quotation) if answer.strip() else quotation).split()).rstrip(".")
            return f"{said} [{section}]." if section and said else NOT_COVERED
        case _:
            return reply.text


def _uncut(answer: str, quotation: str) -> str:
    """Return the sentence of ``quotation`` of which ``answer`` is most, or ``answer`` itself.

    The rest of a sentence contradicts nothing, and may hold what was asked for.
    """
    said = words(answer)
    wanted = set(said)
    for start, end in sentence_spans(quotation):
        sentence = words(quotation[start:end])
        if wanted <= set(sentence) and 2 * len(said) >= len(sentence):
            return quotation[start:end]
    return answer


def _format(sections: int) -> dict[str, Any]:
    """Return the format of a reply about as many sections; 0 stands for none of them."""
    schema = object_schema(
        quotation={"type": "string", "maxLength": _MAX_QUOTATION_CHARS},
        section={"type": "integer", "enum": list(range(sections + 1))},
        answer={"type": "string", "maxLength": _MAX_ANSWER_CHARS},
    )
    return {"type": "json_schema", "json_schema": {"name": _NAME, "schema": schema}}


def _likeliest(draft: Draft) -> Iterator[Evidence]:
    """Yield the sections of the likeliest answers up to ``_SHARE`` of the probability; without any, all, best first."""
    by_id = {item.section.section_id: item for item in draft.state.evidence}
    found: dict[str, float] = {}
    for candidate in draft.answers:
        for quotation in candidate.quotations:
            section = quotation.section.section_id
            if section in by_id:
                found[section] = max(found.get(section, 0.0), candidate.probability)
    if not found:
        yield from draft.state.evidence
    rest = sum(found.values()) * _SHARE
    for section, probability in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])):
        if rest <= 0:
            return
        rest -= probability
        yield by_id[section]


def _excerpt(section: Section, draft: Draft, limit: int, language: Language) -> tuple[int, int]:
    """Return a part of ``section`` of at most ``limit`` tokens with what answers best in it.

    It begins with the section, or with the sentence before, or with the answer itself, which is cut if it is too long.
    """
    units = units_of(section, language)
    answering = next((s.start for s in draft.sentences if s.section.section_id == section.section_id), 0)
    best = next((n for n, unit in enumerate(units) if unit.start <= answering < unit.end), 0)
    for first in sorted({0, max(best - 1, 0), best}):
        last, left = first, limit
        while last < len(units) and left >= 0:
            left -= estimate_tokens(section.content[units[last].start : units[last].end])
            last += left >= 0
        if last > best:
            return units[first].start, units[last - 1].end
    start, end = (units[best].start, units[best].end) if units else (0, len(section.content))
    return start, max(start, min(end, start + 2 * limit))

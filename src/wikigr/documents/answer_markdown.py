"""An answer as Markdown: the short answer, the text, and the numbered sources with their quotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wikigr.answer.citation_stream import UNVERIFIED
from wikigr.answer.presentation import OTHERS, PERHAPS, level_in_words
from wikigr.documents.text_blocks import Block, Run, divide
from wikigr.index.candidate import place
from wikigr.text import escape_markdown, markdown_link

if TYPE_CHECKING:
    from wikigr.documents.shapes import CitationShape, PackShape, StatedAnswer

# What a link to the address of a source leads to; None if it may not be linked.
LinkTo = Callable[[str | None], str | None]

# What the text of an answer has besides stored text. It never begins a line, where "[1]: …" would define a link, and
# "(…)" never follows it, which would be the address of a link.
_MARKER = re.compile(rf"(?:(?<=\S)|(?<=\S ))(?:\[\d{{1,4}}\]|{re.escape(UNVERIFIED)})(?!\()")
# What would begin a list, or make a heading of the line above it, at the beginning of a line.
_LINE_MARK = re.compile(r"^(\d{0,9})([-+=.)])(?=[-=\s]|$)")


def answer_entry(document: StatedAnswer, link_to: LinkTo) -> str:
    """Return an answer under its question, followed by its level and its packs."""
    packs: Sequence[PackShape | None] = document.get("packs") or [document["pack"]]
    names = ", ".join(f"{pack['name']} {pack['version']}" for pack in packs if pack is not None)
    level = level_in_words(document["level"], document["confidence"])
    heading, last = escape_markdown(document["question"]), f"{level}, {escape_markdown(names)}"
    return f"## {heading}\n\n{answer_markdown(document, link_to)}\n{last}\n"


def answer_markdown(document: StatedAnswer, link_to: LinkTo) -> str:
    """Return the document of an answer as Markdown.

    An answer that is not sure is not stated: its passage and those of the alternatives follow as sources.
    """
    own, others = document["citations"], [c for other in document["alternatives"] for c in other["citations"]]
    if document["level"] == "not_sure" and own and not document["model"]:
        parts = [PERHAPS, _sources([*own, *others], 1, link_to)]
    else:
        text = document["answer"]
        links = {found.span(): found[0] for found in _MARKER.finditer(text)}
        parts = [f"**{escape_markdown(document['span']['text'])}**"] if document["span"] is not None else []
        parts += map(_block, divide(text, links=links))
        if own:
            # Without a line between them, the numbers of a list in the text would go on in those of the sources.
            parts += ["Sources", _sources(own, 1, link_to)]
        if others:
            parts += [OTHERS, _sources(others, len(own) + 1, link_to)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _block(block: Block) -> str:
    if block.kind == "code":
        # Indented lines after a list would belong to its last item.
        code = "\n".join("".join(run.text for run in cell) for (cell,) in block.lines)
        fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", code))])
        return f"{fence}\n{code}\n{fence}"
    if block.kind == "table":
        # Cells beyond the width of the head would not be shown.
        width = max(map(len, block.lines))
        head = map(escape_markdown, block.head or [""] * width)
        rows = [head, ["---"] * width, *(map(_line, line) for line in block.lines)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    lines = [_line(cell) for (cell,) in block.lines]
    if block.kind != "lines":
        lines = [_LINE_MARK.sub(r"\1\\\2", line) for line in lines]
    if block.kind == "bullets":
        return "\n".join(f"- {line}" for line in lines)
    if block.kind == "numbers":
        return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, start=block.first))
    # Markdown keeps a line break after two blanks.
    return "  \n".join(lines)


def _line(cell: Sequence[Run]) -> str:
    return "".join(run.target or escape_markdown(run.text) for run in cell).strip()


def _sources(citations: Sequence[CitationShape], first: int, link_to: LinkTo) -> str:
    """Return a numbered list of sources that begins with the number ``first``."""
    lines = []
    for number, citation in enumerate(citations, start=first):
        address = link_to(citation["url"])
        link = markdown_link(place(citation["title"], citation["section"]), address)
        file = f" ({escape_markdown(citation['source_id'])})" if address is None and citation["source_id"] else ""
        pack = f", {escape_markdown(citation['pack'])}" if "pack" in citation else ""
        lines.append(f"{number}. {link}{file}{pack}: “{escape_markdown(citation['quote'])}”")
    return "\n".join(lines)

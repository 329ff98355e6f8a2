"""An answer as Markdown, to be copied: its text, how sure it is, and its numbered sources with their quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wikigr.serve.web.answer_page import AnswerPage, Source
from wikigr.serve.web.text_blocks import Block, Run
from wikigr.text import escape_markdown


def answer_markdown(view: AnswerPage) -> str:
    """Return an answer as a page shows it; numbers in brackets refer to the sources below it."""
    parts = [f"## {_escape(view.question)}"]
    if view.short:
        parts.append(f"**{_escape(view.short)}**")
    parts += [_block(block) for block in view.text]
    parts.append(f"{view.confidence.words}, confidence {view.confidence.value:.2f}.")
    parts.append(_sources(view.sources.values()))
    if view.others:
        parts += [view.others_heading, _sources(source for other in view.others for source in other.sources.values())]
    return "\n\n".join(filter(None, parts)) + "\n"


def _block(block: Block) -> str:
    if block.kind == "code":
        return "\n".join(f"    {_text(cell)}" for (cell,) in block.lines)
    if block.kind == "table":
        rows = [f"| {' | '.join(_line(cell) for cell in line)} |" for line in block.lines]
        width = len(block.lines[0])
        head = [_escape(name) for name in block.head] or [""] * width
        return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * width}", *rows])
    lines = [_line(cell) for (cell,) in block.lines]
    if block.kind == "bullets":
        return "\n".join(f"- {line}" for line in lines)
    if block.kind == "numbers":
        return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, start=block.first))
    # Markdown keeps a line break after two blanks.
    return "  \n".join(lines)


def _sources(sources: Iterable[Source]) -> str:
    return "\n".join(_source(source) for source in sources)


def _source(source: Source) -> str:
    place = _escape(f"{source.title} › {source.heading}" if source.heading else source.title)
    quote = _escape(_text(source.quote))
    if source.outside is None:
        return f"{source.n}. {place} ({_escape(source.file or source.pack)}): “{quote}”"
    # In angle brackets, an address may have parentheses.
    address = source.outside.translate({ord("<"): "%3C", ord(">"): "%3E", ord("\n"): "%0A", ord("\r"): "%0D"})
    return f"{source.n}. [{place}](<{address}>): “{quote}”"


def _line(cell: Iterable[Run]) -> str:
    return "".join(f"[{run.target}]" if run.target else _escape(run.text) for run in cell).strip()


def _text(cell: Iterable[Run]) -> str:
    return "".join(run.text for run in cell)


def _escape(text: str) -> str:
    """Return ``text`` on one line without characters that Markdown takes for marks."""
    return re.sub(r"\s+", " ", escape_markdown(text))

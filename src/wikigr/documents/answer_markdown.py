"""An answer as Markdown: the short answer, the text, and the numbered sources with their quotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from wikigr.answer.presentation import NEAREST, OTHERS, level_in_words, rejected_in_words
from wikigr.documents.answer import heading_above
from wikigr.documents.blocks import group_items, number_columns, run_text, shown_rows, used_columns
from wikigr.documents.pack import packs_in_words
from wikigr.index.candidate import place
from wikigr.sources.block import CHECK_BOXES
from wikigr.text import escape_markdown, markdown_link

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape, CitationShape, RunShape, StatedAnswer

# What a link to the address of a source leads to; None if it may not be linked.
LinkTo = Callable[[str | None], str | None]
Escape = Callable[[str], str]

# What would begin a list, or make a heading of the line above it, at the beginning of a line.
_LINE_MARK = re.compile(r"^(\d{0,9})([-+=.)])(?=[-=\s]|$)")


def answer_entry(document: StatedAnswer, link_to: LinkTo) -> str:
    """Return an answer under its question, followed by its level and its packs."""
    level = level_in_words(document["level"], document["confidence"], document["agrees"])
    heading, last = escape_markdown(document["question"]), f"{level}, {escape_markdown(packs_in_words(document))}"
    return f"## {heading}\n\n{answer_markdown(document, link_to)}\n{last}\n"


def answer_markdown(document: StatedAnswer, link_to: LinkTo) -> str:
    """Return the document of an answer as Markdown.

    An answer that is not sure is not stated: its passage and those of the alternatives follow as sources.
    """
    own, others = document["citations"], [c for other in document["alternatives"] for c in other["citations"]]
    if heading := heading_above(document):
        parts = [heading, _sources([*own, *others], 1, link_to)]
    else:
        short = document["span"] if document["kind"] else None
        parts = [f"**{escape_markdown(short['text'])}**"] if short is not None else []
        parts.append(blocks_markdown(document["blocks"]))
        if own:
            # Without a line between them, the numbers of a list in the text would go on in those of the sources.
            parts += ["Sources", _sources(own, 1, link_to)]
        if others:
            parts += [OTHERS if own else NEAREST, _sources(others, len(own) + 1, link_to)]
    if (rejected := document["rejected"]) is not None:
        before = len(own) + len(others)
        heading = rejected_in_words(document["model"], is_cited=bool(rejected["citations"]))
        parts += [escape_markdown(heading), blocks_markdown(rejected["blocks"], before=before)]
        parts.append(_sources(rejected["citations"], before + 1, link_to))
    if understood := document.get("understood"):
        parts.insert(0, f"Understood as: {escape_markdown(understood)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def blocks_markdown(blocks: Sequence[BlockShape], escape: Escape = escape_markdown, before: int = 0) -> str:
    """Return blocks as Markdown, without text around quotations; ``escape`` returns text in which nothing is a mark.

    The numbers of citations go on after the ``before`` first ones.
    """
    stated: list[BlockShape] = [
        block
        if block["kind"] in ("table", "code")
        else {**block, "runs": [run for run in block["runs"] if run["role"] != "around"]}
        for block in blocks
    ]
    return "\n".join(_lines([block for block in stated if block["runs"] or block["rows"]], escape, before))


def _lines(blocks: Sequence[BlockShape], escape: Escape, before: int) -> Iterator[str]:
    previous: BlockShape | None = None
    for block, inside in group_items(blocks):
        # The items of one list stand line by line.
        if previous is not None and not (_marker(block)[-2:] == _marker(previous)[-2:] != ""):
            yield ""
        yield from _block_lines(block, escape, before)
        if inside and not _marker(inside[0]):
            yield ""
        margin = " " * (2 if block["kind"] == "task" else len(_marker(block)))
        yield from (f"{margin}{line}" if line else "" for line in _lines(inside, escape, before))
        previous = block


def _block_lines(block: BlockShape, escape: Escape, before: int) -> Iterator[str]:
    cited = f" [{before + block['n']}]" if block["n"] is not None else ""
    if block["kind"] == "code":
        code = run_text(block["runs"])
        fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", code))])
        yield fence + re.sub(r"[^\w+#.-]", "", block["label"])
        yield from code.split("\n")
        yield fence
        if cited:
            yield from ("", cited.strip())
    elif block["kind"] == "table":
        yield from _table_lines(block, escape, before, cited)
    else:
        lines = _text_lines(block["runs"], escape, before)
        if block["kind"] == "property":
            lines[0] = f"**{escape(block['label'])}:** {lines[0]}"
        elif block["kind"] in ("heading", "term"):
            lines = [f"**{line}**" for line in lines]
        elif block["kind"] == "quotation":
            lines = [f"> {line}" for line in lines]
        marker = _marker(block)
        yield f"{marker}{lines[0]}" + "  " * (len(lines) > 1)
        # Markdown keeps a line break after two blanks.
        yield from (f"{' ' * len(marker)}{line}" + "  " * (n < len(lines)) for n, line in enumerate(lines[1:], start=2))


def _marker(block: BlockShape) -> str:
    """Return the marker of a list item as Markdown knows it: a dash for what is neither a dash nor a number."""
    if block["kind"] == "task":
        return f"- {CHECK_BOXES.get(block['label'], '[ ]')} "
    if block["kind"] != "item":
        return ""
    return f"{block['label']} " if re.fullmatch(r"\d{1,9}[.)]", block["label"]) else "- "


def _table_lines(block: BlockShape, escape: Escape, before: int, cited: str) -> Iterator[str]:
    used = used_columns(block)
    rows = [block["rows"][n] for n in shown_rows(block)]
    more = len(block["rows"]) - len(rows)
    yield f"| {' | '.join(escape(block['columns'][n]) for n in used)} |"
    numbers = number_columns(block)
    yield f"| {' | '.join('---:' if n in numbers else '---' for n in used)} |"
    has_others = any(not row["marked"] for row in rows)
    for number, row in enumerate(rows, start=1):
        texts = [" ".join(_text_lines(row["cells"][n], escape, before)) if row["cells"][n] else "" for n in used]
        if row["marked"] and has_others:
            texts = [f"**{text}**" if text else "" for text in texts]
        if row["n"] is not None:
            texts[-1] += f" [{before + row['n']}]"
        elif number == len(rows) and not more:
            texts[-1] += cited
        yield f"| {' | '.join(text.strip() for text in texts)} |"
    if more:
        yield from ("", f"… {more:,} more row{'s' * (more > 1)}{cited}")


def _text_lines(runs: Sequence[RunShape], escape: Escape, before: int) -> list[str]:
    parts: list[str] = []
    for run, after in pairwise([*runs, None]):
        assert run is not None
        if run["n"] is not None:
            # At the beginning of a line, "[1]: …" would define a link, and "(…)" after it would be its address.
            is_safe = parts and not (
                after is not None and after["text"].startswith(("(", ":", "[")) and after["n"] is None
            )
            number = f"[{before + run['n']}]"
            parts.append(f"{' ' * run['text'].startswith(' ')}{number if is_safe else escape(number)}")
        elif run["role"] == "unverified":
            parts.append(run["text"])
        else:
            parts.append("\n".join(escape(line) for line in run["text"].split("\n")))
    return [_LINE_MARK.sub(r"\1\\\2", line.strip()) for line in "".join(parts).split("\n")]


def _sources(citations: Sequence[CitationShape], first: int, link_to: LinkTo) -> str:
    lines = []
    for number, citation in enumerate(citations, start=first):
        address = link_to(citation["url"])
        link = markdown_link(place(citation["title"], citation["section"]), address)
        file = f" ({escape_markdown(citation['source_id'])})" if address is None and citation["source_id"] else ""
        pack = f", {escape_markdown(citation['pack'])}" if "pack" in citation else ""
        lines.append(f"{number}. {link}{file}{pack}: “{escape_markdown(citation['quote'])}”")
    return "\n".join(lines)

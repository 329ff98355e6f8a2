"""What ``wikigr ask`` prints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.documents.answer import explain_document, stages_document
from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.errors import UsageError, WikigrError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.formats import address_to_link
from wikigr_cli.render.output import Document, counted, print_address, stage_lines

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer, PossibleAnswer
    from wikigr.answer.citations import Citation
    from wikigr.answer.presentation import Passage
    from wikigr.documents.shapes import StatedAnswer
    from wikigr.pack.open import Corpus

# The maximum length of a printed sentence, in characters.
_SENTENCE_LENGTH = 100
# The maximum length of a passage, in characters and lines: of another possible answer, and of one of equal ones.
_COMPACT = (300, 5)
_WHOLE = (1200, 16)
# Columns before what stands under a source.
_INDENT = 6
_STYLES = {"around": "dim", "quoted": "", "short": "bold", "match": "bold"}
# The beginning of a list item.
_ITEM = re.compile(r" *(?:[-*•–]|\d{1,4}[.)]) +")
# The cells of a table that wrap to the next line stand out from its rows.
_ROW_HANG = 4


def failure_document(id_: str | int, question: str, error: WikigrError) -> dict[str, Any]:
    """Return the line that ``wikigr ask`` and ``search`` print for a question of a batch that failed."""
    return {"id": id_, "schema_version": SCHEMA_VERSION, "question": question, "error": error.message}


def print_answer(
    environment: Environment, answer: Answer, pack: Corpus, *, explain_limit: int = 0, streamed: bool = False
) -> None:
    """Print an answer from ``pack`` as its level says; if a model's was ``streamed``, only what follows its text.

    ``explain_limit`` is as in ``print_explanation``; 0 prints no explanation.
    """
    from wikigr.answer.presentation import is_doubtful, level_in_words, usage_in_words

    if is_doubtful(answer):
        _print_doubtful(environment, answer, pack)
    else:
        _print_stated(environment, answer, pack, streamed=streamed)
    environment.print(level_in_words(answer.level, answer.confidence), style="dim")
    if answer.unverified:
        environment.print(f"{len(answer.unverified)} of the claims could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(f"{answer.model}: {usage_in_words(answer.usage)}", style="dim")
    if explain_limit:
        print_explanation(environment, answer, pack, explain_limit)


def _print_stated(environment: Environment, answer: Answer, pack: Corpus, *, streamed: bool) -> None:
    """Print an answer in its surroundings, its sources, and the other possible answers if it has any."""
    from wikigr.answer.presentation import OTHERS, numbered_alternatives, passage_of, shorten

    # The text is already on the screen if a model streamed it; answers from its own knowledge are never streamed.
    if streamed and bool(answer.model) and answer.query_type != "own_knowledge":
        environment.print()
    else:
        if answer.span is not None:
            environment.print(" ".join(answer.span.text.split()), style="bold")
            environment.print()
        _print_passage(environment, passage_of(answer))
    if answer.abstained:
        titles = list(dict.fromkeys(item.section.title for item in answer.evidence))[:3]
        if titles:
            environment.print(f"Nearest articles: {', '.join(titles)}", style="dim")
        return
    environment.print()
    environment.print("Sources", style="bold")
    for citation in answer.citations:
        _print_source(environment, citation, pack)
    if answer.alternatives:
        environment.print()
        environment.print(OTHERS, style="bold")
    for alternative in numbered_alternatives(answer):
        for citation in alternative.citations:
            _print_source(environment, citation, pack)
        if alternative.span is not None:
            environment.print(f"{' ' * _INDENT}{' '.join(alternative.span.text.split())}", style="bold")
        has_several = len(alternative.citations) > 1
        passage = shorten(passage_of(alternative, in_context=False, with_numbers=has_several), *_COMPACT)
        _print_passage(environment, passage, indent=_INDENT)


def _print_doubtful(environment: Environment, answer: Answer, pack: Corpus) -> None:
    """Print the passages that may answer, each under its place, with the words of the question marked."""
    from wikigr.answer.presentation import PERHAPS, numbered_alternatives, passage_of, shorten, with_matches

    environment.print(PERHAPS)
    items: list[PossibleAnswer] = [answer, *numbered_alternatives(answer)]
    for item in items:
        environment.print()
        for citation in item.citations:
            _print_source(environment, citation, pack)
        passage = shorten(passage_of(item, with_numbers=len(item.citations) > 1), *_WHOLE)
        _print_passage(environment, with_matches(passage, answer.question, pack.language), indent=_INDENT)
    environment.print()


def _print_source(environment: Environment, citation: Citation, pack: Corpus) -> None:
    """Print the number and the place of a citation."""
    from wikigr.index.candidate import place

    environment.print(f"  [{citation.n}] ", end="")
    environment.print(place(citation.title, citation.heading), end="", link=citation.url)
    member, own_id = pack.origin(citation.section_id)
    stored = f"{member.label}: {own_id}" if len(pack.members) > 1 else own_id
    environment.print(f"  {stored} [{citation.start}:{citation.end}]", style="dim", hang=_INDENT)
    print_address(environment, citation.url, indent=_INDENT)


def _print_passage(environment: Environment, passage: Passage, indent: int = 0) -> None:
    """Print a passage line by line; of a list item or a row of a table, the wrapped lines are indented."""
    edges = {edge for part in passage.parts for edge in (part.start, part.end)}
    begin = 0
    for line in passage.text.split("\n"):
        end = begin + len(line)
        environment.print(" " * indent if line else "", end="")
        for first, last in pairwise(sorted({begin, end, *(edge for edge in edges if begin < edge < end)})):
            part = next((p for p in reversed(passage.parts) if p.start <= first and last <= p.end), None)
            environment.print(passage.text[first:last], style=_STYLES[part.role] if part is not None else "", end="")
        environment.print(hang=indent + _hang(line))
        begin = end + 1


def _hang(line: str) -> int:
    """Return the columns by which the wrapped lines of ``line`` are indented."""
    item = _ITEM.match(line)
    if item is not None:
        return len(item[0])
    return len(line) - len(line.lstrip(" ")) + (_ROW_HANG if " | " in line else 0)


def save_answers(
    environment: Environment, path: Path, answers: Sequence[StatedAnswer], *, replace: bool = True
) -> None:
    """Write answers to ``path`` as Markdown, each under its question, and say so.

    Raises ``WikigrError`` if that fails, and ``UsageError`` if there is no such folder, or the file exists and
    ``replace`` is false.
    """
    from wikigr.documents.answer_markdown import answer_entry
    from wikigr.files import cannot_write, write_atomic

    exists = path.exists()
    if exists and not replace:
        raise UsageError(f"{path} exists already.", hint="Choose another name, or remove the file first.")
    text = "\n".join(answer_entry(answer, address_to_link) for answer in answers)
    try:
        write_atomic(path, harmless(text))
    except OSError as error:
        raise cannot_write("the answers", path, error) from error
    environment.note(f"{'Replaced' if exists else 'Wrote'} {path}: {counted(len(answers), 'answers')}.")


def print_explanation(environment: Environment, answer: Answer, pack: Corpus, limit: int) -> None:
    """Print what ``--explain`` adds: the chain of hops, and the stages, sections and sentences with their scores.

    At most ``limit`` sections and sentences are printed.
    """
    from wikigr.index.snippets import QueryTerms, make_snippet

    if answer.chain:
        environment.print()
        environment.print("Chain", style="bold")
    for hop in answer.chain:
        environment.print(f"  {hop.question} → {' '.join(hop.answer.split())} [{hop.n}]  {hop.probability:.2f}", hang=4)
    explain = explain_document(answer, pack, limit)
    environment.print()
    environment.print("Stages", style="bold")
    for line in stage_lines(stages_document(answer.trace)):
        environment.print(line, hang=31)
    environment.print("Sections", style="bold")
    for result in explain["candidates"]:
        if result["reason"] is not None:
            continue
        parts = ", ".join(
            f"{name} {value:.3f}"
            + (f" (rank {result['scores'][f'{name}_rank']:.0f})" if f"{name}_rank" in result["scores"] else "")
            for name, value in result["scores"].items()
            if not name.endswith("_rank")
        )
        environment.print(f" {result['rank']:>3}. {result['score']:.3f}  {_place_of(result)}  {parts}", hang=13)
    dropped = [result for result in explain["candidates"] if result["reason"] is not None]
    if dropped:
        environment.print("Dropped", style="bold")
    for result in dropped:
        line = f" {result['rank']:>3}. {result['score']:.3f}  {_place_of(result)}  {result['reason']}"
        environment.print(line, hang=13)
    more = explain["candidates_in_all"] - len(explain["candidates"])
    if more:
        environment.print(f"      … and {more:,} more; --explain-limit shows others", style="dim")
    environment.print("Sentences", style="bold")
    for sentence in explain["sentences"]:
        mark = "*" if sentence["cited"] else " "
        parts = ", ".join(f"{part} {value:.2f}" for part, value in sentence["parts"].items())
        if sentence["margin"] is not None:
            parts = f"margin {sentence['margin']:.2f}, {parts}"
        place = f"{_place_of(sentence)} [{sentence['start']}:{sentence['end']}]"
        environment.print(f" {mark} {sentence['score']:.3f}  {place}  {parts}", hang=10)
        # Without words to look for, a snippet is the beginning of the text.
        beginning = make_snippet(sentence["text"], QueryTerms(), _SENTENCE_LENGTH).text
        environment.print(f"          {beginning}", style="dim")


def _place_of(fields: Document) -> str:
    """Return the id of a section of a document, preceded by the name of its pack if it has one."""
    return f"{fields['pack']}: {fields['section_id']}" if "pack" in fields else str(fields["section_id"])

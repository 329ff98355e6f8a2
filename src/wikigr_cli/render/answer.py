"""What ``wikigr ask`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.documents.answer import explain_document, stages_document
from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.errors import UsageError, WikigrError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.blocks import print_blocks, shorten_blocks
from wikigr_cli.render.formats import address_to_link
from wikigr_cli.render.output import Document, counted, print_address, stage_lines

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import PossibleAnswerShape, StatedAnswer
    from wikigr.pack.open import Corpus

# The maximum length of a printed sentence, in characters.
_SENTENCE_LENGTH = 100
# The maximum length of a passage, in characters, lines and rows: of another possible answer, and of one of equal ones.
_COMPACT = (300, 5, 3)
_WHOLE = (1200, 16, 5)
# Columns before what stands under a source.
_INDENT = 6


def failure_document(id_: str | int, question: str, error: WikigrError) -> dict[str, Any]:
    """Return the line that ``wikigr ask`` and ``search`` print for a question of a batch that failed."""
    return {"id": id_, "schema_version": SCHEMA_VERSION, "question": question, "error": error.message}


def print_answer(environment: Environment, answer: Answer, stated: StatedAnswer, *, streamed: bool = False) -> None:
    """Print an answer as its level says; if a model's was ``streamed``, only what follows its text.

    ``stated`` is its document.
    """
    from wikigr.answer.presentation import is_doubtful, level_in_words, usage_in_words

    if answer.understood and not streamed:
        environment.print(f"Understood as: {harmless(answer.understood)}", style="dim")
        environment.print()
    if is_doubtful(answer):
        _print_doubtful(environment, stated)
    else:
        _print_stated(environment, answer, stated, streamed=streamed)
    environment.print(level_in_words(answer.level, answer.confidence), style="dim")
    if answer.unverified:
        environment.print(f"{len(answer.unverified)} of the claims could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(f"{answer.model}: {usage_in_words(answer.usage)}", style="dim")


def _print_stated(environment: Environment, answer: Answer, stated: StatedAnswer, *, streamed: bool) -> None:
    """Print an answer in its surroundings, its sources, and the other possible answers if it has any."""
    from wikigr.answer.presentation import NEAREST, OTHERS

    # The text is already on the screen if a model streamed it; answers from its own knowledge are never streamed.
    if streamed and bool(answer.model) and answer.query_type != "own_knowledge":
        environment.print()
    else:
        if stated["span"] is not None:
            environment.print(" ".join(stated["span"]["text"].split()), style="bold")
            environment.print()
        print_blocks(environment, stated["blocks"], "[{}]".format)
    if answer.abstained:
        if stated["alternatives"]:
            environment.print()
            environment.print(NEAREST, style="bold")
            _print_passages(environment, stated["alternatives"])
        return
    environment.print()
    environment.print("Sources", style="bold")
    _print_sources(environment, stated, 0)
    if stated["alternatives"]:
        environment.print()
        environment.print(OTHERS, style="bold")
    before = len(stated["citations"])
    for other in stated["alternatives"]:
        _print_sources(environment, other, before)
        if other["span"] is not None:
            environment.print(f"{' ' * _INDENT}{' '.join(other['span']['text'].split())}", style="bold")
        _print_passage(environment, other, before, _COMPACT)
        before += len(other["citations"])


def _print_doubtful(environment: Environment, stated: StatedAnswer) -> None:
    """Print the passages that may answer, each under its place."""
    from wikigr.answer.presentation import PERHAPS

    environment.print(PERHAPS)
    _print_passages(environment, (stated, *stated["alternatives"]))


def _print_passages(environment: Environment, passages: Sequence[PossibleAnswerShape]) -> None:
    """Print each of ``passages`` under its place."""
    before = 0
    for possible in passages:
        environment.print()
        _print_sources(environment, possible, before)
        _print_passage(environment, possible, before, _WHOLE)
        before += len(possible["citations"])
    environment.print()


def _print_sources(environment: Environment, possible: PossibleAnswerShape, before: int) -> None:
    """Print the numbers and the places of the citations of a possible answer, after ``before`` others."""
    from wikigr.index.candidate import place

    for citation in possible["citations"]:
        environment.print(f"  [{before + citation['n']}] ", end="")
        environment.print(place(citation["title"], citation["section"]), end="", link=citation["url"])
        stored = f"{_place_of(citation)} [{citation['start']}:{citation['end']}]"
        environment.print(f"  {stored}", style="dim", hang=_INDENT)
        print_address(environment, citation["url"], indent=_INDENT)


def _print_passage(
    environment: Environment, possible: PossibleAnswerShape, before: int, size: tuple[int, int, int]
) -> None:
    """Print the beginning of a possible answer; its only citation, right above it, needs no number."""
    has_several = len(possible["citations"]) > 1
    max_chars, max_lines, max_rows = size
    blocks = shorten_blocks(possible["blocks"], max_chars, max_lines)
    number = "[{}]".format if has_several else lambda n: ""
    print_blocks(environment, blocks, lambda n: number(before + n), indent=_INDENT, max_rows=max_rows)


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

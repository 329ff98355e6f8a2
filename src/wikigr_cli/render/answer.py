"""What ``wikigr ask`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.documents.answer import explain_document, heading_above, stages_document
from wikigr.documents.pack import packs_in_words
from wikigr.errors import UsageError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.blocks import print_blocks, shorten_blocks
from wikigr_cli.render.output import Document, address_to_link, age_text, counted, one_line, print_address, stage_lines

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import PossibleAnswerShape, StatedAnswer
    from wikigr.pack.open import Corpus

# The maximum length of a printed sentence, in characters.
_SENTENCE_LENGTH = 100
# The maximum length of a passage, in characters, lines and rows: of another possible answer, and of one of equal ones.
_COMPACT = (300, 5, 3)
_WHOLE = (1200, 16, 5)
# The length of the bar that shows the confidence, and its style by level.
_BAR = 10
_LEVEL_STYLES = {"sure": "green", "likely": "green", "not_sure": "yellow", "not_covered": "dim"}
# Columns before what stands under a source.
_INDENT = 6


def print_answer(
    environment: Environment, stated: StatedAnswer, *, streamed: bool = False, names_packs: bool = False
) -> None:
    """Print an answer as its level says, and how sure it is; if it was ``streamed``, only what follows its text.

    ``stated`` is its document. ``names_packs`` also says which packs were asked. In a terminal, the answer without the
    model stands above a streamed text.
    """
    from wikigr.answer.presentation import level_in_words

    is_rejected = stated["rejected"] is not None
    if (understood := stated.get("understood")) and not streamed:
        environment.print(f"Understood as: {harmless(understood)}", style="dim")
        environment.print()
    if streamed and is_rejected:
        environment.print()
    if streamed and is_rejected and environment.stdout.isatty():
        environment.print()
        environment.print("The answer above stands.", style="bold")
    elif above := heading_above(stated):
        environment.print(above)
        _print_passages(environment, (stated, *stated["alternatives"]))
    else:
        _print_stated(environment, stated, streamed=streamed)
    if is_rejected:
        _print_rejected(environment, stated, streamed=streamed)
    if environment.has_color(environment.stdout):
        filled = round(_BAR * stated["confidence"])
        environment.print("━" * filled, style=_LEVEL_STYLES[stated["level"]], end="")
        environment.print(f"{'─' * (_BAR - filled)} ", style="dim", end="")
    packs = f", {packs_in_words(stated)}" if names_packs else ""
    level = level_in_words(stated["level"], stated["confidence"], stated["agrees"])
    environment.print(f"{level}{packs}", style="dim")


def show_answer(
    environment: Environment,
    answer: Answer,
    stated: StatedAnswer,
    pack: Corpus,
    *,
    live: bool,
    explain_limit: int,
    names_packs: bool = False,
) -> None:
    """Print an answer with what a model left unverified and cost, and the explanation unless ``explain_limit`` is 0.

    ``live`` if a model's text is on the screen already.
    """
    from wikigr.answer.answer import OWN_KNOWLEDGE
    from wikigr.answer.presentation import usage_in_words

    # Answers from a model's own knowledge are never streamed.
    streamed = live and bool(answer.model) and answer.query_type != OWN_KNOWLEDGE
    print_answer(environment, stated, streamed=streamed, names_packs=names_packs)
    if answer.unverified:
        counted_claims = counted(answer.claims, "claims")
        environment.print(f"{len(answer.unverified)} of {counted_claims} could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(f"{answer.model}: {usage_in_words(answer.usage)}", style="dim")
    if explain_limit:
        print_explanation(environment, answer, pack, explain_limit)


def _print_stated(environment: Environment, stated: StatedAnswer, *, streamed: bool) -> None:
    """Print an answer in its surroundings, its sources, and the other possible answers if it has any."""
    from wikigr.answer.presentation import NEAREST, OTHERS

    # The text is already on the screen if a model streamed it.
    if streamed and not stated["kind"]:
        environment.print()
    else:
        # What a model writes says it by itself.
        if stated["span"] is not None and stated["kind"]:
            environment.print(" ".join(stated["span"]["text"].split()), style="bold")
            environment.print()
        print_blocks(environment, stated["blocks"], "[{}]".format)
    if not stated["citations"]:
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
        _print_sources(environment, other, before, note=f"  ({other['confidence']:.2f})")
        if other["span"] is not None:
            environment.print(f"{' ' * _INDENT}{' '.join(other['span']['text'].split())}", style="bold")
        _print_passage(environment, other, before, _COMPACT)
        before += len(other["citations"])


def _print_rejected(environment: Environment, stated: StatedAnswer, *, streamed: bool) -> None:
    """Print what a model wrote where that is not the answer; only its sources if it was ``streamed``."""
    from wikigr.answer.presentation import rejected_in_words

    rejected = stated["rejected"]
    assert rejected is not None
    before = sum(len(shown["citations"]) for shown in (stated, *stated["alternatives"]))
    environment.print()
    environment.print(rejected_in_words(stated["model"], is_cited=bool(rejected["citations"])), style="bold")
    if not streamed:
        print_blocks(environment, rejected["blocks"], lambda n: f"[{before + n}]")
    _print_sources(environment, rejected, 0 if streamed else before)


def _print_passages(environment: Environment, passages: Sequence[PossibleAnswerShape]) -> None:
    """Print each of ``passages`` under its place."""
    before = 0
    for possible in passages:
        environment.print()
        _print_sources(environment, possible, before)
        _print_passage(environment, possible, before, _WHOLE)
        before += len(possible["citations"])
    environment.print()


def _print_sources(environment: Environment, possible: PossibleAnswerShape, before: int, note: str = "") -> None:
    """Print the numbers and the places of the citations of a possible answer, after ``before`` others.

    ``note`` follows the first one.
    """
    from wikigr.index.candidate import place

    for citation in possible["citations"]:
        environment.print(f"  [{before + citation['n']}] ", end="")
        environment.print(place(citation["title"], citation["section"]), end="", link=citation["url"])
        stored = f"{_place_of(citation)} [{citation['start']}:{citation['end']}]"
        environment.print(f"  {stored}{note}", style="dim", hang=_INDENT)
        note = ""
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


# Longer names and reasons are cut in text output.
_MAX_NAME_LENGTH = 200
_MAX_REASON_LENGTH = 800
# Continuation lines start in the last column of the table.
_HANG = 41


def print_why(environment: Environment, document: Document) -> None:
    """Print the outcome for an article, then its rank at every stage."""
    environment.print(one_line(document["section_id"] or document["title"], _MAX_NAME_LENGTH), style="bold", end="")
    environment.print(f": {one_line(document['reason'], _MAX_REASON_LENGTH)}")
    if document["setting"]:
        profile = one_line(document["profile"], _MAX_NAME_LENGTH)
        environment.print(f"`{document['setting']}` in the profile {profile} decides that.", style="dim")
    environment.print()
    environment.print(f"{'stage':<16}{'section':>8}{'of':>6}{'article':>9}", style="bold")
    for stage in document["stages"]:
        if stage["rank"] is None:
            reason = one_line(stage["reason"], _MAX_REASON_LENGTH)
            environment.print(f"{stage['stage']:<16}{'-':>8}{stage['of']:>6}{'-':>9}  {reason}", hang=_HANG)
        else:
            score = "" if stage["score"] is None else f"  {stage['score']:.3f}"
            place = f"{stage['rank']:>8}{stage['of']:>6}{stage['article_rank']:>9}"
            section_id = one_line(stage["section_id"], _MAX_NAME_LENGTH)
            environment.print(f"{stage['stage']:<16}{place}  {section_id}", end="")
            environment.print(score, style="dim", hang=_HANG)


def print_log(environment: Environment, document: Document) -> None:
    """Print the latest answers, one per line: their number, age, question and short answer or level."""
    from wikigr.answer.presentation import LEVEL_WORDS

    now = datetime.now(UTC)
    for number, answer in enumerate(document["answers"], start=1):
        environment.print(f"{number:>3}. ", style="bold", end="")
        environment.print(f"{age_text(answer['time'], now):<12}  ", style="dim", end="")
        environment.print(f"{one_line(answer['question'], _SENTENCE_LENGTH)}  ", end="")
        is_stated = answer["citations"] and not heading_above(answer)
        said = (answer["span"] or {"text": answer["answer"]})["text"] if is_stated else LEVEL_WORDS[answer["level"]]
        environment.print(f"→ {one_line(said, _SENTENCE_LENGTH)}", style="dim", overflow="cut")
    if not document["answers"]:
        environment.note("No answers are kept yet.")

"""What ``wikigr ask`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wikigr.documents.answer import explain_document
from wikigr.documents.pack import SCHEMA_VERSION
from wikigr_cli.environment import Environment
from wikigr_cli.render.formats import markdown, markdown_link
from wikigr_cli.render.output import Document, print_address, stage_lines

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer, AnswerHop, AnswerSpan
    from wikigr.documents.shapes import ExplainShape
    from wikigr.errors import WikigrError
    from wikigr.pack.open import Pack

# ``--explain`` prints this many dropped candidates and sentences; the JSON has all.
_MAX_DROPPED = 20
_MAX_SENTENCES = 12
# The maximum length of a printed sentence, in characters.
_SENTENCE_LENGTH = 100


def failure_document(id_: str | int, question: str, error: WikigrError) -> dict[str, Any]:
    """Return the line that ``wikigr ask`` and ``search`` print for a question of a batch that failed."""
    return {"id": id_, "schema_version": SCHEMA_VERSION, "question": question, "error": error.message}


def print_answer(
    environment: Environment, answer: Answer, pack: Pack, *, explain: bool, streamed: bool = False
) -> None:
    """Print an answer from ``pack`` with its sources; if a model's was ``streamed``, only what follows its text."""
    from wikigr.index.candidate import place

    # The text is already on the screen if a model streamed it; answers from its own knowledge are never streamed.
    is_printed = streamed and bool(answer.model) and answer.query_type != "own_knowledge"
    if is_printed:
        environment.print()
    elif answer.span is not None:
        _print_short_answer(environment, answer, answer.span)
    else:
        environment.print(answer.text)
    if answer.abstained:
        titles = list(dict.fromkeys(item.section.title for item in answer.evidence))[:3]
        if titles:
            environment.print(f"Nearest articles: {', '.join(titles)}", style="dim")
    else:
        environment.print()
        environment.print("Sources", style="bold")
        for citation in answer.citations:
            section = place(citation.title, citation.heading)
            stored = _stored_at(pack, citation.section_id)
            environment.print(f"  [{citation.n}] ", end="")
            environment.print(section, end="", link=citation.url)
            environment.print(f"  {stored} [{citation.start}:{citation.end}]", style="dim", hang=6)
            print_address(environment, citation.url, indent=6)
    environment.print(f"Confidence {answer.confidence:.2f}", style="dim")
    if answer.unverified:
        environment.print(f"{len(answer.unverified)} of the claims could not be verified.", style="yellow")
    if answer.usage.calls:
        environment.print(_usage(answer), style="dim")
    if explain:
        print_explanation(environment, answer, pack)


def print_answer_markdown(environment: Environment, document: Document) -> None:
    """Print the document of an answer as Markdown: the short answer, the text, and the numbered sources with quotes."""
    from wikigr.index.candidate import place

    parts = []
    if document["span"] is not None:
        parts.append(f"**{markdown(document['span']['text'])}**")
    parts += [markdown(part, keep="[]") for part in document["answer"].split("\n\n") if part.strip()]
    sources = []
    for citation in document["citations"]:
        link = markdown_link(place(citation["title"], citation["section"]), citation.get("url"))
        pack = f", {markdown(citation['pack'])}" if "pack" in citation else ""
        sources.append(f"{citation['n']}. {link}{pack}: “{markdown(citation['quote'])}”")
    if sources:
        parts.append("\n".join(sources))
    environment.write_text("\n\n".join(parts) + "\n")


def _stored_at(pack: Pack, section_id: str) -> str:
    """Return the id of a section, preceded by the name of its pack if there are several."""
    member, own_id = pack.origin(section_id)
    return f"{member.label}: {own_id}" if len(pack.members) > 1 else own_id


def print_explanation(environment: Environment, answer: Answer, pack: Pack) -> None:
    """Print what ``--explain`` adds: the chain of hops, and the stages, sections and sentences with their scores."""
    if answer.chain:
        _print_chain(environment, answer.chain)
    _print_explanation(environment, explain_document(answer, pack))


def _print_short_answer(environment: Environment, answer: Answer, span: AnswerSpan) -> None:
    """Print the short answer, and under it the text, in which it is highlighted."""
    short = " ".join(span.text.split())
    environment.print(short, style="bold")
    environment.print()
    # The first quotation contains the short answer; what precedes it there tells its place in the text.
    first = answer.citations[0]
    words_before = " ".join(first.quote[: span.start - first.start].split())
    begin = answer.text.find(short, answer.text.find(words_before) + len(words_before))
    if begin < 0:
        # The lines of code stay as they are.
        environment.print(answer.text)
        return
    environment.print(answer.text[:begin], end="")
    environment.print(short, style="bold", end="")
    environment.print(answer.text[begin + len(short) :])


def _print_chain(environment: Environment, chain: Sequence[AnswerHop]) -> None:
    environment.print()
    environment.print("Chain", style="bold")
    for hop in chain:
        environment.print(f"  {hop.question} → {' '.join(hop.answer.split())} [{hop.n}]  {hop.probability:.2f}", hang=4)


def _usage(answer: Answer) -> str:
    usage = answer.usage
    tokens_in = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{answer.model}: {tokens_in:,} tokens in, {usage.output_tokens:,} out, {price}"


def _print_explanation(environment: Environment, explain: ExplainShape) -> None:
    from wikigr.index.snippets import make_snippet

    environment.print()
    environment.print("Stages", style="bold")
    for line in stage_lines(explain["stages"]):
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
    for result in dropped[:_MAX_DROPPED]:
        line = f" {result['rank']:>3}. {result['score']:.3f}  {_place_of(result)}  {result['reason']}"
        environment.print(line, hang=13)
    if len(dropped) > _MAX_DROPPED:
        environment.print(f"      … and {len(dropped) - _MAX_DROPPED:,} more (--json has all)", style="dim")
    environment.print("Sentences", style="bold")
    for sentence in explain["sentences"][:_MAX_SENTENCES]:
        mark = "*" if sentence["cited"] else " "
        parts = ", ".join(f"{part} {value:.2f}" for part, value in sentence["parts"].items())
        if sentence["margin"] is not None:
            parts = f"margin {sentence['margin']:.2f}, {parts}"
        place = f"{_place_of(sentence)} [{sentence['start']}:{sentence['end']}]"
        environment.print(f" {mark} {sentence['score']:.3f}  {place}  {parts}", hang=10)
        # Without words to look for, a snippet is the beginning of the text.
        beginning = make_snippet(sentence["text"], {}, _SENTENCE_LENGTH).text
        environment.print(f"          {beginning}", style="dim")


def _place_of(fields: Document) -> str:
    """Return the id of a section of a document, preceded by the name of its pack if it has one."""
    return f"{fields['pack']}: {fields['section_id']}" if "pack" in fields else str(fields["section_id"])

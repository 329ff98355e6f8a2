"""``wikigr ask``: answer questions with citations, or say that the pack does not cover them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wikigr.documents.answer import answer_document, stated_answer
from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.ask_session import AskOptions, AskSession
from wikigr_cli.batch import BatchQuestion, ask_each, open_batch
from wikigr_cli.command import command
from wikigr_cli.environment import Environment, typed_in
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.options import Check, Model, Output, Retrieval, Run
from wikigr_cli.render.answer import save_answers, show_answer
from wikigr_cli.render.output import (
    AnswerFormat,
    OutputFormat,
    address_to_link,
    chosen_format,
    print_json,
    print_json_line,
    print_trace,
)

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import AnswerDocument, ReceiptDocument
    from wikigr.embeddings.loader import Purpose

# Options that need a question on the command line.
_NOT_AT_A_PROMPT = ("strict", "show_prompt", "receipt", "output", "json", "format")
# Options of --web, whose page has its own ways to explain and to save.
_OF_THE_PAGE = ("web", "pack", "profile", "offline")
_EXAMPLE = 'Example: wikigr ask "Who proposed matter waves?" --pack packs/physics'


@command(
    model=Model(metavar="ID", help="The model that writes the answer: an id or a .gguf file. Default: the profile's."),
    threads=Model(metavar="N", min=1, max=1024, help="The number of threads of a model file."),
    context_size=Model("--context", metavar="TOKENS", min=256, max=1_048_576, help="The context size of a model file."),
    max_sentences=Output(metavar="N", min=1, max=10, help="Quote at most N sentences. Default: the profile's."),
    today=Retrieval(metavar="DATE", help='The day that "yesterday" precedes. Default: today.'),
    stream=Model("--stream/--no-stream", help="Print an answer as a model writes it. Default: in a terminal."),
    max_cost=Model(metavar="USD", help="Stop before the run costs more than this, in US dollars."),
    show_prompt=Model(help="Print the request to the model as JSON and send nothing."),
    web=Output(help="Open the answer in the web page, until Ctrl-C."),
    log=Run("--log/--no-log", help="Keep the answer for `wikigr log`."),
    strict=Check(help="Exit with 1 if the pack does not cover the question."),
    explain=Output(help="Show all candidates, with scores and reasons."),
    explain_limit=Output(metavar="N", min=1, help="How many sections and sentences --explain shows."),
    receipt=Output(metavar="FILE", help="Write the evidence of the answer, for `wikigr replay`."),
    output=Output("-o", "--output", metavar="FILE", help="Also write the answer to FILE as Markdown."),
    output_format=Output("--format", help="The output format. Default: text."),
)
def ask(
    context: typer.Context,
    environment: Environment,
    question: str | None = None,
    pack: list[str] | None = None,
    profile: str = options.DEFAULT_PROFILE,
    *,
    chosen: AskOptions,
    receipt: Path | None = None,
    output: Path | None = None,
    batch: str | None = None,
    web: bool = False,
    output_format: AnswerFormat | None = None,
    json_output: bool = False,
    embedding_model: str | None = None,
) -> None:
    """Answer a question, with citations that were checked.

    Without --pack, the default pack is asked or, if there is none, all installed packs.

    Without an API key, or with --offline, the answer quotes the pack and nothing leaves this machine. If
    ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or WIKIGR_OPENAI_BASE_URL is set, the question, the sections found for it and
    worked examples from the pack are sent to that server, and its model writes the answer. With --model FILE.gguf, a
    model on this machine writes it.

    In a terminal and without a question, a prompt opens that answers one question after another. `wikigr` followed by
    a question is short for this command.

    Examples:
      wikigr ask "Who proposed matter waves?" --pack packs/physics
      echo "What is spin?" | wikigr ask - --pack packs/physics --json
    """
    is_typed = typed_in(context)
    if web:
        _refuse(context, lambda option: option not in _OF_THE_PAGE, "does not go with --web")
        from wikigr_cli.commands.serve import run_server

        run_server(environment, options.require_packs(pack), profile, offline=chosen.offline, question=question or "")
        return
    if question is None and batch is None and environment.is_interactive():
        _refuse(context, lambda option: option in _NOT_AT_A_PROMPT, "needs a question on the command line, or --batch")
        # Imported only here, because the library for line editing takes a tenth of a second.
        from wikigr_cli.prompt.loop import run_prompt

        run_prompt(environment, options.require_packs(pack), profile, chosen, encoder=embedding_model)
        return
    if (question is None) == (batch is None):
        raise UsageError("Give either a question or --batch.", hint=_EXAMPLE)
    if batch is not None and chosen.show_prompt:
        raise UsageError("--show-prompt takes one question, not --batch.")
    printed_as = chosen_format(output_format, json_output=json_output, typed=is_typed)
    if batch is not None and printed_as == "md":
        raise UsageError(f"--batch prints JSON Lines, not {printed_as}.", hint="Leave out --format.")
    packs = options.require_packs(pack)
    for option, target in (("--receipt", receipt), ("--output", output)):
        if target is not None:
            _check_target(option, target, batch, show_prompt=chosen.show_prompt)
    if batch is not None and batch != "-" and not Path(batch).is_fifo():
        # An unreadable file is reported before the pack is opened.
        open_batch(batch).close()
    purpose: Purpose = "query" if batch is None else "queries"
    opened = AskSession(
        environment, packs, profile, chosen, purpose, encoder=embedding_model, shows_stages=batch is None
    )
    with closing(opened) as session:
        if receipt is not None and len(session.pack.members) > 1:
            raise UsageError(
                f"--receipt records the evidence of one pack, not of {len(session.pack.members)}.",
                hint="Give one --pack, or leave out --receipt.",
            )
        explained = chosen.explained
        if batch is not None:
            abstained = _ask_batch(environment, session, batch, explained, receipt, output)
        elif chosen.show_prompt:
            from wikigr.retrieval.trace import Trace

            trace = Trace()
            request = session.pipeline.request(str(question), trace).to_dict()
            environment.write_json(json.dumps(request, ensure_ascii=False, indent=2) + "\n")
            print_trace(environment, trace)
            return
        else:
            names_packs, asked = not is_typed("pack"), str(question)
            abstained = _ask_one(environment, session, asked, printed_as, explained, receipt, output, names_packs)
    if receipt is not None and receipt.exists():
        environment.note(f"To check the receipt: {shlex.join(('wikigr', 'replay', str(receipt), '--pack', packs[0]))}")
    if chosen.strict and abstained:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _refuse(context: typer.Context, is_refused: Callable[[str], bool], reason: str) -> None:
    """Raise ``UsageError`` for an option on the command line that ``is_refused`` for a reason."""
    is_typed = typed_in(context)
    for parameter in context.command.params:
        name = str(parameter.name)
        if parameter.param_type_name == "option" and is_typed(name) and is_refused(name):
            raise UsageError(f"{parameter.opts[0]} {reason}.", hint=_EXAMPLE)


def _check_target(option: str, path: Path, batch: str | None, *, show_prompt: bool) -> None:
    """Raise ``UsageError`` if ``option`` cannot write to ``path``."""
    from wikigr.documents.receipt import check_target

    if show_prompt:
        raise UsageError(f"{option} needs an answer, and --show-prompt does not give one.")
    if batch is not None and batch != "-" and path.exists() and Path(batch).exists() and path.samefile(batch):
        raise UsageError(f"{option} would replace the questions in {path}.", hint=f"Choose another file for {option}.")
    check_target(path)


def _is_abstention(answer: Answer) -> bool:
    """Return whether ``answer`` counts as none for ``--strict``: also without a verified citation."""
    return answer.abstained or not answer.citations


def _ask_one(
    environment: Environment,
    session: AskSession,
    question: str,
    printed_as: OutputFormat,
    explain_limit: int,
    receipt: Path | None,
    output: Path | None,
    names_packs: bool,
) -> bool:
    """Print the answer, and write it to ``receipt`` and ``output``; return whether the question was not covered."""
    live = session.streams and printed_as == "text"
    answer = session.answer(question, live=live)
    stated = stated_answer(answer, session.pack)
    try:
        print_trace(environment, answer.trace)
        if printed_as == "json":
            print_json(environment, answer_document(answer, session.pipeline, explain=explain_limit, stated=stated))
        elif printed_as == "md":
            from wikigr.documents.answer_markdown import answer_markdown

            environment.write_text(answer_markdown(stated, address_to_link))
        else:
            more: dict[str, Any] = {"live": live, "explain_limit": explain_limit, "names_packs": names_packs}
            show_answer(environment, answer, stated, session.pack, **more)
    finally:
        session.keep(stated)
        if receipt is not None:
            from wikigr.documents.receipt import make_receipt, write_receipts

            write_receipts(receipt, [make_receipt(answer, session.pipeline, base=session.named)], batch=False)
        if output is not None:
            save_answers(environment, output, [stated])
    return _is_abstention(answer)


def _ask_batch(
    environment: Environment,
    session: AskSession,
    location: str,
    explain_limit: int,
    receipt: Path | None,
    output: Path | None,
) -> bool:
    """Answer a batch, as ``_ask_one`` does each question; return whether a question was not covered."""
    from wikigr.documents.receipt import make_receipt, write_receipts

    receipts: list[ReceiptDocument] = []
    answers: list[AnswerDocument] = []
    abstentions = 0

    def show(item: BatchQuestion, answer: Answer) -> None:
        nonlocal abstentions
        print_trace(environment, answer.trace)
        abstentions += _is_abstention(answer)
        document = answer_document(answer, session.pipeline, explain=explain_limit)
        if output is not None:
            answers.append(document)
        if receipt is not None:
            receipts.append(make_receipt(answer, session.pipeline, base=session.named, id_=item.id))
        print_json_line(environment, {"id": item.id, **document})

    try:
        ask_each(environment, location, session.pipeline.answer, show)
    finally:
        # Also of a batch that was interrupted.
        if receipt is not None and receipts:
            write_receipts(receipt, receipts, batch=True)
        if answers and output is not None:
            save_answers(environment, output, answers)
    return abstentions > 0

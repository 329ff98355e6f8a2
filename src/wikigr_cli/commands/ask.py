"""``wikigr ask``: answer questions with citations, or say that the pack does not cover them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.documents.answer import EXPLAIN_LIMIT, answer_document, stated_answer
from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.ask_session import AskOptions, AskSession
from wikigr_cli.batch import BatchQuestion, open_batch
from wikigr_cli.environment import Environment, typed_in
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.answer import print_answer, save_answers
from wikigr_cli.render.formats import AnswerFormat, address_to_link, chosen_format
from wikigr_cli.render.output import print_json, print_json_line, print_trace

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import AnswerDocument, ReceiptDocument
    from wikigr.embeddings.loader import Purpose

# Parameters that need a question on the command line.
_NOT_AT_A_PROMPT = ("strict", "show_prompt", "receipt", "output", "json_output", "output_format")


def ask(
    context: typer.Context,
    question: options.Question = None,
    pack: options.PackNames = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    model: Annotated[
        str | None,
        options.Model(
            metavar="ID",
            help="The model that writes the answer: an id, or a model file (.gguf). Default: the one in the profile.",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        options.Model("--threads", metavar="N", min=1, max=1024, help="The number of threads of a model file."),
    ] = None,
    model_context: Annotated[
        int | None,
        options.Model(
            "--context",
            metavar="TOKENS",
            min=256,
            max=1_048_576,
            help="The room of a model file for the prompt and the answer.",
        ),
    ] = None,
    offline: options.Offline = False,
    max_sentences: Annotated[
        int | None,
        options.Output(
            metavar="N",
            min=1,
            max=10,
            help="Quote at most N sentences if no model writes the answer. Default: the profile's.",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        options.Retrieval(
            metavar="N",
            min=1,
            max=10,
            help="The maximum number of planning rounds; only for a profile with multi_strategy.",
        ),
    ] = None,
    exact: options.Exact = False,
    stream: Annotated[
        bool | None,
        options.Model(
            "--stream/--no-stream", help="Print a model's answer while it is written. Default: in a terminal."
        ),
    ] = None,
    max_cost: Annotated[
        float | None, options.Model(metavar="USD", help="Stop before the run costs more than this, in US dollars.")
    ] = None,
    show_prompt: Annotated[
        bool, options.Model("--show-prompt", help="Print the request to the model as JSON and send nothing.")
    ] = False,
    strict: Annotated[
        bool, options.Check("--strict", help="Exit with 1 if the pack does not cover the question.")
    ] = False,
    explain: Annotated[
        bool, options.Output("--explain", help="Show the scores of every candidate and why it was dropped.")
    ] = False,
    explain_limit: Annotated[
        int,
        options.Output("--explain-limit", metavar="N", min=1, help="How many sections and sentences --explain shows."),
    ] = EXPLAIN_LIMIT,
    receipt: Annotated[
        Path | None,
        options.Output(metavar="FILE", help="Write the evidence of the answer to FILE, for `wikigr replay`."),
    ] = None,
    output: Annotated[
        Path | None,
        options.Output(
            "-o", "--output", metavar="FILE", help="Also write the answer and its citations to FILE as Markdown."
        ),
    ] = None,
    batch: options.Batch = None,
    output_format: Annotated[
        AnswerFormat | None, options.Output("--format", help="The output format. Default: text.")
    ] = None,
    json_output: options.Json = False,
    embedding_model: options.EncoderModel = None,
) -> None:
    """Answer a question, with citations that were checked.

    The answer comes from one pack or several.

    Without an API key, or with --offline, the answer quotes the pack and nothing leaves this machine. If
    ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or WIKIGR_OPENAI_BASE_URL is set, the question, the sections found for it and
    worked examples from the pack are sent to that server, and its model writes the answer. With --model FILE.gguf, a
    model on this machine writes it.

    In a terminal and without a question, a prompt opens that answers one question after another.

    \b
    Examples:
      wikigr ask "Who proposed matter waves?" --pack packs/physics
      echo "What is spin?" | wikigr ask - --pack packs/physics --json
    """
    environment = context.ensure_object(Environment)
    asked = AskOptions(
        model=model,
        threads=threads,
        context=model_context,
        max_cost=max_cost,
        iterations=iterations,
        max_sentences=max_sentences,
        exact=exact,
        offline=offline,
        show_prompt=show_prompt,
        explain_limit=explain_limit if explain else 0,
        stream=stream,
        encoder=embedding_model,
    )
    if question is None and batch is None and environment.is_interactive():
        _refuse_without_question(context)
        # Imported only here, because the library for line editing takes a tenth of a second.
        from wikigr_cli.prompt.loop import run_prompt

        run_prompt(environment, options.require_packs(pack), profile, asked)
        return
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.",
            hint='Example: wikigr ask "Who proposed matter waves?" --pack packs/physics',
        )
    printed_as = chosen_format(output_format, json_output=json_output, typed=typed_in(context))
    if batch is not None and printed_as == "md":
        raise UsageError(f"--batch prints JSON Lines, not {printed_as}.", hint="Leave out --format.")
    packs = options.require_packs(pack)
    for option, target in (("--receipt", receipt), ("--output", output)):
        if target is not None:
            _check_target(option, target, batch, show_prompt=show_prompt)

    if batch is not None and batch != "-" and not Path(batch).is_fifo():
        # An unreadable file is reported before the pack is opened.
        open_batch(batch).close()
    purpose: Purpose = "query" if batch is None else "queries"
    one = batch is None
    with closing(AskSession(environment, packs, profile, asked, purpose=purpose, shows_stages=one)) as session:
        if receipt is not None and len(session.pack.members) > 1:
            raise UsageError(
                f"--receipt records the evidence of one pack, not of {len(session.pack.members)}.",
                hint="Give one --pack, or leave out --receipt.",
            )
        if show_prompt:
            from wikigr.retrieval.trace import Trace

            if question is None:
                raise UsageError("--show-prompt takes one question, not --batch.")
            trace = Trace()
            request = session.pipeline.request(question, trace).to_dict()
            environment.write_json(json.dumps(request, ensure_ascii=False, indent=2) + "\n")
            print_trace(environment, trace)
            return
        if batch is not None:
            abstained = _ask_batch(environment, session, batch, receipt, output, packs[0], asked.explain_limit)
        else:
            assert question is not None
            live = session.streams and printed_as == "text"
            answer = session.answer(question, live=live)
            # For --strict an answer without a verified citation counts as none.
            abstained = answer.abstained or not answer.citations
            try:
                print_trace(environment, answer.trace)
                if printed_as == "json":
                    document = answer_document(answer, session.pipeline, explain=explain, explain_limit=explain_limit)
                    print_json(environment, document)
                elif printed_as == "md":
                    from wikigr.documents.answer_markdown import answer_markdown

                    environment.write_text(answer_markdown(stated_answer(answer, session.pack), address_to_link))
                else:
                    print_answer(environment, answer, session.pack, explain_limit=asked.explain_limit, streamed=live)
            finally:
                if receipt is not None:
                    from wikigr.documents.receipt import make_receipt

                    made = make_receipt(answer, session.pipeline, base=session.named)
                    _write_receipts(environment, receipt, [made], packs[0], batch=False)
                if output is not None:
                    save_answers(environment, output, [stated_answer(answer, session.pack)])
    if strict and abstained:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _refuse_without_question(context: typer.Context) -> None:
    """Raise ``UsageError`` for an option that needs a question on the command line."""
    is_typed = typed_in(context)
    for parameter in context.command.params:
        if parameter.name in _NOT_AT_A_PROMPT and is_typed(parameter.name):
            raise UsageError(
                f"{parameter.opts[0]} needs a question on the command line, or --batch.",
                hint='Example: wikigr ask "Who proposed matter waves?" --pack packs/physics',
            )


def _check_target(option: str, path: Path, batch: str | None, *, show_prompt: bool) -> None:
    """Raise ``UsageError`` if ``option`` cannot write to ``path``."""
    from wikigr.documents.receipt import check_target

    if show_prompt:
        raise UsageError(f"{option} needs an answer, and --show-prompt does not give one.")
    if batch is not None and batch != "-" and path.exists() and Path(batch).exists() and path.samefile(batch):
        raise UsageError(f"{option} would replace the questions in {path}.", hint=f"Choose another file for {option}.")
    check_target(path)


def _write_receipts(
    environment: Environment, path: Path, receipts: Sequence[ReceiptDocument], pack: str, *, batch: bool
) -> None:
    from wikigr.documents.receipt import write_receipts

    write_receipts(path, receipts, batch=batch)
    environment.note(f"To check the receipt: {shlex.join(('wikigr', 'replay', str(path), '--pack', pack))}")


def _ask_batch(
    environment: Environment,
    session: AskSession,
    location: str,
    receipt: Path | None,
    output: Path | None,
    pack: str,
    explain_limit: int,
) -> bool:
    """Answer a batch and return whether a question was not covered."""
    from wikigr.documents.receipt import make_receipt
    from wikigr_cli.batch import ask_each

    abstained = False
    documents: list[AnswerDocument] = []
    receipts: list[ReceiptDocument] = []

    def show(item: BatchQuestion, answer: Answer) -> None:
        nonlocal abstained
        print_trace(environment, answer.trace)
        abstained = abstained or answer.abstained or not answer.citations
        document = answer_document(answer, session.pipeline, explain=explain_limit > 0, explain_limit=explain_limit)
        if output is not None:
            documents.append(document)
        if receipt is not None:
            receipts.append(make_receipt(answer, session.pipeline, base=session.named, id_=item.id))
        print_json_line(environment, {"id": item.id, **document})

    try:
        ask_each(environment, location, session.pipeline.answer, show)
    finally:
        # Also of a batch that was interrupted.
        if output is not None and documents:
            save_answers(environment, output, documents)
        if receipt is not None and receipts:
            _write_receipts(environment, receipt, receipts, pack, batch=True)
    return abstained

"""``wikigr ask``: an answer with citations, or the statement that the pack has none."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr_cli import options
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render import answer as render_answer
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.embeddings.loader import Purpose
    from wikigr.llm.client import Claude
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.pipeline.profile import Profile

_NO_KEY = (
    "No ANTHROPIC_API_KEY, so the answer quotes the pack; with a key, or ANTHROPIC_BASE_URL for a local server, a "
    "model writes it. --offline says that you want it so."
)


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="The question.", show_default=False)] = None,
    pack: Annotated[str | None, options.pack_option("ask")] = None,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="The model that writes the answer; the profile's when left out.")
    ] = None,
    offline: options.Offline = False,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often a profile with multi_strategy may plan: 1 to 10."),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Print a model's answer as it comes; by default in a terminal."),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(metavar="USD", help="Stop before the run has cost more than this, in US dollars.")
    ] = None,
    show_prompt: Annotated[
        bool, typer.Option("--show-prompt", help="Print what would be sent to the model, as JSON, and send nothing.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when the pack does not cover it.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show where every candidate's score came from and why it was dropped."),
    ] = False,
    receipt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what the answer stands on to FILE; `wikigr replay` checks it later."),
    ] = None,
    batch: options.Batch = None,
    json_output: options.Json = False,
    embedding_model: options.EncoderModel = None,
) -> None:
    """Answer a question from a pack, with numbered citations whose text is checked.

    Without an API key, or with --offline, the answer quotes the pack and nothing leaves this machine. With
    ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL set, the question, the sections found for it and worked examples of the
    pack are sent to that server, and its model writes the answer.
    """
    environment = context.ensure_object(Environment)
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.",
            hint='Example: wikigr ask "Who found the electron?" --pack packs/physics',
        )
    pack = options.named(pack)
    if receipt is not None:
        _check_receipt(receipt, batch, show_prompt=show_prompt)

    from wikigr.pack.open import Pack
    from wikigr.segmentation import load_segmenter

    # While the engine reads the vectors.
    Thread(target=load_segmenter, daemon=True).start()
    purpose: Purpose = "query" if batch is None else "queries"
    with Pack(pack, encoder=embedding_model, purpose=purpose, preload=True) as opened:
        # While the encoder loads.
        from wikigr.pipeline.builder import build_pipeline
        from wikigr.profiles.files import load_profile

        named = load_profile(profile)
        chosen = _with_flags(named, model, max_cost, iterations)
        client = _client(environment, chosen, offline=offline or show_prompt, silent=show_prompt)
        pipeline = build_pipeline(chosen, opened, model=client, offline=offline)
        if show_prompt:
            from wikigr.retrieval.trace import Trace

            if question is None:
                raise UsageError("--show-prompt shows the prompt of one question.")
            trace = Trace()
            render.json_document(environment, pipeline.request(question, trace).to_dict())
            render.trace(environment, trace)
            return
        if batch is not None:
            with _receipts(environment, receipt, pipeline, named, pack, lines=True) as keep:
                abstained, failed = _ask_batch(environment, pipeline, batch, keep, explain=explain)
            if failed:
                raise WikigrError(f"{failed} of the questions could not be answered.")
        else:
            assert question is not None
            live = (
                client is not None and not json_output and (environment.stdout.isatty() if stream is None else stream)
            )
            with _receipts(environment, receipt, pipeline, named, pack, lines=False) as keep:
                answer = _answer_live(environment, pipeline, question) if live else pipeline.answer(question)
                keep(answer, None)
                render.trace(environment, answer.trace)
                # An answer of which nothing could be verified is none to a script.
                abstained = answer.abstained or not answer.citations
                if json_output:
                    render.json_document(environment, render_answer.answer_document(answer, pipeline, explain=explain))
                else:
                    render_answer.print_answer(environment, answer, explain=explain, streamed=live)
    if strict and abstained:
        raise typer.Exit(ExitStatus.FAILED_CHECK)


def _answer_live(environment: Environment, pipeline: Pipeline, question: str) -> Answer:
    """Print the answer as it comes; a message about one that broke off begins a line of its own."""
    shown = False

    def show(piece: str) -> None:
        nonlocal shown
        shown = True
        environment.write_text(piece)

    try:
        return pipeline.answer(question, on_text=show)
    except WikigrError:
        if shown:
            environment.print()
        raise


def _check_receipt(path: Path, batch: str | None, *, show_prompt: bool) -> None:
    from wikigr.receipts.receipt_file import check_target

    if show_prompt:
        raise UsageError("--show-prompt gives no answer that --receipt could be of.")
    if batch is not None and batch != "-" and path.exists() and Path(batch).exists() and path.samefile(batch):
        raise UsageError(f"The receipts would replace the questions in {path}.", hint="Give --receipt another file.")
    check_target(path)


@contextmanager
def _receipts(
    environment: Environment, path: Path | None, pipeline: Pipeline, named: Profile, pack: str, *, lines: bool
) -> Iterator[Callable[[Answer, str | int | None], None]]:
    """Give what keeps the receipt of an answer, and write those that were kept, whatever ends the questions."""
    if path is None:
        yield lambda answer, id_: None
        return
    from wikigr.receipts.receipt import Receipt, make_receipt
    from wikigr.receipts.receipt_file import write_receipts

    kept: list[Receipt] = []
    try:
        yield lambda answer, id_: kept.append(make_receipt(answer, pipeline, base=named, id_=id_))
    finally:
        if kept:
            write_receipts(path, kept, lines=lines)
            command = ("wikigr", "replay", str(path), "--pack", pack)
            environment.note(f"To check the receipt: {plain(shlex.join(command))}")


def _ask_batch(
    environment: Environment,
    pipeline: Pipeline,
    location: str,
    keep: Callable[[Answer, str | int | None], None],
    *,
    explain: bool,
) -> tuple[bool, int]:
    """Answer the questions of a file or standard input; tell whether one was not covered, and how many failed.

    A question whose model fails gives a line with ``error``, and the next one is asked; a budget that is used up
    ends the batch.
    """
    from wikigr.llm.budget import BudgetError
    from wikigr_cli.commands.batch import read_batch

    abstained, failed = False, 0
    for item in read_batch(location, environment.stdin):
        try:
            answer: Answer = pipeline.answer(item.question)
        except (BudgetError, UsageError):
            raise
        except WikigrError as error:
            failed += 1
            environment.complain(f"wikigr: question {item.id}: {plain(error.message)}")
            render.json_line(environment, render_answer.failure_document(item.id, item.question, error))
            continue
        render.trace(environment, answer.trace)
        abstained = abstained or answer.abstained or not answer.citations
        keep(answer, item.id)
        render.json_line(
            environment, {"id": item.id, **render_answer.answer_document(answer, pipeline, explain=explain)}
        )
    return abstained, failed


def _with_flags(profile: Profile, model: str | None, max_cost: float | None, iterations: int | None) -> Profile:
    from wikigr.llm.options import BudgetOptions, SynthesisOptions
    from wikigr.retrieval.explore.stage import MultiStrategyOptions

    if model is not None:
        if not model.strip():
            raise UsageError("--model names no model.")
        profile = profile.override(SynthesisOptions, model=model)
    if max_cost is not None:
        if not 0.0 < max_cost <= 10_000.0:
            raise UsageError(f"--max-cost must be a number of dollars above 0, not {max_cost:g}.")
        profile = profile.override(BudgetOptions, max_cost_usd=max_cost)
    if iterations is not None:
        if not profile[MultiStrategyOptions].enabled:
            raise UsageError(
                f"The profile {profile.name} does not use multi_strategy, so --iterations says nothing.",
                hint="Add --profile multi-strategy.",
            )
        if not 1 <= iterations <= 10:
            raise UsageError(f"--iterations must be 1 to 10, not {iterations}.")
        profile = profile.override(MultiStrategyOptions, iterations=iterations)
    return profile


def _client(environment: Environment, profile: Profile, *, offline: bool, silent: bool) -> Claude | None:
    if offline:
        return None

    from wikigr.llm.options import SynthesisOptions
    from wikigr.pipeline.builder import connect

    client = connect(profile)
    if client is None and profile[SynthesisOptions].provider == "auto" and not silent:
        environment.note(_NO_KEY)
    return client

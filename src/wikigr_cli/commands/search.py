"""``wikigr search``: rank the sections of a pack for a question."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError, WikigrError
from wikigr.responses.answer import search_document
from wikigr_cli import options
from wikigr_cli.environment import Environment, typed_in
from wikigr_cli.render.formats import OutputFormat, chosen_fields, chosen_format
from wikigr_cli.render.output import print_json_line, print_trace
from wikigr_cli.render.search import FIELDS, PACK, print_search, search_fields

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.pipeline.profile import Profile
    from wikigr.responses.shapes import SearchDocument


class Mode(StrEnum):
    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


class Fusion(StrEnum):
    WEIGHTED = "weighted"
    RRF = "rrf"


def search(
    context: typer.Context,
    question: options.Question = None,
    pack: options.PackNames = None,
    top_k: Annotated[
        int, options.Retrieval("--top-k", "-k", min=1, max=1000, help="The maximum number of sections.")
    ] = 10,
    profile: options.ProfileName = options.DEFAULT_PROFILE,
    mode: Annotated[
        Mode | None, options.Retrieval(help="Rank only by vectors, BM25 or both. Default: the stages of the profile.")
    ] = None,
    fusion: Annotated[
        Fusion | None, options.Retrieval(help="How hybrid fuses the two: by weighted scores or reciprocal ranks.")
    ] = None,
    exact: options.Exact = False,
    offline: options.Offline = False,
    batch: options.Batch = None,
    output_format: Annotated[
        OutputFormat | None,
        options.Output("--format", help="The output format; jsonl has a line per result. Default: text."),
    ] = None,
    fields: Annotated[
        str | None,
        options.Output(
            "--fields",
            metavar="A,B,C",
            help=f"Only these keys of the results, in json, jsonl, csv and md: {', '.join(FIELDS)}, "
            "and pack if there are several.",
        ),
    ] = None,
    json_output: options.Json = False,
    embedding_model: options.EncoderModel = None,
) -> None:
    """Find the sections of a pack, or of several, that best match a question.

    Nothing leaves this machine, unless the profile rephrases the question (as `recall` does). In that case the question
    is sent to a model server. If the profile names a cross-encoder other than the reader, it is downloaded once.
    --offline prevents both.

    \b
    Examples:
      wikigr search exclusion principle --pack packs/physics -k 3
      wikigr search "spin" --pack packs/physics --mode lexical --format csv
    """
    environment = context.ensure_object(Environment)
    if (question is None) == (batch is None):
        raise UsageError(
            "Give either a question or --batch.", hint='Example: wikigr search "spin" --pack packs/physics'
        )
    printed_as = chosen_format(output_format, json_output=json_output, typed=typed_in(context))
    columns = chosen_fields(fields, (*FIELDS, PACK))
    if batch is not None and printed_as in (OutputFormat.MD, OutputFormat.CSV):
        raise UsageError(f"--batch prints JSON Lines, not {printed_as}.", hint="Leave out --format.")
    if columns is not None and batch is None and printed_as is OutputFormat.TEXT:
        raise UsageError("--fields needs another format than text.", hint="Example: --format csv")
    packs = options.require_packs(pack)

    from wikigr.profiles.files import load_profile
    from wikigr.retrieval.candidates import RetrievalOptions
    from wikigr_cli.packs import open_all

    chosen = _with_flags(load_profile(profile), mode, fusion, exact=exact)
    purpose: Purpose = "query" if batch is None else "queries"
    retrieval = chosen[RetrievalOptions]
    with open_all(environment, packs, encoder=embedding_model, purpose=purpose, preload=retrieval.uses_dense) as opened:
        from wikigr.pipeline.connect import connect
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.question.question import content_stems
        from wikigr.retrieval.trace import Trace
        from wikigr_cli.batch import ask_each

        model = connect(chosen, offline=offline) if retrieval.multi_query else None
        pipeline = Pipeline(chosen, opened, model=model, offline=offline)

        def run(text: str) -> SearchDocument:
            trace = Trace()
            evidence = pipeline.search(text, top_k=top_k, trace=trace)
            print_trace(environment, trace)
            return search_document(text, evidence, trace, chosen.name, opened)

        if batch is not None:
            failed = 0
            for item, found in ask_each(environment, batch, run):
                if found is None:
                    failed += 1
                else:
                    print_json_line(environment, {"id": item.id, **search_fields(found, columns)})
            if failed:
                raise WikigrError(f"{failed} of the questions could not be answered.")
            return
        assert question is not None
        document = run(question)
        weights = {stem: opened.lexical.rarity(stem) for stem in content_stems(question)}
    print_search(environment, document, printed_as, columns, weights)


def _with_flags(profile: Profile, mode: Mode | None, fusion: Fusion | None, *, exact: bool) -> Profile:
    """Return ``profile`` with the options applied. ``--mode`` turns every other ranking stage off."""
    if mode is None and fusion is None and not exact:
        return profile

    from wikigr.pipeline.stages import rankers_only
    from wikigr.retrieval.candidates import RetrievalOptions

    if exact:
        profile = profile.override(RetrievalOptions, exact=True)
    if fusion is not None:
        profile = profile.override(RetrievalOptions, fusion=fusion.value)
    return rankers_only(profile).override(RetrievalOptions, mode=mode.value) if mode is not None else profile

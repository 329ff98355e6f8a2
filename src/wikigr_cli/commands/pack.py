"""``wikigr pack``: build a pack, describe it, list packs, check one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import PackError, UsageError
from wikigr.sources.formats import FORMAT_NAMES, FORMATS
from wikigr_cli import completion, options
from wikigr_cli.commands import pack_archive, pack_changes, pack_install
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP, ExitStatus
from wikigr_cli.render import output as render
from wikigr_cli.render import pack as render_pack

if TYPE_CHECKING:
    from wikigr.ingest.extraction import Extractor
    from wikigr.pack.manifest import Manifest

app = typer.Typer(
    help="Build, describe and check knowledge packs.",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.command("build", epilog=EXIT_CODES_HELP)
def build(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(help=f"What to read: {'; '.join(row.description for row in FORMATS)}."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The pack's folder.")],
    source_format: Annotated[
        str | None,
        typer.Option("--format", help=f"One of {', '.join(FORMAT_NAMES)}; detected when left out."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The pack's name; that of the pack in DIR, else of the folder, when left out.")
    ] = None,
    pack_version: Annotated[
        str | None,
        typer.Option(
            "--pack-version",
            help="The pack's version (semver); that of the pack in DIR, else 1.0.0, when left out.",
        ),
    ] = None,
    description: Annotated[
        str | None,
        typer.Option(help="One line on what the pack is; that of the pack in DIR when left out."),
    ] = None,
    license_name: Annotated[
        str | None,
        typer.Option("--license", help="The license of the text; that of the pack in DIR when left out."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many articles.")] = None,
    embedding_model: Annotated[
        str, typer.Option(metavar="ID", help="The encoder: a model id or a prepared model's folder.")
    ] = "sentence-transformers/all-MiniLM-L6-v2",
    bundle_encoder: Annotated[
        bool,
        typer.Option("--bundle-encoder", help="Put the encoder into the pack, so that it answers on its own."),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on with an interrupted build, or start afresh.")
    ] = True,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave out records that cannot be read instead of stopping.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes that parse.", show_default="the number of processors")
    ] = _processors(),
    extract: Annotated[
        bool,
        typer.Option(
            "--extract", help="Have Claude read entities and relations from every section; costs money, off by default."
        ),
    ] = False,
    extract_model: Annotated[
        str | None,
        typer.Option("--extract-model", metavar="ID", help="The model that reads; claude-haiku-4-5 by default."),
    ] = None,
    extract_max_cost: Annotated[
        float | None,
        typer.Option(
            "--extract-max-cost",
            metavar="USD",
            help="The most that --extract may cost, runs that were stopped included; 5 by default, inf for no limit.",
        ),
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Build a pack from SOURCE. Until the last moment the pack that was there stays as it was.

    A pack that is built again keeps its name, version, description and license, unless an option says otherwise.
    """
    environment = context.ensure_object(Environment)
    pack_version = options.semantic(pack_version)

    from wikigr.embeddings.loader import open_encoder
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.sources.detect import open_source
    from wikigr_cli.render.progress import TerminalProgress

    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file; -o takes a folder.")
    extractor = _extractor(environment, extract_model, extract_max_cost, wanted=extract)
    opened = open_source(source, source_format)
    encoder = open_encoder(embedding_model, purpose="bulk")
    bundle = None
    if bundle_encoder:
        from wikigr.embeddings.models import find_prepared

        bundle = find_prepared(embedding_model).folder
    before = _manifest_in(environment, output)
    labels = (before.name, before.version, before.description, before.license) if before else ("", "1.0.0", "", "")
    chosen = (name or None, pack_version, description, license_name)
    kept_name, version, kept_description, kept_license = (
        old if new is None else new for new, old in zip(chosen, labels, strict=True)
    )
    build_options = BuildOptions(
        name=kept_name or output.resolve().name,
        version=version,
        description=kept_description,
        license=kept_license,
        limit=limit,
        jobs=jobs,
        resume=resume,
        keep_going=keep_going,
    )
    with TerminalProgress(environment, resumes=resume) as progress:
        report = build_pack(
            opened, source, output, encoder, build_options, bundle=bundle, progress=progress, extractor=extractor
        )
    document = render_pack.build_document(report, output)
    if json_output:
        render.json_document(environment, document)
    else:
        render_pack.build_report(environment, document)


def _manifest_in(environment: Environment, folder: Path) -> Manifest | None:
    """Return the manifest of the pack in ``folder``, if one is there that can be read."""
    from wikigr.pack import layout
    from wikigr.pack.manifest import read_manifest

    found = layout.Layout(folder)
    try:
        return read_manifest(found.part(layout.MANIFEST)) if found.exists() else None
    except PackError as error:
        environment.note(plain(f"Name, version, description and license of the old pack are lost: {error.message}"))
        return None


def _extractor(
    environment: Environment, model: str | None, max_cost: float | None, *, wanted: bool
) -> Extractor | None:
    """Return what reads entities and relations, if that is wanted; nothing of a model is loaded otherwise."""
    if not wanted:
        if model is not None or max_cost is not None:
            raise UsageError("There is no extraction that this could be said of.", hint="Add --extract.")
        return None

    from wikigr.ingest.extraction import MAX_COST_USD, MODEL, ExtractionOptions, Extractor
    from wikigr.llm.response_cache import ResponseCache
    from wikigr.settings import cache_folder

    cache = ResponseCache(cache_folder() / "responses", warn=lambda message: environment.note(plain(message)))
    return Extractor(
        ExtractionOptions(MODEL if model is None else model, MAX_COST_USD if max_cost is None else max_cost), cache
    )


@app.command("info", epilog=EXIT_CODES_HELP)
def info(
    context: typer.Context,
    pack: Annotated[
        str | None,
        typer.Argument(
            help="The pack; WIKIGR_PACK when left out.", envvar="WIKIGR_PACK", autocompletion=completion.packs
        ),
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Describe a pack from its manifest."""
    environment = context.ensure_object(Environment)
    if pack is None:
        raise UsageError("No pack was named.", hint="Give its folder, or set WIKIGR_PACK.")

    from wikigr.pack import layout
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest

    found = find_pack(pack)
    document = render_pack.manifest_document(read_manifest(found.part(layout.MANIFEST)), found)
    if json_output:
        render.json_document(environment, document)
    else:
        render_pack.manifest(environment, document)


@app.command("list", epilog=EXIT_CODES_HELP)
def list_packs(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(help="Where to look; the installed packs and ./packs when left out.")
    ] = None,
    json_output: options.Json = False,
) -> None:
    """List the packs in a folder. An installed pack has the name to use it by first, then its own in brackets."""
    environment = context.ensure_object(Environment)

    from wikigr.pack import layout
    from wikigr.pack.layout import installed_packs
    from wikigr.pack.manifest import read_manifest

    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is no folder.")
    roots = [folder] if folder else [installed_packs(), Path("packs")]
    packs = []
    for root in roots:
        for candidate in sorted(root.iterdir()) if root.is_dir() else []:
            found = layout.Layout(candidate)
            if not candidate.is_dir() or not found.exists():
                continue
            try:
                document = render_pack.manifest_document(read_manifest(found.part(layout.MANIFEST)), found)
                installed = candidate.name if root.resolve() == installed_packs().resolve() else None
                packs.append({**document, "installed_as": installed})
            except PackError as error:
                environment.note(f"Left out: {error.message}")
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "packs": packs})
    else:
        render_pack.pack_table(environment, packs, roots)


@app.command("validate", epilog=EXIT_CODES_HELP)
def validate(
    context: typer.Context,
    pack: Annotated[
        str | None,
        typer.Argument(
            help="The pack; WIKIGR_PACK when left out.", envvar="WIKIGR_PACK", autocompletion=completion.packs
        ),
    ] = None,
    json_output: options.Json = False,
) -> None:
    """Check a pack's parts against each other (counts, offsets, vectors, index, encoder) and its version.

    Exit 4 if one fails.
    """
    environment = context.ensure_object(Environment)
    if pack is None:
        raise UsageError("No pack was named.", hint="Give its folder, or set WIKIGR_PACK.")

    from wikigr.pack.validate import validate_pack

    checks = validate_pack(pack)
    if json_output:
        render.json_document(environment, render.checks_document(checks))
    else:
        render.checks_list(environment, checks)
    if not all(check.passed or not check.required for check in checks):
        raise typer.Exit(ExitStatus.PACK)


pack_changes.register(app)
pack_archive.register(app)
pack_install.register(app)

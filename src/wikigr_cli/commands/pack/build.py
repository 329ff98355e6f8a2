"""``wikigr pack build`` and ``wikigr pack make``: turn a source, or a recipe, into a pack."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wikigr.errors import PackError, UsageError
from wikigr.sources.formats import FORMAT_NAMES, format_named
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import Argument, Check, Input, Metadata, Model, Output, Retrieval, Run
from wikigr_cli.render.output import SCHEMA_VERSION, Document, counted, one_line

if TYPE_CHECKING:
    from wikigr.ingest.build import BuildReport
    from wikigr.ingest.extraction import Extractor
    from wikigr.pack.manifest import Manifest

SOURCE_FORMAT = Input(metavar="NAME", help=f"The source's format: {', '.join(FORMAT_NAMES)}. Default: detected.")


# Files that are not read, and links that are not followed, are all named up to this number.
_MAX_NAMED = 3
_MAX_TEMPLATES = 10


def build_document(report: BuildReport, folder: Path) -> dict[str, Any]:
    """Return what ``wikigr pack build --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pack": str(folder),
        "name": report.manifest.name,
        "digest": report.manifest.digest,
        "counts": dict(report.manifest.counts),
        "skipped": dict(report.skipped),
        "bad_records": [asdict(bad) for bad in report.bad_records],
        "not_read": [asdict(files) for files in report.not_read],
        "not_followed": list(report.not_followed),
        "links_to_nowhere": report.lost_links,
        "links_to_nowhere_examples": [{"title": title, "target": target} for title, target in report.lost_examples],
        "dropped_templates": dict(report.dropped_templates),
        "embedded": report.embedded,
        "reused": report.reused,
        "extraction": None
        if report.extraction is None
        else {**asdict(report.extraction), "usage": report.extraction.usage.to_dict()},
    }


def print_build(environment: Environment, document: Document) -> None:
    """Print a finished build: the pack on stdout, what was left out on stderr."""
    for bad in document["bad_records"]:
        environment.note(f"Left out {bad['where']}: {bad['reason']}")
    _print_not_read(environment, document["not_read"])
    if links := document["not_followed"]:
        named = ", ".join(links[:_MAX_NAMED]) + (", …" if len(links) > _MAX_NAMED else "")
        leads = "link that leads" if len(links) == 1 else "links that lead"
        environment.note(
            f"Not followed: {len(links):,} {leads} out of the folder ({named}); --follow-links reads them."
        )
    for reason, count in document["skipped"].items():
        environment.note(f"Skipped {count:,}: {reason}")
    if templates := document["dropped_templates"]:
        named = ", ".join(
            f"{one_line(name, 40)} ({count:,})" for name, count in list(templates.items())[:_MAX_TEMPLATES]
        )
        more = f" and {len(templates) - _MAX_TEMPLATES:,} more" if len(templates) > _MAX_TEMPLATES else ""
        environment.note(f"Dropped {counted(sum(templates.values()), 'templates')} without known text: {named}{more}")
    if document["links_to_nowhere"]:
        examples = document["links_to_nowhere_examples"]
        named = ", ".join(f"{one_line(row['title'], 40)} → {one_line(row['target'], 60)}" for row in examples)
        dropped = counted(document["links_to_nowhere"], "hyperlinks")
        more = ", …" if document["links_to_nowhere"] > len(examples) else ""
        environment.note(f"Dropped {dropped} to pages outside the pack: {named}{more}")
    if document["extraction"] is not None:
        _print_extraction(environment, document["extraction"])
    from wikigr.pack.layout import readable_path

    counts = ", ".join(counted(count, name) for name, count in document["counts"].items() if count)
    environment.print(f"{readable_path(Path(document['pack']))}: {counts}")
    environment.print(
        f"digest {document['digest'][:16]}, {counted(document['embedded'], 'sections')} embedded, "
        f"{document['reused']:,} reused",
        style="dim",
    )


def _print_not_read(environment: Environment, not_read: Sequence[Document]) -> None:
    """Print one line about the files of other formats, with a few names, and one about those that no format has."""
    documents = [row for row in not_read if row["format"]]
    count = sum(row["files"] for row in documents)
    if count:
        examples = [name for row in documents for name in row["examples"]]
        named = ", ".join(examples)
        if count > _MAX_NAMED:
            named = "; ".join(f"{row['files']:,} {row['suffix']}, such as {row['examples'][0]}" for row in documents)
        other = "file of another format" if count == 1 else "files of other formats"
        hint = "--source-format chooses another one"
        if not any(format_named(row["format"]).reads_folders for row in documents):
            hint = "give the file itself instead of its folder to read it"
        environment.note(f"Not read: {count:,} {other} ({named}); {hint}.")
    unknown = [row for row in not_read if not row["format"]]
    count = sum(row["files"] for row in unknown)
    if count:
        listed = ", ".join(f"{row['files']:,} {row['suffix'] or 'without a suffix'}" for row in unknown[:8])
        more = ", …" if len(unknown) > 8 else ""
        environment.note(f"Not read: {counted(count, 'files')} that no format reads ({listed}{more}).")


def _print_extraction(environment: Environment, extraction: Document) -> None:
    for failed in extraction["failed"]:
        environment.note(f"Could not extract from {failed['section_id']}: {failed['reason']}")
    for reason, count in extraction["dropped"].items():
        environment.note(f"Rejected {count:,}: {reason}")
    usage = extraction["usage"]
    price = "cost unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}"
    sections, calls = counted(extraction["sections"], "sections"), counted(extraction["asked"], "calls")
    environment.note(
        f"{extraction['model']} read {sections} ({extraction['cached']:,} from the response cache): {calls}, {price}."
    )


def _print_recipes(environment: Environment, document: Document) -> None:
    for recipe in document["recipes"]:
        environment.print(recipe["name"], style="bold", end="")
        environment.print(f"  {recipe['description']}", hang=4)
        environment.print(f"    {recipe['license']} · {recipe['size_mb']:,} MB · {recipe['source']}", hang=4)


def _print_made(environment: Environment, document: Document) -> None:
    print_build(environment, document)
    environment.print(f"License: {document['license']}. {document['attribution']}", hang=2)


@command(
    print_build,
    source_format=SOURCE_FORMAT,
    source=Argument(
        metavar="SOURCE",
        help="A document or a folder of documents (Markdown, HTML, text, PDF, office files and others), a "
        "MediaWiki export, a ZIM file, JSON Lines (- for standard input), a table, or a graph (RDF, triples).",
    ),
    output=Output("-o", "--output", metavar="DIR", help="The folder of the pack."),
    name=Metadata(
        metavar="NAME", help="The pack's name. Default: the name of the pack in DIR, else the name of the folder."
    ),
    pack_version=Metadata(
        metavar="VERSION",
        help="The pack's semantic version. Default: the version of the pack in DIR, else 1.0.0.",
    ),
    description=Metadata(help="A one-line description. Default: the description of the pack in DIR."),
    license_name=Metadata(
        "--license", metavar="NAME", help="The license of the text. Default: the license of the pack in DIR."
    ),
    attribution=Metadata(help="Whom the license requires to name. Default: the attribution of the pack in DIR."),
    limit=Input(min=1, help="Stop after this many articles."),
    embedding_model=Retrieval(metavar="ID", help="The encoder: a model id, or the folder of a prepared model."),
    bundle_encoder=Metadata(help="Copy the encoder and its reader into the pack, so that no other copy is needed."),
    extract=Model(help="Let Claude extract entities and relations from every section. This costs money."),
    extract_model=Model(metavar="ID", help="The model of --extract. Default: claude-haiku-4-5."),
    extract_max_cost=Model(
        metavar="USD",
        help="The budget of --extract in US dollars; inf for no limit. Default: 5.",
    ),
    engine=Run(help="Run the costly stages on this machine or on a Ray cluster."),
)
def build(
    environment: Environment,
    source: str,
    output: Path,
    source_format: str | None = None,
    name: str | None = None,
    pack_version: str | None = None,
    description: str | None = None,
    license_name: str | None = None,
    attribution: str | None = None,
    limit: int | None = None,
    embedding_model: str = "sentence-transformers/all-MiniLM-L6-v2",
    bundle_encoder: bool = False,
    keep_going: bool = False,
    follow_links: bool = False,
    language: str | None = None,
    jobs: int = options.PROCESSORS,
    extract: bool = False,
    extract_model: str | None = None,
    extract_max_cost: float | None = None,
    engine: Literal["local", "ray"] = "local",
    ray_address: str | None = None,
    workers: int | None = None,
) -> Document:
    """Build a pack from SOURCE. An existing pack stays in use until the new one is complete.

    DIR is a new or empty folder, or a pack to rebuild. It must not be the folder of the source or lie in it.

    A rebuilt pack keeps its name, version, description, license and attribution unless an option changes them.

    Examples:
      wikigr pack build notes -o packs/notes
      wikigr pack build notes -o packs/notes --license CC0-1.0 --jobs 1
    """
    pack_version = options.check_version(pack_version)
    for option, value in (("ray-address", ray_address), ("workers", workers)):
        if engine != "ray" and value is not None:
            raise UsageError(f"--{option} needs --engine ray.", hint="Add --engine ray.")

    from wikigr.embeddings.loader import open_encoder
    from wikigr.evaluation.starters import store_starters
    from wikigr.ingest.build import BuildOptions, build_pack
    from wikigr.ingest.destination import check_destination
    from wikigr.languages import language_named
    from wikigr.sources.detect import open_source
    from wikigr_cli.render.progress import TerminalProgress

    _require_folder(output)
    check_destination(source, output)
    extractor = _extractor(environment, extract_model, extract_max_cost, is_enabled=extract)
    opened = open_source(source, source_format, follow_links=follow_links)
    encoder = open_encoder(embedding_model, purpose="bulk")
    bundle = _prepare_bundle(embedding_model) if bundle_encoder else None
    before = _read_manifest(environment, output)
    labels: dict[str, Any] = {
        "name": name or None,
        "version": pack_version,
        "description": description,
        "license": license_name,
        "attribution": attribution,
    }
    for label, chosen in labels.items():
        if chosen is None:
            labels[label] = getattr(before, label) if before is not None else "1.0.0" if label == "version" else ""
    build_options = BuildOptions(
        **{**labels, "name": labels["name"] or output.resolve().name},
        limit=limit,
        jobs=jobs,
        keep_going=keep_going,
        follow_links=follow_links,
        language=language_named(language).code if language is not None else None,
    )
    with ExitStack() as stack:
        progress = stack.enter_context(TerminalProgress(environment, resumes=True))
        cluster = None
        if engine == "ray":
            from wikigr.ingest.engines.cluster import connect
            from wikigr.ingest.engines.ray_engine import RayEngine

            joined = stack.enter_context(connect(ray_address, workers))
            cluster = RayEngine(joined, embedding_model, encoder)
        report = build_pack(
            opened,
            source,
            output,
            encoder,
            build_options,
            bundle=bundle,
            progress=progress,
            extractor=extractor,
            engine=cluster,
        )
        store_starters(output, progress)
    return build_document(report, output)


def _require_folder(output: Path) -> None:
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file, but -o takes a folder.")


def _prepare_bundle(model_id: str) -> Path:
    """Return the folder of a prepared encoder after preparing its reader, if there is one for it."""
    from wikigr.embeddings.models import find_prepared
    from wikigr.pack.layout import Layout
    from wikigr.reader.prepared import prepare_reader

    encoder = find_prepared(model_id)
    # The encoder of another pack is copied as it is: a new file in its folder would change that pack.
    if not Layout(encoder.folder.parent).exists():
        prepare_reader(encoder)
    return encoder.folder


def _read_manifest(environment: Environment, folder: Path) -> Manifest | None:
    """Return the manifest of the pack in ``folder``, or ``None`` if there is no readable one."""
    from wikigr.pack import layout
    from wikigr.pack.manifest import read_manifest

    found = layout.Layout(folder)
    try:
        return read_manifest(found.part(layout.MANIFEST)) if found.exists() else None
    except PackError as error:
        environment.note(f"The name, version, description and license of the old pack are lost: {error.message}")
        return None


def _extractor(
    environment: Environment, model: str | None, max_cost: float | None, *, is_enabled: bool
) -> Extractor | None:
    """Return the extractor of entities and relations if ``is_enabled``; otherwise load nothing of a model."""
    if not is_enabled:
        if model is not None or max_cost is not None:
            raise UsageError("--extract-model and --extract-max-cost need --extract.", hint="Add --extract.")
        return None

    from wikigr.ingest.extraction import MAX_COST_USD, MODEL, ExtractionOptions, Extractor
    from wikigr.llm.response_cache import ResponseCache
    from wikigr.settings import cache_folder

    cache = ResponseCache(cache_folder() / "responses", warn=environment.note)
    return Extractor(
        ExtractionOptions(MODEL if model is None else model, MAX_COST_USD if max_cost is None else max_cost), cache
    )


def _complete_recipes(incomplete: str) -> list[str]:
    from wikigr.distribution.recipes.recipe import shipped_names

    return [name for name in shipped_names() if name.startswith(incomplete)]


@command(
    _print_made,
    recipe=Argument(
        metavar="RECIPE",
        help="The name of a recipe that --list shows, or the path of your own: PATH/recipe.yaml.",
        show_default=False,
        autocompletion=_complete_recipes,
    ),
    list_recipes=Output("--list", help="List the recipes with license and size, and make nothing."),
    output=Output("-o", "--output", metavar="DIR", help="The folder of the pack. Default: packs/NAME."),
    source=Input(metavar="SOURCE", help="Read this folder, file or https:// URL in place of the recipe's source."),
    sha256=Check(metavar="HEX", help="Require this SHA-256 of the file, not the recipe's."),
)
def make(
    environment: Environment,
    recipe: str | None = None,
    list_recipes: bool = False,
    output: Path | None = None,
    source: str | None = None,
    sha256: str | None = None,
    allow_private: bool = False,
    jobs: int = options.PROCESSORS,
) -> Result:
    """Get the documents of a recipe and build a pack from them.

    The pack gets the license, the attribution and the test questions of the recipe.

    Downloads must have the SHA-256 that the recipe pins, and are kept in the cache folder. If a recipe pins
    none, give the one that the publisher states with --sha256.

    Examples:
      wikigr pack make --list
      wikigr pack make mine/recipe.yaml
    """
    if list_recipes and recipe is not None:
        raise UsageError("--list takes no recipe.", hint="Leave one of them out.")
    if not list_recipes and recipe is None:
        raise UsageError("No recipe was given.", hint="`wikigr pack make --list` lists the recipes.")

    from wikigr.distribution.recipes import recipe as recipes
    from wikigr.distribution.recipes.make import fetch, make_pack
    from wikigr.evaluation.questions import load_questions
    from wikigr.pack.locate import PACKS

    if recipe is None:
        names = ("name", "version", "description", "license", "attribution", "homepage", "size_mb")
        rows = [
            {**{name: getattr(each, name) for name in names}, "source": each.origin, "file": str(each.file)}
            for each in recipes.list_recipes()
        ]
        return {"recipes": rows}, _print_recipes
    chosen = recipes.find_recipe(recipe)
    folder = Path(PACKS, chosen.name) if output is None else output
    _require_folder(folder)
    if chosen.questions_file is not None:
        load_questions(chosen.questions_file)
    from wikigr.evaluation.starters import store_starters
    from wikigr_cli.render.progress import TerminalProgress

    with TerminalProgress(environment, resumes=True) as progress:
        documents = fetch(chosen, source, sha256, allow_private=allow_private, progress=progress)
        report = make_pack(chosen, documents, folder, jobs=jobs, progress=progress)
        store_starters(folder, progress)
    labels = {name: getattr(report.manifest, name) for name in ("version", "license", "attribution")}
    return {**build_document(report, folder), **labels, "source": dict(report.manifest.source)}

"""What ``wikigr pack build``, ``make`` and ``info`` print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr.sources.formats import format_named
from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document, counted, one_line

if TYPE_CHECKING:
    from wikigr.distribution.recipes.recipe import Recipe
    from wikigr.ingest.build import BuildReport
    from wikigr.pack.layout import Layout
    from wikigr.pack.manifest import Manifest

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


def manifest_document(manifest: Manifest, layout: Layout, readers: Sequence[str]) -> dict[str, Any]:
    """Return what ``wikigr pack info --json`` prints; ``readers`` are those that are ready for the pack here."""
    return {"path": str(layout.root), **asdict(manifest), "readers": list(readers)}


def print_manifest(environment: Environment, document: Document) -> None:
    """Print the manifest of a pack."""
    from wikigr.pack.manifest import NO_BLOCKS

    environment.print(f"{document['name']} {document['version']}", style="bold")
    encoder = document["encoder"]
    rows = {
        "path": document["path"],
        "description": document["description"],
        "license": document["license"],
        "attribution": document["attribution"],
        "source": f"{document['source']['name']} ({document['source']['format']})",
        "origin": _origin_text(document["source"]),
        "created": document["created"],
        "language": document["language"],
        "holds": ", ".join(counted(count, name) for name, count in document["counts"].items() if count),
        "encoder": f"{encoder['model_id']}, {encoder['dimension']} dimensions, weights {encoder['weights_sha256'][:12]}"
        + (" (bundled)" if document["bundled_encoder"] else ""),
        "readers": ", ".join(document["readers"]) or "none on this machine",
        "engine": f"{document['engine']} {document['engine_version']} (storage {document['storage_version']})",
        "vectors": "quantized"
        if any(name.startswith("vectors/") for name in document["files"])
        else "index"
        if document["vector_index"]
        else "exact scan",
        "anchors": ""
        if document["anchors"]
        else "none, so citations open at the top of the page; build again to add them",
        "blocks": "" if document["format_version"] > 1 else f"{NO_BLOCKS}; build again to add them",
        "extraction": _extraction_text(document["extraction"]),
        "digest": document["digest"],
        "made by": f"wikigr {document['wikigr_version']}",
    }
    for label, value in rows.items():
        if value:
            environment.print(f"  {label:<12} {value}", hang=15)


def _origin_text(source: Document) -> str:
    """Return where the source comes from, if the pack was made from a recipe."""
    sha256 = f"SHA-256 {source['sha256']}" if "sha256" in source else ""
    return ", ".join(filter(None, (source.get("url"), sha256)))


def _extraction_text(extraction: Document) -> str:
    if not extraction:
        return ""
    failed = f", {extraction['failed']} failed" if extraction.get("failed") else ""
    return f"{extraction.get('model')}, {counted(extraction.get('sections', 0), 'sections')} read{failed}"


def recipes_document(recipes: Sequence[Recipe]) -> dict[str, Any]:
    """Return what ``wikigr pack make --list --json`` prints."""
    names = ("name", "version", "description", "license", "attribution", "homepage", "size_mb")
    rows = [
        {**{name: getattr(recipe, name) for name in names}, "source": recipe.origin, "file": str(recipe.file)}
        for recipe in recipes
    ]
    return {"recipes": rows}


def print_recipes(environment: Environment, document: Document) -> None:
    """Print the recipes, two lines each."""
    for recipe in document["recipes"]:
        environment.print(recipe["name"], style="bold", end="")
        environment.print(f"  {recipe['description']}", hang=4)
        environment.print(f"    {recipe['license']} · {recipe['size_mb']:,} MB · {recipe['source']}", hang=4)


def made_document(report: BuildReport, folder: Path) -> dict[str, Any]:
    """Return what ``wikigr pack make RECIPE --json`` prints: that of a build, and where the text comes from."""
    manifest = report.manifest
    labels = {name: getattr(manifest, name) for name in ("version", "license", "attribution")}
    return {**build_document(report, folder), **labels, "source": dict(manifest.source)}


def print_made(environment: Environment, document: Document) -> None:
    """Print a finished build and the license of its text."""
    print_build(environment, document)
    environment.print(f"License: {document['license']}. {document['attribution']}", hang=2)

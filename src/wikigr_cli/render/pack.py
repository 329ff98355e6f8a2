"""What ``wikigr pack build``, ``info`` and ``list`` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment, plain
from wikigr_cli.render.output import SCHEMA_VERSION, counted
from wikigr_cli.render.wrapping import cells, cut

if TYPE_CHECKING:
    from wikigr.ingest.build import BuildReport
    from wikigr.ingest.extraction import ExtractionReport
    from wikigr.pack.layout import Layout
    from wikigr.pack.manifest import Manifest

# Columns that the end of a path has at least.
_NARROWEST = 10


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
        "links_to_nowhere": report.lost_links,
        "embedded": report.embedded,
        "reused": report.reused,
        "extraction": _extraction(report.extraction),
    }


def _extraction(report: ExtractionReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "model": report.model,
        "prompt": report.prompt,
        "sections": report.sections,
        "failed": [asdict(failed) for failed in report.failed],
        "kept": report.kept,
        "asked": report.asked,
        "cached": report.cached,
        "dropped": dict(report.dropped),
        "usage": report.usage.to_dict(),
    }


def build_report(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print what a build did: the pack on stdout, what was left out on stderr."""
    for bad in document["bad_records"]:
        environment.note(f"Left out {plain(bad['where'])}: {plain(bad['reason'])}")
    for reason, count in document["skipped"].items():
        environment.note(f"Skipped {count:,}: {reason}")
    if document["links_to_nowhere"]:
        environment.note(f"Dropped {counted(document['links_to_nowhere'], 'hyperlinks')} to nothing in the pack.")
    extraction = document["extraction"]
    if extraction is not None:
        _tell_extraction(environment, extraction)
    counts = ", ".join(counted(count, name) for name, count in document["counts"].items() if count)
    environment.print(f"{document['pack']}: {counts}")
    environment.print(
        f"digest {document['digest'][:16]}, {counted(document['embedded'], 'sections')} embedded, "
        f"{document['reused']:,} reused",
        style="dim",
    )


def _tell_extraction(environment: Environment, extraction: Mapping[str, Any]) -> None:
    for failed in extraction["failed"]:
        environment.note(f"Not read: {plain(failed['section_id'])}: {plain(failed['reason'])}")
    for reason, count in extraction["dropped"].items():
        environment.note(f"Not believed {count:,}: {reason}")
    usage = extraction["usage"]
    price = "cost unknown" if usage["cost_usd"] is None else f"${usage['cost_usd']:.4f}"
    read, calls = counted(extraction["sections"], "sections"), counted(extraction["asked"], "calls")
    environment.note(
        f"{plain(extraction['model'])} read {read} ({extraction['kept']:,} in an earlier run, "
        f"{extraction['cached']:,} from the cache of replies): {calls}, {price}."
    )


def manifest_document(manifest: Manifest, layout: Layout) -> dict[str, Any]:
    """Return what ``wikigr pack info --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "path": str(layout.root), **asdict(manifest)}


def manifest(environment: Environment, document: Mapping[str, Any]) -> None:
    """Print a manifest for a person."""
    environment.print(f"{plain(document['name'])} {plain(document['version'])}", style="bold")
    encoder = document["encoder"]
    rows = {
        "path": document["path"],
        "description": document["description"],
        "license": document["license"],
        "source": f"{document['source']['name']} ({document['source']['format']})",
        "created": document["created"],
        "holds": ", ".join(counted(count, name) for name, count in document["counts"].items() if count),
        "encoder": f"{encoder['model_id']}, {encoder['dimension']} dimensions, weights {encoder['weights_sha256'][:12]}"
        + (" (bundled)" if document["bundled_encoder"] else ""),
        "engine": f"{document['engine']} {document['engine_version']} (storage {document['storage_version']})",
        "vectors": "index" if document["vector_index"] else "exact scan",
        "extraction": _read_by(document["extraction"]),
        "digest": document["digest"],
        "made by": f"wikigr {document['wikigr_version']}",
    }
    for label, value in rows.items():
        if value:
            environment.print(f"  {label:<12} {plain(str(value))}", hang=15)


def _read_by(extraction: Mapping[str, Any]) -> str:
    if not extraction:
        return ""
    failed = f", {extraction['failed']} failed" if extraction.get("failed") else ""
    return f"{extraction.get('model')}, {counted(extraction.get('sections', 0), 'sections')} read{failed}"


def pack_table(environment: Environment, packs: Sequence[Mapping[str, Any]], roots: Sequence[Path]) -> None:
    """Print the packs found, one a line, by the name to use: of an installed pack that need not be its own."""
    if not packs:
        environment.note(f"No packs in {' or '.join(map(str, roots))}.")
        return
    rows = [("name", "version", "articles", "sections", "path")]
    for pack in packs:
        counts = pack["counts"]
        figures = (f"{counts['articles']:,}", f"{counts['sections']:,}")
        used = pack["installed_as"] or pack["name"]
        name = plain(used if used == pack["name"] else f"{used} ({pack['name']})")
        rows.append((name, plain(pack["version"]), *figures, plain(pack["path"])))
    names, versions, articles, sections = (max(cells(row[column]) for row in rows) for column in range(4))
    for number, row in enumerate(rows):
        line = f"{_padded(row[0], names)}  {_padded(row[1], versions)}  {row[2]:>{articles}}  {row[3]:>{sections}}  "
        width = environment.width(environment.stdout)
        # The end of a path says more than its beginning.
        path = row[4] if width is None else cut(row[4], max(width - cells(line), _NARROWEST), front=True)
        environment.print(line + path, style="" if number else "bold", overflow="keep")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))

"""What a reader of an article sees: its sections as blocks, with a quotation, and its place in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.documents.article import article_document
from wikigr.documents.blocks import Mark, show_blocks
from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.graph.neighborhood import STRUCTURAL, Neighborhood, article
from wikigr.pack.open import Pack
from wikigr.pack.section_urls import find_source_file
from wikigr.sources.formats import recorded_format

if TYPE_CHECKING:
    from wikigr.documents.shapes import FactShape, LinkShape, ReadDocument

# Sections in one document, and links in each direction, names and facts beside them.
SECTIONS = 60
_MAX_LINKS = 300
_MAX_NAMES = 30
_MAX_FACTS = 40
_MAX_EDGES = 400


def read_document(
    pack: Pack,
    title: str,
    notes: Sequence[str],
    *,
    first: int = 0,
    section_id: str | None = None,
    quote: tuple[int, int] | None = None,
    originals: Path | None = None,
) -> ReadDocument:
    """Return the sections of the article ``title``, spelled as in ``pack``, from number ``first``.

    With ``section_id``, they are those around that section, in which the characters ``quote`` are marked. ``originals``
    is the folder whose files may be handed out.
    """
    whole = article_document(pack, title)
    outline = whole["sections"]
    ids = [entry["section_id"] for entry in outline]
    if section_id in ids:
        first = ids.index(section_id) // SECTIONS * SECTIONS
    shown = ids[first : first + SECTIONS]
    stored = pack.sections(shown)
    urls = pack.urls_of(shown)
    paths = [entry["heading_path"] for entry in outline]
    headed = [n for n, path in enumerate(paths) if n == 0 or path != paths[n - 1]]
    asked = section_id if section_id in stored else next(iter(stored), None)
    original = find_original(pack, asked, originals) if asked is not None else None
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "pack": whole["pack"],
        "given_as": pack.label,
        "source_id": stored[asked].source_id if asked is not None else None,
        "aliases": whole["aliases"][:_MAX_NAMES],
        "categories": whole["categories"][:_MAX_NAMES],
        "outline": [{"n": n, "heading": outline[n]["section"], "level": len(paths[n])} for n in headed],
        "first": first,
        "total": len(ids),
        "sections": [
            {
                "section_id": shown_id,
                "heading": outline[n]["section"] if n in headed else "",
                "level": len(paths[n]),
                "url": urls[shown_id],
                "anchor": (urls[shown_id] or "").partition("#")[2],
                "blocks": show_blocks(
                    stored[shown_id].content,
                    stored[shown_id].blocks,
                    marks=[Mark(*quote, "quoted")] if quote is not None and shown_id == section_id else (),
                ),
            }
            for n, shown_id in enumerate(shown, start=first)
        ],
        "links": _listed(pack, whole["links"]),
        "backlinks": _listed(pack, whole["backlinks"]),
        "facts": _facts(pack, title),
        "original": None
        if original is None
        else {"name": original.name, "kind": "pdf" if is_pdf(original) else "file"},
        "warnings": list(notes),
    }


def find_original(pack: Pack, section_id: str, folder: Path | None) -> Path | None:
    """Return the source file of a section if it is still there, in ``folder``, even if links lead to it."""
    found = pack.sections([section_id]).get(section_id)
    known = recorded_format(pack.manifest.source["format"])
    if folder is None or found is None or not found.source_id or known is None or not known.reads_folders:
        return None
    path = find_source_file(pack.layout, found.source_id, known.suffixes)
    if path is None:
        return None
    path = path.resolve()
    return path if path.is_relative_to(folder.resolve()) and path.is_file() else None


def is_pdf(path: Path) -> bool:
    """Return whether a browser shows the file as pages; other files are only downloaded."""
    return path.suffix.lower() == ".pdf"


def _listed(pack: Pack, links: Sequence[LinkShape]) -> list[LinkShape]:
    """Return links, the highest PageRank first; ties break by title."""
    ranks = pack.pagerank
    return sorted(links, key=lambda link: (-ranks.get(link["title"], 0.0), link["title"]))[:_MAX_LINKS]


def _facts(pack: Pack, title: str) -> list[FactShape]:
    node = article(title)
    edges = Neighborhood(pack.graph).expand([node], most=_MAX_EDGES).edges[node]
    triples = (edge for edge in edges if edge.relation not in STRUCTURAL)
    return [
        {
            "subject": edge.source.label,
            "relation": edge.relation,
            "object": edge.target.label,
            "section_id": edge.section_id or None,
        }
        for edge in islice(triples, _MAX_FACTS)
    ]

"""The documents of a section and of an article: the text with its place, its neighbors and its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wikigr.documents.blocks import Mark, show_blocks
from wikigr.documents.pack import SCHEMA_VERSION, pack_document
from wikigr.names import bare_name, name_key
from wikigr.pack.open import Pack

if TYPE_CHECKING:
    from wikigr.documents.shapes import ArticleDocument, LinkShape, OutlineShape, SectionDocument


def section_document(
    pack: Pack, section_id: str, warnings: Sequence[str], quote: tuple[int, int] | None = None
) -> SectionDocument:
    """Return what ``wikigr show SECTION_ID --json`` prints; the characters ``quote`` have the role ``found``.

    Its links are the articles that the section names. ``warnings`` are about a corrected or ambiguous name. Raises
    ``KeyError`` for an unknown id.
    """
    section = pack.sections([section_id])[section_id]
    outline = outline_of(pack, section.title)
    place = next(n for n, entry in enumerate(outline) if entry["section_id"] == section_id)
    text = f" {name_key(section.content)} "
    marks = [] if quote is None else [Mark(*quote, "found")]
    return {
        "schema_version": SCHEMA_VERSION,
        "section_id": section_id,
        "title": section.title,
        "section": section.heading,
        "heading_path": outline[place]["heading_path"],
        "source_id": section.source_id,
        "url": pack.urls_of([section_id])[section_id],
        "content": section.content,
        "blocks": show_blocks(section.content, section.blocks, marks=marks),
        "previous": outline[place - 1] if place else None,
        "next": outline[place + 1] if place + 1 < len(outline) else None,
        # The graph stores links by article; these are the neighbors that the section names.
        "links": links_of(pack, section.title, "(a)-[:{relation}]->(b:Article)", in_text=text),
        "pack": pack_document(pack.manifest),
        "warnings": list(warnings),
    }


def article_document(pack: Pack, title: str, warnings: Sequence[str] = ()) -> ArticleDocument:
    """Return what ``wikigr show TITLE --json`` prints for the article ``title``, spelled as in the pack.

    ``lead`` is the text of its first section, ``pagerank`` a probability, or ``None`` if the pack has none of this
    content. ``warnings`` are about a corrected or ambiguous name. Raises ``KeyError`` for an unknown title.
    """
    rows = pack.graph.rows(
        "MATCH (a:Article {title: $title}) RETURN a.content, a.aliases, a.categories", {"title": title}
    )
    if not rows:
        raise KeyError(title)
    content, aliases, categories = rows[0]
    outline = outline_of(pack, title)
    first = outline[0]["section_id"] if outline else None
    return {
        "schema_version": SCHEMA_VERSION,
        "title": title,
        "url": pack.urls_of([first])[first] if first else None,
        "aliases": list(aliases or ()),
        "categories": list(categories or ()),
        "lead": pack.sections([first])[first].content if first else "",
        "sections": outline,
        "content": content,
        "links": links_of(pack, title, "(a)-[:{relation}]->(b:Article)"),
        "backlinks": links_of(pack, title, "(a)<-[:{relation}]-(b:Article)"),
        "pagerank": pack.pagerank.get(title),
        "pack": pack_document(pack.manifest),
        "warnings": list(warnings),
    }


def outline_of(pack: Pack, title: str) -> list[OutlineShape]:
    """Return the sections of the article ``title``, in order; the heading path of its lead is empty."""
    rows = pack.graph.rows(
        "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) "
        "RETURN s.section_id, s.title, s.heading_path, s.word_count ORDER BY s.position, s.section_id",
        {"title": title},
    )
    return [
        {"section_id": id_, "section": heading or "", "heading_path": list(path or ()), "word_count": words or 0}
        for id_, heading, path, words in rows
    ]


def links_of(pack: Pack, title: str, pattern: str, *, in_text: str | None = None) -> list[LinkShape]:
    """Return the articles at the other end of ``pattern``, in order; with ``in_text``, those that it names.

    A link, which the author made, precedes a mention of the same article, which the text only names.
    """
    kinds: dict[str, str] = {}
    for relation, kind in (("MENTIONS", "mention"), ("LINKS_TO", "link")):
        query = f"MATCH (a:Article {{title: $title}}), {pattern.format(relation=relation)} RETURN b.title, b.aliases"
        for other, aliases in pack.graph.rows(query, {"title": title}):
            keys = (name_key(name) for name in (other, bare_name(other), *(aliases or ())))
            if in_text is None or any(key and f" {key} " in in_text for key in keys):
                kinds[str(other)] = kind
    return [{"title": other, "kind": kinds[other]} for other in sorted(kinds)]

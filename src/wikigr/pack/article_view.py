"""Read one section or one article for a reader: the text with its place, its neighbors and its links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wikigr.index.candidate import Section
from wikigr.names import bare_name, name_key
from wikigr.pack.open import Pack

LinkKind = Literal["link", "mention"]


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """Another article: ``link`` means that the author linked to it, ``mention`` that the text only names it."""

    title: str
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section in the outline of its article; ``heading_path`` is empty for the lead."""

    section_id: str
    heading: str
    heading_path: tuple[str, ...]
    word_count: int


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with the sections before and after it, and the articles that it names, in order of title."""

    section: Section
    heading_path: tuple[str, ...]
    url: str | None
    previous: OutlineEntry | None
    next: OutlineEntry | None
    links: tuple[ArticleLink, ...]


@dataclass(frozen=True, slots=True)
class ArticleView:
    """An article with its outline. ``content`` is the whole text, ``lead`` that of the first section.

    ``links`` are the articles that it names and ``backlinks`` those that name it, in order of title. ``pagerank`` is
    its probability in [0, 1], or ``None`` if the pack has no PageRank of this content.
    """

    title: str
    url: str | None
    aliases: tuple[str, ...]
    categories: tuple[str, ...]
    content: str
    lead: str
    outline: tuple[OutlineEntry, ...]
    links: tuple[ArticleLink, ...]
    backlinks: tuple[ArticleLink, ...]
    pagerank: float | None


def view_section(pack: Pack, section_id: str) -> SectionView:
    """Return the section ``section_id``; raises ``KeyError`` for an unknown id."""
    section = pack.sections([section_id])[section_id]
    outline = _outline(pack, section.title)
    place = next(n for n, entry in enumerate(outline) if entry.section_id == section_id)
    text = f" {name_key(section.content)} "
    return SectionView(
        section=section,
        heading_path=outline[place].heading_path,
        url=pack.urls_of([section_id])[section_id],
        previous=outline[place - 1] if place else None,
        next=outline[place + 1] if place + 1 < len(outline) else None,
        # The graph stores links by article; these are the neighbors that the section names.
        links=_neighbors(pack, section.title, "(a)-[:{relation}]->(b:Article)", in_text=text),
    )


def view_article(pack: Pack, title: str) -> ArticleView:
    """Return the article ``title``, spelled as in the pack; raises ``KeyError`` for an unknown title."""
    rows = pack.graph.rows(
        "MATCH (a:Article {title: $title}) RETURN a.content, a.aliases, a.categories", {"title": title}
    )
    if not rows:
        raise KeyError(title)
    content, aliases, categories = rows[0]
    outline = _outline(pack, title)
    first = outline[0].section_id if outline else None
    return ArticleView(
        title=title,
        url=pack.urls_of([first])[first] if first else None,
        aliases=tuple(aliases or ()),
        categories=tuple(categories or ()),
        content=content,
        lead=pack.sections([first])[first].content if first else "",
        outline=outline,
        links=_neighbors(pack, title, "(a)-[:{relation}]->(b:Article)"),
        backlinks=_neighbors(pack, title, "(a)<-[:{relation}]-(b:Article)"),
        pagerank=pack.pagerank.get(title),
    )


def _outline(pack: Pack, title: str) -> tuple[OutlineEntry, ...]:
    rows = pack.graph.rows(
        "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) "
        "RETURN s.section_id, s.title, s.heading_path, s.word_count ORDER BY s.position, s.section_id",
        {"title": title},
    )
    return tuple(OutlineEntry(id_, heading or "", tuple(path or ()), words or 0) for id_, heading, path, words in rows)


def _neighbors(pack: Pack, title: str, pattern: str, *, in_text: str | None = None) -> tuple[ArticleLink, ...]:
    """Return the articles at the other end of ``pattern``, in order; with ``in_text``, those that it names.

    A link precedes a mention of the same article.
    """
    kinds: dict[str, LinkKind] = {}
    relations: tuple[tuple[str, LinkKind], ...] = (("MENTIONS", "mention"), ("LINKS_TO", "link"))
    for relation, kind in relations:
        query = f"MATCH (a:Article {{title: $title}}), {pattern.format(relation=relation)} RETURN b.title, b.aliases"
        for other, aliases in pack.graph.rows(query, {"title": title}):
            keys = (name_key(name) for name in (other, bare_name(other), *(aliases or ())))
            if in_text is None or any(key and f" {key} " in in_text for key in keys):
                kinds[str(other)] = kind
    return tuple(ArticleLink(other, kinds[other]) for other in sorted(kinds))

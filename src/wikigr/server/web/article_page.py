"""What the page of an article shows: its sections with links in the text, a quotation, and its place in the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from wikigr.documents.blocks import Mark, runs_of, show_blocks
from wikigr.graph.neighborhood import ARTICLE_RELATIONS, STRUCTURAL, Edge, Neighborhood, article
from wikigr.graph.pagerank_cache import PageRankCacheError, read_pack_cache
from wikigr.index.candidate import Section
from wikigr.names import bare_name
from wikigr.pack.article_view import OutlineEntry, view_article
from wikigr.pack.layout import PAGERANK
from wikigr.pack.open import Pack
from wikigr.server.web.addresses import address, article_address, outside_address, section_anchor
from wikigr.server.web.answer_page import ArticleLink, link_to
from wikigr.text import word_count

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape

_MAX_PACKS = 8


@dataclass(frozen=True, slots=True)
class Rank:
    """The PageRank of an article, a probability, and its place among ``of`` articles, from 1."""

    score: float
    place: int
    of: int


class ArticleRanks:
    """The ranks of all articles of a pack; ties break by title."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        order = sorted(scores, key=lambda title: (-scores[title], title))
        self._places = {title: place for place, title in enumerate(order, start=1)}

    def of(self, title: str) -> Rank | None:
        """Return the rank of an article, or ``None`` if it has none."""
        place = self._places.get(title)
        return None if place is None else Rank(self._scores[title], place, len(self._places))

    def first(self, count: int) -> tuple[str, ...]:
        """Return the titles of the ``count`` articles with the highest PageRank."""
        return tuple(islice(self._places, count))

    def order(self, title: str) -> tuple[float, str]:
        """Return the sort key of an article: the highest PageRank first, then by title."""
        return -self._scores.get(title, 0.0), title


def ranks_of(pack: Pack) -> ArticleRanks:
    """Return the ranks in the cache of a pack; they are empty if it has none that can be used."""
    manifest = pack.manifest
    counts = manifest.counts
    path, damage = pack.layout.part(PAGERANK), pack.damage_of(PAGERANK)
    return _read(path, manifest.digest, counts["articles"], counts["links"], damage)


@lru_cache(maxsize=_MAX_PACKS)
def _read(path: Path, digest: str, articles: int, links: int, damage: str) -> ArticleRanks:
    try:
        return ArticleRanks(read_pack_cache(path, digest, {"articles": articles, "links": links}, damage).scores)
    except PageRankCacheError:
        return ArticleRanks({})


# Sections on one page; the page of a longer article shows those around the wanted one.
SECTIONS_PER_PAGE = 150
# The maximum number of edges of each kind and direction that are read, and of articles and facts that a list shows.
_MAX_EDGES = 2_000
_MAX_LISTED = 40
_MAX_FACTS = 40
_MAX_LISTED_NAMES = 30
# The text links the names of at most this many articles.
_MAX_LINKED = 1_000
_MIN_NAME_LENGTH = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Quotation:
    """The characters ``start:end`` of a section, which the page highlights."""

    section_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A section in the outline; ``level`` is 0 for the lead and 1 for top-level sections."""

    heading: str
    level: int
    href: str


@dataclass(frozen=True, slots=True)
class ArticleSection:
    """A section with its text; the lead has ``level`` 0. ``outside`` is its place on the web, if it is known.

    ``heading`` is empty if the section continues the one before it, as in an article that was divided into passages.
    """

    anchor: str
    section_id: str
    heading: str
    level: int
    text: tuple[BlockShape, ...]
    outside: str | None


@dataclass(frozen=True, slots=True)
class LinkList:
    """Articles, the highest PageRank first, and how many ``more`` there are."""

    articles: tuple[ArticleLink, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple of the pack about an article; ``href`` is the section that states it, or empty."""

    subject: str
    relation: str
    object: str
    href: str


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """An article. ``links`` and ``mentions`` lead from it, ``linked_from`` and ``mentioned_in`` to it.

    ``earlier`` and ``later`` are the addresses of the sections that are not on this page, if there are any.
    ``quotation_missing`` says that the quotation is not in the article. ``file`` is the source file of an article that
    is not on the web.
    """

    pack: str
    title: str
    outside: str | None
    file: str | None
    aliases: tuple[str, ...]
    categories: tuple[str, ...]
    words: int
    rank: Rank | None
    outline: tuple[Heading, ...]
    sections: tuple[ArticleSection, ...]
    earlier: str
    later: str
    quotation_missing: bool
    links: LinkList
    mentions: LinkList
    linked_from: LinkList
    mentioned_in: LinkList
    facts: tuple[Fact, ...]
    picture_href: str


def article_page(
    pack: Pack, title: str, *, section_id: str | None = None, quotation: Quotation | None = None
) -> ArticlePage:
    """Return the page of the article ``title`` of one pack, spelled as there; raises ``KeyError`` if there is none.

    ``section_id`` is the section that must be on the page, if the article is too long for one.
    """
    view = view_article(pack, title)
    ids = [entry.section_id for entry in view.outline]
    paths = [entry.heading_path for entry in view.outline]
    headed = [n for n, path in enumerate(paths) if n == 0 or path != paths[n - 1]]
    begin = ids.index(section_id) // SECTIONS_PER_PAGE * SECTIONS_PER_PAGE if section_id in ids else 0
    shown = view.outline[begin : begin + SECTIONS_PER_PAGE]
    neighborhood, ranks = Neighborhood(pack.graph), ranks_of(pack)
    node = article(title)
    found = neighborhood.expand([node], most=_MAX_EDGES)
    edges = found.edges[node]
    lists = {
        (relation, outgoing): _linked(pack, edges, title, relation, ranks, outgoing=outgoing)
        for relation in ARTICLE_RELATIONS
        for outgoing in (True, False)
    }
    names = _names_of(pack, title, edges)
    stored = pack.sections([entry.section_id for entry in shown])
    outside = pack.urls_of([entry.section_id for entry in shown])
    first = stored.get(shown[0].section_id) if shown else None
    url = outside_address(view.url)
    end = begin + len(shown)
    return ArticlePage(
        pack=pack.label,
        title=title,
        outside=url,
        file=first.source_id if url is None and first is not None else None,
        aliases=view.aliases[:_MAX_LISTED_NAMES],
        categories=view.categories[:_MAX_LISTED_NAMES],
        words=word_count(view.content),
        rank=ranks.of(title),
        outline=tuple(_heading(pack, title, view.outline[n], begin, end, n) for n in headed),
        sections=tuple(
            _section(
                entry,
                entry.heading if n in headed else "",
                stored[entry.section_id],
                outside[entry.section_id],
                names,
                quotation,
            )
            for n, entry in enumerate(shown, start=begin)
        ),
        earlier=article_address(pack.label, title, ids[begin - 1]) if begin else "",
        later=article_address(pack.label, title, ids[end]) if end < len(ids) else "",
        quotation_missing=quotation is not None and not _is_stored(quotation, stored),
        links=lists["LINKS_TO", True],
        mentions=lists["MENTIONS", True],
        linked_from=lists["LINKS_TO", False],
        mentioned_in=lists["MENTIONS", False],
        facts=tuple(_facts(pack, edges)),
        picture_href=address("/neighborhood", {"pack": pack.label, "title": title}),
    )


def _heading(pack: Pack, title: str, entry: OutlineEntry, begin: int, end: int, n: int) -> Heading:
    """Return the outline's link to section number ``n``; the sections ``begin:end`` are on the page."""
    anchor = f"#{section_anchor(entry.section_id)}"
    href = anchor if begin <= n < end else article_address(pack.label, title, entry.section_id)
    return Heading(entry.heading, len(entry.heading_path), href)


def _section(
    entry: OutlineEntry,
    heading: str,
    section: Section,
    outside: str | None,
    names: Mapping[str, str],
    quotation: Quotation | None,
) -> ArticleSection:
    text = section.content
    marks = [Mark(*span, target=target) for span, target in find_names(text, names).items()]
    if quotation is not None and quotation.section_id == entry.section_id:
        marks.append(Mark(quotation.start, quotation.end, "quoted"))
    shown = show_blocks(text, section.blocks, marks=marks)
    quoted = next((run for block in shown for run in runs_of(block) if run["role"] == "quoted"), None)
    if quoted is not None:
        quoted["begins"] = True
    return ArticleSection(
        anchor=section_anchor(entry.section_id),
        section_id=entry.section_id,
        heading=heading,
        level=len(entry.heading_path),
        text=tuple(shown),
        outside=outside_address(outside),
    )


def _is_stored(quotation: Quotation, stored: Mapping[str, Section]) -> bool:
    section = stored.get(quotation.section_id)
    return section is not None and bool(section.content[quotation.start : quotation.end].strip())


def _linked(
    pack: Pack, edges: Sequence[Edge], title: str, relation: str, ranks: ArticleRanks, *, outgoing: bool
) -> LinkList:
    titles = {
        (edge.target if outgoing else edge.source).key
        for edge in edges
        if edge.relation == relation and (edge.source if outgoing else edge.target).key == title
    }
    order = sorted(titles - {title}, key=ranks.order)
    return LinkList(tuple(link_to(pack, name) for name in order[:_MAX_LISTED]), max(0, len(order) - _MAX_LISTED))


def _names_of(pack: Pack, title: str, edges: Sequence[Edge]) -> dict[str, str]:
    """Return the names by which the text may call the articles that it links or mentions, with their addresses."""
    titles = sorted({edge.target.key for edge in edges if edge.relation in ARTICLE_RELATIONS} - {title})[:_MAX_LINKED]
    rows = pack.graph.rows(
        "UNWIND $titles AS title MATCH (a:Article {title: title}) RETURN a.title, a.aliases", {"titles": titles}
    )
    names: dict[str, str] = {}
    for name, aliases in rows:
        # A single word that is only an alias is too often something else: "Born".
        for written in (*(alias for alias in aliases or () if " " in alias), bare_name(name)):
            if len(written) >= _MIN_NAME_LENGTH:
                names[written] = article_address(pack.label, name)
    # An article is called by its own title first, whatever the aliases of others are.
    return names | {name: article_address(pack.label, name) for name, _ in rows}


def _facts(pack: Pack, edges: Sequence[Edge]) -> Iterator[Fact]:
    triples = (edge for edge in edges if edge.relation not in STRUCTURAL)
    for edge in islice(triples, _MAX_FACTS):
        stated = pack.sections([edge.section_id]).get(edge.section_id) if edge.section_id else None
        href = article_address(pack.label, stated.title, stated.section_id) if stated is not None else ""
        yield Fact(edge.source.label, edge.relation, edge.target.label, href)


def find_names(text: str, titles: Mapping[str, str]) -> dict[tuple[int, int], str]:
    """Return where ``text`` first names each article: spans with titles.

    ``titles`` maps names as written to the titles of articles. Of names that overlap, the one that begins first
    counts, then the longest. Only whole words match.
    """
    by_first: dict[str, list[str]] = {}
    for name in sorted(titles, key=lambda name: (-len(name), name)):
        first = _WORD.search(name)
        if first is not None and first.start() == 0:
            by_first.setdefault(first[0], []).append(name)
    found: dict[tuple[int, int], str] = {}
    seen: set[str] = set()
    end = 0
    for word in _WORD.finditer(text):
        if word.start() < end:
            continue
        for name in by_first.get(word[0], ()):
            if not text.startswith(name, word.start()):
                continue
            after = word.start() + len(name)
            if after < len(text) and name[-1].isalnum() and text[after].isalnum():
                continue
            end = after
            if titles[name] not in seen:
                seen.add(titles[name])
                found[word.start(), after] = titles[name]
            break
    return found

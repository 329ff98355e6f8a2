"""Compare two packs: their counts, and the titles of the articles that differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wikigr.graph.schema import article_title
from wikigr.pack.digest import Row, database_rows, encode_row
from wikigr.pack.manifest import Manifest
from wikigr.pack.open import Pack


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two packs compared."""

    name: str
    version: str
    digest: str
    articles: int
    sections: int
    links: int
    mentions: int
    triples: int

    @classmethod
    def of(cls, manifest: Manifest) -> Side:
        counts = {name: manifest.counts[name] for name in ("articles", "sections", "links", "mentions", "triples")}
        return cls(manifest.name, manifest.version, manifest.digest, **counts)


@dataclass(frozen=True, slots=True)
class ContentDiff:
    """The titles of the articles that only one pack has, and of those that differ, in order.

    An article differs if its text, its sections (headings, places, sources, anchors), its names, categories, address
    or revision do. Its links, mentions and triples are only counted: most of them follow from the other articles.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackDiff:
    """The differences between the pack ``a`` (before) and the pack ``b`` (after)."""

    a: Side
    b: Side
    content: ContentDiff

    @property
    def differs(self) -> bool:
        """Whether the content or the encoder differs."""
        return self.a.digest != self.b.digest


def diff_packs(a: str | Path, b: str | Path) -> PackDiff:
    """Compare the packs ``a`` (before) and ``b`` (after).

    Raises ``PackError`` when a pack is missing, damaged or has another format.
    """
    with Pack(a) as before, Pack(b) as after:
        content = ContentDiff()
        if before.manifest.digest != after.manifest.digest:
            content = compare(database_rows(before.graph), database_rows(after.graph))
        return PackDiff(Side.of(before.manifest), Side.of(after.manifest), content)


def compare(a: Mapping[str, Iterable[Row]], b: Mapping[str, Iterable[Row]]) -> ContentDiff:
    """Compare the content with the rows ``a`` (before, by the kinds of ``pack.digest``) with that of ``b`` (after).

    Memory use: about 200 bytes per article.
    """
    before, after = _fingerprints(a), _fingerprints(b)
    return ContentDiff(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(title for title in before.keys() & after.keys() if before[title] != after[title])),
    )


def _fingerprints(rows: Mapping[str, Iterable[Row]]) -> dict[str, bytes]:
    """Return a hash of the rows of each article, by title; they come in the same order from every pack."""
    found: dict[str, bytes] = {}

    def feed(title: str, kind: str, row: Row) -> None:
        data = found.get(title, b"") + encode_row(kind, row)
        found[title] = hashlib.blake2b(data, digest_size=16).digest()

    for row in rows["article"]:
        feed(row[0], "article", row)
    for row in rows["section"]:
        feed(article_title(row[0]), "section", row)
    for row in rows["alias"]:
        feed(row[1], "alias", row)
    return found

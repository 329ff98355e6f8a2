"""Compare two packs: the titles of the articles that differ, the counts, and the manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikigr.graph.schema import article_title
from wikigr.pack.digest import Row, database_rows, encode_row
from wikigr.pack.manifest import EXAMPLES, QUESTIONS, Manifest, describe_file
from wikigr.pack.open import Pack

_HASH_BYTES = 16
# Build time and build version do not count as differences, and the content is compared separately.
_COMPARED = (
    "name", "description", "license", "attribution", "format_version", "engine", "storage_version", "bundled_encoder",
)  # fmt: skip


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
class FieldChange:
    """A changed field of the manifest, or a file that the author adds; ``None`` if one of the two packs lacks it."""

    name: str
    before: str | float | bool | None
    after: str | float | bool | None


@dataclass(frozen=True, slots=True)
class PackDiff:
    """All differences between the pack ``a`` (before) and the pack ``b`` (after)."""

    a: Side
    b: Side
    content: ContentDiff
    manifest: tuple[FieldChange, ...]

    @property
    def differs(self) -> bool:
        """Whether there is a difference other than the place of the source."""
        return self.a.digest != self.b.digest or any(not c.name.startswith("source.") for c in self.manifest)


def diff_packs(a: str | Path, b: str | Path) -> PackDiff:
    """Compare the packs ``a`` (before) and ``b`` (after).

    Raises ``PackError`` when a pack is missing, damaged or has another format.
    """
    with Pack(a) as before, Pack(b) as after:
        content = ContentDiff()
        if before.manifest.digest != after.manifest.digest:
            content = compare(database_rows(before.graph), database_rows(after.graph))
        changes = manifest_changes(before.manifest, after.manifest)
        changes += _added_files(before.layout.root, after.layout.root)
        return PackDiff(Side.of(before.manifest), Side.of(after.manifest), content, changes)


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
        found[title] = hashlib.blake2b(data, digest_size=_HASH_BYTES).digest()

    for row in rows["article"]:
        feed(row[0], "article", row)
    for row in rows["section"]:
        feed(article_title(row[0]), "section", row)
    for row in rows["alias"]:
        feed(row[1], "alias", row)
    return found


def manifest_changes(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """Return the fields that differ, in a fixed order; versions, times and counts are not compared."""
    one, two = asdict(before), asdict(after)
    pairs = [(name, one[name], two[name]) for name in _COMPARED]
    for group in ("encoder", "source", "thresholds"):
        names = sorted(one[group].keys() | two[group].keys())
        pairs += [(f"{group}.{name}", one[group].get(name), two[group].get(name)) for name in names]
    return tuple(FieldChange(*pair) for pair in pairs if pair[1] != pair[2])


def _added_files(before: Path, after: Path) -> tuple[FieldChange, ...]:
    """Compare the files that the author of a pack adds to those of the build, by the beginnings of their SHA-256."""

    def known(file: Path) -> Any:
        return describe_file(file).sha256[:12] if file.is_file() else None

    files = {"gold questions": QUESTIONS, "few-shot examples": EXAMPLES}
    changes = (FieldChange(name, known(before / path), known(after / path)) for name, path in files.items())
    return tuple(change for change in changes if change.before != change.after)

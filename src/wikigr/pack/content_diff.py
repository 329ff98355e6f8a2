"""Compare the content of two packs: articles, sections, edges and triples.

Texts are compared by hash (128-bit BLAKE2b). Memory use: a few hundred bytes per article, 32 per section, 8 per edge
and triple. Only what changed is read a second time.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.schema import article_title, section_id
from wikigr.pack.pack_reader import ContentReader, EdgeKind, SectionText, Statement
from wikigr.text import fold

RenameEvidence = Literal["content", "alias", "sections"]

# Without a matching text or name, a renamed article must keep at least this share of its unique section texts.
_MIN_KEPT_SHARE = 0.5
_HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Removed:
    """A removed article; ``now`` is the article that has its title as an alias, if any."""

    title: str
    now: str | None


@dataclass(frozen=True, slots=True)
class Renamed:
    """A renamed article.

    ``told_by`` is the evidence: the same ``content``, an ``alias`` of one that is the title of the other, or at least
    half of the ``sections`` with the same text, not counting texts that other articles share.
    """

    before: str
    after: str
    told_by: RenameEvidence


@dataclass(frozen=True, slots=True)
class SectionMove:
    """A section whose text is unchanged but whose id or heading changed; the headings are set only if they differ."""

    before: str
    after: str
    heading_before: str | None = None
    heading_after: str | None = None


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section with the same heading and changed text; the word counts ignore the order of words."""

    before: str
    after: str
    words_added: int
    words_removed: int


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """An article that both packs contain and that differs; sections are identified by their ids.

    ``title`` is the title in the second pack. ``details`` names the other fields that differ: categories, url,
    revision, source ids, anchors, and layout (the text around the sections). The word counts cover all sections and
    ignore the order of words.
    """

    title: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[SectionChange, ...]
    moved: tuple[SectionMove, ...]
    words_added: int
    words_removed: int
    aliases_added: tuple[str, ...]
    aliases_removed: tuple[str, ...]
    details: tuple[str, ...]

    @property
    def changes_text(self) -> bool:
        """Whether sections differ, as opposed to aliases and details only."""
        return bool(self.added or self.removed or self.changed or self.moved)


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """Edges as pairs of titles. Renaming an article does not change its edges."""

    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TripleChange:
    """A triple and the article that states it."""

    subject: str
    relation: str
    object: str
    article: str


@dataclass(frozen=True, slots=True)
class TripleChanges:
    """Triples that only one of the packs contains."""

    added: tuple[TripleChange, ...] = ()
    removed: tuple[TripleChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ContentDiff:
    """The difference in content, in order of title. ``moved`` are the sections that moved to another article."""

    added: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    changed: tuple[ArticleChange, ...] = ()
    moved: tuple[SectionMove, ...] = ()
    links: EdgeChanges = field(default_factory=EdgeChanges)
    mentions: EdgeChanges = field(default_factory=EdgeChanges)
    triples: TripleChanges = field(default_factory=TripleChanges)


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """The hashes of one article. ``sections`` has 32 bytes per section: the hash of its headings and of its text."""

    content: bytes
    aliases: tuple[str, ...]
    details: Mapping[str, bytes]
    sections: bytes

    def texts(self) -> list[bytes]:
        """Return the text hashes of the sections, in order of position."""
        return [self.sections[at + _HASH_BYTES : at + 2 * _HASH_BYTES] for at in _steps(self.sections)]


def _steps(sections: bytes) -> range:
    return range(0, len(sections), 2 * _HASH_BYTES)


def compare(a: ContentReader, b: ContentReader) -> ContentDiff:
    """Compare the content ``a`` (before) with ``b`` (after)."""
    before, after = _fingerprints(a), _fingerprints(b)
    gone, new = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    renamed = _renamed(gone, new, before, after)
    title_after = {change.before: change.after for change in renamed}
    kept = [(title, title) for title in before.keys() & after.keys()] + list(title_after.items())
    changed: list[ArticleChange] = []
    for old, title in sorted(kept, key=lambda pair: pair[1]):
        # A new title is reported as a rename; the aliases that change with it are not reported again.
        if (before[old].content, before[old].sections, before[old].details) != (
            after[title].content,
            after[title].sections,
            after[title].details,
        ) or _names(before[old], old, title) != _names(after[title], old, title):
            changed.append(_article_change(a, b, old, title, before[old], after[title]))
    removed = [title for title in gone if title not in title_after]
    arrived = set(title_after.values())
    added = [title for title in new if title not in arrived]
    by_name: dict[str, str] = {}
    for title in sorted(after):
        for alias in after[title].aliases:
            by_name.setdefault(fold(alias), title)
    return ContentDiff(
        added=tuple(added),
        removed=tuple(Removed(title, by_name.get(fold(title))) for title in removed),
        renamed=tuple(renamed),
        changed=tuple(changed),
        moved=_moved_between(removed, added, changed, before, after),
        links=_edge_changes(a, b, "LINKS_TO", title_after),
        mentions=_edge_changes(a, b, "MENTIONS", title_after),
        triples=_triple_changes(a, b, title_after),
    )


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def _fingerprints(contents: ContentReader) -> dict[str, _Fingerprint]:
    sections: dict[str, bytearray] = defaultdict(bytearray)
    sources: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=_HASH_BYTES))
    anchors: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=_HASH_BYTES))
    for section in contents.sections():
        sections[section.article] += _hash("\n".join(section.heading_path)) + _hash(section.content)
        sources[section.article].update(_hash(section.source_id))
        anchors[section.article].update(_hash(section.anchor))
    return {
        article.title: _Fingerprint(
            _hash(article.content),
            article.aliases,
            {
                **{name: _hash(value) for name, value in article.details.items()},
                "source ids": sources[article.title].digest(),
                "anchors": anchors[article.title].digest(),
            },
            bytes(sections[article.title]),
        )
        for article in contents.articles()
    }


def _names(known: _Fingerprint, *titles: str) -> set[str]:
    return {fold(alias) for alias in known.aliases} - {fold(title) for title in titles}


def _renamed(
    gone: Sequence[str], new: Sequence[str], before: Mapping[str, _Fingerprint], after: Mapping[str, _Fingerprint]
) -> list[Renamed]:
    """Pair removed articles with new ones, each at most once: strong evidence first, then weak."""
    pairs: dict[str, Renamed] = {}
    taken: set[str] = set()

    def pair(old: str, title: str, evidence: RenameEvidence) -> None:
        if old not in pairs and title not in taken:
            pairs[old] = Renamed(old, title, evidence)
            taken.add(title)

    by_content: dict[bytes, list[list[str]]] = defaultdict(lambda: [[], []])
    for which, (titles, known) in enumerate(((gone, before), (new, after))):
        for title in titles:
            by_content[known[title].content][which].append(title)
    for olds, titles in by_content.values():
        # Several articles with the same text ("See also") are ambiguous.
        if len(olds) == len(titles) == 1:
            pair(olds[0], titles[0], "content")
    old_by_name = {fold(title): title for title in reversed(gone)}
    for title in new:
        for name in sorted(_names(after[title])):
            if name in old_by_name:
                pair(old_by_name[name], title, "alias")
    new_by_name = {fold(title): title for title in reversed(new)}
    for old in gone:
        for name in sorted(_names(before[old])):
            if name in new_by_name:
                pair(old, new_by_name[name], "alias")
    new_by_text: dict[bytes, list[str]] = defaultdict(list)
    for title in new:
        for text in set(after[title].texts()):
            new_by_text[text].append(title)
    unique = _unique_texts(gone, before, after)
    for old in gone:
        texts = unique & set(before[old].texts())
        shared = Counter(title for text in texts for title in new_by_text.get(text, ()) if title not in taken)
        if shared:
            best, count = min(shared.items(), key=lambda item: (-item[1], item[0]))
            if count >= _MIN_KEPT_SHARE * len(texts):
                pair(old, best, "sections")
    return [pairs[old] for old in sorted(pairs)]


def _unique_texts(
    titles: Sequence[str], before: Mapping[str, _Fingerprint], after: Mapping[str, _Fingerprint]
) -> AbstractSet[bytes]:
    """Return the section texts of ``titles`` that occur in one article per pack; shared notices prove nothing."""
    unique = {text for title in titles for text in before[title].texts()}
    for side in (before, after):
        holders = Counter(text for known in side.values() for text in unique.intersection(known.texts()))
        unique -= {text for text, count in holders.items() if count > 1}
    return unique


def _article_change(
    a: ContentReader, b: ContentReader, old: str, title: str, before: _Fingerprint, after: _Fingerprint
) -> ArticleChange:
    one, two = a.sections_of(old), b.sections_of(title)
    left, right = dict(enumerate(one)), dict(enumerate(two))
    moved: list[tuple[int, int]] = []
    keys: tuple[Callable[[SectionText], object], ...] = (
        lambda section: (section.position, section.heading_path, section.content),
        lambda section: (section.heading_path, section.content),
        lambda section: section.content,
    )
    for key in keys:
        for i, j in _match(left, right, key):
            if i != j or one[i].heading_path != two[j].heading_path:
                moved.append((i, j))
    changed = _match(left, right, lambda section: section.heading_path)
    names_before, names_after = _names(before, old, title), _names(after, old, title)
    details = [name for name in before.details if before.details[name] != after.details[name]]
    if before.content != after.content and before.sections == after.sections:
        details.append("layout")
    return ArticleChange(
        title=title,
        added=tuple(section_id(title, two[j].position) for j in sorted(right)),
        removed=tuple(section_id(old, one[i].position) for i in sorted(left)),
        changed=tuple(
            SectionChange(
                section_id(old, one[i].position), section_id(title, two[j].position), *_word_changes([one[i]], [two[j]])
            )
            for i, j in changed
        ),
        moved=tuple(_move(old, one[i], title, two[j]) for i, j in sorted(moved)),
        **dict(zip(("words_added", "words_removed"), _word_changes(one, two), strict=True)),
        aliases_added=tuple(sorted(names_after - names_before)),
        aliases_removed=tuple(sorted(names_before - names_after)),
        details=tuple(details),
    )


def _move(old: str, one: SectionText, title: str, two: SectionText) -> SectionMove:
    ids = section_id(old, one.position), section_id(title, two.position)
    if one.heading_path == two.heading_path:
        return SectionMove(*ids)
    return SectionMove(*ids, " - ".join(one.heading_path), " - ".join(two.heading_path))


def _match(
    left: dict[int, SectionText], right: dict[int, SectionText], key: Callable[[SectionText], object]
) -> list[tuple[int, int]]:
    """Remove sections with the same key from both sides, pairing them in order, and return the pairs of numbers."""
    waiting: dict[object, list[int]] = defaultdict(list)
    for j in sorted(right, reverse=True):
        waiting[key(right[j])].append(j)
    pairs = []
    for i in sorted(left):
        if waiting.get(key(left[i])):
            pairs.append((i, waiting[key(left[i])].pop()))
    for i, j in pairs:
        del left[i], right[j]
    return pairs


def _word_changes(before: Iterable[SectionText], after: Iterable[SectionText]) -> tuple[int, int]:
    """Return the numbers of added and removed words, ignoring their order."""
    one, two = (Counter(word for section in part for word in section.content.split()) for part in (before, after))
    return (two - one).total(), (one - two).total()


def _moved_between(
    removed: Sequence[str],
    added: Sequence[str],
    changed: Sequence[ArticleChange],
    before: Mapping[str, _Fingerprint],
    after: Mapping[str, _Fingerprint],
) -> tuple[SectionMove, ...]:
    """Return the sections that moved from one article to another with the same text."""
    gone, came = (
        _sections_by_text(known, titles, ids)
        for known, titles, ids in (
            (before, removed, [identifier for change in changed for identifier in change.removed]),
            (after, added, [identifier for change in changed for identifier in change.added]),
        )
    )
    return tuple(
        sorted(
            (
                SectionMove(old, new)
                for text in gone.keys() & came.keys()
                for old, new in zip(sorted(gone[text]), sorted(came[text]), strict=False)
            ),
            key=lambda move: (move.before, move.after),
        )
    )


def _sections_by_text(
    known: Mapping[str, _Fingerprint], titles: Sequence[str], ids: Iterable[str]
) -> dict[bytes, list[str]]:
    """Return the ids of all sections of ``titles``, and the given ``ids``, grouped by the hash of their text."""
    found: dict[bytes, list[str]] = defaultdict(list)
    for title in titles:
        for position, text in enumerate(known[title].texts()):
            found[text].append(section_id(title, position))
    for identifier in ids:
        title, _, place = identifier.rpartition("#")
        texts = known[title].texts()
        if int(place) < len(texts):
            found[texts[int(place)]].append(identifier)
    return found


def _edge_changes(a: ContentReader, b: ContentReader, kind: EdgeKind, title_after: Mapping[str, str]) -> EdgeChanges:
    one, two = a.edges(kind), b.edges(kind)
    numbers: dict[str, int] = {}
    keys = []
    for links, rename in ((one, title_after), (two, {})):
        own = np.fromiter(
            (numbers.setdefault(rename.get(title, title), len(numbers)) for title in links.titles),
            dtype=np.int64,
            count=len(links.titles),
        )
        keys.append(own[links.sources] * (1 << 32) + own[links.targets] if len(links.sources) else own[:0])
    names = list(numbers)

    def named(found: NDArray[np.int64]) -> tuple[tuple[str, str], ...]:
        return tuple(sorted((names[key >> 32], names[key & 0xFFFFFFFF]) for key in found.tolist()))

    return EdgeChanges(named(np.setdiff1d(keys[1], keys[0])), named(np.setdiff1d(keys[0], keys[1])))


def _triple_changes(a: ContentReader, b: ContentReader, title_after: Mapping[str, str]) -> TripleChanges:
    # The entity of a renamed article is renamed with it.
    entity_after = {fold(old): fold(title) for old, title in title_after.items()}

    def keys(
        contents: ContentReader, renames: Mapping[str, str], entities: Mapping[str, str]
    ) -> Iterator[tuple[int, Any]]:
        for statement in contents.statements():
            article = article_title(statement.section_id)
            yield _triple_key(statement, renames.get(article, article), entities), statement

    sides: Sequence[tuple[ContentReader, Mapping[str, str], Mapping[str, str]]] = (
        (a, title_after, entity_after),
        (b, {}, {}),
    )
    one, two = (
        np.unique(np.fromiter((key for key, _ in keys(*side)), dtype=np.uint64))  # only the hashes are kept in memory
        for side in sides
    )
    found = []
    for which, other, side in ((two, one, sides[1]), (one, two, sides[0])):
        wanted = set(np.setdiff1d(which, other).tolist())
        rows = {key: statement for key, statement in keys(*side) if key in wanted} if wanted else {}
        found.append(
            tuple(
                sorted(
                    (TripleChange(s.subject, s.relation, s.object, article_title(s.section_id)) for s in rows.values()),
                    key=lambda triple: (triple.article, triple.subject, triple.relation, triple.object),
                )
            )
        )
    return TripleChanges(*found)


def _triple_key(statement: Statement, article: str, entities: Mapping[str, str]) -> int:
    """Return a 64-bit hash; among ten million triples, the probability of a collision is below 1 in 100,000."""
    subject, object_ = (entities.get(key, key) for key in (statement.subject_key, statement.object_key))
    parts = "\0".join((subject, statement.relation, object_, article))
    return int.from_bytes(hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")

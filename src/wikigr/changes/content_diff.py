"""What differs between two contents: articles, sections, edges and triples.

Texts are compared by hash (128-bit BLAKE2b): some hundred bytes are held for each article, 32 for each section, 8 for
each edge and triple. Only what changed is read a second time.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikigr.graph.schema import article_title, section_id
from wikigr.pack.pack_reader import Contents, EdgeKind, SectionText, Statement
from wikigr.text import fold

ToldBy = Literal["content", "alias", "sections"]

# A renamed article keeps at least this share of the sections' texts that are its own, where neither its text nor a name
# tells.
_KEPT_SHARE = 0.5
_HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Removed:
    """An article that is gone; ``now`` is the article that has its title as an alias, if there is one."""

    title: str
    now: str | None


@dataclass(frozen=True, slots=True)
class Renamed:
    """An article under another title.

    ``told_by`` says how it is known: the same ``content``, an ``alias`` of one that is the other's title, or at least
    half of the ``sections`` with the same text, those left out that other articles have too.
    """

    before: str
    after: str
    told_by: ToldBy


@dataclass(frozen=True, slots=True)
class SectionMove:
    """The text of one section under another id or heading; the headings are told only where they differ."""

    before: str
    after: str
    heading_before: str | None = None
    heading_after: str | None = None


@dataclass(frozen=True, slots=True)
class SectionChange:
    """A section of the same heading with another text; the words are counted whatever their order."""

    before: str
    after: str
    words_added: int
    words_removed: int


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """An article that is in both packs and not the same; sections go by their ids.

    ``title`` is the one in the second pack, ``details`` names what else differs (categories, url, revision, source ids,
    layout: how the text is laid out around the sections). The words are those of all sections, whatever their order.
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
        """Whether the sections differ, rather than names and details alone."""
        return bool(self.added or self.removed or self.changed or self.moved)


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """Edges by the titles of their ends; those of a renamed article are not changed by that."""

    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TripleChange:
    """A triple with the article that states it."""

    subject: str
    relation: str
    object: str
    article: str


@dataclass(frozen=True, slots=True)
class TripleChanges:
    """Triples that are in one pack only."""

    added: tuple[TripleChange, ...] = ()
    removed: tuple[TripleChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ContentDiff:
    """What differs in content, all of it in order of title. ``moved`` are sections that went to another article."""

    added: tuple[str, ...] = ()
    removed: tuple[Removed, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    changed: tuple[ArticleChange, ...] = ()
    moved: tuple[SectionMove, ...] = ()
    links: EdgeChanges = field(default_factory=EdgeChanges)
    mentions: EdgeChanges = field(default_factory=EdgeChanges)
    triples: TripleChanges = field(default_factory=TripleChanges)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is held of one article. ``sections`` has 32 bytes for each: the hash of its headings and of its text."""

    content: bytes
    aliases: tuple[str, ...]
    details: Mapping[str, bytes]
    sections: bytes

    def texts(self) -> list[bytes]:
        """Return the hashes of the sections' texts, by position."""
        return [self.sections[at + _HASH_BYTES : at + 2 * _HASH_BYTES] for at in _steps(self.sections)]


def _steps(sections: bytes) -> range:
    return range(0, len(sections), 2 * _HASH_BYTES)


def compare(a: Contents, b: Contents) -> ContentDiff:
    """Compare two contents, ``a`` before and ``b`` after."""
    before, after = _survey(a), _survey(b)
    gone, new = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    renamed = _renamed(gone, new, before, after)
    title_after = {change.before: change.after for change in renamed}
    kept = [(title, title) for title in before.keys() & after.keys()] + list(title_after.items())
    changed: list[ArticleChange] = []
    for old, title in sorted(kept, key=lambda pair: pair[1]):
        # A new title is told as such; that the aliases follow is no other change.
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


def _survey(contents: Contents) -> dict[str, _Known]:
    sections: dict[str, bytearray] = defaultdict(bytearray)
    sources: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=_HASH_BYTES))
    for section in contents.sections():
        sections[section.article] += _hash("\n".join(section.heading_path)) + _hash(section.content)
        sources[section.article].update(_hash(section.source_id))
    return {
        article.title: _Known(
            _hash(article.content),
            article.aliases,
            {
                **{name: _hash(value) for name, value in article.details.items()},
                "source ids": sources[article.title].digest(),
            },
            bytes(sections[article.title]),
        )
        for article in contents.articles()
    }


def _names(known: _Known, *titles: str) -> set[str]:
    return {fold(alias) for alias in known.aliases} - {fold(title) for title in titles}


def _renamed(
    gone: Sequence[str], new: Sequence[str], before: Mapping[str, _Known], after: Mapping[str, _Known]
) -> list[Renamed]:
    """Pair articles that are gone with new ones, each at most once: first what is certain, then what is likely."""
    pairs: dict[str, Renamed] = {}
    taken: set[str] = set()

    def pair(old: str, title: str, told_by: ToldBy) -> None:
        if old not in pairs and title not in taken:
            pairs[old] = Renamed(old, title, told_by)
            taken.add(title)

    by_content: dict[bytes, list[list[str]]] = defaultdict(lambda: [[], []])
    for which, (titles, known) in enumerate(((gone, before), (new, after))):
        for title in titles:
            by_content[known[title].content][which].append(title)
    for olds, titles in by_content.values():
        # Several articles of one text ("See also") do not tell which is which.
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
    own = _own_texts(gone, before, after)
    for old in gone:
        texts = own & set(before[old].texts())
        shared = Counter(title for text in texts for title in new_by_text.get(text, ()) if title not in taken)
        if shared:
            best, count = min(shared.items(), key=lambda item: (-item[1], item[0]))
            if count >= _KEPT_SHARE * len(texts):
                pair(old, best, "sections")
    return [pairs[old] for old in sorted(pairs)]


def _own_texts(titles: Sequence[str], before: Mapping[str, _Known], after: Mapping[str, _Known]) -> AbstractSet[bytes]:
    """Return the texts of sections of ``titles`` that no side has in two articles: a notice in many tells nothing."""
    own = {text for title in titles for text in before[title].texts()}
    for side in (before, after):
        holders = Counter(text for known in side.values() for text in own.intersection(known.texts()))
        own -= {text for text, count in holders.items() if count > 1}
    return own


def _article_change(a: Contents, b: Contents, old: str, title: str, before: _Known, after: _Known) -> ArticleChange:
    one, two = a.sections_of(old), b.sections_of(title)
    left, right = dict(enumerate(one)), dict(enumerate(two))
    moved: list[tuple[int, int]] = []
    # The same place, then the same headings and text, then the same text.
    for key in (_whole, _headed, _text):
        for i, j in _matched(left, right, key):
            if i != j or one[i].heading_path != two[j].heading_path:
                moved.append((i, j))
    changed = _matched(left, right, _heading)
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
                section_id(old, one[i].position), section_id(title, two[j].position), *_words([one[i]], [two[j]])
            )
            for i, j in changed
        ),
        moved=tuple(_move(old, one[i], title, two[j]) for i, j in sorted(moved)),
        **dict(zip(("words_added", "words_removed"), _words(one, two), strict=True)),
        aliases_added=tuple(sorted(names_after - names_before)),
        aliases_removed=tuple(sorted(names_before - names_after)),
        details=tuple(details),
    )


def _move(old: str, one: SectionText, title: str, two: SectionText) -> SectionMove:
    ids = section_id(old, one.position), section_id(title, two.position)
    if one.heading_path == two.heading_path:
        return SectionMove(*ids)
    return SectionMove(*ids, " - ".join(one.heading_path), " - ".join(two.heading_path))


def _whole(section: SectionText) -> object:
    return section.position, section.heading_path, section.content


def _headed(section: SectionText) -> object:
    return section.heading_path, section.content


def _text(section: SectionText) -> object:
    return section.content


def _heading(section: SectionText) -> object:
    return section.heading_path


def _matched(left: dict[int, SectionText], right: dict[int, SectionText], key: Any) -> list[tuple[int, int]]:
    """Take the sections with the same key out of both, pair by pair in their order, and return their numbers."""
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


def _words(before: Iterable[SectionText], after: Iterable[SectionText]) -> tuple[int, int]:
    """Return how many words were added and how many removed, whatever their order."""
    one, two = (Counter(word for section in part for word in section.content.split()) for part in (before, after))
    return (two - one).total(), (one - two).total()


def _moved_between(
    removed: Sequence[str],
    added: Sequence[str],
    changed: Sequence[ArticleChange],
    before: Mapping[str, _Known],
    after: Mapping[str, _Known],
) -> tuple[SectionMove, ...]:
    """Return the sections that left one article and came to another with the same text."""
    gone, came = (
        _by_text(known, titles, ids)
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


def _by_text(known: Mapping[str, _Known], titles: Sequence[str], ids: Iterable[str]) -> dict[bytes, list[str]]:
    """Return the ids of all sections of ``titles``, and those in ``ids``, by the hash of their text."""
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


def _edge_changes(a: Contents, b: Contents, kind: EdgeKind, title_after: Mapping[str, str]) -> EdgeChanges:
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


def _triple_changes(a: Contents, b: Contents, title_after: Mapping[str, str]) -> TripleChanges:
    # An entity of a renamed article is called like it.
    entity_after = {fold(old): fold(title) for old, title in title_after.items()}

    def keys(contents: Contents, renames: Mapping[str, str], entities: Mapping[str, str]) -> Iterator[tuple[int, Any]]:
        for statement in contents.statements():
            article = article_title(statement.section_id)
            yield _triple_key(statement, renames.get(article, article), entities), statement

    sides: Sequence[tuple[Contents, Mapping[str, str], Mapping[str, str]]] = (
        (a, title_after, entity_after),
        (b, {}, {}),
    )
    one, two = (
        np.unique(np.fromiter((key for key, _ in keys(*side)), dtype=np.uint64))  # nothing else is held of them
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
    """Return 64 bits of a hash: in ten million triples two of one key are less likely than 1 in 100,000."""
    subject, object_ = (entities.get(key, key) for key in (statement.subject_key, statement.object_key))
    parts = "\0".join((subject, statement.relation, object_, article))
    return int.from_bytes(hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")

"""Several open packs, and their graphs, that a pipeline searches and reads like one."""

from __future__ import annotations

import copy
import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from wikigr.embeddings.embedder import Vectors
from wikigr.errors import UsageError
from wikigr.graph.graph_index import GraphIndex, name_hash
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Hit, Section
from wikigr.index.dense import DenseMethod
from wikigr.index.lexical import CONTENT, LexicalIndex
from wikigr.languages import language_of
from wikigr.pack.layout import MANIFEST, Layout, readable_path
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXAMPLES, MIN_RELEVANCE, Manifest, read_manifest
from wikigr.pack.open import Corpus, Pack
from wikigr.text import fold

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose


class JoinedLexicalIndex(LexicalIndex):
    """The indexes ``parts`` as one: words are weighted by their rarity in all of them together.

    With its own weights, a pack would rate a word highest that it hardly contains. ``rename`` maps the number of a part
    and a section id of that part to the id under which the section is found.
    """

    def __init__(self, parts: Sequence[LexicalIndex], rename: Callable[[int, str], str]) -> None:
        self._parts = parts
        self.language = parts[0].language
        self._rename = rename

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def frequencies(self, found: Sequence[str], field: str = CONTENT) -> list[int]:
        return [sum(counts) for counts in zip(*(part.frequencies(found, field) for part in self._parts), strict=True)]

    def search(self, query: str, limit: int, phrases: Sequence[str] = ()) -> list[Hit]:
        return _best(
            limit,
            (
                Hit(self._rename(number, hit.section_id), hit.score)
                for number, part in enumerate(self._parts)
                for hit in part.search_as_part(query, limit, self, phrases)
            ),
        )


def _best(limit: int, hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.section_id))[:limit]


class JoinedPack(Corpus):
    """Several packs as one, so that scores and confidences are those of one pack with all of their articles.

    Vectors and words are compared over all packs, the graphs are joined, and one reader reads the best sections of all
    of them. Where two packs have an article of the same title, it keeps the title in the first pack by name, and has
    that of its pack added in the others: "Spin (chemistry)". ``origin`` returns the id in its own pack.

    ``members`` are sorted by name, and closed with this pack.
    """

    def __init__(self, members: Sequence[Pack]) -> None:
        """Join ``members``, which share an encoder and a language (see ``open_packs``)."""
        self._members = tuple(members)
        _label(self._members)
        # Only worked examples are read from the folder.
        layouts = [member.layout for member in self._members]
        layout = next((layout for layout in layouts if (layout.root / EXAMPLES).is_file()), layouts[0])
        super().__init__(layout, _join_manifests(self._members), self._members[0].models)
        self.lexical = JoinedLexicalIndex([member.lexical for member in self._members], self._joined_id)
        self.preloads = any(member.preloads for member in self._members)

    @property
    def members(self) -> tuple[Pack, ...]:
        return self._members

    def dense_method(self, limit: int) -> DenseMethod:
        methods = {member.dense_method(limit) for member in self._members}
        return next(iter(methods)) if len(methods) == 1 else "mixed"

    @property
    def dense_warning(self) -> str:
        return " ".join(dict.fromkeys(f"{m.label}: {m.dense_warning}" for m in self._members if m.dense_warning))

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        return _best(
            limit,
            (
                Hit(self._joined_id(number, hit.section_id), hit.score)
                for number, member in enumerate(self._members)
                for hit in member.nearest(query, limit, exact=exact)
            ),
        )

    def sections(self, section_ids: Sequence[str]) -> dict[str, Section]:
        found = {
            ids[own_id]: replace(section, section_id=ids[own_id])
            for member, ids in self._by_member(section_ids)
            for own_id, section in member.sections(list(ids)).items()
        }
        return {section_id: found[section_id] for section_id in section_ids if section_id in found}

    def urls_of(self, section_ids: Iterable[str]) -> dict[str, str | None]:
        grouped = self._by_member(section_ids)
        return {ids[own_id]: url for member, ids in grouped for own_id, url in member.urls_of(ids).items()}

    def _by_member(self, section_ids: Iterable[str]) -> Iterable[tuple[Pack, dict[str, str]]]:
        """Return each member that stores some of the sections, with their ids here by the ids that they have there."""
        found: dict[Pack, dict[str, str]] = {}
        for section_id in section_ids:
            if article_title(section_id) in self._owners:
                member, own_id = self.origin(section_id)
                found.setdefault(member, {})[own_id] = section_id
        return found.items()

    def origin(self, section_id: str) -> tuple[Pack, str]:
        title = article_title(section_id)
        number, own_title = self._owners[title]
        return self._members[number], f"{own_title}{section_id[len(title) :]}"

    def title_of(self, member: Pack, title: str) -> str:
        return self._joined_title(self._members.index(member), title)

    def id_of(self, member: Pack, section_id: str) -> str:
        return self._joined_id(self._members.index(member), section_id)

    def _joined_title(self, number: int, title: str) -> str:
        return self._renamed[number].get(title, title)

    def _joined_id(self, number: int, section_id: str) -> str:
        if not self._renamed[number]:
            return section_id
        title = article_title(section_id)
        return f"{self._joined_title(number, title)}{section_id[len(title) :]}"

    @cached_property
    def _own_titles(self) -> list[list[str]]:
        return [article_titles(member.graph_index) for member in self._members]

    @cached_property
    def _renamed(self) -> list[Mapping[str, str]]:
        """For each member, the titles that articles of earlier members have, with their titles here."""
        taken = {title for titles in self._own_titles for title in titles}
        seen: set[str] = set()
        renamed: list[Mapping[str, str]] = []
        for member, titles in zip(self._members, self._own_titles, strict=True):
            new: dict[str, str] = {}
            for title in titles:
                if title in seen:
                    new[title] = f"{title} ({member.label})"
                    while new[title] in taken:
                        new[title] += "′"
                    taken.add(new[title])
            seen.update(titles)
            renamed.append(new)
        return renamed

    @cached_property
    def _owners(self) -> Mapping[str, tuple[int, str]]:
        """The number of the member with an article, and the title that it has there, by its title here."""
        return {
            self._joined_title(number, title): (number, title)
            for number, titles in enumerate(self._own_titles)
            for title in titles
        }

    @cached_property
    def graph_index(self) -> GraphIndex:
        indexes = [member.graph_index for member in self._members]
        warnings = [member.graph_index_warning for member in self._members]
        self.graph_index_warning = " ".join(dict.fromkeys(filter(None, warnings)))
        return join_graph_indexes(indexes, self._joined_title, self.manifest.digest)

    def _all_titles(self) -> Iterable[str]:
        return self._owners

    def text_of(self, title: str) -> str:
        number, own_title = self._owners.get(title, (0, ""))
        return self._members[number].text_of(own_title)

    def headings(self, title: str) -> list[str]:
        number, own_title = self._owners.get(title, (0, ""))
        return self._members[number].headings(own_title)

    def connect(self) -> Self:
        twin = copy.copy(self)
        twin._members = tuple(member.connect() for member in self._members)
        return twin

    def close(self) -> None:
        for member in self._members:
            member.close()


def _label(members: Sequence[Pack]) -> None:
    """Give each of ``members`` a label of its own: its name, with as much of its version and digest as is needed."""

    def form(manifest: Manifest, length: int) -> str:
        return " ".join((manifest.name, manifest.version, manifest.digest[:12])[:length])

    for member in members:
        for length in (1, 2, 3):
            member.label = form(member.manifest, length)
            if [form(other.manifest, length) for other in members].count(member.label) == 1:
                break


def _join_manifests(members: Sequence[Pack]) -> Manifest:
    """Return the manifest of a pack with the content of ``members``."""
    manifests = [member.manifest for member in members]
    sections = [max(1, manifest.counts["sections"]) for manifest in manifests]
    relevance = sum(n * m.thresholds.get(MIN_RELEVANCE, 0.0) for n, m in zip(sections, manifests, strict=True))
    counts: Counter[str] = Counter()
    for manifest in manifests:
        counts.update(manifest.counts)
    return replace(
        manifests[0],
        name=", ".join(member.label for member in members),
        source={},
        counts={**manifests[0].counts, **counts},
        digest=hashlib.sha256(" ".join(manifest.digest for manifest in manifests).encode()).hexdigest(),
        files={},
        # A larger one would leave no range of cosines above it.
        thresholds={MIN_RELEVANCE: min(0.9, max(0.0, relevance / sum(sections)))},
    )


@dataclass(frozen=True, slots=True)
class Opened:
    """The packs that were opened, as one, and the locations of those that were given before."""

    pack: Corpus
    repeated: tuple[str, ...]


def open_packs(
    locations: Sequence[str],
    *,
    encoder: str | None = None,
    purpose: Purpose = "query",
    preload: bool = False,
) -> Opened:
    """Open the packs at ``locations`` as one; the arguments are those of ``Pack``.

    They share the models. The same content counts once, wherever it is. The result does not depend on the order of
    ``locations``. Raises ``PackError`` if any of them is missing, damaged or has another format, and ``UsageError`` if
    their languages or encoders differ; none is then left open.
    """
    found: dict[str, tuple[Layout, Manifest]] = {}
    repeated = []
    for location in locations:
        layout = find_pack(location)
        with layout.reading():
            manifest = read_manifest(layout.part(MANIFEST))
        _check_fits(manifest, next((other for _, other in found.values()), manifest), layout)
        if found.setdefault(manifest.digest, (layout, manifest))[0] is not layout:
            repeated.append(location)
    chosen = sorted(found.values(), key=lambda pair: (pair[1].name, pair[1].version, pair[1].digest))
    members: list[Pack] = []
    with ExitStack() as stack:
        for layout, _ in chosen:
            models = members[0].models if members else None
            opened = Pack(
                layout.root, encoder=encoder, purpose=purpose, preload=preload, small_reserve=True, models=models
            )
            members.append(stack.enter_context(opened))
        stack.pop_all()
    return Opened(members[0] if len(members) == 1 else JoinedPack(members), tuple(repeated))


def _check_fits(manifest: Manifest, first: Manifest, layout: Layout) -> None:
    """Raise ``UsageError`` unless the pack of a manifest in ``layout`` can be asked together with the ``first`` one."""
    if manifest.language != first.language:
        names = sorted({language_of(each.language).name for each in (first, manifest)})
        raise UsageError(
            f"These packs are in different languages: {', '.join(names)}.",
            hint="Ask the packs of one language at a time.",
        )
    if manifest.encoder != first.encoder:
        model = first.encoder.model_id
        command = shlex.join(["wikigr", "pack", "build", "SOURCE", "-o", str(readable_path(layout.root))])
        raise UsageError(
            f"The packs {first.name!r} and {manifest.name!r} have different encoders ({model} and "
            f"{manifest.encoder.model_id}), so they cannot be asked together.",
            hint=f"Ask one of them with --pack, or build {manifest.name!r} again from its source: {command} "
            f"--embedding-model {shlex.quote(model)}",
        )


def article_titles(index: GraphIndex) -> list[str]:
    """Return the titles of the articles of ``index``, in order."""
    ends = [0, *index.ends[: 2 * index.articles].tolist()]
    return [index.text[ends[i] : ends[i + 1]].decode() for i in range(0, 2 * index.articles, 2)]


def join_graph_indexes(indexes: Sequence[GraphIndex], rename: Callable[[int, str], str], digest: str) -> GraphIndex:
    """Return one index of the nodes and edges of ``indexes``.

    ``rename`` maps the number of an index and a title in it to a title that is unique. An entity that several indexes
    contain becomes one node, and one that has the title of an article becomes part of it, as within a pack. These nodes
    connect the packs.
    """
    articles: list[tuple[bytes, bytes, int, int]] = []
    entities: dict[bytes, bytes] = {}
    members: list[tuple[bytes, int, int]] = []
    for i, index in enumerate(indexes):
        ends = [0, *index.ends.tolist()]
        for n in range(len(index)):
            key, name = index.text[ends[2 * n] : ends[2 * n + 1]], index.text[ends[2 * n + 1] : ends[2 * n + 2]]
            if n < index.articles:
                articles.append((rename(i, key.decode()).encode(), name, i, n))
            else:
                entities.setdefault(key, name)
                members.append((key, i, n))
    articles.sort()
    numbers = [np.zeros(len(index), dtype=np.int64) for index in indexes]
    places: dict[bytes, int] = {}
    for number, (key, _, i, n) in enumerate(articles):
        numbers[i][n] = number
        places.setdefault(fold(key.decode()).encode(), number)
    own = sorted(key for key in entities if key not in places)
    places |= {key: len(articles) + n for n, key in enumerate(own)}
    for key, i, n in members:
        numbers[i][n] = places[key]
    parts = [part for key, name, _, _ in articles for part in (key, name)]
    parts += [part for key in own for part in (key, entities[key])]
    nodes = len(parts) // 2
    indptr, indices = _join_edges(indexes, numbers, nodes)
    hashes, bearers = _join_names(indexes, numbers, [key.decode() for key, *_ in articles])
    return GraphIndex(
        digest=digest,
        articles=len(articles),
        text=b"".join(parts),
        ends=np.cumsum([len(part) for part in parts], dtype=np.int64),
        indptr=indptr,
        indices=indices,
        name_hashes=hashes,
        name_nodes=bearers,
    )


def _join_edges(
    indexes: Sequence[GraphIndex], numbers: Sequence[NDArray[np.int64]], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return ``indptr`` and ``indices`` of the edges of ``indexes``, whose nodes have the new ``numbers``."""
    pairs = [
        np.repeat(new, np.diff(index.indptr)) * nodes + new[index.indices]
        for index, new in zip(indexes, numbers, strict=True)
    ]
    rows, columns = np.divmod(np.unique(np.concatenate(pairs)), max(nodes, 1))
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    return indptr, columns.astype(np.int32)


def _join_names(
    indexes: Sequence[GraphIndex], numbers: Sequence[NDArray[np.int64]], titles: Sequence[str]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the name hashes of ``indexes``, in ascending order, and the new numbers of the nodes with these names.

    The names include ``titles``, the new titles of the articles.
    """
    titled = np.array([name_hash(fold(title)) for title in titles], dtype=np.uint64)
    hashes = np.concatenate([titled, *(index.name_hashes for index in indexes)])
    renumbered = (new[index.name_nodes] for index, new in zip(indexes, numbers, strict=True))
    bearers = np.concatenate([np.arange(len(titles)), *renumbered])
    order = np.lexsort((bearers, hashes))
    hashes, bearers = hashes[order], bearers[order].astype(np.int32)
    is_new = np.ones(len(hashes), dtype=bool)
    is_new[1:] = (hashes[1:] != hashes[:-1]) | (bearers[1:] != bearers[:-1])
    return hashes[is_new], bearers[is_new]

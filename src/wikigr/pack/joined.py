"""Several open packs that a pipeline searches and reads like one."""

from __future__ import annotations

import copy
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Self

import numpy as np

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.embeddings.model_id import DEFAULT_WEIGHTS_SHA256
from wikigr.errors import UsageError
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Hit, Section
from wikigr.index.dense import DenseMethod
from wikigr.index.lexical import CONTENT, LexicalIndex
from wikigr.pack.joined_graph_index import article_titles, join_graph_indexes
from wikigr.pack.layout import MANIFEST, Layout
from wikigr.pack.locate import find_pack
from wikigr.pack.manifest import EXAMPLES, MIN_RELEVANCE, Manifest, read_manifest
from wikigr.pack.open import Corpus, Pack

if TYPE_CHECKING:
    from wikigr.embeddings.loader import Purpose
    from wikigr.graph.graph_index import GraphIndex
    from wikigr.reader.reader import Reader


class JoinedEncoder:
    """Encodes a text with each of ``parts``: the vector is theirs, one after the other, and has norm 1."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self._parts = parts
        self._scale = math.sqrt(len(parts))
        self._known = [part.identity for part in parts]
        self.identity = EncoderIdentity(
            " + ".join(identity.model_id for identity in self._known),
            sum(identity.dimension for identity in self._known),
            hashlib.sha256(" ".join(identity.weights_sha256 for identity in self._known).encode()).hexdigest(),
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = np.hstack([part.encode(texts) for part in self._parts]) / np.float32(self._scale)
        return vectors

    def vector_of(self, identity: EncoderIdentity, vector: Vectors) -> Vectors:
        """Return the vector of one encoder in a joined ``vector``, with norm 1."""
        number = self._known.index(identity)
        ends = [0, *accumulate(known.dimension for known in self._known)]
        own: Vectors = vector[ends[number] : ends[number + 1]] * vector.dtype.type(self._scale)
        return own


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

    def frequency(self, stem: str, field: str = CONTENT) -> int:
        return sum(part.frequency(stem, field) for part in self._parts)

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
    of them. Packs that were built with different encoders are searched with their own, on the scale of the first one.
    Where two packs have an article of the same title, it keeps the title in the first pack by name, and has that of its
    pack added in the others: "Spin (chemistry)". ``origin`` returns the id in its own pack.

    ``members`` are sorted by name, and closed with this pack.
    """

    def __init__(self, members: Sequence[Pack]) -> None:
        """Join ``members``, which share an encoder if their encoders are the same (see ``open_packs``)."""
        self._members = tuple(members)
        languages = {member.language.name for member in self._members}
        if len(languages) > 1:
            raise UsageError(
                f"These packs are in different languages: {', '.join(sorted(languages))}.",
                hint="Ask the packs of one language at a time.",
            )
        _label(self._members)
        # The first pack of each encoder. The cosines of the first encoder are the scale for the others.
        self._leads: dict[EncoderIdentity, Pack] = {}
        for member in self._members:
            self._leads.setdefault(member.manifest.encoder, member)
        self._unrelated = {identity: self._highest_unrelated(identity) for identity in self._leads}
        self._scale = self._unrelated[self._members[0].manifest.encoder]
        # Only worked examples are read from the folder.
        layouts = [member.layout for member in self._members]
        layout = next((layout for layout in layouts if (layout.root / EXAMPLES).is_file()), layouts[0])
        super().__init__(layout, _join_manifests(self._members, self._scale))
        self.lexical = JoinedLexicalIndex([member.lexical for member in self._members], self._joined_id)
        self.preloads = any(member.preloads for member in self._members)

    @property
    def members(self) -> tuple[Pack, ...]:
        return self._members

    def _open_encoder(self) -> Embedder:
        encoders = [lead.encoder for lead in self._leads.values()]
        return encoders[0] if len(encoders) == 1 else JoinedEncoder(encoders)

    def _open_reader(self) -> Reader:
        from wikigr.reader.prepared import NoReaderError

        # The reader reads text, so any encoder's reader may read all packs.
        *leads, last = self._leads.values()
        for lead in leads:
            with suppress(NoReaderError):
                return lead.reader
        return last.reader

    def _open_base_reader(self) -> Reader:
        return next(iter(self._leads.values())).base_reader

    def dense_method(self, limit: int) -> DenseMethod:
        methods = {member.dense_method(limit) for member in self._members}
        return next(iter(methods)) if len(methods) == 1 else "mixed"

    @property
    def dense_warning(self) -> str:
        return " ".join(dict.fromkeys(f"{m.label}: {m.dense_warning}" for m in self._members if m.dense_warning))

    def nearest(self, query: Vectors, limit: int, *, exact: bool = False) -> list[Hit]:
        found = []
        for number, member in enumerate(self._members):
            identity = member.manifest.encoder
            own = self.encoder.vector_of(identity, query) if isinstance(self.encoder, JoinedEncoder) else query
            for hit in member.nearest(own, limit, exact=exact):
                found.append(Hit(self._joined_id(number, hit.section_id), self._comparable(hit.score, identity)))
        return _best(limit, found)

    def _comparable(self, cosine: float, identity: EncoderIdentity) -> float:
        """Map a cosine so that the highest one of unrelated texts becomes that of the first encoder, and 1 stays 1."""
        own, scale = self._unrelated[identity], self._scale
        return cosine if own == scale else scale + (cosine - own) * (1.0 - scale) / (1.0 - own)

    def _highest_unrelated(self, identity: EncoderIdentity) -> float:
        """Return the cosine with an encoder that off-topic questions rarely exceed, a mean over its packs' sections."""
        own = [member.manifest for member in self._members if member.manifest.encoder == identity]
        sections = [max(1, manifest.counts["sections"]) for manifest in own]
        total = sum(n * m.thresholds.get(MIN_RELEVANCE, 0.0) for n, m in zip(sections, own, strict=True))
        # A larger one would leave no range of cosines above it.
        return min(0.9, max(0.0, total / sum(sections)))

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
        twin._models_from = self._models_from or self
        twin._members = tuple(member.connect() for member in self._members)
        return twin

    def close(self) -> None:
        for member in self._members:
            member.close()


def _label(members: Sequence[Pack]) -> None:
    """Give each of ``members`` a label of its own: its name, with as much of its version and digest as is needed."""

    def form(manifest: Manifest, length: int) -> str:
        parts = (manifest.name, manifest.version, manifest.digest[:12], manifest.encoder.model_id)
        return " ".join(parts[:length])

    for member in members:
        for length in range(1, 5):
            member.label = form(member.manifest, length)
            if [form(other.manifest, length) for other in members].count(member.label) == 1:
                break


def _join_manifests(members: Sequence[Pack], min_relevance: float) -> Manifest:
    """Return the manifest of a pack with the content of ``members``."""
    manifests = [member.manifest for member in members]
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
        thresholds={MIN_RELEVANCE: min_relevance},
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

    Packs with the same encoder share its models. The same content with the same encoder counts once, wherever it is.
    The result does not depend on the order of ``locations``. Raises ``PackError`` if any of them is missing, damaged or
    has another format; none is then left open.
    """
    found: dict[tuple[str, EncoderIdentity], tuple[Layout, Manifest]] = {}
    repeated = []
    for location in locations:
        layout = find_pack(location)
        with layout.reading():
            manifest = read_manifest(layout.part(MANIFEST))
        if found.setdefault((manifest.digest, manifest.encoder), (layout, manifest))[0] is not layout:
            repeated.append(location)
    chosen = sorted(found.values(), key=lambda pair: _order(pair[1]))
    with ExitStack() as stack:
        leads: dict[EncoderIdentity, Pack] = {}
        members = []
        for layout, manifest in chosen:
            lead = leads.get(manifest.encoder)
            opened = Pack(
                layout.root, encoder=encoder, purpose=purpose, preload=preload, small_reserve=True, models_from=lead
            )
            member = stack.enter_context(opened)
            leads.setdefault(manifest.encoder, member)
            members.append(member)
        stack.pop_all()
    return Opened(members[0] if len(members) == 1 else JoinedPack(members), tuple(repeated))


def _order(manifest: Manifest) -> tuple[bool, str, str, str, str]:
    """Return the sort key of a pack; the default encoder comes first, because its reader expects its cosines."""
    encoder = manifest.encoder
    is_other = encoder.weights_sha256 != DEFAULT_WEIGHTS_SHA256
    return is_other, manifest.name, manifest.version, manifest.digest, encoder.weights_sha256

"""Entity resolution: merge the validated extractions of all sections into one set of entities and facts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from wikigr.ingest.extraction_format import VALUE, Entity, Extraction, SectionText, parse_extraction
from wikigr.ingest.extraction_validation import validate
from wikigr.ingest.staging import Staging
from wikigr.names import bare_name, merge_key
from wikigr.text import fold

MAX_MERGED_ALIASES = 20
"""The number of aliases kept for an entity that many sections name."""


@dataclass(slots=True)
class _MergedEntity:
    """An entity collected from many sections: counts of its spellings and types, its aliases, and its articles."""

    title: str | None = None
    spellings: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    aliases: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)

    def add(self, entity: Entity, stating: str) -> None:
        """Count ``entity``, named in the article ``stating``."""
        self.spellings[entity.name] += 1
        self.types[entity.type] += 1
        self.aliases.update(entity.aliases)
        if entity.type != VALUE:
            self.owners.add(stating)

    @property
    def name(self) -> str:
        """The article's title, or else the most frequent spelling; ties break alphabetically."""
        return self.title or min(self.spellings.items(), key=lambda item: (-item[1], item[0]))[0]

    @property
    def type(self) -> str:
        """The most frequent type; ``value`` only if no section says otherwise."""
        counts = {kind: count for kind, count in self.types.items() if kind != VALUE} or dict(self.types)
        return min(counts.items(), key=lambda item: (-item[1], item[0]))[0]

    @property
    def other_names(self) -> list[str]:
        """Spellings and aliases other than the name, in order, without case variants."""
        found: dict[str, str] = {}
        for name in sorted({*self.spellings, *self.aliases}):
            if fold(name) != fold(self.name):
                found.setdefault(fold(name), name)
        return sorted(found.values())[:MAX_MERGED_ALIASES]


class _ArticleNames:
    """Finds the article of a name among titles and aliases: as written, then folded, then by merge key."""

    def __init__(self, staging: Staging) -> None:
        self._by_name: dict[str, str] = {}
        self._by_fold: dict[str, str] = {}
        by_key: dict[str, set[str]] = {}
        for folded, name, title in staging.rows(
            "SELECT n.fold, n.name, a.title FROM name n JOIN article a ON a.id = n.article ORDER BY n.rank, n.name"
        ):
            self._by_name[name] = title
            self._by_fold.setdefault(folded, title)
            by_key.setdefault(merge_key(name), set()).add(title)
        self._by_key = {key: min(titles) for key, titles in by_key.items() if key and len(titles) == 1}

    def article_of(self, entity: Entity, stating: str) -> str | None:
        """Return the title of the article about ``entity``, which is named in the article ``stating``."""
        own = {merge_key(stating), merge_key(bare_name(stating))}
        for name in (entity.name, *entity.aliases):
            # In its own article, the name without the qualifier means that article: "Mercury" in "Mercury (planet)".
            if merge_key(name) in own:
                return stating
            title = self._by_name.get(name) or self._by_fold.get(fold(name)) or self._by_key.get(merge_key(name))
            if title is not None:
                return title
        return None

    def title_of(self, key: str) -> str | None:
        """Return the title of the article that a key of ``_entity_keys`` stands for, if it stands for one."""
        return self._by_fold[key[1:]] if key.startswith(" ") else None


def _entity_keys(title: str, sections: Sequence[Extraction], articles: _ArticleNames) -> dict[Entity, str]:
    """Return a key for each entity in an article's sections; entities with the same key are the same thing.

    If exactly one other entity of the article has a name as an alias, the name means that entity: "Pauli" after
    "Wolfgang Pauli".
    """
    keys: dict[Entity, str] = {}
    for entity in (entity for extraction in sections for entity in extraction.entities):
        article = None if entity.type == VALUE else articles.article_of(entity, title)
        # A merge key never starts with a space, so the two kinds of keys cannot collide.
        keys[entity] = merge_key(entity.name) if article is None else f" {fold(article)}"
    called: dict[str, set[str]] = {}
    for entity, key in keys.items():
        for alias in entity.aliases:
            called.setdefault(merge_key(alias), set()).add(key)
    for entity, key in list(keys.items()):
        others = called.get(key, set()) - {key}
        # No chains to a third entity: an entity whose key is itself an alias of others keeps that key.
        if len(others) == 1 and not key.startswith(" "):
            (other,) = others
            if called.get(other, set()) <= {other}:
                keys[entity] = other
    return keys


def resolve_entities(staging: Staging) -> Counter[str]:
    """Fill the empty ``extracted_`` tables from the stored replies; count what is dropped.

    An entity with an article's name is that article's entity and has the id of its title. Other entities are merged if
    their names have the same ``merge_key``, or if an article uses one name as an alias of the other. The same replies
    give the same rows in whatever order they arrived.
    """
    articles = _ArticleNames(staging)
    merged: dict[str, _MergedEntity] = {}
    facts: set[tuple[str, str, str, str]] = set()
    dropped: Counter[str] = Counter()
    rows = staging.rows(
        "SELECT a.title, s.heading_path, s.content, s.section_id, e.reply FROM section s "
        "JOIN article a ON a.id = s.article JOIN extraction e ON e.hash = s.hash ORDER BY a.title, s.position"
    )
    for title, sections in groupby(rows, key=itemgetter(0)):
        validated = []
        for _, path, content, section_id, reply in sections:
            extraction = parse_extraction(json.loads(reply))
            assert extraction is not None
            section = SectionText(title, tuple(json.loads(path)), content)
            validated.append((section_id, validate(extraction, section, dropped)))
        keys = _entity_keys(title, [extraction for _, extraction in validated], articles)
        for section_id, extraction in validated:
            for entity in extraction.entities:
                merged.setdefault(keys[entity], _MergedEntity()).add(entity, title)
            named = {entity.name: keys[entity] for entity in extraction.entities}
            facts.update((named[r.subject], named[r.object], r.relation, section_id) for r in extraction.relations)
    for key, item in merged.items():
        item.title = articles.title_of(key)

    ids = {key: fold(item.name) for key, item in merged.items()}
    entities: dict[str, tuple[str, str, str, str]] = {}
    # In key order, articles come first: a value that is spelled like an article is that article, as in triples.
    for key, item in sorted(merged.items()):
        row = (ids[key], item.name, item.type, json.dumps(item.other_names, ensure_ascii=False))
        entities.setdefault(ids[key], row)
    with staging.transaction():
        staging.write("INSERT INTO extracted_entity VALUES (?, ?, ?, ?)", [entities[id_] for id_ in sorted(entities)])
        owned = sorted({(owner, ids[key]) for key, item in merged.items() for owner in item.owners})
        staging.write("INSERT INTO extracted_owner VALUES (?, ?)", owned)
        stated = sorted({(ids[s], ids[o], relation, where) for s, o, relation, where in facts if ids[s] != ids[o]})
        staging.write("INSERT INTO extracted_fact VALUES (?, ?, ?, ?)", stated)
    return +dropped

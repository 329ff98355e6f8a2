"""What a model read from the sections becomes entities and facts: each statement is checked, then all are merged.

Nothing is believed for having been said: a name must stand in the text that the model was shown, a relation must join
two such names, and its evidence must be found word for word in the section.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from wikigr.ingest.staging import EXTRACTED_TABLES, Staging
from wikigr.names import bare_name, name_key, within_word
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import fold, scrub, words

VALUE = "value"
TYPES = ("person", "organization", "place", "event", "work", "concept", "object", VALUE)
"""The types of entities that are read from text. A ``value`` (a date, a quantity) is an object only, as in triples."""

# Per section. The prompt asks for at most 20 of each; what comes beyond these is not looked at.
MAX_ENTITIES = 40
MAX_RELATIONS = 40
MAX_ALIASES = 5
# Characters.
MAX_NAME_CHARS = 100
MAX_RELATION_CHARS = 60
# Aliases kept of an entity that many sections name.
MAX_MERGED_ALIASES = 20

# What a step of a metapath can hold: no arrow, no tilde.
_RELATION = re.compile(r"[^\W_][\w '’/().,&-]*")


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section as it is shown to a model."""

    title: str
    heading_path: tuple[str, ...]
    content: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that a section names."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """What a section says of two of its entities, and the words in which it does."""

    subject: str
    relation: str
    object: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Found:
    """The entities and relations of one section, as a model gave them or as they were believed."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()


def parse_found(value: object) -> Found | None:
    """Return what a decoded reply says, or ``None`` where it is not exactly of the form asked for."""
    fields = _record(value, "entities", "relations")
    if fields is None or not isinstance(fields["entities"], list) or not isinstance(fields["relations"], list):
        return None
    entities, relations = [], []
    for item in fields["entities"]:
        given = _record(item, "name", "type", "aliases")
        if given is None or not isinstance(given["aliases"], list):
            return None
        if not all(isinstance(text, str) for text in (given["name"], given["type"], *given["aliases"])):
            return None
        entities.append(Entity(given["name"], given["type"], tuple(given["aliases"])))
    for item in fields["relations"]:
        given = _record(item, "subject", "relation", "object", "evidence")
        if given is None or not all(isinstance(text, str) for text in given.values()):
            return None
        relations.append(Relation(**given))
    return Found(tuple(entities), tuple(relations))


def _record(value: object, *names: str) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) and value.keys() == set(names) else None


def check(found: Found, section: SectionText, dropped: Counter[str]) -> Found:
    """Return what of ``found`` the section bears out; what it does not is counted in ``dropped`` by its reason."""
    shown = _Shown(section)
    entities: dict[str, Entity] = {}
    for entity in found.entities[:MAX_ENTITIES]:
        problem = "an entity of no known type" if entity.type not in TYPES else shown.problem(entity.name)
        if problem:
            dropped[problem] += 1
            continue
        name = _plain(entity.name)
        aliases = [_plain(alias) for alias in entity.aliases[:MAX_ALIASES] if not shown.problem(alias)]
        # A name without a letter can only be a number or a date.
        kind = entity.type if any(c.isalpha() for c in name) else VALUE
        key = merge_key(name)
        known = entities.get(key)
        if known is not None:
            name, kind, aliases = known.name, known.type, [*known.aliases, *aliases]
        others = dict.fromkeys(alias for alias in aliases if alias != name)
        entities[key] = Entity(name, kind, tuple(others))
    dropped["too many entities in a section"] += max(0, len(found.entities) - MAX_ENTITIES)

    by_name: dict[str, Entity] = {}
    for entity in entities.values():
        by_name[fold(entity.name)] = entity
    for entity in entities.values():
        for alias in entity.aliases:
            by_name.setdefault(fold(alias), entity)
    relations: dict[Relation, None] = {}
    for relation in found.relations[:MAX_RELATIONS]:
        believed = _believed(relation, by_name, shown)
        if isinstance(believed, str):
            dropped[believed] += 1
        else:
            relations.setdefault(believed)
    dropped["too many relations in a section"] += max(0, len(found.relations) - MAX_RELATIONS)
    return Found(tuple(entities.values()), tuple(relations))


def _believed(relation: Relation, entities: Mapping[str, Entity], shown: _Shown) -> Relation | str:
    """Return the relation between entities as they are called, or why it is not believed."""
    subject, other = (entities.get(fold(_plain(name))) for name in (relation.subject, relation.object))
    if subject is None or other is None:
        return "a relation of something that is no entity"
    if subject == other:
        return "a relation of a thing to itself"
    if subject.type == VALUE:
        return "a relation whose subject is a value"
    label = fold(scrub(relation.relation))
    if len(label) > MAX_RELATION_CHARS or not _RELATION.fullmatch(label):
        return "a relation without a usable name"
    quote = _plain(relation.evidence)
    if not quote or quote not in shown.content:
        return "evidence that is not in the section"
    named = fold(quote)
    if not any(_stands_in(fold(name), named) for entity in (subject, other) for name in (entity.name, *entity.aliases)):
        return "evidence that names neither side"
    return Relation(subject.name, label, other.name, quote)


class _Shown:
    """What a section shows, made ready for comparing."""

    def __init__(self, section: SectionText) -> None:
        self.content = _plain(section.content)
        self._text = _plain("\n".join((section.title, *section.heading_path, section.content)))
        self._folded = fold(self._text)

    def problem(self, name: str) -> str:
        """Return why ``name`` is not believed to be a name of something in the section; empty where it is."""
        name = _plain(name)
        if len(name) > MAX_NAME_CHARS:
            return "a name that is too long"
        if not name_key(name):
            return "a name that is none"
        if all(word in FUNCTION_WORDS for word in words(name)):
            # "It" is no name, but "IT" and "The Who" are, as they are written.
            if not any(c.isupper() for c in name[1:]):
                return "a name that is none"
            return "" if _stands_in(name, self._text) else "an entity that is not in the section"
        return "" if _stands_in(fold(name), self._folded) else "an entity that is not in the section"


def _stands_in(name: str, text: str) -> bool:
    """Whether ``text`` holds ``name`` as whole words."""
    place = text.find(name)
    while place >= 0:
        if not (within_word(text, place) or within_word(text, place + len(name))):
            return True
        place = text.find(name, place + 1)
    return False


def _plain(text: str) -> str:
    """Return ``text`` with single spaces, and with the ``<`` that it was shown without."""
    return " ".join(scrub(text).replace("&lt;", "<").split())


def merge_key(name: str) -> str:
    """Return what is equal for spellings of one name: its words (``names.name_key``) and its symbols.

    Case, accents, hyphens and other punctuation make no difference, but "C", "C++" and "C#" are three things.
    """
    folded = fold(name)
    symbols = "".join(c for c in folded if c in "#*&@%" or unicodedata.category(c).startswith("S"))
    return f"{name_key(folded)} {symbols}".strip()


@dataclass(slots=True)
class _Thing:
    """One entity in the making: how often it was called what, and by which articles it is owned."""

    title: str | None = None
    spellings: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    aliases: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)

    def add(self, entity: Entity, stating: str) -> None:
        self.spellings[entity.name] += 1
        self.types[entity.type] += 1
        self.aliases.update(entity.aliases)
        if entity.type != VALUE:
            self.owners.add(stating)

    @property
    def name(self) -> str:
        """The article's title; else the spelling that is commonest, the first of equals by alphabet."""
        return self.title or min(self.spellings.items(), key=lambda item: (-item[1], item[0]))[0]

    @property
    def type(self) -> str:
        """The commonest type; what is more than a value anywhere is no value."""
        things = {kind: count for kind, count in self.types.items() if kind != VALUE} or dict(self.types)
        return min(things.items(), key=lambda item: (-item[1], item[0]))[0]

    @property
    def other_names(self) -> list[str]:
        """Spellings and aliases that are not the name, in order, each once whatever its case."""
        found: dict[str, str] = {}
        for name in sorted({*self.spellings, *self.aliases}):
            if fold(name) != fold(self.name):
                found.setdefault(fold(name), name)
        return sorted(found.values())[:MAX_MERGED_ALIASES]


class _ArticleNames:
    """Which article a name is of: titles and aliases, first as they are written, then folded, then by merge key."""

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
        """Return the title of the article that ``entity``, named in an article called ``stating``, is."""
        own = {merge_key(stating), merge_key(bare_name(stating))}
        for name in (entity.name, *entity.aliases):
            # Within its own article a name without the qualifier is that article: "Mercury" in "Mercury (planet)".
            if merge_key(name) in own:
                return stating
            title = self._by_name.get(name) or self._by_fold.get(fold(name)) or self._by_key.get(merge_key(name))
            if title is not None:
                return title
        return None

    def title_of(self, key: str) -> str | None:
        """Return the title of the article that a key of ``_keys_of`` is of."""
        return self._by_fold[key[1:]] if key.startswith(" ") else None


def _keys_of(title: str, sections: Sequence[Found], articles: _ArticleNames) -> dict[Entity, str]:
    """Return what tells each entity of an article's sections from others: one key for one thing.

    Within an article a name that another of its entities has as an alias means that one, if it is the only one: who is
    introduced as "Wolfgang Pauli" goes on as "Pauli".
    """
    keys: dict[Entity, str] = {}
    for entity in (entity for found in sections for entity in found.entities):
        article = None if entity.type == VALUE else articles.article_of(entity, title)
        # A space cannot begin a merge key, so that the two kinds of keys do not meet.
        keys[entity] = merge_key(entity.name) if article is None else f" {fold(article)}"
    called: dict[str, set[str]] = {}
    for entity, key in keys.items():
        for alias in entity.aliases:
            called.setdefault(merge_key(alias), set()).add(key)
    for entity, key in list(keys.items()):
        others = called.get(key, set()) - {key}
        # Not on to a third thing: what is called by that alias keeps its own key.
        if len(others) == 1 and not key.startswith(" "):
            (other,) = others
            if called.get(other, set()) <= {other}:
                keys[entity] = other
    return keys


def merge(staging: Staging, prompt: str, model: str) -> Counter[str]:
    """Fill the ``extracted_`` tables from the kept replies to ``prompt`` of ``model``; returns what was dropped.

    An entity that bears an article's name is that article's entity, whose id is the title's; others are one where
    their names have one ``merge_key``, or where an article uses one name as an alias of the other. The same replies
    give the same rows, in whatever order they came.
    """
    articles = _ArticleNames(staging)
    things: dict[str, _Thing] = {}
    facts: set[tuple[str, str, str, str]] = set()
    dropped: Counter[str] = Counter()
    rows = staging.rows(
        "SELECT a.title, s.heading_path, s.content, s.section_id, e.reply FROM section s "
        "JOIN article a ON a.id = s.article "
        "JOIN extraction e ON e.hash = s.hash AND e.prompt = ? AND e.model = ? ORDER BY a.title, s.position",
        (prompt, model),
    )
    for title, sections in groupby(rows, key=itemgetter(0)):
        believed = []
        for _, path, content, section_id, reply in sections:
            found = parse_found(json.loads(reply))
            assert found is not None
            believed.append((section_id, check(found, SectionText(title, tuple(json.loads(path)), content), dropped)))
        keys = _keys_of(title, [found for _, found in believed], articles)
        for section_id, found in believed:
            for entity in found.entities:
                things.setdefault(keys[entity], _Thing()).add(entity, title)
            named = {entity.name: keys[entity] for entity in found.entities}
            facts.update((named[r.subject], named[r.object], r.relation, section_id) for r in found.relations)
    for key, thing in things.items():
        thing.title = articles.title_of(key)

    ids = {key: fold(thing.name) for key, thing in things.items()}
    entities: dict[str, tuple[str, str, str, str]] = {}
    # In order of keys articles come first: a value that is spelled like one is that one, as in triples.
    for key, thing in sorted(things.items()):
        row = (ids[key], thing.name, thing.type, json.dumps(thing.other_names, ensure_ascii=False))
        entities.setdefault(ids[key], row)
    with staging.transaction():
        _clear(staging)
        staging.write("INSERT INTO extracted_entity VALUES (?, ?, ?, ?)", [entities[id_] for id_ in sorted(entities)])
        owned = sorted({(owner, ids[key]) for key, thing in things.items() for owner in thing.owners})
        staging.write("INSERT INTO extracted_owner VALUES (?, ?)", owned)
        said = sorted({(ids[s], ids[o], relation, where) for s, o, relation, where in facts if ids[s] != ids[o]})
        staging.write("INSERT INTO extracted_fact VALUES (?, ?, ?, ?)", said)
    return +dropped


def forget(staging: Staging) -> None:
    """Empty the ``extracted_`` tables: this build is one without extraction. The kept replies stay."""
    with staging.transaction():
        _clear(staging)


def _clear(staging: Staging) -> None:
    for table in EXTRACTED_TABLES:
        staging.write(f"DELETE FROM {table}", [()])

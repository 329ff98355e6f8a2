"""Validate a model's extraction against the text of its section.

An extracted statement is accepted only if the text supports it: a name must occur in the section, a relation must join
two such names, and its evidence must be a verbatim quotation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from wikigr.ingest.extraction_format import TYPES, VALUE, Entity, Extraction, Relation, SectionText
from wikigr.names import merge_key, name_key, within_word
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import fold, scrub, words

# Per section. The prompt asks for at most 20 of each; anything beyond these limits is ignored.
MAX_ENTITIES = 40
MAX_RELATIONS = 40
MAX_ALIASES = 5
# Characters.
MAX_NAME_CHARS = 100
MAX_RELATION_CHARS = 60

# A relation that can be a step of a metapath: without arrows and tildes.
_RELATION = re.compile(r"[^\W_][\w '’/().,&-]*")


def validate(extraction: Extraction, section: SectionText, dropped: Counter[str]) -> Extraction:
    """Return the part of ``extraction`` that ``section`` supports; count the rest in ``dropped`` by reason."""
    text = _SearchableText(section)
    entities: dict[str, Entity] = {}
    for entity in extraction.entities[:MAX_ENTITIES]:
        problem = "an entity of no known type" if entity.type not in TYPES else text.problem(entity.name)
        if problem:
            dropped[problem] += 1
            continue
        name = _plain(entity.name)
        aliases = [_plain(alias) for alias in entity.aliases[:MAX_ALIASES] if not text.problem(alias)]
        # A name without letters can only be a number or a date.
        kind = entity.type if any(c.isalpha() for c in name) else VALUE
        key = merge_key(name)
        known = entities.get(key)
        if known is not None:
            name, kind, aliases = known.name, known.type, [*known.aliases, *aliases]
        others = dict.fromkeys(alias for alias in aliases if alias != name)
        entities[key] = Entity(name, kind, tuple(others))
    dropped["too many entities in a section"] += max(0, len(extraction.entities) - MAX_ENTITIES)

    by_name: dict[str, Entity] = {}
    for entity in entities.values():
        by_name[fold(entity.name)] = entity
    for entity in entities.values():
        for alias in entity.aliases:
            by_name.setdefault(fold(alias), entity)
    relations: dict[Relation, None] = {}
    for relation in extraction.relations[:MAX_RELATIONS]:
        validated = _validate_relation(relation, by_name, text)
        if isinstance(validated, str):
            dropped[validated] += 1
        else:
            relations.setdefault(validated)
    dropped["too many relations in a section"] += max(0, len(extraction.relations) - MAX_RELATIONS)
    return Extraction(tuple(entities.values()), tuple(relations))


def _validate_relation(relation: Relation, entities: Mapping[str, Entity], text: _SearchableText) -> Relation | str:
    """Return ``relation`` with the canonical names of its entities, or the reason why it is rejected."""
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
    if not quote or quote not in text.content:
        return "evidence that is not in the section"
    named = fold(quote)
    if not any(_occurs_in(fold(name), named) for entity in (subject, other) for name in (entity.name, *entity.aliases)):
        return "evidence that names neither side"
    return Relation(subject.name, label, other.name, quote)


class _SearchableText:
    """The text of a section, normalized for lookups of names and quotations."""

    def __init__(self, section: SectionText) -> None:
        self.content = _plain(section.content)
        self._text = _plain("\n".join((section.title, *section.heading_path, section.content)))
        self._folded = fold(self._text)

    def problem(self, name: str) -> str:
        """Return why ``name`` is rejected as a name in the section; empty if it is accepted."""
        name = _plain(name)
        if len(name) > MAX_NAME_CHARS:
            return "a name that is too long"
        if not name_key(name):
            return "a name that is none"
        if all(word in FUNCTION_WORDS for word in words(name)):
            # "It" is not a name, but "IT" and "The Who" are, exactly as written.
            if not any(c.isupper() for c in name[1:]):
                return "a name that is none"
            return "" if _occurs_in(name, self._text) else "an entity that is not in the section"
        return "" if _occurs_in(fold(name), self._folded) else "an entity that is not in the section"


def _occurs_in(name: str, text: str) -> bool:
    """Return whether ``name`` occurs in ``text`` as whole words."""
    place = text.find(name)
    while place >= 0:
        if not (within_word(text, place) or within_word(text, place + len(name))):
            return True
        place = text.find(name, place + 1)
    return False


def _plain(text: str) -> str:
    """Return ``text`` with single spaces and with the ``<`` that ``section_request`` escaped."""
    return " ".join(scrub(text).replace("&lt;", "<").split())

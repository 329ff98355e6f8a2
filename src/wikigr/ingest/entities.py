"""Derive the pack's entities and facts from the triples of the source and the statements extracted from the text."""

from __future__ import annotations

import re

from wikigr.graph.neighborhood import STRUCTURAL
from wikigr.graph.schema import section_id
from wikigr.ingest.entity_resolution import MAX_MERGED_ALIASES
from wikigr.ingest.staging import Staging, batches
from wikigr.names import bare_name
from wikigr.text import fold

RENAMED = " (fact)"
"""The suffix of a relation whose name collides with one of the graph's own tables."""


# A remark after a link in the text of a fact: "Swiss (1901–55)", "Pretoria, Union of South Africa".
_REMARK = re.compile(r"(?:(?<!\s)\s*+[,(;:]|\s[–—-]\s|\sin\s).*", re.DOTALL)

# Subject, relation, displayed object, title of the linked article (or NULL), name of the linked object (NULL for a
# plain value), stating article, position of the stating section.
_TRIPLES = (
    "SELECT t.subject, t.relation, t.object, o.title, coalesce(o.title, t.object_name), a.title, t.position "
    "FROM triple t JOIN article a ON a.id = t.article LEFT JOIN article o ON o.id = t.target ORDER BY a.title, t.n"
)

# Extracted statements are merged into the triples. An extracted type is more specific than "article" or "entity", so it
# wins; an entity with an article keeps the title as its name.
_ADD_EXTRACTED = (
    "INSERT INTO entity SELECT id, name, type, aliases FROM extracted_entity WHERE true ON CONFLICT (id) DO UPDATE SET "
    "name = CASE entity.type WHEN 'article' THEN entity.name ELSE excluded.name END, "
    "type = CASE excluded.type WHEN 'value' THEN entity.type ELSE excluded.type END, aliases = excluded.aliases",
    "INSERT OR IGNORE INTO owned SELECT article, entity FROM extracted_owner",
    "INSERT OR IGNORE INTO fact SELECT subject, object, relation, section_id FROM extracted_fact",
)
# Alphabetical, like the aliases of ``entity_resolution``.
_ADD_LABELS = (
    "UPDATE entity SET aliases = (SELECT json_group_array(alias) FROM (SELECT value AS alias FROM json_each(aliases) "
    "UNION SELECT label FROM label l WHERE l.entity = entity.id "
    "AND l.fold NOT IN (SELECT wikigr_fold(value) FROM json_each(aliases)) "
    f"ORDER BY alias LIMIT {MAX_MERGED_ALIASES})) "
    "WHERE type != 'article' AND id IN (SELECT entity FROM label)"
)
# A plain value may spell the title in another case, but the article of an entity is looked up by its name.
_NAME_ARTICLES = (
    "UPDATE entity SET name = "
    "(SELECT n.name FROM name n WHERE n.fold = entity.id AND n.rank = 0 ORDER BY n.name LIMIT 1) "
    "WHERE EXISTS (SELECT 1 FROM name n WHERE n.fold = entity.id AND n.rank = 0) "
    "AND NOT EXISTS (SELECT 1 FROM article a WHERE a.title = entity.name)"
)
# "~LINKS_TO" is the notation for LINKS_TO followed backward.
_IS_STRUCTURAL = f"upper(ltrim(relation, '~ ')) IN ({', '.join(repr(name) for name in STRUCTURAL)})"
_STRUCTURAL_FACTS = f"SELECT DISTINCT relation FROM fact WHERE {_IS_STRUCTURAL} ORDER BY 1"
_RENAME_FACTS = f"UPDATE OR REPLACE fact SET relation = relation || ? WHERE {_IS_STRUCTURAL}"
_DERIVED_TABLES = ("entity", "label", "owned", "fact")


def derive_entities(staging: Staging) -> list[str]:
    """Rebuild ``entity``, ``owned`` and ``fact`` from the triples and the extracted statements.

    An entity is the subject of an article (type "article"), a linked thing without an article ("entity"), or a plain
    value ("value"). A value spelled like a known entity is that entity. The labels of links to a thing without an
    article become its aliases. Extracted entities (see ``entity_resolution.resolve``) are merged in and keep their own
    types. If an entity's id is the folded title of an article, that title is its name.

    Relations named like the graph's own tables (``LINKS_TO``, ``MENTIONS``, ``HAS_ENTITY``, in any case) get the suffix
    ``RENAMED``. Returns the original names of those relations, in order.
    """
    with staging.transaction():
        for table in _DERIVED_TABLES:
            staging.write(f"DELETE FROM {table}", [()])
        for triples in batches(staging.rows(_TRIPLES), 10_000):
            entities: list[tuple[str, str, str]] = []
            owned: list[tuple[str, str]] = []
            facts: list[tuple[str, str, str, str]] = []
            labels: list[tuple[str, str, str]] = []
            for subject, relation, shown, linked_title, linked_name, article, position in triples:
                name = linked_name or shown
                subject_id, object_id = fold(subject), fold(name)
                if not subject_id or not object_id:
                    continue
                kind = "article" if linked_title else "entity" if linked_name else "value"
                entities.append((subject_id, subject, "article" if subject == article else "entity"))
                entities.append((object_id, name, kind))
                if kind == "entity" and (label := _label(shown, name)):
                    labels.append((object_id, fold(label), label))
                owned.append((article, subject_id))
                if kind != "value":
                    owned.append((article, object_id))
                facts.append((subject_id, object_id, relation, section_id(article, position)))
            # The precedence "article", "entity", "value" is also the alphabetical order.
            staging.write(
                "INSERT INTO entity (id, name, type) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                "name = excluded.name, type = excluded.type WHERE excluded.type < entity.type",
                entities,
            )
            staging.write("INSERT OR IGNORE INTO label VALUES (?, ?, ?)", labels)
            staging.write("INSERT OR IGNORE INTO owned VALUES (?, ?)", owned)
            staging.write("INSERT OR IGNORE INTO fact VALUES (?, ?, ?, ?)", facts)
        for statement in (*_ADD_EXTRACTED, _ADD_LABELS, _NAME_ARTICLES):
            staging.write(statement, [()])
        renamed = [str(name) for (name,) in staging.rows(_STRUCTURAL_FACTS)]
        if renamed:
            staging.write(_RENAME_FACTS, [(RENAMED,)])
    return renamed


def _label(shown: str, name: str) -> str:
    """Return the alias that the link text ``shown`` gives to ``name``; empty if it is not a name or not a new one."""
    label = _REMARK.sub("", shown).strip()
    # "parliamentary", "16th", "T"
    if len(label) < 2 or label.islower() or not any(c.isalpha() for c in label):
        return ""
    return "" if {fold(shown), fold(label)} & {fold(name), fold(bare_name(name))} else label

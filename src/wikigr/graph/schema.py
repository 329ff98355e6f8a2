"""The tables of a pack's database (format 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikigr.graph.engine import Graph

# Increment it when the meaning of a table or column changes. Opening a pack of another format fails.
FORMAT_VERSION = 1

VECTOR_INDEX = "embedding_idx"

NODE_TABLES = ("Article", "Section", "Entity")
REL_TABLES = ("HAS_SECTION", "LINKS_TO", "MENTIONS", "HAS_ENTITY", "RELATED_TO")


def ddl(dimension: int, *, has_anchors: bool = True) -> list[str]:
    """Return the statements that create the tables, for vectors with ``dimension`` components.

    Without ``has_anchors``, they are those of packs built before the column ``anchor``.
    """
    return [
        "CREATE NODE TABLE Article(title STRING PRIMARY KEY, category STRING, categories STRING[], "
        "word_count INT64, content STRING, url STRING, revision STRING, aliases STRING[])",
        "CREATE NODE TABLE Section(section_id STRING PRIMARY KEY, title STRING, heading_path STRING[], "
        f"content STRING, embedding FLOAT[{dimension:d}], position INT64, level INT64, word_count INT64, "
        f"start_offset INT64, end_offset INT64, source_id STRING, article_title STRING"
        f"{', anchor STRING' if has_anchors else ''})",
        "CREATE NODE TABLE Entity(entity_id STRING PRIMARY KEY, name STRING, type STRING, aliases STRING[])",
        "CREATE REL TABLE HAS_SECTION(FROM Article TO Section, position INT64)",
        "CREATE REL TABLE LINKS_TO(FROM Article TO Article)",
        "CREATE REL TABLE MENTIONS(FROM Article TO Article)",
        "CREATE REL TABLE HAS_ENTITY(FROM Article TO Entity)",
        "CREATE REL TABLE RELATED_TO(FROM Entity TO Entity, relation STRING, section_id STRING)",
    ]


def has_anchors(graph: Graph) -> bool:
    """Return whether the sections in the database ``graph`` have the column ``anchor``."""
    return any(name == "anchor" for (name,) in graph.rows("CALL table_info('Section') RETURN name"))


def anchor_of(graph: Graph) -> str:
    """Return the anchor of a section ``s`` in Cypher; it is empty in packs built before the column."""
    return "coalesce(s.anchor, '')" if has_anchors(graph) else "''"


def section_id(title: str, position: int) -> str:
    """Return the id of the section at ``position`` (counted from 0) in the article ``title``."""
    return f"{title}#{position}"


def article_title(section: str) -> str:
    """Return the title of the article to which the section id ``section`` belongs."""
    return section.rpartition("#")[0]

"""The tables of a pack's database (format 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikigr.graph.engine import Graph

# Increment it when the meaning of a table or column changes. Opening a pack of a format that is not readable fails.
FORMAT_VERSION = 2
READABLE_FORMATS = (1, FORMAT_VERSION)
# Columns of sections that packs of format 1 lack: all have no blocks, and the oldest no anchors.
SECTION_COLUMNS: tuple[str, ...] = ("anchor", "blocks")

VECTOR_INDEX = "embedding_idx"

NODE_TABLES = ("Article", "Section", "Entity")
REL_TABLES = ("HAS_SECTION", "LINKS_TO", "MENTIONS", "HAS_ENTITY", "RELATED_TO")


def ddl(dimension: int, section_columns: Sequence[str] = SECTION_COLUMNS) -> list[str]:
    """Return the statements that create the tables, for vectors with ``dimension`` components.

    ``section_columns`` are those of ``SECTION_COLUMNS`` that the table of sections has.
    """
    added = "".join(f", {name} STRING" for name in section_columns)
    return [
        "CREATE NODE TABLE Article(title STRING PRIMARY KEY, category STRING, categories STRING[], "
        "word_count INT64, content STRING, url STRING, revision STRING, aliases STRING[])",
        "CREATE NODE TABLE Section(section_id STRING PRIMARY KEY, title STRING, heading_path STRING[], "
        f"content STRING, embedding FLOAT[{dimension:d}], position INT64, level INT64, word_count INT64, "
        f"start_offset INT64, end_offset INT64, source_id STRING, article_title STRING{added})",
        "CREATE NODE TABLE Entity(entity_id STRING PRIMARY KEY, name STRING, type STRING, aliases STRING[])",
        "CREATE REL TABLE HAS_SECTION(FROM Article TO Section, position INT64)",
        "CREATE REL TABLE LINKS_TO(FROM Article TO Article)",
        "CREATE REL TABLE MENTIONS(FROM Article TO Article)",
        "CREATE REL TABLE HAS_ENTITY(FROM Article TO Entity)",
        "CREATE REL TABLE RELATED_TO(FROM Entity TO Entity, relation STRING, section_id STRING)",
    ]


def section_columns(graph: Graph) -> tuple[str, ...]:
    """Return which of ``SECTION_COLUMNS`` the sections in the database ``graph`` have."""
    found = {name for (name,) in graph.rows("CALL table_info('Section') RETURN name")}
    return tuple(name for name in SECTION_COLUMNS if name in found)


def section_values(graph: Graph) -> str:
    """Return ``SECTION_COLUMNS`` of a section ``s`` in Cypher; those that the database does not have are empty."""
    found = section_columns(graph)
    return ", ".join(f"coalesce(s.{name}, '')" if name in found else "''" for name in SECTION_COLUMNS)


def section_id(title: str, position: int) -> str:
    """Return the id of the section at ``position`` (counted from 0) in the article ``title``."""
    return f"{title}#{position}"


def article_title(section: str) -> str:
    """Return the title of the article to which the section id ``section`` belongs."""
    return section.rpartition("#")[0]

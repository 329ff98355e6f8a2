"""The format of an extraction: what the model is asked about a section, and how its reply is parsed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wikigr.llm.prompts import object_schema, prompt
from wikigr.llm.reply import Reply
from wikigr.text import scrub
from wikigr.validation import NO_OTHER_KEYS, InvalidError, validated

VALUE = "value"
TYPES = ("person", "organization", "place", "event", "work", "concept", "object", VALUE)
"""The types of extracted entities. A ``value`` (a date, a quantity) occurs only as an object, as in triples."""

# 20 entities and 20 relations with their evidence take about 2,000 tokens.
MAX_REPLY_TOKENS = 4096

_TEXT = {"type": "string"}
_ENTITY = object_schema(
    name=_TEXT, type={"type": "string", "enum": list(TYPES)}, aliases={"type": "array", "items": _TEXT}
)
_RELATION = object_schema(subject=_TEXT, relation=_TEXT, object=_TEXT, evidence=_TEXT)
TOOL: Mapping[str, Any] = {
    "name": "record_graph",
    "description": "Record the entities and relations that the section states.",
    "strict": True,
    "input_schema": object_schema(
        entities={"type": "array", "items": _ENTITY}, relations={"type": "array", "items": _RELATION}
    ),
}


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section as the model sees it."""

    title: str
    heading_path: tuple[str, ...]
    content: str


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity that a section names."""

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    name: str
    type: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two entities of a section, and the quotation that states it."""

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    subject: str
    relation: str
    object: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The entities and relations of one section, before or after validation."""

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def parse_extraction(value: object) -> Extraction | None:
    """Return the extraction in a decoded reply, or ``None`` unless it matches the tool's schema exactly."""
    try:
        return validated(Extraction, json.dumps(value))
    except InvalidError:
        return None


def prompt_version() -> str:
    """Return a hash of everything sent to the model besides the section."""
    sent = json.dumps([prompt("extract"), TOOL, MAX_REPLY_TOKENS], sort_keys=True)
    return hashlib.sha256(sent.encode()).hexdigest()[:16]


def section_request(section: SectionText) -> dict[str, Any]:
    """Return the request about ``section``. Its text is escaped and cannot open or close a block."""
    blocks = {"title": section.title, "headings": " > ".join(section.heading_path), "section": section.content}
    escaped = {name: scrub(text).replace("<", "&lt;") for name, text in blocks.items()}
    content = "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in escaped.items())
    return {"system": prompt("extract"), "messages": [{"role": "user", "content": content}]}


def read_reply(reply: Reply) -> Extraction | str:
    """Return the extraction in ``reply``, or the reason why it is unusable.

    The reply must be one call of the tool, or the tool's input as text.
    """
    if reply.stop_reason in ("max_tokens", "refusal"):
        return f"the model stopped early ({reply.stop_reason})"
    given = reply.input_of(str(TOOL["name"]))
    if given is None:
        return "the reply does not call the tool"
    extraction = parse_extraction(given)
    return "the reply does not match the requested format" if extraction is None else extraction


def is_readable(reply: Reply) -> bool:
    """Return whether ``reply`` holds an extraction."""
    return isinstance(read_reply(reply), Extraction)

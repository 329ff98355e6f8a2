"""How the documents name packs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wikigr.graph.schema import article_title

if TYPE_CHECKING:
    from wikigr.documents.shapes import OfPacks, PackShape
    from wikigr.pack.locate import ListedPack
    from wikigr.pack.manifest import Manifest
    from wikigr.pack.open import Corpus

SCHEMA_VERSION = 1


def fields_of(item: Any) -> Any:
    """Return a dataclass as the documents have it: a heading is called ``section``, and no section ``null``."""

    def convert(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}
        if "section_id" in found:
            found["section_id"] = found["section_id"] or None
        return {"section" if key == "heading" else key: value for key, value in found.items()}

    return asdict(item, dict_factory=convert)


def pack_document(manifest: Manifest) -> PackShape:
    """Return what identifies a pack, as the JSON documents name it."""
    return {"name": manifest.name, "version": manifest.version, "digest": manifest.digest}


def packs_document(pack: Corpus, section_ids: Sequence[str]) -> dict[str, Any]:
    """Return the keys that name the pack of a result, or all of several packs.

    ``pack`` is then the one of the first of ``section_ids``, the sections of the result, or ``None`` without any.
    """
    if len(pack.members) == 1:
        return {"pack": pack_document(pack.manifest)}
    first = pack_document(pack.origin(section_ids[0])[0].manifest) if section_ids else None
    return {"pack": first, "packs": [pack_document(member.manifest) for member in pack.members]}


def packs_in_words(document: OfPacks) -> str:
    """Return the names and versions of the packs of a result."""
    packs: Sequence[PackShape | None] = document.get("packs") or [document["pack"]]
    return ", ".join(f"{pack['name']} {pack['version']}" for pack in packs if pack is not None)


def with_pack(pack: Corpus, fields: Mapping[str, Any]) -> Any:
    """Return ``fields`` of a section; of several packs, with the name of its pack and its id and title there."""
    if len(pack.members) == 1:
        return dict(fields)
    member, section_id = pack.origin(fields["section_id"])
    found = {**fields, "section_id": section_id}
    if "title" in fields:
        found["title"] = article_title(section_id)
    return {**found, "pack": member.label}


def listed_document(pack: ListedPack, manifest: Manifest, *, default: bool) -> dict[str, Any]:
    """Return a pack, whose ``manifest`` can be read, as a row of a list of packs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "path": str(pack.path),
        **asdict(manifest),
        "installed_as": pack.installed_as,
        "given_as": pack.given_as,
        "size": pack.size,
        "default": default,
    }


# Absolute paths in warnings, quoted (then with spaces) or bare, but not the path of a URL.
_PATHS = re.compile(
    r"(?<=')/[^'\n]+(?=')|(?<=\")/[^\"\n]+(?=\")|(?:(?<![\w:/.…])|(?<=file://))/(?:[^\s/'\"]+/)+[^\s/'\"]*"
)


def without_paths(value: Any) -> Any:
    """Return a part of a document without the paths of packs and the addresses of files on this machine."""
    if isinstance(value, list):
        return [without_paths(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {
        key: None if key == "url" and str(item).startswith("file:") else without_paths(item)
        for key, item in value.items()
        if key != "path"
    }
    if "warnings" in found:
        found["warnings"] = [
            _PATHS.sub(lambda path: "…/" + path[0].rstrip("/").rpartition("/")[2], text) for text in found["warnings"]
        ]
    return found

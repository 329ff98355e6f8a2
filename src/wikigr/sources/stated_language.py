"""The language that files state: ``lang`` of HTML, and the front matter of Markdown."""

from __future__ import annotations

import re
from collections import Counter

from wikigr.errors import SourceError
from wikigr.sources.source_files import Folder

# Files that are looked at, and bytes of each.
_FILES = 50
_HEAD_BYTES = 4_096
_STATEMENT = re.compile(
    rb"<html\b[^>]{0,1000}?\s(?:xml:)?lang\s*=\s*[\"']?([A-Za-z]{2,3})\b|\A---\n(?:[^\n]+\n){0,100}?lang(?:uage)?:\s*([A-Za-z]{2,3})\b",
    re.IGNORECASE,
)


def language_in_folder(folder: Folder) -> str | None:
    """Return the language that most of the first files state, ``None`` if fewer than half of them state one."""
    stated: Counter[str] = Counter()
    files = folder.source_ids()[:_FILES]
    for source_id in files:
        try:
            found = _STATEMENT.search(folder.head(source_id, _HEAD_BYTES))
        except SourceError:
            continue
        if found is not None:
            stated[(found[1] or found[2]).decode().lower()] += 1
    if not stated or 2 * stated.total() < len(files):
        return None
    return max(stated, key=lambda code: (stated[code], code))

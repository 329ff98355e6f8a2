"""What files state outside of their text: who wrote them and when, and in which language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from wikigr.errors import SourceError
from wikigr.sources.article import SourceSection
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.source_files import Folder

_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ]\d\d:.*")
_BY = re.compile(r"(?:written |posted |published )?by:? +", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*<[^<>\s]+@[^<>\s]+>|\s*\([^()\s]+@[^()\s]+\)")
_STATEMENT = re.compile(
    rb"<html\b[^>]{0,1000}?\s(?:xml:)?lang\s*=\s*[\"']?([A-Za-z]{2,3})\b|\A---\n(?:[^\n]+\n){0,100}?lang(?:uage)?:\s*([A-Za-z]{2,3})\b",
    re.IGNORECASE,
)
_BYLINE = re.compile(r"(?:Author|Published|Updated): [^\n]+")


@dataclass(frozen=True, slots=True)
class Byline:
    """The authors and dates of a page, as written; empty where it states none."""

    authors: tuple[str, ...] = ()
    published: str = ""
    updated: str = ""

    def text(self) -> str:
        """Return one line with a sentence for each fact, ``""`` if nothing is known."""
        authors = ", ".join(dict.fromkeys(filter(None, map(_clean_name, self.authors))))
        published, updated = _clean(self.published), _clean(self.updated)
        parts = (("Author", authors), ("Published", published), ("Updated", updated if updated != published else ""))
        return " ".join(f"{name}: {value.rstrip('.')}." for name, value in parts if value)


def is_byline(text: str) -> bool:
    """Return whether a paragraph is a byline that ``add_byline`` wrote."""
    return _BYLINE.fullmatch(text.strip()) is not None


def add_byline(sections: Iterable[SourceSection], byline: Byline) -> tuple[SourceSection, ...]:
    """Return ``sections`` with the byline at the end of the lead, unless the lead states it already."""
    whole = tuple(sections)
    lead = whole[0] if whole and not whole[0].heading_path else None
    said = collapse_spaces(lead.text).casefold() if lead is not None else ""
    text = replace(
        byline,
        authors=tuple(name for name in byline.authors if _clean_name(name).casefold() not in said),
        published=byline.published if _clean(byline.published) not in said else "",
        updated=byline.updated if _clean(byline.updated) not in said else "",
    ).text()
    if not text or not whole:
        return whole
    if lead is None:
        return (SourceSection((), text), *whole)
    return (replace(lead, text=f"{lead.text}\n\n{text}", is_navigation=False), *whole[1:])


def _clean(value: str) -> str:
    value = collapse_spaces(value[:1_000])
    match = _DATE_TIME.fullmatch(value)
    value = match[1] if match else value
    # Longer values are not names or dates.
    return value if len(value) <= 200 and "://" not in value else ""


def _clean_name(value: str) -> str:
    name = _BY.sub("", _ADDRESS.sub("", _clean(value)), count=1).strip(" ,;")
    return name if any(map(str.isalpha, name)) else ""


def language_in_folder(folder: Folder) -> str | None:
    """Return the language that most of the first files state, ``None`` if fewer than half of them state one."""
    stated: Counter[str] = Counter()
    files = folder.source_ids()[:50]
    for source_id in files:
        try:
            found = _STATEMENT.search(folder.head(source_id, 4_096))
        except SourceError:
            continue
        if found is not None:
            stated[(found[1] or found[2]).decode().lower()] += 1
    if not stated or 2 * stated.total() < len(files):
        return None
    return max(stated, key=lambda code: (stated[code], code))

"""Read the YAML block at the top of a Markdown file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import yaml

from wikigr.errors import RecordError
from wikigr.sources.bylines import Byline

_ABSENT = frozenset({"", "~", "null"})
_AUTHORS = ("author", "authors")
_PUBLISHED = ("date", "published", "publishdate", "pubdate", "created")
_UPDATED = ("updated", "modified", "lastmod", "last_updated", "last_modified_at")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata of a note; absent fields are empty."""

    title: str = ""
    categories: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    url: str = ""
    byline: Byline = field(default_factory=Byline)


def parse_front_matter(text: str, where: str) -> FrontMatter:
    """Parse the YAML between the ``---`` lines, which begins on line 2 of the file ``where``.

    ``categories`` combines ``category``, ``categories`` and ``tags``. Scalars are kept as written, so ``2001`` and
    ``Yes`` are valid titles. Raises ``RecordError`` with the line number for YAML that is invalid or not a mapping.
    """
    try:
        # The base loader reads every scalar as a string and constructs no objects.
        fields = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 2
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
        raise RecordError(f"{where}, line {line}", f"the front matter is not valid YAML: {problem}") from error
    except RecursionError as error:
        raise RecordError(f"{where}, line 2", "the front matter is nested too deeply") from error
    if fields is None or fields == "":
        return FrontMatter()
    if not isinstance(fields, dict):
        raise RecordError(
            f"{where}, line 2",
            "the front matter is not a mapping of keys to values",
            hint="If the file begins with a horizontal rule instead of front matter, write the rule as ***.",
        )
    categories = [name for key in ("category", "categories", "tags") for name in _names(fields, key, where)]
    return FrontMatter(
        title=_text(fields, "title", where),
        categories=tuple(dict.fromkeys(categories)),
        aliases=tuple(dict.fromkeys([*_names(fields, "aliases", where), *_names(fields, "alias", where)])),
        url=_text(fields, "url", where),
        byline=Byline(
            authors=tuple(name for key in _AUTHORS for name in _authors(fields.get(key, ""))),
            published=_first_text(fields, _PUBLISHED),
            updated=_first_text(fields, _UPDATED),
        ),
    )


def _authors(value: object) -> list[str]:
    """Return the names in a text, a list, or mappings with a ``name``; anything else has none."""
    if isinstance(value, list):
        return [name for item in value for name in _authors(item)]
    if isinstance(value, dict):
        return _authors(value.get("name", ""))
    return [value] if isinstance(value, str) and value.strip() not in _ABSENT else []


def _first_text(fields: dict[object, object], keys: Iterable[str]) -> str:
    values = (fields.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip() not in _ABSENT), "")


def _text(fields: dict[object, object], key: str, where: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise RecordError(f"{where}, front matter", f"`{key}` must be text, not a list or a mapping")
    return "" if value.strip() in _ABSENT else " ".join(value.split())


def _names(fields: dict[object, object], key: str, where: str) -> list[str]:
    value = fields.get(key, "")
    if isinstance(value, str):
        # The singular keys hold one name, which may contain a comma; the plural keys hold a list.
        values: list[object] = [value] if key in ("category", "alias") else [*value.split(",")]
    elif isinstance(value, list):
        values = value
    else:
        raise RecordError(f"{where}, front matter", f"`{key}` must be text or a list of texts")
    names: list[str] = []
    for name in values:
        if not isinstance(name, str):
            raise RecordError(f"{where}, front matter", f"`{key}` must be text or a list of texts")
        if name.strip() not in _ABSENT:
            names.append(" ".join(name.split()))
    return names

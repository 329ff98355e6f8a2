"""Read the YAML block at the top of a Markdown file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import yaml

from wikigr.errors import RecordError
from wikigr.sources.bylines import Byline

_ABSENT = frozenset({"", "~", "null"})


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
    return FrontMatter(
        categories=_names(fields, ("category", "categories", "tags"), where),
        title=_text(fields, "title", where),
        aliases=_names(fields, ("aliases", "alias"), where),
        url=_text(fields, "url", where),
        byline=Byline(
            authors=tuple(name for key in ("author", "authors") for name in _authors(fields.get(key, ""))),
            published=_first_text(fields, ("date", "published", "publishdate", "pubdate", "created")),
            updated=_first_text(fields, ("updated", "modified", "lastmod", "last_updated", "last_modified_at")),
        ),
    )


def _authors(value: object) -> list[str]:
    """Return the names in a text, a list, or mappings with a ``name``; anything else has none."""
    if isinstance(value, list):
        return [name for item in value for name in _authors(item)]
    if isinstance(value, dict):
        return _authors(value.get("name", ""))
    return [value] if isinstance(value, str) and value.strip() not in _ABSENT else []


def _first_text(fields: Mapping[object, object], keys: Iterable[str]) -> str:
    values = (fields.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip() not in _ABSENT), "")


def _text(fields: Mapping[object, object], key: str, where: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise RecordError(f"{where}, front matter", f"`{key}` must be text, not a list or a mapping")
    return "" if value.strip() in _ABSENT else " ".join(value.split())


def _names(fields: Mapping[object, object], keys: Iterable[str], where: str) -> tuple[str, ...]:
    """Return the distinct names in the fields ``keys``, each a text or a list of texts."""
    names: dict[str, None] = {}
    for key in keys:
        value = fields.get(key, "")
        if isinstance(value, str):
            # The singular keys hold one name, which may contain a comma; the plural keys hold a list.
            value = [value] if key in ("category", "alias") else value.split(",")
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise RecordError(f"{where}, front matter", f"`{key}` must be text or a list of texts")
        names.update((" ".join(name.split()), None) for name in value if name.strip() not in _ABSENT)
    return tuple(names)

"""The YAML block at the top of a Markdown file."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from wikigr.errors import RecordError

_ABSENT = frozenset({"", "~", "null"})


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a note says about itself; empty where it says nothing."""

    title: str = ""
    categories: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    url: str = ""


def parse_front_matter(text: str, where: str) -> FrontMatter:
    """Read the YAML between the ``---`` lines, which begins on line 2 of the file ``where``.

    ``categories`` joins ``category``, ``categories`` and ``tags``. Scalars are taken as written (``2001`` and
    ``Yes`` are titles). Raises ``RecordError`` with the line for YAML that is broken or no mapping.
    """
    try:
        # The base loader makes strings of all scalars and builds no objects.
        fields = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else 2
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
        raise RecordError(f"{where}, line {line}", f"the front matter is no valid YAML: {problem}") from error
    except RecursionError as error:
        raise RecordError(f"{where}, line 2", "the front matter is nested too deeply") from error
    if fields is None or fields == "":
        return FrontMatter()
    if not isinstance(fields, dict):
        raise RecordError(
            f"{where}, line 2",
            "the front matter is no mapping of keys to values",
            hint="If the file only begins with a horizontal rule, write it as ***.",
        )
    categories = [name for key in ("category", "categories", "tags") for name in _names(fields, key, where)]
    return FrontMatter(
        title=_text(fields, "title", where),
        categories=tuple(dict.fromkeys(categories)),
        aliases=tuple(dict.fromkeys([*_names(fields, "aliases", where), *_names(fields, "alias", where)])),
        url=_text(fields, "url", where),
    )


def _text(fields: dict[object, object], key: str, where: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise RecordError(f"{where}, front matter", f"`{key}` must be text, not a list or a mapping")
    return "" if value.strip() in _ABSENT else " ".join(value.split())


def _names(fields: dict[object, object], key: str, where: str) -> list[str]:
    value = fields.get(key, "")
    if isinstance(value, str):
        # One category may hold a comma; the plural keys list several.
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

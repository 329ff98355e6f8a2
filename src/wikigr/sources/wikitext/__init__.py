"""MediaWiki wikitext as plain text: templates, tables, infoboxes and links."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

# Languages with a file of templates of their own.
_LANGUAGES = ("de", "es", "fr", "it")


@cache
def wikipedia_data(file: str = "wikipedia") -> dict[str, Any]:
    """Return the tables of ``wikipedia.yaml`` or another file, whose scalars are all strings."""
    text = resources.files(__package__).joinpath(f"{file}.yaml").read_text(encoding="utf-8")
    # The base loader reads every scalar as a string and constructs no objects.
    data: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return data


@cache
def template_tables(language: str) -> dict[str, Any]:
    """Return the tables about templates for a wiki in ``language``, an ISO 639-1 code or ``""``.

    Those of the language come before the English ones. If it is English, these are all; if it has no file, those of
    the other languages follow. ``rules`` maps the names of templates to what they show.
    """
    others = [f"templates.{code}" for code in _LANGUAGES]
    own = f"templates.{language}"
    order = [own, "wikipedia"] if own in others else ["wikipedia", *(others if language != "en" else [])]
    merged: dict[str, Any] = {"rules": {}}
    for file in reversed(order):
        tables = wikipedia_data(file)
        merged["rules"].update(dict.fromkeys(tables["silent"], ""))
        merged["rules"].update({name: f"{{1={word}}}" for name, word in tables["words"].items()})
        merged["rules"].update({name: rule for rule, names in tables["expansions"].items() for name in names})
        for table, value in tables.items():
            if isinstance(value, dict):
                value = {**merged.get(table, {}), **value}
            merged[table] = [*merged.get(table, ()), *value] if isinstance(value, list) else value
    return merged


@cache
def wikipedia_names(table: str) -> frozenset[str]:
    """Return the names in one table of ``wikipedia.yaml``."""
    return frozenset(wikipedia_data()[table])


def is_apparatus(heading: str) -> bool:
    """Return whether the text under ``heading``, a list of works or links, is dropped.

    It matches questions by the words of titles but answers none. "Bibliography" is as often a reading list as the
    subject's own works; the latter are usually under "Works" or "Publications", which are kept.
    """
    return heading.casefold().strip(" :") in wikipedia_names("apparatus")

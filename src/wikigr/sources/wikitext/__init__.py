"""MediaWiki wikitext as plain text: templates, tables, infoboxes and links."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml


@cache
def wikipedia_data() -> dict[str, Any]:
    """Return the tables of ``wikipedia.yaml``, whose scalars are all strings."""
    text = resources.files(__package__).joinpath("wikipedia.yaml").read_text(encoding="utf-8")
    # The base loader reads every scalar as a string and constructs no objects.
    data: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    return data


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

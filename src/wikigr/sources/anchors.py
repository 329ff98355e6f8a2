"""The anchors that renderers give to headings: what follows ``#`` in the address of a section."""

from __future__ import annotations

import re
from collections.abc import Callable

_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def slug_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a document, in order, to its anchor on GitHub and most static sites."""
    return _numbered(lambda heading: _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-"), "-", 1)


def wiki_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a page, in order, to its anchor in MediaWiki."""
    return _numbered(lambda heading: "_".join(heading.split()), "_", 2)


def _numbered(make: Callable[[str], str], separator: str, second: int) -> Callable[[str], str]:
    """Return ``make`` with a number after anchors that are in use: ``second`` after the second one, and so on.

    Anchors that differ only in case are equal, as in MediaWiki.
    """
    # The last number tried after each anchor in use.
    numbers: dict[str, int] = {}

    def anchor_of(heading: str) -> str:
        made = anchor = make(heading)
        while anchor.lower() in numbers:
            numbers[made.lower()] += 1
            anchor = f"{made}{separator}{numbers[made.lower()]}"
        numbers[anchor.lower()] = second - 1
        return anchor

    return anchor_of

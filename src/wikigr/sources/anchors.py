"""The anchors that renderers give to headings: what follows ``#`` in the address of a section."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def slug_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a document, in order, to its anchor on GitHub and most static sites."""
    return _numbered(lambda heading: _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-"), "-", 1)


def wiki_anchors() -> Callable[[str], str]:
    """Return the function from each heading of a page, in order, to its anchor in MediaWiki."""
    return _numbered(lambda heading: "_".join(heading.split()), "_", 2)


def outline_anchor(heading: str) -> str:
    """Return the anchor by which LibreOffice finds the first heading of a text document with this text."""
    return f"{heading}|outline"


def _numbered(make: Callable[[str], str], separator: str, second: int) -> Callable[[str], str]:
    """Return ``make`` with a number after equal anchors: ``second`` after the second one, and so on."""
    uses: Counter[str] = Counter()

    def anchor_of(heading: str) -> str:
        anchor = make(heading)
        uses[anchor] += 1
        return anchor if uses[anchor] == 1 else f"{anchor}{separator}{uses[anchor] - 2 + second}"

    return anchor_of

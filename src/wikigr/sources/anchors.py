"""The anchors of headings: what follows ``#`` in the address of a section, as each format's renderers make it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from wikigr.sources.rst.scan import name_in_signature

_PLACE = re.compile(r"(?P<unit>Page|Slide|Cell|Document) (?P<number>\d+)")
_CELLS = re.compile(r"![A-Z]+\d+:[A-Z]+\d+$")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a heading becomes an anchor. The second of two equal anchors ends in ``separator`` and ``second``.

    Without ``separator``, the second has an anchor that the heading does not tell.
    """

    make: Callable[[str], str]
    separator: str = ""
    second: int = 0


def _slug(heading: str) -> str:
    return _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-")


def _wiki_anchor(heading: str) -> str:
    return "_".join(heading.split())


def _docutils_anchor(heading: str) -> str:
    # docutils takes 30 ms to import.
    from docutils.nodes import make_id

    return str(make_id(heading))


def _outline_anchor(heading_path: Sequence[str]) -> str:
    return f"{heading_path[-1]}|outline" if heading_path else ""


def _place_anchor(heading_path: Sequence[str]) -> str:
    first = heading_path[0] if heading_path else ""
    place = _PLACE.fullmatch(first)
    if place is not None and place["unit"] == "Document":
        # The address of a document of an e-book in EPUB Canonical Fragment Identifiers 1.1: the package's third element
        # is its spine, and elements have even numbers.
        return f"epubcfi(/6/{2 * int(place['number'])}!)"
    if place is not None:
        return f"{place['unit'].lower()}={place['number']}"
    return first if _CELLS.search(first) else ""


# ``slug`` is the rule of GitHub and of most generators of static sites. ``docutils`` is also that of Sphinx; a repeated
# heading gets a number there that counts all unnamed places of the document.
_RULES = {"slug": _Rule(_slug, "-", 1), "wiki": _Rule(_wiki_anchor, "_", 2), "docutils": _Rule(_docutils_anchor)}


def section_anchors(rule_name: str, heading_paths: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the anchor of each section of a document, ``""`` for a lead and without a rule (``rule_name`` is ``""``).

    The rule ``place`` is for sections whose first heading is a place in the file: ``page=7`` for ``Page 7``. The rule
    ``outline`` is that of LibreOffice for headings of a text document, where the first of equal ones is found.

    ``heading_paths`` are those of the sections in order. Neighbors with the same path are pieces of one section.
    """
    if rule_name in ("place", "outline"):
        yield from map(_place_anchor if rule_name == "place" else _outline_anchor, heading_paths)
        return
    rule = _RULES.get(rule_name)
    uses: Counter[str] = Counter()
    previous: tuple[str, ...] = ()
    anchor = ""
    for path in map(tuple, heading_paths):
        if rule is None or not path:
            anchor = ""
        elif path != previous:
            # A heading without text of its own is only in the paths of the sections below it.
            for heading in path[min(_shared_length(path, previous), len(path) - 1) :]:
                anchor = rule.make(heading)
                uses[anchor] += 1
                if uses[anchor] > 1 and not rule.separator:
                    anchor = ""
                elif uses[anchor] > 1:
                    anchor += f"{rule.separator}{uses[anchor] - 2 + rule.second}"
        previous = path
        yield anchor


def without_entries(sections: Iterable[tuple[Sequence[str], str]]) -> Iterator[Sequence[str]]:
    """Yield the heading path of each section of a reStructuredText document without the entries of Sphinx.

    ``sections`` are heading paths with the beginning of the text, which is the signature in an entry. The anchor of an
    entry (``os.path.join``, ``cmdoption-v``) has the module and the kind of the entry, which its name does not tell.
    """
    entries: set[tuple[str, ...]] = set()
    for path, text in sections:
        prefixes = [tuple(path[:length]) for length in range(1, len(path) + 1)]
        named = name_in_signature(text.partition("\n")[0])
        entries.update(prefix for prefix in prefixes if prefix[-1] == named)
        yield path[: next((n for n, prefix in enumerate(prefixes) if prefix in entries), len(path))]


def _shared_length(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))

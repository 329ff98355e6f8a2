"""Find the title of a page: ``<title>`` without the site's name and the chapter number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wikigr.sources.plain_text import fold_title

_NUMBERING = re.compile(r"^(?:(?:Chapter|Appendix|Part)\s+[0-9A-Z]+[.:]|(?:\d+|[A-Z])(?:\.\d+)+\.)\s+(?=\S)")
_CHAPTER_NUMBER = re.compile(r"^(?P<number>\d+)\.\s+(?=\S)")
_SPHINX_NO_TITLE = "<no title>"
_SEPARATORS = ("—", "–", "|", "·", "::", "»", "-")
_SUFFIX = re.compile(r"^(?P<page>.+?\S)\s+(?P<mark>—|–|\||·|::|»|-)\s+(?P<site>\S(?:(?!\s[—–|·»-]\s).)*)$")
_SITE_WORDS = re.compile(
    r"\b(?:documentation|docs?|wiki\w*|manual|handbook|reference|guide|tutorial|homepage)\b", re.IGNORECASE
)


def choose_title(full: str, own: Sequence[str], top: Sequence[str], *, strip_decorations: bool) -> str:
    """Return the title of a page whose ``<title>`` is ``full``, ``""`` if nothing names the page.

    ``own`` are the headings of the content area, ``top`` the top-level headings of the whole page. A heading that
    ``full`` begins or ends with is the title; otherwise it is ``full`` without a recognizable site name.
    """
    if full.startswith(_SPHINX_NO_TITLE):
        full = ""
    headings = [heading for heading in dict.fromkeys([*own, *top]) if heading]
    if not full:
        return next(iter(headings), "")
    # "Page - Site" is far more common than "Site - Page", and the site's name may be a heading too.
    for heading in headings:
        if _begins(full, heading):
            return heading
    match = _SUFFIX.match(full)
    has_site = match is not None and (match["mark"] == "|" or _SITE_WORDS.search(match["site"]) is not None)
    for heading in headings:
        # A heading outside the content such as "Site documentation" is the same on all pages.
        if _ends(full, heading) and not (has_site and heading not in own):
            return heading
    return match["page"] if match is not None and has_site and strip_decorations else full


def _begins(full: str, heading: str) -> bool:
    title, start = fold_title(full), fold_title(heading)
    rest = title.removeprefix(start)
    return title == start or (rest != title and rest.startswith(" ") and rest.lstrip().startswith(_SEPARATORS))


def _ends(full: str, heading: str) -> bool:
    title, end = fold_title(full), fold_title(heading)
    rest = title.removesuffix(end)
    return rest != title and rest.endswith(" ") and rest.rstrip().endswith(_SEPARATORS)


def strip_numbering(title: str, headings: Sequence[str] = ()) -> str:
    """Remove a manual's numbering ("25.1. ", "Appendix B. ") from the start of a title.

    A plain number ("4. ") may be part of a name, so it is removed only when ``headings`` continue it ("4.1. ").
    """
    match = _CHAPTER_NUMBER.match(title)
    if match and any(heading.startswith(match["number"] + ".1") for heading in headings):
        return title[match.end() :]
    return _NUMBERING.sub("", title, count=1)

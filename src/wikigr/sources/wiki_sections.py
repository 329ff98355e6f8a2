"""Which sections of an encyclopedia article are apparatus: lists of works and links, not statements.

Their text is bibliographic: it matches questions by title words and answers none. A "Bibliography" is as often
a reading list as the subject's own works; the latter mostly stand under "Works" or "Publications", which count.
"""

from __future__ import annotations

_APPARATUS = frozenset(
    (
        *("references", "external links", "external link", "further reading", "see also", "notes", "bibliography"),
        *("footnotes", "citations", "sources", "notes and references", "references and notes", "works cited"),
        *("notes and citations", "footnotes and references", "endnotes", "general references", "general sources"),
        *("cited references", "references and sources", "sources and references", "literature cited", "weblinks"),
        *("citations and notes", "references and further reading", "further reading and references", "gallery"),
        *("references and external links", "external links and references", "further reading and external links"),
    )
)
_SEE_ALSO = "see also"


def is_apparatus(heading: str) -> bool:
    """Whether the text under ``heading`` is left out."""
    return _name(heading) in _APPARATUS


def has_article_links(heading: str) -> bool:
    """Whether the links under a heading of the apparatus are the author's links to other articles."""
    return _name(heading) == _SEE_ALSO


def _name(heading: str) -> str:
    return heading.casefold().strip(" :")

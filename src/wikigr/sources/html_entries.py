"""Definition lists that document each term at length: the entries of an API reference or of a glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from wikigr.sources.html_document import HtmlDocument, class_names

# Characters. What says less is a line of a list, and reads best among its neighbours.
_LEAST_TEXT = 200
# Lists whose terms are marks in the text.
_OF_MARKS = frozenset({"footnote", "footnotes", "citation"})
_ARGUMENTS = re.compile(r"(?<=\w)\s*\(.*", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")


def entry_name(term: LexborNode, page: HtmlDocument) -> str:
    """Return the name of the entry that ``term``, a ``<dt>``, begins; ``""`` where it begins none.

    Something else can link to the terms of an entry, and its text has at least 200 characters. The name is that of the
    first term, of a signature what stands before the arguments, without "class" and the like.
    """
    parent = term.parent
    lists = [node for node in (parent, parent.parent if parent is not None else None) if node is not None]
    if any(not _OF_MARKS.isdisjoint(class_names(node)) for node in lists):
        return ""
    terms, definitions = _group(term)
    if not any(_is_target(node) for node in terms) or not _is_long(definitions, page):
        return ""
    text = page.flat_text(term)
    # Sphinx: "class", "static", "async".
    kind = term.css_first("em.property")
    if kind is not None:
        text = text.removeprefix(page.flat_text(kind)).lstrip()
    name = _ARGUMENTS.sub("", text, count=1).rstrip(" :=")
    return name if _LETTER.search(name) else ""


def _group(term: LexborNode) -> tuple[list[LexborNode], list[LexborNode]]:
    """Return the terms that stand together from ``term`` on, and what defines them."""
    terms, definitions = [term], []
    node = term.next
    while node is not None:
        if node.tag == "dd":
            definitions.append(node)
        elif node.tag == "dt" and not definitions:
            terms.append(node)
        elif node.is_element_node:
            break
        node = node.next
    return terms, definitions


def _is_target(term: LexborNode) -> bool:
    return bool(term.attributes.get("id")) or term.css_first("[id], a[name]") is not None


def _is_long(definitions: list[LexborNode], page: HtmlDocument) -> bool:
    length = 0
    for piece in _pieces(definitions, page):
        length += len(piece.strip())
        if length >= _LEAST_TEXT:
            return True
    return False


def _pieces(definitions: list[LexborNode], page: HtmlDocument) -> Iterator[str]:
    for definition in definitions:
        if definition.mem_id not in page.skip:
            yield from page.flat_pieces(definition)

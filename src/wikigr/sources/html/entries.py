"""Recognize the entries of API references and glossaries: definition lists that document each term at length."""

from __future__ import annotations

import re
from itertools import chain

from selectolax.lexbor import LexborNode

from wikigr.sources.html.document import HtmlDocument, class_names
from wikigr.sources.plain_text import collapse_spaces

# In characters. Shorter definitions are lines of a list and stay together.
_MIN_TEXT = 200
_MAX_NAME_LENGTH = 120
# Classes of lists whose terms are footnote or citation marks.
_REFERENCE_LISTS = frozenset({"footnote", "footnotes", "citation"})
# Sphinx marks up the name within a signature, DocBook each of several terms.
_SPHINX_NAME = ".sig-prename, .sig-name, .descclassname:not(.sig-prename), .descname:not(.sig-name)"
_DOCBOOK_TERM = "span.term"
# Arguments, a type or a value after a name.
_AFTER_NAME = re.compile(r"(?<=\w)(?:\s*\(|\s*:\s|\s+=\s|=).*", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")


def entry_name(term: LexborNode, page: HtmlDocument) -> str:
    """Return the name of the entry that the ``<dt>`` ``term`` begins, ``""`` if it does not begin one.

    The terms of an entry are link targets, and its text has at least 200 characters. The name is the first term,
    without arguments, types, "class" and the like.
    """
    parent = term.parent
    around = parent.parent if parent is not None and parent.tag == "div" else None
    lists = [node for node in (parent, around) if node is not None]
    if not any(node.tag == "dl" for node in lists):
        return ""
    if any(not _REFERENCE_LISTS.isdisjoint(class_names(node)) for node in lists):
        return ""
    terms, definitions = _group(term, page)
    if not any(_is_target(node) for node in terms) or not _is_long(definitions, page):
        return ""
    name = _name(term, page)
    return name if _LETTER.search(name) and len(name) <= _MAX_NAME_LENGTH else ""


def is_ignored(node: LexborNode, page: HtmlDocument) -> bool:
    """Return whether an element of a definition list is neither a term nor text."""
    return node.tag == "hr" or node.mem_id in page.skip


def _name(term: LexborNode, page: HtmlDocument) -> str:
    parts = "".join(page.flat_text(part) for part in term.css(_SPHINX_NAME))
    if parts:
        return collapse_spaces(parts)
    first = term.css_first(_DOCBOOK_TERM)
    text = page.flat_text(term if first is None else first)
    return _AFTER_NAME.sub("", text, count=1).rstrip(" :=,")


def _group(term: LexborNode, page: HtmlDocument) -> tuple[list[LexborNode], list[LexborNode]]:
    """Return the consecutive terms from ``term`` on and their definitions."""
    terms: list[LexborNode] = [term]
    definitions: list[LexborNode] = []
    node = term.next
    while node is not None:
        if node.is_element_node and not is_ignored(node, page):
            if node.tag == "dd":
                definitions.append(node)
            elif node.tag == "dt" and not definitions:
                terms.append(node)
            else:
                break
        node = node.next
    return terms, definitions


def _is_target(term: LexborNode) -> bool:
    return bool(term.attributes.get("id")) or term.css_first("[id], a[name]") is not None


def _is_long(definitions: list[LexborNode], page: HtmlDocument) -> bool:
    length = 0
    for piece in chain.from_iterable(map(page.flat_pieces, definitions)):
        length += len(piece.strip())
        if length >= _MIN_TEXT:
            return True
    return False

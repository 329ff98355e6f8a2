"""Find the anchor of a heading: the id that the address of its section ends in."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from wikigr.sources.html.document import HtmlDocument

# The number of elements, texts and comments before or around a heading that are examined.
_MAX_STEPS = 50
# In characters. Every section below a heading stores its anchor.
_MAX_LENGTH = 500


def anchor_at(heading: LexborNode, page: HtmlDocument) -> str:
    """Return the id of a heading or a term, or that of an element in it, right before it, or that begins with it.

    ``""`` if there is none, or if visible text stands between.
    """
    inside = (found for node in heading.css("[id], a[name]") if (found := id_of(node)))
    return id_of(heading) or next(inside, "") or _anchor_before(heading, page)


def _anchor_before(heading: LexborNode, page: HtmlDocument) -> str:
    node = heading
    for _ in range(_MAX_STEPS):
        before = node.prev
        if before is None:
            parent = node.parent
            if parent is None or parent.tag in ("body", "html"):
                return ""
            node = parent
        elif before.mem_id not in page.skip and page.begins_with_text(before):
            return ""
        else:
            node = before
        # What is not read may not be shown either, and then a browser does not scroll to it.
        if node.is_element_node and node.mem_id not in page.skip and (name := id_of(node)):
            return name
    return ""


def id_of(node: LexborNode) -> str:
    """Return the id of an element, or the name of an ``<a>``; ``""`` if it has none, or an endless one."""
    name = node.attributes.get("id") or (node.attributes.get("name") if node.tag == "a" else "") or ""
    return name if len(name) <= _MAX_LENGTH else ""

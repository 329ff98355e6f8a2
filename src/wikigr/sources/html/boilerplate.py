"""What separates the content of a web page from its boilerplate: CSS selectors, notes and tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources

from selectolax.lexbor import LexborNode

from wikigr.sources.plain_text import collapse_spaces

# The content area of a wiki, if it contains any text.
WIKI_CONTENT = "#mw-content-text"
# Candidates for the content area in order of preference, with the share of the body's text that each must contain;
# without one, the body is the content. The share of main elements is lower because footers outweigh them on short
# pages; the other names are also used for smaller parts.
CONTENT_AREAS = dict.fromkeys(("main", "[role=main]"), 0.25) | dict.fromkeys(
    (
        *("article", "#bodyContent", "#content", "#main-content", "#main", "div.body", "div.document"),
        *("div.contents:not(.topic):not(.local)", ".content"),
    ),
    0.5,
)

# Elements whose text and links are both ignored.
BOILERPLATE = re.sub(
    r"/\*.*?\*/|\s+", " ", resources.files(__package__).joinpath("boilerplate.css").read_text("utf-8"), flags=re.DOTALL
).strip()
# Tables of contents: their links count, their text does not.
TABLES_OF_CONTENTS = (
    ".toc, #toc, .toctree-wrapper, .contents.topic, .contents.local, nav.contents, .mw-toc, "
    "#table-of-contents, .table-of-contents, [class^=tableOfContents], .localtoc, .minitoc"
)
INFOBOX = "table.infobox, table.infobox_v2, table.infobox_v3, .portable-infobox, div.infobox table"
# Categories are the links in list items of these areas, and these links anywhere.
CATEGORY_AREAS = "#catlinks, .catlinks"
CATEGORY_LINKS = "a[rel~=category], a[rel~=tag]"

# Link texts in headings and summaries that mark a permalink or a note.
_HEADING_SIGNS = frozenset("#¶§🔗⚓ⓘ")
# Classes of an <aside> that is a note within the text.
_NOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:admonition|aside|attention|callout|caution|citation|danger|footnote|hint|important|info|note|"
    r"tip|topic|warning)s?(?:$|[\s_-])",
    re.IGNORECASE,
)
# Selectors of tab list, tab and panel: ARIA roles (Docusaurus, sphinx-tabs, Starlight), then MkDocs Material.
_TAB_SETS = (
    ("[role=tablist]", "[role=tab]", "[role=tabpanel]"),
    (".tabbed-labels", "label", ".tabbed-block"),
)


def is_note(aside: LexborNode) -> bool:
    """Return whether an ``<aside>`` is a note within the text; the "sidebar" of reStructuredText has a title."""
    role = aside.attributes.get("role") or ""
    return (
        # An aside of an e-book is text.
        bool(aside.attributes.get("epub:type"))
        or role == "note"
        or role.startswith("doc-")
        or _NOTE_CLASS.search(aside.attributes.get("class") or "") is not None
        or any(child.tag == "p" and "sidebar-title" in class_names(child) for child in aside.iter())
    )


def is_sign(node: LexborNode) -> bool:
    """Return whether a link in a heading only marks its address."""
    if node.tag != "a" or "#" not in (node.attributes.get("href") or ""):
        return False
    # Ignore the variation selector, which requests a plain or a colored sign.
    return collapse_spaces(node.text()).rstrip("\ufe0e\ufe0f") in _HEADING_SIGNS


def enclosing_link(node: LexborNode) -> LexborNode | None:
    """Return the ``<a>`` directly around ``node``."""
    return node.parent if node.parent is not None and node.parent.tag == "a" else None


def class_names(node: LexborNode) -> list[str]:
    """Return the classes of an element."""
    return (node.attributes.get("class") or "").split()


def tab_sets(root: LexborNode) -> Iterator[tuple[LexborNode, list[tuple[LexborNode, LexborNode]]]]:
    """Yield each tab list below ``root`` that is followed by its panels, with the pairs of tab and panel."""
    for list_selector, tab_selector, panel_selector in _TAB_SETS:
        panels = {node.mem_id for node in root.css(panel_selector)}
        tab_lists = root.css(list_selector) if panels else []
        list_ids = {node.mem_id for node in tab_lists}
        for tab_list in tab_lists:
            tabs = tab_list.css(tab_selector)
            # The panels follow the list or the element around it.
            found = _panels_after(tab_list, panels, list_ids) or _panels_after(tab_list.parent, panels, list_ids)
            # With a different number of panels, the tabs may not belong to them.
            if len(found) == len(tabs):
                yield tab_list, list(zip(tabs, found, strict=True))


def _panels_after(node: LexborNode | None, panels: set[int], tab_lists: set[int]) -> list[LexborNode]:
    """Return the panels among or directly below the siblings after ``node``, up to the next tab list."""
    found: list[LexborNode] = []
    current = node.next if node is not None else None
    for _ in range(100):
        if current is None:
            break
        near = [current, *current.iter()] if current.is_element_node else []
        if any(element.mem_id in tab_lists for element in near):
            break
        found.extend(near[:1] if current.mem_id in panels else [child for child in near if child.mem_id in panels])
        current = current.next
    return found

"""What separates the content of a web page from its boilerplate: CSS selectors, tabs and marks of footnotes."""

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
# What an aside of an e-book states about itself.
_TYPES = ("epub:type", "role")
# Where marks of footnotes may be: raised text, links to a place, and what states that it is one.
_RAISED = (
    "sup, :is(span, a, small):is([class~=super], [class~=sup], [class~=superscript], [style*='vertical-align:super'], "
    "[style*='vertical-align: super'])"
)
FOOTNOTE_MARKS = f"{_RAISED}, a[href*='#'], [epub\\:type~=noteref], [role=doc-noteref]"
_MARK = r"(?:(?:note|nb?|fn|lower-\w+) ?)?(?:\d{1,4}|[a-z]|[ivxl]{1,7}|[*†‡§¶‖#※]{1,4})"
_MARKS = re.compile(rf"[\[(]?{_MARK}(?: ?[,;–-] ?{_MARK}){{0,9}}[\])]?[.,]?", re.IGNORECASE)
# The sign of a link from a note to its mark.
_BACKLINK = re.compile("[↩↑⤴↵⮌⏎^]")
# How programs call a mark; what notes are called in the address of a mark; and files of notes.
_IS_MARK = re.compile(
    r"(?:foot|end|side)?(?:note|fn)[-_]?(?:ref\w*|mark\w*|anchor|anc|link|call)|(?:foot|end)noteanc$|_id\w+NoteLink|"
    r"Mso(?:Foot|End)noteReference|sd(?:foot|end)noteanc|footnote|endnote|fn-?ref\w*|fnanchor",
    re.IGNORECASE,
)
_NOTE_TARGET = re.compile(r"#(?:cite_|end)note|#cite_ref")
_NOTE_NAME = re.compile(
    r"#(?:user-content-)?_?(?:(?:sd)?(?:foot|end|side)?note|f?n|ftn|edn|en)(?:def)?(?:[-_.:]*\d|[-_.:]+[a-z]$)",
    re.IGNORECASE,
)
_NOTE_FILE = re.compile(r"(?:^|/)(?:foot|end)?notes?[-_.\d]*\w*\.x?html?(?:#|$)", re.IGNORECASE)
# Requests for a source.
_NOTE_REQUEST = re.compile(
    r"\[(?:[\w ]+ needed|(?:by |according to )?whom|who|when|where|which|why|how|vague|dubious.*|clarify|verify|"
    r"(?:permanent )?dead link|original research|failed verification|not in citation given)\??\]",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[[^\[\]]{1,40}\]")

# Selectors of tab list, tab and panel: ARIA roles (Docusaurus, sphinx-tabs, Starlight), then MkDocs Material.
_TAB_SETS = (
    ("[role=tablist]", "[role=tab]", "[role=tabpanel]"),
    (".tabbed-labels", "label", ".tabbed-block"),
)


def is_note(aside: LexborNode) -> bool:
    """Return whether an ``<aside>`` is a note within the text; the "sidebar" of reStructuredText has a title."""
    stated = [aside.attributes.get(name) or "" for name in _TYPES]
    return (
        bool(stated[0])
        or stated[1] == "note"
        or stated[1].startswith("doc-")
        or _NOTE_CLASS.search(aside.attributes.get("class") or "") is not None
        or any(child.tag == "p" and "sidebar-title" in class_names(child) for child in aside.iter())
    )


def is_footnote_mark(node: LexborNode) -> bool:
    """Return whether a link or raised text is a reference to a note, a link from the note back, or a request for one.

    A reference is a number, a letter or a sign; words that lead to a note are text.
    """
    text = collapse_spaces(node.text())
    if node.tag == "sup" and _NOTE_REQUEST.fullmatch(text):
        return True
    link = node if node.tag == "a" else node.css_first("a[href]") or enclosing_link(node)
    if link is not None and len(collapse_spaces(link.text())) > len(text):
        link = None
    href = (link.attributes.get("href") or "") if link is not None else ""
    if "#" in href and _BACKLINK.fullmatch(text.strip("[]\ufe0e\ufe0f")):
        return True
    is_bracketed = _BRACKETED.fullmatch(text) is not None
    if is_bracketed and (_NOTE_TARGET.search(href) or (node.tag == "sup" and href.startswith("#"))):
        return True
    if len(text) > 60 or not _MARKS.fullmatch(text):
        return False
    if any(map(_states_mark, (node, link))):
        return True
    if node.tag != "a" or node.css_first(_RAISED) is not None or "super" in class_names(node):
        return "#" in href or _NOTE_FILE.search(href) is not None
    # Where nothing raises it, a mark follows a word directly.
    before = (node.prev.text_content or "") if node.prev is not None and node.prev.is_text_node else ""
    return _NOTE_NAME.search(href) is not None and (is_bracketed or not before[-1:].isspace()) and before != ""


def _states_mark(node: LexborNode | None) -> bool:
    """Return whether an element says that it is the mark of a note."""
    if node is None:
        return False
    stated = " ".join(node.attributes.get(name) or "" for name in _TYPES)
    return (
        "noteref" in stated or "data-footnote-ref" in node.attributes or any(map(_IS_MARK.fullmatch, class_names(node)))
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

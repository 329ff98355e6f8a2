"""A parsed HTML page: content area, title, redirect target and categories, before any layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.sources.html.boilerplate import (
    ASIDES,
    BOILERPLATE,
    CATEGORY_AREAS,
    CATEGORY_LINKS,
    CONTENT_AREAS,
    FOOTNOTE_MARKS,
    HEADING_SIGNS,
    INFOBOX,
    LIKELY_CONTENT_AREAS,
    LIKELY_SHARE,
    MAIN_AREAS,
    MAIN_SHARE,
    NOTE_CLASS,
    NOTE_REQUEST,
    NOTE_ROLE,
    NOTE_TARGET,
    NOTE_TITLE_CLASS,
    TABLES_OF_CONTENTS,
)
from wikigr.sources.html.markup import prepare_markup
from wikigr.sources.html.tabs import tab_sets
from wikigr.sources.html.title import choose_title, strip_numbering
from wikigr.sources.plain_text import collapse_spaces, format_superscript

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS = ", ".join(HEADING_LEVELS)
_HEADINGS_AND_SUMMARIES = f"{HEADINGS}, summary"
SECTIONING_ELEMENTS = frozenset(("article", "aside", "main", "nav", "section"))
# The number of ancestors examined for the context of an element.
MAX_ANCESTORS = 50
# The number of pieces examined for the text of a heading.
_MAX_HEADING_PIECES = 200
PARAGRAPH_ELEMENTS = frozenset(
    """
    address article aside blockquote caption center details dir div dl fieldset figure form header hgroup hr
    main menu ol p section table ul
    """.split()
)
LINE_ELEMENTS = frozenset(
    """
    dd dt figcaption legend li option summary tbody td tfoot th thead tr
    """.split()
)
BLOCK_ELEMENTS = PARAGRAPH_ELEMENTS | LINE_ELEMENTS | HEADING_LEVELS.keys() | {"pre", "br", "body"}
# The elements with a ``replacement_text``, some of them at least.
REPLACED_ELEMENTS = frozenset(("math", "span", "sup"))
_DISPLAY_STYLE = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(?P<tex>.*)\}$", re.DOTALL)


# Comments that exclude what they enclose from site search.
_NO_INDEX_COMMENTS = {
    "htdig_noindex": "/htdig_noindex",
    "noindex": "/noindex",
    "googleoff: index": "googleon: index",
    "googleoff: all": "googleon: all",
}
_MAX_NEIGHBORS = 8
_BRACKETED = re.compile(r"\[[^\[\]]{1,40}\]")
_REFRESH = re.compile(r"^\s*(?P<delay>\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?(?P<url>[^'\"]+)", re.IGNORECASE)
_MAX_REDIRECT_DELAY_S = 10

# What the readers of other formats write in the place of something that a reader of the note does not see.
UNSEEN = "<template></template>"


class HtmlDocument:
    """A parsed page, or a note of another format that its reader has written as HTML.

    ``skip``, ``contents_tables`` and ``infoboxes`` hold the ``mem_id`` of elements that are omitted, read only for
    their links, and read as fields. ``tab_labels`` maps the ``mem_id`` of a tab panel to its label. ``special`` has all
    of these. ``content`` is the element with the page's own text.
    """

    def __init__(
        self, markup: bytes | str, where: str = "HTML", *, is_note: bool = False, has_boilerplate: bool = True
    ) -> None:
        """Parse ``markup``; raises ``RecordError`` at ``where`` when it exceeds the limits of ``prepare_markup``.

        All of a note is content, and its elements must be balanced. In a note without boilerplate, ``UNSEEN`` alone is
        skipped: finding out that nothing else is takes longer than reading a short note.
        """
        self._tree = LexborHTMLParser(markup if is_note else prepare_markup(markup, where), encoding=True)
        self.root: LexborNode = self._tree.root or self._tree.create_node("html")
        self.skip: set[int] = set()
        self.contents_tables: set[int] = set()
        self.infoboxes: set[int] = set()
        self.tab_labels: dict[int, str] = {}
        if has_boilerplate:
            self._find_boilerplate()
        else:
            self.skip.update(node.mem_id for node in self.root.css("template"))
        if is_note:
            self.content = self._tree.body or self.root
        else:
            self.infoboxes = {node.mem_id for node in self.root.css(INFOBOX)}
            self.content = self._find_content()
        self.special = self.skip.union(self.contents_tables, self.infoboxes, self.tab_labels)

    def _find_boilerplate(self) -> None:
        self.skip.update(node.mem_id for node in self.root.css(BOILERPLATE))
        self.skip.update(node.mem_id for node in self.root.css(ASIDES) if not _is_note(node))
        self.contents_tables = {node.mem_id for node in self.root.css(TABLES_OF_CONTENTS)}
        self._skip_footnote_marks()
        self._skip_marks_in_headings()
        self.tab_labels = self._tab_labels()

    def _skip_footnote_marks(self) -> None:
        """Skip "[10]" and "[citation needed]", which look like citations of an answer and hide ends of sentences."""
        self.skip.update(node.mem_id for node in self.root.css(FOOTNOTE_MARKS) if _is_footnote_mark(node))

    def _skip_marks_in_headings(self) -> None:
        """Skip permalinks and buttons in headings and summaries, unless there is no other text."""
        for heading in outermost(self.root, _HEADINGS_AND_SUMMARIES):
            marks = heading.css("a, button")
            signs = {mark.mem_id for mark in marks if _is_sign(mark)}
            worded = {mark.mem_id for mark in marks if mark.mem_id in self.skip} - signs
            self.skip |= signs
            for shown in (worded, signs):
                if shown and not self.begins_with_text(heading):
                    self.skip -= shown

    def begins_with_text(self, node: LexborNode) -> bool:
        """Return whether visible text is among the first pieces of ``node``."""
        return any(piece.strip() for piece in islice(self.flat_pieces(node), _MAX_HEADING_PIECES))

    def _tab_labels(self) -> dict[int, str]:
        """Return the labels by panel and skip the tab lists they come from."""
        labels: dict[int, str] = {}
        for tab_list, pairs in tab_sets(self.root):
            labels.update((panel.mem_id, self.flat_text(tab)) for tab, panel in pairs)
            self.skip.add(tab_list.mem_id)
        return labels

    def _find_content(self) -> LexborNode:
        for selector in CONTENT_AREAS:
            node = self._single(selector)
            if node is not None and any(piece.strip() for piece in self.flat_pieces(node)):
                return node
        body = self._tree.body or self.root
        shares = dict.fromkeys(MAIN_AREAS, MAIN_SHARE) | dict.fromkeys(LIKELY_CONTENT_AREAS, LIKELY_SHARE)
        likely = [(node, share) for selector, share in shares.items() if (node := self._single(selector)) is not None]
        if likely:
            whole = len(self.flat_text(body))
            return next((node for node, share in likely if len(self.flat_text(node)) > share * whole), body)
        return body

    def _single(self, selector: str) -> LexborNode | None:
        """Return the only element that matches; several are usually the cards of an overview page."""
        nodes = [node for node in self.root.css(selector) if node.tag not in ("html", "body")]
        return nodes[0] if len(nodes) == 1 else None

    def flat_pieces(self, node: LexborNode) -> Iterator[str]:
        """Yield the visible text below ``node`` in pieces, with a space where a block begins or ends."""
        stack: list[LexborNode | None] = [node]
        while stack:
            current = stack.pop()
            if current is None:
                yield " "
            elif current.is_text_node:
                yield current.text_content or ""
            elif current.is_element_node:
                if current.mem_id in self.skip and current.mem_id != node.mem_id and not is_math(current):
                    continue
                tag = current.tag or ""
                replacement = replacement_text(current) if tag in REPLACED_ELEMENTS else None
                if replacement is not None:
                    yield replacement
                    continue
                if tag in BLOCK_ELEMENTS:
                    yield " "
                    stack.append(None)
                stack.extend(reversed(visible_children(current)))

    def flat_text(self, node: LexborNode) -> str:
        """Return the visible text below ``node`` on one line."""
        return collapse_spaces("".join(self.flat_pieces(node)))

    def title(self, *, strip_decorations: bool) -> str:
        """Return the page's title, ``""`` if nothing names it."""
        tag = self.root.css_first("head > title")
        full = collapse_spaces(tag.text()) if tag is not None else ""
        own = [self.flat_text(node) for node in outermost(self.content, "h1, h2, h3")]
        top = [self.flat_text(node) for node in outermost(self.root, "h1")]
        title = choose_title(full, own, top, strip_decorations=strip_decorations)
        return strip_numbering(title, own) if strip_decorations else title

    def heading(self) -> str:
        """Return the heading of the content: its only ``<h1>``, or its first heading if there is none, or ``""``.

        The header that a site shows on all pages does not count. Several ``<h1>`` each name only a part.
        """
        nodes = [node for node in outermost(self.content, HEADINGS) if self._is_heading_of_content(node)]
        texts = [(node.tag, text) for node in nodes if (text := self.flat_text(node))]
        top = dict.fromkeys(text for tag, text in texts if tag == "h1")
        if len(top) > 1 or not texts:
            return ""
        return strip_numbering(next(iter(top), texts[0][1]), [text for _, text in texts])

    def _is_heading_of_content(self, heading: LexborNode) -> bool:
        in_header = False
        current: LexborNode | None = heading
        for _ in range(MAX_ANCESTORS):
            if current is None or current.mem_id == self.content.mem_id:
                break
            if current.mem_id in self.skip:
                return False
            if current.tag in SECTIONING_ELEMENTS:
                in_header = False
            in_header = in_header or current.tag == "header"
            current = current.parent
        return not (in_header and self.content.tag == "body")

    def base(self) -> str:
        """Return the ``<base>`` that the page's links are relative to, as written; ``""`` for the page's own URL."""
        node = self.root.css_first("base[href]")
        return (node.attributes.get("href") or "").strip() if node is not None else ""

    def url(self) -> str:
        """Return the page's canonical address on the web, ``""`` if it does not state an absolute one."""
        node = self.root.css_first("link[rel=canonical i][href]")
        href = (node.attributes.get("href") or "").strip() if node is not None else ""
        return href if href.lower().startswith(("http://", "https://")) else ""

    def redirect_target(self) -> str | None:
        """Return the raw URL of a meta refresh whose delay is short enough for a redirect."""
        for node in self.root.css("meta[http-equiv][content]"):
            if (node.attributes.get("http-equiv") or "").strip().casefold() != "refresh":
                continue
            match = _REFRESH.match(node.attributes.get("content") or "")
            # A refresh in <noscript> is for browsers without scripts; the page has not moved.
            if node.parent is not None and node.parent.tag == "noscript":
                continue
            if match and int(match["delay"]) <= _MAX_REDIRECT_DELAY_S:
                return match["url"].strip()
        return None

    def language(self) -> str:
        """Return the ``lang`` attribute of the page, ``""`` if absent."""
        node = self.root if self.root.tag == "html" else self.root.css_first("html")
        if node is None:
            return ""
        return (node.attributes.get("lang") or node.attributes.get("xml:lang") or "").strip()

    def categories(self) -> tuple[str, ...]:
        """Return the page's categories: MediaWiki's category links and ``rel=tag``."""
        # The selector "#catlinks li a" would examine all ancestors of every link on the page.
        wanted = {node.mem_id for node in self.root.css(CATEGORY_LINKS)}
        for area in self.root.css(CATEGORY_AREAS):
            wanted.update(link.mem_id for item in area.css("li") for link in item.css("a"))
        links = (node for node in self.root.css("a") if node.mem_id in wanted) if wanted else ()
        names = (self.flat_text(node) for node in links)
        return tuple(dict.fromkeys(name for name in names if name))


def _is_note(aside: LexborNode) -> bool:
    if aside.attributes.get("role") == NOTE_ROLE:
        return True
    if NOTE_CLASS.search(aside.attributes.get("class") or "") is not None:
        return True
    return any(child.tag == "p" and NOTE_TITLE_CLASS in class_names(child) for child in aside.iter())


def _is_footnote_mark(node: LexborNode) -> bool:
    """Return whether a superscript or a link is a reference to a note, in brackets, or a request for one."""
    text = collapse_spaces(node.text())
    if not _BRACKETED.fullmatch(text):
        return False
    if node.tag == "sup" and NOTE_REQUEST.fullmatch(text):
        return True
    link = node if node.tag == "a" else node.css_first("a[href]") or _enclosing_link(node)
    href = (link.attributes.get("href") or "") if link is not None else ""
    return NOTE_TARGET.search(href) is not None or (node.tag == "sup" and href.startswith("#"))


def _enclosing_link(node: LexborNode) -> LexborNode | None:
    return node.parent if node.parent is not None and node.parent.tag == "a" else None


def _is_sign(node: LexborNode) -> bool:
    if node.tag != "a" or "#" not in (node.attributes.get("href") or ""):
        return False
    # Ignore the variation selector, which requests a plain or a colored sign.
    return collapse_spaces(node.text()).rstrip("\ufe0e\ufe0f") in HEADING_SIGNS


def outermost(root: LexborNode, selector: str) -> Iterator[LexborNode]:
    """Yield the elements below ``root`` that match and are not inside another match, so that none is read twice."""
    inside: set[int] = set()
    for node in root.css(selector):
        if node.mem_id not in inside:
            inside.update(inner.mem_id for inner in node.css(selector))
            yield node


def visible_children(node: LexborNode) -> list[LexborNode]:
    """Return the child elements and texts of ``node``, except what comments exclude from indexing."""
    children: list[LexborNode] = []
    marked: list[LexborNode] = []
    closing: str | None = None
    for child in node.iter(include_text=True):
        if child.is_comment_node:
            comment = (child.comment_content or "").strip().casefold()
            if closing is None:
                closing = _NO_INDEX_COMMENTS.get(comment)
            elif comment == closing:
                marked, closing = [], None
        elif closing is not None:
            marked.append(child)
        else:
            children.append(child)
    # A mark that is never closed has no effect.
    return children + marked


def is_math(node: LexborNode) -> bool:
    """Return whether ``node`` is a formula; formulas are read even if their markup is hidden."""
    return node.tag == "math" or "mwe-math-element" in class_names(node)


def class_names(node: LexborNode) -> list[str]:
    """Return the classes of an element."""
    return (node.attributes.get("class") or "").split()


def replacement_text(node: LexborNode) -> str | None:
    """Return the text of a formula or a superscript; ``None`` for elements whose text is that of their children."""
    if node.tag == "sup":
        return _superscript(node)
    if node.tag == "math" or (node.tag == "span" and is_math(node)):
        math = node if node.tag == "math" else node.css_first("math")
        image = node.css_first("img[alt]")
        source = math.css_first("annotation") if math is not None else None
        tex = (
            ((math.attributes.get("alttext") if math is not None else None) or "")
            or (source.text() if source is not None else "")
            or ((image.attributes.get("alt") if image is not None else None) or "")
            or node.text()
        )
        match = _DISPLAY_STYLE.match(collapse_spaces(tex))
        return match["tex"].strip() if match else collapse_spaces(tex)
    return None


def _superscript(node: LexborNode) -> str | None:
    """Return the text of a ``<sup>`` if it differs from that of its children."""
    link = node.parent if node.parent is not None and node.parent.tag == "a" else node.css_first("a[href]")
    if link is not None or node.css_first("math, .mwe-math-element") is not None:
        # A digit that links within the page is a footnote mark.
        is_mark = link is not None and (link.attributes.get("href") or "").startswith("#")
        return "" if is_mark and collapse_spaces(node.text()).isdigit() else None
    plain = collapse_spaces(node.text())
    if plain.isdigit() and _is_numerator(node):
        return f" {plain}"
    text = format_superscript(_inner_text(node, 0), _character_before(node))
    return None if text == plain else text


def _is_numerator(node: LexborNode) -> bool:
    """Return whether a fraction follows, as in ``<sup>1</sup>/<sub>2</sub>`` but not in ``m<sup>2</sup>/s``."""
    after = node.next
    if after is None or not after.is_text_node:
        return False
    text = (after.text_content or "").strip()
    if text.startswith("\u2044"):
        return True
    return text == "/" and after.next is not None and after.next.tag == "sub"


def _inner_text(node: LexborNode, depth: int) -> str:
    """Return the text below a ``<sup>``, including nested exponents."""
    if depth > _MAX_NEIGHBORS:
        return node.text()
    text = ""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            text += child.text_content or ""
        elif child.is_element_node:
            inner = _inner_text(child, depth + 1)
            text += format_superscript(inner, text[-1:]) if child.tag == "sup" else inner
    return text


def _character_before(node: LexborNode) -> str:
    """Return the character before an inline element in its block, ``""`` if there is none nearby."""
    current: LexborNode | None = node
    for _ in range(_MAX_NEIGHBORS):
        if current is None or current.tag in BLOCK_ELEMENTS:
            return ""
        previous = current.prev
        while previous is not None and previous.is_comment_node:
            previous = previous.prev
        if previous is None:
            current = current.parent
            continue
        if previous.tag in BLOCK_ELEMENTS:
            return ""
        text = (previous.text_content or "") if previous.is_text_node else previous.text()
        if text:
            return text[-1]
        current = previous
    return ""

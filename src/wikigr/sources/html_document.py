"""A parsed HTML page, and the questions about it that need no layout: content area, title, redirect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.sources.html_boilerplate import (
    BOILERPLATE,
    CATEGORIES,
    CONTENT_AREAS,
    INFOBOX,
    LIKELY_CONTENT_AREAS,
    TABLES_OF_CONTENTS,
)
from wikigr.sources.html_title import choose_title, strip_numbering
from wikigr.sources.plain_text import collapse_spaces

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
PARAGRAPH_ELEMENTS = frozenset(
    (
        "address",
        "article",
        "blockquote",
        "caption",
        "center",
        "details",
        "dir",
        "div",
        "dl",
        "fieldset",
        "figure",
        "form",
        "header",
        "hgroup",
        "hr",
        "main",
        "menu",
        "ol",
        "p",
        "section",
        "table",
        "ul",
    )
)
LINE_ELEMENTS = frozenset(
    (
        "dd",
        "dt",
        "figcaption",
        "legend",
        "li",
        "option",
        "summary",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
    )
)
BLOCK_ELEMENTS = PARAGRAPH_ELEMENTS | LINE_ELEMENTS | HEADING_LEVELS.keys() | {"pre", "br", "body"}
_SUPERSCRIPT_NUMBER = re.compile(r"^[+\u2212-]?\d+(?:[.,]\d+)?$")
_DISPLAY_STYLE = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(?P<tex>.*)\}$", re.DOTALL)


# Marks that site search engines honour: what stands between them is no content.
_NO_INDEX_COMMENTS = {
    "htdig_noindex": "/htdig_noindex",
    "noindex": "/noindex",
    "googleoff: index": "googleon: index",
    "googleoff: all": "googleon: all",
}

_XHTML = re.compile(rb"^\s*<\?xml|<html[^>]*\sxmlns=", re.IGNORECASE)
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([a-z][a-z0-9]*)((?:\s+[a-z_:][\w:.-]*\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/>",
    re.IGNORECASE,
)
_SELF_CLOSED_BYTES = re.compile(_SELF_CLOSED.pattern.encode(), re.IGNORECASE)
_REFRESH = re.compile(r"^\s*(?P<delay>\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?(?P<url>[^'\"]+)", re.IGNORECASE)
_LONGEST_REDIRECT_DELAY_S = 10


class HtmlDocument:
    """A parsed page.

    ``skip``, ``contents_tables`` and ``infoboxes`` hold the ``mem_id`` of the elements that are left out,
    read for their links alone, or read as fields; ``content`` is the element that holds the page's own text.
    """

    def __init__(self, markup: bytes | str) -> None:
        self._tree = LexborHTMLParser(_open_self_closed(markup), encoding=True)
        self.root: LexborNode = self._tree.root or self._tree.create_node("html")
        self.skip = {node.mem_id for node in self.root.css(BOILERPLATE)}
        self.contents_tables = {node.mem_id for node in self.root.css(TABLES_OF_CONTENTS)}
        self.infoboxes = {node.mem_id for node in self.root.css(INFOBOX)}
        self.content = self._find_content()

    def _find_content(self) -> LexborNode:
        for selector in CONTENT_AREAS:
            node = self._single(selector)
            if node is not None and any(piece.strip() for piece in self.flat_pieces(node)):
                return node
        body = self._tree.body or self.root
        likely = [node for node in map(self._single, LIKELY_CONTENT_AREAS) if node is not None]
        if likely:
            half = len(self.flat_text(body)) / 2
            return next((node for node in likely if len(self.flat_text(node)) > half), body)
        return body

    def _single(self, selector: str) -> LexborNode | None:
        """The one element that matches; several at once are the cards of an overview."""
        nodes = [node for node in self.root.css(selector) if node.tag not in ("html", "body")]
        return nodes[0] if len(nodes) == 1 else None

    def flat_pieces(self, node: LexborNode) -> Iterator[str]:
        """The visible text below ``node`` in pieces, with a space where a block begins or ends."""
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
                replacement = replacement_text(current)
                if replacement is not None:
                    yield replacement
                    continue
                if tag in BLOCK_ELEMENTS:
                    yield " "
                    stack.append(None)
                stack.extend(reversed(visible_children(current)))

    def flat_text(self, node: LexborNode) -> str:
        """The visible text below ``node`` on one line."""
        return collapse_spaces("".join(self.flat_pieces(node)))

    def title(self, *, strip_decorations: bool) -> str:
        """The page's title, ``""`` when nothing names it."""
        tag = self.root.css_first("head > title")
        full = collapse_spaces(tag.text()) if tag is not None else ""
        own = [self.flat_text(node) for node in self.content.css("h1, h2, h3")]
        top = [self.flat_text(node) for node in self.root.css("h1")]
        title = choose_title(full, own, top, strip_decorations=strip_decorations)
        return strip_numbering(title, own) if strip_decorations else title

    def redirect_target(self) -> str | None:
        """The raw URL of a meta refresh that follows soon enough to be a redirect."""
        for node in self.root.css("meta[http-equiv][content]"):
            if (node.attributes.get("http-equiv") or "").strip().casefold() != "refresh":
                continue
            match = _REFRESH.match(node.attributes.get("content") or "")
            # A page inside <noscript> is the page for browsers without scripts, not a moved one.
            if node.parent is not None and node.parent.tag == "noscript":
                continue
            if match and int(match["delay"]) <= _LONGEST_REDIRECT_DELAY_S:
                return match["url"].strip()
        return None

    def language(self) -> str:
        """The ``lang`` of the page, ``""`` when it has none."""
        node = self.root if self.root.tag == "html" else self.root.css_first("html")
        if node is None:
            return ""
        return (node.attributes.get("lang") or node.attributes.get("xml:lang") or "").strip()

    def categories(self) -> tuple[str, ...]:
        """The names under which the page files itself (MediaWiki's category links, ``rel=tag``)."""
        names = (self.flat_text(node) for node in self.root.css(CATEGORIES))
        return tuple(dict.fromkeys(name for name in names if name))


def _open_self_closed(markup: bytes | str) -> bytes | str:
    """Write ``<script/>`` as ``<script></script>`` in XHTML: an HTML parser would run on to the end."""
    if isinstance(markup, str):
        is_xhtml = _XHTML.search(markup[:2000].encode("utf-8", "replace"))
        return _SELF_CLOSED.sub(r"<\1\2></\1>", markup) if is_xhtml else markup
    return _SELF_CLOSED_BYTES.sub(rb"<\1\2></\1>", markup) if _XHTML.search(markup[:2000]) else markup


def visible_children(node: LexborNode) -> list[LexborNode]:
    """The elements and texts right below ``node``, less what comments mark as not to be indexed."""
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
    # A mark that is never closed marks nothing.
    return children + marked


def is_math(node: LexborNode) -> bool:
    """Whether ``node`` is a formula; those count although their markup is hidden."""
    return node.tag == "math" or "mwe-math-element" in class_names(node)


def class_names(node: LexborNode) -> list[str]:
    """The classes of an element."""
    return (node.attributes.get("class") or "").split()


def replacement_text(node: LexborNode) -> str | None:
    """The text that stands for an element whose children are not its text; None for all others."""
    if node.tag == "sup":
        text = collapse_spaces(node.text())
        if not _SUPERSCRIPT_NUMBER.match(text):
            return None
        after = node.next.text_content if node.next is not None and node.next.is_text_node else ""
        is_numerator = (after or "").startswith(("\u2044", "/"))
        return f" {text}" if is_numerator else f"^{text}"
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

"""A parsed HTML page, and the questions about it that need no layout: content area, title, redirect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.errors import RecordError
from wikigr.sources.html_boilerplate import (
    ASIDES,
    BOILERPLATE,
    CATEGORY_AREAS,
    CATEGORY_LINKS,
    CONTENT_AREAS,
    INFOBOX,
    LIKELY_CONTENT_AREAS,
    LIKELY_SHARE,
    MAIN_AREAS,
    MAIN_SHARE,
    NOTE_CLASS,
    NOTE_ROLE,
    TABLES_OF_CONTENTS,
)
from wikigr.sources.html_title import choose_title, strip_numbering
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.superscript import superscript

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
PARAGRAPH_ELEMENTS = frozenset(
    (
        "address",
        "article",
        "aside",
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
_DECLARED_CHARSET = re.compile(rb"<meta\b[^<>]*\bcharset\s*=|<\?xml[^<>]*\bencoding\s*=", re.IGNORECASE)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
# Where the HTML standard stops to look for a declaration.
_DECLARATION_BYTES = 1024

# What stays open until it is closed. The time that parsing takes grows with the square of the depth.
_NESTING = re.compile(
    rb"<(/?+)(?:address|article|aside|blockquote|center|details|dir|div|dl|fieldset|figure|footer|form|header|main|"
    rb"menu|nav|ol|section|span|sub|sup|table|ul)(?=[\s/>])",
    re.IGNORECASE,
)
_DEEPEST_NESTING = 5000
# The parser opens a formatting element anew in every block until it is closed: a <b> left open in each of n
# paragraphs makes n * n / 2 elements, 900 MB of them from a page of 30 KB.
_TAG = re.compile(rb"<(/?+)([a-zA-Z][^\s/<>]*+)([^<>]*+)")
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
# What ends elements of its own kind, and may be opened anew once.
_FORMATTING_ONCE = frozenset((b"a", b"nobr"))
_INLINE = frozenset(
    b"abbr bdi bdo br cite data del dfn img input ins kbd label link mark meta q samp script span style sub sup time "
    b"var wbr".split()
)
# Of formatting elements that look the same, no more are opened anew.
_OPENED_ANEW = 3
_FEWEST_TAGS = 1_000
_MOST_UNCLOSED = 10_000
_MOST_OPENED_ANEW = 1_000_000
_OPENED_ANEW_PER_TAG = 8
# The parser compares every attribute of a tag with all before it: 20,000 take half a second, 200,000 a minute.
_LONG_TAG = re.compile(rb"<[a-zA-Z][^<>]{20000,}")
_MOST_ATTRIBUTES = 20_000
_NEIGHBOURS = 8
_REFRESH = re.compile(r"^\s*(?P<delay>\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?(?P<url>[^'\"]+)", re.IGNORECASE)
_LONGEST_REDIRECT_DELAY_S = 10


class HtmlDocument:
    """A parsed page.

    ``skip``, ``contents_tables`` and ``infoboxes`` hold the ``mem_id`` of the elements that are left out,
    read for their links alone, or read as fields; ``content`` is the element that holds the page's own text.
    """

    def __init__(self, markup: bytes | str, where: str = "HTML") -> None:
        """Parse ``markup``; raises ``RecordError`` at ``where`` when its nesting or attributes have no bound."""
        markup = _open_self_closed(_decode(markup))
        if _is_nested_too_deeply(markup):
            raise RecordError(where, f"its elements are nested too deeply (more than {_DEEPEST_NESTING:,} levels)")
        if _has_too_many_attributes(markup):
            raise RecordError(where, f"one of its tags has more than {_MOST_ATTRIBUTES:,} attributes")
        if _has_too_much_unclosed(markup):
            raise RecordError(where, "too many of its <b>, <i>, <font> and the like are never closed")
        self._tree = LexborHTMLParser(markup, encoding=True)
        self.root: LexborNode = self._tree.root or self._tree.create_node("html")
        self.skip = {node.mem_id for node in self.root.css(BOILERPLATE)}
        self.skip.update(node.mem_id for node in self.root.css(ASIDES) if not _is_note(node))
        self.contents_tables = {node.mem_id for node in self.root.css(TABLES_OF_CONTENTS)}
        self.infoboxes = {node.mem_id for node in self.root.css(INFOBOX)}
        self.content = self._find_content()

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
        # As one selector, "#catlinks li a", it would look at all the ancestors of every link of the page.
        wanted = {node.mem_id for node in self.root.css(CATEGORY_LINKS)}
        for area in self.root.css(CATEGORY_AREAS):
            wanted.update(link.mem_id for item in area.css("li") for link in item.css("a"))
        links = (node for node in self.root.css("a") if node.mem_id in wanted) if wanted else ()
        names = (self.flat_text(node) for node in links)
        return tuple(dict.fromkeys(name for name in names if name))


def _decode(markup: bytes | str) -> bytes | str:
    """Bytes that declare nothing and are no UTF-8 as windows-1252, the standard's fallback; all else unchanged."""
    if (
        isinstance(markup, str)
        or markup.startswith(_BYTE_ORDER_MARKS)
        or _DECLARED_CHARSET.search(markup[:_DECLARATION_BYTES])
    ):
        return markup
    try:
        markup.decode("utf-8")
    except UnicodeDecodeError:
        read = markup.decode("utf-8", "replace")
        damaged = read.count("\ufffd")
        # Mostly good UTF-8 is UTF-8 with some damage.
        is_utf8 = sum(character > "\x7f" for character in read) > 2 * damaged
        return markup if is_utf8 else markup.decode("windows-1252", "replace")
    return markup


def _is_nested_too_deeply(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if data.count(b"<") <= _DEEPEST_NESTING:
        return False
    depth = 0
    for match in _NESTING.finditer(data):
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > _DEEPEST_NESTING:
            return True
    return False


def _has_too_many_attributes(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    return any(len(tag.group().split()) > _MOST_ATTRIBUTES for tag in _LONG_TAG.finditer(data))


def _has_too_much_unclosed(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    tags = data.count(b"<")
    if tags <= _FEWEST_TAGS:
        return False
    unclosed: dict[bytes, list[bytes]] = {}
    alike: Counter[bytes] = Counter()
    count = opened_anew = live = 0
    for match in _TAG.finditer(data):
        name = match[2].lower()
        if name in _FORMATTING:
            stack = unclosed.setdefault(name, [])
            if not match[1]:
                stack.append(name + match[3])
                count += 1
                alike[stack[-1]] += 1
                live += alike[stack[-1]] <= _OPENED_ANEW
            elif stack:
                count -= 1
                live -= alike[stack[-1]] <= _OPENED_ANEW
                alike[stack.pop()] -= 1
        elif match[1] or not (name in _INLINE or name in _FORMATTING_ONCE):
            opened_anew += live
        if count > _MOST_UNCLOSED or opened_anew > _MOST_OPENED_ANEW + _OPENED_ANEW_PER_TAG * tags:
            return True
    return False


def _is_note(aside: LexborNode) -> bool:
    if aside.attributes.get("role") == NOTE_ROLE:
        return True
    return NOTE_CLASS.search(aside.attributes.get("class") or "") is not None


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
    """The text of a ``<sup>`` where it differs from that of its children."""
    link = node.parent if node.parent is not None and node.parent.tag == "a" else node.css_first("a[href]")
    if link is not None or node.css_first("math, .mwe-math-element") is not None:
        # The mark of a footnote.
        is_mark = link is not None and (link.attributes.get("href") or "").startswith("#")
        return "" if is_mark and collapse_spaces(node.text()).isdigit() else None
    plain = collapse_spaces(node.text())
    if plain.isdigit() and _is_numerator(node):
        return f" {plain}"
    text = superscript(_inner_text(node, 0), character_before(node))
    return None if text == plain else text


def _is_numerator(node: LexborNode) -> bool:
    """Whether a fraction follows, as in ``<sup>1</sup>/<sub>2</sub>``; ``m<sup>2</sup>/s`` is none."""
    after = node.next
    if after is None or not after.is_text_node:
        return False
    text = (after.text_content or "").strip()
    if text.startswith("\u2044"):
        return True
    return text == "/" and after.next is not None and after.next.tag == "sub"


def _inner_text(node: LexborNode, depth: int) -> str:
    """The text below a ``<sup>``, with the exponents in it."""
    if depth > _NEIGHBOURS:
        return node.text()
    text = ""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            text += child.text_content or ""
        elif child.is_element_node:
            inner = _inner_text(child, depth + 1)
            text += superscript(inner, text[-1:]) if child.tag == "sup" else inner
    return text


def character_before(node: LexborNode) -> str:
    """The character right before an inline element in its block, ``""`` when there is none close by."""
    current: LexborNode | None = node
    for _ in range(_NEIGHBOURS):
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

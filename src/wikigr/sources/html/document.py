"""A parsed HTML page, and the questions about it that need no layout: content area, title, redirect."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.errors import RecordError
from wikigr.sources.html.boilerplate import (
    ASIDES,
    BOILERPLATE,
    CATEGORY_AREAS,
    CATEGORY_LINKS,
    CONTENT_AREAS,
    HEADING_SIGNS,
    INFOBOX,
    LIKELY_CONTENT_AREAS,
    LIKELY_SHARE,
    MAIN_AREAS,
    MAIN_SHARE,
    NOTE_CLASS,
    NOTE_ROLE,
    NOTE_TITLE_CLASS,
    TABLES_OF_CONTENTS,
)
from wikigr.sources.html.tabs import tab_sets
from wikigr.sources.html.title import choose_title, strip_numbering
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.superscript import superscript

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS = ", ".join(HEADING_LEVELS)
_HEADINGS_AND_SUMMARIES = f"{HEADINGS}, summary"
SECTIONING_ELEMENTS = frozenset(("article", "aside", "main", "nav", "section"))
# How far up it is looked what an element lies in.
MAX_ANCESTORS = 50
# Pieces without text before it is taken that a heading has some.
_MAX_HEADING_PIECES = 200
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


# Marks that site search engines honor: what stands between them is no content.
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
_META_CHARSET = re.compile(rb"<meta\b[^<>]*\bcharset\s*=", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^<>]*?\bencoding\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Python decodes these too, but no page is written in them.
_NO_CHARSETS = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
# Where the HTML standard stops to look for a declaration.
_DECLARATION_BYTES = 1024

# What stays open until it is closed. The time that parsing takes grows with the square of the depth.
_NESTING = re.compile(
    rb"<(/?+)(?:address|article|aside|blockquote|center|details|dir|div|dl|fieldset|figure|footer|form|header|main|"
    rb"menu|nav|ol|section|span|sub|sup|table|ul)(?=[\s/>])",
    re.IGNORECASE,
)
_MAX_NESTING_DEPTH = 5000
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
_MIN_TAGS = 1_000
_MAX_UNCLOSED = 10_000
_MAX_OPENED_ANEW = 1_000_000
_OPENED_ANEW_PER_TAG = 8
# The parser compares every attribute of a tag with all before it: 20,000 take half a second, 200,000 a minute.
_LONG_TAG = re.compile(rb"<[a-zA-Z][^<>]{20000,}")
_MAX_ATTRIBUTES = 20_000
_NEIGHBORS = 8
_REFRESH = re.compile(r"^\s*(?P<delay>\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?['\"]?(?P<url>[^'\"]+)", re.IGNORECASE)
_MAX_REDIRECT_DELAY_S = 10


class HtmlDocument:
    """A parsed page.

    ``skip``, ``contents_tables`` and ``infoboxes`` hold the ``mem_id`` of the elements that are left out,
    read for their links alone, or read as fields; ``tab_labels`` the label of each tab's panel by its
    ``mem_id``; ``content`` is the element that holds the page's own text.
    """

    def __init__(self, markup: bytes | str, where: str = "HTML") -> None:
        """Parse ``markup``; raises ``RecordError`` at ``where`` when its nesting or attributes have no bound."""
        markup = _open_self_closed(_decode(markup))
        if _is_nested_too_deeply(markup):
            raise RecordError(where, f"its elements are nested too deeply (more than {_MAX_NESTING_DEPTH:,} levels)")
        if _has_too_many_attributes(markup):
            raise RecordError(where, f"one of its tags has more than {_MAX_ATTRIBUTES:,} attributes")
        if _has_too_much_unclosed(markup):
            raise RecordError(where, "too many of its <b>, <i>, <font> and the like are never closed")
        self._tree = LexborHTMLParser(markup, encoding=True)
        self.root: LexborNode = self._tree.root or self._tree.create_node("html")
        self.skip = {node.mem_id for node in self.root.css(BOILERPLATE)}
        self.skip.update(node.mem_id for node in self.root.css(ASIDES) if not _is_note(node))
        self.contents_tables = {node.mem_id for node in self.root.css(TABLES_OF_CONTENTS)}
        self.infoboxes = {node.mem_id for node in self.root.css(INFOBOX)}
        self._skip_marks_in_headings()
        self.tab_labels = self._tab_labels()
        self.content = self._find_content()

    def _skip_marks_in_headings(self) -> None:
        """Leave permalinks and buttons out of headings and summaries, unless nothing else is in them."""
        for heading in outermost(self.root, _HEADINGS_AND_SUMMARIES):
            marks = heading.css("a, button")
            signs = {mark.mem_id for mark in marks if _is_sign(mark)}
            worded = {mark.mem_id for mark in marks if mark.mem_id in self.skip} - signs
            self.skip |= signs
            for shown in (worded, signs):
                if shown and not self._begins_with_text(heading):
                    self.skip -= shown

    def _begins_with_text(self, node: LexborNode) -> bool:
        return any(piece.strip() for piece in islice(self.flat_pieces(node), _MAX_HEADING_PIECES))

    def _tab_labels(self) -> dict[int, str]:
        """Labels by panel; a list of labels is left out once each stands at its panel."""
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
        own = [self.flat_text(node) for node in outermost(self.content, "h1, h2, h3")]
        top = [self.flat_text(node) for node in outermost(self.root, "h1")]
        title = choose_title(full, own, top, strip_decorations=strip_decorations)
        return strip_numbering(title, own) if strip_decorations else title

    def heading(self) -> str:
        """What the content calls itself: its only ``<h1>``, or without any its first heading; else ``""``.

        The header that a site puts on all its pages is no content; where there are several ``<h1>``, each names
        but a part.
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
        """The address that the page's links are relative to, as it is written; ``""`` for the page's own."""
        node = self.root.css_first("base[href]")
        return (node.attributes.get("href") or "").strip() if node is not None else ""

    def redirect_target(self) -> str | None:
        """The raw URL of a meta refresh that follows soon enough to be a redirect."""
        for node in self.root.css("meta[http-equiv][content]"):
            if (node.attributes.get("http-equiv") or "").strip().casefold() != "refresh":
                continue
            match = _REFRESH.match(node.attributes.get("content") or "")
            # A page inside <noscript> is the page for browsers without scripts, not a moved one.
            if node.parent is not None and node.parent.tag == "noscript":
                continue
            if match and int(match["delay"]) <= _MAX_REDIRECT_DELAY_S:
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
    """What the parser would not decode right: the encoding of an XML declaration, and undeclared windows-1252.

    The order is the HTML standard's: byte order mark, ``<meta>``, XML declaration, a guess.
    """
    if (
        isinstance(markup, str)
        or markup.startswith(_BYTE_ORDER_MARKS)
        or _META_CHARSET.search(markup[:_DECLARATION_BYTES])
    ):
        return markup
    encoding = _xml_encoding(markup)
    if encoding is not None:
        return markup if encoding == "utf-8" else markup.decode(encoding, "replace")
    try:
        markup.decode("utf-8")
    except UnicodeDecodeError:
        read = markup.decode("utf-8", "replace")
        damaged = read.count("\ufffd")
        # Mostly good UTF-8 is UTF-8 with some damage.
        is_utf8 = sum(character > "\x7f" for character in read) > 2 * damaged
        return markup if is_utf8 else markup.decode("windows-1252", "replace")
    return markup


def _xml_encoding(markup: bytes) -> str | None:
    """Python's name of the encoding in an XML declaration; None without one, or when it is unknown."""
    declaration = _XML_ENCODING.match(markup[:_DECLARATION_BYTES])
    if declaration is None:
        return None
    try:
        name = codecs.lookup(declaration[1].decode("ascii", "replace")).name
        if name in _NO_CHARSETS:
            return None
        # Python's codecs from bytes to bytes, like base64, are refused here.
        b" ".decode(name, "replace")
    except LookupError:
        return None
    if name.startswith("utf"):
        # A declaration that can be read byte by byte stands in no UTF-16.
        return "utf-8"
    # The standard reads these labels as windows-1252, which differs in control characters only.
    return "windows-1252" if name in ("iso8859-1", "ascii") else name


def _is_nested_too_deeply(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if data.count(b"<") <= _MAX_NESTING_DEPTH:
        return False
    depth = 0
    for match in _NESTING.finditer(data):
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > _MAX_NESTING_DEPTH:
            return True
    return False


def _has_too_many_attributes(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    return any(len(tag.group().split()) > _MAX_ATTRIBUTES for tag in _LONG_TAG.finditer(data))


def _has_too_much_unclosed(markup: bytes | str) -> bool:
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    tags = data.count(b"<")
    if tags <= _MIN_TAGS:
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
        if count > _MAX_UNCLOSED or opened_anew > _MAX_OPENED_ANEW + _OPENED_ANEW_PER_TAG * tags:
            return True
    return False


def _is_note(aside: LexborNode) -> bool:
    if aside.attributes.get("role") == NOTE_ROLE:
        return True
    if NOTE_CLASS.search(aside.attributes.get("class") or "") is not None:
        return True
    return any(child.tag == "p" and NOTE_TITLE_CLASS in class_names(child) for child in aside.iter())


def _is_sign(node: LexborNode) -> bool:
    if node.tag != "a" or "#" not in (node.attributes.get("href") or ""):
        return False
    # The variation selector asks for a plain or a coloured sign.
    return collapse_spaces(node.text()).rstrip("\ufe0e\ufe0f") in HEADING_SIGNS


def _open_self_closed(markup: bytes | str) -> bytes | str:
    """Write ``<script/>`` as ``<script></script>`` in XHTML: an HTML parser would run on to the end."""
    if isinstance(markup, str):
        is_xhtml = _XHTML.search(markup[:2000].encode("utf-8", "replace"))
        return _SELF_CLOSED.sub(r"<\1\2></\1>", markup) if is_xhtml else markup
    return _SELF_CLOSED_BYTES.sub(rb"<\1\2></\1>", markup) if _XHTML.search(markup[:2000]) else markup


def outermost(root: LexborNode, selector: str) -> Iterator[LexborNode]:
    """The elements that match below ``root``, less those inside of another: reading each would read them twice."""
    inside: set[int] = set()
    for node in root.css(selector):
        if node.mem_id not in inside:
            inside.update(inner.mem_id for inner in node.css(selector))
            yield node


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
    if depth > _NEIGHBORS:
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
    for _ in range(_NEIGHBORS):
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

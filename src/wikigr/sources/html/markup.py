"""Prepare the markup of an HTML page for the parser: decode it, fix XHTML, and reject pages of unbounded cost."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from wikigr.errors import RecordError
from wikigr.sources.encodings import declared_encoding, detect_encoding

_XHTML = re.compile(rb"^\s*<\?xml|<html[^>]*\sxmlns=", re.IGNORECASE)
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([a-z][a-z0-9]*)((?:\s+[a-z_:][\w:.-]*\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*)\s*/>",
    re.IGNORECASE,
)
_SELF_CLOSED_BYTES = re.compile(_SELF_CLOSED.pattern.encode(), re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta\b[^<>]*\bcharset\s*=", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^<>]*?\bencoding\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Codecs of Python that are not encodings of web pages.
_NO_CHARSETS = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))
# The HTML standard looks for a declaration in this many bytes.
_DECLARATION_BYTES = 1024

_ANY_TAG = re.compile(rb"<[^<>]*+>")
_TAG = re.compile(rb"<(/?+)([a-zA-Z][^\s/<>]*+)([^<>]*+)")
# Elements that stay open until they are closed. Parsing time is quadratic in the depth.
_NESTED = frozenset(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header "
    b"hgroup listing main menu nav ol optgroup pre rb rp rt rtc search section span sub summary sup table ul".split()
)
_MAX_NESTING_DEPTH = 5000
# The parser reopens an unclosed formatting element in every following block: a <b> left open in each of n paragraphs
# makes n * n / 2 elements, which is 900 MB for a page of 30 KB. It reopens at most three equal ones, and of <a> and
# <nobr> only one, because another one closes it.
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
_MAX_REOPENED_ALIKE = 3
_INLINE = frozenset(
    b"a abbr bdi bdo br cite data del dfn img input ins kbd label link mark meta nobr q samp script span style sub sup "
    b"time var wbr".split()
)
# Elements without content, and those that the next one of their kind closes. The parser looks through all others that
# are open at each new paragraph.
_CLOSED = frozenset(
    b"a area base body br col dd dt embed head hr html img input li link meta nobr option p param source tbody td "
    b"tfoot th thead tr track wbr".split()
)
_MAX_UNCLOSED = 10_000
_MAX_REOPENED = 1_000_000
_REOPENED_PER_TAG = 8
# The parser compares every attribute of a tag with all previous ones: 20,000 take half a second, 200,000 a minute.
_LONG_TAG = re.compile(rb"<[a-zA-Z][^<>]{20000,}")
_MAX_ATTRIBUTES = 20_000


def prepare_markup(markup: bytes | str, where: str) -> bytes | str:
    """Return ``markup`` in a form that the parser decodes and parses correctly in bounded time.

    Raises ``RecordError`` at ``where`` for bytes that are no text, and for markup whose nesting, attributes or unclosed
    elements exceed the limits.
    """
    if isinstance(markup, bytes) and b"\0" in markup[:_DECLARATION_BYTES] and not declared_encoding(markup):
        raise RecordError(where, "the file is not HTML: it contains NUL characters")
    markup = _open_self_closed(_decode(markup))
    data = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if any(len(tag.group().split()) > _MAX_ATTRIBUTES for tag in _LONG_TAG.finditer(data)):
        raise RecordError(where, f"one of its tags has more than {_MAX_ATTRIBUTES:,} attributes")
    _check_open_elements(data, where)
    return markup


def _decode(markup: bytes | str) -> bytes | str:
    """Decode what the parser would decode wrong: encodings in XML declarations and undeclared ones but UTF-8.

    The order is that of the HTML standard: byte order mark, ``<meta>``, XML declaration, a guess.
    """
    if isinstance(markup, str) or declared_encoding(markup) or _META_CHARSET.search(markup[:_DECLARATION_BYTES]):
        return markup
    encoding = _xml_encoding(markup)
    if encoding is not None:
        return markup if encoding == "utf-8" else markup.decode(encoding, "replace")
    # The ASCII of tags would hide which language the other characters belong to.
    guess = detect_encoding(_ANY_TAG.sub(b" ", markup))
    return markup if guess is None else markup.decode(guess, "replace")


def _xml_encoding(markup: bytes) -> str | None:
    declaration = _XML_ENCODING.match(markup[:_DECLARATION_BYTES])
    if declaration is None:
        return None
    try:
        name = codecs.lookup(declaration[1].decode("ascii", "replace")).name
        if name in _NO_CHARSETS:
            return None
        # Fails for Python's codecs from bytes to bytes, such as base64.
        b" ".decode(name, "replace")
    except LookupError:
        return None
    if name.startswith("utf"):
        # A declaration that is readable byte by byte cannot be UTF-16.
        return "utf-8"
    # The standard reads these labels as windows-1252, which differs only in control characters.
    return "windows-1252" if name in ("iso8859-1", "ascii") else name


def _open_self_closed(markup: bytes | str) -> bytes | str:
    """Rewrite ``<script/>`` in XHTML as ``<script></script>``, because an HTML parser ignores the slash."""
    if isinstance(markup, str):
        is_xhtml = _XHTML.search(markup[:2000].encode("utf-8", "replace"))
        return _SELF_CLOSED.sub(r"<\1\2></\1>", markup) if is_xhtml else markup
    return _SELF_CLOSED_BYTES.sub(rb"<\1\2></\1>", markup) if _XHTML.search(markup[:2000]) else markup


def _check_open_elements(data: bytes, where: str) -> None:
    tags = data.count(b"<")
    # Pages with fewer tags cannot exceed the limits.
    if tags <= 1_000:
        return
    unclosed: dict[bytes, list[bytes]] = {}
    alike: Counter[bytes] = Counter()
    depth = count = reopened = live = others = 0
    in_drawing = False
    for match in _TAG.finditer(data):
        is_end, name = bool(match[1]), match[2].lower()
        if name in _FORMATTING:
            stack = unclosed.setdefault(name, [])
            if not is_end:
                stack.append(name + match[3])
                count += 1
                alike[stack[-1]] += 1
                live += alike[stack[-1]] <= _MAX_REOPENED_ALIKE
            elif stack:
                count -= 1
                live -= alike[stack[-1]] <= _MAX_REOPENED_ALIKE
                alike[stack.pop()] -= 1
        elif is_end or name not in _INLINE:
            reopened += live
        if name in _NESTED:
            depth = max(0, depth - 1) if is_end else depth + 1
            if depth > _MAX_NESTING_DEPTH:
                limit = f"{_MAX_NESTING_DEPTH:,}"
                raise RecordError(where, f"its elements are nested too deeply (more than {limit} levels)")
        if name in (b"svg", b"math") or name in _NESTED:
            in_drawing = not is_end and name not in _NESTED
        elif name not in _FORMATTING and name not in _CLOSED and not (in_drawing and match[3].endswith(b"/")):
            others = max(0, others - 1) if is_end else others + 1
            if others > _MAX_UNCLOSED:
                raise RecordError(where, f"more than {_MAX_UNCLOSED:,} of its elements are never closed")
        if count > _MAX_UNCLOSED or reopened > _MAX_REOPENED + _REOPENED_PER_TAG * tags:
            raise RecordError(where, "too many of its formatting elements (<b>, <i>, <font> etc.) are never closed")

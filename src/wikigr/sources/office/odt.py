"""Read an OpenDocument text by writing its elements as HTML."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from wikigr.errors import RecordError
from wikigr.sources.anchors import outline_anchor
from wikigr.sources.office.document import Document, archive, names_columns, parse_xml, title_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_TAGS = {
    "text:p": "p",
    "text:list": "ul",
    "text:list-item": "li",
    "text:list-header": "li",
    "table:table": "table",
    "table:table-header-rows": "thead",
    "table:table-row": "tr",
    "table:table-cell": "td",
    "text:note-body": "small",
}
# Elements whose content is not a part of the text.
_OMITTED = frozenset(
    "office:annotation office:forms text:tracked-changes text:table-of-content text:alphabetical-index "
    "text:sequence-decls text:note-citation draw:frame".split()
)
_TEXT = {"text:s": " ", "text:tab": " ", "text:line-break": "<br>"}
_MANIFEST = "META-INF/manifest.xml"
_PREFORMATTED = "Preformatted"


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of an OpenDocument text, its headings, lists, tables and notes; pictures are left out."""
    with archive(data, where) as opened:
        if _MANIFEST in opened.namelist() and b":encryption-data" in opened.read(_MANIFEST):
            raise RecordError(where, "the file is encrypted", hint="Save it without a password.")
        document.title = title_of(opened)
        root = parse_xml(opened, "content.xml")
        body = next(root.iter("{*}body"), None)
        if body is not None:
            document.html(_html(body, 0, _styles(root)), anchor_of=outline_anchor)


def _styles(root: _Element) -> dict[str, str]:
    """Return what is behind the names of automatic styles: the parent of each, or the tag of a list."""
    styles = {_attribute(style, "name"): _attribute(style, "parent-style-name") for style in root.iter("{*}style")}
    for style in root.iter("{*}list-style"):
        is_numbered = next(iter(style.iterchildren("{*}*")), style).tag.endswith("number")
        styles[_attribute(style, "name")] = "ol" if is_numbered else "ul"
    return styles


def _name(element: _Element) -> str:
    return f"{element.prefix}:{element.tag.rpartition('}')[2]}" if isinstance(element.tag, str) else ""


def _attribute(element: _Element, name: str) -> str:
    return next((str(value) for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _html(element: _Element, depth: int, styles: Mapping[str, str]) -> str:
    """Return an element as HTML; what is nested too deeply is left out."""
    name = _name(element)
    if name in _TEXT:
        return _TEXT[name]
    if not name or name in _OMITTED or depth > 200:
        return ""
    style = _attribute(element, "style-name")
    style = styles.get(style, style)
    header = _header(element) if name == "table:table" else None
    inside = escape(element.text or "")
    for child in element:
        markup = _html(child, depth + 1, styles)
        inside += (f"<thead>{markup}</thead>" if child is header else markup) + escape(child.tail or "")
    if name == "text:h":
        level = _attribute(element, "outline-level")
        tag = f"h{min(max(int(level), 1), 6) if level.isdecimal() else 1}"
    elif name == "text:p" and style.startswith(_PREFORMATTED):
        tag = "pre"
    elif name == "text:p" and style == "Title":
        tag = "h1"
    elif name == "text:list" and style == "ol":
        tag = "ol"
    elif name == "text:a":
        return f'<a href="{escape(_attribute(element, "href"))}">{inside}</a>'
    else:
        tag = _TAGS.get(name, "")
    # Each line of code is a paragraph.
    inside = inside.replace("</pre><pre>", "\n") if "</pre><pre>" in inside else inside
    return f"<{tag}{_spans(element)}>{inside}</{tag}>" if tag else inside


def _header(table: _Element) -> _Element | None:
    """Return the first row of a table if it looks like a header and none is marked."""
    if table.find("{*}table-header-rows") is not None:
        return None
    rows = table.findall("{*}table-row")
    texts = [["".join(cell.itertext()).strip() for cell in row.iterfind("{*}table-cell")] for row in rows]
    return rows[0] if names_columns(texts) else None


def _spans(element: _Element) -> str:
    spans = (("colspan", "number-columns-spanned"), ("rowspan", "number-rows-spanned"))
    values = ((name, _attribute(element, attribute)) for name, attribute in spans)
    return "".join(f' {name}="{value}"' for name, value in values if value.isdecimal())

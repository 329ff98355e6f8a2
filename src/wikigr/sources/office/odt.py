"""Read an OpenDocument text by writing its elements as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wikigr.sources.office.archive import archive, parse_xml, title_of
from wikigr.sources.office.document import Document

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
# Elements whose content is no part of the text.
_OMITTED = frozenset(
    "office:annotation office:forms text:tracked-changes text:table-of-content text:alphabetical-index "
    "text:sequence-decls text:note-citation draw:frame".split()
)
_TEXT = {"text:s": " ", "text:tab": " ", "text:line-break": "<br>"}
_MAX_DEPTH = 200
_PREFORMATTED = "Preformatted"


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of an OpenDocument text, its headings, lists, tables and notes; pictures are left out."""
    with archive(data, where) as opened:
        document.title = title_of(opened)
        body = next(parse_xml(opened, "content.xml").iter("{*}body"), None)
        if body is not None:
            document.html(_html(body, 0))


def _name(element: _Element) -> str:
    return f"{element.prefix}:{element.tag.rpartition('}')[2]}" if isinstance(element.tag, str) else ""


def _attribute(element: _Element, name: str) -> str:
    return next((str(value) for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _html(element: _Element, depth: int) -> str:
    """Return an element as HTML; what is nested too deeply is left out."""
    name = _name(element)
    if name in _TEXT:
        return _TEXT[name]
    if not name or name in _OMITTED or depth > _MAX_DEPTH:
        return ""
    inside = escape(element.text or "")
    for child in element:
        inside += _html(child, depth + 1) + escape(child.tail or "")
    if name == "text:h":
        level = _attribute(element, "outline-level")
        tag = f"h{min(max(int(level), 1), 6) if level.isdecimal() else 1}"
    elif name == "text:p" and _attribute(element, "style-name").startswith(_PREFORMATTED):
        tag = "pre"
    elif name == "text:a":
        return f'<a href="{escape(_attribute(element, "href"))}">{inside}</a>'
    else:
        tag = _TAGS.get(name, "")
    return f"<{tag}{_spans(element)}>{inside}</{tag}>" if tag else inside


def _spans(element: _Element) -> str:
    spans = (("colspan", "number-columns-spanned"), ("rowspan", "number-rows-spanned"))
    values = ((name, _attribute(element, attribute)) for name, attribute in spans)
    return "".join(f' {name}="{value}"' for name, value in values if value.isdecimal())

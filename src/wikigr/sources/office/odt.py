"""Read an OpenDocument text by writing its elements as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from wikigr.errors import RecordError
from wikigr.sources.office.document import (
    NO_HEADING,
    Document,
    archive,
    attribute,
    item_html,
    parse_xml,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

_TAGS = {
    "text:p": "p",
    "text:list": "ul",
    "text:list-item": "li",
    "text:list-header": "div",
    "table:table": "table",
    "table:table-header-rows": "thead",
    "table:table-row": "tr",
    "table:table-cell": "td",
}
# Elements whose content is not a part of the text.
_OMITTED = frozenset(
    "office:annotation office:forms text:tracked-changes text:table-of-content text:alphabetical-index "
    "text:sequence-decls text:note-citation text:hidden-text text:ruby-text draw:image draw:object draw:object-ole "
    "svg:title svg:desc".split()
)
# A repeated cell or row with text is one of at most so many; more of them fill the sheet.
_MAX_REPEATED = 50
# In characters of HTML, all repetitions together.
_MAX_REPETITIONS = 1_000_000
_STYLES = {
    "Title": "h1",
    "Quotations": "blockquote",
    **dict.fromkeys(("Caption", "Illustration", "Figure", "Table", "Drawing"), "figcaption"),
}
# What stands beside the paragraph that it is anchored in.
_BOXES = frozenset(("draw:text-box", "draw:custom-shape", "draw:rect", "draw:ellipse"))
_TEXT = {"text:s": " ", "text:tab": " ", "text:line-break": "<br>"}
_MANIFEST = "META-INF/manifest.xml"
_PREFORMATTED = "Preformatted"


def headings(opened: ZipFile) -> Iterator[tuple[str, int]]:
    """Yield the text and the level of each paragraph, as ``first_title`` takes them."""
    root = parse_xml(opened, "content.xml")
    parents = {attribute(style, "name"): attribute(style, "parent-style-name") for style in root.iter("{*}style")}

    def level_of(paragraph: _Element) -> int:
        style = attribute(paragraph, "style-name")
        if "Title" in (style, parents.get(style)):
            return 0
        level = attribute(paragraph, "outline-level")
        return int(level) if level.isdecimal() else NO_HEADING

    body = next(root.iter("{*}body"), None)
    for each in body.iterfind("{*}text/*") if body is not None else ():
        if _name(each) in ("text:h", "text:p"):
            yield "".join(each.itertext()), level_of(each)


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of an OpenDocument text, its headings, lists, tables and notes; pictures are left out."""
    with archive(data, where) as opened:
        if _MANIFEST in opened.namelist() and b":encryption-data" in opened.read(_MANIFEST):
            raise RecordError(where, "the file is encrypted", hint="Save it without a password.")
        root = parse_xml(opened, "content.xml")
        styles = [*_named_styles(opened), *root.iter("{*}style")]
        body = next(root.iter("{*}body"), None)
        if body is not None:
            document.html(_Html(root, _struck_styles(styles)).of(body), is_text=True)


def _named_styles(opened: ZipFile) -> Iterator[_Element]:
    from lxml.etree import XMLSyntaxError

    with suppress(KeyError, BadZipFile, XMLSyntaxError):
        for styles in parse_xml(opened, "styles.xml").iterchildren("{*}styles"):
            yield from styles.iterchildren("{*}style")


def _struck_styles(styles: Iterable[_Element]) -> set[str]:
    """Return the names of the styles that strike text through, or whose parents do."""
    struck: set[str] = set()
    waiting: dict[str, list[str]] = {}
    for style in styles:
        name, parent = (attribute(style, key) for key in ("name", "parent-style-name"))
        lines = {
            attribute(properties, f"text-line-through-{key}")
            for properties in style.iterchildren("{*}text-properties")
            for key in ("style", "type")
        }
        if not {"", "none"}.issuperset(lines):
            struck.add(name)
        elif lines.issubset({""}):
            waiting.setdefault(parent, []).append(name)
    found = list(struck)
    while found:
        found += [name for name in waiting.pop(found.pop(), ()) if name not in struck]
        struck.update(found)
    return struck


def _name(element: _Element) -> str:
    return f"{element.prefix}:{element.tag.rpartition('}')[2]}" if isinstance(element.tag, str) else ""


class _Html:
    """Writes elements as HTML; what is nested too deeply is left out."""

    def __init__(self, root: _Element, struck: Set[str]) -> None:
        # The parents of automatic styles.
        self._styles = {
            attribute(style, "name"): attribute(style, "parent-style-name") for style in root.iter("{*}style")
        }
        self._struck = struck
        self._numbering = {
            (attribute(style, "name"), attribute(level, "level")): level
            for style in root.iter("{*}list-style")
            for level in style.iterchildren("{*}list-level-style-number")
        }
        # The last number at each level of the lists with an id and of those in a style, which later ones continue.
        self._counts: dict[tuple[str, int], int] = {}
        self._left = _MAX_REPETITIONS
        self._boxes: list[str] = []
        self._notes: list[str] = []
        self._controls = {attribute(control, "id"): control for control in root.iter("{*}checkbox")}

    def of(self, body: _Element) -> str:
        markup = self._html(body, 0) + "".join(self._boxes)
        return markup + (f"<div class='footnotes'><ol>{''.join(self._notes)}</ol></div>" if self._notes else "")

    def _html(self, element: _Element, depth: int) -> str:
        name = _name(element)
        if name in _TEXT:
            return _TEXT[name]
        if not name or name in _OMITTED or depth > 200:
            return ""
        if name == "draw:control":
            control = self._controls.get(attribute(element, "control"))
            label = escape(attribute(control, "label")) if control is not None else ""
            return f"{_check_box(control, 'current-state')} {label}" if control is not None else ""
        if name == "loext:content-control" and attribute(element, "checkbox") == "true":
            return _check_box(element, "checked")
        if name == "text:section" and attribute(element, "display") == "none":
            return ""
        inside = escape(element.text or "")
        for child in element:
            inside += self._html(child, depth + 1) + escape(child.tail or "")
        own_style = attribute(element, "style-name")
        style = self._styles.get(own_style, own_style)
        if inside and own_style in self._struck and name in ("text:p", "text:h", "text:span"):
            inside = f"<s>{inside}</s>"
        if name in _BOXES:
            self._boxes.append(f"<div>{inside}</div>")
            return ""
        if name == "text:note":
            mark = escape(element.findtext("{*}note-citation") or "")
            self._notes.append(f'<li data-label="{mark}">{inside}</li>')
            return ""
        if name == "text:h":
            level = attribute(element, "outline-level")
            tag = f"h{min(max(int(level), 1), 6) if level.isdecimal() else 1}"
        elif name == "text:p" and style.startswith(_PREFORMATTED):
            tag = "pre"
        elif name == "text:p" and style in _STYLES:
            tag = _STYLES[style]
        elif name == "text:p" and (item := item_html(inside)) and not any(element.iterancestors("{*}table-cell")):
            tag, inside = "ul", f"<li>{item}</li>"
        elif name == "text:list":
            opening = self._list(element)
            return f"{opening}{inside}</{opening[1:3]}>"
        elif name == "text:a":
            return f'<a href="{escape(attribute(element, "href"))}">{inside}</a>'
        else:
            tag = _TAGS.get(name, "")
        # Each line of code is a paragraph.
        inside = inside.replace("</pre><pre>", "\n") if "</pre><pre>" in inside else inside
        markup = f"<{tag}{_spans(element)}>{inside}</{tag}>" if tag else inside
        if name in ("table:table-cell", "table:table-row") and inside:
            stated = attribute(element, f"number-{'columns' if name == 'table:table-cell' else 'rows'}-repeated")
            repeated = int(stated) if stated.isdecimal() and int(stated) <= _MAX_REPEATED else 1
            copies = min(repeated, 1 + self._left // len(markup))
            self._left -= (copies - 1) * len(markup)
            markup *= copies
        if name in ("text:p", "text:h") and self._boxes:
            markup += "".join(self._boxes)
            self._boxes.clear()
        return markup

    def _list(self, element: _Element) -> str:
        """Return the tag of a list with its first number and their style."""
        lists = [element, *element.iterancestors("{*}list")]
        style = next(filter(None, (attribute(one, "style-name") for one in lists)), "")
        level = self._numbering.get((style, str(len(lists))))
        if level is None or not (form := attribute(level, "num-format")):
            return "<ul>"
        first = attribute(level, "start-value")
        is_continued = attribute(element, "continue-numbering") == "true"
        before = style if is_continued else attribute(element, "continue-list")
        last = start = self._counts.get((before, len(lists)), int(first) - 1 if first.isdecimal() else 0)
        for item in element.iterchildren("{*}list-item"):
            stated = attribute(item, "start-value")
            last = int(stated) if stated.isdecimal() else last + 1
        for name in filter(None, (style, attribute(element, "id"))):
            self._counts[name, len(lists)] = last
        return f'<ol type="{escape(form)}" start="{start + 1}">'


def _check_box(element: _Element, state: str) -> str:
    return "[x]" if attribute(element, state) in ("true", "checked") else "[ ]"


def _spans(element: _Element) -> str:
    spans = (("colspan", "number-columns-spanned"), ("rowspan", "number-rows-spanned"), ("value", "start-value"))
    values = ((name, attribute(element, stated)) for name, stated in spans)
    return "".join(f' {name}="{value}"' for name, value in values if value.isdecimal())

"""Read a Word document as the HTML that mammoth makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from wikigr.sources.office.document import (
    HAS_SIGN,
    NO_HEADING,
    Document,
    archive,
    attribute,
    equation_text,
    item_html,
    parse_xml,
    with_attributes,
    with_members,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

# What Word, LibreOffice and pandoc call the styles of titles, code and headers of tables, and of tables of contents,
# which are left out.
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name^='toc '] => !
p[style-name='Table Heading'] => strong
p[style-name^='HTML Preformatted'] => pre:separator('\\n')
p[style-name^='Preformatted Text'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
p[style-name='caption'] => figcaption:fresh
p[style-name='Quote'] => blockquote > p:fresh
p[style-name='Intense Quote'] => blockquote > p:fresh
"""
_LEVELS = {"title": 0, "heading 1": 1}
# Where text stands, and what mammoth does not read of it: simple fields, equations, double strikes, lists in forms, the
# text under pronunciations, numbers of items; prompts and hidden text, which it should not read; and symbols without a
# number, which it cannot read.
_STORIES = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
# The list of notes, which is the last part of what mammoth writes, a note in it, and a link between it and its mark.
_NOTES = re.compile(r'<ol><li id="(?:foot|end)note-\d+">')
_NOTE = re.compile(r'<li id="(?:foot|end)note-\d+">')
_NOTE_LINK = re.compile(
    r'(?:<sup>){0,2}+<a href="#(?:foot|end)note-(?:ref-)?\d+"[^>]*>(?:\[\d+\]|↑)</a>(?:</sup>){0,2}+'
)
_TABLE = re.compile("(</?table>)")
_SYMBOL = re.compile("[0-9A-Fa-f]{1,8}")
_PARAGRAPH = re.compile("<p>(.*?)</p>|(<li>(?:<[^>]*>)*)(.*?)(?=</li>|<[uo]l>)", re.DOTALL)
_LEFT_OUT = re.compile(rb"fldSimple|oMath|dstrike|ddList|showingPlcHdr|<w:ruby>|<w:vanish|<w:sym")
_ELEMENTS = tuple(f"{{*}}{name}" for name in "fldSimple oMath dstrike ddList showingPlcHdr ruby vanish sym".split())
# Attributes of styles that mammoth requires (ECMA-376, part 1, 17.7.4.17). Nothing refers to a style without an id.
_REQUIRED = (("{*}style", "type", "paragraph"), ("{*}style", "styleId", ""))
# The number of an item, and its style as HTML calls it, which a bookmark takes through mammoth.
_NUMBER = "wikigr-number"
_NUMBER_OF_ITEM = re.compile(rf'<li>((?:<(?!a id="{_NUMBER}|/)[^<>]*>){{0,9}})<a id="{_NUMBER}-(\d+)-(\w)"></a>')
_ANY_NUMBER = re.compile(rf'<a id="{_NUMBER}-\d+-\w"></a>')
_NUMBER_STYLES = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


def headings(opened: ZipFile) -> Iterator[tuple[str, int]]:
    """Yield the text and the level of each paragraph, as ``first_title`` takes them."""
    named = parse_xml(opened, "word/styles.xml").iterfind("{*}style") if "word/styles.xml" in opened.namelist() else ()
    # Names of styles that belong to Word are English in every language.
    levels = {
        attribute(style, "styleId"): _LEVELS[name]
        for style in named
        if (name := attribute(style.find("{*}name"), "val").casefold()) in _LEVELS
    }
    for paragraph in parse_xml(opened, "word/document.xml").iterfind("{*}body/{*}p"):
        style = attribute(paragraph.find("{*}pPr/{*}pStyle"), "val")
        yield "".join(paragraph.itertext("{*}t")), levels.get(style, NO_HEADING)


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of a Word document, its headings, lists, tables and notes; pictures are left out."""
    import mammoth

    with archive(data, where) as opened:
        has_marks = re.search(b"noteReference|checkbox|FORMCHECKBOX", opened.read("word/document.xml"))

        made = mammoth.convert_to_html(
            BytesIO(_prepared(opened) or data),
            convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
            style_map=_STYLES + _struck_styles(opened),
            transform_document=_with_marks if has_marks else lambda read: read,
        )
        numbered = _NUMBER_OF_ITEM.sub(r'<li value="\2" type="\3">\1', _with_items(made.value))
        document.html(_with_notes(_ANY_NUMBER.sub("", numbered)), is_text=True)


def _struck_styles(opened: ZipFile) -> str:
    """Return rules for the styles whose text is struck through, of which mammoth reads only what runs state."""
    rules = ""
    if "word/styles.xml" in opened.namelist() and b"trike" in opened.read("word/styles.xml"):
        for strike in parse_xml(opened, "word/styles.xml").iterfind("{*}style/{*}rPr/{*}strike"):
            style = next(strike.iterancestors("{*}style"))
            name, is_run = attribute(style.find("{*}name"), "val"), attribute(style, "type") == "character"
            if "'" not in name and "\\" not in name and not {"0", "false"}.intersection(strike.values()):
                rules += f"{'r' if is_run else 'p'}[style-name='{name}'] => {'s' if is_run else 'p > s:fresh'}\n"
    return rules


def _with_notes(markup: str) -> str:
    """Return what mammoth writes with the notes marked as such, and without the links between notes and their marks."""
    found = _NOTES.search(markup)
    if found is None:
        return markup
    numbers = count(1)
    notes = _NOTE.sub(lambda _: f'<li data-label="{next(numbers)}">', markup[found.start() :])
    text = _NOTE_LINK.sub("", markup[: found.start()])
    return f"{text}<div class='footnotes'>{_NOTE_LINK.sub('', notes)}</div>"


def _prepared(opened: ZipFile) -> bytes | None:
    """Return the document with what mammoth leaves out in a form that it reads; ``None`` if there is nothing of it."""
    stories = {name: opened.read(name) for name in _STORIES if name in opened.namelist()}
    lists = _Lists(opened) if "word/numbering.xml" in opened.namelist() else None
    changed = {
        name: _rewritten(parse_xml(opened, name), lists)
        for name, data in stories.items()
        if _LEFT_OUT.search(data) or (lists is not None and lists.are_in(data))
    }
    changed |= with_attributes(opened, "word/styles.xml", _REQUIRED)
    return with_members(opened, changed) if changed else None


class _Lists:
    """Counts the items of numbered lists, which go on after other paragraphs."""

    def __init__(self, opened: ZipFile) -> None:
        root = parse_xml(opened, "word/numbering.xml")
        has_styles = "word/styles.xml" in opened.namelist()
        styles = parse_xml(opened, "word/styles.xml").iterfind("{*}style") if has_styles else ()
        stated = {attribute(style, "styleId"): style.find("{*}pPr/{*}numPr") for style in styles}
        self._of_style = {name: found for name, found in stated.items() if found is not None}
        self._lists = {attribute(one, "numId"): one for one in root.iterfind("{*}num")}
        self._levels = {
            (attribute(one, "abstractNumId"), attribute(level, "ilvl")): level
            for one in root.iterfind("{*}abstractNum")
            for level in one.iterfind("{*}lvl")
        }
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def are_in(self, story: bytes) -> bool:
        """Return whether the XML of a story may have numbered paragraphs."""
        return b"numPr" in story or any(f'pStyle w:val="{name}"'.encode() in story for name in self._of_style)

    def number(self, paragraph: _Element) -> str:
        """Return the number of a paragraph, the next one, and its style; ``""`` if it has none."""
        found = paragraph.find("{*}pPr/{*}numPr")
        if found is None:
            found = self._of_style.get(attribute(paragraph.find("{*}pPr/{*}pStyle"), "val"))
        own = self._lists.get(attribute(found.find("{*}numId"), "val")) if found is not None else None
        depth = (attribute(found.find("{*}ilvl"), "val") or "0") if found is not None else ""
        if own is None or not depth.isdecimal():
            return ""
        kind = attribute(own.find("{*}abstractNumId"), "val")
        level = self._levels.get((kind, depth))
        counts = self._counts.setdefault(kind, {})
        if (name := attribute(own, "numId")) not in self._begun:
            self._begun.add(name)
            for other in own.iterfind("{*}lvlOverride"):
                start = attribute(other.find("{*}startOverride"), "val")
                if start.isdecimal() and attribute(other, "ilvl").isdecimal():
                    counts[int(attribute(other, "ilvl"))] = int(start) - 1
        for deeper in [one for one in counts if one > int(depth)]:
            del counts[deeper]
        form = attribute(level.find("{*}numFmt"), "val") if level is not None else ""
        if level is None or form in ("bullet", "none"):
            return ""
        first = attribute(level.find("{*}start"), "val")
        counts[int(depth)] = counts.get(int(depth), (int(first) if first.isdecimal() else 1) - 1) + 1
        return f"{max(counts[int(depth)], 0)}-{_NUMBER_STYLES.get(form, '1')}"


def _rewritten(root: _Element, lists: _Lists | None) -> bytes:
    from lxml import etree

    word = root.nsmap.get("w") or next(iter(root.nsmap.values()), "")

    def run(text: str) -> _Element:
        made = etree.Element(f"{{{word}}}r")
        etree.SubElement(made, f"{{{word}}}t").text = text
        return made

    # mammoth reads the other form of what only newer programs know.
    unread = {paragraph for choice in root.iter("{*}Choice") for paragraph in choice.iter("{*}p")}
    for paragraph in root.iter("{*}p"):
        number = lists.number(paragraph) if lists is not None and paragraph not in unread else ""
        if number:
            mark = etree.Element(f"{{{word}}}bookmarkStart", {f"{{{word}}}name": f"{_NUMBER}-{number}"})
            paragraph.insert(int(paragraph.find("{*}pPr") is not None), mark)
    for element in list(root.iter(*_ELEMENTS)):
        parent, name = element.getparent(), etree.QName(element).localname
        if name == "fldSimple":
            # Its result is what is shown.
            for child in element:
                element.addprevious(child)
            parent.remove(element)
        elif name == "oMath":
            before = parent if etree.QName(parent).localname == "oMathPara" else element
            before.addprevious(run(equation_text(element)))
        elif name == "ruby":
            for text in list(element.iterfind("{*}rubyBase//{*}t")):
                element.addprevious(text)
        elif name == "vanish":
            # Of the mark at the end of a paragraph, it hides nothing else.
            hidden = parent.getparent()
            if etree.QName(hidden).localname == "r" and attribute(element, "val") not in ("0", "false"):
                hidden.clear()
        elif name == "sym":
            # mammoth requires its number, which is optional. In hidden text, it is already gone.
            if parent is not None and not _SYMBOL.fullmatch(attribute(element, "char")):
                parent.remove(element)
        elif name == "dstrike":
            element.tag = f"{{{word}}}strike"
        elif name == "ddList":
            # The chosen entry of a list in a form is an attribute.
            entries = [entry.get(f"{{{word}}}val", "") for entry in element.iterfind("{*}listEntry")]
            chosen = element.find("{*}result")
            number = chosen.get(f"{{{word}}}val", "0") if chosen is not None else "0"
            field = next(element.iterancestors("{*}r"), None)
            if field is not None and number.isdecimal() and int(number) < len(entries):
                field.addnext(run(entries[int(number)]))
        else:
            # A prompt such as "Click to enter text." stands for an answer that nobody gave.
            content = parent.getparent().find("{*}sdtContent")
            if content is not None:
                content.clear()
    return bytes(etree.tostring(root))


def _with_marks(document: Any) -> Any:
    """Return a document with its check boxes as text, and with one reference to each note.

    mammoth writes a note again for each reference to it.
    """
    from mammoth import documents
    from mammoth.transforms import element_of_type

    found: set[tuple[str, str]] = set()

    def first(reference: Any) -> Any:
        note = (reference.note_type, reference.note_id)
        is_first = note not in found
        found.add(note)
        return reference if is_first else documents.text("")

    signed = element_of_type(documents.Checkbox, lambda box: documents.text("[x] " if box.checked else "[ ] "))
    return element_of_type(documents.NoteReference, first)(signed(document))


def _with_items(markup: str) -> str:
    """Return what mammoth writes with the paragraphs outside of tables that begin with a box or a bullet as items."""
    parts, depth = _TABLE.split(markup), 0
    for number, part in enumerate(parts):
        depth += (part == "<table>") - (part == "</table>")
        if depth == 0 and HAS_SIGN.search(part):
            parts[number] = _PARAGRAPH.sub(_as_item, part).replace("</ul><ul>", "")
    return "".join(parts)


def _as_item(found: re.Match[str]) -> str:
    if found[2]:
        return found[2] + (item_html(found[3]) or found[3])
    item = item_html(found[1])
    return f"<ul><li>{item}</li></ul>" if item else found[0]

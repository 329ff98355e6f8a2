"""Read a Word document as the HTML that mammoth makes of it."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from wikigr.sources.anchors import outline_anchor
from wikigr.sources.office.document import Document, archive, parse_xml, title_of
from wikigr.sources.office.equation import equation_text
from wikigr.sources.office.header import mark_header
from wikigr.sources.tables import Cell, Row

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
"""


# Where text stands, and what mammoth does not read of it: simple fields, equations, double strikes, lists in forms; and
# prompts.
_STORIES = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_LEFT_OUT = re.compile(rb"fldSimple|oMath|dstrike|ddList|showingPlcHdr")


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of a Word document, its headings, lists, tables and notes; pictures are left out."""
    import mammoth

    with archive(data, where) as opened:
        document.title = title_of(opened)
        made = mammoth.convert_to_html(
            BytesIO(_prepared(opened) or data),
            convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
            style_map=_STYLES,
            transform_document=_transformed,
        )
        document.html(made.value, anchor_of=outline_anchor)


def _prepared(opened: ZipFile) -> bytes | None:
    """Return the document with what mammoth leaves out in a form that it reads; ``None`` if there is nothing of it."""
    changed = {name: opened.read(name) for name in _STORIES if name in opened.namelist()}
    changed = {name: _rewritten(parse_xml(opened, name)) for name, data in changed.items() if _LEFT_OUT.search(data)}
    if not changed:
        return None
    made = BytesIO()
    with ZipFile(made, "w") as written:
        for name in dict.fromkeys(opened.namelist()):
            if not name.startswith("word/media/"):
                written.writestr(name, changed[name] if name in changed else opened.read(name))
    return made.getvalue()


def _rewritten(root: _Element) -> bytes:
    from lxml import etree

    word = root.nsmap.get("w") or next(iter(root.nsmap.values()), "")

    def run(text: str) -> _Element:
        made = etree.Element(f"{{{word}}}r")
        etree.SubElement(made, f"{{{word}}}t").text = text
        return made

    for element in list(root.iter("{*}fldSimple", "{*}oMath", "{*}dstrike", "{*}ddList", "{*}showingPlcHdr")):
        parent, name = element.getparent(), etree.QName(element).localname
        if name == "fldSimple":
            # Its result is what is shown.
            for child in element:
                element.addprevious(child)
            parent.remove(element)
        elif name == "oMath":
            before = parent if etree.QName(parent).localname == "oMathPara" else element
            before.addprevious(run(equation_text(element)))
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


def _transformed(document: Any) -> Any:
    from mammoth import documents, transforms

    document = transforms.element_of_type(
        documents.Checkbox, lambda box: documents.text("[x] " if box.checked else "[ ] ")
    )(document)
    return transforms.element_of_type(documents.Table, _with_header)(document)


def _with_header(table: Any) -> Any:
    """Return a table whose first rows are marked as its header if they look like one."""
    from mammoth import documents
    from mammoth.transforms import get_descendants_of_type

    rows = [row for row in table.children if isinstance(row, documents.TableRow)]
    if any(not isinstance(cell, documents.TableCell) for row in rows for cell in row.children):
        return table

    def read(cell: Any) -> Cell:
        text = "".join(text.value for text in get_descendants_of_type(cell, documents.Text))
        return Cell(" ".join(text.split()), False, cell.colspan, cell.rowspan)

    before = [Row(list(map(read, row.children)), is_head=row.is_header) for row in rows]
    after, _ = mark_header(before)
    changed = [number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] is not pair[1]]
    for number in changed:
        cells = rows[number].children
        if len(changed) > 1:
            paragraphs = (
                documents.paragraph([documents.run([documents.text(cell.text)])]) for cell in after[number].cells
            )
            cells = [documents.table_cell([paragraph]) for paragraph in paragraphs]
        rows[number] = rows[number].copy(children=cells, is_header=True)
    return table.copy(children=rows) if changed else table

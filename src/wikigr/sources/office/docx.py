"""Read a Word document as the HTML that mammoth makes of it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from wikigr.sources.anchors import outline_anchor
from wikigr.sources.office.document import Document, archive, title_of
from wikigr.sources.office.header import mark_header
from wikigr.sources.tables import Cell, Row

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


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of a Word document, its headings, lists, tables and notes; pictures are left out."""
    import mammoth

    with archive(data, where) as opened:
        document.title = title_of(opened)
        made = mammoth.convert_to_html(
            BytesIO(data),
            convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
            style_map=_STYLES,
            transform_document=mammoth.transforms.element_of_type(mammoth.documents.Table, _with_header),
        )
        document.html(made.value, anchor_of=outline_anchor)


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

"""Read a Word document as the HTML that mammoth makes of it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from wikigr.sources.anchors import outline_anchor
from wikigr.sources.office.document import Document, archive, names_columns, title_of

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
    """Return a table whose first row is marked as its header if it looks like one."""
    from mammoth.documents import TableRow, Text
    from mammoth.transforms import get_descendants_of_type

    rows = [row for row in table.children if isinstance(row, TableRow)]
    texts = [
        ["".join(text.value for text in get_descendants_of_type(cell, Text)).strip() for cell in row.children]
        for row in rows
    ]
    if not rows or any(row.is_header for row in rows) or not names_columns(texts):
        return table
    first = table.children.index(rows[0])
    return table.copy(children=[*table.children[:first], rows[0].copy(is_header=True), *table.children[first + 1 :]])

"""Read a Word document as the HTML that mammoth makes of it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from wikigr.sources.office.archive import archive, title_of
from wikigr.sources.office.document import Document


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text of a Word document, its headings, lists, tables and notes; pictures are left out."""
    import mammoth

    with archive(data, where) as opened:
        document.title = title_of(opened)
        document.html(mammoth.convert_to_html(BytesIO(data), convert_image=mammoth.images.img_element(_no_image)).value)


def _no_image(image: Any) -> dict[str, str]:
    return {"src": ""}

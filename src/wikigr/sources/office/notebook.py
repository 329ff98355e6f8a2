"""Read a Jupyter notebook: notes, code and what it printed."""

from __future__ import annotations

from html import escape
from typing import Any

from wikigr.sources.documents import NoteRecord
from wikigr.sources.markdown.source import note_html
from wikigr.sources.office.document import Document


def read(data: bytes, document: Document, where: str) -> None:
    """Add the cells in order; code and its output belong to the notes above them."""
    import nbformat

    notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
    document.title = str(notebook.metadata.get("title") or "")
    has_notes = False
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            has_notes = True
            document.writer.place(f"Cell {number}", f"cell={number}")
            document.html(note_html(str(cell.source), NoteRecord(where, b"", document.name)))
        elif str(cell.source).strip():
            if not has_notes:
                document.writer.place(f"Cell {number}", f"cell={number}")
            document.html(f"<pre>{escape(str(cell.source))}</pre>")
            for output in cell.get("outputs", ()):
                _add_output(output, document)


def _add_output(output: Any, document: Document) -> None:
    content = output.get("data", {})
    table = "".join(content.get("text/html", ""))
    text = "".join(content.get("text/plain", output.get("text", "")))
    if "<table" in table:
        document.html(table, is_page=True)
    elif text.strip():
        document.html(f"<pre>{escape(text)}</pre>")

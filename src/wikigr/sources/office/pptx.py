"""Read the slides of a presentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import zip_longest
from typing import Any

from wikigr.sources.header import mark_header
from wikigr.sources.html.document import STRUCK_MARK
from wikigr.sources.office.document import Document, archive
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, collapse_spaces
from wikigr.sources.tables import Cell, Row


def read(data: bytes, document: Document, where: str) -> None:
    """Add each slide under its title: text, tables and the speaker's notes."""
    from pptx import Presentation

    with archive(data, where):
        slides = Presentation(BytesIO(data)).slides
    for number, slide in enumerate(slides, start=1):
        document.writer.place(f"Slide {number}", f"slide={number}")
        _leave_out_struck(slide.element)
        title = slide.shapes.title
        document.writer.leave_headings()
        if title is not None and title.has_text_frame:
            document.writer.heading(1, title.text_frame.text)
        for shape in _shapes(slide.shapes, 0):
            if title is None or shape.shape_id != title.shape_id:
                _write(shape, document)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            _write_text(slide.notes_slide.notes_text_frame, document)


def _leave_out_struck(slide: Any) -> None:
    """Empty the runs that are struck through; where all of a paragraph is, it is marked instead."""
    struck = [look.getparent() for look in slide.iter("{*}rPr") if look.get("strike", "noStrike") != "noStrike"]
    for paragraph in dict.fromkeys(run.getparent() for run in struck):
        texts = [text for text in paragraph.iter("{*}t") if (text.text or "").strip()]
        is_whole = all(text.getparent() in struck for text in texts)
        for text in texts:
            if is_whole:
                text.text = f"{STRUCK_MARK * (text is texts[0])}{text.text}{STRUCK_MARK * (text is texts[-1])}"
            elif text.getparent() in struck:
                text.text = ""


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, depth + 1) if depth < 20 else ()
        else:
            yield shape


def _write(shape: Any, document: Document) -> None:
    if getattr(shape, "has_table", False):
        document.table(mark_header(list(_rows(shape.table)))[0])
    elif getattr(shape, "has_chart", False):
        _write_chart(shape.chart, document)
    elif shape.has_text_frame:
        _write_text(shape.text_frame, document, is_list=bool(shape.is_placeholder))


def _rows(table: Any) -> Iterator[Row]:
    for number, row in enumerate(table.rows):
        is_header = number == 0 and bool(table.first_row)
        shown = (cell for cell in row.cells if not cell.is_spanned)
        yield Row([Cell(collapse_spaces(cell.text), is_header, cell.span_width, cell.span_height) for cell in shown])


def _write_chart(chart: Any, document: Document) -> None:
    """Write the title and the values of a chart, a row for each category."""
    if chart.has_title:
        _write_text(chart.chart_title.text_frame, document)
    for plot in chart.plots:
        series = list(plot.series)
        header = Row([Cell(collapse_spaces(name), True) for name in ("Category", *(one.name for one in series))])
        rows = [
            Row([Cell(collapse_spaces(str(category))), *(Cell("" if one is None else f"{one:.15g}") for one in values)])
            for category, *values in zip_longest(plot.categories, *(one.values for one in series))
        ]
        document.table([header, *rows])


def _write_text(frame: Any, document: Document, *, is_list: bool = False) -> None:
    """Write the paragraphs of a frame; if several are a list, each is an item at its level."""
    lines = [(min(paragraph.level, 8), " ".join(str(paragraph.text).split())) for paragraph in frame.paragraphs]
    lines = [(level, line) for level, line in lines if line]
    writer = document.writer
    depth = 0
    for level, line in lines:
        if is_list and len(lines) > 1:
            while depth > level:
                writer.close_item()
                depth -= 1
            writer.open_item("- ")
            depth += 1
        writer.write(line)
        writer.end_block(LINE_GAP if depth else PARAGRAPH_GAP)
    for _ in range(depth):
        writer.close_item()
    writer.end_block()

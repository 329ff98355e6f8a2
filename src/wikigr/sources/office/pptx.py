"""Read the slides of a presentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from io import BytesIO
from itertools import zip_longest
from typing import Any

from wikigr.sources.office.document import Document, archive, table_html
from wikigr.sources.office.header import mark_header
from wikigr.sources.tables import Cell, Row


def read(data: bytes, document: Document, where: str) -> None:
    """Add each slide under its title: text, tables and the speaker's notes."""
    from pptx import Presentation

    with archive(data, where):
        slides = Presentation(BytesIO(data)).slides
    for number, slide in enumerate(slides, start=1):
        document.writer.place(f"Slide {number}", f"slide={number}")
        title = slide.shapes.title
        document.writer.leave_headings()
        if title is not None and title.has_text_frame:
            document.writer.heading(1, title.text_frame.text)
        shapes = (shape for shape in _shapes(slide.shapes, 0) if title is None or shape.shape_id != title.shape_id)
        markup = "".join(map(_html, shapes))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            markup += _paragraphs(slide.notes_slide.notes_text_frame)
        document.html(markup)


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, depth + 1) if depth < 20 else ()
        else:
            yield shape


def _html(shape: Any) -> str:
    if getattr(shape, "has_table", False):
        return table_html(mark_header(list(_rows(shape.table)))[0])
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    if not shape.has_text_frame:
        return ""
    if shape.is_placeholder:
        items = [f"<li>{escape(text)}</li>" for paragraph in shape.text_frame.paragraphs if (text := _line(paragraph))]
        return f"<ul>{''.join(items)}</ul>" if len(items) > 1 else _paragraphs(shape.text_frame)
    return _paragraphs(shape.text_frame)


def _rows(table: Any) -> Iterator[Row]:
    for number, row in enumerate(table.rows):
        is_header = number == 0 and bool(table.first_row)
        shown = (cell for cell in row.cells if not cell.is_spanned)
        yield Row([Cell(" ".join(cell.text.split()), is_header, cell.span_width, cell.span_height) for cell in shown])


def _chart(chart: Any) -> str:
    """Return the title and the values of a chart, a row for each category."""
    title = _paragraphs(chart.chart_title.text_frame) if chart.has_title else ""
    tables = []
    for plot in chart.plots:
        series = list(plot.series)
        rows = [
            [str(category), *("" if value is None else f"{value:.15g}" for value in values)]
            for category, *values in zip_longest(plot.categories, *(one.values for one in series))
        ]
        header = Row([Cell(name, is_header=True) for name in ("Category", *(one.name for one in series))])
        tables.append(table_html([header, *(Row(list(map(Cell, row))) for row in rows)]))
    return title + "".join(tables)


def _paragraphs(frame: Any) -> str:
    return "".join(f"<p>{escape(text)}</p>" for paragraph in frame.paragraphs if (text := _line(paragraph)))


def _line(paragraph: Any) -> str:
    return " ".join(str(paragraph.text).replace("\v", " ").split())

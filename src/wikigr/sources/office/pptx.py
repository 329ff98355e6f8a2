"""Read the slides of a presentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import zip_longest
from typing import Any

from wikigr.sources.header import mark_header
from wikigr.sources.html.document import STRUCK_MARK
from wikigr.sources.html.structures import styled_number
from wikigr.sources.office.document import Document, archive, attribute, equation_text, parse_xml
from wikigr.sources.office.number_format import plain, show
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, collapse_spaces
from wikigr.sources.tables import Cell, Row

_EQUATION = "{http://schemas.microsoft.com/office/drawing/2010/main}m"
_DIAGRAM = re.compile(r"ppt/diagrams/data\d*\.xml")
_NUMBER_STYLES = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


def read(data: bytes, document: Document, where: str) -> None:
    """Add each slide under its title: text, tables and the speaker's notes."""
    from pptx import Presentation

    with archive(data, where) as opened:
        slides = Presentation(BytesIO(data)).slides
        diagrams = {name: parse_xml(opened, name) for name in opened.namelist() if _DIAGRAM.fullmatch(name)}
    for number, slide in enumerate(slides, start=1):
        document.writer.place(f"Slide {number}", f"slide={number}")
        _show_equations(slide.element)
        _leave_out_struck(slide.element)
        title = slide.shapes.title
        document.writer.leave_headings()
        if title is not None and title.has_text_frame:
            document.writer.heading(1, " ".join(title.text_frame.text.split()))
        for shape in _shapes(slide.shapes, 0):
            if title is None or shape.shape_id != title.shape_id:
                _write(shape, document, diagrams)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            _write_text(slide.notes_slide.notes_text_frame, document)


def _show_equations(slide: Any) -> None:
    """Write equations as text, and take what stands in them out of the elements that only newer programs read."""
    for outer in list(slide.iter("{*}AlternateContent")):
        choice = outer.find("{*}Choice")
        if choice is not None:
            for shape in list(choice):
                outer.addprevious(shape)
            outer.getparent().remove(outer)
    for equation in list(slide.iter(_EQUATION)):
        paragraph = equation.getparent()
        equation.addprevious(paragraph.add_r(equation_text(equation)))
        paragraph.remove(equation)


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


def _write(shape: Any, document: Document, diagrams: dict[str, Any]) -> None:
    if getattr(shape, "has_table", False):
        document.table(mark_header(list(_rows(shape.table)))[0])
    elif getattr(shape, "has_chart", False):
        _write_chart(shape.chart, document)
    elif shape.has_text_frame:
        _write_text(shape.text_frame, document, is_list=bool(shape.is_placeholder))
    for ids in shape.element.iter("{*}relIds"):
        related = shape.part.rels.get(attribute(ids, "dm"))
        # Each is written once.
        root = diagrams.pop(str(related.target_part.partname).lstrip("/"), None) if related is not None else None
        for point in root.iter("{*}pt") if root is not None else ():
            if text := " ".join("".join(part.text or "" for part in point.iter("{*}t")).split()):
                document.writer.open_item("- ")
                document.writer.write(text)
                document.writer.close_item()
        document.writer.end_block()


def _rows(table: Any) -> Iterator[Row]:
    for number, row in enumerate(table.rows):
        is_header = number == 0 and bool(table.first_row)
        shown = (cell for cell in row.cells if not cell.is_spanned)
        yield Row([Cell(collapse_spaces(cell.text), is_header, cell.span_width, cell.span_height) for cell in shown])


def _write_chart(chart: Any, document: Document) -> None:
    if chart.has_title:
        _write_text(chart.chart_title.text_frame, document)
    for plot in chart.plots:
        series = list(plot.series)
        header = Row([Cell(collapse_spaces(name), True) for name in ("Category", *(one.name for one in series))])
        labels = [" ".join(map(str, levels)) for levels in plot.categories.flattened_labels]
        if not labels:
            # The points of a scatter chart have a number instead.
            labels = [value.text for one in series[:1] for value in one._element.xpath("c:xVal//c:v")]
        values = [[Cell("" if value is None else _shown(value, one)) for value in one.values] for one in series]
        columns = [[Cell(collapse_spaces(label)) for label in labels], *values]
        rows = [Row(cells) for cells in zip_longest(*columns, fillvalue=Cell(""))]
        document.table([header, *rows])


def _shown(value: float, series: Any) -> str:
    """Return a value of a chart in the number format that is stored with it."""
    codes = series._element.xpath("(c:val|c:yVal)//c:formatCode")
    return show(value, codes[0].text or "General") if codes else plain(value)


def _write_text(frame: Any, document: Document, *, is_list: bool = False) -> None:
    """Write the paragraphs of a frame; those with a bullet or a number are items at their level.

    If several ``is_list``, so are those that do not say it.
    """
    lines = [(paragraph, text) for paragraph in frame.paragraphs if (text := " ".join(str(paragraph.text).split()))]
    writer = document.writer
    numbers: dict[int, int] = {}
    depth = 0
    for paragraph, text in lines:
        level = min(paragraph.level, 8)
        look = {child.tag.rpartition("}")[2]: child for child in paragraph._p.xpath("a:pPr/*")}
        is_item = not look.keys().isdisjoint(("buChar", "buAutoNum")) or (
            is_list and len(lines) > 1 and "buNone" not in look
        )
        while depth > (level if is_item else 0):
            writer.close_item()
            depth -= 1
        numbers = {other: number for other, number in numbers.items() if other <= level}
        if is_item:
            writer.open_item(_marker(look.get("buAutoNum"), level, numbers))
            depth += 1
        writer.write(text)
        writer.end_block(LINE_GAP if depth else PARAGRAPH_GAP)
    for _ in range(depth):
        writer.close_item()
    writer.end_block()


def _marker(stated: Any, level: int, numbers: dict[int, int]) -> str:
    """Return the bullet of an item, or its number, the next one at its level."""
    if stated is None:
        numbers.pop(level, None)
        return "- "
    start = stated.get("startAt", "1")
    numbers[level] = numbers.get(level, (int(start) if start.isdecimal() else 1) - 1) + 1
    style = next((style for name, style in _NUMBER_STYLES.items() if stated.get("type", "").startswith(name)), "1")
    return f"{styled_number(numbers[level], style)}. "

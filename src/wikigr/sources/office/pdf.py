"""Read a PDF: its lines in reading order, laid out as paragraphs under the headings of its outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest
from statistics import median
from typing import TYPE_CHECKING

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart
from wikigr.sources.block import TaskState
from wikigr.sources.header import mark_header
from wikigr.sources.office.document import Document
from wikigr.sources.office.pdf_pages import PdfCell, PdfLine, check_content, has_image, page_lines
from wikigr.sources.plain_text import collapse_spaces, fold_title
from wikigr.sources.tables import Cell, Row
from wikigr.sources.text import begins_item
from wikigr.text import some_of

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES = 20_000
_MAX_HEADING_LENGTH = 120
_MAX_LEVEL = 6
# Running heads and feet are among so many lines at the top and at the bottom of a page.
_MARGIN_LINES = 2
_MAX_LEADING = 3.0
_NUMBER = re.compile(r"\d+|\b[ivxlcdm]+\b", re.IGNORECASE)
_NUMBERING = re.compile(r"(?:chapter|part|appendix|section)?(?:[a-z]?\d{0,6}|[ivxlc]{1,6})")
_WORD = re.compile(r"[^\W\d_]{3}")
# How a line begins that has a check box.
_TASKS: dict[str, TaskState] = {"[x] ": "done", "[ ] ": "open"}
_UNFINISHED = re.compile(r"[\w,;)\]’'\"-]$")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


def title(data: bytes, where: str) -> str:
    """Return the title in the metadata, or ``""``."""
    from pypdfium2 import PdfDocument

    with PdfDocument(data) as pdf:
        return str(pdf.get_metadata_value("Title"))


def read(data: bytes, document: Document, where: str) -> None:
    """Add the text page by page; raises ``RecordError`` for a file that is damaged, encrypted or too long.

    Damaged pages among others are left out and become a bad part of the document.

    Headings are those of the outline, or without one the lines in larger letters. Running heads and feet, page numbers
    and tables of contents are left out. A paragraph that goes on belongs to the page where it begins.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(data) as pdf:
            pdf.init_forms()
            if len(pdf) > MAX_PAGES:
                raise RecordError(where, f"the file has {len(pdf):,} pages, more than {MAX_PAGES:,}")
            outline = _outline(pdf)
            pages = _read_pages(pdf, document, where)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise RecordError(where, "the file is encrypted", hint="Save it without a password.") from error
        raise
    pages = _without_margins(pages)
    headings = _find_headings(pages, outline)
    _write(pages, headings, document)


def _read_pages(pdf: PdfDocument, document: Document, where: str) -> list[list[PdfLine]]:
    from pypdfium2 import PdfiumError

    pages: list[list[PdfLine]] = []
    bad: list[int] = []
    for number in range(len(pdf)):
        try:
            lines = page_lines(pdf, number)
            if not lines:
                check_content(pdf, number)
            document.pages_of_images += not lines and has_image(pdf, number)
        except PdfiumError:
            lines = []
            bad.append(number + 1)
            if len(bad) == len(pdf):
                raise
        pages.append(lines)
    if bad:
        pages_are, reason = ("page", "the page is damaged") if len(bad) == 1 else ("pages", "the pages are damaged")
        named = some_of(list(map(str, bad)), 5)
        document.bad_parts.append(BadPart(f"{where}, {pages_are} {named}", reason))
    return pages


def _outline(pdf: PdfDocument) -> dict[int, list[_Heading]]:
    found: dict[int, list[_Heading]] = {}
    for bookmark in pdf.get_toc():
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        title = collapse_spaces(bookmark.get_title())
        if page is not None and title:
            found.setdefault(page, []).append(_Heading(min(bookmark.level + 1, _MAX_LEVEL), title))
    return found


def _without_margins(pages: Sequence[Sequence[PdfLine]]) -> list[list[PdfLine]]:
    """Return the pages without what repeats at their top or bottom, or numbers them."""
    repeated = Counter(key for lines in pages for key in {_margin_key(line) for line in _margins(lines)})
    offsets = Counter(
        offset
        for number, lines in enumerate(pages)
        for offset in {value - number for line in _margins(lines) for value in _numbers_at_ends(line.text)}
    )
    # Running heads and feet are on several pages.
    least = max(2, min(3, len(pages)))
    usual = {offset for offset, count in offsets.items() if count >= max(least, len(pages) // 4)}

    def is_margin(line: PdfLine) -> bool:
        if repeated[_margin_key(line)] >= least and len(line.text) <= _MAX_HEADING_LENGTH:
            return True
        return any(value - line.page in usual for value in _numbers_at_ends(line.text))

    kept = []
    for lines in pages:
        margins = {id(line) for line in _margins(lines) if is_margin(line)}
        kept.append([line for line in lines if id(line) not in margins])
    return kept


def _margins(lines: Sequence[PdfLine]) -> list[PdfLine]:
    by_height = sorted(lines, key=lambda line: line.y)
    return [*by_height[:_MARGIN_LINES], *by_height[_MARGIN_LINES:][-_MARGIN_LINES:]]


def _margin_key(line: PdfLine) -> tuple[str, int]:
    return _NUMBER.sub("#", fold_title(line.text)), round(line.y)


def _numbers_at_ends(text: str) -> set[int]:
    words = text.split()
    return {int(word) for word in (words[0], words[-1]) if word.isdecimal() and len(word) <= 5}


def _find_headings(
    pages: Sequence[Sequence[PdfLine]], outline: dict[int, list[_Heading]]
) -> dict[tuple[int, int], tuple[int, _Heading]]:
    """Return the headings by page and index of their first line, each with the number of its lines."""
    found: dict[tuple[int, int], tuple[int, _Heading]] = {}
    for page, headings in outline.items():
        lines = pages[page] if page < len(pages) else []
        start = 0
        for heading in headings:
            place = next(((i, n) for i in range(start, len(lines)) if (n := _names(lines[i:], heading.text))), None)
            if place is not None:
                index, count = place
                found[page, index] = count, heading
                start = index + count
    wanted = sum(map(len, outline.values()))
    # An outline of which most headings are not in the text is that of another edition, or damaged.
    return found if wanted and len(found) >= 0.5 * wanted else _large_lines(pages)


def _names(lines: Sequence[PdfLine], title: str) -> int:
    wanted = _letters(title)
    text = ""
    for count, line in enumerate(lines[:3], start=1):
        text += _letters(line.text)
        for long, short in ((text, wanted), (wanted, text)):
            if short and long.endswith(short) and _NUMBERING.fullmatch(long.removesuffix(short)):
                return count
        if len(text) > len(wanted) + _MAX_HEADING_LENGTH:
            break
    return 0


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold_title(text)))


def _large_lines(pages: Sequence[Sequence[PdfLine]]) -> dict[tuple[int, int], tuple[int, _Heading]]:
    letters: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            letters[line.size] += len(line.text)
    if not letters:
        return {}
    body = max(letters, key=lambda size: (letters[size], -size))
    runs = []
    for page, lines in enumerate(pages):
        for size, run in groupby(enumerate(lines), key=lambda pair: pair[1].size):
            numbered = list(run)
            text = collapse_spaces(" ".join(line.text for _, line in numbered))
            if size >= 1.12 * body and len(text) <= _MAX_HEADING_LENGTH and _WORD.search(text):
                runs.append((page, numbered[0][0], len(numbered), size, text))
    levels = {size: n for n, size in enumerate(sorted({run[3] for run in runs}, reverse=True), start=1)}
    return {
        (page, index): (count, _Heading(min(levels[size], _MAX_LEVEL), text)) for page, index, count, size, text in runs
    }


def _write(
    pages: Sequence[Sequence[PdfLine]],
    headings: dict[tuple[int, int], tuple[int, _Heading]],
    document: Document,
) -> None:
    leading = _leading(pages)
    waiting: list[PdfLine] = []
    for page, lines in enumerate(pages):
        index = 0
        if waiting and (page, 0) not in headings:
            rest = _continuation(waiting[-1], lines, leading)
            index = len(rest)
            waiting += rest
        _write_lines(waiting, leading, document)
        document.writer.place(f"Page {page + 1}", f"page={page + 1}")
        start = index
        while index < len(lines):
            found = headings.get((page, index))
            if found is None:
                index += 1
                continue
            count, heading = found
            _write_lines(lines[start:index], leading, document)
            document.writer.heading(heading.level, heading.text)
            index += count
            start = index
        waiting = list(lines[start:])
    _write_lines(waiting, leading, document)


def _leading(pages: Sequence[Sequence[PdfLine]]) -> float:
    gaps = [
        (one.end_y - other.y) / other.size
        for lines in pages
        for one, other in pairwise(lines)
        if 0 < one.end_y - other.y < _MAX_LEADING * other.size
    ]
    return median(gaps) if gaps else _MAX_LEADING


def _continuation(last: PdfLine, lines: Sequence[PdfLine], leading: float) -> list[PdfLine]:
    """Return the first lines of a page that continue the paragraph that ends the page before, moved below ``last``."""
    if not lines or not _UNFINISHED.search(last.text) or not lines[0].text[:1].islower():
        return []
    paragraph = next(_paragraphs(lines, leading))
    shift = last.end_y - leading * last.size - paragraph[0].y
    return [replace(line, page=last.page, y=line.y + shift, end_y=line.end_y + shift) for line in paragraph]


def _write_lines(lines: Sequence[PdfLine], leading: float, document: Document) -> None:
    for column in _runs(lines, lambda one, other: other.page != one.page or other.y > one.end_y + other.size):
        left, right = min(line.x for line in column), max(line.end_x for line in column)
        is_below = False
        for count, run in groupby(_with_rows(column), key=lambda line: 0 if line.is_code else len(line.cells)):
            rows = list(run)
            if count > 1 and len(rows) > 1:
                made = [Row([Cell(cell.text, is_bold=row.is_bold) for cell in row.cells]) for row in rows]
                # A first row in bold, or of names, is the header.
                has_bold = rows[0].is_bold and not rows[1].is_bold
                document.table(made if is_below and not has_bold else mark_header(made)[0])
                is_below = True
                continue
            is_below = count > 1
            for paragraph in _paragraphs(rows, leading):
                _write_paragraph(paragraph, left, right, document)


def _with_rows(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines with the cells of narrow rows beside wider ones, and with the rest of wrapped cells."""
    found = list(lines)
    for numbers in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        for number in numbers:
            line, cells = found[number], found[number - numbers.step].cells
            if len(line.cells) < len(cells) == len(line.narrow_cells) > 2:
                found[number] = replace(line, cells=line.narrow_cells)
    rows: list[PdfLine] = []
    for line in found:
        joined = _unwrapped(rows[-1], line) if rows else None
        if joined is None:
            rows.append(line)
        else:
            rows[-1] = replace(rows[-1], cells=joined, y=line.y, end_y=line.end_y)
    return rows


def _unwrapped(row: PdfLine, line: PdfLine) -> tuple[PdfCell, ...] | None:
    """Return the cells of ``row`` if ``line`` continues some of them, but not the first one; else ``None``."""
    # A wrapped cell goes on close below, and close to the edge of its column.
    is_near = 0 < row.end_y - line.y < 1.5 * line.size
    if not is_near or row.is_code or line.is_code or not len(line.cells) < len(row.cells):
        return None
    cells = list(row.cells)
    for part in line.cells:
        number = next((n for n, cell in enumerate(cells) if abs(cell.x - part.x) < 0.3 * line.size), 0)
        if number == 0:
            return None
        space = "" if cells[number].text.endswith("/") else " "
        cells[number] = cells[number]._replace(text=cells[number].text + space + part.text)
    return tuple(cells)


def _write_paragraph(paragraph: Sequence[PdfLine], left: float, right: float, document: Document) -> None:
    """Write the lines of a paragraph in a column from ``left`` to ``right``; lines that were wrapped are joined."""
    if all(line.is_code for line in paragraph):
        document.writer.verbatim("\n".join(_indent(line, left) + line.text for line in paragraph))
        return
    for line, following in zip_longest(paragraph, paragraph[1:]):
        box, text = line.text[:4], line.text[4:]
        if line.is_filled and box in _TASKS and not any(other in text for other in _TASKS):
            document.writer.open_item("- ", _TASKS[box])
            document.writer.write(text)
            document.writer.close_item()
            continue
        document.writer.write(line.text)
        if following is not None and _is_wrapped(line, following, right):
            document.writer.write(" ")
        else:
            document.writer.line_break()
    document.writer.end_block()


def _is_wrapped(line: PdfLine, following: PdfLine, right: float) -> bool:
    """Return whether the first word of ``following`` did not fit on ``line``, in a column that ends at ``right``."""
    word = following.text.split(maxsplit=1)[0]
    # A letter is about half as wide as it is high.
    width = 0.5 * line.size
    if line.is_filled or following.is_filled:
        return False
    return not begins_item(following.text) and line.end_x + (1 + len(word)) * width > right


def _indent(line: PdfLine, left: float) -> str:
    """Return as many spaces as fit between ``left`` and a line in which all letters are equally wide."""
    width = max((line.end_x - line.x) / len(line.text), 1.0)
    return " " * round(min((line.x - left) / width, 40))


def _paragraphs(lines: Sequence[PdfLine], leading: float) -> Iterator[list[PdfLine]]:
    """Yield runs of lines of one kind and size with the usual distance."""

    def is_apart(one: PdfLine, other: PdfLine) -> bool:
        has_gap = one.end_y - other.y > 1.2 * leading * other.size
        is_other_kind = abs(one.size - other.size) > 0.05 * max(one.size, other.size) or one.is_code != other.is_code
        return has_gap or is_other_kind

    return _runs(lines, is_apart)


def _runs(lines: Sequence[PdfLine], is_apart: Callable[[PdfLine, PdfLine], bool]) -> Iterator[list[PdfLine]]:
    """Yield runs of lines from top to bottom; a run ends where the next line is apart from its last one."""
    run: list[PdfLine] = []
    for line in lines:
        if run and is_apart(run[-1], line):
            yield run
            run = []
        run.append(line)
    if run:
        yield run

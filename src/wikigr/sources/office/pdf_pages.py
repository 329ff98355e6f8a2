"""The pages of a PDF: their lines in reading order, with what the letters look like, and whether they are damaged."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from wikigr.sources.office.pdf_fields import PdfField, page_fields
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.text import begins_item

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

# Nothing on a page is so far apart, in points, that belongs together.
_FAR = 400.0
# What is left blank to be filled in.
_BLANK_TO_FILL = re.compile(r"(?::|[_.…]{2})\s*$")
_DOTS_AT_END = re.compile(r"(?<!\s)\s*+(?<![_.…])[_.…]{3,}+\s*$")
_DOTS_AT_START = re.compile(r"^\s*[_.…]{3,}\s*")
_CONTENTS_LINE = re.compile(r"(?:(?:\s\.){2,}|\.{4,})\s*\w{0,6}$")
# How pdfium marks a word that goes on in the next line.
_HYPHEN = re.compile("[\x02\ufffe]")
_HYPHEN_IN_WORD = re.compile("(?<=[a-z])[\x02\ufffe](?=[a-z])")
_SPACE = re.compile(r"\s+")
# What may be raised: digits of exponents, which follow 10, a bracket or a short word, and marks of notes. Letters for
# private use stand for them, so that letters keep their numbers on the page.
_MAY_BE_RAISED = re.compile(r"(?<=\S)(?:[0-9]+|[*†‡])")
_RAISED = "".join(map(chr, range(0xE100, 0xE10B)))
_LEFT_OUT = _RAISED[10]
_EXPONENT = re.compile("[\ue100-\ue109]+")
_BASE = re.compile(r"(?:(?<![\d.,])10|(?<!\w)[^\W\d_]{1,2}|[)\]\ue100-\ue109])\Z")
_MONOSPACED = re.compile(r"mono|courier|consol|cmtt|typewriter", re.IGNORECASE)
# The page in a file of one page that PDFium has written, and its content: one stream, or several.
_CONTENTS = re.compile(rb"\n<<[^\r\n]*?/Contents(?: (?P<one>\d+) 0 R|\[(?P<many>[^\]]*)\])")
_STREAM = (
    rb"\n%s 0 obj\s+<<(?=[^\r\n]*/Filter\s*(?:/FlateDecode|\[\s*/FlateDecode\s*\]))"
    rb"[^\r\n]*?/Length (?P<length>\d+)[^\r\n]*>>stream\r\n"
)


class PdfCell(NamedTuple):
    """A part of a line, and where its first letter begins."""

    text: str
    x: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of a page: ``x`` and ``y`` are where its first letter begins, in points from the lower left corner.

    ``end_x`` and ``end_y`` are where its last letter ends: a line that ends within a word comes with the next one.
    ``cells`` are the parts that wide gaps separate, and ``narrow_cells`` those that narrower ones do.
    ``is_filled`` says that it has a field of a form.
    """

    text: str
    page: int
    x: float
    y: float
    end_x: float
    end_y: float
    size: float
    is_code: bool
    is_bold: bool
    cells: tuple[PdfCell, ...]
    narrow_cells: tuple[PdfCell, ...]
    is_filled: bool = False


def page_lines(pdf: PdfDocument, number: int) -> list[PdfLine]:
    """Return the lines of a page, counted from 0, without those of a table of contents.

    The fields of forms, and text that was typed on the page, are in the lines beside them, or are lines of their own.
    """
    page = pdf[number]
    text_page = page.get_textpage()
    try:
        found = list(_lines_of(text_page, number))
        lines = [line for line, _, _ in found]
        places = [(text, start) for _, text, start in found]
        # From right to left, so that the letters before a field keep their numbers.
        fields = sorted(page_fields(pdf, page), key=lambda field: -field.left)
        own = [field for field in fields if not _fill_in(field, lines, places, text_page)]
        for field in sorted(own, key=lambda field: (-field.top, field.left)):
            _add_line(field, lines, number)
        return [line for line in lines if line.is_filled or not _CONTENTS_LINE.search(line.text)]
    finally:
        text_page.close()
        page.close()


def has_image(pdf: PdfDocument, number: int) -> bool:
    """Return whether a page, counted from 0, shows a picture."""
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

    page = pdf[number]
    try:
        return next(iter(page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=2)), None) is not None
    finally:
        page.close()


def _lines_of(text_page: PdfTextPage, number: int) -> Iterator[tuple[PdfLine, str, int]]:
    """Yield the lines of a page, each with its text as it is on the page, and the number of its first letter there."""
    position = 0
    for text in _whole_lines(text_page):
        text = _with_raised(text_page, text, position)
        start = position + len(text) - len(text.lstrip())
        length = _length(text.rstrip())
        line = _shown(text)
        if line:
            end = position + length - 1
            x, y = _origin(text_page, start)
            _, end_y = _origin(text_page, end)
            end_x = text_page.get_charbox(end)[2]
            size = max(round(_size(text_page, start), 1), 1.0)
            is_code, is_bold = map(all, zip(_font(text_page, start), _font(text_page, end), strict=True))
            made = PdfLine(
                line,
                number,
                x,
                y,
                end_x,
                end_y,
                size,
                is_code=is_code,
                is_bold=is_bold,
                # Cells of a table are this far apart, and at least as far as the second in a row beside others.
                cells=_cells(text_page, text, position, 1.5 * size),
                narrow_cells=_cells(text_page, text, position, 0.4 * size),
            )
            yield made, text.strip(), start
        position += _length(text) + 2


def _whole_lines(text_page: PdfTextPage) -> Iterator[str]:
    """Yield the lines of a page; pdfium begins a new one at raised letters, which go on where the line before ends."""
    position, line, last = 0, "", -1
    for text in text_page.get_text_range(errors="replace").split("\r\n"):
        first = position + len(text) - len(text.lstrip())
        joint = 2 * _LEFT_OUT if text.strip() and last >= 0 and _goes_on(text_page, last, first) else ""
        if position and not joint:
            yield line
            line = ""
        line += joint + text
        last = position + _length(text.rstrip()) - 1 if text.strip() else -1
        position += _length(text) + 2
    yield line


def _goes_on(text_page: PdfTextPage, last: int, first: int) -> bool:
    """Return whether the letter ``first`` stands beside the letter ``last``, perhaps raised."""
    gap = text_page.get_charbox(first)[0] - text_page.get_charbox(last)[2]
    # Most lines begin further from the end of the line before; asking for the size of letters takes time.
    if abs(gap) > 40.0:
        return False
    size = max(_size(text_page, last), _size(text_page, first))
    return abs(gap) < 0.6 * size and abs(_origin(text_page, first)[1] - _origin(text_page, last)[1]) < 0.6 * size


def _with_raised(text_page: PdfTextPage, text: str, position: int) -> str:
    """Return a line whose raised digits are marked as an exponent or, as the mark of a note, left out."""
    if not text.isascii() and any(character > "\uffff" for character in text):
        return text
    letters = list(text)
    begin = len(text) - len(text.lstrip())
    size = 0.0
    for found in _MAY_BE_RAISED.finditer(text):
        size = size or _size(text_page, position + begin)
        if _size(text_page, position + found.end() - 1) >= 0.9 * size:
            continue
        # The last letter before that is not raised.
        level = begin
        for index in range(*found.span()):
            if letters[index - 1] not in _RAISED:
                level = index - 1
            place = position + level
            if _size(text_page, position + index) < 0.9 * _size(text_page, place):
                height = _origin(text_page, position + index)[1] - _origin(text_page, place)[1]
                if height > 0.15 * size:
                    before = "".join(letters[max(index - 9, 0) : index]).rstrip(_LEFT_OUT)
                    is_exponent = found[0][0].isdecimal() and _BASE.search(before)
                    letters[index] = _RAISED[int(letters[index])] if is_exponent else _LEFT_OUT
    return "".join(letters)


def _shown(text: str) -> str:
    text = _EXPONENT.sub(lambda found: "^" + "".join(str(_RAISED.index(sign)) for sign in found[0]), text)
    return collapse_spaces(_HYPHEN.sub("-", _HYPHEN_IN_WORD.sub("", text.replace(_LEFT_OUT, ""))))


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _size(text_page: PdfTextPage, index: int) -> float:
    from pypdfium2.raw import FPDFText_GetFontSize

    return float(FPDFText_GetFontSize(text_page, index))


def _fill_in(field: PdfField, lines: list[PdfLine], places: list[tuple[str, int]], text_page: PdfTextPage) -> bool:
    """Put a field into the line that it stands beside, or in; return whether there is one."""

    def distance(number: int) -> float:
        line = lines[number]
        if not field.bottom - 0.3 * line.size <= line.y <= field.top:
            return _FAR
        if line.x > field.left:
            return line.x - field.right if field.is_box and line.x - field.right < 4 * line.size else _FAR
        return max(field.left - line.end_x, 0.0)

    nearest = min(range(len(lines)), key=distance, default=None)
    if nearest is None or distance(nearest) >= _FAR:
        return False
    line = lines[nearest]
    text, start = places[nearest]
    before, after = _split(text, start, field.left, text_page)
    if field.is_remark and not _BLANK_TO_FILL.search(before):
        return False
    before, after = _DOTS_AT_END.sub("", before), _DOTS_AT_START.sub("", after)
    cells = list(line.cells)
    number = sum(cell.x <= field.left for cell in cells)
    is_before = number < len(cells) and field.is_box and cells[number].x - field.right < 2 * line.size
    if number and not is_before:
        cell = cells[number - 1]
        cells[number - 1] = cell._replace(text=f"{_DOTS_AT_END.sub('', cell.text)} {field.text}")
    elif cells:
        cells[number] = cells[number]._replace(text=f"{field.text} {cells[number].text}")
    places[nearest] = f"{before} {field.text} {after}", start
    lines[nearest] = replace(
        line, text=_shown(places[nearest][0]), cells=tuple(cells), narrow_cells=tuple(cells), is_filled=True
    )
    return True


def _split(text: str, start: int, x: float, text_page: PdfTextPage) -> tuple[str, str]:
    """Return the text of a line before and after ``x``; ``start`` is the number of its first letter on the page."""
    for index in range(len(text)):
        if text[index] != " " and text_page.get_charbox(start + index)[0] >= x - 1:
            return text[:index], text[index:]
    return text, ""


def _add_line(field: PdfField, lines: list[PdfLine], page: int) -> None:
    """Add a field that stands alone, with its label, above the first line that is below it."""
    label = "" if not field.label else f" {field.label}" if field.is_box else f"{field.label}: "
    text = field.text + label if field.is_box else label + field.text
    below = (
        n for n, line in enumerate(lines) if line.y < field.bottom and line.x < field.right and line.end_x > field.left
    )
    size = min(max(lines[0].size if lines else 10.0, 1.0), 12.0)
    cells = (PdfCell(text, field.left),)
    y = field.top - size
    made = PdfLine(text, page, field.left, y, field.right, y, size, False, False, cells, cells, is_filled=True)
    lines.insert(next(below, len(lines)), made)


def _cells(text_page: PdfTextPage, text: str, position: int, gap: float) -> tuple[PdfCell, ...]:
    """Return the parts of a line that lie more than ``gap`` points apart; a line with letters beyond the basic plane
    is one part.
    """
    starts = [len(text) - len(text.lstrip())]
    spaces = (
        () if not text.isascii() and any(character > "\uffff" for character in text) else _SPACE.finditer(text.rstrip())
    )
    for space in spaces:
        before, after = position + space.start() - 1, position + space.end()
        is_first = len(starts) == 1
        is_after_bullet = is_first and begins_item(text) and text[: space.start()].strip() == text.split()[0]
        if before < position or is_after_bullet:
            continue
        if text_page.get_charbox(after)[0] - text_page.get_charbox(before)[2] > gap:
            starts.append(space.end())
    parts = ((_shown(text[start:end]), start) for start, end in zip_longest(starts, starts[1:]))
    return tuple(PdfCell(part, text_page.get_charbox(position + start)[0]) for part, start in parts if part)


def _origin(text_page: PdfTextPage, index: int) -> tuple[float, float]:
    from pypdfium2.raw import FPDFText_GetCharOrigin

    x, y = c_double(), c_double()
    FPDFText_GetCharOrigin(text_page, index, x, y)
    return x.value, y.value


def _font(text_page: PdfTextPage, index: int) -> tuple[bool, bool]:
    from pypdfium2.raw import FPDFText_GetFontInfo

    buffer, flags = create_string_buffer(128), c_int()
    FPDFText_GetFontInfo(text_page, index, buffer, len(buffer), flags)
    name = buffer.value.decode("utf-8", "replace")
    # Flags of a font: ISO 32000-1, table 123.
    is_monospaced = bool(flags.value & 1) or _MONOSPACED.search(name) is not None
    return is_monospaced, bool(flags.value & 1 << 18) or "bold" in name.lower()


def check_content(pdf: PdfDocument, number: int) -> None:
    """Raise ``PdfiumError`` if a page, counted from 0, shows nothing because its content cannot be decompressed.

    Only the filter of nearly all files is known, Deflate. Content that is damaged in part shows what stands before.
    """
    from pypdfium2 import PdfDocument, PdfiumError
    from pypdfium2.raw import FPDFPage_CountObjects

    page = pdf[number]
    is_empty = FPDFPage_CountObjects(page) == 0
    page.close()
    if not is_empty:
        return
    with PdfDocument.new() as alone:
        alone.import_pages(pdf, [number])
        written = BytesIO()
        alone.save(written)
    if not all(map(_is_whole, _streams(written.getvalue()))):
        raise PdfiumError("Failed to decompress the content of the page.")


def _streams(data: bytes) -> list[bytes]:
    """Return the compressed content of the page in a file of one page."""
    contents = _CONTENTS.search(data)
    if contents is None:
        return []
    numbers = [contents["one"]] if contents["one"] else re.findall(rb"(\d+) 0 R", contents["many"])
    found = (re.search(_STREAM % number, data) for number in numbers)
    return [data[match.end() : match.end() + int(match["length"])] for match in found if match is not None]


def _is_whole(compressed: bytes) -> bool:
    """Return whether a stream can be decompressed; its end and its checksum, which PDFium ignores, may be missing."""
    if not compressed:
        return True
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        # Content that is longer without showing anything is taken to be whole.
        content = inflater.decompress(compressed[2:], 1_000_000)
    except zlib.error:
        return False
    # The header: the method 8, and a sum of both bytes (RFC 1950).
    has_header = compressed[0] & 0x0F == 8 and int.from_bytes(compressed[:2]) % 31 == 0
    return has_header and (inflater.eof or bool(content))

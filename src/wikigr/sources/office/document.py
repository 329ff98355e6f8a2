"""What the readers of office files write: the text of one document with the place of each part in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest

from wikigr.sources.article import BadPart, SourceSection
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.text import write_html
from wikigr.sources.plain_text import PlainTextWriter

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
# So many numbers below a name show that it names the column.
_MIN_VALUES = 3


@dataclass
class Document:
    """The content of a file called ``name``, in messages ``where``.

    ``title`` is the title that the file states, or ``""``. ``writer`` collects the text. ``pages_of_images`` counts the
    pages that have pictures but no text. ``bad_parts`` are what could not be read.
    """

    name: str
    where: str = ""
    title: str = ""
    pages_of_images: int = 0
    links: dict[str, None] = field(default_factory=dict)
    bad_parts: list[BadPart] = field(default_factory=list)
    writer: PlainTextWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = PlainTextWriter(self.name)

    def place(self, name: str, anchor: str) -> None:
        """Say where the text that follows stands: ``Page 7`` or ``Prices!A3:D8``, and the anchor: ``page=7``."""
        self.writer.place(name, anchor)

    def heading(self, level: int, text: str) -> None:
        """Begin a section under a heading of ``level``, 1 to 6."""
        self.writer.heading(level, text)

    def html(
        self, markup: str | bytes, *, is_page: bool = False, anchor_of: Callable[[str], str] | None = None
    ) -> None:
        """Add balanced HTML; with ``is_page``, a whole page of which only the content counts.

        ``anchor_of`` returns the anchor of a heading in a file without places.
        """
        parsed = HtmlDocument(markup, self.where or self.name, is_note=not is_page, has_boilerplate=is_page)
        self.links.update(dict.fromkeys(write_html(parsed, self.name, self.writer, anchor_of)))

    def sections(self) -> tuple[SourceSection, ...]:
        """Return the text so far; the first heading of a section is its place, where the format has places."""
        return self.writer.sections()


def names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row looks like a header: several names, or years above cells that are no years.

    Of two columns, which may also be names beside values, the second must have numbers below its name.
    """
    if len(rows) < 2 or sum(map(bool, rows[0])) < 2:
        return False
    for text, below in zip_longest(rows[0], rows[1][: len(rows[0])], fillvalue=""):
        is_name = any(map(str.isalpha, text)) and not _has_digit(text)
        if text and not is_name and not (_YEAR.fullmatch(text) and below and not _YEAR.fullmatch(below)):
            return False
    if max(map(len, rows)) > 2:
        return True
    values = [row[1] for row in rows[1:] if len(row) > 1 and row[1]]
    return len(values) >= _MIN_VALUES and all(map(_has_digit, values))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def table_html(rows: Sequence[Sequence[str]], *, has_header: bool) -> str:
    """Return a table as HTML; with ``has_header``, its first row names the columns."""
    tags = ["th" if has_header and number == 0 else "td" for number in range(len(rows))]
    cells = ("".join(f"<{tag}>{escape(text)}</{tag}>" for text in row) for tag, row in zip(tags, rows, strict=True))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"

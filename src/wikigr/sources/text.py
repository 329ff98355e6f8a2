"""Read plain text files, and find underlined headings, as in reStructuredText."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from wikigr.sources.article import Names, RawDocument
from wikigr.sources.documents import NoteRecord, NoteText, decode_lines
from wikigr.sources.plain_text import PlainTextWriter, collapse_spaces, divides_word

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
# Columns of a table under a heading.
_HEADING_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S| \| ")
_HYPHENS = ("-", "\u2010", "\u00ad")
_LETTER = re.compile(r"[^\W_]")
_ITEM_MARK = re.compile(r"\s*([-*+•‣·o]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+(?=\S)")
# The end of a sentence or of a part of one, which may be quoted or in parentheses.
_SENTENCE_END = re.compile(r"[.!?…:;,][\"'”’»)\]]*$")
# Columns of a table, but not two spaces after a sentence.
_COLUMNS = re.compile(r"[^.!?:\s](?: {3,}|\t)\S| \| ")


class TextConverter:
    """Reads plain text.

    The title is an underlined heading at the top or a short first line before a blank one, otherwise the file's name.
    Other underlined headings begin sections. Wrapped paragraphs are joined to one line; lists, tables and indented
    blocks keep their lines.
    """

    def scan(self, document: RawDocument) -> Names:
        lines = decode_lines(document.source_id, document.data)
        title = _heading_on_top(lines) or _first_line_title(lines)
        return Names(title, title)

    def parse_note(self, record: NoteRecord) -> NoteText:
        lines = decode_lines(record.source_id, record.data)
        heading_on_top = _heading_on_top(lines)
        if not heading_on_top and _first_line_title(lines):
            lines = list(dropwhile(lambda line: not line.strip(), lines))[1:]
        writer = PlainTextWriter(heading_on_top or record.title)
        text = [line for number, line in enumerate(lines) if not _is_manual_heading(lines, number)]
        # The indentation of most paragraphs.
        indents = Counter(min(map(_indent, paragraph)) for paragraph in _paragraphs(text))
        common_indent = max(indents, key=lambda indent: (indents[indent], -indent), default=0)
        writer.join_words(lambda: "\n".join(lines))
        start = 0
        for heading in find_headings(lines, manual=True):
            _write_paragraphs(lines[start : heading.start], common_indent, writer)
            writer.heading(heading.level, heading.text)
            start = heading.end
        _write_paragraphs(lines[start:], common_indent, writer)
        return NoteText(writer.sections())


def _heading_on_top(lines: Sequence[str]) -> str:
    first = next(find_headings(lines), None)
    if first is None or any(line.strip() for line in lines[: first.start]):
        return ""
    return collapse_spaces(first.text)


def _first_line_title(lines: Sequence[str]) -> str:
    """Return the first line if it is short, no sentence, no item of a list and above a blank line; otherwise ``""``."""
    first = next((position for position, line in enumerate(lines) if line.strip()), len(lines))
    if not any(map(str.strip, lines[first + 1 :])) or lines[first + 1].strip():
        return ""
    line = lines[first].rstrip()
    title = collapse_spaces(line)
    is_text = line[:1].isspace() or begins_item(line) or _COLUMNS.search(line) or _SENTENCE_END.search(line)
    has_word = any(map(str.isalnum, title))
    return title if has_word and not is_text and len(title) <= 80 else ""


def _write_paragraphs(lines: Sequence[str], common_indent: int, writer: PlainTextWriter) -> None:
    for paragraph in _paragraphs(lines):
        # Code, a table or a drawing is indented by more than most.
        if min(map(_indent, paragraph)) >= common_indent + 4 or any(map(_COLUMNS.search, paragraph)):
            writer.verbatim("\n".join(line.rstrip() for line in paragraph))
            continue
        if _is_definition(paragraph):
            writer.open_kind("term")
            writer.write(paragraph[0])
            writer.close_kind()
            writer.open_indent()
            _write_lines(paragraph[1:], writer)
            writer.close_indent()
        else:
            _write_lines(paragraph, writer)
        writer.end_block()


def _is_definition(paragraph: Sequence[str]) -> bool:
    """Return whether a paragraph is a term, an option or the like, above its indented definition."""
    term, *rest = paragraph
    indents = {_indent(line) - _indent(term) for line in rest}
    is_text = (
        begins_item(term)
        or term.rstrip().endswith(_HYPHENS)
        or _SENTENCE_END.search(term.rstrip())
        or len(term.strip()) > 80
    )
    return bool(indents) and min(indents) >= 2 and not is_text and not begins_item(rest[0])


def _write_lines(paragraph: Sequence[str], writer: PlainTextWriter) -> None:
    width = max(map(len, paragraph))
    marks = [_ITEM_MARK.match(line) for line in paragraph]
    is_list = len(marks) - marks.count(None) > 1
    indents: list[int] = []
    is_divided = False
    for position, (line, mark) in enumerate(zip(paragraph, marks, strict=True)):
        is_item = mark is not None and (is_list or not mark[1][0].isalpha())
        before = paragraph[position - 1] if position else ""
        if is_item or not before or not (is_divided or _is_wrapped(before, line, width)):
            while indents and (not is_item or indents[-1] >= _indent(line)):
                writer.close_item()
                indents.pop()
            if mark is not None and is_item:
                writer.open_item(f"{mark[1]} ")
                indents.append(_indent(line))
                line = line[mark.end() :]
            elif position:
                writer.line_break()
        is_divided = position + 1 < len(paragraph) and divides_word(line, paragraph[position + 1])
        writer.write(f"{line.lstrip()}\n")
    for _ in indents:
        writer.close_item()


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip() and not is_rule(line):
            paragraph.append((line.expandtabs() if line[:1].isspace() else line).rstrip())
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def begins_item(line: str) -> bool:
    """Return whether a line begins with a bullet, or with a number or letter before ``.`` or ``)``."""
    return _ITEM_MARK.match(line) is not None


def _is_wrapped(line: str, following: str, width: int) -> bool:
    """Return whether ``following`` continues ``line`` in a paragraph whose longest line has ``width`` characters."""
    if begins_item(following):
        return False
    if begins_item(line) and _indent(following) > _indent(line):
        return True
    word = following.split(maxsplit=1)[0]
    # Shorter lines are a list or verse. The next word would have filled a line that was wrapped.
    return width >= 40 and len(line.rstrip()) + 1 + len(word) >= 0.8 * width


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading of ``level`` (1 is the highest), which occupies ``lines[start:end]``."""

    start: int
    end: int
    level: int
    text: str


def find_headings(lines: Sequence[str], *, manual: bool = False) -> Iterator[TextHeading]:
    """Yield the headings in order; as in reStructuredText, the first style of underline found is the highest level.

    A heading follows a blank line, is short, has a letter or digit and does not look like the head of a table. In a
    ``manual`` page, lines in capital letters above indented text are headings too.
    """
    styles: list[tuple[str, bool]] = []
    position = 0
    while position < len(lines):
        found = _heading_at(lines, position)
        if found is None and manual and _is_manual_heading(lines, position):
            found = position + 1, lines[position].strip(), ("", False)
        if found is None:
            position += 1
            continue
        end, text, style = found
        if style not in styles:
            styles.append(style)
        yield TextHeading(position, end, styles.index(style) + 1, text)
        position = end


def is_rule(line: str) -> bool:
    """Return whether a line consists of one repeated punctuation character."""
    return _ADORNMENT.fullmatch(line) is not None


def _is_manual_heading(lines: Sequence[str], start: int) -> bool:
    """Return whether a line is the heading of a manual page: in capital letters, above indented text."""
    if not lines[start][:1].isupper() or start + 1 == len(lines) or (start and lines[start - 1].strip()):
        return False
    line, following = lines[start : start + 2]
    return line.isupper() and len(line) <= 60 and _indent(following) >= 3 and bool(following.strip())


def _heading_at(lines: Sequence[str], start: int) -> tuple[int, str, tuple[str, bool]] | None:
    """Return the end, the text and the style of the heading that begins at ``start``; ``None`` if there is none."""
    if start and lines[start - 1].strip() and not is_rule(lines[start - 1]):
        return None
    over = _ADORNMENT.fullmatch(lines[start])
    title = start + 1 if over else start
    if title + 1 >= len(lines):
        return None
    text, under = lines[title].strip(), _ADORNMENT.fullmatch(lines[title + 1])
    if under is None or (over is not None and over[1] != under[1]) or is_rule(lines[title]):
        return None
    if over is None and lines[title][:1].isspace():
        return None
    if not _LETTER.search(text) or len(text) > 120 or _HEADING_COLUMNS.search(text):
        return None
    if len(under[0].rstrip()) < 0.5 * len(text):  # an underline may be shorter than its heading
        return None
    return title + 2, text, (under[1], over is not None)

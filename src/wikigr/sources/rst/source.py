"""Read a folder of reStructuredText documents, or one document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wikigr.errors import RecordError
from wikigr.sources.note_folder import NoteFolder, NoteNames, NoteRecord, NoteText, decode_lines
from wikigr.sources.text.headings import find_headings

# docutils parses a few hundred kilobytes a second. Larger files are data with the wrong suffix.
MAX_CHARACTERS = 4_000_000

# Lines in which the fields of a document are looked for.
_MAX_FIELD_LINES = 50
_ALIASES = re.compile(r":(?:alias(?:es)?|synonyms?|also known as):\s+(?P<names>\S.*)", re.IGNORECASE)
_LABEL = re.compile(r"\.\. _(?P<name>`[^`]+`|(?:[^:\\`]|\\.|:(?!\s*$))+):\s*")
# Inline markup in a heading: a role or an interpreted text, emphasis and literals, a substitution.
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`")
_ESCAPE = re.compile(r"\\(?: |(\S))")
_MARKS = re.compile(r"``(.+?)``|\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*|`(.+?)`__?|`(.+?)`|\|(\S.*?)\|")


class RstSource(NoteFolder):
    """reStructuredText files below a folder, or one file; the path relative to the folder is the ``source_id``.

    The first heading is the title. Links to files, ``:doc:`` and ``:ref:`` become links between documents. Directives
    never read other files.
    """

    format = "rst"
    kind = "reStructuredText"

    def scan_names(self, source_id: str, data: bytes) -> NoteNames:
        lines = decode_lines(source_id, data)
        headings = {heading.start: plain_inline(heading.text) for heading in find_headings(lines)}
        title = next(iter(headings.values()), "")
        return NoteNames(title, title, _aliases(lines), tuple(_labels(lines, headings)))

    def parse_note(self, record: NoteRecord) -> NoteText:
        # docutils takes a tenth of a second to import.
        from wikigr.sources.rst.document import parse_document
        from wikigr.sources.rst.text import write_document

        lines = decode_lines(record.source_id, record.data)
        if sum(map(len, lines)) > MAX_CHARACTERS:
            limit = MAX_CHARACTERS // 1_000_000
            raise RecordError(
                record.source_id,
                f"the document has more than {limit} million characters, the limit of reStructuredText",
            )
        try:
            note = write_document(parse_document(lines, record.source_id), record)
            return replace(note, aliases=_aliases(lines))
        except RecursionError as error:
            raise RecordError(record.source_id, "its markup is nested too deeply") from error


def plain_inline(text: str) -> str:
    """Return the text of inline markup, approximately: without roles, marks and targets."""
    text = _ESCAPE.sub(r"\1", _ROLE.sub(lambda match: role_text(match[1])[0], text))
    return _MARKS.sub(lambda match: role_text(next(filter(None, match.groups())))[0], text)


def role_text(text: str) -> tuple[str, str]:
    """Return the visible text and the target of the content of a role.

    ``title <target>`` has both; ``~a.b.c`` shows only the last name, and ``!name`` is not a link.
    """
    title, mark, inner = text[:-1].rpartition("<") if text.endswith(">") else ("", "", "")
    if mark and title.strip():
        return title.strip(), inner.strip()
    target = text.removeprefix("!")
    if target.startswith("~"):
        target = target[1:]
        return target.rpartition(".")[2] or target, target
    return target, target


def normalize_label(name: str) -> str:
    """Return the form in which labels are compared."""
    return " ".join(name.replace("\\", "").strip("`").split()).lower()


def _aliases(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the fields ``:Aliases:`` and ``:Synonyms:`` at the top of a document."""
    fields = (match["names"] for line in lines[:_MAX_FIELD_LINES] if (match := _ALIASES.fullmatch(line)))
    names = (" ".join(plain_inline(name).split()) for field in fields for name in re.split("[,;]", field))
    return tuple(dict.fromkeys(filter(None, names)))


def _labels(lines: Sequence[str], headings: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Yield each label with the heading that follows it, or ``""``."""
    waiting: list[str] = []
    for position, line in enumerate(lines):
        match = _LABEL.fullmatch(line)
        if match is not None:
            waiting.append(normalize_label(match["name"]))
        elif waiting and line.strip():
            yield from ((name, headings.get(position, "")) for name in waiting)
            waiting.clear()

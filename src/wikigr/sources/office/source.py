"""Read PDF, e-books, office files and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from wikigr.errors import RecordError
from wikigr.sources.article import Names, RawDocument
from wikigr.sources.documents import NoteRecord, NoteText
from wikigr.sources.formats import format_named
from wikigr.sources.office.document import Document, archive, first_title, office_title

_SUFFIXES = format_named("office").suffixes
# What Office writes before 2007, and when it encrypts.
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# What programs write by themselves: names of files, of the program, and of an empty document.
_NO_TITLE = re.compile(
    r".*\.(?:docx?|dotx?|odt|rtf|pptx?|xls[xm]?|pdf|tex|dvi|indd|html?|txt)|microsoft (?:word|excel|powerpoint)\b.*"
    r"|(?:powerpoint )?(?:presentation|präsentation)|présentation powerpoint"
    r"|(?:untitled|unbenannt|sans titre|no title|title|template|vorlage).{0,3}"
    r"|(?:document|dokument|presentation|slide|book|workbook|mappe|sheet|page|untitled) ?-?\d*",
    re.IGNORECASE,
)
# What stands for bytes that are no text, and for letters that only the font of the file knows.
_NO_LETTER = re.compile("[\ufffd\ue000-\uf8ff]")
# What tells archives apart: a member that only one kind of file has. The module of that name reads it.
_ARCHIVES = {
    "META-INF/container.xml": "EPUB",
    "word/document.xml": "DOCX",
    "ppt/presentation.xml": "PPTX",
    "xl/workbook.xml": "XLSX",
    "content.xml": "ODT",
}


class OfficeConverter:
    """Reads PDF, e-books, office files and notebooks.

    The title is the one that the file states, unless a program or a template wrote it, or the one that its text begins
    with, and else the file's name.
    Headings become sections, and the first heading of a section is its page, slide, cell or range of cells.
    """

    def scan(self, document: RawDocument) -> Names:
        try:
            with _named_errors(document.source_id):
                module = _module(document)
                stated = getattr(module, "title", office_title)(document.data, document.source_id)
                title = _usable(stated)
                if not title and hasattr(module, "headings"):
                    with archive(document.data, document.source_id) as opened:
                        title = _usable(first_title(module.headings(opened)))
        except RecordError:
            # Parsing says what is wrong with the file.
            return Names()
        return Names(title)

    def parse_note(self, record: NoteRecord) -> NoteText:
        document = Document(record.title, record.source_id)
        with _named_errors(record.source_id):
            _module(record).read(record.data, document, record.source_id)
        sections = document.writer.sections()
        if not sections and document.pages_of_images:
            raise RecordError(
                record.source_id,
                f"no text; {document.pages_of_images} pages are images",
                hint="Recognize the text first, for example with ocrmypdf.",
            )
        text = "".join(section.text for section in sections)
        if len(_NO_LETTER.findall(text)) > 0.2 * len(text):
            raise RecordError(
                record.source_id,
                "its letters cannot be read: the file is encrypted, or its fonts do not say which letters they show",
                hint="Recognize the text first, for example with ocrmypdf --force-ocr.",
            )
        return NoteText(sections, record.targets(document.links, _SUFFIXES), bad_parts=tuple(document.bad_parts))


def _usable(title: str) -> str:
    """Return a title, ``""`` for one that is too long or that a program or a template wrote."""
    title = " ".join(title.split())
    return "" if len(title) > 200 or _NO_TITLE.fullmatch(title) else title


@contextmanager
def _named_errors(where: str) -> Iterator[None]:
    """Raise ``RecordError`` at ``where`` for a file that is damaged."""
    try:
        yield
    except (RecordError, MemoryError):
        raise
    except RecursionError as error:
        raise RecordError(where, "its elements are nested too deeply") from error
    # The libraries raise whatever a damaged file makes them stumble over.
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise RecordError(where, f"the file is damaged or not supported ({reason})") from error


def _module(document: RawDocument | NoteRecord) -> Any:
    """Return the module that reads a document.

    Its ``read`` adds the text, ``title`` returns what the file states, and ``headings`` yields what the text may begin
    with as its title.
    """
    return import_module(f"wikigr.sources.office.{_kind_of(document.data, document.source_id).lower()}")


def _kind_of(data: bytes, where: str) -> str:
    """Return the kind of a file by what it contains; raises ``RecordError`` for a file that is none of them."""
    if not data.strip():
        raise RecordError(where, "the file is empty")
    # A PDF may begin with other bytes.
    if b"%PDF-" in data[:1024]:
        return "PDF"
    if data.startswith(_COMPOUND_FILE):
        raise RecordError(
            where,
            "the file is encrypted, or an Office file from before 2007",
            hint="Save it without a password as .docx, .pptx or .xlsx.",
        )
    if data.startswith(b"PK"):
        with archive(data, where) as opened:
            members = frozenset(opened.namelist())
        found = next((kind for member, kind in _ARCHIVES.items() if member in members), None)
        if found is None and any(name.lower().endswith(".opf") for name in members):
            found = "EPUB"
        if found is not None:
            return found
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return "notebook"
    raise RecordError(where, f"the file is none of these: {', '.join(('PDF', *_ARCHIVES.values(), 'notebook'))}")

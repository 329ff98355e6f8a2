"""Read a folder of PDF, e-books, office files and notebooks, or one file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module

from wikigr.errors import RecordError
from wikigr.sources.article import Names, RawDocument
from wikigr.sources.documents import NoteRecord, NoteText
from wikigr.sources.formats import format_named
from wikigr.sources.office.archive import names_of
from wikigr.sources.office.document import Document
from wikigr.text import fold

_SUFFIXES = format_named("office").suffixes
# What Office writes before 2007, and when it encrypts.
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_REASON = 200
# A PDF may begin with other bytes.
_PDF_HEAD_BYTES = 1024
# What stands for bytes that are no text, and for letters that only the font of the file knows.
_NO_LETTER = re.compile("[\ufffd\ue000-\uf8ff]")
_MAX_GARBAGE = 0.2


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of file, which ``read(data, document, source_id)`` of its module reads.

    An archive of this kind has the member ``member``.
    """

    name: str
    module: str
    member: str = ""


_PDF = _Kind("PDF", "pdf")
_NOTEBOOK = _Kind("notebook", "notebook")
_ARCHIVES = (
    _Kind("EPUB", "epub", "META-INF/container.xml"),
    _Kind("DOCX", "docx", "word/document.xml"),
    _Kind("PPTX", "pptx", "ppt/presentation.xml"),
    _Kind("XLSX", "xlsx", "xl/workbook.xml"),
    _Kind("ODT", "odt", "content.xml"),
)


class OfficeConverter:
    """Reads PDF, e-books, office files and notebooks.

    The title is the file's name, and the title that the file states is an alias: only parsing tells it. Headings become
    sections, and the first heading of a section is its page, slide, cell or range of cells.
    """

    def scan(self, document: RawDocument) -> Names:
        return Names()

    def parse_note(self, record: NoteRecord) -> NoteText:
        document = Document(record.title, record.source_id)
        try:
            kind = _kind_of(record)
            import_module(f"wikigr.sources.office.{kind.module}").read(record.data, document, record.source_id)
        except (RecordError, MemoryError):
            raise
        except RecursionError as error:
            raise RecordError(record.source_id, "its elements are nested too deeply") from error
        # The libraries raise whatever a damaged file makes them stumble over.
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:_MAX_REASON]
            raise RecordError(record.source_id, f"the file is damaged or not supported ({reason})") from error
        sections = document.sections()
        if not sections and document.pages_of_images:
            raise RecordError(
                record.source_id,
                f"no text; {document.pages_of_images} pages are images",
                hint="Recognize the text first, for example with ocrmypdf.",
            )
        if _is_garbage("".join(section.text for section in sections)):
            raise RecordError(
                record.source_id,
                "its letters cannot be read: the file is encrypted, or its fonts do not say which letters they show",
                hint="Recognize the text first, for example with ocrmypdf --force-ocr.",
            )
        aliases = (document.title,) if document.title and fold(document.title) != fold(record.title) else ()
        return NoteText(
            sections, record.targets(document.links, _SUFFIXES), aliases, bad_parts=tuple(document.bad_parts)
        )


def _is_garbage(text: str) -> bool:
    """Return whether much of the text are characters that stand for nothing."""
    return len(_NO_LETTER.findall(text)) > _MAX_GARBAGE * len(text)


def _kind_of(record: NoteRecord) -> _Kind:
    """Return the kind by what the file contains; raises ``RecordError`` for a file that is none of them."""
    data, where = record.data, record.source_id
    if not data.strip():
        raise RecordError(where, "the file is empty")
    if b"%PDF-" in data[:_PDF_HEAD_BYTES]:
        return _PDF
    if data.startswith(_COMPOUND_FILE):
        raise RecordError(
            where,
            "the file is encrypted, or an Office file from before 2007",
            hint="Save it without a password as .docx, .pptx or .xlsx.",
        )
    members = names_of(data, where) if data.startswith(b"PK") else frozenset()
    found = next((kind for kind in _ARCHIVES if kind.member in members), None)
    if found is None and data.lstrip()[:1] == b"{":
        found = _NOTEBOOK
    if found is None:
        names = ", ".join(kind.name for kind in (_PDF, *_ARCHIVES, _NOTEBOOK))
        raise RecordError(where, f"the file is none of these: {names}")
    return found

"""Read reStructuredText documents."""

from __future__ import annotations

from itertools import takewhile

from wikigr.errors import RecordError
from wikigr.sources.article import Names, RawDocument, SourceSection, Triple
from wikigr.sources.documents import NoteRecord, NoteText, decode_lines
from wikigr.sources.formats import format_named
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.text import read_note
from wikigr.sources.rst.scan import find_aliases, find_labels, headings_by_line

_SUFFIXES = format_named("rst").suffixes
# docutils parses a few hundred kilobytes a second. Larger files are data with the wrong suffix.
MAX_CHARACTERS = 4_000_000


class RstConverter:
    """Reads reStructuredText.

    The first heading is the title. Links to files, ``:doc:`` and ``:ref:`` become links between documents. Directives
    never read other files.
    """

    def scan(self, document: RawDocument) -> Names:
        lines = decode_lines(document.source_id, document.data)
        headings = headings_by_line(lines)
        title = next(iter(headings.values()), "")
        return Names(title, title, find_aliases(lines), tuple(find_labels(lines, headings)))

    def parse_note(self, record: NoteRecord) -> NoteText:
        # docutils takes a tenth of a second to import.
        from wikigr.sources.rst.document import parse_document
        from wikigr.sources.rst.html import write_document

        lines = decode_lines(record.source_id, record.data)
        if sum(map(len, lines)) > MAX_CHARACTERS:
            limit = MAX_CHARACTERS // 1_000_000
            raise RecordError(
                record.source_id,
                f"the document has more than {limit} million characters, the limit of reStructuredText",
            )
        try:
            markup = write_document(parse_document(lines, record), record.source_id)
        except RecursionError as error:
            raise RecordError(record.source_id, "its markup is nested too deeply") from error
        page = HtmlDocument(markup, is_note=True, has_boilerplate=False)
        first = page.root.css_first("h1")
        title = page.flat_text(first) if first is not None else ""
        sections, hrefs = read_note(page, title or record.title)
        # The fields at the top of a document are facts.
        lead = sections[0] if sections and not sections[0].heading_path else SourceSection((), "")
        facts = [
            Triple(record.title, block.label, lead.text[block.rows[0][0].start : block.end], None, line)
            for block in takewhile(lambda block: block.kind == "property", lead.blocks)
            if (line := lead.text[block.start : block.end])
        ]
        targets = record.targets(hrefs, _SUFFIXES)
        return NoteText(sections, targets, find_aliases(lines), triples=tuple(facts))

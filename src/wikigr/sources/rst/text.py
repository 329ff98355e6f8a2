"""Write a parsed reStructuredText document as the plain text of an article."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from docutils import nodes

from wikigr.errors import RecordError
from wikigr.sources.folder import resolve_link
from wikigr.sources.formats import format_named
from wikigr.sources.note_folder import NoteRecord, NoteText
from wikigr.sources.plain_text import LINE_GAP, PARAGRAPH_GAP, PlainTextWriter, collapse_spaces, format_superscript
from wikigr.sources.rst.document import LINKS, SIGNATURES, TARGET
from wikigr.sources.rst.source import normalize_label
from wikigr.sources.tables import Cell, Row, name_columns

_SUFFIXES = format_named("rst").suffixes
# In characters. Shorter descriptions stay in the section around them, as in HTML.
_MIN_ENTRY = 200
_MAX_NAME_LENGTH = 120
# What a name in a signature is not: arguments, a type after it or a value.
_AFTER_NAME = re.compile(r"(?<=\w)\s*(?:[(\[]|:\s|->|=).*", re.DOTALL)
# Fields for Sphinx at the top of a document.
_SETTINGS = frozenset(("orphan", "nocomments", "nosearch", "tocdepth"))
# Substitutions may repeat text, so the output is limited.
_MAX_CHARACTERS = 64 * 1024 * 1024
_MAX_SUBSTITUTION_DEPTH = 4
_OMITTED = (
    nodes.comment, nodes.decoration, nodes.meta, nodes.pending, nodes.raw, nodes.substitution_definition,
    nodes.footnote_reference, nodes.colspec,
)  # fmt: skip


def write_document(document: Any, record: NoteRecord) -> NoteText:
    """Return the sections and links of ``document``; raises ``RecordError`` when it expands to too much text."""
    first = next(iter(document.findall(nodes.section)), None)
    heading = _Writer(document, record, "").line(first[0].children) if first is not None else ""
    writer = _Writer(document, record, heading or record.title)
    writer.blocks(document.children)
    return NoteText(writer.writer.sections(), tuple(writer.links))


class _Writer:
    """Drives a ``PlainTextWriter`` with the nodes of one document."""

    def __init__(self, document: Any, record: NoteRecord, title: str, depth: int = 0) -> None:
        self._document = document
        self._record = record
        self._depth = depth
        self._level = 0
        self._written = 0
        self._substitutions = 0
        self._before = ""
        self._links = 0
        self.writer = PlainTextWriter(title)
        self.links: dict[str, None] = {}

    def blocks(self, children: Iterable[Any]) -> None:
        for child in children:
            self._block(child)

    def line(self, children: Iterable[Any]) -> str:
        """Return inline nodes, or blocks, as one line of text."""
        inner = _Writer(self._document, self._record, "", self._depth)
        inner._written = self._written
        for child in children:
            inner._block(child)
        self._written = inner._written
        self.links.update(inner.links)
        return " ".join(collapse_spaces(section.text) for section in inner.writer.sections())

    def _block(self, node: Any) -> None:
        match node:
            case nodes.section():
                self._level += 1
                self.blocks(node.children)
                self._level -= 1
            case nodes.title() if isinstance(node.parent, nodes.section):
                self.writer.heading(self._level, self.line(node.children))
            case nodes.literal_block() | nodes.doctest_block():
                self._verbatim(node.astext())
            case nodes.math_block():
                self._verbatim(f"$${node.astext()}$$")
            case nodes.bullet_list() | nodes.enumerated_list():
                self._list(node)
            case nodes.definition_list_item() | nodes.option_list_item() | nodes.field():
                self._entry(node)
            case nodes.line():
                self._inline(node.children)
                self.writer.end_block(LINE_GAP)
            case nodes.tgroup():
                self._table(node)
            case nodes.footnote() | nodes.citation():
                self.blocks(child for child in node.children if not isinstance(child, nodes.label))
            case nodes.Admonition():
                self._admonition(node)
            case nodes.container():
                self._container(node)
            case nodes.system_message():
                # The text that could not be parsed, such as a malformed table.
                self.blocks(child for child in node.children if isinstance(child, nodes.literal_block))
            case _ if isinstance(node, _OMITTED):
                if isinstance(node, nodes.footnote_reference):
                    self.writer.removed()
            case nodes.Text() | nodes.Inline():
                self._inline([node])
            case nodes.TextElement():
                self.writer.end_block(LINE_GAP)
                self._inline(node.children)
                self.writer.end_block()
            case _:
                self.writer.end_block(LINE_GAP)
                self.blocks(node.children)
                self.writer.end_block()

    def _table(self, node: Any) -> None:
        has_stub = any(isinstance(part, nodes.colspec) and part.get("stub") for part in node.children[:1])
        rows = []
        for part in node.children:
            for row in part.children if isinstance(part, (nodes.thead, nodes.tbody)) else ():
                cells: list[Cell] = []
                for entry in row.children:
                    columns, spanned = (int(entry.get(name, 0)) + 1 for name in ("morecols", "morerows"))
                    cells.append(Cell(self.line(entry.children), has_stub and not cells, columns, spanned))
                rows.append(Row(cells, is_head=isinstance(part, nodes.thead)))
        self.writer.end_block()
        for named in name_columns(rows):
            for line in named.lines:
                self._write(line)
                self.writer.end_block(LINE_GAP)
        self.writer.end_block()

    def _verbatim(self, text: str) -> None:
        self._count(text)
        self.writer.verbatim(text)

    def _list(self, node: Any) -> None:
        in_list = isinstance(node.parent, nodes.list_item)
        self.writer.end_block(LINE_GAP if in_list else PARAGRAPH_GAP)
        number = int(node.get("start", 1))
        for item in node.children:
            if isinstance(node, nodes.enumerated_list):
                self.writer.open_item(f"{number}. ")
                number += 1
            else:
                self.writer.open_item("- ")
            self.blocks(item.children)
            self.writer.close_item()
        self.writer.end_block(LINE_GAP if in_list else PARAGRAPH_GAP)

    def _entry(self, node: Any) -> None:
        """Write a term, an option or the name of a field with what describes it."""
        *terms, body = node.children
        terms = [part for term in terms for part in (term.children if isinstance(term, nodes.option_group) else [term])]
        name = ", ".join(filter(None, (self.line([part]) for part in terms)))
        if isinstance(node, nodes.field):
            if isinstance(node.parent.parent, nodes.document) and name in _SETTINGS:
                return
            text = self.line(body.children)
            self.writer.end_block(LINE_GAP)
            self._write(f"{name}: {text}".rstrip(": "))
            self.writer.end_block(LINE_GAP)
            return
        self.writer.end_block(LINE_GAP)
        self._write(name)
        self.writer.open_indent()
        self.blocks(body.children)
        self.writer.close_indent()
        self.writer.end_block()

    def _admonition(self, node: Any) -> None:
        if not isinstance(node, nodes.admonition):
            self.writer.end_block(LINE_GAP)
            self._write(node.tagname.capitalize())
            self.writer.end_block(LINE_GAP)
        self.blocks(node.children)

    def _container(self, node: Any) -> None:
        for target in node.get(LINKS, ()):
            self._link(target)
        signatures = node.get(SIGNATURES)
        if not signatures:
            self.writer.end_block(LINE_GAP)
            self.blocks(node.children)
            self.writer.end_block()
            return
        name = _name(signatures[0])
        is_section = len(node.astext()) >= _MIN_ENTRY and 0 < len(name) <= _MAX_NAME_LENGTH
        if is_section:
            self.writer.open_entry(name)
        for signature in signatures:
            self._write(signature)
            self.writer.end_block(LINE_GAP)
        if not is_section:
            self.writer.open_indent()
        self.blocks(node.children)
        if is_section:
            self.writer.close_entry()
        else:
            self.writer.close_indent()
            self.writer.end_block()

    def _inline(self, children: Iterable[Any]) -> None:
        for node in children:
            match node:
                case nodes.Text():
                    self._write(node.astext())
                case nodes.superscript():
                    self._write(format_superscript(self.line(node.children), self._before))
                case nodes.math():
                    self._write(f"${node.astext()}$")
                case nodes.image():
                    self._write(str(node.get("alt", "")))
                case nodes.problematic():
                    # An undefined reference is written without its marks, a mark without an end as it is.
                    self._write(node.astext().strip("|`_*") or node.astext())
                case nodes.substitution_reference():
                    self._substitute(node)
                case nodes.inline() if TARGET in node:
                    self._write(self._follow(*node[TARGET]) or node.astext(), is_link=True)
                case nodes.reference():
                    self._link(str(node.get("refuri", "")))
                    self._links += 1
                    self._inline(node.children)
                    self._links -= 1
                case nodes.citation_reference():
                    self._write(f"[{node.astext()}]")
                case _ if isinstance(node, (*_OMITTED, nodes.system_message)):
                    self.writer.removed()
                case _:
                    self._inline(node.children)

    def _substitute(self, node: Any) -> None:
        """Write the definition of a substitution, or its name if this document does not define it."""
        definitions = self._document.substitution_defs
        name = node["refname"]
        if name not in definitions:
            name = self._document.substitution_names.get(name.lower(), name)
        definition = definitions.get(name)
        if definition is None or self._substitutions >= _MAX_SUBSTITUTION_DEPTH:
            self._write(node.astext())
            return
        self._substitutions += 1
        self._inline(definition.children)
        self._substitutions -= 1

    def _write(self, text: str, *, is_link: bool = False) -> None:
        self._count(text)
        self.writer.write(text, is_link=is_link or self._links > 0)
        self._before = text[-1:] or self._before

    def _count(self, text: str) -> None:
        self._written += len(text) + 1
        if self._written > _MAX_CHARACTERS:
            raise RecordError(self._record.source_id, "the document expands to too much text")

    def _follow(self, role: str, target: str, title: str) -> str:
        """Record the link of a role and return the text that it shows."""
        notes = self._record.notes
        if role == "doc":
            found = self._link(target)
            return title or notes.titles.get(found or "", "")
        place = notes.labels.get(normalize_label(target))
        if place is None:
            return title
        source_id, heading = place
        if source_id != self._record.source_id:
            self.links.setdefault(source_id)
        return title or heading

    def _link(self, href: str) -> str | None:
        """Record the document that ``href`` leads to, and return its ``source_id``."""
        target = resolve_link(self._record.source_id, href, _SUFFIXES, self._record.notes.pages) if href else None
        if target is not None:
            self.links.setdefault(target)
        return target


def _name(signature: str) -> str:
    """Return the name that a signature defines, without types and arguments; an option is its own name."""
    if signature.startswith("-"):
        return signature
    return _AFTER_NAME.sub("", signature, count=1).rstrip(" :=,").rpartition(" ")[2]

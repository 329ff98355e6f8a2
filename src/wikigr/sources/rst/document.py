"""Parse a document with docutils, without access to files, and with directives and roles that Sphinx documents use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles, tableparser
from docutils.parsers.rst.directives import tables
from docutils.parsers.rst.states import Inliner
from docutils.transforms import Transformer, references
from docutils.utils import new_document, unescape

from wikigr.errors import RecordError
from wikigr.sources.bylines import Byline
from wikigr.sources.documents import NoteRecord, resolve_link, resolved_href
from wikigr.sources.formats import format_named
from wikigr.sources.rst.scan import normalize_label, role_text

_SUFFIXES = format_named("rst").suffixes

# The attribute of a container with the signatures of what it describes.
SIGNATURES = "wikigr-signatures"
# The attribute of code with its language, and of what states the language of the code below it.
LANGUAGE = "wikigr-language"

# docutils refuses documents with longer lines.
_MAX_LINE = 10_000
# Finding inline markup takes quadratic time in the length of a paragraph, so longer ones are parsed in parts.
_MAX_PARAGRAPH = 4_000


class _AnonymousHyperlinks(references.AnonymousHyperlinks):  # type: ignore[misc]
    """Leaves references alone if their number is wrong: docutils replaces each by an error, in quadratic time."""

    def apply(self) -> None:
        found = [
            sum(1 for node in self.document.findall(kind) if node.get("anonymous"))
            for kind in (nodes.reference, nodes.target)
        ]
        if found[0] == found[1]:
            super().apply()


class _IndirectHyperlinks(references.IndirectHyperlinks):  # type: ignore[misc]
    """Leaves references to a target that leads nowhere alone, for the same reason."""

    def indirect_target_error(self, target: Any, explanation: str) -> None:
        target.resolved = True


class _EmptyCellsError(Exception):
    """A table has a cell for every column in every row, and far more of them than characters."""


def _max_cells(lines: Sequence[str]) -> int:
    return 2_000 + 2 * sum(map(len, lines))


class _CsvTable(tables.CSVTable):  # type: ignore[misc]
    def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
        if columns * sum(map(len, parts)) > _max_cells(self.content):
            raise _EmptyCellsError
        super().extend_short_rows_with_empty_cells(columns, parts)


class _SimpleTableParser(tableparser.SimpleTableParser):  # type: ignore[misc]
    def setup(self, block: Any) -> None:
        super().setup(block)
        self._left = _max_cells(self.block)

    def init_row(self, colspec: Any, offset: int) -> Any:
        self._left -= len(colspec)
        if self._left < 0:
            raise _EmptyCellsError
        return super().init_row(colspec, offset)


_TRANSFORMS = (_AnonymousHyperlinks, _IndirectHyperlinks, references.ExternalTargets)

# Directives of docutils that only show text, code or tables.
_PLAIN = frozenset(
    "admonition attention caution compound container danger epigraph error figure highlights hint image "
    "important line-block list-table math note parsed-literal pull-quote replace rubric sidebar table tip topic "
    "unicode warning".split()
)
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}
_TITLES = {"seealso": "See also", "todo": "To do", "availability": "Availability"}
# References to code, in which a leading dot only widens the search for the name.
_CODE_ROLES = frozenset("attr class const data exc func meth mod obj type".split())


def parse_document(lines: Sequence[str], record: NoteRecord) -> Any:
    """Return the ``docutils.nodes.document`` of a text; markup errors become ``system_message`` nodes.

    The notes of ``record`` resolve the roles that link to other documents.
    """
    settings = copy(_settings())
    settings.record = record
    document = new_document(record.source_id, settings)
    try:
        with _lenient_names():
            Parser(inliner=_bounded_inliner()).parse("\n".join(_split_long_lines(lines)), document)
    except _EmptyCellsError as error:
        raise RecordError(record.source_id, "one of its tables has far more cells than text") from error
    transformer = Transformer(document)
    transformer.add_transforms(_TRANSFORMS)
    transformer.apply_transforms()
    return document


def _bounded_inliner() -> Any:
    """Return a parser of inline markup that parses long paragraphs in parts."""
    inliner = Inliner()
    parse_all = inliner.parse

    def parse(text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[Any], list[Any]]:
        found: list[Any] = []
        messages: list[Any] = []
        while text:
            at = len(text)
            if at > _MAX_PARAGRAPH:
                at = text.rfind(" ", 1, _MAX_PARAGRAPH) + 1 or _MAX_PARAGRAPH
            parsed, problems = parse_all(text[:at], lineno, memo, parent)
            found += parsed
            messages += problems
            text = text[at:]
        return found, messages

    # A subclass would not do: docutils formats its patterns with the attributes of the class itself.
    inliner.parse = parse
    return inliner


@cache
def _settings() -> Any:
    settings = get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = 5
    settings.halt_level = 6
    settings.warning_stream = False
    settings.syntax_highlight = "none"
    settings.smart_quotes = False
    settings.line_length_limit = _MAX_LINE
    return settings


def _split_long_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of bounded length; the parts of a line have its indentation."""
    for line in lines:
        indent = re.match(r"\s*", line)[0][: _MAX_LINE // 2]  # type: ignore[index]
        while len(line) > _MAX_LINE:
            at = line.rfind(" ", len(indent) + 1, _MAX_LINE)
            at = at if at > 0 else _MAX_LINE
            yield line[:at]
            line = indent + line[at:].lstrip()
        yield line


@contextmanager
def _lenient_names() -> Iterator[None]:
    """Let docutils find directives, roles and its parser of tables here; it has no other way to replace them."""
    before = directives.directive, roles.role, tableparser.SimpleTableParser
    directives.directive, roles.role = _find_directive, lambda *_: (_run_role, [])
    tableparser.SimpleTableParser = _SimpleTableParser
    try:
        yield
    finally:
        directives.directive, roles.role, tableparser.SimpleTableParser = before


def _find_directive(name: str, language: Any, document: Any) -> tuple[Any, list[Any]]:
    name = name.lower()
    if name == "csv-table":
        return _CsvTable, []
    if name in _PLAIN:
        found: tuple[Any, list[Any]] = _find_original(name, language, document)
        return found
    short = name.rpartition(":")[2]
    other = _describe_object if ":" in name else _show_content
    return _directive(_DIRECTIVES.get(name) or _DIRECTIVES_OF_DOMAINS.get(short) or other), []


_find_original = directives.directive


class _Any(dict[str, Any]):
    """Accepts every option of a directive."""

    def __missing__(self, name: str) -> Any:
        return directives.unchanged


class _Block(Directive):  # type: ignore[misc]
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    # docutils takes an empty one for none.
    option_spec: ClassVar[Any] = _Any(name=directives.unchanged)

    def parsed(self, container: Any) -> Any:
        self.state.nested_parse(self.content, self.content_offset, container)
        return container

    def line(self, text: str) -> Any:
        found, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *found, *messages)

    @property
    def argument(self) -> str:
        return self.arguments[0] if self.arguments else ""


@cache
def _directive(run: Callable[[_Block], list[Any]]) -> type[_Block]:
    return type("_Directive", (_Block,), {"run": run})


def _show_content(block: _Block) -> list[Any]:
    """Show an unknown directive: its argument is a line of text, and its content is parsed."""
    line = ": ".join(filter(None, (_TITLES.get(block.name.lower(), ""), block.argument)))
    return [*([block.line(line)] if line else []), block.parsed(nodes.container())]


_LANGUAGES = {"doctest": "python", "ipython": "python", "prompt": "bash", "testcode": "python", "testoutput": ""}


def _show_code(block: _Block) -> list[Any]:
    text = "\n".join(block.content)
    name = block.name.lower().rpartition(":")[2]
    if name == "productionlist":
        text = block.block_text.partition("::")[2]
    if not text.strip():
        return []
    code = nodes.literal_block(text, text)
    if block.argument or name in _LANGUAGES:
        code[LANGUAGE] = block.argument.strip() if name not in _LANGUAGES else _LANGUAGES[name]
    caption = str(block.options.get("caption") or "")
    return [nodes.caption(caption, caption), code] if caption else [code]


def _show_change(block: _Block) -> list[Any]:
    name = block.name.lower()
    count = 2 if name == "deprecated-removed" else 1
    words = block.argument.split(maxsplit=count)
    lead = f"{_CHANGES[name]} {', removed in version '.join(words[:count])}".rstrip()
    container = block.parsed(nodes.container())
    if len(words) > count:
        container.insert(0, block.line(f"{lead}: {words[count]}"))
    elif len(container) and isinstance(container[0], nodes.paragraph):
        container[0].insert(0, nodes.Text(f"{lead}: "))
    else:
        container.insert(0, nodes.paragraph("", f"{lead}."))
    return [container]


def _show_author(block: _Block) -> list[Any]:
    line = Byline((block.argument,)).text()
    return [nodes.paragraph(line, line)] if line else []


def _describe_object(block: _Block) -> list[Any]:
    container = nodes.container()
    if block.name.lower() == "class" and not block.content and "(" not in block.argument:
        # To docutils, unlike Sphinx, this is the style of the next paragraph.
        return []
    container[SIGNATURES] = [line.strip() for line in block.argument.split("\n") if line.strip()]
    return [block.parsed(container)]


_DIRECTIVES: dict[str, Callable[[_Block], list[Any]]] = {
    # What they show comes from other files, from programs or from the clock, or is not text.
    **dict.fromkeys(
        "autosummary contents currentmodule date default-role digraph footer graph graphviz header "
        "include index literalinclude mermaid meta module namespace plot py:currentmodule py:module raw role "
        "sectnum tabularcolumns target-notes testcleanup testsetup title".split(),
        lambda block: [],
    ),
    # Their content appears as if they were not there; an argument is a condition or a style, which no reader sees.
    **dict.fromkeys(
        "cssclass glossary hlist ifconfig only rst-class tab-set tabs".split(),
        lambda block: [block.parsed(nodes.container())],
    ),
    **dict.fromkeys(_CHANGES, _show_change),
    **dict.fromkeys(("codeauthor", "moduleauthor", "sectionauthor"), _show_author),
    "highlight": lambda block: [nodes.pending(None, **{LANGUAGE: block.argument.strip()})],
    "toctree": lambda block: [
        nodes.container(
            "", *(nodes.reference(refuri=role_text(line.strip())[1]) for line in block.content if line.strip())
        )
    ],
}
# These may follow the name of a domain ("py:function").
_DIRECTIVES_OF_DOMAINS = {
    **dict.fromkeys(
        "code code-block sourcecode doctest ipython prompt productionlist testcode testoutput".split(), _show_code
    ),
    **dict.fromkeys(
        "attribute class classmethod cmdoption concept confval data decorator decoratormethod describe enum enumerator "
        "envvar exception function macro member method object opcode option property setting staticmethod struct type "
        "union var".split(),
        _describe_object,
    ),
}


_INLINE = {
    "math": nodes.math, "sub": nodes.subscript, "subscript": nodes.subscript, "sup": nodes.superscript,
    "superscript": nodes.superscript,
}  # fmt: skip
# docutils has no role for text that is struck through; documents define one of these names.
_STRUCK = frozenset("del line-through s strike strikeout strikethrough strike-through".split())
_LINKING = frozenset(("any", "doc", "numref", "ref", "term"))


def _run_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[Any], list[Any]]:
    """Turn interpreted text into its visible text; roles that link are resolved."""
    name = name.lower().rpartition(":")[2]
    plain = unescape(text)
    if name in _INLINE:
        return [_INLINE[name](rawtext, unescape(text, restore_backslashes=True) if name == "math" else plain)], []
    if name in ("pep", "rfc"):
        title, target = role_text(plain)
        return [nodes.inline(rawtext, title if title != target else f"{name.upper()} {target}")], []
    if name in ("code", "literal", "samp", "file", "abbr", "kbd", "title-reference", "title"):
        return [nodes.literal(rawtext, plain)], []
    if name in _STRUCK:
        return [nodes.inline(rawtext, plain, classes=["strike"])], []
    title, target = role_text(plain)
    if name in _CODE_ROLES and title == target:
        title = title.removeprefix(".")
    if name in _LINKING:
        # Without a title of its own, the link shows the title of its target.
        return [_link(name, target, title, title != target, inliner.document.settings.record)], []
    return [nodes.inline(rawtext, title)], []


def _link(role: str, target: str, title: str, is_own_title: bool, record: NoteRecord) -> Any:
    notes, here = record.notes, record.source_id
    if role == "doc":
        found = resolve_link(here, target, _SUFFIXES, notes.pages)
        shown = notes.titles.get(found or "", "")
    else:
        found, shown = notes.labels.get(normalize_label(target), (here, ""))
    text = title if is_own_title else shown or title
    return nodes.reference(text, text, refuri=resolved_href(found) if found and found != here else "")

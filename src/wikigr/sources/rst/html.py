"""Write a parsed reStructuredText document as HTML, from which ``html/text.py`` makes plain text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from docutils import nodes

from wikigr.errors import RecordError
from wikigr.sources.html.document import UNSEEN
from wikigr.sources.rst.document import LANGUAGE, SIGNATURES
from wikigr.sources.rst.scan import name_in_signature

# Fields for Sphinx at the top of a document.
_SETTINGS = frozenset(("orphan", "nocomments", "nosearch", "tocdepth"))
# Substitutions may repeat text, so the output is limited.
_MAX_CHARACTERS = 64 * 1024 * 1024
_OMITTED = (
    nodes.comment, nodes.decoration, nodes.meta, nodes.pending, nodes.raw, nodes.substitution_definition, nodes.colspec,
)  # fmt: skip
# The elements of other nodes than those that have a case of their own.
_BLOCK_TAGS = (
    (nodes.bullet_list, "ul"), (nodes.list_item, "li"), ((nodes.definition_list, nodes.option_list), "dl"),
    ((nodes.caption, nodes.legend), "figcaption"), (nodes.block_quote, "blockquote"), (nodes.TextElement, "p"),
    (nodes.Node, "div"),
)  # fmt: skip


def write_document(document: Any, source_id: str) -> str:
    """Return ``document`` as HTML; raises ``RecordError`` at ``source_id`` when it expands to too much text."""
    return _Writer(document, source_id).html_of(document.children)


class _Writer:
    """Writes the HTML of one document. docutils' own writer gives browsers ids, boxes and signs that are no text."""

    def __init__(self, document: Any, source_id: str) -> None:
        self._document = document
        self._source_id = source_id
        self._level = 0
        self._written = 0
        self._substitutions = 0
        # The id of the label (``.. _label:``) before what is written next.
        self._label = ""
        # The language of code that does not state its own.
        self._language = ""
        # Whether blocks are written on one line, as in the cell of a table.
        self._is_flat = False

    def html_of(self, children: Iterable[Any]) -> str:
        """Return the HTML of several nodes."""
        return "".join(map(self._node, children))

    def _line(self, children: Iterable[Any]) -> str:
        outside, self._is_flat = self._is_flat, True
        line = self.html_of(children).strip()
        self._is_flat = outside
        return line

    def _block(self, tag: str, content: str, attributes: str = "") -> str:
        return f" {content} " if self._is_flat else f"<{tag}{attributes}>{content}</{tag}>"

    def _text(self, text: str) -> str:
        self._label = ""
        self._written += len(text) + 1
        if self._written > _MAX_CHARACTERS:
            raise RecordError(self._source_id, "the document expands to too much text")
        return escape(text)

    def _node(self, node: Any) -> str:
        match node:
            case nodes.Text():
                return self._text(node.astext())
            case nodes.section():
                self._level += 1
                section = self.html_of(node.children)
                self._level -= 1
                return section
            case nodes.title() if isinstance(node.parent, nodes.section):
                tag = f"h{min(self._level, 6)}"
                anchor = _anchor(node) or self._label
                return self._block(tag, self.html_of(node.children), f' id="{anchor}"')
            case nodes.title() if isinstance(node.parent, nodes.table):
                return self._block("figcaption", self.html_of(node.children))
            case nodes.literal_block() | nodes.doctest_block():
                language = "python" if isinstance(node, nodes.doctest_block) else node.get(LANGUAGE, self._language)
                return self._block("pre", self._text(node.astext()), f' data-language="{escape(language)}"')
            case nodes.pending() if LANGUAGE in node:
                self._language = node[LANGUAGE]
                return ""
            case nodes.math_block():
                return self._block("pre", self._text(f"$${node.astext()}$$"))
            case nodes.enumerated_list():
                attributes = f' start="{int(node.get("start", 1))}" class="{node.get("enumtype", "")}"'
                return self._block("ol", self.html_of(node.children), attributes)
            case nodes.definition_list_item() | nodes.option_list_item():
                *terms, body = node.children
                terms = list(terms[0].children) if isinstance(terms[0], nodes.option_group) else terms
                names = ", ".join(filter(None, (self._line([part]) for part in terms)))
                return self._block("dt", names) + self._block("dd", self.html_of(body.children))
            case nodes.field():
                return self._field(*node.children)
            case nodes.list_item() if self._is_flat:
                is_numbered = isinstance(node.parent, nodes.enumerated_list)
                marker = f"{int(node.parent.get('start', 1)) + node.parent.index(node)}." if is_numbered else "-"
                return f" {marker} {self._line(node.children)} "
            case nodes.line_block() if isinstance(node.parent, nodes.line_block):
                return self.html_of(node.children)
            case nodes.line():
                return self._block("div", self.html_of(node.children), ' class="line"')
            case nodes.tgroup():
                return self._block("table", self.html_of(node.children))
            case nodes.thead() | nodes.tbody():
                return f"<{node.tagname}>{self.html_of(node.children)}</{node.tagname}>"
            case nodes.row():
                tags = ["th" if node.parent.parent.children[0].get("stub") else "td", *["td"] * (len(node) - 1)]
                return f"<tr>{''.join(map(self._cell, node.children, tags))}</tr>"
            case nodes.footnote() | nodes.citation():
                label, *notes = node.children if isinstance(node.children[0], nodes.label) else (None, *node.children)
                mark = escape(label.astext()) if label is not None else ""
                return self._block("aside", self.html_of(notes), f' role="doc-footnote" data-label="{mark}"')
            case nodes.Admonition() if not isinstance(node, nodes.admonition):
                return self._admonition(node)
            case nodes.container() if node.get(SIGNATURES):
                return f"<dl>{''.join(map(_term, node[SIGNATURES]))}<dd>{self.html_of(node.children)}</dd></dl>"
            case nodes.system_message():
                # The text that could not be parsed, such as a malformed table.
                return self.html_of(child for child in node.children if isinstance(child, nodes.literal_block))
            case nodes.footnote_reference():
                return UNSEEN
            case nodes.math():
                return self._text(f"${node.astext()}$")
            case nodes.image():
                return self._text(str(node.get("alt", "")))
            case nodes.problematic():
                # An undefined reference is written without its marks, a mark without an end as it is.
                return self._text(node.astext().strip("|`_*") or node.astext())
            case nodes.substitution_reference():
                return self._substitution(node)
            case nodes.reference():
                # A link without an address leads to a place in the document.
                return f'<a href="{escape(str(node.get("refuri", "")) or "#")}">{self.html_of(node.children)}</a>'
            case nodes.citation_reference():
                return self._text(f"[{node.astext()}]")
            case _ if isinstance(node, _OMITTED):
                return ""
            case nodes.target() if not isinstance(node.parent, nodes.TextElement):
                self._label = _label(node)
                return ""
            case nodes.literal() | nodes.superscript() | nodes.subscript():
                tag = {"literal": "code", "superscript": "sup", "subscript": "sub"}[node.tagname]
                return f"<{tag}>{self.html_of(node.children)}</{tag}>"
            case nodes.inline() if "strike" in node["classes"]:
                return f"<s>{self.html_of(node.children)}</s>"
            case nodes.Inline():
                return self.html_of(node.children)
        tag = next(tag for kind, tag in _BLOCK_TAGS if isinstance(node, kind))
        return self._block(tag, self.html_of(node.children))

    def _field(self, name: Any, body: Any) -> str:
        """Return the name and the body of a field on one line: a property, if it has both."""
        if isinstance(name.parent.parent.parent, nodes.document) and name.astext() in _SETTINGS:
            return ""
        stated, value = self._line(name.children), self._line(body.children)
        if self._is_flat or not value:
            return self._block("div", f"{stated}: {value}".rstrip(": "), ' class="line"')
        return self._block("p", value, f' data-property="{escape(name.astext())}"')

    def _admonition(self, node: Any) -> str:
        """Return an admonition whose kind is the line above its first paragraph."""
        kind, blocks = node.tagname.capitalize(), list(node.children)
        first = self.html_of(blocks.pop(0).children) if blocks and isinstance(blocks[0], nodes.paragraph) else ""
        return self._block("p", f"{kind}<br>{first}") + self.html_of(blocks)

    def _cell(self, entry: Any, tag: str) -> str:
        columns, rows = (int(entry.get(name, 0)) + 1 for name in ("morecols", "morerows"))
        return f'<{tag} colspan="{columns}" rowspan="{rows}">{self._line(entry.children)}</{tag}>'

    def _substitution(self, node: Any) -> str:
        """Return the definition of a substitution, or its name if this document does not define it."""
        definitions = self._document.substitution_defs
        name = node["refname"]
        if name not in definitions:
            name = self._document.substitution_names.get(name.lower(), name)
        definition = definitions.get(name)
        if definition is None or self._substitutions >= 4:
            return self._text(node.astext())
        self._substitutions += 1
        content = self.html_of(definition.children)
        self._substitutions -= 1
        return content


def _anchor(title: Any) -> str:
    """Return the id that docutils, and so Sphinx, derive from the title of a section.

    ``""`` if the id is only a number, as of a repeated title: it depends on the program and the whole document.
    """
    made = nodes.make_id(title.astext())
    return made if made in title.parent["ids"] else ""


def _label(target: Any) -> str:
    """Return the id of a target outside of text that marks a place; ``""`` for a link or if it is only a number."""
    if any(target.hasattr(key) for key in ("refuri", "refid", "refname")):
        return ""
    return next((made for name in target["names"] if (made := nodes.make_id(name)) in target["ids"]), "")


def _term(signature: str) -> str:
    """Return a signature as the term of an entry, with the name in it as Sphinx marks it.

    Its id, which only Sphinx knows, is empty: the entry has the anchor of the heading above it.
    """
    name = name_in_signature(signature)
    before, _, after = signature.partition(name) if name else ("", "", signature)
    return f'<dt>{escape(before)}<span class="sig-name" id="">{escape(name)}</span>{escape(after)}</dt>'

"""A parsed HTML page before any layout: what of it is content, and the text of an element on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wikigr.sources.html.boilerplate import (
    BOILERPLATE,
    CONTENT_AREAS,
    INFOBOX,
    TABLES_OF_CONTENTS,
    WIKI_CONTENT,
    class_names,
    enclosing_link,
    is_note,
    is_sign,
    tab_sets,
)
from wikigr.sources.html.footnotes import (
    FOOTNOTE_MARKS,
    MARGIN_NOTES,
    find_footnotes,
    is_footnote_mark,
    is_short,
    mark_targets,
)
from wikigr.sources.html.markup import prepare_markup
from wikigr.sources.plain_text import collapse_spaces, format_superscript

HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
HEADINGS = ", ".join(HEADING_LEVELS)
SECTIONING_ELEMENTS = frozenset(("article", "aside", "main", "nav", "section"))
PARAGRAPH_ELEMENTS = frozenset(
    """
    address article aside blockquote caption center details dir div dl fieldset figure form header hgroup hr
    main menu ol p section table ul
    """.split()
)
LINE_ELEMENTS = frozenset("dd dt figcaption legend li option summary tbody td tfoot th thead tr".split())
BLOCK_ELEMENTS = PARAGRAPH_ELEMENTS | LINE_ELEMENTS | HEADING_LEVELS.keys() | {"pre", "br", "body"}
_MATH = ".mwe-math-element"
# The number of ancestors, or of neighbors, examined for the context of an element.
MAX_ANCESTORS = 50
# The number of texts examined before a superscript, and the depth of exponents in one.
_MAX_NEIGHBORS = 8
_DISPLAY_STYLE = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(?P<tex>.*)\}$", re.DOTALL)
# How the parts of an element of MathML are put together.
_MATH_FORMS = {
    "mfrac": "{}/{}", "msup": "{}^{}", "mover": "{}^{}", "msub": "{}_{}", "munder": "{}_{}", "msubsup": "{}_{}^{}",
    "munderover": "{}_{}^{}", "msqrt": "√{}", "mroot": "{1}√{0}",
}  # fmt: skip

# Text that no longer counts, and what stands around it where it is kept.
STRUCK = "del, s, strike, [style*='line-through'], .strike, .strikethrough, .line-through"
STRUCK_MARK = "~~"
_CHECK_BOX = re.compile(r"^\s*\[[ xX]\]")

# What the readers of other formats write in the place of something that a reader of the note does not see.
UNSEEN = "<template></template>"


class HtmlDocument:
    """A parsed page, or a note of another format that its reader has written as HTML.

    ``skip``, ``contents_tables`` and ``infoboxes`` hold the ``mem_id`` of elements that are omitted, read only for
    their links, and read as fields. ``tab_labels`` maps the ``mem_id`` of a tab panel to its label. ``special`` has all
    of these. ``outer_tables`` are those with tables in their cells. ``footnotes`` maps the ``mem_id`` of notes to their
    marks, ``""`` if unknown. ``content`` is the element with the page's own text. The tables of a text document
    (``is_office``) may have headers that are not marked, or only in part.
    """

    def __init__(
        self,
        markup: bytes | str,
        where: str = "HTML",
        *,
        is_note: bool = False,
        has_boilerplate: bool = True,
        is_office: bool = False,
    ) -> None:
        """Parse ``markup``; raises ``RecordError`` at ``where`` when it exceeds the limits of ``prepare_markup``.

        All of a note is content, and its elements must be balanced. In a note without boilerplate, ``UNSEEN`` alone is
        skipped: finding out that nothing else is takes longer than reading a short note.
        """
        self.is_office = is_office
        self._tree = LexborHTMLParser(markup if is_note else prepare_markup(markup, where), encoding=True)
        self.root: LexborNode = self._tree.root or self._tree.create_node("html")
        # The elements with a ``replacement_text``, some of them at least; only formulas are spans.
        self.replaced = {"math", "sup", *(["span"] if self.root.css_first(_MATH) is not None else [])}
        self.skip: set[int] = set()
        self.contents_tables: set[int] = set()
        self.infoboxes: set[int] = set()
        self.tab_labels: dict[int, str] = {}
        marks: dict[str, str] = {}
        if has_boilerplate:
            self._move_margin_notes()
            marks = self._find_boilerplate()
        else:
            self.skip.update(node.mem_id for node in self.root.css("template"))
        self.footnotes, shown = find_footnotes(self.root, marks)
        self.skip |= shown
        self._find_struck_text()
        # Asking each table for tables in it would be quadratic in their depth.
        self.outer_tables: set[int] = set()
        for inner in self.root.css("table table"):
            outer = inner.parent
            while outer is not None and outer.tag != "table":
                outer = outer.parent
            self.outer_tables |= {outer.mem_id} if outer is not None else set()
        self.content = self._tree.body or self.root
        if not is_note:
            self.infoboxes = {node.mem_id for node in self.root.css(INFOBOX)}
            self.content = self._find_content(self.content)
        self.special = self.skip.union(self.contents_tables, self.infoboxes, self.tab_labels)

    def _move_margin_notes(self) -> None:
        for note in reversed(self.root.css(MARGIN_NOTES)):
            paragraph = note.parent
            while paragraph is not None and paragraph.tag != "p":
                paragraph = paragraph.parent
            if paragraph is not None and note.tag != "label":
                paragraph.insert_after(note)
            note.decompose()

    def _find_boilerplate(self) -> dict[str, str]:
        """Find what is no text; return the marks of footnotes by the ids that they lead to."""
        self.skip.update(node.mem_id for node in self.root.css(BOILERPLATE))
        self.skip.update(node.mem_id for node in self.root.css("aside") if not is_note(node))
        self.contents_tables = {node.mem_id for node in self.root.css(TABLES_OF_CONTENTS)}
        # "[10]" and "[citation needed]" look like citations of an answer and hide ends of sentences.
        marks = [node for node in self.root.css(FOOTNOTE_MARKS) if is_footnote_mark(node)]
        self.skip.update(node.mem_id for node in marks)
        self._skip_marks_in_headings()
        for tab_list, pairs in tab_sets(self.root):
            self.tab_labels.update((panel.mem_id, self.flat_text(tab)) for tab, panel in pairs)
            self.skip.add(tab_list.mem_id)
        return mark_targets(marks)

    def _find_struck_text(self) -> None:
        """Skip text that is struck through, and mark it where all of an entry is: a paragraph, an item, a cell."""
        struck = {node.mem_id: node for node in self.root.css(STRUCK)}
        is_whole: dict[int, bool] = {}
        skipped: set[int] = set()
        for node in struck.values():
            if node.mem_id in skipped:
                continue
            entry, is_inside = node.parent, False
            for _ in range(MAX_ANCESTORS):
                if entry is None or entry.tag in BLOCK_ELEMENTS:
                    break
                is_inside = is_inside or entry.mem_id in struck
                entry = entry.parent
            if node.tag in BLOCK_ELEMENTS:
                entry = node
            if is_inside or entry is None or entry.tag == "pre" or entry.parent is None:
                continue
            if entry.mem_id not in is_whole:
                # Of elements nested deeper than that, each would search the text in all others again.
                is_whole[entry.mem_id] = entry.tag in BLOCK_ELEMENTS and not self._has_other_text(entry, struck)
            first, last = node.first_child, node.last_child
            inner = [part for part in node.css("*") if part.mem_id != node.mem_id]
            has_blocks = any(part.tag in BLOCK_ELEMENTS for part in inner)
            if is_whole[entry.mem_id] and first is not None and last is not None and not has_blocks:
                first.insert_before(STRUCK_MARK)
                last.insert_after(STRUCK_MARK)
            else:
                self.skip.add(node.mem_id)
                skipped.update(part.mem_id for part in inner)

    def _has_other_text(self, entry: LexborNode, struck: Mapping[int, LexborNode]) -> bool:
        stack = visible_children(entry) if entry.mem_id not in struck else []
        while stack:
            node = stack.pop()
            if node.is_text_node:
                if any(map(str.isalnum, _CHECK_BOX.sub("", node.text_content or ""))):
                    return True
            elif node.mem_id not in struck and node.mem_id not in self.skip and node.tag not in BLOCK_ELEMENTS:
                stack.extend(visible_children(node))
        return False

    def _skip_marks_in_headings(self) -> None:
        """Skip permalinks and buttons in headings and summaries, unless there is no other text."""
        for heading in outermost(self.root, f"{HEADINGS}, summary"):
            marks = heading.css("a, button")
            signs = {mark.mem_id for mark in marks if is_sign(mark)}
            worded = {mark.mem_id for mark in marks if mark.mem_id in self.skip} - signs
            self.skip |= signs
            for shown in (worded, signs):
                if shown and not self._begins_with_text(heading):
                    self.skip -= shown

    def _find_content(self, body: LexborNode) -> LexborNode:
        wiki = self._single(WIKI_CONTENT)
        if wiki is not None and next(self.flat_blocks(wiki), None) is not None:
            return wiki
        shares = CONTENT_AREAS.items()
        likely = [(node, share) for selector, share in shares if (node := self._single(selector)) is not None]
        if not likely:
            return body
        whole = len(self.flat_text(body))
        return next((node for node, share in likely if len(self.flat_text(node)) > share * whole), body)

    def _single(self, selector: str) -> LexborNode | None:
        """Return the only element that matches; several are usually the cards of an overview page."""
        nodes = [node for node in self.root.css(selector) if node.tag not in ("html", "body")]
        return nodes[0] if len(nodes) == 1 else None

    def pieces(self, node: LexborNode) -> Iterator[str | LexborNode | None]:
        """Yield the visible texts below ``node``, its links, and ``None`` where a block begins or ends."""
        stack: list[LexborNode | None] = [node]
        while stack:
            current = stack.pop()
            if current is None:
                yield None
            elif current.is_text_node:
                yield current.text_content or ""
            elif current.is_element_node:
                if current.mem_id in self.skip and current.mem_id != node.mem_id and not is_math(current):
                    continue
                tag = current.tag or ""
                replacement = replacement_text(current) if tag in self.replaced else None
                if replacement is not None:
                    yield replacement
                    continue
                if tag == "a":
                    yield current
                elif tag in BLOCK_ELEMENTS:
                    yield None
                    stack.append(None)
                stack.extend(reversed(visible_children(current)))

    def flat_text(self, node: LexborNode) -> str:
        """Return the visible text below ``node`` on one line."""
        pieces = [" " if piece is None else piece for piece in self.pieces(node) if not isinstance(piece, LexborNode)]
        return collapse_spaces("".join(pieces))

    def flat_blocks(self, node: LexborNode) -> Iterator[tuple[str, list[LexborNode]]]:
        """Yield the visible text of each block below ``node`` on one line, with its links."""
        texts: list[str] = []
        links: list[LexborNode] = []
        for piece in chain(self.pieces(node), (None,)):
            if isinstance(piece, str):
                texts.append(piece)
            elif piece is not None:
                links.extend([piece] if piece.attributes.get("href") else ())
            else:
                if text := collapse_spaces("".join(texts)):
                    yield text, links
                texts, links = [], []

    def anchor_at(self, heading: LexborNode) -> str:
        """Return the id of a heading or a term, or that of an element in it, right before it, or that begins with it.

        ``""`` if there is none, or if visible text stands between.
        """
        inside = (found for node in heading.css("[id], a[name]") if (found := id_of(node)))
        return id_of(heading) or next(inside, "") or self._anchor_before(heading)

    def _anchor_before(self, node: LexborNode) -> str:
        for _ in range(MAX_ANCESTORS):
            before = node.prev
            if before is None:
                parent = node.parent
                if parent is None or parent.tag in ("body", "html"):
                    return ""
                node = parent
            elif before.mem_id not in self.skip and self._begins_with_text(before):
                return ""
            else:
                node = before
            # What is not read may not be shown either, and then a browser does not scroll to it.
            if node.is_element_node and node.mem_id not in self.skip and (name := id_of(node)):
                return name
        return ""

    def _begins_with_text(self, node: LexborNode) -> bool:
        return any(piece.strip() for piece in islice(self.pieces(node), 200) if isinstance(piece, str))


def id_of(node: LexborNode) -> str:
    """Return the id of an element, or the name of an ``<a>``; ``""`` if it has none, or an endless one."""
    name = node.attributes.get("id") or (node.attributes.get("name") if node.tag == "a" else "") or ""
    # Every section below a heading stores its anchor.
    return name if len(name) <= 500 else ""


def outermost(root: LexborNode, selector: str) -> Iterator[LexborNode]:
    """Yield the elements below ``root`` that match and are not inside another match, so that none is read twice."""
    inside: set[int] = set()
    for node in root.css(selector):
        if node.mem_id not in inside:
            inside.update(inner.mem_id for inner in node.css(selector))
            yield node


def visible_children(node: LexborNode) -> list[LexborNode]:
    """Return the child elements and texts of ``node``."""
    return [child for child in node.iter(include_text=True) if not child.is_comment_node]


def is_math(node: LexborNode) -> bool:
    """Return whether ``node`` is a formula; formulas are read even if their markup is hidden."""
    return node.tag == "math" or "mwe-math-element" in class_names(node)


def replacement_text(node: LexborNode) -> str | None:
    """Return the text of a formula or a superscript; ``None`` for elements whose text is that of their children."""
    if node.tag == "sup":
        return _superscript(node)
    if not is_math(node) or node.tag not in ("math", "span"):
        return None
    math = node if node.tag == "math" else node.css_first("math")
    image = node.css_first("img[alt]")
    source = math.css_first("annotation") if math is not None else None
    tex = collapse_spaces(
        ((math.attributes.get("alttext") if math is not None else None) or "")
        or (source.text() if source is not None else "")
        or ((image.attributes.get("alt") if image is not None else None) or "")
        or _math_text(math or node, 0)
    )
    match = _DISPLAY_STYLE.match(tex)
    return match["tex"].strip() if match else tex


def _math_text(node: LexborNode, depth: int) -> str:
    if not node.is_element_node or depth > MAX_ANCESTORS:
        return node.text_content or ""
    children = [
        child for child in node.iter(include_text=True) if child.is_element_node or (child.text_content or "").strip()
    ]
    parts = [_math_text(child, depth + 1).strip() for child in children]
    form = _MATH_FORMS.get(node.tag or "", "")
    if not form or form.count("{") != len(parts):
        return "".join(parts)
    return form.format(*(part if part.isalnum() else f"({part})" for part in parts))


def _superscript(node: LexborNode) -> str | None:
    if not is_short(node):
        return None
    plain = collapse_spaces(node.text())
    around = enclosing_link(node)
    is_link = around is not None and is_short(around) and collapse_spaces(around.text()) == plain
    if is_link or node.css_first("a[href*='#'], math, .mwe-math-element") is not None:
        return None
    if plain.isdigit() and _is_numerator(node):
        return f" {plain}"
    text = format_superscript(_inner_text(node, 0), _character_before(node))
    return None if text == plain else text


def _is_numerator(node: LexborNode) -> bool:
    """Return whether a fraction follows, as in ``<sup>1</sup>/<sub>2</sub>`` but not in ``m<sup>2</sup>/s``."""
    after = node.next
    text = (after.text_content or "").strip() if after is not None and after.is_text_node else ""
    is_before_denominator = after is not None and after.next is not None and after.next.tag == "sub"
    return text.startswith("\u2044") or (text == "/" and is_before_denominator)


def _inner_text(node: LexborNode, depth: int) -> str:
    """Return the text below a ``<sup>``, including nested exponents."""
    if depth > _MAX_NEIGHBORS:
        return node.text()
    text = ""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            text += child.text_content or ""
        elif child.is_element_node:
            inner = _inner_text(child, depth + 1)
            text += format_superscript(inner, text[-1:]) if child.tag == "sup" else inner
    return text


def _character_before(node: LexborNode) -> str:
    """Return the character before an inline element in its block, ``""`` if there is none nearby."""
    current: LexborNode | None = node
    for _ in range(_MAX_NEIGHBORS):
        if current is None or current.tag in BLOCK_ELEMENTS:
            return ""
        previous = current.prev
        while previous is not None and previous.is_comment_node:
            previous = previous.prev
        if previous is None:
            current = current.parent
            continue
        if previous.tag in BLOCK_ELEMENTS:
            return ""
        text = (previous.text_content or "") if previous.is_text_node else previous.text()
        if text:
            return text[-1]
        current = previous
    return ""

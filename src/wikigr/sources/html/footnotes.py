"""Find the footnotes of an HTML page, and the marks that refer to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

from wikigr.sources.html.boilerplate import class_names, enclosing_link
from wikigr.sources.plain_text import collapse_spaces

# Where marks of footnotes may be: raised text, links to a place, and what states that it is one.
_RAISED = (
    "sup, :is(span, a, small):is([class~=super], [class~=sup], [class~=superscript], [style*='vertical-align:super'], "
    "[style*='vertical-align: super'])"
)
FOOTNOTE_MARKS = f"{_RAISED}, a[href*='#'], [epub\\:type~=noteref], [role=doc-noteref], [data-type=noteref]"
_MARK = r"(?:(?:note|nb?|fn|lower-\w+) ?)?(?:\d{1,4}|[a-z]|[ivxl]{1,7}|[*†‡§¶‖#※]{1,4})"
_MARKS = re.compile(rf"[\[(]?{_MARK}(?: ?[,;–-] ?{_MARK}){{0,9}}[\])]?[.,]?", re.IGNORECASE)
# The sign of a link from a note to its mark.
_BACKLINK = re.compile("[↩↑⤴↵⮌⏎^]")
# How programs call a mark; what notes are called in the address of a mark; and files of notes.
_IS_MARK = re.compile(
    r"(?:foot|end|side)?(?:note|fn)[-_]?(?:ref\w*|mark\w*|anchor|anc|link|call)|(?:foot|end)noteanc$|_id\w+NoteLink|"
    r"Mso(?:Foot|End)noteReference|sd(?:foot|end)noteanc|footnote|endnote|fn-?ref\w*|fnanchor",
    re.IGNORECASE,
)
_NOTE_TARGET = re.compile(r"#(?:cite_|end)note|#cite_ref")
_NOTE_NAME = re.compile(
    r"#(?:user-content-)?_?(?:(?:sd)?(?:foot|end|side)?note|f?n|ftn|edn|en)(?:def)?(?:[-_.:]*\d|[-_.:]+[a-z]$)",
    re.IGNORECASE,
)
_BEFORE_MARK = re.compile(r"(?:\d|[^\W\d_]{3})[”’»\"]?\Z")
_NOTE_FILE = re.compile(r"(?:^|/)(?:foot|end)?notes?[-_.\d]*\w*\.x?html?(?:#|$)", re.IGNORECASE)
# Requests for a source.
_NOTE_REQUEST = re.compile(
    r"\[(?:[\w ]+ needed|(?:by |according to )?whom|who|when|where|which|why|how|vague|dubious.*|clarify|verify|"
    r"(?:permanent )?dead link|original research|failed verification|not in citation given)\??\]",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[[^\[\]]{1,40}\]")

# Notes; those in a list are its items, whatever stands around it.
FOOTNOTES = (
    "[role=doc-footnote], [role=doc-endnote], [data-type=footnote], ._idFootnote, "
    ":is(div, p):is([id^=ftn], [id^=edn], [id^=sdfootnote], [id^=sdendnote]), [data-footnotes] > ol > li, "
    "[epub\\:type~=footnote], [epub\\:type~=endnote], [epub\\:type~=rearnote], "
    "aside.footnote, div.footnote, li.footnote, span:is(.sidenote, .marginnote, .side-note, .margin-note), "
    ".modern-footnotes-footnote__note, dl.footnote > dd, :is(.footnotes, .footnote, #footnotes, "
    "[role=doc-endnotes], [epub\\:type~=footnotes], [epub\\:type~=endnotes]) > ol > li, ol.footnotes > li"
)
# Notes in the margin, which stand within the paragraph where their mark is.
MARGIN_NOTES = (
    "p :is(span, small):is(.sidenote, .marginnote, .side-note, .margin-note, .modern-footnotes-footnote__note), "
    "p label:is(.margin-toggle, .sidenote-number)"
)
# Characters and parts of raised text; its elements may be nested, and each of them be asked for all of its text.
_MAX_RAISED, _MAX_RAISED_PARTS = 1_000, 40


def is_short(node: LexborNode) -> bool:
    """Return whether ``node`` is short enough to be raised text, or the link of one."""
    size = 0
    for number, part in enumerate(node.traverse(include_text=True)):
        size += len(part.text_content or "") if part.is_text_node else 0
        if size > _MAX_RAISED or number > _MAX_RAISED_PARTS:
            return False
    return True


def is_footnote_mark(node: LexborNode) -> bool:
    """Return whether a link or raised text is a reference to a note, a link from the note back, or a request for one.

    A reference is a number, a letter or a sign; words that lead to a note are text.
    """
    if not is_short(node):
        return False
    text = collapse_spaces(node.text())
    if node.tag == "sup" and _NOTE_REQUEST.fullmatch(text):
        return True
    is_bracketed = _BRACKETED.fullmatch(text) is not None
    is_back_link = _BACKLINK.fullmatch(text.strip("[]\ufe0e\ufe0f")) is not None
    is_mark = len(text) <= 60 and _MARKS.fullmatch(text) is not None
    if not (is_bracketed or is_back_link or is_mark):
        return False
    link = node if node.tag == "a" else node.css_first("a[href]") or enclosing_link(node)
    if link is not None and link is not node and (not is_short(link) or len(collapse_spaces(link.text())) > len(text)):
        link = None
    href = (link.attributes.get("href") or "") if link is not None else ""
    if "#" in href and is_back_link:
        return True
    if is_bracketed and (_NOTE_TARGET.search(href) or (node.tag == "sup" and href.startswith("#"))):
        return True
    if not is_mark:
        return False
    if any(map(_states_mark, (node, link))):
        return True
    if node.tag != "a" or node.css_first(_RAISED) is not None or "super" in class_names(node):
        return "#" in href or _NOTE_FILE.search(href) is not None
    # Where nothing raises it, a mark follows a word directly.
    before = (node.prev.text_content or "") if node.prev is not None and node.prev.is_text_node else ""
    if _NOTE_NAME.search(href) is None:
        # Whatever the address is, a number that is glued to a number or a word is not part of it.
        return "#" in href and text.isdecimal() and _BEFORE_MARK.search(before[-3:]) is not None
    return (is_bracketed or not before[-1:].isspace()) and before != ""


def _states_mark(node: LexborNode | None) -> bool:
    if node is None:
        return False
    stated = " ".join(node.attributes.get(name) or "" for name in ("epub:type", "role", "data-type"))
    return (
        "noteref" in stated or "data-footnote-ref" in node.attributes or any(map(_IS_MARK.fullmatch, class_names(node)))
    )


def _leading_mark(note: LexborNode) -> LexborNode | None:
    link = note.css_first("a[href]")
    text = collapse_spaces(link.text()) if link is not None else ""
    return link if _MARKS.fullmatch(text) and note.text().lstrip().startswith(text) else None


def mark_targets(marks: Iterable[LexborNode]) -> dict[str, str]:
    """Return the text of the marks by the id of the note that they lead to."""
    links = (node if node.tag == "a" else node.css_first("a[href]") or enclosing_link(node) for node in marks)
    hrefs = [(link.attributes.get("href") or "", link.text()) for link in links if link is not None]
    hrefs = [(href, text) for href, text in hrefs if not _BACKLINK.search(text)]
    return {href.partition("#")[2]: collapse_spaces(text).strip("[]()") for href, text in reversed(hrefs)}


def _targets(root: LexborNode, marks: dict[str, str]) -> Iterator[LexborNode]:
    """Yield the short elements that marks lead to; a paragraph is a note if it begins with the mark."""
    for node in root.css("li, p, :is(aside, dd, div)[id]") if marks else ():
        link = node.css_first("a[href]") if node.tag in ("li", "p") else None
        ids = {one.attributes.get(key) for one in (node, link) if one is not None for key in ("id", "name")}
        # What is longer than 2,000 characters is more than a note.
        if not ids.isdisjoint(marks) and len(node.text()) <= 2_000 and (node.tag != "p" or _leading_mark(node)):
            yield node


def find_footnotes(root: LexborNode, marks: dict[str, str]) -> tuple[dict[int, str], set[int]]:
    """Return the marks of the notes below ``root`` by ``mem_id``, ``""`` if unknown, and what only shows these marks.

    ``marks`` has those in the text by the id of their note.
    """
    found = {node.mem_id: node for node in (*root.css(FOOTNOTES), *_targets(root, marks))}
    for node in list(found.values()):
        box = node.parent
        # The box of all notes is at most four steps above a note.
        for _ in range(4):
            if box is None:
                break
            found.pop(box.mem_id, None)
            box = box.parent
    labels: dict[int, str] = {}
    shown: set[int] = set()
    for note in found.values():
        mark = note.css_first(".label") or _leading_mark(note)
        if note.tag == "dd":
            mark = note.prev
            while mark is not None and mark.tag != "dt":
                mark = mark.prev
        label = note.attributes.get("data-label") or marks.get(note.attributes.get("id") or "", "")
        if mark is not None:
            # What follows may belong to it: "3. Text".
            after = mark.next.text_content if mark.next is not None and mark.next.is_text_node else None
            if mark.tag != "a" or not (after or "").startswith((".", ")")):
                shown.add(mark.mem_id)
            label = label or collapse_spaces(mark.text()).strip("[]().")
        labels[note.mem_id] = label
    return labels, shown

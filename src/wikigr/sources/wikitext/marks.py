"""Private-use characters, the marks, which represent structure in wikitext until it is laid out.

They are removed from the input first, so that an author's text cannot imitate structure.
"""

from __future__ import annotations

import re

# Index into ``PreparedWikitext.verbatim`` between the mark and END: a block on lines of its own, or inline.
BLOCK = "\ue000"
INLINE = "\ue001"
END = "\ue002"
# A line break inside a paragraph.
BREAK = "\ue003"
# Something inline was omitted here.
REMOVED = "\ue004"
SUP_OPEN = "\ue005"
SUP_CLOSE = "\ue006"
# Starts a line that begins with a space in the source (preformatted text).
PREFORMATTED = "\ue007"
# Starts the line of a heading (followed by its number on the page) or of a table row (its number, END and its text).
HEADING = "\ue008"
ROW = "\ue009"
# Precedes each character of a list prefix.
LIST = "\ue00a"
# A link in an infobox value: LINK_OPEN index LINK_LABEL label LINK_CLOSE.
LINK_OPEN = "\ue00b"
LINK_LABEL = "\ue00c"
LINK_CLOSE = "\ue00d"

# Lines of their own around a quotation, a caption or a footnote.
QUOTATION = "\ue00e"
CAPTION = "\ue00f"
KIND_END = "\ue010"
FOOTNOTE = "\ue011"

ALL_MARKS = re.compile("[\ue000-\ue011]")
ROW_NUMBER = re.compile(f"{ROW}\\d+{END}")
PLACEHOLDER = re.compile(f"[{BLOCK}{INLINE}](\\d+){END}")
LINK = re.compile(f"{LINK_OPEN}(\\d+){LINK_LABEL}([^{LINK_OPEN}{LINK_CLOSE}]*){LINK_CLOSE}")

# Bounded repetition, because each pattern is tried at every position of a line.
_REMOVED_RUN = re.compile(f"{REMOVED}(?:\\s*{REMOVED})+")
_EMPTY_PARENTHESES = re.compile(f" ?\\([\\s;,:{REMOVED}]{{0,20}}\\)")
_AFTER_PARENTHESIS = re.compile(f"\\([\\s;,:]{{0,20}}{REMOVED}[\\s;,:{REMOVED}]{{0,20}}")
_BEFORE_PARENTHESIS = re.compile(f"[\\s;,]{{0,20}}{REMOVED}[\\s;,{REMOVED}]{{0,20}}\\)")


def clean_parentheses(text: str) -> str:
    """Remove empty parentheses, and stray separators inside parentheses, that omitted elements left behind.

    ``REMOVED`` is kept where later steps may depend on it.
    """
    if REMOVED not in text:
        return text
    text = _REMOVED_RUN.sub(REMOVED, text)
    text = _EMPTY_PARENTHESES.sub(REMOVED, text)
    text = _AFTER_PARENTHESIS.sub("(", text)
    return _BEFORE_PARENTHESIS.sub(")", text)


def strip_marks(text: str) -> str:
    """Return ``text`` without marks, for names and keys."""
    return ALL_MARKS.sub("", text)

"""Private-use characters that stand for structure while wikitext is on its way to plain text.

Input is cleared of them first, so that what an author typed can never be taken for structure.
"""

from __future__ import annotations

import re

# Index into ``PreparedWikitext.verbatim`` between the mark and END: a block on lines of its own, or inline.
BLOCK = "\ue000"
INLINE = "\ue001"
END = "\ue002"
# A line break inside a paragraph.
BREAK = "\ue003"
# Something inline was left out here.
REMOVED = "\ue004"
SUP_OPEN = "\ue005"
SUP_CLOSE = "\ue006"
# Starts a line that the author set off with a leading space (preformatted text).
PREFORMATTED = "\ue007"
# Starts a heading line (followed by level and K or D, kept or dropped) or a table row.
HEADING = "\ue008"
ROW = "\ue009"
# Comes before each character of a list prefix.
LIST = "\ue00a"
# Link label in an infobox value: LINK_OPEN index LINK_LABEL label LINK_CLOSE.
LINK_OPEN = "\ue00b"
LINK_LABEL = "\ue00c"
LINK_CLOSE = "\ue00d"

ALL_MARKS = re.compile("[\ue000-\ue00f]")
PLACEHOLDER = re.compile(f"[{BLOCK}{INLINE}](\\d+){END}")
LINK = re.compile(f"{LINK_OPEN}(\\d+){LINK_LABEL}([^{LINK_OPEN}{LINK_CLOSE}]*){LINK_CLOSE}")

# Bounded repetition: each of these is tried at every position of a line.
_REMOVED_RUN = re.compile(f"{REMOVED}(?:\\s*{REMOVED})+")
_EMPTY_PARENTHESES = re.compile(f" ?\\([\\s;,:{REMOVED}]{{0,20}}\\)")
_AFTER_PARENTHESIS = re.compile(f"\\([\\s;,:]{{0,20}}{REMOVED}[\\s;,:{REMOVED}]{{0,20}}")
_BEFORE_PARENTHESIS = re.compile(f"[\\s;,]{{0,20}}{REMOVED}[\\s;,{REMOVED}]{{0,20}}\\)")


def mend_parentheses(text: str) -> str:
    """Take out parentheses, and separators in them, that are left over where something was left out.

    ``REMOVED`` stays wherever something else may depend on it.
    """
    if REMOVED not in text:
        return text
    text = _REMOVED_RUN.sub(REMOVED, text)
    text = _EMPTY_PARENTHESES.sub(REMOVED, text)
    text = _AFTER_PARENTHESIS.sub("(", text)
    return _BEFORE_PARENTHESIS.sub(")", text)


def strip_marks(text: str) -> str:
    """``text`` without any mark; for names and keys, where marks have no meaning."""
    return ALL_MARKS.sub("", text)

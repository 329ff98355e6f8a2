"""How a superscript reads in plain text: ``m^2``, ``e^{x+1}``, but ``19th`` and ``Ca2+``."""

from __future__ import annotations

import re
import unicodedata

from wikigr.sources.plain_text import collapse_spaces

_NUMBER = re.compile(r"(?P<sign>[-+−–])?\d+(?:[.,]\d+)*")
_ORDINAL = re.compile(r"st|nd|rd|th", re.IGNORECASE)
_ORDINAL_AFTER_NUMERAL = re.compile(r"e|er|re|ère|ème|eme|o|a")
_NUMERALS = frozenset("0123456789IVXLC")
_CHARGE = re.compile(r"\d{0,2}[-+−–]")
_MARK = re.compile(r"\[.*\]|[*†‡§¶#]+|[™®©℠]|TM|SM", re.DOTALL)


def superscript(text: str, before: str) -> str:
    """``text`` as an exponent of what ends with the character ``before`` (``""``: nothing stands before it).

    Ordinals, charges and marks of footnotes or trade stay as they are, and so does what has no base: the mass
    number before an element. A signed number is always an exponent.
    """
    text = collapse_spaces(text)
    number = _NUMBER.fullmatch(text)
    if number is not None and number["sign"]:
        return f"^{text}"
    if not text or not _is_base(before) or _CHARGE.fullmatch(text) or _MARK.fullmatch(text):
        return text
    if _ORDINAL.fullmatch(text) or (before in _NUMERALS and _ORDINAL_AFTER_NUMERAL.fullmatch(text)):
        return text
    return f"^{text}" if number is not None or len(text) == 1 else f"^{{{text}}}"


def _is_base(character: str) -> bool:
    return bool(character) and (character.isalnum() or character in "|‖′" or unicodedata.category(character) == "Pe")

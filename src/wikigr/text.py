"""Text normalization shared by indexing and answering: folding, word splitting, scrubbing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_SPACES = re.compile(r"[\s_]+")
# C0 and C1 control characters except tab and newline, halves of surrogate pairs, and the characters that change the
# direction of text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKDOWN_MARKS = frozenset("\\`*_[]<>|&#~")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def fold(name: str) -> str:
    """Return the lookup key of a title or alias: NFKC, case-folded, each run of spaces or underscores as one space."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def scrub(text: str) -> str:
    """Return ``text`` with unpaired surrogates (found in broken file names) replaced by ``?``, so that it encodes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def harmless(text: str) -> str:
    """Return ``text`` with each control character replaced by ``�``, so that it cannot drive a terminal or reader."""
    return CONTROL.sub("�", text)


def escape_markdown(text: str, *, keep: Collection[str] = ()) -> str:
    """Return ``text`` with each character that Markdown takes for a mark escaped, except those in ``keep``."""
    return "".join(f"\\{c}" if c in _MARKDOWN_MARKS and c not in keep else c for c in text)


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without punctuation."""
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def word_count(text: str) -> int:
    """Return the number of whitespace-separated words in ``text``."""
    return len(text.split())


# Words of one family share at least this many first letters ("Norman", "Normandy").
PREFIX_LENGTH = 4


def share_prefix(one: str, other: str, *, share: float = 0.7) -> bool:
    """Return whether two words agree from the start in four letters and in ``share`` of the longer one's letters."""
    shared = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared >= PREFIX_LENGTH and shared >= share * max(len(one), len(other))

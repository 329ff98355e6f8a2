"""Text normalization shared by indexing and answering: folding, word splitting, scrubbing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

_SPACES = re.compile(r"[\s_]+")
# C0 and C1 control characters except tab and newline, halves of surrogate pairs, and the characters that change the
# direction of text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LOOKALIKE = re.compile(r"\[(?=\s*(?:\d{1,4}(?:[\s,;–-]+\d{1,4})*|unverified)\s*\])")
_MARKDOWN_MARK = re.compile(r"[\\`*_\[\]<>|&#~]")
# In the address of a link.
_ADDRESS_MARKS = {ord("<"): "%3C", ord(">"): "%3E", ord("\n"): "%0A", ord("\r"): "%0D"}
# The "<" of anything that could open or close a tag for a model, even with white space or invisible characters inside.
# The arrows of paths and Cypher patterns do not match.
TAG = re.compile(r"<(?=[\s\u200b-\u200f\u2060-\u206f\ufeff]*[/!?]|[\u200b-\u200f\u2060-\u206f\ufeff]*[^\W\d])")
# Marks that belong to the letter before them, and the Arabic stroke between letters; ``\w`` does not match them. In the
# blocks of Indic scripts, most characters are marks or letters.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0900-\u0963\u0971-\u0de5\u0df2\u0df3\u0e31-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
# Vowels and the like of Hebrew and Arabic, which are usually not written.
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def fold(name: str) -> str:
    """Return the lookup key of a title or alias: NFKC, case-folded, each run of spaces or underscores as one space."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def scrub(text: str) -> str:
    """Return ``text`` with unpaired surrogates (found in broken file names) replaced by ``?``, so that it encodes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def composed(text: str) -> str:
    """Return ``text`` in the form of stored text: NFC, without soft hyphens and spaces of no width."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def without_points(text: str) -> str:
    """Return ``text`` without the points of Hebrew and Arabic, so that a word matches with and without them."""
    return text if text.isascii() else _POINTS.sub("", text)


def harmless(text: str) -> str:
    """Return ``text`` with each control character replaced by ``�``, so that it cannot drive a terminal or reader."""
    return CONTROL.sub("�", text)


def one_line(text: str) -> str:
    """Return ``text`` with a space for its line breaks of every kind, so that a name cannot look like another line."""
    return text if text.isprintable() else " ".join(text.splitlines())


def escape_marks(text: str) -> str:
    """Return stored text in which nothing looks like the number of a citation or the mark of a claim."""
    return _LOOKALIKE.sub(r"\\[", text)


def escape_markdown(text: str) -> str:
    """Return ``text`` on one line with each character that Markdown takes for a mark escaped."""
    return _MARKDOWN_MARK.sub(r"\\\g<0>", re.sub(r"\s+", " ", text))


def markdown_link(text: str, address: str | None) -> str:
    """Return a Markdown link to ``address``, or the text alone without one."""
    if address is None:
        return escape_markdown(text)
    # In angle brackets, an address may have parentheses.
    return f"[{escape_markdown(text)}](<{address.translate(_ADDRESS_MARKS)}>)"


def some_of(names: Sequence[str], most: int) -> str:
    """Return the first ``most`` of ``names`` with how many more there are: "a, b and 3 more"."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without punctuation."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(without_points(text))]


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


def of_families_in(tokens: Collection[str], words: Iterable[str]) -> set[str]:
    """Return those of ``words`` that ``share_prefix`` with one of ``tokens``."""
    # A search in one string is much faster than one per token, and most words have no token with their first letters.
    said = " ".join(("", *tokens))
    begun = ((word, word[:PREFIX_LENGTH]) for word in words)
    return {
        word
        for word, prefix in begun
        if f" {prefix}" in said and any(own.startswith(prefix) and share_prefix(word, own) for own in tokens)
    }

"""A strict Cypher tokenizer: it rejects everything that the engine might tokenize differently."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from wikigr.errors import WikigrError
from wikigr.retrieval.cypher.dialect import ALLOWED

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
  | (?P<comment>/\*(?:[^*]|\*(?!/))*\*/ | //[^\r\n]*(?:\r?\n|\Z))
  | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
  | (?P<tick>`[^`]*`)
  | (?P<number>(?:[0-9]+\.[0-9]+|(?<![.])\.[0-9]+|[0-9]+)(?:[eE]-?[0-9]+)?(?![A-Za-z0-9_]))
  | (?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign><>|<=|>=|=~|<<|>>|\.\.|[()\[\]{},.:;|&^%*/+\-=<>])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:[\\'\"bBfFnNrRtT]|[xX][0-9A-Fa-f]{2}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))", re.ASCII)


class BlockedQueryError(WikigrError):
    """The guard rejected a query. The message explains why to its author, a model or a person."""


def blocked(reason: str) -> BlockedQueryError:
    """Return the error for a rejected query; ``reason`` completes "The query was not run: …"."""
    return BlockedQueryError(f"The query was not run: {reason}.", hint=f"Write one read-only query with {ALLOWED}.")


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    spaced: bool  # preceded by white space or a comment

    @property
    def word(self) -> str:
        """The word in upper case; empty for other tokens, including back-ticked names."""
        return self.text.upper() if self.kind == "word" else ""


def visible(text: str) -> str:
    """Return the beginning of ``text`` with invisible and non-ASCII characters as code points."""
    printable = "".join(c if c.isprintable() and c.isascii() else f"U+{ord(c):04X}" for c in text[:40])
    return printable + ("…" if len(text) > 40 else "")


def read_tokens(cypher: str) -> list[Token]:
    """Return the tokens without white space and comments; raises ``BlockedQueryError`` for invalid text."""
    tokens = []
    at, spaced = 0, False
    while at < len(cypher):
        found = _TOKEN.match(cypher, at)
        if found is None:
            raise _unreadable(cypher, at)
        kind, text = str(found.lastgroup), found.group()
        at = found.end()
        if kind in ("space", "comment"):
            spaced = True
            continue
        if kind == "string":
            _check_string(text)
        elif kind == "tick":
            _check_name(text)
        elif kind == "number" and (len(text) > 40 or re.match(r"0[0-9]", text)):
            raise blocked(f"{visible(text)} is not a number in this dialect")
        tokens.append(Token(kind, text, spaced))
        spaced = False
    return tokens


def _unreadable(cypher: str, at: int) -> BlockedQueryError:
    character = cypher[at]
    if character in "'\"`":
        return blocked(f"the {character} at character {at + 1} is not closed")
    if cypher.startswith("/*", at):
        return blocked(f"the comment at character {at + 1} is not closed")
    if not character.isascii():
        return blocked(
            f"it has U+{ord(character):04X} outside quotes, at character {at + 1}; use ASCII, or put such a name in "
            "back-ticks"
        )
    if character == "!":
        return blocked("! is not allowed; write <> for 'not equal'")
    if character == "$":
        return blocked("a parameter needs a name")
    if character.isdigit():
        return blocked(f"it has an invalid number at character {at + 1}")
    return blocked(f"it has an unexpected {visible(character)} at character {at + 1}")


def _check_string(text: str) -> None:
    inner = text[1:-1]
    for character in inner:
        if (character < " " and character not in "\t\n\r") or "\ud800" <= character <= "\udfff" or character == "\x7f":
            raise blocked(f"a string contains the control character U+{ord(character):04X}")
    at = inner.find("\\")
    while at >= 0:
        found = _ESCAPE.match(inner, at)
        if found is None:
            raise blocked(
                f"a string contains the escape {visible(inner[at : at + 2])}; write \\\\ for a backslash, "
                "\\' for a quote"
            )
        code = int(found[1] or found[2] or "41", 16)
        if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise blocked(f"a string contains the escape {found.group()}, which is not a character")
        at = inner.find("\\", found.end())


def _check_name(text: str) -> None:
    if text == "``":
        raise blocked("a back-ticked name is empty (a back-tick cannot be part of a name)")
    for character in text:
        if unicodedata.category(character)[0] == "C" or (character.isspace() and character != " "):
            raise blocked(f"a back-ticked name contains the invisible character U+{ord(character):04X}")

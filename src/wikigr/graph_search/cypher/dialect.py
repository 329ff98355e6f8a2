"""The Cypher that the guard reads: its tokens, and the keywords, functions and operators of LadybugDB 0.15.

The tokenizer is strict: it rejects everything that the engine might tokenize differently. The words are those of
``src/antlr4/Cypher.g4`` in the engine's sources.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from wikigr.errors import WikigrError

ALLOWED = "MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT, UNION"

# Used only to word error messages and to quote names that are keywords.
WRITE_KEYWORDS = frozenset(
    "ADD ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT FORCE "
    "FOREACH IMPORT INSTALL LOAD MACRO MERGE PROFILE PROJECT REMOVE RENAME ROLLBACK SET UNINSTALL UPDATE USE".split()
)
READ_KEYWORDS = frozenset("MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP LIMIT UNION".split())
RESERVED = frozenset(
    "ACYCLIC ALL AND ANY ASC ASCENDING CASE CAST COLUMN "
    "CREATE DBTYPE DEFAULT DESC DESCENDING DISTINCT ELSE END ENDS EXISTS "
    "FALSE FOR GLOB GROUP HEADERS HINT IN INSTALL JOIN MACRO "
    "MULTI_JOIN NONE NOT NULL ON ONLY OPTIONAL OPTIONS OR ORDER "
    "PRIMARY PROFILE SHORTEST SINGLE STARTS TABLE THEN TRAIL TRUE UNION UNWIND WHEN WHERE WITH WSHORTEST XOR".split()
)
KEYWORDS = (
    WRITE_KEYWORDS
    | READ_KEYWORDS
    | RESERVED
    | frozenset(
        "AS BY COMMIT_SKIP_CHECKPOINT CONTAINS COUNT CSR CYCLE DATABASE "
        "DECIMAL EXTENSION FROM GRAPH HASH IF INCREMENT INDEX "
        "IS KEY LOGICAL MAP MAXVALUE MINVALUE NO NODE PARTITION PARTITIONS PASSWORD RANGE READ REL ROLE "
        "ROLLBACK_SKIP_CHECKPOINT SEQUENCE SORTED START STRUCT TO TRANSACTION TYPE USER WRITE YIELD".split()
    )
)

AGGREGATES = frozenset("AVG COLLECT COUNT COUNT_IF MAX MIN SUM".split())
# Arguments, counted from 0, whose type the engine does not check (0.15.3).
TEXT_ARGUMENTS = {
    "STRING_SPLIT": (0, 1),
    "STRING_TO_ARRAY": (0, 1),
    "STR_SPLIT": (0, 1),
    "SPLIT_PART": (0, 1),
    "LIST_SORT": (1, 2),
    "LIST_REVERSE_SORT": (1, 2),
}

# Deliberately missing: functions that are slow for one row (levenshtein, factorial), grow without bounds
# (regexp_replace, regexp_extract_all, regexp_split_to_array), take a lambda (list_reduce), have side effects (nextval,
# setseed), are nondeterministic (random, uuids, the clock) or are internal to the engine.
FUNCTIONS = (
    AGGREGATES
    | TEXT_ARGUMENTS.keys()
    | frozenset(
        # text
        "CONCAT CONCAT_WS CONTAINS ENDS_WITH INITCAP LCASE LEFT "
        "LOWER LPAD LTRIM MD5 OCTET_LENGTH PREFIX REGEXP_EXTRACT REGEXP_MATCHES REPEAT REVERSE RIGHT RPAD RTRIM "
        "SHA256 STARTS_WITH STRING SUBSTR SUBSTRING SUFFIX TOLOWER TOUPPER TRIM UCASE UPPER "
        # lists
        "ARRAY_APPEND ARRAY_CAT ARRAY_CONCAT ARRAY_CONTAINS ARRAY_COSINE_SIMILARITY ARRAY_CROSS_PRODUCT "
        "ARRAY_DISTANCE ARRAY_DOT_PRODUCT ARRAY_EXTRACT ARRAY_HAS ARRAY_INDEXOF ARRAY_INNER_PRODUCT "
        "ARRAY_POSITION ARRAY_PREPEND ARRAY_SLICE ARRAY_SQUARED_DISTANCE CARDINALITY ELEMENT_AT "
        "LIST_ANY_VALUE LIST_APPEND LIST_CAT LIST_CONCAT LIST_CONTAINS LIST_DISTINCT LIST_ELEMENT "
        "LIST_EXTRACT LIST_HAS LIST_HAS_ALL LIST_INDEXOF LIST_POSITION LIST_PREPEND LIST_PRODUCT "
        "LIST_REVERSE LIST_SLICE LIST_SUM LIST_TO_STRING LIST_UNIQUE RANGE SIZE "
        # numbers
        "ABS ACOS ASIN ATAN ATAN2 CBRT CEIL CEILING COS COT DEGREES "
        "EVEN FLOOR LN LOG LOG10 LOG2 NEGATE PI POW RADIANS ROUND "
        "SIGN SIN SQRT TAN BITWISE_AND BITWISE_OR BITWISE_XOR "
        # nodes, relationships, paths
        "END_NODE ID IS_ACYCLIC IS_TRAIL KEYS LABEL LABELS LENGTH NODES PROPERTIES RELATIONSHIPS RELS START_NODE "
        # dates
        "CENTURY DATE DATEPART DATETRUNC DATE_PART DATE_TRUNC "
        "DAYNAME DURATION EPOCH_MS INTERVAL LAST_DAY MAKE_DATE MONTHNAME "
        "TIMESTAMP TO_DATE TO_DAYS TO_EPOCH_MS TO_HOURS "
        "TO_INTERVAL TO_MICROSECONDS TO_MILLISECONDS TO_MINUTES TO_MONTHS "
        "TO_SECONDS TO_TIMESTAMP TO_YEARS "
        # any value
        "CAST COALESCE GREATEST IFNULL LEAST "
        "NULLIF TO_BOOL TO_DOUBLE TO_FLOAT TO_INT128 TO_INT16 TO_INT32 TO_INT64 TO_INT8 TO_STRING TO_UINT16 "
        "TO_UINT32 TO_UINT64 TO_UINT8 TYPEOF".split()
    )
)
# Equivalents of functions that only other dialects have.
EQUIVALENTS = {
    "CHARACTER_LENGTH": "size(x)",
    "CHAR_LENGTH": "size(x)",
    "DATETIME": "timestamp('2020-01-31 12:00:00')",
    "ELEMENTID": "id(n)",
    "ENDNODE": "end_node(r)",
    "EXISTS": "EXISTS { MATCH (n)-[:LINKS_TO]->(m) }, or n.url IS NOT NULL",
    "HEAD": "x[1]",
    "ISEMPTY": "size(x) = 0",
    "LAST": "x[-1]",
    "SPLIT": "string_split(x, ' ')",
    "STARTNODE": "start_node(r)",
    "TAIL": "x[2:]",
    "TOBOOLEAN": "to_bool(x)",
    "TOFLOAT": "to_double(x)",
    "TOINTEGER": "to_int64(x)",
    "TOSTRING": "to_string(x)",
    "TYPE": "label(r)",
}
# For position 0, the engine returns '' for a string and an error for a list.
TAKES_POSITION = frozenset("ARRAY_EXTRACT LIST_ELEMENT LIST_EXTRACT SUBSTR SUBSTRING".split())

TYPES = frozenset(
    "BOOL BOOLEAN DATE DOUBLE FLOAT INT INT128 INT16 "
    "INT32 INT64 INT8 INTERVAL STRING TIMESTAMP TIMESTAMP_MS TIMESTAMP_NS "
    "TIMESTAMP_SEC TIMESTAMP_TZ UINT16 UINT32 UINT64 UINT8 UUID".split()
)

BINARY_OPERATORS = frozenset("= <> < <= > >= =~ | & << >> + - * / % ^".split())


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

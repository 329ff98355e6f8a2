"""Which Cypher of a model or a user may run on a pack.

A database opened read-only is no sandbox: ``LOAD FROM``, ``COPY … TO``, ``ATTACH``, ``CALL`` and chained statements
all run on it; its timeout interrupts neither one long function call (``range(1, 1e9)``) nor planning; and some calls
end the whole process (``id(null)``). So a query is parsed here, by a grammar that holds reading and nothing else, and
**written again from its tokens**: comments are gone, white space is single, and a word that is a keyword somewhere but
a name here is back-ticked. What the engine reads is therefore what was checked. Every list below says what is allowed;
nothing is looked up among things forbidden, except to word a refusal.

The dialect is LadybugDB 0.15's (``src/antlr4/Cypher.g4`` of its sources).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from wikigr.errors import WikigrError

MAX_CHARACTERS = 8_000
MAX_DEPTH = 12  # of brackets, CASE, NOT and minus signs; the engine's own parser has no limit and never ends at 5,000
MAX_BRANCHES = 8  # of UNION
MAX_CLAUSES = 24
MAX_RELATIONSHIPS = 12  # planning time grows with every join, and no timeout watches it
MAX_NODES = 16
MAX_DOUBLINGS = 6  # the engine binds what is inside CASE and nullif() twice at each level: 20 levels take 5 s
MAX_OPERATORS = 400  # binding n of them takes n² steps
MAX_ELEMENTS = 1_000  # of all ranges together
MAX_PADDING = 100  # of lpad(), rpad(), repeat()
MAX_COPIES = 16  # how many stored values one expression may join: s+s, ten times over, is 1,024 copies
MAX_SKIP = 10_000  # after ORDER BY
MAX_PATTERN = 200  # characters of a regular expression

_LARGEST = 10**18 - 1  # of SKIP and LIMIT
_HOP_LIMIT = 30  # of the engine

_ALLOWED = "MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT, UNION"

# Only to word refusals, and to know which words are quoted when they are names.
_WRITING = frozenset(
    "ADD ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT FORCE "
    "FOREACH IMPORT INSTALL LOAD MACRO MERGE PROFILE PROJECT REMOVE RENAME ROLLBACK SET UNINSTALL UPDATE USE".split()
)
_READING = frozenset("MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP LIMIT UNION".split())
_RESERVED = frozenset(
    "ACYCLIC ALL AND ANY ASC ASCENDING CASE CAST COLUMN "
    "CREATE DBTYPE DEFAULT DESC DESCENDING DISTINCT ELSE END ENDS EXISTS "
    "FALSE FOR GLOB GROUP HEADERS HINT IN INSTALL JOIN MACRO "
    "MULTI_JOIN NONE NOT NULL ON ONLY OPTIONAL OPTIONS OR ORDER "
    "PRIMARY PROFILE SHORTEST SINGLE STARTS TABLE THEN TRAIL TRUE UNION UNWIND WHEN WHERE WITH WSHORTEST XOR".split()
)
_KEYWORDS = (
    _WRITING
    | _READING
    | _RESERVED
    | frozenset(
        "AS BY COMMIT_SKIP_CHECKPOINT CONTAINS COUNT CSR CYCLE DATABASE "
        "DECIMAL EXTENSION FROM GRAPH HASH IF INCREMENT INDEX "
        "IS KEY LOGICAL MAP MAXVALUE MINVALUE NO NODE PARTITION PARTITIONS PASSWORD RANGE READ REL ROLE "
        "ROLLBACK_SKIP_CHECKPOINT SEQUENCE SORTED START STRUCT TO TRANSACTION TYPE USER WRITE YIELD".split()
    )
)

_WITHOUT_ARGUMENTS = frozenset({"PI"})
_AGGREGATES = frozenset("AVG COLLECT COUNT COUNT_IF MAX MIN SUM".split())

# A collected list can be as long as the query's rows; these take one and build no larger thing for every row.
_TAKES_COLLECTED = frozenset(
    "ARRAY_EXTRACT CARDINALITY ELEMENT_AT LIST_ANY_VALUE "
    "LIST_DISTINCT LIST_ELEMENT LIST_EXTRACT LIST_PRODUCT "
    "LIST_REVERSE LIST_REVERSE_SORT LIST_SLICE LIST_SORT "
    "LIST_SUM LIST_TO_STRING LIST_UNIQUE SIZE".split()
)
_SCALAR_OF_LIST = frozenset(
    "CARDINALITY LIST_ANY_VALUE LIST_ELEMENT LIST_EXTRACT ARRAY_EXTRACT "
    "ELEMENT_AT LIST_PRODUCT LIST_SUM LIST_UNIQUE SIZE".split()
)
# Compared, sorted or joined as if they were plain values, nodes, maps and arrays of a fixed size end the process.
_TAKES_GRAPH = frozenset(
    "COLLECT COUNT END_NODE ID IS_ACYCLIC IS_TRAIL KEYS LABEL LABELS LENGTH LIST_EXTRACT NODES "
    "PROPERTIES RELATIONSHIPS RELS SIZE START_NODE".split()
)
_TAKES_ONLY_GRAPH = frozenset(
    "END_NODE ID IS_ACYCLIC IS_TRAIL KEYS LABEL LABELS NODES PROPERTIES RELATIONSHIPS RELS START_NODE".split()
)
_GIVES_GRAPH = frozenset("END_NODE NODES RELATIONSHIPS RELS START_NODE LIST_EXTRACT COLLECT".split())
_TAKES_ARRAY = frozenset(
    "ARRAY_COSINE_SIMILARITY ARRAY_CROSS_PRODUCT ARRAY_DISTANCE ARRAY_DOT_PRODUCT ARRAY_INNER_PRODUCT "
    "ARRAY_SQUARED_DISTANCE COLLECT COUNT SIZE".split()
)
_REGULAR_EXPRESSIONS = frozenset("REGEXP_EXTRACT REGEXP_MATCHES".split())
_SPLITS = frozenset("STRING_SPLIT STRING_TO_ARRAY STR_SPLIT SPLIT_PART".split())
_PADS = frozenset({"LPAD", "RPAD", "REPEAT"})

# Left out on purpose: what is slow for one row (levenshtein, factorial), grows without a bound (regexp_replace,
# regexp_extract_all, regexp_split_to_array, list_reduce), changes something (nextval, setseed), is not the same twice
# (random, uuids, the clock), ends the process on some arguments (internal_id) or only serves the engine.
_FUNCTIONS = (
    _AGGREGATES
    | _TAKES_COLLECTED
    | _REGULAR_EXPRESSIONS
    | _SPLITS
    | _PADS
    | frozenset(
        # text
        "CONCAT CONCAT_WS CONTAINS ENDS_WITH INITCAP LCASE LEFT "
        "LOWER LTRIM MD5 OCTET_LENGTH PREFIX REVERSE RIGHT RTRIM "
        "SHA256 STARTS_WITH STRING SUBSTR SUBSTRING SUFFIX TOLOWER TOUPPER TRIM UCASE UPPER "
        # lists
        "ARRAY_APPEND ARRAY_CAT ARRAY_CONCAT ARRAY_CONTAINS ARRAY_COSINE_SIMILARITY ARRAY_CROSS_PRODUCT ARRAY_DISTANCE "
        "ARRAY_DOT_PRODUCT ARRAY_HAS ARRAY_INDEXOF ARRAY_INNER_PRODUCT ARRAY_POSITION ARRAY_PREPEND ARRAY_SLICE "
        "ARRAY_SQUARED_DISTANCE LIST_APPEND LIST_CAT LIST_CONCAT LIST_CONTAINS LIST_HAS "
        "LIST_HAS_ALL LIST_INDEXOF LIST_POSITION LIST_PREPEND RANGE "
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
# What other dialects call otherwise, or write as a function.
_INSTEAD = {
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
# Of a text the engine gives '' for the place 0, of a list an error.
_TAKES_PLACE = frozenset("ARRAY_EXTRACT LIST_ELEMENT LIST_EXTRACT SUBSTR SUBSTRING".split())

_YES_OR_NO = frozenset("CONTAINS ENDS_WITH STARTS_WITH PREFIX SUFFIX LIST_CONTAINS LIST_HAS LIST_HAS_ALL".split())

_TYPES = frozenset(
    "BOOL BOOLEAN DATE DOUBLE FLOAT INT INT128 INT16 "
    "INT32 INT64 INT8 INTERVAL STRING TIMESTAMP TIMESTAMP_MS TIMESTAMP_NS "
    "TIMESTAMP_SEC TIMESTAMP_TZ UINT16 UINT32 UINT64 UINT8 UUID".split()
)
_TYPE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)((?:\[[0-9]{0,4}\]){0,2})\Z")

_BOOLEAN = frozenset("OR XOR AND = <> < <= > >= =~ IN STARTS ENDS CONTAINS IS".split())
_IDENTITY = frozenset({"=", "<>"})
_BINARY_SIGNS = frozenset("= <> < <= > >= =~ | & << >> + - * / % ^".split())

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
_COUNTED = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)")


class BlockedQueryError(WikigrError):
    """A query that is not run, and why; the reason is written for whoever wrote the query, a model or a person."""


class _OtherwiseError(Exception):
    """The tokens are no pattern; they may still be an expression."""


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run.

    ``text`` is what to give the engine, with a limit on every branch of its UNION. Of the rows that come back the first
    ``skip`` are to be left out, and what is beyond ``max_rows`` then.
    """

    text: str
    max_rows: int
    skip: int = 0
    parameters: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    spaced: bool  # white space or a comment stood before it

    @property
    def word(self) -> str:
        """The upper-case word; empty for anything else, a back-ticked name above all."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True)
class _Value:
    """What is known of an expression: how many stored values it may join, whether it is a collected list, …"""

    copies: int = 0
    collected: bool = False
    literal: str | int | None = None
    kind: str = ""  # "graph": a node, relationship or path; "array": of a fixed size, as embeddings are; "map"
    untyped: bool = False  # NULL, an empty list, or nothing but such: many functions end the process on one (0.15.3)


_ONE = _Value(copies=1)
_GRAPH = _Value(copies=1, kind="graph")


def check_query(
    cypher: str, *, max_rows: int, max_hops: int, parameters: Collection[str] = frozenset()
) -> GuardedQuery:
    """Return the query to run in place of ``cypher``: it only reads, and each RETURN has a LIMIT.

    The limit is ``max_rows`` + 1 (one more, so that the caller can tell that rows were left out), or the query's own
    where that is smaller. A relationship may repeat at most ``max_hops`` times, all of a query together twice that.
    ``parameters`` are the names whose values the caller will pass.

    Raises ``BlockedQueryError`` for all that is not a plain reading query, and ``ValueError`` for limits below 1.
    """
    if max_rows < 1 or not 1 <= max_hops <= _HOP_LIMIT:
        raise ValueError(f"max_rows must be at least 1 and max_hops from 1 to {_HOP_LIMIT}")
    if len(cypher) > MAX_CHARACTERS:
        raise _blocked(f"it has {len(cypher):,} characters, at most {MAX_CHARACTERS:,} are allowed")
    parser = _Parser(_tokens(cypher), max_rows + 1, max_hops, frozenset(parameters))
    try:
        text = parser.query()
    except _OtherwiseError as error:
        raise _blocked(str(error)) from None
    return GuardedQuery(text, max_rows, parser.skip, frozenset(parser.used_parameters))


def _blocked(reason: str) -> BlockedQueryError:
    return BlockedQueryError(
        f"The query was not run: {reason}.", hint=f"Write one query that only reads, from {_ALLOWED}."
    )


def _untyped() -> BlockedQueryError:
    return _blocked(
        "a NULL or an empty list stands where its type is not known; write CAST(NULL AS STRING), or leave it out"
    )


def _shown(text: str) -> str:
    visible = "".join(c if c.isprintable() and c.isascii() else f"U+{ord(c):04X}" for c in text[:40])
    return visible + ("…" if len(text) > 40 else "")


def _tokens(cypher: str) -> list[_Token]:
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
            raise _blocked(f"{_shown(text)} is no number of this dialect")
        tokens.append(_Token(kind, text, spaced))
        spaced = False
    return tokens


def _unreadable(cypher: str, at: int) -> BlockedQueryError:
    character = cypher[at]
    if character in "'\"`":
        return _blocked(f"the {character} at character {at + 1} is never closed")
    if cypher.startswith("/*", at):
        return _blocked(f"the comment at character {at + 1} is never closed")
    if not character.isascii():
        return _blocked(
            f"it has U+{ord(character):04X} outside quotes, at character {at + 1}; write ASCII there, and such a "
            "name in back-ticks"
        )
    if character == "!":
        return _blocked("! is not allowed; write <> for 'not equal'")
    if character == "$":
        return _blocked("a parameter needs a name")
    if character.isdigit():
        return _blocked(f"it has a number that cannot be read at character {at + 1}")
    return _blocked(f"it has {_shown(character)} at character {at + 1}")


def _check_string(text: str) -> None:
    inner = text[1:-1]
    for character in inner:
        if (character < " " and character not in "\t\n\r") or "\ud800" <= character <= "\udfff" or character == "\x7f":
            raise _blocked(f"a string holds the control character U+{ord(character):04X}")
    at = inner.find("\\")
    while at >= 0:
        found = _ESCAPE.match(inner, at)
        if found is None:
            raise _blocked(
                f"a string holds the escape {_shown(inner[at : at + 2])}; write \\\\ for a backslash, \\' for a quote"
            )
        code = int(found[1] or found[2] or "41", 16)
        if code == 0 or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise _blocked(f"a string holds the escape {found.group()}, which is no character")
        at = inner.find("\\", found.end())


def _check_name(text: str) -> None:
    if text == "``":
        raise _blocked("a back-ticked name is empty (a back-tick cannot be part of a name)")
    for character in text:
        if unicodedata.category(character)[0] == "C" or (character.isspace() and character != " "):
            raise _blocked(f"a back-ticked name holds U+{ord(character):04X}, which cannot be seen")


class _Parser:
    """Recursive descent over the tokens; ``_out`` is the query as it is written again."""

    def __init__(self, tokens: list[_Token], limit: int, max_hops: int, parameters: frozenset[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._out: list[str] = []
        self._limit = limit
        self._max_hops = max_hops
        self._parameters = parameters
        self.used_parameters: set[str] = set()
        self.skip = 0
        self._branches = 1
        self._scope: dict[str, _Value] = {}
        self._few_rows = True
        self._depth = self._doublings = self._operators = self._elements = 0
        self._hops = self._relationships = self._nodes = 0

    # tokens

    @property
    def _token(self) -> _Token:
        return self._ahead(0)

    def _ahead(self, distance: int) -> _Token:
        at = self._at + distance
        return self._tokens[at] if at < len(self._tokens) else _Token("end", "", False)

    def _is(self, sign: str, distance: int = 0) -> bool:
        token = self._ahead(distance)
        return token.kind == "sign" and token.text == sign

    def _emit(self, text: str, *, spaced: bool) -> None:
        before = self._out[-1] if self._out else " "
        self._out.append(" " + text if spaced and not before.endswith(" ") else text)
        self._at += 1

    def _sign(self, sign: str, *, spaced: bool | None = None) -> None:
        if not self._is(sign):
            self._unexpected(f"{sign} was expected")
        self._emit(sign, spaced=self._token.spaced if spaced is None else spaced)

    def _take_sign(self, sign: str) -> bool:
        if self._is(sign):
            if sign == ",":  # in ORDER BY the engine takes no white space before one
                self._out[-1] = self._out[-1].rstrip(" ")
            self._sign(sign, spaced=False if sign == "," else None)
            return True
        return False

    def _keyword(self, *words: str) -> None:
        for word in words:
            if self._token.word != word:
                self._unexpected(f"{word} was expected")
            self._emit(f"{word} ", spaced=True)

    def _take_keyword(self, *words: str) -> bool:
        if all(self._ahead(i).word == word for i, word in enumerate(words)):
            self._keyword(*words)
            return True
        return False

    def _unexpected(self, expected: str) -> NoReturn:
        token = self._token
        if token.kind == "end":
            raise _OtherwiseError(f"it ends where {expected}")
        if token.word in _WRITING:
            raise _OtherwiseError(f"{token.word} is not allowed: only {_ALLOWED} are")
        if token.text == ";":
            raise _OtherwiseError("only one statement is allowed")
        raise _OtherwiseError(f"it has {_shown(token.text)} where {expected}")

    def _name(self, what: str) -> str:
        """Take a name where nothing but a name can stand."""
        token = self._token
        if token.kind == "tick":
            name, text = token.text[1:-1], token.text
        elif token.word:
            if token.word in _RESERVED:
                raise _OtherwiseError(f"{token.word} is a reserved word; as a name write `{token.text}` in back-ticks")
            name = token.text
            text = f"`{name}`" if token.word in _KEYWORDS else name
        else:
            self._unexpected(f"{what} was expected")
        self._emit(text, spaced=token.spaced)
        return name

    def _declare(self, value: _Value) -> None:
        self._scope[self._name("a name").lower()] = value

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _blocked(f"it is nested more than {MAX_DEPTH} deep")

    # statements

    def query(self) -> str:
        if not self._tokens:
            raise _blocked("it is empty")
        self._branch()
        while self._take_keyword("UNION"):
            self._take_keyword("ALL")
            self._branches += 1
            if self.skip:
                raise _blocked("SKIP after ORDER BY is allowed in the last RETURN only, and not with UNION")
            if self._branches > MAX_BRANCHES:
                raise _blocked(f"UNION has more than {MAX_BRANCHES} branches")
            self._scope, self._few_rows = {}, True
            self._branch()
        if self._is(";"):
            self._at += 1
        if self._token.kind != "end":
            self._unexpected("the query should end" if self._ahead(-1).text != ";" else "nothing more is allowed")
        return "".join(self._out).strip()

    def _branch(self) -> None:
        for _ in range(MAX_CLAUSES):
            word = self._token.word
            if word == "OPTIONAL":
                self._keyword("OPTIONAL", "MATCH")
                self._match()
            elif word == "MATCH":
                self._keyword("MATCH")
                self._match()
            elif word == "UNWIND":
                self._unwind()
            elif word == "WITH":
                self._keyword("WITH")
                self._projection(final=False)
            elif word == "RETURN":
                self._keyword("RETURN")
                self._projection(final=True)
                return
            else:
                self._unexpected("a clause (MATCH, WITH, UNWIND, RETURN) was expected")
        raise _blocked(f"it has more than {MAX_CLAUSES} clauses")

    def _match(self) -> None:
        self._pattern()
        self._few_rows = False
        if self._take_keyword("WHERE"):
            self._expression()
        if self._token.word == "HINT":
            raise _blocked("HINT is not allowed")

    def _unwind(self) -> None:
        self._keyword("UNWIND")
        unwound = self._expression()
        if unwound.untyped:
            raise _untyped()
        self._keyword("AS")
        self._declare(_Value(copies=1, kind=unwound.kind))
        self._few_rows = False

    def _projection(self, *, final: bool) -> None:
        self._take_keyword("DISTINCT")
        made: dict[str, _Value] = {}
        while True:
            if self._is("*") and not made:
                self._sign("*")
                made.update(self._scope)
            else:
                key, value = self._item()
                if value.untyped and not final:
                    raise _untyped()
                made[key] = _larger(made.get(key, value), value)
            if not self._take_sign(","):
                break
        self._scope = {**self._scope, **made}
        ordered = self._take_keyword("ORDER", "BY")
        if ordered:
            while True:
                self._expression()
                if self._token.word in ("ASC", "ASCENDING", "DESC", "DESCENDING"):
                    self._keyword(self._token.word)
                if not self._take_sign(","):
                    break
        skip = self._skip(ordered=ordered, final=final) if self._token.word == "SKIP" else 0
        limit: int | None = None
        if self._take_keyword("LIMIT"):
            limit = self._whole_number("LIMIT", self._limit if final else None, more=skip)
        elif final:
            self._out.append(f"{'' if self._out[-1].endswith(' ') else ' '}LIMIT {self._limit + skip}")
        if self._token.word == "SKIP":
            raise _blocked("SKIP stands before LIMIT in this dialect")
        if final:
            return
        self._scope = made
        self._few_rows = limit is not None and limit <= MAX_ELEMENTS
        if self._take_keyword("WHERE"):
            self._expression()

    def _skip(self, *, ordered: bool, final: bool) -> int:
        """Take SKIP; return how many rows the caller has to leave out instead of the engine.

        The engine reads beyond its memory when it sorts fewer rows than it should skip (0.15.3).
        """
        if not ordered:
            self._keyword("SKIP")
            self._whole_number("SKIP")
            return 0
        if not final or self._branches > 1:
            raise _blocked("SKIP after ORDER BY is allowed in the last RETURN only, and not with UNION")
        kept = len(self._out)
        self._keyword("SKIP")
        self.skip = self._whole_number("SKIP")
        del self._out[kept:]
        if self.skip > MAX_SKIP:
            raise _blocked(f"SKIP after ORDER BY may be at most {MAX_SKIP:,}")
        return self.skip

    def _item(self) -> tuple[str, _Value]:
        """Take one thing that is returned: its name and its value."""
        start = self._at
        value = self._expression()
        single = self._at - start == 1 and self._tokens[start].kind in ("word", "tick")
        name = self._tokens[start].text.strip("`").lower() if single else ""
        return self._name("a name").lower() if self._take_keyword("AS") else name, value

    def _whole_number(self, clause: str, most: int | None = None, *, more: int = 0) -> int:
        token = self._token
        if token.kind != "number" or not token.text.isdigit():
            raise _blocked(f"{clause} takes a whole number here")
        number = int(token.text) if most is None else min(int(token.text), most)
        if number > _LARGEST:
            raise _blocked(f"{clause} {token.text} is too large; at most {_LARGEST} is allowed")
        self._emit(str(number + more), spaced=True)
        if self._token.kind == "sign" and self._token.text in _BINARY_SIGNS | {"."}:
            raise _blocked(f"{clause} takes a whole number here, not a calculation")
        return number

    # patterns

    def _pattern(self) -> None:
        while True:
            if self._is("=", 1):
                self._declare(_GRAPH)
                self._sign("=")
            self._element()
            if not self._take_sign(","):
                return

    def _element(self) -> None:
        if self._is("(") and self._is("(", 1):
            self._sign("(")
            self._chain()
            self._sign(")")
        else:
            self._chain()

    def _chain(self) -> int:
        self._node()
        steps = 0
        while self._is("-") or (self._is("<") and self._is("-", 1)):
            self._relationship()
            self._node()
            steps += 1
        return steps

    def _node(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _blocked(f"its patterns have more than {MAX_NODES} nodes")
        if self._token.word and self._is("(", 1):
            raise _blocked(
                f"{_shown(self._token.text)}() cannot hold a pattern; a shortest path is written "
                "(a)-[:REL* SHORTEST 1..3]-(b)"
            )
        self._sign("(")
        if not (self._is(":") or self._is("{") or self._is(")")):
            self._declare(_GRAPH)
        if self._take_sign(":"):
            self._table()
            while self._is("|") or self._is(":"):
                if self._take_sign("|"):
                    self._take_sign(":")
                else:
                    self._sign(":")
                self._table()
        if self._is("{"):
            self._properties()
        self._sign(")")

    def _table(self) -> None:
        self._name("the name of a table")
        if self._is("."):
            raise _blocked("a table of another database cannot be named")

    def _relationship(self) -> None:
        self._relationships += 1
        if self._relationships > MAX_RELATIONSHIPS:
            raise _blocked(f"its patterns have more than {MAX_RELATIONSHIPS} relationships")
        backwards = self._take_sign("<")
        self._sign("-")
        if self._is("["):
            self._details()
        self._sign("-")
        if not backwards:
            self._take_sign(">")

    def _details(self) -> None:
        self._sign("[")
        if self._token.kind in ("word", "tick"):
            self._declare(_GRAPH)
        if self._take_sign(":"):
            self._table()
            while self._take_sign("|"):
                self._take_sign(":")
                self._table()
        if self._is("*"):
            self._repetition()
        if self._is("{"):
            self._properties()
        self._sign("]")

    def _repetition(self) -> None:
        self._sign("*")
        if self._token.word == "ALL":
            self._keyword("ALL")
            if self._token.word not in ("SHORTEST", "WSHORTEST"):
                self._unexpected("SHORTEST was expected")
        if self._token.word in ("SHORTEST", "TRAIL", "ACYCLIC"):
            self._keyword(self._token.word)
        elif self._take_keyword("WSHORTEST"):
            self._sign("(")
            self._name("the name of a property")
            self._sign(")")
        lowest, most = 1, None
        if self._token.kind == "number":
            lowest = most = self._hop_count()
        if self._take_sign(".."):
            most = self._hop_count() if self._token.kind == "number" else None
        if most is None:
            raise _blocked(f"a path needs an upper bound, at most {self._max_hops}: write *1..{self._max_hops}")
        if most > self._max_hops or lowest > most:
            raise _blocked(f"a path may have 1 to {self._max_hops} hops, not {lowest}..{most}")
        self._hops += most
        if self._hops > 2 * self._max_hops:
            raise _blocked(f"its paths may have {2 * self._max_hops} hops together, not {self._hops}")
        if self._is("("):
            self._comprehension()

    def _hop_count(self) -> int:
        token = self._token
        if not token.text.isdigit() or len(token.text) > 4:
            raise _blocked(f"{_shown(token.text)} is no number of hops")
        self._emit(token.text, spaced=token.spaced or self._ahead(-1).kind == "word")
        return int(token.text)

    def _comprehension(self) -> None:
        self._sign("(")
        self._declare(_GRAPH)
        self._sign(",")
        self._declare(_GRAPH)
        if self._is("|") and self._ahead(1).word == "WHERE":
            self._sign("|")
            self._keyword("WHERE")
            self._expression(bar=False)
        if self._take_sign("|"):
            self._projected()
            self._sign(",")
            self._projected()
        self._sign(")")

    def _projected(self) -> None:
        self._sign("{")
        while not self._is("}"):
            self._item()
            if not self._take_sign(","):
                break
        self._sign("}")

    def _properties(self) -> None:
        self._deeper()
        self._sign("{")
        while not self._is("}"):
            self._name("the name of a property")
            self._sign(":")
            self._expression()
            if not self._take_sign(","):
                break
        self._sign("}")
        self._depth -= 1

    # expressions

    def _expression(self, *, bar: bool = True) -> _Value:
        """Take an expression. Precedence decides nothing here, so operators are taken in a row."""
        self._deeper()
        values: list[_Value] = []
        truth = signed = False
        operators = [""]
        while True:
            signs = self._prefixes()
            signed |= bool(signs)
            truth |= "NOT" in signs
            value = self._operand()
            if signs == ["-"] and isinstance(value.literal, int):
                value = _Value(literal=-value.literal)
            values.append(value)
            operator = self._operator(bar=bar)
            if operator == "":
                break
            truth |= operator in _BOOLEAN
            operators.append(operator)
            if operator == "=~":
                self._regular_expression(self._token)
            self._operators += 1
            if self._operators > MAX_OPERATORS:
                raise _blocked(f"it has more than {MAX_OPERATORS} operators")
        self._depth -= 1
        if len(values) == 1:
            if values[0].kind and signed:
                raise _not_plain("be true or a number")
            return _Value() if truth else values[0]
        if any(value.untyped for value in values):
            raise _untyped()
        if any(value.collected for value in values):
            raise _blocked(
                "a list from collect() over any number of rows can be no part of a calculation or a comparison; put "
                f"WITH … LIMIT {MAX_ELEMENTS} before the collect(), or UNWIND the list"
            )
        for i, value in enumerate(values):
            # a = b AND r <> s
            around = {operators[i], *operators[i + 1 : i + 2]}
            if value.kind and (not around & _IDENTITY or around - _IDENTITY - {"", "AND", "OR", "XOR"}):
                raise _not_plain("be calculated with")
        joined = _joined([_Value(copies=value.copies) for value in values])
        return _Value(copies=min(joined.copies, 1)) if truth else joined

    def _prefixes(self) -> list[str]:
        signs = []
        while self._token.word == "NOT" or self._is("-"):
            if self._take_keyword("NOT"):
                signs.append("NOT")
            else:
                self._sign("-")
                signs.append("-")
            if len(signs) > MAX_DEPTH:
                raise _blocked(f"it has more than {MAX_DEPTH} signs in a row")
        return signs

    def _operator(self, *, bar: bool) -> str:
        """Take the operator that joins two operands; the empty string where there is none."""
        token = self._token
        if token.kind == "sign":
            if token.text not in _BINARY_SIGNS or (token.text == "|" and not bar):
                return ""
            self._sign(token.text)
            return token.text
        word = token.word
        if word in ("OR", "XOR", "AND", "IN", "CONTAINS"):
            self._keyword(word)
            return word
        if word in ("STARTS", "ENDS"):
            self._keyword(word, "WITH")
            return word
        return ""

    def _operand(self) -> _Value:
        value = self._atom()
        while True:
            if value.untyped and (self._is(".") or self._is("[")):
                raise _untyped()
            if self._is("."):
                self._sign(".")
                named = "*" if self._take_sign("*") else self._name("the name of a property").lower()
                value = _Value(copies=max(1, value.copies), kind="array" if named == "embedding" else "")
            elif self._is("["):
                value = self._subscript(value)
            elif self._token.word == "IS":
                self._keyword("IS")
                self._take_keyword("NOT")
                self._keyword("NULL")
                value = _Value()
            else:
                return value

    def _subscript(self, value: _Value) -> _Value:
        self._deeper()
        self._sign("[", spaced=False)
        slices = False
        parts = []
        if not (self._is(":") or self._is("..")):
            parts.append(self._expression())
        if self._is(":") or self._is(".."):
            slices = True
            self._sign(self._token.text)
            if not self._is("]"):
                parts.append(self._expression())
        self._sign("]")
        self._depth -= 1
        if not slices and parts[0].literal == 0:
            raise _counted_from_one()
        if any(part.kind for part in parts) or (value.kind and slices) or (slices and not _whole(parts)):
            raise _blocked(
                "a part of a list or a text needs whole numbers as its bounds, and no embedding or path has one"
            )
        kind = "graph" if value.kind == "graph" else ""
        joined = _joined([_Value(copies=one.copies) for one in (value, *parts)])
        return _Value(copies=max(1, joined.copies), collected=value.collected and slices, kind=kind)

    def _atom(self) -> _Value:
        token = self._token
        if token.kind == "string":
            self._emit(token.text, spaced=token.spaced)
            return _Value(literal=token.text)
        if token.kind == "number":
            self._emit(token.text, spaced=token.spaced)
            return _Value(literal=int(token.text)) if token.text.isdigit() else _Value()
        if token.kind == "parameter":
            return self._parameter()
        if self._is("("):
            return self._parenthesis()
        if self._is("["):
            return self._list()
        if self._is("{"):
            return self._struct()
        word = token.word
        if word in ("TRUE", "FALSE", "NULL"):
            self._emit(word, spaced=token.spaced)
            return _Value(untyped=word == "NULL")
        if word == "CASE":
            return self._case()
        if word in ("EXISTS", "COUNT") and self._is("{", 1):
            return self._subquery()
        if word in ("ALL", "ANY", "NONE", "SINGLE") and self._is("(", 1):
            # On lists of more than 2,048 elements together these end the process, functions with a lambda too (0.15.3).
            raise _blocked(f"{word.lower()}() is not allowed; UNWIND the list, or write x IN list")
        if token.kind in ("word", "tick") and self._is("(", 1):
            return self._function()
        if word in _READING:
            self._unexpected("a value was expected")
        name = self._name("a value").lower()
        value = self._scope.get(name, _ONE)
        return _Value(copies=max(1, value.copies), collected=value.collected, kind=value.kind)

    def _parameter(self) -> _Value:
        token = self._token
        name = token.text[1:]
        if name not in self._parameters:
            raise _blocked(f"the parameter ${_shown(name)} has no value; write the value itself")
        if name.upper() in _RESERVED:
            raise _blocked(f"${name} is a keyword of the engine; give the parameter another name")
        self.used_parameters.add(name)
        self._emit(token.text, spaced=token.spaced)
        return _ONE

    def _parenthesis(self) -> _Value:
        """Take ``(a)-[:LINKS_TO]->(b)``, or a value in brackets."""
        saved = self._at, len(self._out), self._nodes, self._relationships, self._hops, dict(self._scope), self._depth
        counted = self._operators, self._elements, self._doublings
        try:
            if self._chain():
                return _Value()
        except _OtherwiseError:
            pass  # no pattern
        self._at, kept, self._nodes, self._relationships, self._hops, self._scope, self._depth = saved
        self._operators, self._elements, self._doublings = counted
        del self._out[kept:]
        self._deeper()
        self._sign("(")
        value = self._expression()
        self._sign(")")
        self._depth -= 1
        return value

    def _list(self) -> _Value:
        self._deeper()
        self._sign("[")
        values = []
        while not self._is("]"):
            values.append(self._expression())
            if self._ahead(0).word in ("IN", "WHERE"):
                raise _blocked("list comprehensions are not of this dialect; UNWIND the list")
            if not self._take_sign(","):
                break
        self._sign("]")
        self._depth -= 1
        _plain(values, "be put into a list")
        joined = _joined(values, collected="be put into another list")
        return _Value(copies=joined.copies, untyped=all(value.untyped for value in values))

    def _struct(self) -> _Value:
        self._deeper()
        self._sign("{")
        values = []
        while True:
            if self._token.kind == "string":
                self._emit(self._token.text, spaced=self._token.spaced)
            else:
                self._name("a key")
            self._sign(":")
            values.append(self._expression())
            if not self._take_sign(","):
                break
        self._sign("}")
        self._depth -= 1
        if any(value.untyped for value in values):
            raise _untyped()
        return _Value(copies=_joined(values, collected="be put into a map").copies, kind="map")

    def _doubled(self) -> None:
        self._doublings += 1
        if self._doublings > MAX_DOUBLINGS:
            raise _blocked(f"CASE and nullif() are nested more than {MAX_DOUBLINGS} deep")

    def _case(self) -> _Value:
        self._deeper()
        self._doubled()
        self._keyword("CASE")
        conditions = []
        results = []
        if self._token.word != "WHEN":
            conditions.append(self._expression())
        while self._take_keyword("WHEN"):
            conditions.append(self._expression())
            self._keyword("THEN")
            results.append(self._expression())
        if self._take_keyword("ELSE"):
            results.append(self._expression())
        self._keyword("END")
        self._depth -= 1
        self._doublings -= 1
        if any(value.untyped for value in conditions) or all(value.untyped for value in results):
            raise _untyped()
        _plain([*conditions, *results], "stand in a CASE")
        return _Value(copies=_joined([*conditions, *results], collected="stand in a CASE").copies)

    def _subquery(self) -> _Value:
        self._deeper()
        outside = dict(self._scope)
        self._emit(self._token.word, spaced=True)
        self._sign("{")
        self._keyword("MATCH")
        self._pattern()
        if self._take_keyword("WHERE"):
            self._expression()
        if self._token.word == "RETURN":
            raise _blocked("a subquery has no RETURN in this dialect: write EXISTS { MATCH … WHERE … }")
        self._sign("}")
        self._scope = outside
        self._depth -= 1
        return _Value()

    def _function(self) -> _Value:
        token = self._token
        name = token.word
        if name not in _FUNCTIONS:
            raise _blocked(
                f"{name} is not allowed: only {_ALLOWED} are"
                if name in _WRITING
                else f"the function {_shown(token.text)}() is not allowed"
                + (f"; write {_INSTEAD[name]}" if name in _INSTEAD else "")
            )
        self._deeper()
        self._operators += 1
        if name == "NULLIF":
            self._doubled()
        self._emit(token.text, spaced=token.spaced)
        self._sign("(")
        if name == "CAST":
            value = self._cast()
        elif name == "COUNT" and self._take_sign("*"):
            value = _Value()
        else:
            value = self._call(name)
        self._sign(")")
        self._depth -= 1
        if name == "NULLIF":
            self._doublings -= 1
        return value

    def _call(self, name: str) -> _Value:
        distinct = self._take_keyword("DISTINCT")
        if distinct and name not in _AGGREGATES:
            raise _blocked(f"DISTINCT cannot stand in {name.lower()}()")
        values: list[_Value] = []
        while not self._is(")"):
            values.append(self._expression())
            if not self._take_sign(","):
                break
        return self._checked_call(name, values)

    def _checked_call(self, name: str, values: list[_Value]) -> _Value:
        literals = [value.literal for value in values]
        untyped = [value.untyped for value in values]
        if not values and name not in _WITHOUT_ARGUMENTS:
            raise _blocked(f"{name.lower()}() takes a value")
        if all(untyped) if name in ("COALESCE", "IFNULL") and values else any(untyped):
            raise _untyped()
        _check_kinds(name, values)
        if name == "COLLECT":
            _joined(values, collected="be collected again")
            return _Value(copies=1, collected=not self._few_rows, kind=values[0].kind)
        if name in _TAKES_PLACE and len(values) > 1 and literals[1] == 0:
            raise _counted_from_one()
        if name in ("SUBSTRING", "SUBSTR") and not _whole(values[1:]):
            raise _blocked(f"{name.lower()}() takes a place, counted from 1, and a length, both written out")
        if name == "RANGE":
            return self._range(literals)
        if name in _PADS:
            times = literals[1] if len(literals) > 1 else None
            if not isinstance(times, int) or times > MAX_PADDING:
                raise _blocked(f"{name.lower()}() takes a whole number of at most {MAX_PADDING}, written out")
            copies = max(1, _joined(values).copies)
            written_out = isinstance(literals[0], str)
            return _joined([_Value(copies=copies if name != "REPEAT" or written_out else copies * max(1, times))])
        if name in _REGULAR_EXPRESSIONS:
            _check_pattern(literals[1] if len(literals) > 1 else None)
            if not _whole(values[2:]):
                raise _blocked("the group of a regular expression is a whole number, written out")
        if name in _SPLITS:
            separator = literals[1] if len(literals) > 1 else None
            if not isinstance(separator, str) or len(separator) < 3:
                raise _blocked(f"{name.lower()}() takes its separator as text in quotes, and not an empty one")
        if name == "LIST_TO_STRING" and not isinstance(literals[0] if literals else None, str):
            raise _blocked("list_to_string() takes its separator first, as text in quotes")
        if any(value.collected for value in values):
            return self._of_collected(name, values)
        kind = "graph" if name in _GIVES_GRAPH and values and values[0].kind == "graph" else ""
        if name == "PROPERTIES" and "embedding" in str(literals[-1]).lower():
            raise _blocked("properties() gives no embeddings")
        copies = _joined(values).copies
        if name in _AGGREGATES or name in _YES_OR_NO or name in _SCALAR_OF_LIST:
            return _Value(copies=min(1, copies), kind=kind)
        return _Value(copies=copies, kind=kind)

    def _of_collected(self, name: str, values: list[_Value]) -> _Value:
        if name not in _TAKES_COLLECTED:
            raise _blocked(
                f"{name.lower()}() cannot take a list from collect() over any number of rows; put WITH … LIMIT "
                f"{MAX_ELEMENTS} before the collect(), or UNWIND the list"
            )
        others = [value for value in values if not value.collected]
        if name == "LIST_SLICE" and any(not isinstance(value.literal, int) for value in others):
            raise _blocked("a part of a collected list needs whole numbers as its bounds")
        copies = _joined(values).copies
        if name in _SCALAR_OF_LIST:
            return _Value(copies=min(1, copies))
        return _Value(copies=max(1, copies), collected=True, kind=values[0].kind)

    def _range(self, literals: list[str | int | None]) -> _Value:
        numbers = [literal for literal in literals if isinstance(literal, int)]
        if len(numbers) != len(literals) or len(numbers) not in (2, 3):
            raise _blocked("range() takes whole numbers, written out")
        step = numbers[2] if len(numbers) == 3 else 1
        if step == 0:
            raise _blocked("range() takes no step of 0")
        self._elements += max(0, (numbers[1] - numbers[0]) // step + 1)
        if self._elements > MAX_ELEMENTS or max(map(abs, numbers)) > 2**62:
            raise _blocked(f"its ranges have more than {MAX_ELEMENTS:,} elements together")
        return _ONE

    def _regular_expression(self, token: _Token) -> None:
        _check_pattern(token.text if token.kind == "string" else None)

    def _cast(self) -> _Value:
        value = self._expression()
        if value.untyped:
            value = _ONE
        if self._take_sign(","):
            token = self._token
            if token.kind != "string":
                raise _blocked("CAST takes the name of a type")
            array = _check_type(token.text[1:-1])
            self._emit(token.text, spaced=token.spaced)
            return self._cast_value(value, array)
        self._keyword("AS")
        word = self._token.word
        if word == "DECIMAL" and self._is("(", 1):
            self._emit("DECIMAL", spaced=True)
            self._sign("(")
            for sign in (",", ")"):
                self._whole_number("DECIMAL", 38)
                self._sign(sign)
            return self._cast_value(value, array=False)
        text = self._token.text if word else ""
        self._at += 1
        while self._is("["):
            size = self._ahead(1).text if self._ahead(1).kind == "number" else ""
            if not self._is("]", 2 if size else 1):
                break
            text += f"[{size}]"
            self._at += 3 if size else 2
        array = _check_type(text)
        self._out.append(text)
        return self._cast_value(value, array)

    def _cast_value(self, value: _Value, array: bool) -> _Value:
        _plain([value], "be cast")
        copies = _joined([value], collected="be cast").copies
        return _Value(copies=copies, kind="array" if array else "")


def _whole(values: list[_Value]) -> bool:
    return all(isinstance(value.literal, int) and 0 <= value.literal < 2**31 for value in values)


def _counted_from_one() -> BlockedQueryError:
    return _blocked("there is no place 0: counting starts at 1 in this dialect; substring(x, 1, 3) is the first three")


def _not_plain(what: str) -> BlockedQueryError:
    return _blocked(f"a node, a relationship, a path, a map or an embedding cannot {what}; name a property")


def _plain(values: list[_Value], what: str) -> None:
    if any(value.kind for value in values):
        raise _not_plain(what)


def _check_kinds(name: str, values: list[_Value]) -> None:
    first = values[0].kind if values else ""
    if name in _TAKES_ONLY_GRAPH and first != "graph":
        raise _blocked(f"{name.lower()}() takes a node, a relationship or a path of a MATCH")
    allowed = {"": True, "graph": name in _TAKES_GRAPH, "array": name in _TAKES_ARRAY, "map": False}
    if not all(allowed[value.kind] for value in values):
        raise _not_plain(f"be given to {name.lower()}()")


def _check_type(text: str) -> bool:
    """Return whether the type is an array of a fixed size."""
    found = _TYPE.match(text)
    if found is None or found[1].upper() not in _TYPES:
        raise _blocked(f"a value cannot be cast to {_shown(text) or 'that'}")
    return any(character.isdigit() for character in found[2])


def _check_pattern(pattern: str | int | None) -> None:
    """A pattern is compiled once and read in linear time, but each counted repeat multiplies its size."""
    if not isinstance(pattern, str):
        raise _blocked("a regular expression must be written out, in quotes")
    size = 1
    for lowest, highest in _COUNTED.findall(pattern):
        size *= max(1, int((highest or lowest or "1")[:6]))
    if len(pattern) > MAX_PATTERN or size > MAX_ELEMENTS:
        raise _blocked(
            f"a regular expression is longer than {MAX_PATTERN} characters or repeats more than {MAX_ELEMENTS} times"
        )


def _larger(one: _Value, other: _Value) -> _Value:
    return _Value(
        copies=max(1, one.copies, other.copies),
        collected=one.collected or other.collected,
        kind=one.kind or other.kind,
    )


def _joined(values: list[_Value], *, collected: str | None = None) -> _Value:
    if collected and any(value.collected for value in values):
        raise _blocked(
            f"a list from collect() over any number of rows cannot {collected}; put WITH … LIMIT {MAX_ELEMENTS} before "
            "the collect()"
        )
    copies = sum(value.copies for value in values)
    if copies > MAX_COPIES:
        raise _blocked(f"one value would be joined of more than {MAX_COPIES} stored ones")
    if len(values) == 1:
        return values[0]
    collects = any(value.collected for value in values)
    return _Value(copies=copies, collected=collects)

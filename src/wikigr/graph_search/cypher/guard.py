"""The guard: decides whether Cypher from a model or a user may run on a pack.

Opening a database read-only is not a sandbox. ``LOAD FROM``, ``COPY … TO``, ``ATTACH``, ``CALL`` and chained statements
all still run. The guard parses each query with a grammar that contains only reading clauses, and **writes the query
again from its tokens**: without comments, with single spaces, and with back-ticks around names that are keywords
elsewhere. The engine reads exactly what was checked. The lists in ``dialect`` say what is allowed; known forbidden
words only improve error messages.

The guard does not make a query safe for the process that runs it: with the wrong types, some allowed functions crash
the engine or read its memory. That is why ``runner`` runs queries in a sandboxed process, which also bounds their time
and memory.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from wikigr.graph_search.cypher.dialect import (
    AGGREGATES,
    ALLOWED,
    BINARY_OPERATORS,
    EQUIVALENTS,
    FUNCTIONS,
    KEYWORDS,
    READ_KEYWORDS,
    RESERVED,
    TAKES_POSITION,
    TEXT_ARGUMENTS,
    TYPES,
    WRITE_KEYWORDS,
    BlockedQueryError,
    Token,
    blocked,
    read_tokens,
    visible,
)

MAX_CHARACTERS = 8_000
MAX_DEPTH = 12  # brackets, CASE, NOT and minus signs; the engine's parser has no limit and hangs at 5,000
MAX_SKIP = 10_000  # after ORDER BY

_MAX_LIMIT = 10**18 - 1  # for SKIP and LIMIT
_MAX_ENGINE_HOPS = 30
_TYPE = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\[[0-9]{0,4}\]){0,2}\Z")


class _SyntaxMismatchError(Exception):
    """The tokens do not match the grammar; the parser may backtrack and try an expression."""


class _Expression(NamedTuple):
    """What the rules need to know about an expression."""

    literal: str = ""  # the token, if the expression is one number or string
    text: bool = False  # certainly a string


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run.

    ``text`` is the rewritten query, with a limit on every branch of a UNION. The caller drops the first ``skip`` rows
    of the result, and then all rows beyond the limit that it gave.
    """

    text: str
    skip: int = 0


def check_query(cypher: str, *, max_rows: int, max_hops: int) -> GuardedQuery:
    """Return the rewritten, read-only query to run in place of ``cypher``, with a LIMIT on each RETURN.

    The limit is ``max_rows`` + 1, which lets the caller detect truncation, or the query's own limit if it is smaller. A
    relationship may repeat at most ``max_hops`` times, and all relationships of a query together twice as often.

    Raises ``BlockedQueryError`` for anything but a plain read-only query, and ``ValueError`` for limits out of range.
    """
    if max_rows < 1 or not 1 <= max_hops <= _MAX_ENGINE_HOPS:
        raise ValueError(f"max_rows must be at least 1 and max_hops from 1 to {_MAX_ENGINE_HOPS}")
    if len(cypher) > MAX_CHARACTERS:
        raise blocked(f"it has {len(cypher):,} characters; at most {MAX_CHARACTERS:,} are allowed")
    parser = _Parser(read_tokens(cypher), max_rows + 1, max_hops)
    try:
        text = parser.query()
        # The casts that were added make it deeper.
        _Parser(read_tokens(text), max_rows + 1, max_hops).query()
    except _SyntaxMismatchError as error:
        raise blocked(str(error)) from None
    return GuardedQuery(text, parser.skip)


class _Parser:
    """A recursive descent parser; ``_out`` collects the rewritten query."""

    def __init__(self, tokens: list[Token], limit: int, max_hops: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._out: list[str] = []
        self._limit = limit
        self._max_hops = max_hops
        self.skip = 0
        self._branches = 1
        self._depth = self._hops = 0

    # tokens

    @property
    def _token(self) -> Token:
        return self._ahead(0)

    def _ahead(self, distance: int) -> Token:
        at = self._at + distance
        return self._tokens[at] if at < len(self._tokens) else Token("end", "", False)

    def _is(self, sign: str, distance: int = 0) -> bool:
        token = self._ahead(distance)
        return token.kind == "sign" and token.text == sign

    def _emit(self, text: str, *, spaced: bool) -> None:
        before = self._out[-1] if self._out else " "
        self._out.append(" " + text if spaced and not before.endswith((" ", "(", "[")) else text)
        self._at += 1

    def _sign(self, sign: str, *, spaced: bool | None = None) -> None:
        if not self._is(sign):
            self._unexpected(f"{sign} was expected")
        self._emit(sign, spaced=self._token.spaced if spaced is None else spaced)

    def _take_sign(self, sign: str) -> bool:
        if self._is(sign):
            if sign == ",":  # in ORDER BY the engine rejects white space before a comma
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

    def _several(self, item: Callable[[], object], end: str = "") -> None:
        """Take items with commas between them; there may be none before the sign ``end``."""
        while not (end and self._is(end)):
            item()
            if not self._take_sign(","):
                return

    def _enclosed(self, signs: str, item: Callable[[], object]) -> None:
        """Take items between two signs, one level deeper."""
        with self._nested():
            self._sign(signs[0])
            self._several(item, signs[1])
            self._sign(signs[1])

    def _unexpected(self, expected: str) -> NoReturn:
        token = self._token
        if token.kind == "end":
            raise _SyntaxMismatchError(f"it ends where {expected}")
        if token.word in WRITE_KEYWORDS:
            raise _SyntaxMismatchError(f"{token.word} is not allowed: only {ALLOWED} are")
        if token.text == ";":
            raise _SyntaxMismatchError("only one statement is allowed")
        raise _SyntaxMismatchError(f"it has {visible(token.text)} where {expected}")

    def _name(self, what: str) -> str:
        """Take a name where the grammar allows only a name."""
        token = self._token
        if token.kind == "tick":
            name, text = token.text[1:-1], token.text
        elif token.word:
            if token.word in RESERVED:
                raise _SyntaxMismatchError(
                    f"{token.word} is a reserved word; write `{token.text}` in back-ticks to use it as a name"
                )
            name = token.text
            text = f"`{name}`" if token.word in KEYWORDS else name
        else:
            self._unexpected(f"{what} was expected")
        self._emit(text, spaced=token.spaced)
        return name

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise blocked(f"it is nested more than {MAX_DEPTH} levels deep")
        yield
        self._depth -= 1

    # statements

    def query(self) -> str:
        if not self._tokens:
            raise blocked("it is empty")
        self._branch()
        while self._take_keyword("UNION"):
            self._take_keyword("ALL")
            self._branches += 1
            if self.skip:
                raise blocked("SKIP after ORDER BY is allowed in the last RETURN only, and not with UNION")
            self._branch()
        if self._is(";"):
            self._at += 1
        if self._token.kind != "end":
            self._unexpected("the query should end" if self._ahead(-1).text != ";" else "nothing more is allowed")
        return "".join(self._out).strip()

    def _branch(self) -> None:
        while True:
            word = self._token.word
            if word == "OPTIONAL":
                self._keyword("OPTIONAL", "MATCH")
                self._match()
            elif word == "MATCH":
                self._keyword("MATCH")
                self._match()
            elif word == "UNWIND":
                self._keyword("UNWIND")
                self._expression()
                self._keyword("AS")
                self._name("a name")
            elif word == "WITH":
                self._keyword("WITH")
                self._projection(final=False)
            elif word == "RETURN":
                self._keyword("RETURN")
                self._projection(final=True)
                return
            else:
                self._unexpected("a clause (MATCH, WITH, UNWIND, RETURN) was expected")

    def _match(self) -> None:
        self._several(self._element)
        if self._take_keyword("WHERE"):
            self._expression()
        if self._token.word == "HINT":
            raise blocked("HINT is not allowed")

    def _projection(self, *, final: bool) -> None:
        self._take_keyword("DISTINCT")
        if not self._take_sign("*") or self._take_sign(","):
            self._several(self._item)
        ordered = self._take_keyword("ORDER", "BY")
        if ordered:
            self._several(self._order)
        skip = self._skip(ordered=ordered, final=final) if self._token.word == "SKIP" else 0
        if self._take_keyword("LIMIT"):
            self._whole_number("LIMIT", self._limit if final else None, more=skip)
        elif final:
            self._out.append(f"{'' if self._out[-1].endswith(' ') else ' '}LIMIT {self._limit + skip}")
        if self._token.word == "SKIP":
            raise blocked("SKIP stands before LIMIT in this dialect")
        if not final and self._take_keyword("WHERE"):
            self._expression()

    def _skip(self, *, ordered: bool, final: bool) -> int:
        """Take SKIP; return the number of rows that the caller must drop instead of the engine.

        The engine reads out of bounds when it sorts fewer rows than it should skip (0.15.3).
        """
        if not ordered:
            self._keyword("SKIP")
            self._whole_number("SKIP")
            return 0
        if not final or self._branches > 1:
            raise blocked("SKIP after ORDER BY is allowed in the last RETURN only, and not with UNION")
        kept = len(self._out)
        self._keyword("SKIP")
        self.skip = self._whole_number("SKIP")
        del self._out[kept:]
        if self.skip > MAX_SKIP:
            raise blocked(f"SKIP after ORDER BY may be at most {MAX_SKIP:,}")
        return self.skip

    def _item(self) -> None:
        self._expression()
        if self._take_keyword("AS"):
            self._name("a name")

    def _order(self) -> None:
        self._expression()
        if self._token.word in ("ASC", "ASCENDING", "DESC", "DESCENDING"):
            self._keyword(self._token.word)

    def _whole_number(self, clause: str, most: int | None = None, *, more: int = 0) -> int:
        token = self._token
        if token.kind != "number" or not token.text.isdigit():
            raise blocked(f"{clause} takes a whole number here")
        number = int(token.text) if most is None else min(int(token.text), most)
        if number > _MAX_LIMIT:
            raise blocked(f"{clause} {token.text} is too large; at most {_MAX_LIMIT} is allowed")
        self._emit(str(number + more), spaced=True)
        if self._token.kind == "sign" and self._token.text in BINARY_OPERATORS | {"."}:
            raise blocked(f"{clause} takes a whole number here, not an expression")
        return number

    # patterns

    def _element(self) -> None:
        if self._is("=", 1):
            self._name("a name")
            self._sign("=")
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
        if self._token.word and self._is("(", 1):
            raise blocked(
                f"{visible(self._token.text)}() cannot hold a pattern; a shortest path is written "
                "(a)-[:REL* SHORTEST 1..3]-(b)"
            )
        self._sign("(")
        if not (self._is(":") or self._is("{") or self._is(")")):
            self._name("a name")
        if self._take_sign(":"):
            self._table()
            while self._is("|") or self._is(":"):
                if self._take_sign("|"):
                    self._take_sign(":")
                else:
                    self._sign(":")
                self._table()
        if self._is("{"):
            self._enclosed("{}", self._property)
        self._sign(")")

    def _table(self) -> None:
        self._name("the name of a table")
        if self._is("."):
            raise blocked("tables of other databases are not allowed")

    def _relationship(self) -> None:
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
            self._name("a name")
        if self._take_sign(":"):
            self._table()
            while self._take_sign("|"):
                self._take_sign(":")
                self._table()
        if self._is("*"):
            self._repetition()
        if self._is("{"):
            self._enclosed("{}", self._property)
        self._sign("]")

    def _repetition(self) -> None:
        self._sign("*")
        if self._token.word == "ALL":
            self._keyword("ALL")
            self._keyword("SHORTEST")
        elif self._token.word in ("SHORTEST", "TRAIL", "ACYCLIC"):
            self._keyword(self._token.word)
        lowest, most = 1, None
        if self._token.kind == "number":
            lowest = most = self._hop_count()
        if self._take_sign(".."):
            most = self._hop_count() if self._token.kind == "number" else None
        if most is None:
            raise blocked(f"a path needs an upper bound, at most {self._max_hops}: write *1..{self._max_hops}")
        if most > self._max_hops or lowest > most:
            raise blocked(f"a path may have 1 to {self._max_hops} hops, not {lowest}..{most}")
        self._hops += most
        if self._hops > 2 * self._max_hops:
            raise blocked(f"its paths may have {2 * self._max_hops} hops in total, not {self._hops}")

    def _hop_count(self) -> int:
        token = self._token
        if not token.text.isdigit() or len(token.text) > 4:
            raise blocked(f"{visible(token.text)} is not a number of hops")
        self._emit(token.text, spaced=token.spaced or self._ahead(-1).kind == "word")
        return int(token.text)

    def _property(self) -> None:
        self._name("the name of a property")
        self._sign(":")
        self._expression()

    # expressions

    def _expression(self) -> _Expression:
        """Take an expression. Precedence is irrelevant here, so operators are taken in sequence."""
        operands = 0
        operator = ""
        with self._nested():
            while operator or not operands:
                negated = self._signs("NOT")
                start = len(self._out)
                negated |= self._signs("-")
                operand = self._operand()
                if operator == "=~" or self._is("=~"):
                    self._as_text(start, operand)
                operands += 1
                operator = self._operator()
        return operand if operands == 1 and not negated else _Expression()

    def _as_text(self, start: int, expression: _Expression) -> None:
        """Cast the expression that was written from ``start`` on to a string.

        Where the engine expects a string but does not check, it reads any other value as a pointer (0.15.3).
        """
        if not expression.text:
            first = self._out[start]
            self._out[start : start + 1] = [" CAST(", first[1:]] if first.startswith(" ") else ["CAST(", first]
            self._out.append(f"{'' if self._out[-1].endswith(' ') else ' '}AS STRING)")

    def _signs(self, sign: str) -> bool:
        """Take NOT or a minus sign, repeated; return whether there is one."""
        count = 0
        while self._take_keyword(sign) if sign == "NOT" else self._take_sign(sign):
            count += 1
            if count > MAX_DEPTH:
                raise blocked(f"it has more than {MAX_DEPTH} signs in a row")
        return count > 0

    def _operator(self) -> str:
        """Take a binary operator; return an empty string if there is none."""
        token = self._token
        if token.kind == "sign":
            if token.text not in BINARY_OPERATORS:
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

    def _operand(self) -> _Expression:
        value = self._atom()
        while True:
            if self._is("."):
                self._sign(".")
                if not self._take_sign("*"):
                    self._name("the name of a property")
            elif self._is("["):
                self._subscript()
            elif self._token.word == "IS":
                self._keyword("IS")
                self._take_keyword("NOT")
                self._keyword("NULL")
            else:
                return value
            value = _Expression()

    def _subscript(self) -> None:
        with self._nested():
            self._sign("[", spaced=False)
            position = _Expression()
            if not (self._is(":") or self._is("..")):
                position = self._expression()
            if self._take_sign(":") or self._take_sign(".."):
                if not self._is("]"):
                    self._expression()
            elif position.literal == "0":
                raise _position_zero_error()
            self._sign("]")

    def _atom(self) -> _Expression:
        token = self._token
        if token.kind in ("string", "number"):
            self._emit(token.text, spaced=token.spaced)
            return _Expression(token.text, text=token.kind == "string")
        if token.kind == "parameter":
            raise blocked(f"the parameter {visible(token.text)} has no value; write the value instead")
        if self._is("("):
            self._parenthesis()
        elif self._is("["):
            self._enclosed("[]", self._element_of_list)
        elif self._is("{"):
            with self._nested():
                self._sign("{")
                self._several(self._field)
                self._sign("}")
        else:
            return self._word()
        return _Expression()

    def _word(self) -> _Expression:
        """Take an expression that starts with a word: a constant, CASE, a subquery, a function or a variable."""
        token = self._token
        word = token.word
        if word in ("TRUE", "FALSE", "NULL"):
            self._emit(word, spaced=token.spaced)
        elif word == "CASE":
            self._case()
        elif word in ("EXISTS", "COUNT") and self._is("{", 1):
            self._subquery()
        elif word in ("ALL", "ANY", "NONE", "SINGLE") and self._is("(", 1):
            raise blocked(f"{word.lower()}() is not allowed; UNWIND the list, or write x IN list")
        elif token.kind in ("word", "tick") and self._is("(", 1):
            return self._function()
        elif word in READ_KEYWORDS:
            self._unexpected("a value was expected")
        else:
            self._name("a value")
        return _Expression()

    def _parenthesis(self) -> None:
        """Take a pattern such as ``(a)-[:LINKS_TO]->(b)``, or an expression in parentheses."""
        saved = self._at, len(self._out), self._hops, self._depth
        try:
            if self._chain():
                return
        except _SyntaxMismatchError:
            pass  # not a pattern
        self._at, kept, self._hops, self._depth = saved
        del self._out[kept:]
        with self._nested():
            self._sign("(")
            self._expression()
            self._sign(")")

    def _element_of_list(self) -> None:
        self._expression()
        if self._token.word in ("IN", "WHERE"):
            raise blocked("this dialect has no list comprehensions; UNWIND the list")

    def _field(self) -> None:
        if self._token.kind == "string":
            self._emit(self._token.text, spaced=self._token.spaced)
        else:
            self._name("a key")
        self._sign(":")
        self._expression()

    def _case(self) -> None:
        with self._nested():
            self._keyword("CASE")
            if self._token.word != "WHEN":
                self._expression()
            while self._take_keyword("WHEN"):
                self._expression()
                self._keyword("THEN")
                self._expression()
            if self._take_keyword("ELSE"):
                self._expression()
            self._keyword("END")

    def _subquery(self) -> None:
        with self._nested():
            self._emit(self._token.word, spaced=True)
            self._sign("{")
            self._keyword("MATCH")
            self._several(self._element)
            if self._take_keyword("WHERE"):
                self._expression()
            if self._token.word == "RETURN":
                raise blocked("a subquery has no RETURN in this dialect: write EXISTS { MATCH … WHERE … }")
            self._sign("}")

    def _function(self) -> _Expression:
        token = self._token
        name = token.word
        if name not in FUNCTIONS:
            raise blocked(
                f"{name} is not allowed: only {ALLOWED} are"
                if name in WRITE_KEYWORDS
                else f"the function {visible(token.text)}() is not allowed"
                + (f"; write {EQUIVALENTS[name]}" if name in EQUIVALENTS else "")
            )
        text = False
        with self._nested():
            self._emit(token.text, spaced=token.spaced)
            self._sign("(")
            if name == "CAST":
                text = self._cast()
            elif not (name == "COUNT" and self._take_sign("*")):
                self._arguments(name)
            self._sign(")")
        return _Expression(text=text)

    def _arguments(self, name: str) -> None:
        if self._take_keyword("DISTINCT") and name not in AGGREGATES:
            raise blocked(f"DISTINCT is not allowed in {name.lower()}()")
        numbers = itertools.count()

        def take() -> None:
            number, start = next(numbers), len(self._out)
            argument = self._expression()
            if number in TEXT_ARGUMENTS.get(name, ()):
                self._as_text(start, argument)
            if number == 1 and name in TAKES_POSITION and argument.literal == "0":
                raise _position_zero_error()

        self._several(take, ")")

    def _cast(self) -> bool:
        """Take the arguments of CAST; return whether the result is a string."""
        self._expression()
        if self._take_sign(","):
            token = self._token
            if token.kind != "string":
                raise blocked("CAST takes the name of a type as a string literal")
            _check_type(token.text[1:-1])
            self._emit(token.text, spaced=token.spaced)
            return False
        self._keyword("AS")
        word = self._token.word
        text = self._token.text if word else ""
        self._at += 1
        while self._is("["):
            size = self._ahead(1).text if self._ahead(1).kind == "number" else ""
            if not self._is("]", 2 if size else 1):
                break
            text += f"[{size}]"
            self._at += 3 if size else 2
        _check_type(text)
        self._out.append(text)
        return text.upper() == "STRING"


def _check_type(text: str) -> None:
    found = _TYPE.match(text)
    if found is None or found[1].upper() not in TYPES:
        raise blocked(f"a value cannot be cast to {visible(text) or 'this type'}")


def _position_zero_error() -> BlockedQueryError:
    return blocked("positions start at 1 in this dialect, not 0: substring(x, 1, 3) returns the first three characters")

"""The guard: decides whether Cypher from a model or a user may run on a pack.

Opening a database read-only is not a sandbox. ``LOAD FROM``, ``COPY … TO``, ``ATTACH``, ``CALL`` and chained statements
all still run. The timeout interrupts neither a single long function call (``range(1, 1e9)``) nor query planning. Some
calls crash the whole process (``id(null)``).

The guard therefore parses each query with a grammar that contains only reading clauses, and **writes the query again
from its tokens**: without comments, with single spaces, and with back-ticks around names that are keywords elsewhere.
The engine reads exactly what was checked. The lists in ``dialect`` say what is allowed; known forbidden words only
improve error messages.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from wikigr.retrieval.cypher.dialect import (
    AGGREGATES,
    ALLOWED,
    BINARY_OPERATORS,
    BOOLEAN_OPERATORS,
    EQUIVALENTS,
    FUNCTIONS,
    IDENTITY_OPERATORS,
    KEYWORDS,
    PADS,
    PREDICATES,
    READ_KEYWORDS,
    REGULAR_EXPRESSIONS,
    RESERVED,
    RETURNS_GRAPH,
    SCALAR_OF_LIST,
    SPLITS,
    TAKES_COLLECTED,
    TAKES_POSITION,
    WITHOUT_ARGUMENTS,
    WRITE_KEYWORDS,
)
from wikigr.retrieval.cypher.tokens import Token, blocked, read_tokens, visible
from wikigr.retrieval.cypher.values import (
    GRAPH,
    MAX_ELEMENTS,
    ONE,
    Value,
    are_integer_literals,
    check_kinds,
    check_pattern,
    check_plain,
    check_type,
    combine_values,
    merge_values,
    not_plain_error,
    position_zero_error,
    untyped_error,
)

MAX_CHARACTERS = 8_000
MAX_DEPTH = 12  # brackets, CASE, NOT and minus signs; the engine's parser has no limit and hangs at 5,000
MAX_BRANCHES = 8  # in a UNION
MAX_CLAUSES = 24
MAX_RELATIONSHIPS = 12  # planning time grows with every join, and the timeout does not cover it
MAX_NODES = 16
MAX_DOUBLINGS = 6  # the engine binds the arguments of CASE and nullif() twice per level: 20 levels take 5 s
MAX_OPERATORS = 400  # binding time is quadratic
MAX_PADDING = 100  # for lpad(), rpad() and repeat()
MAX_SKIP = 10_000  # after ORDER BY

_MAX_LIMIT = 10**18 - 1  # for SKIP and LIMIT
_MAX_ENGINE_HOPS = 30


class _SyntaxMismatchError(Exception):
    """The tokens do not match the grammar; the parser may backtrack and try an expression."""


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run.

    ``text`` is the rewritten query, with a limit on every branch of a UNION. The caller drops the first ``skip`` rows
    of the result, and then all rows beyond ``max_rows``.
    """

    text: str
    max_rows: int
    skip: int = 0
    parameters: frozenset[str] = frozenset()


def check_query(
    cypher: str, *, max_rows: int, max_hops: int, parameters: Collection[str] = frozenset()
) -> GuardedQuery:
    """Return the rewritten, read-only query to run in place of ``cypher``, with a LIMIT on each RETURN.

    The limit is ``max_rows`` + 1, which lets the caller detect truncation, or the query's own limit if it is smaller. A
    relationship may repeat at most ``max_hops`` times, and all relationships of a query together twice as often.
    ``parameters`` are the names of the values that the caller passes.

    Raises ``BlockedQueryError`` for anything but a plain read-only query, and ``ValueError`` for limits out of range.
    """
    if max_rows < 1 or not 1 <= max_hops <= _MAX_ENGINE_HOPS:
        raise ValueError(f"max_rows must be at least 1 and max_hops from 1 to {_MAX_ENGINE_HOPS}")
    if len(cypher) > MAX_CHARACTERS:
        raise blocked(f"it has {len(cypher):,} characters; at most {MAX_CHARACTERS:,} are allowed")
    parser = _Parser(read_tokens(cypher), max_rows + 1, max_hops, frozenset(parameters))
    try:
        text = parser.query()
    except _SyntaxMismatchError as error:
        raise blocked(str(error)) from None
    return GuardedQuery(text, max_rows, parser.skip, frozenset(parser.used_parameters))


class _Parser:
    """A recursive descent parser; ``_out`` collects the rewritten query."""

    def __init__(self, tokens: list[Token], limit: int, max_hops: int, parameters: frozenset[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._out: list[str] = []
        self._limit = limit
        self._max_hops = max_hops
        self._parameters = parameters
        self.used_parameters: set[str] = set()
        self.skip = 0
        self._branches = 1
        self._scope: dict[str, Value] = {}
        self._few_rows = True
        self._depth = self._doublings = self._operators = self._elements = 0
        self._hops = self._relationships = self._nodes = 0

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
        self._out.append(" " + text if spaced and not before.endswith(" ") else text)
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

    def _declare(self, value: Value) -> None:
        self._scope[self._name("a name").lower()] = value

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise blocked(f"it is nested more than {MAX_DEPTH} levels deep")

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
            if self._branches > MAX_BRANCHES:
                raise blocked(f"UNION has more than {MAX_BRANCHES} branches")
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
        raise blocked(f"it has more than {MAX_CLAUSES} clauses")

    def _match(self) -> None:
        self._pattern()
        self._few_rows = False
        if self._take_keyword("WHERE"):
            self._expression()
        if self._token.word == "HINT":
            raise blocked("HINT is not allowed")

    def _unwind(self) -> None:
        self._keyword("UNWIND")
        unwound = self._expression()
        if unwound.untyped:
            raise untyped_error()
        self._keyword("AS")
        self._declare(Value(copies=1, kind=unwound.kind))
        self._few_rows = False

    def _projection(self, *, final: bool) -> None:
        self._take_keyword("DISTINCT")
        made: dict[str, Value] = {}
        while True:
            if self._is("*") and not made:
                self._sign("*")
                made.update(self._scope)
            else:
                key, value = self._item()
                if value.untyped and not final:
                    raise untyped_error()
                made[key] = merge_values(made.get(key, value), value)
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
            raise blocked("SKIP stands before LIMIT in this dialect")
        if final:
            return
        self._scope = made
        self._few_rows = limit is not None and limit <= MAX_ELEMENTS
        if self._take_keyword("WHERE"):
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

    def _item(self) -> tuple[str, Value]:
        """Take one item of a projection: its name and its value."""
        start = self._at
        value = self._expression()
        single = self._at - start == 1 and self._tokens[start].kind in ("word", "tick")
        name = self._tokens[start].text.strip("`").lower() if single else ""
        return self._name("a name").lower() if self._take_keyword("AS") else name, value

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

    def _pattern(self) -> None:
        while True:
            if self._is("=", 1):
                self._declare(GRAPH)
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
            raise blocked(f"its patterns have more than {MAX_NODES} nodes")
        if self._token.word and self._is("(", 1):
            raise blocked(
                f"{visible(self._token.text)}() cannot hold a pattern; a shortest path is written "
                "(a)-[:REL* SHORTEST 1..3]-(b)"
            )
        self._sign("(")
        if not (self._is(":") or self._is("{") or self._is(")")):
            self._declare(GRAPH)
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
            raise blocked("tables of other databases are not allowed")

    def _relationship(self) -> None:
        self._relationships += 1
        if self._relationships > MAX_RELATIONSHIPS:
            raise blocked(f"its patterns have more than {MAX_RELATIONSHIPS} relationships")
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
            self._declare(GRAPH)
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
            raise blocked(f"a path needs an upper bound, at most {self._max_hops}: write *1..{self._max_hops}")
        if most > self._max_hops or lowest > most:
            raise blocked(f"a path may have 1 to {self._max_hops} hops, not {lowest}..{most}")
        self._hops += most
        if self._hops > 2 * self._max_hops:
            raise blocked(f"its paths may have {2 * self._max_hops} hops in total, not {self._hops}")
        if self._is("("):
            self._comprehension()

    def _hop_count(self) -> int:
        token = self._token
        if not token.text.isdigit() or len(token.text) > 4:
            raise blocked(f"{visible(token.text)} is not a number of hops")
        self._emit(token.text, spaced=token.spaced or self._ahead(-1).kind == "word")
        return int(token.text)

    def _comprehension(self) -> None:
        self._sign("(")
        self._declare(GRAPH)
        self._sign(",")
        self._declare(GRAPH)
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

    def _expression(self, *, bar: bool = True) -> Value:
        """Take an expression. Precedence is irrelevant here, so operators are taken in sequence."""
        self._deeper()
        values: list[Value] = []
        truth = signed = False
        operators = [""]
        while True:
            signs = self._prefixes()
            signed |= bool(signs)
            truth |= "NOT" in signs
            value = self._operand()
            if signs == ["-"] and isinstance(value.literal, int):
                value = Value(literal=-value.literal)
            values.append(value)
            operator = self._operator(bar=bar)
            if operator == "":
                break
            truth |= operator in BOOLEAN_OPERATORS
            operators.append(operator)
            if operator == "=~":
                self._regular_expression(self._token)
            self._operators += 1
            if self._operators > MAX_OPERATORS:
                raise blocked(f"it has more than {MAX_OPERATORS} operators")
        self._depth -= 1
        if len(values) == 1:
            if values[0].kind and signed:
                raise not_plain_error("be negated")
            return Value() if truth else values[0]
        if any(value.untyped for value in values):
            raise untyped_error()
        if any(value.collected for value in values):
            raise blocked(
                "a list from collect() over an unlimited number of rows cannot be part of a calculation or a "
                f"comparison; put WITH … LIMIT {MAX_ELEMENTS} before the collect(), or UNWIND the list"
            )
        for i, value in enumerate(values):
            # a = b AND r <> s
            around = {operators[i], *operators[i + 1 : i + 2]}
            if value.kind and (
                not around & IDENTITY_OPERATORS or around - IDENTITY_OPERATORS - {"", "AND", "OR", "XOR"}
            ):
                raise not_plain_error("be used in a calculation")
        joined = combine_values([Value(copies=value.copies) for value in values])
        return Value(copies=min(joined.copies, 1)) if truth else joined

    def _prefixes(self) -> list[str]:
        signs = []
        while self._token.word == "NOT" or self._is("-"):
            if self._take_keyword("NOT"):
                signs.append("NOT")
            else:
                self._sign("-")
                signs.append("-")
            if len(signs) > MAX_DEPTH:
                raise blocked(f"it has more than {MAX_DEPTH} signs in a row")
        return signs

    def _operator(self, *, bar: bool) -> str:
        """Take a binary operator; return an empty string if there is none."""
        token = self._token
        if token.kind == "sign":
            if token.text not in BINARY_OPERATORS or (token.text == "|" and not bar):
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

    def _operand(self) -> Value:
        value = self._atom()
        while True:
            if value.untyped and (self._is(".") or self._is("[")):
                raise untyped_error()
            if self._is("."):
                self._sign(".")
                named = "*" if self._take_sign("*") else self._name("the name of a property").lower()
                value = Value(copies=max(1, value.copies), kind="array" if named == "embedding" else "")
            elif self._is("["):
                value = self._subscript(value)
            elif self._token.word == "IS":
                self._keyword("IS")
                self._take_keyword("NOT")
                self._keyword("NULL")
                value = Value()
            else:
                return value

    def _subscript(self, value: Value) -> Value:
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
            raise position_zero_error()
        if any(part.kind for part in parts) or (value.kind and slices) or (slices and not are_integer_literals(parts)):
            raise blocked(
                "slices of lists and strings need integer literals as bounds, and embeddings and paths cannot be sliced"
            )
        kind = "graph" if value.kind == "graph" else ""
        joined = combine_values([Value(copies=one.copies) for one in (value, *parts)])
        return Value(copies=max(1, joined.copies), collected=value.collected and slices, kind=kind)

    def _atom(self) -> Value:
        token = self._token
        if token.kind == "string":
            self._emit(token.text, spaced=token.spaced)
            return Value(literal=token.text)
        if token.kind == "number":
            self._emit(token.text, spaced=token.spaced)
            return Value(literal=int(token.text)) if token.text.isdigit() else Value()
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
            return Value(untyped=word == "NULL")
        if word == "CASE":
            return self._case()
        if word in ("EXISTS", "COUNT") and self._is("{", 1):
            return self._subquery()
        if word in ("ALL", "ANY", "NONE", "SINGLE") and self._is("(", 1):
            # These and functions with a lambda crash on lists with more than 2,048 elements in total (0.15.3).
            raise blocked(f"{word.lower()}() is not allowed; UNWIND the list, or write x IN list")
        if token.kind in ("word", "tick") and self._is("(", 1):
            return self._function()
        if word in READ_KEYWORDS:
            self._unexpected("a value was expected")
        name = self._name("a value").lower()
        value = self._scope.get(name, ONE)
        return Value(copies=max(1, value.copies), collected=value.collected, kind=value.kind)

    def _parameter(self) -> Value:
        token = self._token
        name = token.text[1:]
        if name not in self._parameters:
            raise blocked(f"the parameter ${visible(name)} has no value; write the value instead")
        if name.upper() in RESERVED:
            raise blocked(f"${name} is a keyword of the engine; rename the parameter")
        self.used_parameters.add(name)
        self._emit(token.text, spaced=token.spaced)
        return ONE

    def _parenthesis(self) -> Value:
        """Take a pattern such as ``(a)-[:LINKS_TO]->(b)``, or an expression in parentheses."""
        saved = self._at, len(self._out), self._nodes, self._relationships, self._hops, dict(self._scope), self._depth
        counted = self._operators, self._elements, self._doublings
        try:
            if self._chain():
                return Value()
        except _SyntaxMismatchError:
            pass  # not a pattern
        self._at, kept, self._nodes, self._relationships, self._hops, self._scope, self._depth = saved
        self._operators, self._elements, self._doublings = counted
        del self._out[kept:]
        self._deeper()
        self._sign("(")
        value = self._expression()
        self._sign(")")
        self._depth -= 1
        return value

    def _list(self) -> Value:
        self._deeper()
        self._sign("[")
        values = []
        while not self._is("]"):
            values.append(self._expression())
            if self._ahead(0).word in ("IN", "WHERE"):
                raise blocked("this dialect has no list comprehensions; UNWIND the list")
            if not self._take_sign(","):
                break
        self._sign("]")
        self._depth -= 1
        check_plain(values, "be put into a list")
        joined = combine_values(values, collected="be put into another list")
        return Value(copies=joined.copies, untyped=all(value.untyped for value in values))

    def _struct(self) -> Value:
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
            raise untyped_error()
        return Value(copies=combine_values(values, collected="be put into a map").copies, kind="map")

    def _count_doubling(self) -> None:
        self._doublings += 1
        if self._doublings > MAX_DOUBLINGS:
            raise blocked(f"CASE and nullif() are nested more than {MAX_DOUBLINGS} levels deep")

    def _case(self) -> Value:
        self._deeper()
        self._count_doubling()
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
            raise untyped_error()
        check_plain([*conditions, *results], "be used in a CASE")
        return Value(copies=combine_values([*conditions, *results], collected="be used in a CASE").copies)

    def _subquery(self) -> Value:
        self._deeper()
        outside = dict(self._scope)
        self._emit(self._token.word, spaced=True)
        self._sign("{")
        self._keyword("MATCH")
        self._pattern()
        if self._take_keyword("WHERE"):
            self._expression()
        if self._token.word == "RETURN":
            raise blocked("a subquery has no RETURN in this dialect: write EXISTS { MATCH … WHERE … }")
        self._sign("}")
        self._scope = outside
        self._depth -= 1
        return Value()

    def _function(self) -> Value:
        token = self._token
        name = token.word
        if name not in FUNCTIONS:
            raise blocked(
                f"{name} is not allowed: only {ALLOWED} are"
                if name in WRITE_KEYWORDS
                else f"the function {visible(token.text)}() is not allowed"
                + (f"; write {EQUIVALENTS[name]}" if name in EQUIVALENTS else "")
            )
        self._deeper()
        self._operators += 1
        if name == "NULLIF":
            self._count_doubling()
        self._emit(token.text, spaced=token.spaced)
        self._sign("(")
        if name == "CAST":
            value = self._cast()
        elif name == "COUNT" and self._take_sign("*"):
            value = Value()
        else:
            value = self._call(name)
        self._sign(")")
        self._depth -= 1
        if name == "NULLIF":
            self._doublings -= 1
        return value

    def _call(self, name: str) -> Value:
        distinct = self._take_keyword("DISTINCT")
        if distinct and name not in AGGREGATES:
            raise blocked(f"DISTINCT is not allowed in {name.lower()}()")
        values: list[Value] = []
        while not self._is(")"):
            values.append(self._expression())
            if not self._take_sign(","):
                break
        return self._check_call(name, values)

    def _check_call(self, name: str, values: list[Value]) -> Value:
        literals = [value.literal for value in values]
        untyped = [value.untyped for value in values]
        if not values and name not in WITHOUT_ARGUMENTS:
            raise blocked(f"{name.lower()}() takes a value")
        if all(untyped) if name in ("COALESCE", "IFNULL") and values else any(untyped):
            raise untyped_error()
        check_kinds(name, values)
        if name == "COLLECT":
            combine_values(values, collected="be collected again")
            return Value(copies=1, collected=not self._few_rows, kind=values[0].kind)
        if name in TAKES_POSITION and len(values) > 1 and literals[1] == 0:
            raise position_zero_error()
        if name in ("SUBSTRING", "SUBSTR") and not are_integer_literals(values[1:]):
            raise blocked(f"{name.lower()}() takes a position, counted from 1, and a length, both as integer literals")
        if name == "RANGE":
            return self._range(literals)
        if name in PADS:
            times = literals[1] if len(literals) > 1 else None
            if not isinstance(times, int) or times > MAX_PADDING:
                raise blocked(f"{name.lower()}() takes an integer literal of at most {MAX_PADDING}")
            copies = max(1, combine_values(values).copies)
            written_out = isinstance(literals[0], str)
            return combine_values([Value(copies=copies if name != "REPEAT" or written_out else copies * max(1, times))])
        if name in REGULAR_EXPRESSIONS:
            check_pattern(literals[1] if len(literals) > 1 else None)
            if not are_integer_literals(values[2:]):
                raise blocked("the group of a regular expression must be an integer literal")
        if name in SPLITS:
            separator = literals[1] if len(literals) > 1 else None
            if not isinstance(separator, str) or len(separator) < 3:
                raise blocked(f"{name.lower()}() takes a non-empty string literal as its separator")
        if name == "LIST_TO_STRING" and not isinstance(literals[0] if literals else None, str):
            raise blocked("list_to_string() takes a string literal as its first argument, the separator")
        if any(value.collected for value in values):
            return self._call_with_collected(name, values)
        kind = "graph" if name in RETURNS_GRAPH and values and values[0].kind == "graph" else ""
        if name == "PROPERTIES" and "embedding" in str(literals[-1]).lower():
            raise blocked("properties() cannot return embeddings")
        copies = combine_values(values).copies
        if name in AGGREGATES or name in PREDICATES or name in SCALAR_OF_LIST:
            return Value(copies=min(1, copies), kind=kind)
        return Value(copies=copies, kind=kind)

    def _call_with_collected(self, name: str, values: list[Value]) -> Value:
        if name not in TAKES_COLLECTED:
            raise blocked(
                f"{name.lower()}() cannot take a list from collect() over an unlimited number of rows; put WITH … "
                f"LIMIT {MAX_ELEMENTS} before the collect(), or UNWIND the list"
            )
        others = [value for value in values if not value.collected]
        if name == "LIST_SLICE" and any(not isinstance(value.literal, int) for value in others):
            raise blocked("a slice of a collected list needs integer literals as bounds")
        copies = combine_values(values).copies
        if name in SCALAR_OF_LIST:
            return Value(copies=min(1, copies))
        return Value(copies=max(1, copies), collected=True, kind=values[0].kind)

    def _range(self, literals: list[str | int | None]) -> Value:
        numbers = [literal for literal in literals if isinstance(literal, int)]
        if len(numbers) != len(literals) or len(numbers) not in (2, 3):
            raise blocked("range() takes integer literals")
        step = numbers[2] if len(numbers) == 3 else 1
        if step == 0:
            raise blocked("the step of range() cannot be 0")
        self._elements += max(0, (numbers[1] - numbers[0]) // step + 1)
        if self._elements > MAX_ELEMENTS or max(map(abs, numbers)) > 2**62:
            raise blocked(f"its ranges have more than {MAX_ELEMENTS:,} elements in total")
        return ONE

    def _regular_expression(self, token: Token) -> None:
        check_pattern(token.text if token.kind == "string" else None)

    def _cast(self) -> Value:
        value = self._expression()
        if value.untyped:
            value = ONE
        if self._take_sign(","):
            token = self._token
            if token.kind != "string":
                raise blocked("CAST takes the name of a type as a string literal")
            array = check_type(token.text[1:-1])
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
        array = check_type(text)
        self._out.append(text)
        return self._cast_value(value, array)

    def _cast_value(self, value: Value, array: bool) -> Value:
        check_plain([value], "be cast")
        copies = combine_values([value], collected="be cast").copies
        return Value(copies=copies, kind="array" if array else "")

"""Read RDF graphs in N-Triples and Turtle as a stream, with pyoxigraph."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from wikigr.errors import RecordError, SourceError
from wikigr.sources.article import SourceItem
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.statements import (
    MAX_NAME_LENGTH,
    RELATIONS,
    GraphRecord,
    Node,
    Role,
    Statement,
    SubjectRecord,
    gather,
    parse_graph_record,
)
from wikigr.sources.streams import ChunkStream, Line, line_place, open_bytes, read_lines
from wikigr.text import fold

# What the prefixes of ``RELATIONS`` stand for.
_BASES = {
    "rdf": ("http://www.w3.org/1999/02/22-rdf-syntax-ns#",),
    "rdfs": ("http://www.w3.org/2000/01/rdf-schema#",),
    "skos": ("http://www.w3.org/2004/02/skos/core#",),
    "schema": ("http://schema.org/", "https://schema.org/"),
    "foaf": ("http://xmlns.com/foaf/0.1/",),
    "dct": ("http://purl.org/dc/terms/",),
    "dc": ("http://purl.org/dc/elements/1.1/",),
    "dbo": ("http://dbpedia.org/ontology/",),
}
_ROLES = {
    f"{base}{local}": use
    for (prefix, _, local), use in ((name.partition(":"), use) for name, use in RELATIONS.items())
    for base in _BASES[prefix]
} | {"http://www.wikidata.org/prop/direct/P31": (Role.TYPE, 2)}
_BLANK = "_:"
# The parser labels [] and lists with 128 random bits.
_RANDOM_ID = re.compile(r"[0-9a-f]{24,32}")
# Invalid in strings, IRIs and everywhere else; the parser reports it and resumes at the next statement.
_INVALID_ESCAPE = "\\q"
# The parser raises MemoryError above its limit.
_TERM_TOO_LONG = "a name, value or comment is longer than the limit of 16 MiB"
_POSITION = re.compile(r"^Parser error (?:at|between) line \d+ .*?: ")


class RdfSource:
    """A graph in N-Triples (``.nt``) or Turtle (any other suffix).

    A subject is named by its label, otherwise by the last part of its IRI. Labels, aliases and descriptions are read
    in English or without a language tag, otherwise in the alphabetically first language.
    """

    format = "rdf"

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> Iterator[GraphRecord]:
        """Yield every unreadable statement, then one record per subject."""
        yield from gather(self._statements(), _qualifiers)

    def parse(self, record: GraphRecord) -> Iterator[SourceItem]:
        """Turn one subject into its article; raises ``RecordError`` with the line of a bad statement."""
        key = record.key if isinstance(record, SubjectRecord) else ""
        return parse_graph_record(record, url=key if key.startswith(("http://", "https://")) else "")

    def _statements(self) -> Iterator[Statement | RecordError]:
        is_lines = ".nt" in {suffix.lower() for suffix in self.path.suffixes}
        is_empty = True
        blank = _BlankNodes()
        with open_bytes(self.path) as stream:
            for item in _read_lines(stream, self.path) if is_lines else _read_turtle(stream, self.path):
                is_empty = False
                yield item if isinstance(item, RecordError) else _statement(item, blank)
        if is_empty:
            raise SourceError(f"{self.path} has no triples.")


def _read_lines(stream: BinaryIO, path: Path) -> Iterator[Any]:
    """Yield the triples of N-Triples; a bad line never affects other lines, unlike with the parser alone."""
    lines = read_lines(stream, path)
    while batch := _batch(lines):
        try:
            # Parsing many lines in one call takes a tenth of the time.
            yield from list(_parse(b"\n".join(line.data for line in batch)))
        except (SyntaxError, MemoryError):
            for line in batch:
                try:
                    yield from list(_parse(line.data))
                except SyntaxError as error:
                    yield RecordError(line.where, line.decoded()[1] or _POSITION.sub("", error.msg))
                except MemoryError:
                    yield RecordError(line.where, _TERM_TOO_LONG)
        for line in batch:
            if line.is_too_long:
                yield RecordError(line.where, line.decoded()[1])


def _batch(lines: Iterator[Line]) -> list[Line]:
    batch: list[Line] = []
    size = 0
    while size < 1 << 20 and len(batch) < 1_000 and (line := next(lines, None)) is not None:
        batch.append(line)
        size += len(line.data)
    return batch


def _parse(data: bytes) -> Iterator[Any]:
    import pyoxigraph

    return pyoxigraph.parse(input=data, format=pyoxigraph.RdfFormat.N_TRIPLES)


def _read_turtle(stream: BinaryIO, path: Path) -> Iterator[Any]:
    """Yield the triples of Turtle; the parser resumes after a bad statement unless a quote in it is never closed.

    Raises ``SourceError`` for a term that is too long, because the parser cannot find the next statement then.
    """
    import pyoxigraph

    problems: dict[int, str] = {}
    number = 0

    def checked() -> Iterator[bytes]:
        """Yield the lines; an unreadable one is altered so that the parser rejects it and resumes after it."""
        nonlocal number
        for line in read_lines(stream, path):
            number, data = line.line, line.data
            _, problem = line.decoded()
            if problem:
                problems[number] = problem
                # In a comment, neither the problem nor the invalid escape matters.
                data = data.decode("utf-8", "replace").replace("\ufffd", _INVALID_ESCAPE).encode()
            yield (data or _INVALID_ESCAPE.encode() * bool(problem)) + b"\n"

    lines = cast(Any, io.BufferedReader(ChunkStream(checked())))
    parser = pyoxigraph.parse(input=lines, format=pyoxigraph.RdfFormat.TURTLE, base_iri="file:///")
    while True:
        try:
            yield next(parser)
        except StopIteration:
            return
        except SyntaxError as error:
            reason = problems.get(error.lineno or 0) or _POSITION.sub("", error.msg)
            if "Unexpected end" in reason:
                reason = "the statement that begins here never ends, so nothing after it was read"
            yield RecordError(line_place(path, error.lineno or 0), reason)
        except MemoryError as error:
            raise SourceError(
                f"Cannot read {path} beyond line {number:,}: {_TERM_TOO_LONG}.",
                hint="Close the open quote there, or write the graph as N-Triples (.nt), where only that line is "
                "skipped.",
            ) from error


class _BlankNodes:
    """Names blank nodes by their label in the file, or by a number in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def node(self, label: str) -> Node:
        if _RANDOM_ID.fullmatch(label):
            label = f"anonymous {self._numbers.setdefault(label, len(self._numbers) + 1)}"
        return Node(_BLANK + label, f"blank node {label}")


def local_name(iri: str) -> str:
    """Return the last part of an IRI, percent-decoded; the host for an IRI without a path."""
    bare = iri.rstrip("#/:")
    cut = max(bare.rfind("#"), bare.rfind("/"), bare.rfind(":") if "/" not in bare else -1)
    return collapse_spaces(unquote(bare[cut + 1 :])) or iri


@lru_cache(maxsize=65_536)
def _named_node(iri: str) -> Node:
    return Node(iri, collapse_spaces(local_name(iri).replace("_", " ")) or iri)


def _qualifiers(key: str, name: str, spelled: str) -> tuple[str, str]:
    """Return what distinguishes nodes of the same name: the last part of the IRI unless it is the name, and the IRI."""
    del spelled
    if key.startswith(_BLANK):
        return key.removeprefix(_BLANK), key
    address = key.partition("://")[2] or key
    local = local_name(key)
    return (address if fold(local) == fold(name) else local), address


def _statement(quad: Any, blank: _BlankNodes) -> Statement | RecordError:
    import pyoxigraph

    subject = _node(quad.subject, blank)
    relation = local_name(quad.predicate.value)
    role, priority = _ROLES.get(quad.predicate.value, (Role.FACT, 0))
    if subject is None:
        return RecordError(str(quad.subject)[:MAX_NAME_LENGTH], "a statement about a statement is not supported")
    for name in (subject.key, relation):
        if len(name) > MAX_NAME_LENGTH:
            return RecordError(f"{name[:60]}…", f"the IRI has {len(name):,} characters, the limit is {MAX_NAME_LENGTH}")
    term = quad.object
    if not isinstance(term, pyoxigraph.Literal):
        node = _node(term, blank)
        if node is None:
            return RecordError(subject.key, "a statement about a statement is not supported")
        if len(node.key) > MAX_NAME_LENGTH:
            return Statement(subject, relation, node.key)
        return Statement(subject, relation, node, role if role is Role.TYPE else Role.FACT)
    text = str(term.value)
    if not text.strip():
        return RecordError(subject.key, f"the value of {relation} is empty")
    if role in (Role.NAME, Role.ALIAS) and (len(text) > MAX_NAME_LENGTH or not fold(collapse_spaces(text))):
        # Unusable as a name, but still a fact.
        role, priority = Role.FACT, 0
    if role in (Role.NAME, Role.ALIAS):
        text = collapse_spaces(text)
    return Statement(subject, relation, text, role, language=(term.language or "").lower(), priority=priority)


def _node(term: Any, blank: _BlankNodes) -> Node | None:
    import pyoxigraph

    if isinstance(term, pyoxigraph.NamedNode):
        return _named_node(term.value)
    return blank.node(term.value) if isinstance(term, pyoxigraph.BlankNode) else None

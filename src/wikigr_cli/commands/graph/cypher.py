"""``wikigr graph cypher`` and ``wikigr graph schema``: read-only queries, and the schema to write them for."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment, read_stdin
from wikigr_cli.render.graph import note_truncation, print_rows, print_schema, rows_document
from wikigr_cli.render.output import SCHEMA_VERSION, print_result

_MAX_TIMEOUT = 3600.0
# The engine reports a malformed query with these words. Every other failure is a run-time error.
_MALFORMED = re.compile(r"The query failed: (?:Binder|Parser) exception: ")


def cypher(
    context: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY|-", help="A read-only query, or - to read it from standard input.")
    ],
    pack: options.PackName = None,
    limit: Annotated[
        int, options.Retrieval("--top-k", "-k", min=1, max=100_000, help="The maximum number of rows.")
    ] = 100,
    timeout: Annotated[float, options.Retrieval(metavar="SECONDS", help="Interrupt the query after this time.")] = 10.0,
    json_output: options.Json = False,
) -> None:
    """Run a read-only Cypher query on the pack. Queries that write or have no bound are refused (exit 2).

    A result wider than 80 columns is printed with one value on each line.

    \b
    Examples:
      wikigr graph cypher "MATCH (a:Article) RETURN a.title" -p packs/physics -k 3
      wikigr graph cypher "MATCH (e:Entity) RETURN e.name" -p packs/physics --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)
    if not 0.0 < timeout <= _MAX_TIMEOUT:
        raise UsageError(f"--timeout must be above 0 and at most {_MAX_TIMEOUT:g} seconds, not {timeout:g}.")

    from wikigr.graph.engine import QueryError
    from wikigr.pack.layout import DATABASE, MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.retrieval.cypher.dialect import BlockedQueryError
    from wikigr.retrieval.cypher.runner import QueryRunner
    from wikigr.text import scrub

    text = scrub(read_stdin(environment, "the query") if query == "-" else query)
    layout = find_pack(pack)
    with layout.reading():
        read_manifest(layout.part(MANIFEST))
        runner = QueryRunner(layout.part(DATABASE))
    with closing(runner):
        try:
            result = runner.run(text, max_rows=limit, timeout=timeout)
        except BlockedQueryError as error:
            raise UsageError(error.message, hint=error.hint) from error
        except QueryError as error:
            if not _MALFORMED.match(error.message):
                raise
            hint = error.hint or "`wikigr graph schema` shows labels, properties and relations."
            raise UsageError(error.message, hint=hint) from error
    print_result(environment, rows_document(result), print_rows, as_json=json_output)
    note_truncation(environment, "--top-k shows more rows.", truncated=result.truncated)
    if result.cut:
        environment.note("Long texts and lists are cut, marked with an ellipsis (…).")
    if environment.verbosity > 0:
        environment.note(f"Executed in {result.milliseconds:.1f} ms: {result.executed}")


def schema(
    context: typer.Context,
    pack: options.PackName = None,
    most: Annotated[
        int, options.Retrieval("--top-k", "-k", min=0, help="The maximum number of the pack's relations to list.")
    ] = 30,
    json_output: options.Json = False,
) -> None:
    """Show what a query can use: labels, properties, relationships and the most frequent relations.

    \b
    Examples:
      wikigr graph schema --pack packs/physics
      wikigr graph schema --pack packs/physics --top-k 5 --json
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.retrieval.explore.graph_schema import describe_schema

    with Pack(pack) as opened:
        described = describe_schema(opened.graph, Neighborhood(opened.graph), max_relations=most)
    document = {"schema_version": SCHEMA_VERSION, **described.to_dict()}
    print_result(environment, document, print_schema, as_json=json_output)
    note_truncation(environment, "--top-k lists more relations.", truncated=described.truncated)

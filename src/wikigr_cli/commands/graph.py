"""``wikigr graph``: the graph of a pack by itself: names, neighbors, triplets, paths, Cypher, schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment, plain, strict_utf8
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.render import graph as render_graph
from wikigr_cli.render import output as render

if TYPE_CHECKING:
    from wikigr.graph.neighborhood import Neighborhood, Node
    from wikigr.pack.open import Pack
    from wikigr.retrieval.entity_linking import EntityLinker, Link

app = typer.Typer(
    help="Look into the graph of a pack: names, neighbors, triplets, paths, Cypher, schema.",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EXIT_CODES_HELP,
)

# Articles whose nearness to the question decides between nodes of one name.
_CONTEXT_ARTICLES = 100
_MAX_TIMEOUT = 3600.0
# What the engine says of a query that it does not understand; anything else is a failure at run time.
_MALFORMED = re.compile(r"The query failed: (?:Binder|Parser) exception: ")


class Direction(StrEnum):
    OUT = "out"
    IN = "in"
    BOTH = "both"


Question = Annotated[str, typer.Argument(help="The question.")]


@app.command("link", epilog=EXIT_CODES_HELP)
def link(
    context: typer.Context,
    question: Question,
    pack: Annotated[str | None, options.pack_option("graph_link")] = None,
    fuzzy: Annotated[bool, typer.Option("--fuzzy/--no-fuzzy", help="Also find capitalized names with a typo.")] = True,
    semantic: Annotated[
        int, typer.Option(metavar="N", min=0, max=1000, help="Add the N articles nearest to the question as vectors.")
    ] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many links at most.")] = 50,
    json_output: options.Json = False,
) -> None:
    """Show the articles and entities that a question names, and how sure each link is."""
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.pack.open import Pack
    from wikigr.question.question import checked
    from wikigr.retrieval.entity_linking import is_read_whole

    question = checked(question)
    with Pack(pack, preload=semantic > 0) as opened:
        links = _links(opened, question, fuzzy=fuzzy)
        if semantic:
            from wikigr.retrieval.entity_linking import link_by_meaning, nearest_articles

            links += link_by_meaning(question, nearest_articles(question, opened, semantic))
        warnings = _warnings(environment, opened)
    if not is_read_whole(question):
        warnings.append("The question is long: names were looked for at its beginning only.")
        environment.note(warnings[-1])
    document = render_graph.links_document(question, links, limit, warnings)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.links(environment, document)
    _truncated(environment, document["truncated"], "--limit shows more links.")


@app.command("neighbors", epilog=EXIT_CODES_HELP)
def neighbors(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="An article or entity; case and underscores do not matter.")],
    pack: Annotated[str | None, options.pack_option("graph_neighbors")] = None,
    relation: Annotated[
        str | None, typer.Option(metavar="R", help="Only LINKS_TO, MENTIONS, HAS_ENTITY or a relation of the pack.")
    ] = None,
    direction: Annotated[Direction, typer.Option(help="Edges away from it, towards it, or both.")] = Direction.BOTH,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="How many edges of each kind and direction at most; facts are one.")
    ] = 20,
    json_output: options.Json = False,
) -> None:
    """Show the edges around an article or entity."""
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        neighborhood = Neighborhood(opened.graph)
        (node,) = find_nodes(environment, _linker(opened), neighborhood, [name])
        found = neighborhood.expand(
            [node],
            relations=None if relation is None else [_relation(relation, neighborhood)],
            inverse=None if direction is Direction.BOTH else direction is Direction.IN,
            most=limit,
        )
        warnings = _warnings(environment, opened)
    document = render_graph.neighbors_document(node, found.edges[node], bool(found.cut), warnings)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.neighbors(environment, document)
    _truncated(environment, document["truncated"], "--limit shows more edges of a kind, --relation one kind only.")


@app.command("triplets", epilog=EXIT_CODES_HELP)
def triplets(
    context: typer.Context,
    question: Question,
    pack: Annotated[str | None, options.pack_option("graph_triplets")] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="NAME", help="Start from this article or entity (repeatable)."),
    ] = None,
    max_relations: Annotated[int, typer.Option(min=1, help="Relations followed in each iteration.")] = 5,
    max_entities: Annotated[int, typer.Option(min=1, help="Entities explored in each iteration.")] = 5,
    max_iterations: Annotated[int, typer.Option(min=1, max=100, help="Iterations, each a hop further.")] = 3,
    max_triplets: Annotated[int, typer.Option(min=1, help="Triplets of all iterations together.")] = 60,
    json_output: options.Json = False,
) -> None:
    """Follow from what a question names the relations that are most like its words; asks no model."""
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.question.question import checked

    question = checked(question)
    with Pack(pack, preload=True) as opened:
        from wikigr.retrieval.explore.rule_pruner import RulePruner
        from wikigr.retrieval.explore.triplets import TripletRetriever

        neighborhood = Neighborhood(opened.graph)
        if sources:
            starts = find_nodes(environment, _linker(opened), neighborhood, sources)
        else:
            links = sorted(_links(opened, question), key=lambda found: (-found.score, found.start, found.node))
            starts = list(dict.fromkeys(neighborhood.unified(found.node) for found in links))
        retriever = TripletRetriever(
            neighborhood,
            RulePruner(opened.encoder, opened.graph),
            max_num_relations=max_relations,
            max_num_entities=max_entities,
            max_num_iterations=max_iterations,
            max_num_triplets=max_triplets,
        )
        result = retriever.retrieve(question, starts)
        warnings = _warnings(environment, opened)
    document = render_graph.triplets_document(question, starts, result, warnings)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.triplets(environment, document)
    _truncated(environment, result.truncated, "the --max-… options let it go further.")


@app.command("paths", epilog=EXIT_CODES_HELP)
def paths(
    context: typer.Context,
    start: Annotated[str, typer.Argument(metavar="A", help="An article or entity.")],
    end: Annotated[str | None, typer.Argument(metavar="[B]", help="Another; may be left out with --metapath.")] = None,
    pack: Annotated[str | None, options.pack_option("graph_paths")] = None,
    metapath: Annotated[
        str | None,
        typer.Option(metavar="STEPS", help='Go along these relations: "director -> born_in"; ~R goes backwards.'),
    ] = None,
    max_hops: Annotated[int, typer.Option(min=1, help="Edges of a shortest path at most, up to 8.")] = 4,
    max_paths: Annotated[int, typer.Option(min=1, max=10_000, help="How many paths at most.")] = 10,
    json_output: options.Json = False,
) -> None:
    """Show the shortest paths between two nodes, edges walked either way; or the paths along a metapath.

    ~R in a path is an edge R that points the other way.
    """
    environment = context.ensure_object(Environment)
    pack = options.named(pack)
    if end is None and metapath is None:
        raise UsageError(
            "Give two names, or one and --metapath.", hint='Example: wikigr graph paths "Isaac Newton" "Moon"'
        )

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.retrieval.explore.paths import follow_metapath, parse_metapath, shortest_paths
    from wikigr.text import scrub

    with Pack(pack) as opened:
        neighborhood = Neighborhood(opened.graph)
        steps = None if metapath is None else parse_metapath(scrub(metapath), neighborhood)
        nodes = find_nodes(environment, _linker(opened), neighborhood, [start] if end is None else [start, end])
        target = nodes[1] if end is not None else None
        if steps is not None:
            found = follow_metapath(neighborhood, nodes[0], steps, target=target, max_paths=max_paths)
        else:
            found = shortest_paths(neighborhood, *nodes, max_hops=max_hops, max_paths=max_paths)
        warnings = _warnings(environment, opened)
    document = render_graph.paths_document(nodes[0], target, steps, found, warnings)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.paths(environment, document, max_hops)
    if found.paths:
        all_shown = len(found.paths) < max_paths
        more = "the search had to stop before its end." if all_shown else "--max-paths shows more paths."
    else:
        more = f"a {'smaller --max-hops' if steps is None else 'shorter metapath'} may be searched to its end."
    _truncated(environment, found.truncated, more)


@app.command("cypher", epilog=EXIT_CODES_HELP)
def cypher(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY|-", help="A query that only reads, or - for standard input.")],
    pack: Annotated[str | None, options.pack_option("graph_cypher")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many rows at most.")] = 100,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Interrupt the query after so long.")] = 10.0,
    json_output: options.Json = False,
) -> None:
    """Run a Cypher query on the pack. What does more than read, or has no bound, is refused (exit 2).

    A result that is too wide for 80 columns is printed one value a line.
    """
    environment = context.ensure_object(Environment)
    pack = options.named(pack)
    if not 0.0 < timeout <= _MAX_TIMEOUT:
        raise UsageError(f"--timeout must be a number of seconds up to {_MAX_TIMEOUT:g}, not {timeout:g}.")

    from wikigr.graph.engine import QueryError
    from wikigr.pack.open import Pack
    from wikigr.retrieval.cypher.runner import run_query
    from wikigr.retrieval.cypher.tokens import BlockedQueryError
    from wikigr.text import scrub

    try:
        text = scrub(strict_utf8(environment.stdin).read() if query == "-" else query)
    except UnicodeDecodeError as error:
        raise UsageError(f"The query on standard input is no UTF-8 text: {error.reason}.") from error
    with Pack(pack) as opened:
        try:
            result = run_query(opened.graph, text, max_rows=limit, timeout=timeout)
        except BlockedQueryError as error:
            raise UsageError(error.message, hint=error.hint) from error
        except QueryError as error:
            if not _MALFORMED.match(error.message):
                raise
            hint = error.hint or "`wikigr graph schema` shows labels, properties and relations."
            raise UsageError(error.message, hint=hint) from error
    document = render_graph.rows_document(result)
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.rows(environment, document)
    _truncated(environment, result.truncated, "--limit shows more rows.")
    if result.cut:
        environment.note("Long texts and lists are cut: … stands for the rest.")
    if environment.verbosity > 0:
        environment.note(f"Executed in {result.milliseconds:.1f} ms: {plain(result.executed)}")


@app.command("schema", epilog=EXIT_CODES_HELP)
def schema(
    context: typer.Context,
    pack: Annotated[str | None, options.pack_option("graph_schema")] = None,
    most: Annotated[int, typer.Option("--relations", min=0, help="How many of the pack's relations to list.")] = 30,
    json_output: options.Json = False,
) -> None:
    """Show what a query can use: labels, properties, relationships with their directions, the commonest relations."""
    environment = context.ensure_object(Environment)
    pack = options.named(pack)

    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.retrieval.explore.graph_schema import describe_schema

    with Pack(pack) as opened:
        described = describe_schema(opened.graph, Neighborhood(opened.graph), most_relations=most)
    document = {"schema_version": render.SCHEMA_VERSION, **described.to_dict()}
    if json_output:
        render.json_document(environment, document)
    else:
        render_graph.schema(environment, document)
    _truncated(environment, described.truncated, "--relations lists more relations.")


def _links(pack: Pack, question: str, *, fuzzy: bool = True) -> list[Link]:
    """Return the links of ``question``; where several nodes bear a name, its nearness to them decides."""
    from wikigr.retrieval.entity_linking import nearest_articles

    linker = _linker(pack)
    links = linker.link_question(question, fuzzy=fuzzy)
    if len({(found.start, found.end) for found in links}) < len(links):
        relevance = nearest_articles(question, pack, _CONTEXT_ARTICLES)
        links = linker.link_question(question, fuzzy=fuzzy, relevance=relevance)
    return links


def _linker(pack: Pack) -> EntityLinker:
    from wikigr.retrieval.entity_linking import EntityLinker

    return EntityLinker(pack.graph_index, pack.lexical)


def find_nodes(
    environment: Environment, linker: EntityLinker, neighborhood: Neighborhood, names: Sequence[str]
) -> list[Node]:
    """Return the node of each name; what was taken for one with a typo, or before others, is said on stderr."""
    from wikigr.text import scrub

    nodes = []
    for name in map(scrub, names):
        found = linker.find(name, neighborhood)
        label = plain(found.node.label)
        if found.method == "fuzzy":
            environment.note(f"Nothing is called {plain(name)!r}; {label!r} was taken.")
            nodes.append(found.node)
            continue
        # Spelled exactly as it is, nothing else was meant but what is spelled so too.
        is_exact = " ".join(name.split()) == found.node.label
        rivals = [other for other in found.others if not is_exact or other.label == found.node.label]
        if rivals:
            others = ", ".join(repr(plain(other.label)) for other in rivals[:3])
            more = f" and {len(rivals) - 3} more" if len(rivals) > 3 else ""
            environment.note(f"{plain(name)!r} was taken for {label!r}; others of that name: {others}{more}.")
        nodes.append(found.node)
    return nodes


def _relation(name: str, neighborhood: Neighborhood) -> str:
    """Return the stored name of a relation."""
    from wikigr.retrieval.explore.paths import parse_metapath
    from wikigr.text import scrub

    steps = parse_metapath(scrub(name), neighborhood)
    if len(steps) != 1 or steps[0].inverse:
        raise UsageError(f"--relation takes one relation, not {name!r}.", hint="--direction in gives inverse edges.")
    return steps[0].relation


def _warnings(environment: Environment, pack: Pack) -> list[str]:
    warnings = [pack.graph_index_warning] if pack.graph_index_warning else []
    for warning in warnings:
        environment.note(f"wikigr: {plain(warning)}")
    return warnings


def _truncated(environment: Environment, truncated: bool, mend: str) -> None:
    if truncated:
        environment.note(f"Truncated: {mend}")

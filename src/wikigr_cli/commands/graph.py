"""``wikigr graph``: the graph of a pack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Literal

from wikigr.errors import UsageError
from wikigr_cli.command import Result, command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment, read_stdin
from wikigr_cli.options import Argument, Input, Retrieval
from wikigr_cli.render import graph as render
from wikigr_cli.render.output import Document

if TYPE_CHECKING:
    from wikigr.pack.open import Corpus
    from wikigr.retrieval.entity_linking import EntityLink

# Nodes with the same name are ranked by the similarity of this many articles to the question.
_CONTEXT_ARTICLES = 100


@command(
    render.print_links,
    fuzzy=Retrieval("--fuzzy/--no-fuzzy", help="Also match capitalized names with a typo."),
    semantic=Retrieval(metavar="N", min=0, max=1000, help="Add the N articles whose vectors are nearest."),
)
def link(
    environment: Environment, question: str, pack: str, fuzzy: bool = True, semantic: int = 0, top_k: int = 50
) -> Iterator[Document]:
    """Show the articles and entities that a question names.

    Each has the score of its link.

    Examples:
      wikigr graph link "Did Bohr teach Heisenberg?" --pack packs/physics
      wikigr graph link "wave mechanics" --pack packs/physics --semantic 3
    """
    from wikigr.pack.open import Pack
    from wikigr.question.question import checked
    from wikigr.retrieval.entity_linking import fits_linker, link_by_meaning, nearest_articles

    question = checked(question)
    with Pack(pack, preload=semantic > 0) as opened:
        links = link_question(opened, question, fuzzy=fuzzy)
        if semantic:
            links += link_by_meaning(question, nearest_articles(question, opened, semantic))
        warnings = render.print_warnings(environment, opened)
    if not fits_linker(question):
        warnings.append("The question is long: only its beginning was searched for names.")
        environment.note(warnings[-1])
    document = render.links_document(question, links, top_k, warnings)
    yield document
    render.note_truncation(environment, "--top-k shows more links.", truncated=document["truncated"])


def link_question(pack: Corpus, question: str, *, fuzzy: bool = True) -> list[EntityLink]:
    """Return the links of ``question``; similarity to the question decides between nodes of the same name."""
    from wikigr.retrieval.entity_linking import nearest_articles, open_linker

    linker = open_linker(pack)
    links = linker.link_question(question, fuzzy=fuzzy)
    if len({(link.start, link.end) for link in links}) < len(links):
        relevance = nearest_articles(question, pack, _CONTEXT_ARTICLES)
        links = linker.link_question(question, fuzzy=fuzzy, relevance=relevance)
    return links


@command(
    render.print_neighbors,
    name=Argument(metavar="NAME...", help="An article or entity. Case and underscores do not matter."),
    relation=Retrieval(metavar="R", help="Show only LINKS_TO, MENTIONS, HAS_ENTITY or this relation of the pack."),
    direction=Retrieval(help="Show outgoing edges, incoming edges or both."),
)
def neighbors(
    environment: Environment,
    name: str,
    pack: str,
    relation: str | None = None,
    direction: Literal["out", "in", "both"] = "both",
    top_k: int = 20,
) -> Iterator[Document]:
    """Show the edges of an article or entity.

    --top-k counts the edges of each kind and direction; all facts are one kind.

    Examples:
      wikigr graph neighbors Louis de Broglie --pack packs/physics
      wikigr graph neighbors Spin --direction in -k 5 --pack packs/physics
    """
    from wikigr.documents.graph import neighbors_document
    from wikigr.pack.open import Pack

    inverse = None if direction == "both" else direction == "in"
    with Pack(pack) as opened:
        document = neighbors_document(
            opened, name, relation=relation, inverse=inverse, limit=top_k, note=environment.note
        )
        render.print_warnings(environment, opened)
    yield document
    hint = "--top-k shows more edges of a kind, --relation one kind only."
    render.note_truncation(environment, hint, truncated=document["truncated"])


@command(
    render.print_triplets,
    start=Input(metavar="NAME", help="Start from this article or entity. Repeatable."),
    max_relations=Retrieval(min=1, help="The maximum number of relations to follow in an iteration."),
    max_entities=Retrieval(min=1, help="The maximum number of entities to explore in an iteration."),
    max_iterations=Retrieval(min=1, max=100, help="The maximum number of iterations; each goes one hop further."),
)
def triplets(
    environment: Environment,
    question: str,
    pack: str,
    start: list[str] | None = None,
    max_relations: int = 5,
    max_entities: int = 5,
    max_iterations: int = 3,
    top_k: int = 60,
) -> Iterator[Document]:
    """Explore the relations most similar to a question.

    It begins at the nodes that the question names, and calls no model.

    Examples:
      wikigr graph triplets "What did Bohr change?" --pack packs/physics
      wikigr graph triplets "Who knew him?" --start Spin -p packs/physics
    """
    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.pack.open import Pack
    from wikigr.question.question import checked

    question = checked(question)
    with Pack(pack, preload=True) as opened:
        # Imported while the encoder loads.
        from wikigr.graph_search.explore.rule_pruner import RulePruner
        from wikigr.graph_search.explore.triplets import TripletRetriever
        from wikigr.retrieval.entity_linking import open_linker
        from wikigr.retrieval.name_matching import find_nodes

        neighborhood = Neighborhood(opened.graph)
        if start:
            starts = find_nodes(start, open_linker(opened).matcher, neighborhood, environment.note)
        else:
            links = sorted(link_question(opened, question), key=lambda link: (-link.score, link.start, link.node))
            starts = list(dict.fromkeys(neighborhood.unified(link.node) for link in links))
        retriever = TripletRetriever(
            neighborhood,
            RulePruner(opened.encoder, opened.graph),
            max_num_relations=max_relations,
            max_num_entities=max_entities,
            max_num_iterations=max_iterations,
            max_num_triplets=top_k,
        )
        result = retriever.retrieve(question, starts)
        warnings = render.print_warnings(environment, opened)
    document = render.triplets_document(question, starts, result, warnings)
    yield document
    hint = "raise --top-k and the --max-... limits to explore further."
    render.note_truncation(environment, hint, truncated=result.truncated)


@command(
    start=Argument(metavar="A", help="The first article or entity."),
    end=Argument(metavar="[B]", help="The last article or entity; optional with --metapath."),
    metapath=Retrieval(metavar="STEPS", help='Follow these relations: "director -> born_in". ~R follows R backward.'),
    max_hops=Retrieval(min=1, help="The maximum number of edges in a shortest path, up to 8."),
)
def paths(
    environment: Environment,
    start: str,
    end: str | None = None,
    *,
    pack: str,
    metapath: str | None = None,
    max_hops: int = 4,
    top_k: int = 10,
) -> Iterator[Result]:
    """Show the paths between two nodes, or along a metapath.

    Shortest paths follow edges in both directions. ~R in a path is an edge R in the opposite direction.

    Examples:
      wikigr graph paths Spin "Louis de Broglie" --pack packs/physics
      wikigr graph paths Spin --metapath "LINKS_TO" -k 3 --pack packs/physics
    """
    if end is None and metapath is None:
        raise UsageError(
            "Give two names, or one name and --metapath.", hint='Example: wikigr graph paths "Isaac Newton" "Moon"'
        )

    from wikigr.documents.graph import paths_document
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        document = paths_document(
            opened, start, end, metapath=metapath, max_hops=max_hops, max_paths=top_k, note=environment.note
        )
        render.print_warnings(environment, opened)
    yield document, partial(render.print_paths, max_hops=max_hops)
    if not document["paths"]:
        hint = f"a {'smaller --max-hops' if metapath is None else 'shorter metapath'} can be searched completely."
    else:
        hint = "--top-k shows more paths." if len(document["paths"]) == top_k else "the search stopped at its limit."
    render.note_truncation(environment, hint, truncated=document["truncated"])


# The longest query, in seconds.
_MAX_TIMEOUT = 3600.0
# The engine reports a malformed query with these words. Every other failure is a run-time error.
_MALFORMED = re.compile(r"The query failed: (?:Binder|Parser) exception: ")


@command(
    render.print_rows,
    query=Argument(metavar="QUERY|-", help="A read-only query, or - to read it from standard input."),
    timeout=Retrieval(metavar="SECONDS", help="Interrupt the query after this time."),
)
def cypher(
    environment: Environment, query: str, pack: str, top_k: int = 100, timeout: float = 10.0
) -> Iterator[Document]:
    """Run a read-only Cypher query on the pack. Queries that write or have no bound are refused (exit 2).

    A result wider than 80 columns is printed with one value on each line.

    Examples:
      wikigr graph cypher "MATCH (a:Article) RETURN a.title" -p packs/physics -k 3
      wikigr graph cypher "MATCH (e:Entity) RETURN e.name" -p packs/physics --json
    """
    if not 0.0 < timeout <= _MAX_TIMEOUT:
        raise UsageError(f"--timeout must be above 0 and at most {_MAX_TIMEOUT:g} seconds, not {timeout:g}.")

    from wikigr.graph.engine import QueryError
    from wikigr.graph_search.cypher.dialect import BlockedQueryError
    from wikigr.graph_search.cypher.runner import QueryRunner
    from wikigr.pack.layout import DATABASE, MANIFEST
    from wikigr.pack.locate import find_pack
    from wikigr.pack.manifest import read_manifest
    from wikigr.text import scrub

    text = scrub(read_stdin(environment, "the query") if query == "-" else query)
    layout = find_pack(pack)
    with layout.reading():
        read_manifest(layout.part(MANIFEST))
        runner = QueryRunner(layout.part(DATABASE))
    with closing(runner):
        try:
            result = runner.run(text, max_rows=top_k, timeout=timeout)
        except (BlockedQueryError, QueryError) as error:
            if not isinstance(error, BlockedQueryError) and not _MALFORMED.match(error.message):
                raise
            hint = error.hint or "`wikigr graph schema` shows labels, properties and relations."
            raise UsageError(error.message, hint=hint) from error
    yield render.rows_document(result)
    render.note_truncation(environment, "--top-k shows more rows.", truncated=result.truncated)
    if result.cut:
        environment.note("Long texts and lists are cut, marked with an ellipsis (…).")
    if environment.verbosity > 0:
        environment.note(f"Executed in {result.milliseconds:.1f} ms: {result.executed}")


@command(render.print_schema)
def schema(environment: Environment, pack: str, top_k: int = 30) -> Iterator[Document]:
    """Show what a query can use, such as labels and properties.

    It also shows the relationships and the most frequent relations, at most --top-k of them.

    Examples:
      wikigr graph schema --pack packs/physics
      wikigr graph schema --pack packs/physics --top-k 5 --json
    """
    from wikigr.graph.neighborhood import Neighborhood
    from wikigr.graph_search.explore.graph_schema import describe_schema
    from wikigr.pack.open import Pack

    with Pack(pack) as opened:
        described = describe_schema(opened.graph, Neighborhood(opened.graph), max_relations=top_k)
    yield described
    render.note_truncation(environment, "--top-k lists more relations.", truncated=described["truncated"])


graph = group(
    """Explore how the articles of a pack are connected.

    Examples:
      wikigr graph neighbors Spin --pack packs/physics
    """,
    {"link": link, "neighbors": neighbors, "triplets": triplets, "paths": paths, "cypher": cypher, "schema": schema},
)

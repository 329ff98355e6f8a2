"""Steps that several graph commands share: resolve names, link questions, report warnings and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from wikigr_cli.environment import Environment, plain
from wikigr_cli.options import QUESTION_HELP
from wikigr_cli.render.output import print_warning

if TYPE_CHECKING:
    from wikigr.graph.neighborhood import Neighborhood, Node
    from wikigr.pack.open import Pack
    from wikigr.retrieval.entity_linking import EntityLinker, Link

# Nodes with the same name are ranked by the similarity of this many articles to the question.
_CONTEXT_ARTICLES = 100
# A note on an ambiguous name lists this many of the other nodes.
_MAX_OTHERS = 3

Question = Annotated[str, typer.Argument(metavar="QUESTION...", help=QUESTION_HELP)]


def open_linker(pack: Pack) -> EntityLinker:
    """Return the entity linker of an open pack."""
    from wikigr.retrieval.entity_linking import EntityLinker

    return EntityLinker(pack.graph_index, pack.lexical)


def link_question(pack: Pack, question: str, *, fuzzy: bool = True) -> list[Link]:
    """Return the links of ``question``; similarity to the question decides between nodes of the same name."""
    from wikigr.retrieval.entity_linking import nearest_articles

    linker = open_linker(pack)
    links = linker.link_question(question, fuzzy=fuzzy)
    if len({(link.start, link.end) for link in links}) < len(links):
        relevance = nearest_articles(question, pack, _CONTEXT_ARTICLES)
        links = linker.link_question(question, fuzzy=fuzzy, relevance=relevance)
    return links


def find_nodes(
    environment: Environment, linker: EntityLinker, neighborhood: Neighborhood, names: Sequence[str]
) -> list[Node]:
    """Return the node of each name; a note on stderr reports a corrected or an ambiguous name."""
    from wikigr.retrieval.node_lookup import find_node
    from wikigr.text import scrub

    nodes = []
    for name in map(scrub, names):
        found = find_node(name, linker.matcher, neighborhood)
        nodes.append(found.node)
        label = plain(found.node.label)
        if found.method == "fuzzy":
            environment.note(f"Nothing is named {plain(name)!r}; using {label!r} instead.")
            continue
        # An exact spelling is ambiguous only among nodes with the same spelling.
        is_exact = " ".join(name.split()) == found.node.label
        others = [other for other in found.others if not is_exact or other.label == found.node.label]
        if others:
            listed = ", ".join(repr(plain(other.label)) for other in others[:_MAX_OTHERS])
            more = f" and {len(others) - _MAX_OTHERS} more" if len(others) > _MAX_OTHERS else ""
            environment.note(f"Using {label!r} for {plain(name)!r}; others with that name: {listed}{more}.")
    return nodes


def find_article(environment: Environment, pack: Pack, name: str) -> str:
    """Return the title of the article called ``name``; raises ``UsageError`` with suggestions if there is none."""
    from wikigr.errors import UsageError
    from wikigr.graph.neighborhood import Neighborhood

    title = pack.find_title(name)
    if title is not None:
        return title
    (node,) = find_nodes(environment, open_linker(pack), Neighborhood(pack.graph), [name])
    if node.kind != "article":
        raise UsageError(
            f"{node.label!r} is an entity, not an article.", hint="`wikigr graph neighbors` shows its edges."
        )
    return node.key


def print_warnings(environment: Environment, pack: Pack) -> list[str]:
    """Print and return the warnings about the graph of ``pack``."""
    warnings = [pack.graph_index_warning] if pack.graph_index_warning else []
    for warning in warnings:
        print_warning(environment, warning)
    return warnings


def note_truncation(environment: Environment, hint: str, *, truncated: bool) -> None:
    """Say on stderr that the result is ``truncated``, and how to get more."""
    if truncated:
        environment.note(f"Truncated: {hint}")

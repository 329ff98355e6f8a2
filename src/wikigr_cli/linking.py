"""Steps that several graph commands share: link questions, report warnings and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wikigr_cli.environment import Environment
from wikigr_cli.options import QUESTION_HELP
from wikigr_cli.render.output import print_warning

if TYPE_CHECKING:
    from wikigr.pack.open import Corpus
    from wikigr.retrieval.entity_linking import EntityLink

# Nodes with the same name are ranked by the similarity of this many articles to the question.
_CONTEXT_ARTICLES = 100

Question = Annotated[str, typer.Argument(metavar="QUESTION...", help=QUESTION_HELP)]


def link_question(pack: Corpus, question: str, *, fuzzy: bool = True) -> list[EntityLink]:
    """Return the links of ``question``; similarity to the question decides between nodes of the same name."""
    from wikigr.retrieval.entity_linking import nearest_articles, open_linker

    linker = open_linker(pack)
    links = linker.link_question(question, fuzzy=fuzzy)
    if len({(link.start, link.end) for link in links}) < len(links):
        relevance = nearest_articles(question, pack, _CONTEXT_ARTICLES)
        links = linker.link_question(question, fuzzy=fuzzy, relevance=relevance)
    return links


def print_warnings(environment: Environment, pack: Corpus) -> list[str]:
    """Print and return the warnings about the graph of ``pack``."""
    warnings = [pack.graph_index_warning] if pack.graph_index_warning else []
    for warning in warnings:
        print_warning(environment, warning)
    return warnings


def note_truncation(environment: Environment, hint: str, *, truncated: bool) -> None:
    """Say on stderr that the result is ``truncated``, and how to get more."""
    if truncated:
        environment.note(f"Truncated: {hint}")

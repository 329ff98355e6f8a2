"""``wikigr graph link``: the articles and entities that a question names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.render.graph import links_document, note_truncation, print_links, print_warnings
from wikigr_cli.render.output import print_result

if TYPE_CHECKING:
    from wikigr.pack.open import Corpus
    from wikigr.retrieval.entity_linking import EntityLink

# Nodes with the same name are ranked by the similarity of this many articles to the question.
_CONTEXT_ARTICLES = 100


def link(
    context: typer.Context,
    question: options.RequiredQuestion,
    pack: options.PackName = None,
    fuzzy: Annotated[
        bool, options.Retrieval("--fuzzy/--no-fuzzy", help="Also match capitalized names with a typo.")
    ] = True,
    semantic: Annotated[
        int, options.Retrieval(metavar="N", min=0, max=1000, help="Add the N articles whose vectors are nearest.")
    ] = 0,
    limit: Annotated[
        int, options.Retrieval("--top-k", "-k", min=1, max=1000, help="The maximum number of links.")
    ] = 50,
    json_output: options.Json = False,
) -> None:
    """Show the articles and entities that a question names, with the score of each link.

    \b
    Examples:
      wikigr graph link "Did Bohr teach Heisenberg?" --pack packs/physics
      wikigr graph link "wave mechanics" --pack packs/physics --semantic 3
    """
    environment = context.ensure_object(Environment)
    pack = options.require_pack(pack)

    from wikigr.pack.open import Pack
    from wikigr.question.question import checked
    from wikigr.retrieval.entity_linking import fits_linker

    question = checked(question)
    with Pack(pack, preload=semantic > 0) as opened:
        links = link_question(opened, question, fuzzy=fuzzy)
        if semantic:
            from wikigr.retrieval.entity_linking import link_by_meaning, nearest_articles

            links += link_by_meaning(question, nearest_articles(question, opened, semantic))
        warnings = print_warnings(environment, opened)
    if not fits_linker(question):
        warnings.append("The question is long: only its beginning was searched for names.")
        environment.note(warnings[-1])
    document = links_document(question, links, limit, warnings)
    print_result(environment, document, print_links, as_json=json_output)
    note_truncation(environment, "--top-k shows more links.", truncated=document["truncated"])


def link_question(pack: Corpus, question: str, *, fuzzy: bool = True) -> list[EntityLink]:
    """Return the links of ``question``; similarity to the question decides between nodes of the same name."""
    from wikigr.retrieval.entity_linking import nearest_articles, open_linker

    linker = open_linker(pack)
    links = linker.link_question(question, fuzzy=fuzzy)
    if len({(link.start, link.end) for link in links}) < len(links):
        relevance = nearest_articles(question, pack, _CONTEXT_ARTICLES)
        links = linker.link_question(question, fuzzy=fuzzy, relevance=relevance)
    return links

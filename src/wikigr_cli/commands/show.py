"""``wikigr show``, ``open`` and ``why``: read a section or an article, and see what the stages did with it."""

from __future__ import annotations

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.command import Result, command
from wikigr_cli.environment import Environment
from wikigr_cli.options import Argument, Input, Output
from wikigr_cli.render.answer import print_why
from wikigr_cli.render.output import Document, print_trace

TARGET = Argument(
    metavar="SECTION_ID|TITLE...",
    help="A section id (Title#3), a title with a heading (Title#Heading), or a title. Case and underscores do not "
    "matter.",
)


@command(target=TARGET)
def show(environment: Environment, target: str, pack: str) -> Result:
    """Print a section of a pack, or the outline of an article.

    A section is printed with the sections before and after it and the articles that it names; an article with its
    lead and the ids of its sections.

    Examples:
      wikigr show Louis de Broglie --pack packs/physics
      wikigr show "Louis de Broglie#3" --pack packs/physics --json
    """
    from wikigr.documents.article import article_document, section_document
    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr_cli.render.section import print_article, print_section

    notes: list[str] = []
    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, notes.append)
        for note in notes:
            environment.note(note)
        if section_id is not None:
            return section_document(opened, section_id, notes), print_section
        return article_document(opened, title, notes), print_article


@command(
    target=TARGET,
    quote=Output(metavar="TEXT", help="Highlight this text. Its white space may differ."),
    browser=Output(help="Open the web address or the source file in the browser."),
)
def open(  # noqa: A001 -- the name of the command
    environment: Environment, target: str, pack: str, quote: str | None = None, browser: bool = False
) -> None:
    """Print a section or an article, or open its source.

    Examples:
      wikigr open "Louis de Broglie#3" --pack packs/physics
      wikigr open Spin --pack packs/physics --quote angular
    """
    if quote is not None and not quote.strip():
        raise UsageError("--quote must not be empty.")

    from wikigr.pack.open import Pack
    from wikigr.pipeline.target import find_target
    from wikigr_cli.render.section import open_place, print_place

    with Pack(pack) as opened:
        title, section_id = find_target(opened, target, environment.note)
        (open_place if browser else print_place)(environment, opened, title, section_id, quote)


@command(
    print_why,
    title=Argument(metavar="TITLE", help="The expected article, in quotes. Case and underscores do not matter."),
    section=Input(metavar="S", help="Follow only this section: a heading or a section id."),
)
def why(
    environment: Environment,
    question: str,
    title: str,
    pack: str,
    profile: str = options.DEFAULT_PROFILE,
    section: str | None = None,
    offline: bool = False,
) -> Document:
    """Show where each stage ranked an article, and what dropped it.

    The question is answered as by `wikigr ask`: a model is called if there is an API key or a server, unless --offline
    is given.

    Examples:
      wikigr why "What is spin?" Spin --pack packs/physics
      wikigr why who proposed matter waves "Louis de Broglie" -p packs/physics
    """
    from wikigr.pack.open import Pack
    from wikigr.pipeline.profile_files import load_profile

    chosen = load_profile(profile)
    with Pack(pack, preload=True) as opened:
        # Imported while the encoder loads.
        from wikigr.documents.why import why_document
        from wikigr.pipeline.connect import connect
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.pipeline.target import find_article, find_section

        pipeline = Pipeline(chosen, opened, model=connect(chosen, offline=offline), offline=offline)
        title = find_article(opened, title, environment.note)
        section_id = None if section is None else find_section(opened, title, section)
        answer = pipeline.answer(question)
        print_trace(environment, answer.trace)
    return why_document(answer, title, section_id)

"""What clients can ask a server: each function returns the JSON document that the command of its name prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field, StringConstraints

from wikigr import __version__
from wikigr.answer.answer import Answer
from wikigr.documents.answer import EXPLAIN_LIMIT, answer_document, search_document
from wikigr.documents.article import article_document, section_document
from wikigr.documents.blocks import show_snippet
from wikigr.documents.graph import neighbors_document, paths_document
from wikigr.documents.pack import SCHEMA_VERSION, listed_document, without_paths
from wikigr.documents.shapes import (
    AnswerDocument,
    ArticleDocument,
    NeighborsDocument,
    PacksDocument,
    PathsDocument,
    ReadDocument,
    SearchDocument,
    SectionDocument,
    ServerDocument,
    TitlesDocument,
    WhyDocument,
)
from wikigr.documents.why import why_document
from wikigr.embeddings.session import available_cores
from wikigr.errors import UsageError, WikigrError
from wikigr.pack.open import Corpus, Pack
from wikigr.pipeline.conversation import replay, understand
from wikigr.pipeline.target import find_article, find_section, find_target, is_named
from wikigr.question.follow_up import may_refer_back
from wikigr.question.question import query_terms
from wikigr.retrieval.trace import Trace
from wikigr.server.packs import ServedPacks
from wikigr.server.reading import find_original, read_document
from wikigr.server.titles import Order, complete_title, list_titles
from wikigr.server.workers import Task, Workers

# Questions that wait for a thread, and seconds until a client is told that it takes too long.
WAITING = 64
TIME_LIMIT = 120.0
# Threads for pages and lookups, which no model delays.
LOOKUP_THREADS = 2
MAX_QUESTION_CHARS = 2_000
MAX_NAME_CHARS = 1_000
MAX_HOPS = 6
MAX_NUMBER = 1_000_000_000
_SNIPPET_CHARS = 260

# The arguments of requests, with their limits and descriptions; the API makes its schema from the functions below.
Direction = Annotated[Literal["out", "in", "both"], Field(description="Outgoing edges, incoming edges or both.")]
Question = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS),
    Field(description="The question."),
]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
Title = Annotated[Name, Field(description="A title. Case and underscores do not matter.")]
Node = Annotated[Name, Field(description="An article or entity. Case and underscores do not matter.")]
SectionId = Annotated[Name, Field(description="A section id (Title#3), or a title with a heading (Title#Heading).")]
PackName = Annotated[str | None, Field(max_length=MAX_NAME_CHARS, description="One pack by its name; by default all.")]
Profile = Annotated[str | None, Field(max_length=100, description="How to retrieve: enhanced, fast, precise, …")]
Relation = Annotated[Name | None, Field(description="Only this relation, such as LINKS_TO.")]
Hops = Annotated[int, Field(ge=1, le=MAX_HOPS, description="The maximum number of edges of a shortest path.")]
Previous = Annotated[
    Sequence[Question],
    Field(max_length=20, description="Earlier questions, the last one last, which this one may refer to."),
]

_Found = TypeVar("_Found")
# Finds something in a pack, and notes how it understood a name.
_Find = Callable[[Pack, list[str]], _Found]
# Hints that advise a command or an option of the command line.
_COMMAND = re.compile(r"\bwikigr [a-z]|(?<!\S)`?--?[a-z]")


class NotFoundError(UsageError):
    """The packs contain nothing of that name."""


def client_hint(error: WikigrError) -> str | None:
    """Return the hint of an error unless it advises a command, which a client of a server cannot run."""
    return None if error.hint is None or _COMMAND.search(error.hint) else error.hint


class Service:
    """Answers the requests of clients from ``packs``: questions in the threads of ``workers``, the rest in ``lookups``.

    The two pools are separate because a model may hold the threads of questions for minutes. Without ``shows_paths``,
    for clients on other machines, documents contain no path of this machine.

    ``pack`` in a request names one of the packs. Without it, questions are asked of all packs as one, and names are
    looked up in one pack after the other. The callers validate arguments. All functions raise ``UsageError`` for a
    pack, a profile or a question that cannot be used, ``NotFoundError`` for names that no pack contains, and the errors
    of ``Workers.run``.
    """

    def __init__(
        self,
        packs: ServedPacks,
        *,
        shows_paths: bool = True,
        originals: Path | None = None,
        threads: int | None = None,
        waiting: int = WAITING,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        """``threads``, ``waiting`` and ``time_limit`` are those of ``Workers`` for questions.

        Without ``threads``, there is one for each processor: more would wait for each other. If a model writes answers,
        for which threads wait, there are twice as many, and four at least. Source files in the folder ``originals`` may
        be read.
        """
        self.packs = packs
        if threads is None:
            threads = available_cores()
            if any(packs.writes(profile) for profile in packs.usable_profiles()):
                threads = max(4, 2 * threads)
        self.workers = Workers(threads=threads, waiting=waiting, time_limit=time_limit)
        self.lookups = Workers(threads=LOOKUP_THREADS, waiting=waiting, time_limit=time_limit)
        self._shows_paths = shows_paths
        self._originals = originals

    def close(self) -> None:
        """Take no more requests, and close the packs."""
        self.lookups.close()
        self.workers.close()
        self.packs.close()

    async def ask(
        self,
        question: Question,
        *,
        pack: PackName = None,
        profile: Profile = None,
        explain: Annotated[
            bool, Field(description="Add the scores of all candidates, and why some were dropped.")
        ] = False,
        previous: Previous = (),
        task: Task | None = None,
    ) -> AnswerDocument:
        """Answer ``question`` with citations; ``task`` receives the stages, the answer without the model, and its text.

        ``previous`` are the questions before it, the last one last; what ``question`` refers to is looked for there.
        Raises ``UsageError`` if it refers to something that they do not name.
        """

        def run(task: Task) -> AnswerDocument:
            with self.packs.session(pack) as session:
                pipeline = session.pipeline(profile or self.packs.profile)
                turns = replay(previous, pipeline) if previous and may_refer_back(question) else ()
                understood = understand(question, turns, session.pack)

                def document_of(answer: Answer) -> AnswerDocument:
                    document = answer_document(answer, pipeline, explain=EXPLAIN_LIMIT if explain else 0)
                    if document["understood"] is None and understood != question:
                        document["understood"] = understood
                    return document

                answer = pipeline.answer(
                    understood,
                    on_text=task.on_text,
                    on_offline=lambda offline: task.on_offline(self._public(document_of(offline))),
                    trace=Trace(on_stage=task.on_stage),
                )
                return document_of(answer)

        return self._public(await self.workers.run(run, task))

    async def search(
        self,
        question: Question,
        *,
        pack: PackName = None,
        profile: Profile = None,
        top_k: Annotated[int, Field(ge=1, le=100, description="The maximum number of sections.")] = 10,
        snippets: Annotated[bool, Field(description="Add the part of each section that matches best.")] = False,
        task: Task | None = None,
    ) -> SearchDocument:
        """Return the best ``top_k`` sections for ``question``."""

        def run(task: Task) -> SearchDocument:
            trace = Trace(on_stage=task.on_stage)
            with self.packs.session(pack) as session:
                pipeline = session.pipeline(profile or self.packs.profile)
                found = pipeline.search(question, top_k=top_k, trace=trace)
                document = search_document(question, found, trace, pipeline.profile.name, session.pack)
                if snippets:
                    terms = query_terms(question, session.pack.lexical)
                    for result, item in zip(document["results"], found, strict=True):
                        result["snippet"] = show_snippet(item.section, terms, _SNIPPET_CHARS)
                return document

        return self._public(await self.workers.run(run, task))

    async def section(self, section_id: SectionId, *, pack: PackName = None) -> SectionDocument:
        """Return a section: by its id (``Title#3``) or by a title with a heading (``Title#Heading``)."""

        def find(member: Pack, notes: list[str]) -> SectionDocument:
            title, found = find_target(member, section_id, notes.append)
            if found is None:
                raise NotFoundError(f"{section_id!r} is the article {title!r}, not a section.")
            return section_document(member, found, notes)

        return await self._look_up(pack, [section_id], find)

    async def read(
        self,
        title: Title,
        *,
        pack: PackName = None,
        first: Annotated[int, Field(ge=0, le=MAX_NUMBER, description="The number of the first section.")] = 0,
        section: Annotated[Name | None, Field(description="The id of a section that must be there.")] = None,
        start: Annotated[int | None, Field(ge=0, le=MAX_NUMBER, description="Mark the section from here.")] = None,
        end: Annotated[int | None, Field(ge=0, le=MAX_NUMBER, description="Mark the section to here.")] = None,
    ) -> ReadDocument:
        """Return sections of an article as blocks, from number ``first``, or those around ``section``."""
        quote = (start, end) if start is not None and end is not None else None

        def find(member: Pack, notes: list[str]) -> ReadDocument:
            found = find_article(member, title, notes.append)
            options: Any = {"first": first, "section_id": section, "quote": quote, "originals": self._originals}
            return read_document(member, found, notes, **options)

        return await self._look_up(pack, [title], find)

    async def titles(
        self,
        *,
        pack: PackName = None,
        text: Annotated[str, Field(max_length=MAX_QUESTION_CHARS, description="Only titles that it may end in.")] = "",
        order: Annotated[Order, Field(description="Alphabetical, or the most linked first.")] = "title",
        first: Annotated[int, Field(ge=0, le=MAX_NUMBER, description="The number of the first title.")] = 0,
        top_k: Annotated[int, Field(ge=1, le=500, description="The maximum number of titles.")] = 100,
    ) -> TitlesDocument:
        """Return titles from number ``first``, or the few that the last words of ``text`` may begin."""

        def run(_: Task) -> TitlesDocument:
            with self.packs.session(pack) as session:
                if text:
                    return complete_title(session.pack.members, text)
                return list_titles(session.pack.members, order, first, top_k)

        return await self.lookups.run(run)

    async def original(self, section_id: str, *, pack: str | None = None) -> Path:
        """Return the source file of a section; raises ``NotFoundError`` if it may not be read."""

        def find(member: Pack, notes: list[str]) -> Path:
            path = find_original(member, section_id, self._originals)
            if path is None:
                raise NotFoundError("The server does not hand out the source file of this section.")
            return path

        def run(_: Task) -> Path:
            with self.packs.session(pack) as session:
                return _first(session.pack, [section_id], find)

        return await self.lookups.run(run)

    async def article(self, title: Title, *, pack: PackName = None) -> ArticleDocument:
        """Return an article with its outline, its text, its links and its backlinks."""

        def find(member: Pack, notes: list[str]) -> ArticleDocument:
            found = find_article(member, title, notes.append)
            return article_document(member, found, notes)

        return await self._look_up(pack, [title], find)

    async def neighbors(
        self,
        name: Node,
        *,
        pack: PackName = None,
        relation: Relation = None,
        direction: Direction = "both",
        top_k: Annotated[int, Field(ge=1, le=200, description="The maximum per kind and direction.")] = 20,
    ) -> NeighborsDocument:
        """Return at most ``top_k`` edges of each kind and direction of an article or entity."""
        inverse = None if direction == "both" else direction == "in"

        def find(member: Pack, notes: list[str]) -> NeighborsDocument:
            found = neighbors_document(member, name, relation=relation, inverse=inverse, limit=top_k, note=notes.append)
            return {**found, "warnings": notes + found["warnings"]}

        return await self._look_up(pack, [name], find)

    async def paths(
        self,
        start: Annotated[Node, Field(alias="from")],
        end: Annotated[Node | None, Field(alias="to", description="Optional with metapath.")] = None,
        *,
        pack: PackName = None,
        metapath: Annotated[Name | None, Field(description='Follow these relations: "director -> born_in".')] = None,
        max_hops: Hops = 4,
        top_k: Annotated[int, Field(ge=1, le=50, description="The maximum number of paths.")] = 10,
    ) -> PathsDocument:
        """Return at most ``top_k`` of the shortest paths between two nodes, or of the paths along ``metapath``."""

        def find(member: Pack, notes: list[str]) -> PathsDocument:
            found = paths_document(
                member, start, end, metapath=metapath, max_hops=max_hops, max_paths=top_k, note=notes.append
            )
            return {**found, "warnings": notes + found["warnings"]}

        return await self._look_up(pack, [start] if end is None else [start, end], find)

    async def why(
        self,
        question: Question,
        title: Title,
        *,
        pack: PackName = None,
        profile: Profile = None,
        section: Annotated[Name | None, Field(description="Only this section: a heading or a section id.")] = None,
        task: Task | None = None,
    ) -> WhyDocument:
        """Return what every stage did with the expected article ``title``, or with its section."""

        def run(task: Task) -> WhyDocument:
            with self.packs.session(pack) as session:

                def find(member: Pack, notes: list[str]) -> tuple[str, str | None, list[str]]:
                    own = find_article(member, title, notes.append)
                    found = None if section is None else find_section(member, own, section)
                    return session.pack.title_of(member, own), found and session.pack.id_of(member, found), notes

                expected, section_id, notes = _first(session.pack, [title], find)
                pipeline = session.pipeline(profile or self.packs.profile)
                answer = pipeline.answer(question, trace=Trace(on_stage=task.on_stage))
                return why_document(answer, expected, section_id, notes)

        return self._public(await self.workers.run(run, task))

    async def list_packs(self) -> PacksDocument:
        """Return the packs of the server, in the form of ``wikigr pack list``."""
        rows: Any = [listed_document(listed, manifest, default=True) for listed, manifest in self.packs.listed]
        document = {"schema_version": SCHEMA_VERSION, "packs": rows, "unusable": [], "default": None, "defaults": []}
        return self._public(cast(PacksDocument, document))

    async def describe(self) -> ServerDocument:
        """Return the version, the limits and the profiles of the server."""
        return {
            "schema_version": SCHEMA_VERSION,
            "version": __version__,
            "profiles": [
                {"name": profile.name, "description": profile.description, "writes": self.packs.writes(profile)}
                for profile in self.packs.usable_profiles()
            ],
            "max_question": MAX_QUESTION_CHARS,
            "originals": self._originals is not None,
        }

    async def _look_up(self, pack: str | None, names: Sequence[str], find: _Find[_Found]) -> _Found:
        def run(_: Task) -> _Found:
            with self.packs.session(pack) as session:
                return _first(session.pack, names, find)

        return self._public(await self.lookups.run(run))

    def _public(self, document: _Found) -> _Found:
        """Return ``document`` as the clients of this server may see it."""
        return document if self._shows_paths else cast(_Found, without_paths(document))


def _first(pack: Corpus, names: Sequence[str], find: _Find[_Found]) -> _Found:
    """Return what ``find`` finds in the first pack that contains it; raises ``NotFoundError`` if none does.

    A pack that contains all ``names`` as they are written comes before one in which ``find`` would correct them.
    """
    errors: list[UsageError] = []
    members = list(pack.members)
    if len(members) > 1:
        members.sort(key=lambda member: not all(is_named(member, name) for name in names))
    for member in members:
        try:
            return find(member, [])
        except UsageError as error:
            errors.append(error)
    raise NotFoundError(errors[0].message, hint=errors[0].hint)

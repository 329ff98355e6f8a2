"""What clients can ask a server: each function returns the JSON document that the command of its name prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from wikigr.documents.answer import answer_document, search_document, why_document
from wikigr.documents.article import article_document, neighbors_document, paths_document, section_document
from wikigr.documents.pack import SCHEMA_VERSION, listed_document, unusable_document
from wikigr.documents.shapes import (
    AnswerDocument,
    ArticleDocument,
    NeighborsDocument,
    PathsDocument,
    SearchDocument,
    SectionDocument,
    WhyDocument,
)
from wikigr.errors import UsageError, WikigrError
from wikigr.pack.article_view import view_article, view_section
from wikigr.pack.listing import list_pack
from wikigr.pack.open import Corpus, Pack
from wikigr.pipeline.conversation import replay, understand
from wikigr.pipeline.graph_queries import find_neighbors, find_paths
from wikigr.pipeline.target import find_article, find_section, find_target, is_named
from wikigr.pipeline.why import explain_article
from wikigr.question.follow_up import may_refer_back
from wikigr.retrieval.trace import Trace
from wikigr.server.packs import ServedPacks
from wikigr.server.workers import Task, Workers

Direction = Literal["out", "in", "both"]
_Found = TypeVar("_Found")

MAX_QUESTION_CHARS = 2_000
MAX_NAME_CHARS = 1_000
MAX_PREVIOUS = 20
MAX_RESULTS = 100
MAX_EDGES = 200
MAX_PATHS = 50
MAX_HOPS = 6


# Hints that advise a command or an option of the command line.
_COMMAND = re.compile(r"\bwikigr [a-z]|(?<!\S)`?--?[a-z]")


class NotFoundError(UsageError):
    """The packs contain nothing of that name."""


def client_hint(error: WikigrError) -> str | None:
    """Return the hint of an error unless it advises a command, which a client of a server cannot run."""
    return None if error.hint is None or _COMMAND.search(error.hint) else error.hint


@dataclass(frozen=True, slots=True)
class Found(Generic[_Found]):
    """A document, and the name by which the server knows the pack that it comes from."""

    pack: str
    document: _Found


class Service:
    """Answers the requests of clients from ``packs``: questions in the threads of ``workers``, the rest in ``lookups``.

    The two pools are separate because a model may hold the threads of questions for minutes. Without ``shows_paths``,
    for clients on other machines, documents contain no path of this machine.

    ``pack`` in a request names one of the packs. Without it, questions are asked of all packs as one, and names are
    looked up in one pack after the other. All functions raise ``UsageError`` for bad arguments, ``NotFoundError`` for
    names that no pack contains, ``PackError`` for a pack that vanished, and the errors of ``Workers.run``.
    """

    def __init__(self, packs: ServedPacks, workers: Workers, lookups: Workers, *, shows_paths: bool = True) -> None:
        self.packs = packs
        self.workers = workers
        self.lookups = lookups
        self._shows_paths = shows_paths

    async def ask(
        self,
        question: str,
        *,
        pack: str | None = None,
        profile: str | None = None,
        explain: bool = False,
        previous: Sequence[str] = (),
        task: Task | None = None,
    ) -> AnswerDocument:
        """Answer ``question`` with citations; ``task`` receives the stages and the text of a model.

        ``previous`` are the questions before it, the last one last; what ``question`` refers to is looked for there.
        Raises ``UsageError`` if it refers to something that they do not name.
        """
        question = _checked_question(question)
        if len(previous) > MAX_PREVIOUS:
            raise UsageError(f"{len(previous):,} previous questions were given; at most {MAX_PREVIOUS} are allowed.")
        earlier = [_checked_question(text) for text in previous]

        def run(task: Task) -> AnswerDocument:
            with self.packs.session(pack) as session:
                pipeline = session.pipeline(profile or self.packs.profile)
                turns = replay(earlier, pipeline) if earlier and may_refer_back(question) else ()
                understood = understand(question, turns, session.pack)
                answer = pipeline.answer(understood, on_text=task.on_text, trace=Trace(on_stage=task.on_stage))
                document = answer_document(answer, pipeline, explain=explain)
                document["understood"] = None if understood == question else understood
                return document

        return self._public(await self.workers.run(run, task))

    async def search(
        self,
        question: str,
        *,
        pack: str | None = None,
        profile: str | None = None,
        top_k: int = 10,
        task: Task | None = None,
    ) -> SearchDocument:
        """Return the best ``top_k`` sections for ``question``."""
        question = _checked_question(question)
        _check_range("top_k", top_k, MAX_RESULTS)

        def run(task: Task) -> SearchDocument:
            trace = Trace(on_stage=task.on_stage)
            with self.packs.session(pack) as session:
                pipeline = session.pipeline(profile or self.packs.profile)
                found = pipeline.search(question, top_k=top_k, trace=trace)
                return search_document(question, found, trace, pipeline.profile.name, session.pack)

        return self._public(await self.workers.run(run, task))

    async def section(self, section_id: str, *, pack: str | None = None) -> Found[SectionDocument]:
        """Return a section: by its id (``Title#3``) or by a title with a heading (``Title#Heading``)."""
        _check_name("section", section_id)

        def find(member: Pack) -> SectionDocument:
            notes: list[str] = []
            title, found = find_target(member, section_id, notes.append)
            if found is None:
                raise NotFoundError(f"{section_id!r} is the article {title!r}, not a section.")
            return section_document(view_section(member, found), member.manifest, notes)

        return await self._look_up(pack, [section_id], find)

    async def article(self, title: str, *, pack: str | None = None) -> Found[ArticleDocument]:
        """Return an article with its outline, its text, its links and its backlinks."""
        _check_name("title", title)

        def find(member: Pack) -> ArticleDocument:
            notes: list[str] = []
            found = find_article(member, title, notes.append)
            return article_document(view_article(member, found), member.manifest, notes)

        return await self._look_up(pack, [title], find)

    async def neighbors(
        self,
        name: str,
        *,
        pack: str | None = None,
        relation: str | None = None,
        direction: Direction = "both",
        top_k: int = 20,
    ) -> NeighborsDocument:
        """Return at most ``top_k`` edges of each kind and direction of an article or entity."""
        _check_name("name", name)
        _check_range("top_k", top_k, MAX_EDGES)
        if relation is not None:
            _check_name("relation", relation)
        if direction not in ("out", "in", "both"):
            raise UsageError(f"direction must be out, in or both, not {direction[:40]!r}.")
        inverse = None if direction == "both" else direction == "in"

        def find(member: Pack) -> NeighborsDocument:
            notes: list[str] = []
            found = find_neighbors(member, name, relation=relation, inverse=inverse, limit=top_k, note=notes.append)
            return neighbors_document(found.node, found.edges, found.truncated, [*notes, *_warnings(member)])

        return (await self._look_up(pack, [name], find)).document

    async def paths(
        self,
        start: str,
        end: str | None = None,
        *,
        pack: str | None = None,
        metapath: str | None = None,
        max_hops: int = 4,
        top_k: int = 10,
    ) -> PathsDocument:
        """Return at most ``top_k`` of the shortest paths between two nodes, or of the paths along ``metapath``."""
        for label, value in (("from", start), ("to", end), ("metapath", metapath)):
            if value is not None:
                _check_name(label, value)
        _check_range("top_k", top_k, MAX_PATHS)
        _check_range("max_hops", max_hops, MAX_HOPS)

        def find(member: Pack) -> PathsDocument:
            notes: list[str] = []
            found = find_paths(
                member, start, end, metapath=metapath, max_hops=max_hops, max_paths=top_k, note=notes.append
            )
            warnings = [*notes, *_warnings(member)]
            return paths_document(found.start, found.end, found.steps, found.paths, warnings)

        names = [start] if end is None else [start, end]
        return (await self._look_up(pack, names, find)).document

    async def why(
        self,
        question: str,
        title: str,
        *,
        pack: str | None = None,
        profile: str | None = None,
        section: str | None = None,
        task: Task | None = None,
    ) -> WhyDocument:
        """Return what every stage did with the expected article ``title``, or with its section."""
        question = _checked_question(question)
        _check_name("title", title)
        if section is not None:
            _check_name("section", section)

        def run(task: Task) -> WhyDocument:
            with self.packs.session(pack) as session:

                def find(member: Pack) -> tuple[str, str | None, list[str]]:
                    notes: list[str] = []
                    own = find_article(member, title, notes.append)
                    found = None if section is None else find_section(member, own, section)
                    return session.pack.title_of(member, own), found and session.pack.id_of(member, found), notes

                expected, section_id, notes = _first(session.pack, [title], find).document
                pipeline = session.pipeline(profile or self.packs.profile)
                answer = pipeline.answer(question, trace=Trace(on_stage=task.on_stage))
                return why_document(answer, explain_article(answer, expected, section_id), notes)

        return await self.workers.run(run, task)

    async def list_packs(self) -> dict[str, Any]:
        """Return the packs of the server, in the form of ``wikigr pack list``."""
        return await self.lookups.run(lambda _: self._list_packs())

    def _list_packs(self) -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        unusable: list[dict[str, str]] = []
        for name in self.packs.names:
            listed = list_pack(Path(self.packs.location(name)), given_as=name)
            if listed.manifest is None or listed.problem:
                row = unusable_document(listed)
                unusable.append(row if self._shows_paths else {"given_as": name, "problem": "It cannot be read."})
            else:
                rows.append(self._public(listed_document(listed, listed.manifest, default=True)))
        return {
            "schema_version": SCHEMA_VERSION,
            "packs": rows,
            "unusable": unusable,
            "default": None,
            "defaults": [],
        }

    async def titles(self, pack: str, beginning: str, limit: int, *, after: str = "") -> list[str]:
        """Return the first titles of a pack after ``after`` that begin with ``beginning``, whatever its case."""
        found = "MATCH (a:Article) WHERE starts_with(lower(a.title), $beginning) AND a.title > $after"
        query = f"{found} RETURN a.title ORDER BY a.title LIMIT $limit"

        def run(_: Task) -> list[str]:
            with self.packs.session(pack) as session:
                (member,) = session.pack.members
                rows = member.graph.rows(query, {"beginning": beginning.lower(), "after": after, "limit": limit})
                return [str(title) for (title,) in rows]

        return await self.lookups.run(run)

    async def _look_up(self, pack: str | None, names: Sequence[str], find: Callable[[Pack], _Found]) -> Found[_Found]:
        def run(_: Task) -> Found[_Found]:
            with self.packs.session(pack) as session:
                return _first(session.pack, names, find)

        found = await self.lookups.run(run)
        return Found(found.pack, self._public(found.document))

    def _public(self, document: _Found) -> _Found:
        """Return ``document`` as the clients of this server may see it."""
        return document if self._shows_paths else cast(_Found, _without_paths(document))


def _first(pack: Corpus, names: Sequence[str], find: Callable[[Pack], _Found]) -> Found[_Found]:
    """Return what ``find`` finds in the first pack that contains it; raises ``NotFoundError`` if none does.

    A pack that contains all ``names`` as they are written comes before one in which ``find`` would correct them.
    """
    errors: list[UsageError] = []
    members = list(pack.members)
    if len(members) > 1:
        members.sort(key=lambda member: not all(is_named(member, name) for name in names))
    for member in members:
        try:
            return Found(member.label, find(member))
        except UsageError as error:
            errors.append(error)
    raise NotFoundError(errors[0].message, hint=errors[0].hint)


def _warnings(pack: Corpus) -> list[str]:
    return [pack.graph_index_warning] if pack.graph_index_warning else []


def _without_paths(value: Any) -> Any:
    """Return a part of a document without the paths of packs and the addresses of files on this machine."""
    if isinstance(value, list):
        return [_without_paths(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: None if key == "url" and str(item).startswith("file:") else _without_paths(item)
        for key, item in value.items()
        if key != "path"
    }


def _checked_question(question: str) -> str:
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(f"The question has {len(question):,} characters; at most {MAX_QUESTION_CHARS:,} are allowed.")
    if not question.strip():
        raise UsageError("The question is empty.")
    return question


def _check_name(what: str, name: str) -> None:
    if not name.strip():
        raise UsageError(f"{what} is empty.")
    if len(name) > MAX_NAME_CHARS:
        raise UsageError(f"{what} has {len(name):,} characters; at most {MAX_NAME_CHARS:,} are allowed.")


def _check_range(what: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise UsageError(f"{what} must be from 1 to {most}, not {value}.")

"""The addresses of the web page: from a request to a page, or to a page that says what is wrong with the request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from wikigr.answer.answer import Answer
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.graph.neighborhood import Neighborhood, Node, article
from wikigr.llm import api_of, available
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.open import Pack
from wikigr.pipeline.conversation import understand
from wikigr.pipeline.graph_queries import find_paths
from wikigr.pipeline.target import find_article
from wikigr.retrieval.entity_linking import open_linker
from wikigr.retrieval.trace import Trace
from wikigr.server.api import error_response, error_status, until_gone
from wikigr.server.packs import ServedPacks, Session
from wikigr.server.service import MAX_HOPS, MAX_NAME_CHARS, MAX_QUESTION_CHARS, NotFoundError, Service, client_hint
from wikigr.server.web.addresses import article_address
from wikigr.server.web.answer_page import ArticleLink, link_to
from wikigr.server.web.article_page import Quotation
from wikigr.server.web.pages import RESULTS, Asked, Pages, ServedPack, Site, read_turns, served_pack
from wikigr.server.web.recent_answers import RecentAnswers
from wikigr.server.web.rendering import static_routes
from wikigr.server.web.results_page import complete_title
from wikigr.server.web.run_pages import find_run, list_runs, report_of
from wikigr.server.workers import EVENT_STREAM, BusyError, Task, TimeLimitError, stream_events
from wikigr.text import harmless, scrub

# Articles of a path in one picture.
_MAX_PATH = 8
# Sections that a search finds, on several pages.
_MAX_FOUND = 50
# Digits of an offset.
_MAX_DIGITS = 9
# The profile with which another one is compared by default.
_COMPARED = "fast"
# A report has its style and script in its page. The sandbox gives it an origin of its own, so that it reaches nothing
# of this server.
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
# Paths whose clients expect no pages.
_MACHINES = ("/api/", "/mcp")
# What a browser calls pages of other sites, among them other ports of this machine.
_STRANGERS = ("cross-site", "same-site")
# A page with a report in a frame.
_FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; frame-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# The headings of pages about errors: the first class that fits.
_HEADINGS = (
    (NotFoundError, "Not found"),
    (UsageError, "This cannot be answered"),
    (PackError, "The pack cannot be read"),
    (BusyError, "The server is busy"),
    (TimeLimitError, "This took too long"),
    (WikigrError, "Something failed"),
)

_Page = Callable[[Request, Task], Response]


class NoArticleError(NotFoundError):
    """A pack has no article of this name; ``suggestions`` have similar ones."""

    def __init__(self, message: str, suggestions: tuple[ArticleLink, ...]) -> None:
        super().__init__(message)
        self.suggestions = suggestions


class WebPage:
    """Answers browsers from ``packs``, and shows the evaluation runs in the folder ``runs``.

    Its routes belong to an application of ``serve.app``, in whose threads the pages are made.
    """

    def __init__(self, packs: ServedPacks, runs: Path) -> None:
        self._packs = packs
        self._runs = runs
        self._answers = RecentAnswers()
        # The pages that ask questions; the others do not wait for a model.
        self._questions: tuple[_Page, ...] = (self._ask, self._search, self._why, self._compare)

    def routes(self) -> list[Route]:
        """Return the routes of all pages and of their static files."""
        pages: dict[str, _Page] = {
            "/": self._home,
            "/ask": self._ask,
            "/why": self._why,
            "/search": self._search,
            "/compare": self._compare,
            "/article": self._article,
            "/neighborhood": self._neighborhood,
            "/runs": self._list_runs,
            "/runs/report": self._report,
        }
        routes = [Route(path, self._endpoint(page)) for path, page in pages.items()]
        return [
            *routes,
            Route("/ask/events", self._events),
            Route("/titles", self._titles),
            *static_routes(),
            Route("/{path:path}", self._endpoint(_miss)),
        ]

    def _endpoint(self, page: _Page) -> Callable[[Request], Awaitable[Response]]:
        def run(request: Request, task: Task) -> Response:
            try:
                return page(request, task)
            except WikigrError as error:
                return _problem(self._pages(), error)

        async def respond(request: Request) -> Response:
            service: Service = request.app.state.service
            workers = service.workers if page in self._questions else service.lookups
            try:
                return await until_gone(request, workers.run(partial(run, request)))
            except WikigrError as error:
                return _problem(self._pages(), error)

        return respond

    def _home(self, request: Request, task: Task) -> Response:
        return self._start(self._asked(request))

    def _start(self, asked: Asked) -> Response:
        """Return the first page with a question in its box."""
        with self._packs.session() as session:
            return HTMLResponse(self._pages().home(asked, session.pack.members))

    def _instead_of_an_answer(self, request: Request, asked: Asked) -> Response | None:
        """Return the first page if nothing is asked, or if a model would answer a stranger; else ``None``."""
        if not asked.question:
            return RedirectResponse("/", 303)
        return self._start(asked) if self._costs_a_stranger(request, asked.profile) else None

    def _ask(self, request: Request, task: Task) -> Response:
        asked = self._asked(request)
        if (instead := self._instead_of_an_answer(request, asked)) is not None:
            return instead
        with self._packs.session(asked.pack or None) as session:
            try:
                understood = understand(asked.question, asked.turns, session.pack)
            except UsageError as error:
                # The form keeps what was said before.
                return HTMLResponse(self._pages().error("This cannot be answered", error, asked=asked), 400)
            typed = "" if understood == asked.question else asked.question
            asked = replace(asked, question=understood)
            if request.query_params.get("live") and self._writes(asked.profile):
                return HTMLResponse(self._pages().writing(asked, typed))
            answer = self._answer(session, asked, task)
            if answer.understood:
                asked, typed = replace(asked, question=answer.understood), typed or asked.question
            return HTMLResponse(self._pages().answer(asked, answer, session.pack, typed))

    async def _events(self, request: Request) -> Response:
        """Send each ``stage`` and piece of ``text`` while a model answers, and then ``answer`` or ``problem``."""
        service: Service = request.app.state.service

        def answer(task: Task) -> str:
            asked = self._asked(request)
            if not asked.question or self._costs_a_stranger(request, asked.profile):
                raise UsageError("Ask from the page of this server.")
            with self._packs.session(asked.pack or None) as session:
                found = self._answer(session, asked, task)
                return self._pages().answer_part(asked, found, session.pack)

        events = stream_events(partial(service.workers.run, answer), _event)
        return StreamingResponse(events, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})

    def _search(self, request: Request, task: Task) -> Response:
        asked = self._asked(request)
        if (instead := self._instead_of_an_answer(request, asked)) is not None:
            return instead
        with self._packs.session(asked.pack or None) as session:
            trace = Trace(clock=session.pack.clock, on_stage=task.on_stage)
            # The same number for every page, because the order may depend on it.
            found = session.pipeline(asked.profile).search(asked.question, top_k=_MAX_FOUND, trace=trace)
            return HTMLResponse(self._pages().results(asked, found, _page(request), session.pack))

    async def _titles(self, request: Request) -> Response:
        """Send the titles that may be meant by the last words of a text, for a box in which it is typed."""
        service: Service = request.app.state.service

        def complete(task: Task) -> Response:
            text = scrub(request.query_params.get("q", ""))[:MAX_QUESTION_CHARS]
            with self._packs.session(request.query_params.get("pack") or None) as session:
                found = complete_title(session.pack.members, text)
            return JSONResponse({"ending": found.ending, "titles": [harmless(title) for title in found.titles]})

        try:
            return await until_gone(request, service.lookups.run(complete))
        except WikigrError as error:
            return error_response(error)

    def _why(self, request: Request, task: Task) -> Response:
        asked = self._asked(request)
        if not asked.question:
            return RedirectResponse("/", 303)
        if self._costs_a_stranger(request, asked.profile):
            return self._start(asked)
        expected = _text(request, "title", MAX_NAME_CHARS)
        with self._packs.session(asked.pack or None) as session:
            answer = self._answer(session, asked, task)
            title = session.pack.find_title(expected) if expected else None
            problem = f"No article is called {expected!r}." if expected and title is None else ""
            return HTMLResponse(self._pages().why(asked, answer, session.pack, expected, title, problem))

    def _compare(self, request: Request, task: Task) -> Response:
        asked = self._asked(request)
        first = request.query_params.get("a") or self._packs.profile
        others = [name for name in self._packs.profiles if name != first] or [first]
        second = request.query_params.get("b") or (_COMPARED if _COMPARED in others else others[0])
        names = (first, second)
        profiles = (self._packs.load(first), self._packs.load(second))
        pages = self._pages()
        if not asked.question or any(self._costs_a_stranger(request, name) for name in names):
            return HTMLResponse(pages.compare(asked, names))
        with self._packs.session(asked.pack or None) as session:
            one, other = (Asked(asked.question, asked.pack, name) for name in names)
            answers = (self._answer(session, one, task), self._answer(session, other, task))
            return HTMLResponse(pages.compare(asked, names, answers, profiles, session.pack))

    def _article(self, request: Request, task: Task) -> Response:
        title = _text(request, "title", MAX_NAME_CHARS)
        section_id = _text(request, "section", MAX_NAME_CHARS + 20) or None
        quotation = None
        if section_id is not None and "start" in request.query_params:
            quotation = Quotation(section_id, _number(request, "start"), _number(request, "end"))
        with self._one_pack(request) as pack:
            if not _is_title(pack, title):
                return RedirectResponse(article_address(pack.label, _title_of(pack, title)))
            return HTMLResponse(self._pages().article(pack, title, section_id, quotation, *self._back(request)))

    def _back(self, request: Request) -> tuple[str, str]:
        """Return the address of the answer or the results that led to an article, and which of both it is."""
        question = _text(request, "q", MAX_QUESTION_CHARS)
        if not question:
            return "", ""
        query = request.query_params
        asked = Asked(question, query.get("within", ""), query.get("profile", ""))
        if query.get("from") == RESULTS:
            return asked.address("/search", page=query.get("page", "")), "results"
        return asked.address("/ask"), "answer"

    def _neighborhood(self, request: Request, task: Task) -> Response:
        titles = [_checked(value, "title", MAX_NAME_CHARS) for value in request.query_params.getlist("title")]
        entity = _text(request, "entity", MAX_NAME_CHARS)
        to = _text(request, "to", MAX_NAME_CHARS)
        with self._one_pack(request) as pack:
            problem = ""
            if entity:
                centers = [Neighborhood(pack.graph).require(Node("entity", entity, entity))]
            else:
                own = (title if _is_title(pack, title) else _title_of(pack, title) for title in titles[:_MAX_PATH])
                centers = [article(title) for title in dict.fromkeys(own)] or [article(_title_of(pack, ""))]
            if to:
                found = find_paths(
                    pack, centers[0].label, to, metapath=None, max_hops=MAX_HOPS, max_paths=1, note=lambda note: None
                )
                if found.paths.paths:
                    centers = list(found.paths.paths[0].nodes)
                else:
                    problem = f"No path of at most {MAX_HOPS} steps leads to {to!r}."
            given = {"pack": pack.label, "title": titles, "entity": entity, "to": to}
            return HTMLResponse(self._pages().neighborhood(pack, centers, given, _page(request), to, problem))

    def _list_runs(self, request: Request, task: Task) -> Response:
        pages = self._pages()
        name = request.query_params.get("run")
        if name is None:
            return HTMLResponse(pages.runs(list_runs(self._runs), str(self._runs)))
        html = pages.run(self._find_run(name).name)
        return HTMLResponse(html, headers={"Content-Security-Policy": _FRAME_POLICY})

    def _report(self, request: Request, task: Task) -> Response:
        run = self._find_run(request.query_params.get("run", ""))
        return HTMLResponse(
            report_of(run), headers={"Content-Security-Policy": _REPORT_POLICY, "X-Frame-Options": "SAMEORIGIN"}
        )

    def _find_run(self, name: str) -> Path:
        try:
            return find_run(self._runs, name)
        except KeyError as error:
            hint = "The list of runs shows those that exist."
            raise NotFoundError("There is no run of this name.", hint=hint) from error

    def _answer(self, session: Session, asked: Asked, task: Task) -> Answer:
        """Return the answer to a question, which may be a recent one."""
        answer = self._answers.find(session.pack, asked.profile, asked.question)
        if answer is None:
            pipeline = session.pipeline(asked.profile)
            trace = Trace(clock=session.pack.clock, on_stage=task.on_stage)
            answer = pipeline.answer(asked.question, on_text=task.on_text, trace=trace)
            self._answers.keep(session.pack, asked.profile, asked.question, answer)
        return answer

    @contextmanager
    def _one_pack(self, request: Request) -> Iterator[Pack]:
        """Yield the one pack that the request names; without a name, the only one."""
        name = request.query_params.get("pack", "")
        if not name and len(self._packs.names) > 1:
            names = ", ".join(self._packs.names)
            raise UsageError("The address does not name a pack.", hint=f"Add pack=, one of {names}.")
        with self._packs.session(name or None) as session:
            (pack,) = session.pack.members
            yield pack

    def _asked(self, request: Request) -> Asked:
        return Asked(
            question=_text(request, "q", MAX_QUESTION_CHARS),
            pack=request.query_params.get("pack", ""),
            profile=request.query_params.get("profile") or self._packs.profile,
            turns=read_turns(request.query_params.getlist("turn")),
        )

    def _writes(self, profile: str) -> bool:
        """Return whether a model writes the answers of a profile."""
        options = self._packs.load(profile)[SynthesisOptions]
        if options.provider == "none" or (self._packs.offline and api_of(options.model) != "file"):
            return False
        return available(options.model)

    def _costs_a_stranger(self, request: Request, profile: str) -> bool:
        """Return whether a page of another site asks a question for which a model would be paid.

        The user must send the form here instead, so that no other site spends the budget.
        """
        return request.headers.get("sec-fetch-site") in _STRANGERS and self._writes(profile)

    def _pages(self) -> Pages:
        return Pages(
            self._site(tuple(served_pack(listed.given_as, manifest) for listed, manifest in self._packs.listed))
        )

    def _site(self, packs: tuple[ServedPack, ...]) -> Site:
        profiles = self._packs.profiles
        return Site(packs, profiles, self._packs.profile, frozenset(filter(self._writes, profiles)), MAX_QUESTION_CHARS)


def _problem(pages: Pages, error: WikigrError) -> Response:
    heading = next(heading for kind, heading in _HEADINGS if isinstance(error, kind))
    suggestions = error.suggestions if isinstance(error, NoArticleError) else ()
    return HTMLResponse(pages.error(heading, error, suggestions), error_status(error))


def _miss(request: Request, task: Task) -> Response:
    if request.url.path.startswith(_MACHINES):
        raise HTTPException(404)
    raise NotFoundError("There is no page with this address.")


def _event(kind: str, value: str | WikigrError) -> str:
    """Return an event of a stream; JSON keeps its line breaks."""
    if isinstance(value, WikigrError):
        # A browser has an event ``error`` of its own.
        kind, value = "problem", " ".join(filter(None, (value.message, client_hint(value))))
    return f"event: {kind}\ndata: {json.dumps(harmless(value))}\n\n"


def _text(request: Request, name: str, limit: int) -> str:
    return _checked(request.query_params.get(name, ""), name, limit)


def _checked(value: str, name: str, limit: int) -> str:
    """Return a parameter without blanks around it; raises ``UsageError`` if it is longer than ``limit``."""
    text = scrub(value).strip()
    if len(text) > limit:
        raise UsageError(f"The parameter {name} has {len(text):,} characters; at most {limit:,} are allowed.")
    return text


def _number(request: Request, name: str) -> int:
    value = request.query_params.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS):
        raise UsageError(f"The parameter {name} must be a number.")
    return int(value)


def _page(request: Request) -> int:
    """Return the number of the page of a list, from 1; a list shows its last page for a greater one."""
    return max(1, _number(request, "page")) if "page" in request.query_params else 1


def _is_title(pack: Pack, title: str) -> bool:
    return bool(pack.headings(title))


def _title_of(pack: Pack, name: str) -> str:
    """Return the title of the article called ``name``; raises ``NoArticleError``, with similar ones."""
    if not name:
        raise NotFoundError("The address does not name an article.")
    try:
        return find_article(pack, name, lambda note: None)
    except UsageError:
        similar = filter(None, map(pack.find_title, open_linker(pack).matcher.suggest(name)))
        links = tuple(link_to(pack, title) for title in dict.fromkeys(similar))
        raise NoArticleError(f"The pack {pack.label} has no article called {name!r}.", links) from None

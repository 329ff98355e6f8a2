"""The JSON API: one table of endpoints, from which the routes and the OpenAPI document follow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from wikigr import __version__
from wikigr.documents import shapes
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.server.event_stream import EVENT_STREAM, stream_events
from wikigr.server.service import (
    MAX_EDGES,
    MAX_HOPS,
    MAX_NAME_CHARS,
    MAX_PATHS,
    MAX_PREVIOUS,
    MAX_QUESTION_CHARS,
    MAX_RESULTS,
    Direction,
    Found,
    NotFoundError,
    Service,
    client_hint,
)
from wikigr.server.workers import BusyError, Task, TimeLimitError

Question = Annotated[str, Field(max_length=MAX_QUESTION_CHARS, description="The question.")]
Name = Annotated[str, Field(max_length=MAX_NAME_CHARS)]
PackChoice = Annotated[str | None, Field(max_length=MAX_NAME_CHARS, description="One pack of the server by its name.")]
ProfileChoice = Annotated[str | None, Field(max_length=100, description="A profile by its name.")]

_Result = TypeVar("_Result")


class GoneError(WikigrError):
    """The client disconnected before it was answered."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AskArguments(_Arguments):
    question: Question
    pack: PackChoice = None
    profile: ProfileChoice = None
    explain: Annotated[bool, Field(description="Add the scores of every candidate and why it was dropped.")] = False
    previous: Annotated[
        list[Question],
        Field(max_length=MAX_PREVIOUS, description="The questions before this one, which it may refer to."),
    ] = []


class SearchArguments(_Arguments):
    question: Question
    pack: PackChoice = None
    profile: ProfileChoice = None
    top_k: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="The maximum number of sections.")] = 10


class SectionArguments(_Arguments):
    section_id: Annotated[Name, Field(description="A section id (Title#3), or a title with a heading (Title#Heading).")]
    pack: PackChoice = None


class ArticleArguments(_Arguments):
    title: Annotated[Name, Field(description="A title. Case and underscores do not matter.")]
    pack: PackChoice = None


class NeighborsArguments(_Arguments):
    name: Annotated[Name, Field(description="An article or entity. Case and underscores do not matter.")]
    pack: PackChoice = None
    relation: Annotated[Name | None, Field(description="Only this relation.")] = None
    direction: Annotated[Direction, Field(description="Outgoing edges, incoming edges or both.")] = "both"
    top_k: Annotated[int, Field(ge=1, le=MAX_EDGES, description="The maximum per kind and direction.")] = 20


class PathsArguments(_Arguments):
    start: Annotated[Name, Field(alias="from", description="The first article or entity.")]
    end: Annotated[Name | None, Field(alias="to", description="The last one; optional with metapath.")] = None
    pack: PackChoice = None
    metapath: Annotated[Name | None, Field(description='Follow these relations: "director -> born_in".')] = None
    max_hops: Annotated[int, Field(ge=1, le=MAX_HOPS, description="The maximum length of a shortest path.")] = 4
    top_k: Annotated[int, Field(ge=1, le=MAX_PATHS, description="The maximum number of paths.")] = 10


class WhyArguments(_Arguments):
    question: Question
    title: Annotated[Name, Field(description="The expected article.")]
    pack: PackChoice = None
    profile: ProfileChoice = None
    section: Annotated[Name | None, Field(description="Only this section: a heading or a section id.")] = None


class PacksArguments(_Arguments):
    pass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resource of the API: ``arguments`` come from its path, the query, or the JSON body of a POST request.

    ``method`` takes them under the same names and returns the document; with a body, it asks, and takes a ``Task``.
    ``path_argument`` is the argument in the path, if there is one.
    """

    name: str
    summary: str
    arguments: type[_Arguments]
    document: Any
    method: Callable[..., Awaitable[Any]]
    path_argument: str | None = None
    takes_body: bool = False
    streams: bool = False

    @property
    def path(self) -> str:
        return f"/api/{self.name}" + (f"/{{{self.path_argument}}}" if self.path_argument else "")

    async def call(self, service: Service, arguments: _Arguments, task: Task) -> Any:
        """Return the document for ``arguments``."""
        found = await self.method(service, **dict(arguments), **({"task": task} if self.takes_body else {}))
        return found.document if isinstance(found, Found) else found


ENDPOINTS = (
    Endpoint(
        "ask",
        "Answer a question with verified citations. With Accept: text/event-stream, the events `stage`, `text` (from a "
        "model), and `answer` or `error` follow one another.",
        AskArguments,
        shapes.AnswerDocument,
        Service.ask,
        takes_body=True,
        streams=True,
    ),
    Endpoint(
        "search",
        "Find the sections that best match a question.",
        SearchArguments,
        shapes.SearchDocument,
        Service.search,
        takes_body=True,
    ),
    Endpoint(
        "sections",
        "Read a section.",
        SectionArguments,
        shapes.SectionDocument,
        Service.section,
        path_argument="section_id",
    ),
    Endpoint(
        "articles",
        "Read an article with its outline, links and backlinks.",
        ArticleArguments,
        shapes.ArticleDocument,
        Service.article,
        path_argument="title",
    ),
    Endpoint(
        "neighbors",
        "List the edges of an article or entity.",
        NeighborsArguments,
        shapes.NeighborsDocument,
        Service.neighbors,
    ),
    Endpoint(
        "paths",
        "Find the shortest paths between two articles or entities, or the paths along a metapath.",
        PathsArguments,
        shapes.PathsDocument,
        Service.paths,
    ),
    Endpoint(
        "why",
        "Show where every stage ranked an expected article, and what dropped it.",
        WhyArguments,
        shapes.WhyDocument,
        Service.why,
        takes_body=True,
    ),
    Endpoint(
        "packs",
        "List the packs of the server.",
        PacksArguments,
        shapes.PacksDocument,
        Service.list_packs,
    ),
)


def api_routes(service: Service, *, needs_token: bool = False) -> list[Route]:
    """Return the routes of the API and of its OpenAPI document, which says whether requests need a token."""
    document = openapi_document(needs_token=needs_token)

    async def describe(request: Request) -> Response:
        return JSONResponse(document)

    routes = [Route("/api/openapi.json", describe, methods=["GET"])]
    for endpoint in ENDPOINTS:
        path = endpoint.path.replace("}", ":path}")
        methods = ["GET", "POST"] if endpoint.takes_body else ["GET"]
        routes.append(Route(path, _handler(endpoint, service), methods=methods, name=endpoint.name))
    return routes


def _handler(endpoint: Endpoint, service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        try:
            arguments = endpoint.arguments.model_validate(await _given(endpoint, request))
            if endpoint.streams and EVENT_STREAM in request.headers.get("accept", ""):
                events = stream_events(partial(endpoint.call, service, arguments), _event)
                return StreamingResponse(events, media_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})
            return JSONResponse(await until_gone(request, endpoint.call(service, arguments, Task())))
        except ValidationError as error:
            return error_response(_as_usage_error(error))
        except WikigrError as error:
            return error_response(error)

    return handle


async def until_gone(request: Request, answer: Awaitable[_Result]) -> _Result:
    """Return what ``answer`` returns; if the client disconnects before, cancel it and raise ``GoneError``."""
    answering = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            answering.cancel()
            raise GoneError("The client went away.")
        return answering.result()
    finally:
        gone.cancel()
        answering.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _given(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """Return the arguments of a request; raises ``UsageError`` if they are malformed."""
    given: dict[str, Any] = {}
    if request.method == "POST":
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            raise UsageError("The body is not JSON.", hint='Send an object such as {"question": "…"}.') from error
        if not isinstance(body, dict):
            raise UsageError("The body is not a JSON object.", hint='Send an object such as {"question": "…"}.')
        given.update(body)
    for name, value in request.query_params.multi_items():
        if name in given and (name != "previous" or request.method == "POST"):
            raise UsageError(f"{name[:40]!r} was given more than once.")
        given[name] = value
    if "previous" in request.query_params:
        given["previous"] = request.query_params.getlist("previous")
    if endpoint.path_argument is not None:
        given[endpoint.path_argument] = request.path_params[endpoint.path_argument]
    return given


def _event(kind: str, value: Any) -> str:
    document = value if kind == "answer" else error_document(value) if kind == "error" else {kind: value}
    # JSON has no line breaks, which would end the data.
    return f"event: {kind}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n"


def _as_usage_error(error: ValidationError) -> UsageError:
    """Return an error that names the first bad argument without repeating its value."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:80]
    return UsageError(f"{where}: {first['msg']}." if where else f"{first['msg']}.")


def error_document(error: WikigrError) -> dict[str, Any]:
    """Return what a client gets instead of a document."""
    return {"schema_version": 1, "error": error.message, "hint": client_hint(error)}


def error_response(error: WikigrError) -> JSONResponse:
    """Return the response for an error, with the status of its kind."""
    response = JSONResponse(error_document(error), status_code=error_status(error))
    if isinstance(error, BusyError):
        response.headers["Retry-After"] = "2"
    return response


def error_status(error: WikigrError) -> int:
    """Return the HTTP status for an error."""
    for kind, status in (
        (NotFoundError, 404),
        (UsageError, 400),
        (PackError, 503),
        (BusyError, 503),
        (TimeLimitError, 504),
    ):
        if isinstance(error, kind):
            return status
    return 500


def openapi_document(*, needs_token: bool = False) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document, generated from the types of the arguments and of the documents."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["schema_version", "error", "hint"],
            "properties": {
                "schema_version": {"type": "integer"},
                "error": {"type": "string"},
                "hint": {"type": ["string", "null"]},
            },
        }
    }
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        arguments = _schema_of(endpoint.arguments, schemas)
        answer = {"application/json": {"schema": _schema_of(endpoint.document, schemas)}}
        if endpoint.streams:
            answer[EVENT_STREAM] = {"schema": {"type": "string"}}
        responses = {
            "200": {"description": "The document.", "content": answer},
            "default": {
                "description": "An error.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        }
        required = arguments.get("required", [])
        operation: dict[str, Any] = {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "parameters": [
                {
                    "name": name,
                    "in": "path" if name == endpoint.path_argument else "query",
                    "required": name in required,
                    **({"description": schema["description"]} if "description" in schema else {}),
                    "schema": schema,
                }
                for name, schema in arguments.get("properties", {}).items()
            ],
            "responses": responses,
        }
        paths[endpoint.path] = {"get": operation}
        if endpoint.takes_body:
            body = {"required": True, "content": {"application/json": {"schema": arguments}}}
            paths[endpoint.path]["post"] = {
                "operationId": f"{endpoint.name}_post",
                "summary": endpoint.summary,
                "requestBody": body,
                "responses": responses,
            }
    return {
        "openapi": "3.1.0",
        "info": {"title": "wikigr", "version": __version__, "description": "Answers from knowledge packs."},
        **({"security": [{"token": []}]} if needs_token else {}),
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _schema_of(shape: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a type; the types that it refers to are added to ``schemas``."""
    schema = TypeAdapter(shape).json_schema(ref_template="#/components/schemas/{model}", by_alias=True)
    definitions: Mapping[str, Any] = schema.pop("$defs", {})
    schemas.update(definitions)
    return schema

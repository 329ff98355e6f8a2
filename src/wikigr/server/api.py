"""The JSON API: one table of endpoints, from which the routes and the OpenAPI document follow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from wikigr import __version__
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.server.service import NotFoundError, Service, client_hint
from wikigr.server.workers import EVENT_STREAM, BusyError, Task, TimeLimitError, stream_events

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Endpoint:
    """A resource of the API: the arguments of ``method`` come from its path, the query, or the JSON body of a POST.

    ``path_argument`` is the argument in the path, if there is one. A method that takes a ``Task`` can be posted to.
    """

    name: str
    summary: str
    method: Callable[..., Awaitable[Any]]
    path_argument: str | None = None
    streams: bool = False

    @property
    def path(self) -> str:
        return f"/api/{self.name}" + (f"/{{{self.path_argument}}}" if self.path_argument else "")

    @property
    def takes_body(self) -> bool:
        return "task" in signature(self.method).parameters

    @property
    def document(self) -> Any:
        """The type of the document."""
        return get_type_hints(self.method)["return"]

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that validates the arguments."""
        hints = get_type_hints(self.method, include_extras=True)
        fields: dict[str, Any] = {
            name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
            for name, parameter in signature(self.method).parameters.items()
            if name not in ("self", "task")
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    async def call(self, service: Service, arguments: BaseModel, task: Task) -> Any:
        """Return the document for ``arguments``."""
        return await self.method(service, **dict(arguments), **({"task": task} if self.takes_body else {}))


ENDPOINTS = (
    Endpoint(
        "ask",
        "Answer a question with verified citations. With Accept: text/event-stream, the events `stage`, `offline` (the "
        "answer that needs no model, if a model writes), `text` (from a model), and `answer` or `error` follow.",
        Service.ask,
        streams=True,
    ),
    Endpoint("search", "Find the sections that best match a question.", Service.search),
    Endpoint("sections", "Read a section.", Service.section, "section_id"),
    Endpoint("read", "Read sections of an article as blocks, with a quotation marked.", Service.read, "title"),
    Endpoint("titles", "List the titles of the packs, or those that the end of a text may begin.", Service.titles),
    Endpoint("articles", "Read an article with its outline, links and backlinks.", Service.article, "title"),
    Endpoint("neighbors", "List the edges of an article or entity.", Service.neighbors),
    Endpoint("paths", "Find the shortest paths between two nodes, or the paths along a metapath.", Service.paths),
    Endpoint("why", "Show where every stage ranked an expected article, and what dropped it.", Service.why),
    Endpoint("packs", "List the packs of the server.", Service.list_packs),
    Endpoint("server", "List the profiles and limits of the server.", Service.describe),
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
    """Return what ``answer`` returns; if the client disconnects before, cancel it and raise ``WikigrError``."""
    answering = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            answering.cancel()
            raise WikigrError("The client went away.")
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
    document = value if kind in ("answer", "offline") else error_document(value) if kind == "error" else {kind: value}
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
    # That of the first class that fits.
    statuses = ((NotFoundError, 404), (UsageError, 400), (PackError, 503), (BusyError, 503), (TimeLimitError, 504))
    status = next((status for kind, status in statuses if isinstance(error, kind)), 500)
    headers = {"Retry-After": "2"} if isinstance(error, BusyError) else None
    return JSONResponse(error_document(error), status_code=status, headers=headers)


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

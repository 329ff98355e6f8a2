"""Fill in the templates, and serve the files that pages load."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from wikigr.documents.blocks import group_items, number_columns, shown_rows, used_columns
from wikigr.text import harmless

if TYPE_CHECKING:
    from wikigr.documents.shapes import BlockShape


def render(template: str, **values: Any) -> str:
    """Return the page that the template makes of ``values``; a name without a value raises ``UndefinedError``."""
    return _environment().get_template(f"{template}.html.j2").render(values)


def _finalize(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_finalize,
    )
    environment.filters |= {"host": _host, "moment": _moment, "lists": _lists}
    environment.filters |= {function.__name__: function for function in (shown_rows, used_columns, number_columns)}
    return environment


# The element of what stands in a list with its like.
_LISTS = {"task": "tasks", "term": "terms", "property": "properties", "quotation": "blockquote"}


def _lists(blocks: Sequence[BlockShape]) -> list[tuple[str, list[tuple[BlockShape, list[BlockShape]]]]]:
    """Return blocks, each with those inside it, in groups: the items of a list, or one block and an empty name."""

    def kind(group: tuple[BlockShape, list[BlockShape]]) -> str:
        block = group[0]
        if block["kind"] != "item":
            return _LISTS.get(block["kind"], "")
        label = block["label"].rstrip(".)")
        return "ol" if label.isdecimal() else "labels" if label.isalnum() else "ul"

    groups: list[tuple[str, list[tuple[BlockShape, list[BlockShape]]]]] = []
    for group in group_items(blocks):
        if groups and groups[-1][0] == kind(group) != "":
            groups[-1][1].append(group)
        else:
            groups.append((kind(group), [group]))
    return groups


def _host(url: str) -> str:
    """Return the name of the server in a web address."""
    return urlsplit(url).hostname or url


def _moment(created: str) -> str:
    """Return a time in ISO 8601 to the minute, or a dash if there is none."""
    return created[:16].replace("T", " ") or "–"


_TYPES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "picture.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def static_routes() -> list[Route]:
    """Return a route for each file."""
    folder = resources.files(__package__ or "") / "static"
    return [
        Route(f"/static/{name}", partial(_send, content=(folder / name).read_bytes(), media_type=media_type))
        for name, media_type in _TYPES.items()
    ]


async def _send(request: Request, *, content: bytes, media_type: str) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)

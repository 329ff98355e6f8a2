"""The style sheet, the scripts and the icon. They are read once: no path of a request reaches the file system."""

from __future__ import annotations

import hashlib
from functools import partial
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

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

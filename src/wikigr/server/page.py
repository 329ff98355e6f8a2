"""The web page: one document with its style and its scripts, which read the JSON API, and the source files it shows."""

from __future__ import annotations

import hashlib
from functools import partial
from importlib import resources

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from wikigr.errors import WikigrError
from wikigr.server.api import error_response, until_gone
from wikigr.server.reading import is_pdf
from wikigr.server.security import HEADERS, STATIC
from wikigr.server.service import MAX_NAME_CHARS, NotFoundError, Service

_TYPES = {
    "page.css": "text/css",
    "app.js": "text/javascript",
    "blocks.js": "text/javascript",
    "dom.js": "text/javascript",
    "graph.js": "text/javascript",
    "panels.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
# The page shows a PDF in a frame.
_PAGE = {"Content-Security-Policy": HEADERS["Content-Security-Policy"] + "; frame-src 'self'"}
_PDF = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; "
    "plugin-types application/pdf; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
}


def page_routes(service: Service) -> list[Route]:
    """Return the routes of the page, of its files, and of the source files that the server hands out."""
    folder = resources.files(__package__ or "") / "static"
    page = partial(_send, content=(folder / "index.html").read_bytes(), media_type="text/html", headers=_PAGE)
    return [
        Route("/", page),
        *(
            Route(f"{STATIC}{name}", partial(_send, content=(folder / name).read_bytes(), media_type=kind))
            for name, kind in _TYPES.items()
        ),
        Route("/api/original/{section_id:path}", partial(_original, service=service)),
    ]


async def _send(
    request: Request, *, content: bytes, media_type: str, headers: dict[str, str] | None = None
) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    sent = {"ETag": tag, "Cache-Control": "no-cache", **(headers or {})}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=sent)
    return Response(content, media_type=media_type, headers=sent)


async def _original(request: Request, *, service: Service) -> Response:
    """Send the source file of a section: a PDF to be shown, and any other file to be saved."""
    section_id, pack = request.path_params["section_id"], request.query_params.get("pack")
    try:
        if len(section_id) > MAX_NAME_CHARS:
            raise NotFoundError("There is no such section.")
        path = await until_gone(request, service.original(section_id, pack=pack))
    except WikigrError as error:
        return error_response(error)
    shown = is_pdf(path)
    return FileResponse(
        path,
        media_type="application/pdf" if shown else "application/octet-stream",
        filename=path.name,
        content_disposition_type="inline" if shown else "attachment",
        headers=_PDF if shown else None,
    )

"""What every request must satisfy before anything else reads it."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wikigr.documents.pack import SCHEMA_VERSION
from wikigr.errors import UsageError
from wikigr.server.workers import CLIENT

MAX_BODY_BYTES = 64 << 10
# Of the address and all headers of a request. uvicorn has no such limit for what arrives at once.
MAX_HEAD_BYTES = 32 << 10
# Seconds in which a client must have sent its body.
BODY_TIME_LIMIT = 20.0
COOKIE = "wikigr_token"
HEALTH = "/healthz"
# A name or an address and a port (RFC 9110, 7.2).
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
# The folder of the files of the page. Like the page itself, they hold nothing of a pack.
STATIC = "/static/"
_TOO_LARGE = f"The body has more than {MAX_BODY_BYTES:,} bytes."
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


def check_binding(host: str, token: str | None) -> None:
    """Raise ``UsageError`` unless ``host`` is this machine's loopback address or there is a usable ``token``."""
    hint = "Use at least 16 letters, digits and signs of ASCII, such as the output of: openssl rand -hex 16"
    # Printable ASCII without blanks.
    if token is not None and not re.fullmatch(r"[!-~]*", token):
        raise UsageError("The token has characters that a header cannot hold.", hint=hint)
    if token is not None and len(token) < 16:
        raise UsageError("The token is too short to keep others out.", hint=hint)
    if token is None and not is_loopback(host):
        raise UsageError(
            f"Without a token, the server only listens on this machine, not on {host}.",
            hint="Add --token with a secret that clients send, or leave out --host.",
        )


def check_allowed_hosts(names: Sequence[str]) -> None:
    """Raise ``UsageError`` unless every name is one that ``Host`` can have, without a port."""
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
            raise UsageError(
                f"{name!r} is not the name of a host.",
                hint="Give the name only, without a scheme, a port or a path: --allowed-host wiki.example.com",
            )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach ``host``."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Security:
    """Checks each request, bounds its body, and adds the headers that protect a browser.

    - ``Host`` must name this server or be one of ``allowed_hosts``, the names of a proxy: a page of another site whose
      name resolves to this machine cannot read answers. A server for other machines, which has a token, has any name
      unless ``allowed_hosts`` are given.
    - ``Origin`` must be this server's own, and a browser must not send the request for another site.
    - With a ``token``, a client sends it as ``Authorization: Bearer``, or as the cookie that the page gets for it. Only
      the page without any content needs none.
    """

    def __init__(self, app: ASGIApp, *, host: str, token: str | None = None, allowed_hosts: Sequence[str] = ()) -> None:
        own = f"[{host}]" if ":" in host and not host.startswith("[") else host
        names = ["localhost", "127.0.0.1", "[::1]", own, *allowed_hosts]
        self._app = app
        self._token = token
        self._any_host = not is_loopback(host) and not allowed_hosts
        self._hosts = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        # Of a proxy, if there is one: the headers in which it names the client can be forged.
        CLIENT.set(scope["client"][0] if scope["client"] else "")

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    sent.setdefault(name, value)
            await send(message)

        await self._check(scope, receive, send_protected)

    async def _check(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request unless it is refused."""
        refused = self._refuse(HTTPConnection(scope))
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_TIME_LIMIT):
                body = await _read_body(receive)
        except TimeoutError:
            await _error(408, "The body did not arrive in time.")(scope, receive, send)
            return
        if body is None:
            return  # the client went away
        if len(body) > MAX_BODY_BYTES:
            await _error(413, _TOO_LARGE)(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    def _refuse(self, request: HTTPConnection) -> Response | None:
        """Return the answer to a request that is refused, else ``None``."""
        headers = request.headers
        head = sum(len(name) + len(value) + 4 for name, value in request.scope["headers"])
        if head + len(request.scope["raw_path"]) + len(request.scope["query_string"]) > MAX_HEAD_BYTES:
            return _error(431, f"The head has more than {MAX_HEAD_BYTES:,} bytes.", closes=True)
        if "transfer-encoding" in headers and "content-length" in headers:
            # Where the body ends is ambiguous, and what follows may not be a request (RFC 9112, 6.1).
            return _error(400, "Content-Length and Transfer-Encoding exclude each other.", closes=True)
        host = _HOST.fullmatch(headers.get("host", ""))
        if host is None or not (self._any_host or host[1].lower() in self._hosts):
            return _error(400, "The header Host does not name this server.", closes=True)
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
            return _error(403, "Requests from pages of other sites are not allowed.")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _is_visit(request):
            return _error(403, "Requests from pages of other sites are not allowed.")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdecimal() or int(length[:20]) > MAX_BODY_BYTES:
            return _error(413, _TOO_LARGE)
        path = request.scope["path"]
        if self._token is not None and path not in (HEALTH, "/") and not path.startswith(STATIC):
            return _authorize(request, self._token)
        return None


def remember_token(request: HTTPConnection, response: Response, token: str) -> None:
    """Give a browser that has sent the ``token`` a cookie that stands for it."""
    # A proxy in front of this server says whether the browser's connection is encrypted.
    secure = "https" in (request.scope["scheme"], request.headers.get("x-forwarded-proto"))
    response.set_cookie(COOKIE, quote(token, safe=""), httponly=True, samesite="strict", secure=secure)


def _authorize(request: HTTPConnection, token: str) -> Response | None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same(given.strip(), token):
        return None
    # Not with ``SimpleCookie``, whose time grows with the square of what is quoted in a header.
    cookies = (part.strip().partition("=") for part in request.headers.get("cookie", "").split(";"))
    if any(name == COOKIE and _same(value, quote(token, safe="")) for name, _, value in cookies):
        return None
    refused = _error(401, "The token is missing or wrong.", "Send it in the header Authorization: Bearer TOKEN.")
    refused.headers["WWW-Authenticate"] = "Bearer"
    return refused


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body of a request, cut soon after the limit, or ``None`` if the client disconnects before its end."""
    body = bytearray()
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives ``body`` once, and then what else arrives."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _is_visit(request: HTTPConnection) -> bool:
    """Return whether a person follows a link of another site to a page."""
    return (
        request.scope["method"] == "GET"
        and request.headers.get("sec-fetch-mode") == "navigate"
        and request.headers.get("sec-fetch-dest") == "document"
        and not str(request.scope["path"]).startswith(("/api/", "/mcp"))
    )


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def _error(status: int, message: str, hint: str | None = None, *, closes: bool = False) -> Response:
    document = {"schema_version": SCHEMA_VERSION, "error": message, "hint": hint}
    return JSONResponse(document, status_code=status, headers={"Connection": "close"} if closes else None)

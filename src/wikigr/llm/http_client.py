"""The HTTP client for a model's server: proxies from the environment, no redirects, limited replies."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx2

from wikigr.errors import UsageError
from wikigr.transport import Transport, load_certificates

# The limit of a body, which ``client`` lowers for the replies that it reads.
_MAX_BODY_BYTES = 32 * 1024 * 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def open_http_client(base_url: str, prepare: Callable[[httpx2.Request], None] = lambda _: None) -> httpx2.Client:
    """Return a client for requests to ``base_url``; the timeout of a request limits all of it, see ``Transport``.

    ``prepare`` may change the headers of every request before it is sent.

    A redirect is returned as it is: following it would send the question and the headers to another server.

    Raises ``UsageError`` if the proxy or the certificates that the environment names are not usable.
    """
    return httpx2.Client(
        transport=Transport(max_body=_MAX_BODY_BYTES, ssl_context=_ssl_context(base_url), proxy=_proxy(base_url)),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [prepare], "response": [_read_as_utf8]},
    )


def _read_as_utf8(response: httpx2.Response) -> None:
    # A server may name any codec of Python, including one that decompresses.
    response.encoding = "utf-8"


def _ssl_context(base_url: str) -> ssl.SSLContext | None:
    # Reading the certificate authorities takes 30 ms, which a local server does not need.
    return load_certificates(UsageError) if urlsplit(base_url).scheme == "https" else None


def _proxy(base_url: str) -> httpx2.Proxy | None:
    """Return the proxy for ``base_url`` from the environment; requests to this machine bypass it."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if host in _LOOPBACK or urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = urllib.request.getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all")
    if not url:
        return None
    try:
        return httpx2.Proxy(url if "://" in url else f"http://{url}")
    except (ValueError, httpx2.InvalidURL):
        # Without the cause, which contains the URL and its password.
        raise UsageError(
            f"The proxy for {parts.scheme} in the environment is not a valid URL.",
            hint="Set HTTPS_PROXY, HTTP_PROXY or ALL_PROXY to a URL such as http://proxy.example:3128.",
        ) from None

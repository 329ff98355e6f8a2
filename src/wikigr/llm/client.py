"""A client for Claude, or for any server that implements the Messages API, on top of the ``anthropic`` SDK."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from wikigr.errors import UsageError
from wikigr.llm.failures import Server
from wikigr.llm.http_api import HttpClient, checked_key, checked_url
from wikigr.llm.model_client import CallOptions, Request

if TYPE_CHECKING:
    from typing import Unpack

    import anthropic
    import httpx2

DEFAULT_BASE_URL = "https://api.anthropic.com"


class Claude(HttpClient):
    """Calls one model with the Messages API; ``HttpClient`` describes deadlines, retries, the budget and the cache.

    ``api_key`` and ``base_url`` default to ``ANTHROPIC_API_KEY`` (else ``ANTHROPIC_AUTH_TOKEN``) and
    ``ANTHROPIC_BASE_URL``; the SDK's credential files are not read. The credentials include the values of the headers
    in ``ANTHROPIC_CUSTOM_HEADERS``, which the SDK sends as well.

    Raises ``UsageError`` if there is neither a key nor a base URL, or if one of them is malformed.
    """

    _package = "anthropic"
    _arguments = ("model", "max_tokens", "messages")

    def __init__(
        self, *, model: str, api_key: str | None = None, base_url: str | None = None, **options: Unpack[CallOptions]
    ) -> None:
        self._key = checked_key(api_key, "ANTHROPIC_API_KEY")
        self._token = None if self._key else checked_key(None, "ANTHROPIC_AUTH_TOKEN")
        given_url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or "").strip()
        if not (self._key or self._token or given_url):
            raise UsageError(
                "There is no API key for a language model.",
                hint="Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server.",
            )
        url = checked_url(given_url or DEFAULT_BASE_URL, "ANTHROPIC_BASE_URL")
        super().__init__(model=model, server=Server(url, self._key or self._token), base_url=url, **options)

    def _open_sdk(self, http: httpx2.Client, *, retries: int) -> anthropic.Anthropic:
        import anthropic

        # An explicit key or token stops the SDK from searching for profiles and tokens on disk. A local server may not
        # require a key, but the SDK does.
        return anthropic.Anthropic(
            api_key=self._key or (None if self._token else "none"),
            auth_token=self._token,
            base_url=self._base_url,
            max_retries=retries,
            http_client=http,
        )

    def _calls(self, sdk: Any) -> Any:
        return sdk.messages

    def _body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        named = {"model": request.model, "max_tokens": request.max_tokens, "messages": request.messages}
        return {**named, **request.fields}

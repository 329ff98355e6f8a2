"""A client for Claude, or for any server that implements the Messages API, on top of the ``anthropic`` SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wikigr.errors import UsageError
from wikigr.llm.budget import Budget
from wikigr.llm.failures import BadRequestError, LlmError, Server
from wikigr.llm.http_api import HttpClient, checked_key, checked_url
from wikigr.llm.model_client import Request
from wikigr.llm.reply import BlockEnd, Event, Reply, TextBlock, TextDelta, ToolUse
from wikigr.llm.response_cache import ResponseCache

if TYPE_CHECKING:
    import anthropic

__all__ = [
    "BadRequestError",
    "BlockEnd",
    "Claude",
    "Event",
    "LlmError",
    "Reply",
    "TextBlock",
    "TextDelta",
    "ToolUse",
]

DEFAULT_BASE_URL = "https://api.anthropic.com"

# A local server may not require a key, but the SDK does.
_NO_KEY = "none"


class Claude(HttpClient):
    """Calls one model with the Messages API; ``HttpClient`` describes deadlines, retries, the budget and the cache.

    ``api_key`` and ``base_url`` default to ``ANTHROPIC_API_KEY`` (else ``ANTHROPIC_AUTH_TOKEN``) and
    ``ANTHROPIC_BASE_URL``; the SDK's credential files are not read. The credentials include the values of the headers
    in ``ANTHROPIC_CUSTOM_HEADERS``, which the SDK sends as well.

    Raises ``UsageError`` if there is neither a key nor a base URL, or if one of them is malformed.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        budget: Budget | None = None,
        cache: ResponseCache | None = None,
        repeat: int = 0,
    ) -> None:
        self._key = checked_key(api_key or os.environ.get("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY")
        token = None if self._key else checked_key(os.environ.get("ANTHROPIC_AUTH_TOKEN"), "ANTHROPIC_AUTH_TOKEN")
        self._token = token
        given_url = (base_url or os.environ.get("ANTHROPIC_BASE_URL") or "").strip()
        if not (self._key or self._token or given_url):
            raise UsageError(
                "There is no API key for a language model.",
                hint="Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a local server.",
            )
        url = checked_url(given_url or DEFAULT_BASE_URL, "ANTHROPIC_BASE_URL")
        super().__init__(
            model=model,
            server=Server(url, self._key or self._token),
            base_url=url,
            timeout=timeout,
            retries=retries,
            budget=budget,
            cache=cache,
            repeat=repeat,
        )

    def _open_sdk(self) -> anthropic.Anthropic:
        import anthropic

        from wikigr.llm.http_client import open_http_client

        # An explicit key or token stops the SDK from searching for profiles and tokens on disk.
        return anthropic.Anthropic(
            api_key=self._key or (None if self._token else _NO_KEY),
            auth_token=self._token,
            base_url=self._base_url,
            timeout=self.timeout,
            max_retries=0,
            http_client=open_http_client(self._base_url),
        )

    def _library(self) -> Any:
        import anthropic

        return anthropic

    def _calls(self) -> Any:
        return self.sdk.messages.with_streaming_response

    def _body(self, request: Request, *, stream: bool) -> Mapping[str, Any]:
        return {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "messages": request.messages,
            "extra_body": request.fields,
        }

"""A client for any server that implements the chat-completions API of OpenAI, on top of the ``openai`` SDK."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from wikigr.errors import UsageError
from wikigr.llm import CHAT_KEY, CHAT_URL
from wikigr.llm.budget import Budget
from wikigr.llm.chat_format import chat_body, events_of, is_empty, message_of
from wikigr.llm.failures import Api, Server
from wikigr.llm.http_api import HttpClient, checked_key, checked_url
from wikigr.llm.model_client import Request
from wikigr.llm.response_cache import ResponseCache

if TYPE_CHECKING:
    import httpx2
    import openai

_API = Api("chat-completions API", CHAT_URL, CHAT_KEY)
# The headers that a request needs. The SDK adds those of the user's account with OpenAI from other variables
# (OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS), which are no business of another server.
_HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"),
    # By this one, the SDK knows that the response is to be returned unread.
    "x-stainless-raw-response",
}
_OPENAI = "https://api.openai.com/"


class ChatServer(HttpClient):
    """Calls one model with the chat-completions API; ``HttpClient`` describes deadlines, retries, budget and cache.

    ``base_url`` and ``api_key`` default to ``WIKIGR_OPENAI_BASE_URL`` and ``WIKIGR_OPENAI_API_KEY``, which may be
    missing. No other variable of the environment is sent. Such servers have no citations of their own.

    Raises ``UsageError`` if the SDK is not installed, or if the address is missing or malformed.
    """

    _end_of_stream = "[DONE]"

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
        if find_spec("openai") is None:
            raise UsageError(
                f"{CHAT_URL} needs the package openai, which is not installed.",
                hint="Install it: pip install 'wikigr[openai]'",
            )
        url = checked_url((base_url or os.environ.get(CHAT_URL) or "").strip(), CHAT_URL)
        self._key = checked_key(api_key or os.environ.get(CHAT_KEY), CHAT_KEY)
        super().__init__(
            model=model,
            server=Server(url, self._key, _API),
            base_url=url,
            timeout=timeout,
            retries=retries,
            budget=budget,
            cache=cache,
            repeat=repeat,
        )

    def _open_sdk(self) -> openai.OpenAI:
        import openai

        from wikigr.llm.http_client import open_http_client

        # An explicit key stops the SDK from taking one from the environment; ``_prepare`` removes it.
        return openai.OpenAI(
            api_key=self._key or "none",
            base_url=self._base_url,
            timeout=self.timeout,
            max_retries=0,
            http_client=open_http_client(self._base_url, self._prepare),
        )

    def _prepare(self, request: httpx2.Request) -> None:
        """Leave only the headers that the server needs, with the key if there is one."""
        for name in set(request.headers) - _HEADERS:
            del request.headers[name]
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"

    def _library(self) -> Any:
        import openai

        return openai

    def _calls(self) -> Any:
        return self.sdk.chat.completions.with_streaming_response

    def _body(self, request: Request, *, stream: bool) -> Mapping[str, Any]:
        body = chat_body(request)
        if self._base_url.startswith(_OPENAI):
            body["max_completion_tokens"] = body.pop("max_tokens")
        if stream:
            body["stream_options"] = {"include_usage": True}
        return {"model": body.pop("model"), "messages": body.pop("messages"), "extra_body": body}

    def _to_message(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        return message_of(reply)

    def _to_events(self, received: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        return events_of(received)

    @staticmethod
    def _is_ping(event: Mapping[str, Any]) -> bool:
        return is_empty(event)

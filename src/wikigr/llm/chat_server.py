"""A client for any server that implements the chat-completions API of OpenAI, on top of the ``openai`` SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from wikigr.errors import UsageError
from wikigr.llm.chat_format import as_chunk, chat_body, events_of, is_empty
from wikigr.llm.failures import CHAT_API, LlmError, Server
from wikigr.llm.http_api import HttpClient, checked_key, checked_url
from wikigr.llm.model_client import CallOptions, Request, decoded
from wikigr.llm.reply import END_OF_STREAM, MalformedReply

if TYPE_CHECKING:
    from typing import Unpack

    import httpx2
    import openai

# The headers that a request needs. The SDK adds those of the user's account with OpenAI from other variables
# (OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS), which are no business of another server.
_HEADERS = {
    *("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"),
    # By this one, the SDK knows that the response is to be returned unread.
    "x-stainless-raw-response",
}
_CLAUDE = "claude"


class ChatServer(HttpClient):
    """Calls one model with the chat-completions API; ``HttpClient`` describes deadlines, retries, budget and cache.

    ``base_url`` and ``api_key`` default to ``WIKIGR_OPENAI_BASE_URL`` and ``WIKIGR_OPENAI_API_KEY``, which may be
    missing. No other variable of the environment is sent. Such servers have no citations of their own. The default
    model is one of Claude; in its place, a server that does not have it answers with its only model.

    Raises ``UsageError`` if the SDK is not installed, or if the address is missing or malformed.
    """

    _package = "openai"
    _arguments = ("model", "messages")
    _end_of_stream = "[DONE]"
    _requires_usage = False
    _holds_streams = True

    def __init__(
        self, *, model: str, api_key: str | None = None, base_url: str | None = None, **options: Unpack[CallOptions]
    ) -> None:
        if find_spec("openai") is None:
            raise UsageError(
                f"{CHAT_API.url_variable} needs the package openai, which is not installed.",
                hint="Install it: pip install 'wikigr[openai]'",
            )
        url = checked_url(base_url or "", CHAT_API.url_variable)
        self._key = checked_key(api_key, CHAT_API.key_variable)
        super().__init__(model=model, server=Server(url, self._key, CHAT_API), base_url=url, **options)

    def _open_sdk(self, http: httpx2.Client, *, retries: int) -> openai.OpenAI:
        import openai

        # An explicit key stops the SDK from taking one from the environment; ``_prepare`` removes it.
        return openai.OpenAI(
            api_key=self._key or "none", base_url=self._base_url, max_retries=retries, http_client=http
        )

    def answering(self, model: str | None = None) -> str:
        """Return the model that answers; raises ``UsageError`` if nothing says which of the server's models it is."""
        asked = model or self.model
        if not asked.startswith(_CLAUDE) or asked in self._listed:
            return asked
        if not self.model.startswith(_CLAUDE):
            return self.model
        if len(self._listed) == 1:
            return self._listed[0]
        names = [self._server.clean(name) for name in self._listed[:8]]
        raise UsageError(
            f"No model was chosen, and {self._server.name} "
            + (f"has {len(self._listed)}." if names else "does not say which it has."),
            hint="Give its name with --model, or as synthesis.model in the profile"
            + (f": {', '.join(names)}." if names else "."),
        )

    def check_model(self, option: str) -> None:
        found = self.answering()
        if found != self.model:
            raise UsageError(
                f"{self._server.name} answers with the model {self._server.clean(found)}, not with {self.model}.",
                hint=f"Name it: {option} {self._server.clean(found)}",
            )

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        """The ids of the server's models; empty if it does not list them."""
        try:
            raw = self._fetch(lambda sdk: sdk.models.with_raw_response.list(), 32 << 20, self.model)
            found = decoded(raw).get("data")
        except LlmError as error:
            if error.status is None:
                raise
            return ()
        except MalformedReply:
            return ()
        ids = [each.get("id") for each in found if isinstance(each, dict)] if isinstance(found, list) else []
        return tuple(name for name in ids if isinstance(name, str) and name)

    def _prepare(self, request: httpx2.Request) -> None:
        """Leave only the headers that the server needs, with the key if there is one."""
        for name in set(request.headers) - _HEADERS:
            del request.headers[name]
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"

    def _calls(self, sdk: Any) -> Any:
        return sdk.chat.completions

    def _body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        body = chat_body(request)
        return {**body, "stream_options": {"include_usage": True}} if stream else body

    def _of_message(self, message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        return events_of([as_chunk(message), END_OF_STREAM])

    def _of_stream(self, events: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        return events_of(events)

    @staticmethod
    def _is_ping(event: Mapping[str, Any]) -> bool:
        return is_empty(event)

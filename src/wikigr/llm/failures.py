"""The failures of model calls as errors with readable messages, which never contain the API key.

Servers and models refuse parameters that others need: ``refused_in`` says which one a request can do without.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from wikigr.errors import WikigrError
from wikigr.llm.redaction import Secrets, sent_credentials

_MAX_DETAIL_CHARS = 300
# A stream that fails has already answered with status 200. Its error event has a type that corresponds to a status.
# https://platform.claude.com/docs/en/api/errors
_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_REDIRECT = (
    "{server} redirects to another address ({status}). Nothing was sent there.",
    "Set {url_variable} to the final address if you trust it.",
)
_NO_ACCESS = (
    "{server} did not accept the API key ({status}){detail}",
    "Set {key_variable} to a key with access to this model.",
)
_OVERLOADED = ("{server} is overloaded ({status}){detail}", "Try again later.")
# What to say about a status, and a hint.
_REJECTIONS: dict[int, tuple[str, str | None]] = {
    **dict.fromkeys((301, 302, 303, 307, 308), _REDIRECT),
    400: ("{server} rejected the request ({status}){detail}", None),
    401: _NO_ACCESS,
    403: _NO_ACCESS,
    404: (
        "{server} does not know the model {model} ({status}){detail}",
        "Check synthesis.model in the profile, and {url_variable} if it is set.",
    ),
    413: ("The request is too large for {server} ({status}){detail}", "Give the model fewer or shorter sections."),
    429: (
        "{server} limits the rate of requests, or the account has reached its quota ({status}){detail}",
        "Try again later, or run fewer questions in parallel.",
    ),
    503: _OVERLOADED,
    529: _OVERLOADED,
}


class LlmError(WikigrError):
    """A model call failed. ``status`` is the HTTP status of the response, or ``None`` without a response."""

    def __init__(self, message: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class EmptyReplyError(LlmError):
    """The model wrote nothing, or only its thoughts."""


class BadRequestError(LlmError):
    """The server rejected the request (400); a request with fewer options may succeed."""


@dataclass(frozen=True, slots=True)
class Api:
    """An API as messages name it, with the variables for the address of a server and its key."""

    name: str
    url_variable: str
    key_variable: str


MESSAGES_API = Api("Messages API", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")
# The variables of OpenAI's own SDK are not read: a key for one server must not be sent to another.
CHAT_API = Api("chat-completions API", "WIKIGR_OPENAI_BASE_URL", "WIKIGR_OPENAI_API_KEY")


class Server:
    """A client's server: its name in messages, and the errors for its failures.

    ``secret`` is the API key. ``secrets`` are all credentials sent to the server; no message shows any of them.
    """

    def __init__(self, base_url: str, secret: str | None, api: Api = MESSAGES_API) -> None:
        parts = urlsplit(base_url)
        self._api = api
        self.secrets = Secrets(sent_credentials(base_url, secret))
        # The URL may contain a user name and password before the host, and a key in the query.
        self.name = self.clean(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")))

    def clean(self, text: str) -> str:
        """Return external text as one line of at most 300 characters, without control characters and credentials."""
        line = "".join(
            " " if char.isspace() else char
            for char in text
            if char.isspace() or not unicodedata.category(char).startswith("C")
        )
        line = " ".join(self.secrets.clean(line).split())
        return line if len(line) <= _MAX_DETAIL_CHARS else line[: _MAX_DETAIL_CHARS - 1] + "…"

    def rejected(self, status: int, body: object, *, model: str) -> LlmError:
        """Return the error for a failing HTTP status; ``body`` is the decoded JSON, or else the text."""
        message = self.clean(_message_in(body))
        detail = f": {message}" if message else "."
        error = BadRequestError if status == 400 else LlmError
        what, hint = _REJECTIONS.get(status, ("{server} answered with status {status}{detail}", None))
        described = what.format(server=self.name, status=status, detail=detail, model=self.clean(model))
        variables = {"url_variable": self._api.url_variable, "key_variable": self._api.key_variable}
        return error(described, hint=hint and hint.format(**variables), status=status)

    def reported(self, event: Mapping[str, Any], *, model: str) -> LlmError:
        """Return the error for an ``error`` event in a stream."""
        error = event.get("error")
        kind, code = (error.get("type"), error.get("code")) if isinstance(error, Mapping) else (None, None)
        status = _STATUS_OF_KIND.get(str(kind), 500)
        if isinstance(code, int) and 400 <= code < 600:
            status = code
        return self.rejected(status, event, model=model)

    def timed_out(self, seconds: float) -> LlmError:
        return LlmError(
            f"{self.name} did not answer within {seconds:g} s.", hint="Try again, or raise synthesis.timeout."
        )

    def unreachable(self, reason: str) -> LlmError:
        return LlmError(
            f"Cannot connect to {self.name}: {self.clean(reason) or 'no reason given'}",
            hint=f"Check the network, the proxy settings, and {self._api.url_variable} if it is set.",
        )

    def disconnected(self, reason: str) -> LlmError:
        return LlmError(
            f"The connection to {self.name} ended before the reply was complete: {self.clean(reason)}",
            hint="Try again.",
        )

    def malformed_reply(self, reason: str) -> LlmError:
        """Return the error for a successful response that is not a reply of the API."""
        return LlmError(
            f"{self.name} did not send a reply of the {self._api.name}: {self.clean(reason)}.",
            hint=f"Check that {self._api.url_variable} names a server that speaks the {self._api.name}.",
        )


def _message_in(body: object) -> str:
    """Return the server's message from an error body; a web page is not a message."""
    if isinstance(body, Mapping):
        error = body.get("error")
        # Some servers send the message at the top; the SDK of OpenAI passes on the inner object.
        body = error.get("message") if isinstance(error, Mapping) else error or body.get("message")
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""


# Names as they appear in the messages of servers, and so in the body, except for the role of the instructions.
_SYSTEM_ROLE = "system role"
_OPTIONAL = ("temperature", "stream_options", "tool_choice", "response_format", "strict", "tools")
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"


def refused_in(message: str, body: Mapping[str, Any]) -> str | None:
    """Return which part of ``body`` a server refuses with ``message`` and can be left out or said otherwise, if any."""
    if re.search(r"system.{0,20}\brole|\brole.{0,20}system", message, re.IGNORECASE) and "system" in _roles(body):
        return _SYSTEM_ROLE
    named = set(re.findall(r"[a-z_]+", message.lower()))
    for name in (*_OPTIONAL, _LIMIT):
        is_sent = name in body or (name == "strict" and any("strict" in tool for tool in body.get("tools", ())))
        if name in named and is_sent:
            return name
    return None


def without(body: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return ``body`` without what is ``refused``; the limit of the reply gets its other name, never none."""
    left = {name: value for name, value in body.items() if name not in refused or name == _LIMIT}
    if _LIMIT in refused and _LIMIT in left:
        left[_OTHER_LIMIT] = left.pop(_LIMIT)
    if "strict" in refused and "tools" in left:
        left["tools"] = [{name: value for name, value in tool.items() if name != "strict"} for tool in left["tools"]]
    if "tools" in refused:
        left.pop("tool_choice", None)
    if _SYSTEM_ROLE in refused and "system" in _roles(left):
        system, first, *others = left["messages"]
        left["messages"] = [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *others]
    return left


def _roles(body: Mapping[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]

"""What can go wrong in a call of a model, as errors of ours: one paragraph each, and never the API key in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from wikigr.errors import WikigrError
from wikigr.llm.redaction import Secrets, sent_credentials

_DETAIL_LIMIT = 300
# A stream answers 200 before it fails; its error event names the kind that a status would have told.
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


class LlmError(WikigrError):
    """A call of a model failed. ``status`` is the HTTP status of the refusal, ``None`` where none came."""

    def __init__(self, message: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class BadRequestError(LlmError):
    """The server rejects this request (400); a plainer one may pass."""


class Server:
    """The server that a client asks: how messages name it, and what its failures mean.

    ``secret`` is the API key; no message shows it, nor what else the server is sent to authorise a request.
    ``secrets`` is the list of that.
    """

    def __init__(self, base_url: str, secret: str | None) -> None:
        parts = urlsplit(base_url)
        self.secrets = Secrets(sent_credentials(base_url, secret))
        # A user name and a password may stand before the host, and a key in the query.
        self.name = self.clean(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")))

    def clean(self, text: str) -> str:
        """Text from outside, fit to be shown: one line of at most 300 characters, no control characters, no key."""
        line = "".join(
            " " if char.isspace() else char
            for char in text
            if char.isspace() or not unicodedata.category(char).startswith("C")
        )
        line = " ".join(self.secrets.clean(line).split())
        return line if len(line) <= _DETAIL_LIMIT else line[: _DETAIL_LIMIT - 1] + "…"

    def refused(self, status: int, body: object, *, model: str) -> LlmError:
        """The error for an HTTP status that is no success; ``body`` is the decoded JSON, or the text."""
        said = self.clean(_message_in(body))
        told = f": {said}" if said else "."
        if status == 400:
            return BadRequestError(f"{self.name} rejected the request (400){told}", status=status)
        if status in (401, 403):
            return LlmError(
                f"{self.name} did not accept the API key ({status}){told}",
                hint="Set ANTHROPIC_API_KEY to a key that may use this model.",
                status=status,
            )
        if status == 404:
            return LlmError(
                f"{self.name} does not know the model {self.clean(model)} (404){told}",
                hint="Check synthesis.model in the profile, and ANTHROPIC_BASE_URL where it is set.",
                status=status,
            )
        if status == 413:
            return LlmError(
                f"The request is too large for {self.name} (413){told}",
                hint="Give the model fewer or shorter sections.",
                status=status,
            )
        if status == 429:
            return LlmError(
                f"{self.name} limits the rate of requests, or the account has reached its quota (429){told}",
                hint="Try again later, or ask fewer questions at a time.",
                status=status,
            )
        if status in (503, 529):
            return LlmError(f"{self.name} is overloaded ({status}){told}", hint="Try again later.", status=status)
        return LlmError(f"{self.name} answered with status {status}{told}", status=status)

    def reported(self, event: Mapping[str, Any], *, model: str) -> LlmError:
        """The error for an ``error`` event in a stream."""
        error = event.get("error")
        kind = error.get("type") if isinstance(error, Mapping) else None
        return self.refused(_STATUS_OF_KIND.get(str(kind), 500), event, model=model)

    def silent(self, seconds: float) -> LlmError:
        return LlmError(
            f"{self.name} did not answer within {seconds:g} s.", hint="Try again, or raise synthesis.timeout."
        )

    def unreachable(self, reason: str) -> LlmError:
        return LlmError(
            f"Cannot connect to {self.name}: {self.clean(reason) or 'no reason given'}",
            hint="Check the network, the proxy settings, and ANTHROPIC_BASE_URL where it is set.",
        )

    def broke_off(self, reason: str) -> LlmError:
        return LlmError(
            f"The connection to {self.name} broke off before the reply was complete: {self.clean(reason)}",
            hint="Try again.",
        )

    def no_reply(self, reason: str) -> LlmError:
        """What came with a status of success is not a reply of the Messages API."""
        return LlmError(
            f"{self.name} did not give a reply of the Messages API: {self.clean(reason)}.",
            hint="Check that ANTHROPIC_BASE_URL names a server that speaks the Messages API.",
        )


def _message_in(body: object) -> str:
    """The server's own words in an error body; those of a web page are no message."""
    if isinstance(body, Mapping):
        error = body.get("error")
        found = error.get("message") if isinstance(error, Mapping) else error
        return found if isinstance(found, str) else ""
    if isinstance(body, str) and not body.lstrip().startswith("<"):
        return body
    return ""

"""Remove credentials from a server's output: it may echo them, even in a successful reply."""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

# The replacement for a credential.
MARK = "[key]"
# A shorter "key" is a placeholder for a local server and may occur in ordinary words; so may a shorter prefix of a key.
MIN_LENGTH = 8

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def sent_credentials(base_url: str, secret: str | None) -> Iterator[str]:
    """Yield the credentials in a request to ``base_url``, in every form in which they are sent.

    These are ``secret`` (the key or token), the user name, password and query of the URL, the values of the headers in
    ``ANTHROPIC_CUSTOM_HEADERS``, which the SDK adds, and the credentials of the proxies in the environment.
    """
    if secret:
        yield secret
    yield from _url_credentials(base_url)
    for name, value in os.environ.items():
        if name.lower() in _PROXIES:
            yield from _url_credentials(value if "://" in value else f"http://{value}")
    for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
        yield from _header_credentials(line.partition(":")[2].strip())


class Secrets:
    """A set of credentials to remove from texts. Credentials of fewer than eight characters are ignored."""

    def __init__(self, credentials: Iterable[str] = ()) -> None:
        known = {text for text in credentials if len(text) >= MIN_LENGTH}
        # Longer credentials first: if one is a prefix of another, the rest of the longer one must not remain.
        self._known = sorted(known, key=lambda text: (-len(text), text))
        self._any = re.compile("|".join(map(re.escape, self._known)) or r"(?!)")

    def clean(self, text: str) -> str:
        """Return ``text`` with every credential replaced by ``[key]``."""
        return self._any.sub(MARK, text)

    def clean_json(self, value: Any) -> Any:
        """Return decoded JSON with all its strings cleaned, including keys; raises ``RecursionError``."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean_json(item) for key, item in value.items()}
        return [self.clean_json(item) for item in value] if isinstance(value, list) else value

    def find(self, text: str, start: int) -> re.Match[str] | None:
        """Return the first credential in ``text`` after ``start``, or ``None``."""
        return self._any.search(text, start)

    def find_partial(self, text: str, start: int) -> int:
        """Return the offset after ``start`` of a possible credential prefix at the end of ``text``, or its length."""
        longest = len(self._known[0]) if self._known else 0
        for place in range(max(start, len(text) - longest + 1), len(text)):
            if any(known.startswith(text[place:]) and len(known) > len(text) - place for known in self._known):
                return place
        return len(text)


class Cleaner:
    """Cleans text that arrives in pieces and blocks, either of which may end in the middle of a credential.

    A possible prefix of a credential is held back until the next piece. At the end of a block, a prefix of eight
    characters or more is replaced; a shorter one is passed on, and the rest is removed from the next block.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""
        # The number of held characters that were already passed on at the end of a block.
        self._emitted = 0

    def feed(self, piece: str) -> str:
        """Return the text that can be passed on after ``piece``."""
        return self._emit(self._held + piece, ended=False)

    def end_block(self) -> str:
        """Return the rest of a block that has ended."""
        rest = self._emit(self._held, ended=True)
        if len(self._held) >= MIN_LENGTH:
            self._held, self._emitted = "", 0
            return rest + MARK
        rest += self._held[self._emitted :]
        self._emitted = len(self._held)
        return rest

    def _emit(self, text: str, *, ended: bool) -> str:
        at, found = 0, []
        while match := self._secrets.find(text, at):
            # A complete credential may be the prefix of a longer one that has not fully arrived.
            if not ended and match.start() >= self._secrets.find_partial(text, at):
                break
            found += [text[max(at, self._emitted) : match.start()], MARK]
            at = match.end()
        partial = self._secrets.find_partial(text, at)
        found.append(text[max(at, self._emitted) : partial])
        self._held, self._emitted = text[partial:], max(0, self._emitted - partial)
        return "".join(found)


def _url_credentials(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    user_info = parts.netloc.rpartition("@")[0]
    if user_info:
        # It is sent as base64, after unescaping.
        yield b64encode(unquote_to_bytes(user_info)).decode()
    for text in (*user_info.split(":", 1), *(part.partition("=")[2] for part in parts.query.split("&"))):
        yield text
        yield unquote(text)


def _header_credentials(value: str) -> Iterator[str]:
    yield value
    scheme, _, rest = value.partition(" ")
    if not rest:
        return
    yield rest.strip()
    if scheme.lower() == "basic":
        try:
            yield from b64decode(rest, validate=True).decode().split(":", 1)
        except ValueError:
            return

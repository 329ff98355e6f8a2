"""Credentials that a server was sent, taken out of what it sends back: it may repeat them, in a good reply too."""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote, unquote_to_bytes, urlsplit

# What stands in the place of a credential.
MARK = "[key]"
# A shorter "key" is a placeholder for a local server, and may be a part of any word. So may a shorter beginning of one.
SHORTEST = 8

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")

_T = TypeVar("_T")


def sent_credentials(base_url: str, secret: str | None) -> Iterator[str]:
    """Yield what a request to ``base_url`` carries that nobody else may see, in each form in which it is sent.

    That is ``secret`` (the key or token), user name, password and query of the address, the values of the headers in
    ``ANTHROPIC_CUSTOM_HEADERS``, which the SDK sends along, and what opens the proxy that the environment names.
    """
    if secret:
        yield secret
    yield from _of_address(base_url)
    for name, value in os.environ.items():
        if name.lower() in _PROXIES:
            yield from _of_address(value if "://" in value else f"http://{value}")
    for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
        yield from _of_header(line.partition(":")[2].strip())


class Secrets:
    """The credentials that ``clean`` takes out of texts; those of fewer than eight characters are left alone."""

    def __init__(self, credentials: Iterable[str] = ()) -> None:
        known = {text for text in credentials if len(text) >= SHORTEST}
        # Of two that begin alike the longer one first, or the rest of it would be left.
        self._known = sorted(known, key=lambda text: (-len(text), text))
        self._any = re.compile("|".join(map(re.escape, self._known)) or r"(?!)")

    def clean(self, text: str) -> str:
        """Return ``text`` with ``[key]`` for every credential in it."""
        return self._any.sub(MARK, text)

    def clean_json(self, value: _T) -> _T:
        """Return decoded JSON with every text in it cleaned, keys included; raises ``RecursionError``."""
        return self._cleaned(value) if self._known else value

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(key): self._cleaned(item) for key, item in value.items()}
        return [self._cleaned(item) for item in value] if isinstance(value, list) else value

    def find(self, text: str, start: int) -> re.Match[str] | None:
        """Return the first credential in ``text`` from ``start``, or ``None``."""
        return self._any.search(text, start)

    def begun(self, text: str, start: int) -> int:
        """Return where in ``text``, from ``start``, what may be the beginning of a credential begins, or its length."""
        longest = len(self._known[0]) if self._known else 0
        for place in range(max(start, len(text) - longest + 1), len(text)):
            if any(known.startswith(text[place:]) and len(known) > len(text) - place for known in self._known):
                return place
        return len(text)


class Cleaner:
    """Cleans a text that comes in pieces, and in blocks, either of which may end in the middle of a credential.

    What may be the beginning of one is held back until the next piece. Of a block that ends so, a beginning of eight
    characters or more is taken out, and a shorter one is given: the rest is taken out of the block after it.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""
        # So many characters of what is held were given already, at the end of a block.
        self._given = 0

    def feed(self, piece: str) -> str:
        """Return what can be given of the text so far."""
        return self._give(self._held + piece, ended=False)

    def end_block(self) -> str:
        """Return what was held back of a block that has ended."""
        rest = self._give(self._held, ended=True)
        if len(self._held) >= SHORTEST:
            self._held, self._given = "", 0
            return rest + MARK
        rest += self._held[self._given :]
        self._given = len(self._held)
        return rest

    def _give(self, text: str, *, ended: bool) -> str:
        at, found = 0, []
        while match := self._secrets.find(text, at):
            # A whole credential may be the beginning of a longer one that is not all there yet.
            if not ended and match.start() >= self._secrets.begun(text, at):
                break
            found += [text[max(at, self._given) : match.start()], MARK]
            at = match.end()
        begun = self._secrets.begun(text, at)
        found.append(text[max(at, self._given) : begun])
        self._held, self._given = text[begun:], max(0, self._given - begun)
        return "".join(found)


def _of_address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    named = parts.netloc.rpartition("@")[0]
    if named:
        # They are sent as base64, with what is escaped in an address as it was.
        yield b64encode(unquote_to_bytes(named)).decode()
    for text in (*named.split(":", 1), *(part.partition("=")[2] for part in parts.query.split("&"))):
        yield text
        yield unquote(text)


def _of_header(value: str) -> Iterator[str]:
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

"""Addresses in text output: which ones a terminal or a browser may open, and how they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\s]")
# The separators of an address, and ``%``, which begins an encoded character.
_KEPT = "%/:?#[]@!$&'()*+,;=~"


def openable(url: str | None) -> str | None:
    """Return an untrusted ``url`` percent-encoded if a terminal or a browser may open it, else ``None``.

    Only web addresses and files of this machine without control characters or blanks qualify.
    """
    if url is None or _FORBIDDEN.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    is_web = parts.scheme in ("http", "https") and parts.netloc
    is_file = parts.scheme == "file" and not parts.netloc and parts.path.startswith("/")
    return quote(url, safe=_KEPT) if is_web or is_file else None


def shown_address(url: str) -> str:
    """Return ``url`` for a reader: a file in the working directory as a path that terminals can open."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url
    path = Path(unquote(parts.path))
    if not path.is_relative_to(Path.cwd()):
        return url
    return f"{path.relative_to(Path.cwd())}{'#' if parts.fragment else ''}{unquote(parts.fragment)}"

"""Addresses in text output: which ones a terminal or a browser may open, and how they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\s]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
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
    return _CONTROL.sub("�", unquote(linked_address(url))) if _is_here(url) else url


def linked_address(url: str) -> str:
    """Return ``url`` for a link in a document: a file in the working directory as a percent-encoded relative path."""
    if not _is_here(url):
        return url
    parts = urlsplit(url)
    relative = Path(unquote(parts.path)).relative_to(Path.cwd())
    return f"{quote(str(relative))}{'#' if parts.fragment else ''}{parts.fragment}"


def _is_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "file" and Path(unquote(parts.path)).is_relative_to(Path.cwd())

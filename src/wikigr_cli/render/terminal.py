"""What a terminal can show: lines that fit its width, and addresses that it may open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote, urlsplit

# Whatever stands for a style; wrapping only passes it on.
Style = TypeVar("Style")


# Letters and signs of one column, for which nothing is imported.
_NARROW = re.compile("[ -~\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2500-\u257f→]*")


def cells(text: str) -> int:
    """Return the width of ``text`` in terminal columns."""
    if _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(line: str, width: int, *, front: bool = False) -> str:
    """Return ``line`` in at most ``width`` columns, with ``…`` for the removed end (``front``: beginning)."""
    if cells(line) <= width:
        return line
    kept, used = 0, 1
    for character in reversed(line) if front else line:
        used += cells(character)
        if used > width:
            break
        kept += 1
    return f"…{line[len(line) - kept :]}" if front else f"{line[:kept]}…"


def breaks(text: str, width: int, hang: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield the lines of ``text`` wrapped at ``width`` columns, each as (indent, begin, end) with offsets in ``text``.

    Continuation lines are indented by ``hang`` columns (default: by the line's own leading blanks). A word that is
    longer than a line stays whole, so that a path or a digest can be copied.
    """
    begin = 0
    for line in text.split("\n"):
        yield from ((indent, begin + first, begin + last) for indent, first, last in _breaks(line, width, hang))
        begin += len(line) + 1


def _breaks(line: str, width: int, hang: int | None) -> Iterator[tuple[int, int, int]]:
    leading = len(line) - len(line.lstrip(" "))
    # Leave at least half of the width for words.
    hang = min(leading if hang is None else hang, width // 2)
    indent = begin = end = used = 0
    # Each word with the blanks before it.
    for word in re.finditer(r" *[^ ]+", line):
        size = cells(word[0])
        if end and used + size > width:
            yield indent, begin, end
            indent = hang
            begin = word.end() - len(word[0].lstrip(" "))
            used = indent + cells(line[begin : word.end()])
        else:
            used += size
        end = word.end()
    yield indent, begin, end


def wrap_pieces(
    pieces: Sequence[tuple[str, Style]], width: int, plain: Style, hang: int | None = None
) -> list[list[tuple[str, Style]]]:
    """Wrap a line of (text, style) pieces at ``width`` columns; return the lines, each as pieces.

    ``plain`` is the style of the blanks that indent a line.
    """
    lines = []
    for indent, begin, end in breaks("".join(text for text, _ in pieces), width, hang):
        line = [(" " * indent, plain)] if indent else []
        offset = 0
        for text, style in pieces:
            part = text[max(begin - offset, 0) : max(end - offset, 0)]
            if part:
                line.append((part, style))
            offset += len(text)
        lines.append(line)
    return lines


_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
# The separators of an address, and ``%``, which begins an encoded character.
_KEPT = "%/:?#[]@!$&'()*+,;=~"


def openable(url: str | None) -> str | None:
    """Return an untrusted ``url`` percent-encoded if a terminal or a browser may open it, else ``None``.

    Only web addresses and files of this machine without control characters or blanks qualify.
    """
    if url is None or re.search(rf"{_CONTROL}|\s", url):
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
    return re.sub(_CONTROL, "�", unquote(linked_address(url))) if _is_here(url) else url


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

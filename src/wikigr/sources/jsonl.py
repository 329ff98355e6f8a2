"""Read JSON Lines: one article, or one passage of an article, per line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wikigr.errors import RecordError, SourceError
from wikigr.files import explain_json_error
from wikigr.sources.article import Skipped, SourceArticle, SourceItem, SourceSection
from wikigr.sources.streams import STDIN, Line, open_bytes, read_lines
from wikigr.text import fold

_HEADING = re.compile(r" {0,3}+(?P<marks>#{1,6}+)[ \t]++(?P<text>.+)")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Control characters such as NUL would end strings in the stores.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class JsonlSource:
    """One ``{id?, title, text, links?, categories?, aliases?, url?}`` per line; ``"-"`` reads standard input.

    ``text`` is plain text in which ATX headings (``## Heading``) outside code fences open sections. A record
    without ``id`` gets ``line-N``. An ``id``, and a link to it, may be an integer.
    """

    format = "jsonl"

    def __init__(self, path: Path | str) -> None:
        self.path: Path | str = STDIN if str(path) == STDIN else Path(path)

    def records(self) -> Iterator[Line]:
        """Yield every line that is not blank, holding one at a time."""
        is_empty = True
        with open_bytes(self.path) as stream:
            for record in read_lines(stream, self.path):
                if record.is_too_long or record.data.strip():
                    is_empty = False
                    yield record
        if is_empty:
            name = "Standard input" if self.path == STDIN else str(self.path)
            raise SourceError(f"{name} has no records.")

    def parse(self, record: Line) -> Iterator[SourceItem]:
        """Turn one line into an article; raises ``RecordError`` with the file and the line number."""
        where = record.where or f"line {record.line}"
        fields = _load(record, where)
        title = _text(fields, "title", where).strip()
        if not title:
            raise RecordError(where, "`title` is empty")
        sections = split_sections(_text(fields, "text", where), title)
        found = fields.get("id")
        source_id = f"line-{record.line}" if found is None else _name(found, "`id`", where).strip()
        if not source_id:
            raise RecordError(where, "`id` is empty")
        if not sections:
            yield Skipped(source_id, "no text")
            return
        yield SourceArticle(
            title=title,
            source_id=source_id,
            sections=sections,
            links=_texts(fields, "links", where, read=_name),
            categories=_texts(fields, "categories", where),
            aliases=_texts(fields, "aliases", where),
            url=_text(fields, "url", where) if fields.get("url") is not None else "",
        )


def split_sections(text: str, title: str) -> tuple[SourceSection, ...]:
    """Split plain text at its ATX headings; an opening heading that repeats ``title`` does not open a section."""
    sections: list[SourceSection] = []
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""

    def close() -> None:
        body = "\n".join(lines).strip("\n").rstrip()
        if body.strip():
            sections.append(SourceSection(tuple(name for _, name in headings), body))
        lines.clear()

    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        mark = _FENCE.fullmatch(line)
        heading = None if fence else _heading(line)
        if mark and not fence:
            fence = mark["fence"] if "`" not in mark["info"] or mark["fence"][0] == "~" else ""
        elif mark and mark["fence"].startswith(fence) and not mark["info"].strip():
            fence = ""
        if heading is None:
            lines.append(line)
            continue
        close()
        level, name = heading
        while headings and headings[-1][0] >= level:
            headings.pop()
        if sections or fold(name) != fold(title):
            headings.append((level, name))
    close()
    return tuple(sections)


def _heading(line: str) -> tuple[int, str] | None:
    match = _HEADING.fullmatch(line)
    if match is None or not match["text"].strip():
        return None
    text = match["text"].strip()
    unclosed = text.rstrip("#")
    return len(match["marks"]), unclosed.rstrip() if unclosed.endswith((" ", "\t")) else text


def _load(record: Line, where: str) -> dict[str, Any]:
    text, problem = record.decoded()
    if problem:
        hint = None if record.is_too_long else "Convert the file to UTF-8, for example with iconv."
        raise RecordError(where, problem, hint=hint)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordError(where, f"invalid JSON: {explain_json_error(error)}") from error
    if not isinstance(value, dict):
        raise RecordError(where, f"expected a JSON object, found {_kind(value)}")
    return value


def _text(fields: dict[str, Any], key: str, where: str) -> str:
    if key not in fields:
        raise RecordError(where, f"`{key}` is missing")
    return _checked(fields[key], f"`{key}`", where)


def _checked(value: object, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise RecordError(where, f"{name} must be a string, not {_kind(value)}")
    if _SURROGATE.search(value):
        raise RecordError(where, f"{name} contains an unpaired surrogate, which is not a character")
    return _CONTROL.sub("", value)


def _name(value: object, name: str, where: str) -> str:
    """Return an id or a reference to one, which may be a string or an integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _checked(value, name, where)


def _texts(
    fields: dict[str, Any], key: str, where: str, *, read: Callable[[object, str, str], str] = _checked
) -> tuple[str, ...]:
    values = fields.get(key)
    if values is None:
        return ()
    if not isinstance(values, list):
        raise RecordError(where, f"`{key}` must be a list of strings, not {_kind(values)}")
    texts = (read(value, f"`{key}[{index}]`", where).strip() for index, value in enumerate(values))
    return tuple(dict.fromkeys(text for text in texts if text))


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")

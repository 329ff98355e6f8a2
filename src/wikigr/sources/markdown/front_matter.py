"""Read the block of metadata at the top of a Markdown file: YAML, TOML or JSON."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import yaml

from wikigr.errors import RecordError
from wikigr.files import explain_json_error
from wikigr.sources.bylines import Byline
from wikigr.sources.facts import readable_relation
from wikigr.sources.plain_text import collapse_spaces

_ABSENT = frozenset({"", "~", "null"})
_FENCED = re.compile(
    r"\A(?P<fence>---|\+\+\+)(?P<kind>yaml|toml|json)?[ \t]*\n(?P<body>(?:.*\n)*?)(?:(?P=fence)|\.\.\.)[ \t]*(?:\n|\Z)"
)
_BEGINS_WITH_JSON = re.compile(r'\A\s*\{\s*"(?:[^"\\\n]|\\.)*+"\s*:')
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]++)(?:\|([^\[\]]*+))?\]\]")
# Keys whose values are the title, the aliases, the categories and the address of the note.
_FIELDS = frozenset({"title", "alias", "aliases", "category", "categories", "tags", "url"})
# The depth of a property in mappings and lists, and the values of a note, their characters, and the lists, mappings and
# values that are looked at: an alias of YAML can stand for any number of them.
_MAX_DEPTH = 4
_MAX_VALUES = 1_000
_MAX_CHARS = 1_000_000
_MAX_PARTS = 10_000
# The parser of TOML takes time that grows with the square of the parts of a key.
_LONG_KEY = re.compile(r"""^[ \t\[]*+(?:[\w\-"' \t]++\.){50}""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Property:
    """A named value of a note; ``values`` has several of a list. A value may hold ``[[wiki links]]``."""

    name: str
    values: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as they are shown: of a wiki link, its label."""
        return tuple(_WIKILINK.sub(lambda match: match[2] or match[1], value) for value in self.values)

    @property
    def targets(self) -> tuple[str | None, ...]:
        """The target of each value that is a wiki link."""
        links = map(_WIKILINK.fullmatch, self.values)
        return tuple(match[1].partition("#")[0].strip() if match else None for match in links)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata of a note; absent fields are empty.

    ``properties`` has all of it that is not another field; the byline is in both.
    """

    title: str = ""
    categories: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    url: str = ""
    byline: Byline = field(default_factory=Byline)
    properties: tuple[Property, ...] = ()


def split_front_matter(text: str, where: str) -> tuple[FrontMatter, str]:
    """Return the metadata at the top of the note ``where``, and the text after it.

    It is between lines of ``---`` (YAML) or ``+++`` (TOML), or a JSON object. ``categories`` combines ``category``,
    ``categories`` and ``tags``. Scalars are kept as written, so ``2001`` and ``Yes`` are valid titles. Raises
    ``RecordError`` with the line number for metadata that is invalid or not a mapping.
    """
    text = text.replace("\r\n", "\n")
    fenced = _FENCED.match(text)
    if fenced is not None:
        language = (fenced["kind"] or ("toml" if fenced["fence"] == "+++" else "yaml")).upper()
        body = fenced["body"].rstrip("\n")
        try:
            found = _PARSERS[language](body)
        except (ValueError, yaml.YAMLError, RecursionError) as error:
            is_at_end = language == "TOML" and "at end of document" in str(error)
            raise _invalid(where, 2 + (body.count("\n") if is_at_end else 0), language, error) from error
        return _front_matter(found, where), text[fenced.end() :]
    if _BEGINS_WITH_JSON.match(text):
        start = len(text) - len(text.lstrip())
        try:
            fields, end = _JSON.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise _invalid(where, 1, "JSON", error) from error
        if not text[end:].partition("\n")[0].strip():
            return _front_matter(fields, where), text[end:]
    return FrontMatter(), text


def _load_toml(text: str) -> object:
    if (found := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(f"a key of more than 50 parts in line {line}")
    values = tomllib.loads(text, parse_float=str)
    # Raises ``ValueError`` for a number in base 16 that would take long to write in base 10.
    json.dumps(values, default=str)
    return values


_JSON = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
# The base loader reads every scalar as a string and constructs no objects.
_PARSERS: dict[str, Callable[[str], object]] = {
    "YAML": lambda text: yaml.load(text, Loader=yaml.BaseLoader),  # noqa: S506
    "TOML": _load_toml,
    "JSON": _JSON.decode,
}
_LINE = re.compile(r"\bline (\d+)")


def _invalid(where: str, first: int, language: str, error: Exception) -> RecordError:
    if isinstance(error, RecursionError):
        return RecordError(f"{where}, line {first}", "the front matter is nested too deeply")
    mark = getattr(error, "problem_mark", None)
    stated = _LINE.search(str(error))
    line = mark.line if mark is not None else int(stated[1]) - 1 if stated else 0
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or getattr(error, "msg", None)
    return RecordError(
        f"{where}, line {line + first}",
        f"the front matter is not valid {language}: {problem or explain_json_error(error)}",
    )


def _front_matter(found: object, where: str) -> FrontMatter:
    if found is None or found == "":
        return FrontMatter()
    if not isinstance(found, dict):
        raise RecordError(
            f"{where}, line 2",
            "the front matter is not a mapping of keys to values",
            hint="If the file begins with a horizontal rule instead of front matter, write the rule as ***.",
        )
    if isinstance(found.get("taxonomies"), dict):  # of Zola
        found = {**{key: value for key, value in found.items() if key != "taxonomies"}, **found["taxonomies"]}
    fields = {str(key).casefold(): value for key, value in found.items()}
    properties: dict[str, list[str]] = {}
    values, characters = 0, 0
    for name, value in islice(_values("", found, 0), _MAX_PARTS):
        values += bool(name)
        characters += len(value)
        if values > _MAX_VALUES or characters > _MAX_CHARS:
            break
        if name:
            properties.setdefault(name, []).append(value)
    return FrontMatter(
        categories=_names(fields, ("category", "categories", "tags"), where),
        title=_text(fields, "title", where),
        aliases=_names(fields, ("aliases", "alias"), where),
        url=_text(fields, "url", where),
        byline=Byline(
            authors=tuple(
                name
                for key in ("author", "authors")
                for name in islice(_authors(fields.get(key, ""), 0), _MAX_PARTS)
                if name
            ),
            published=_first_text(fields, ("date", "published", "publishdate", "pubdate", "created")),
            updated=_first_text(fields, ("updated", "modified", "lastmod", "last_updated", "last_modified_at")),
        ),
        properties=tuple(Property(name, tuple(dict.fromkeys(values))) for name, values in properties.items()),
    )


def _values(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield each text with the keys that lead to it, in the order of the file, and ``""`` twice for what is none."""
    yield "", ""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            if depth or str(key).casefold() not in _FIELDS:
                own = readable_relation(str(key)).rstrip(":")
                yield from _values(f"{name} {own}".strip(), inner, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _values(name, item, depth + 1)
    elif name and (text := collapse_spaces(_scalar(value))) not in _ABSENT:
        yield name, text


def _authors(value: object, depth: int) -> Iterator[str]:
    """Yield the names in a text, a list, or mappings with a ``name``, and ``""`` for each part that is none."""
    yield ""
    if isinstance(value, list) and depth < _MAX_DEPTH:
        for item in value:
            yield from _authors(item, depth + 1)
    elif isinstance(value, dict) and depth < _MAX_DEPTH:
        yield from _authors(value.get("name", ""), depth + 1)
    elif not isinstance(value, list | dict) and (text := _scalar(value).strip()) not in _ABSENT:
        yield text


def _first_text(fields: Mapping[str, object], keys: Iterable[str]) -> str:
    texts = (_scalar(value) for key in keys if not isinstance(value := fields.get(key, ""), list | dict))
    return next((text for text in texts if text.strip() not in _ABSENT), "")


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _text(fields: Mapping[str, object], key: str, where: str) -> str:
    value = fields.get(key, "")
    if isinstance(value, list | dict):
        raise RecordError(f"{where}, front matter", f"`{key}` must be text, not a list or a mapping")
    text = collapse_spaces(_scalar(value))
    return "" if text in _ABSENT else text


def _names(fields: Mapping[str, object], keys: Iterable[str], where: str) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for key in keys:
        value = fields.get(key, "")
        if not isinstance(value, list | dict):
            # The singular keys hold one name, which may contain a comma; the plural keys hold a list.
            text = _scalar(value)
            value = [text] if key in ("category", "alias") else text.split(",")
        if not isinstance(value, list) or any(isinstance(name, list | dict) for name in value):
            raise RecordError(f"{where}, front matter", f"`{key}` must be text or a list of texts")
        texts = (collapse_spaces(_scalar(name)[:2_000]) for name in value)
        names.update((name, None) for name in texts if name not in _ABSENT)
    return tuple(names)

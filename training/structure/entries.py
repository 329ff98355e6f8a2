"""Find the entries of reference documentation: named options, settings, functions and parameters with their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from training.structure.passages import Passage
from training.structure.wording import is_code

Span = tuple[int, int]

_NOUNS = (
    "option|parameter|argument|setting|directive|variable|property|attribute|keyword|function|method|command|flag|"
    "field|statement|macro|element|modifier|class|decorator|filter|tag"
)
_NOUN_IN_TEXT = re.compile(rf"\b(?:[Tt]his|[Tt]he \S+) ({_NOUNS})\b")
_NOUN_IN_HEADING = re.compile(rf"\b({_NOUNS})s?\b", re.IGNORECASE)
_TERM = re.compile(r"^(?P<indent> *)(?P<term>[^\s|][^\n]{0,100})\n(?P=indent) {4}(?=\S)", re.MULTILINE)
_BULLET = re.compile(r"^(?P<indent> *)- (?P<term>\*{0,2}[A-Za-z_]\w*)(?: \([^)\n]*\))?(?: [–—]|:) (?=\w)", re.MULTILINE)
_ROW = re.compile(r"^(?P<term>[a-z]\w+) \| (?=[^\n]*Default: )", re.MULTILINE)
_BEFORE_NAME = re.compile(
    r"^(?:(?:abstract|async|attribute|class|classmethod|exception|final|function|macro|method|property|static|"
    r"staticmethod|django-admin) )+"
)
_NAME = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z_$%@][\w.$:@/-]*\w")
_FIELDS = frozenset(
    "parameters raises returns return yields yield type note notes example examples warning see changelog usage "
    "default "
    "description arguments options".split()
)
_LISTS_PARAMETERS = re.compile(r"\b(?:parameters|arguments|options|settings|attributes|directives)\b", re.IGNORECASE)
_DIRECTIVE = " Directive"
_DECLARED = re.compile(r"(class|exception|function|method|attribute|property|staticmethod|classmethod) \S")
_CALLED = frozenset(("function", "method", "staticmethod", "classmethod"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A named thing that ``passage.text[start:end]`` documents.

    ``noun`` is what the documentation calls it ("option"), ``""`` if unknown; ``owner`` is the function or command that
    it belongs to, ``""`` if none is known. ``named`` is the name's place in the text, ``None`` if it is only in the
    heading.
    """

    passage: Passage
    name: str
    noun: str
    owner: str
    named: Span | None
    start: int
    end: int
    is_function: bool = False

    @property
    def body(self) -> str:
        """Return the text of the entry."""
        return self.passage.text[self.start : self.end]


def find_entries(passage: Passage) -> Iterator[Entry]:
    """Yield the entries of a passage: the heading if it is a name, the terms of definitions, and parameters in "
    "lists."""
    heading = passage.heading.removesuffix(_DIRECTIVE)
    text = passage.text
    owner = ""
    name = _NAME.fullmatch(heading.removesuffix("()"))
    named_page = passage.heading in ("Introduction", passage.title) and _NAME.fullmatch(passage.title)
    if named_page and (is_code(passage.title) or re.match(rf"{re.escape(passage.title)} [—–-] ", text)):
        heading, name = passage.title, named_page
    is_directive = passage.heading.endswith(_DIRECTIVE)
    if name and (is_directive or is_code(heading) or name is named_page):
        owner = _last(heading)
        found = re.search(rf"(?<![\w.]){re.escape(owner)}(?!\w)", text)
        call = re.search(rf"(?:^|[\s.]){re.escape(owner)}\(", text[:200]) is not None
        declared = _DECLARED.match(text)
        noun = "directive" if is_directive else _noun(passage, text, is_function=call)
        if declared:
            noun, call = (
                declared[1].replace("static", "").replace("classmethod", "method"),
                call and declared[1] in _CALLED,
            )
        ends = [match.start() for match in _TERM.finditer(text) if not match["indent"]]
        end = min([e for e in ends if e > 40], default=len(text))
        yield Entry(passage, owner, noun, "", found.span() if found else None, 0, end, call)
    for match in (*_TERM.finditer(text), *_BULLET.finditer(text), *_ROW.finditer(text)):
        entry = _entry(passage, match, owner)
        if entry is not None:
            yield entry


def _entry(passage: Passage, match: re.Match[str], owner: str) -> Entry | None:
    text = passage.text
    term = _BEFORE_NAME.sub("", match["term"].lstrip("*"))
    names = _NAME.findall(re.split(r"[\s=(\[]", term, maxsplit=1)[0]) if not term.startswith("-") else []
    if term.startswith("-"):
        names = re.findall(r"(?<!\S)--?[A-Za-z][\w-]*", term)
        names.sort(key=lambda found: not found.startswith("--"))
    if not names or names[0].lower() in _FIELDS:
        return None
    name = _last(names[0]) if "(" in term else names[0]
    is_bullet, is_row = match.re is _BULLET, match.re is _ROW
    before = text[: match.start()].rstrip("\n").rsplit("\n", 1)[-1].strip().rstrip(":").lower()
    is_parameter = is_bullet and before in ("parameters", "arguments")
    listed = _LISTS_PARAMETERS.search(passage.heading) or before in ("parameters", "arguments", "options")
    if not (is_code(name) or is_row or is_parameter or (listed and not re.search(r"[ .]", term.split(" (")[0]))):
        return None
    start = text.find(name, match.start())
    if start < 0 or start > match.end():
        return None
    body_end = _end_of_body(text, match)
    is_function = "(" in term and not re.search(r"\s\(", term)
    noun = "parameter" if is_parameter else _noun(passage, text[match.end() : body_end], is_function=is_function)
    if name.startswith("-"):
        noun = "option"
    called = owner if is_parameter or (listed and owner) else ""
    if name.startswith("-") and _NAME.fullmatch(passage.title):
        called = passage.title
    return Entry(passage, name, noun, called, (start, start + len(name)), match.end(), body_end, is_function)


def _end_of_body(text: str, match: re.Match[str]) -> int:
    if match.re is _ROW:
        following = _ROW.search(text, match.end())
        return following.start() if following else len(text)
    indent = len(match["indent"])
    end = text.find("\n", match.end())
    while 0 <= end < len(text):
        line = re.compile(r"\n*( *)(\S?)").match(text, end)
        if line is None or not line[2] or len(line[1]) <= indent:
            return end
        end = text.find("\n", line.end())
    return len(text)


def _last(name: str) -> str:
    """Return a dotted name without its module: "Response.set_cookie" for "werkzeug.wrappers.Response.set_cookie"."""
    parts = name.split(".")
    first = next((n for n, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    return ".".join(parts[first:]) if "/" not in name else name


def _noun(passage: Passage, body: str, *, is_function: bool) -> str:
    found = _NOUN_IN_TEXT.search(body[:300]) or _NOUN_IN_HEADING.search(f"{passage.heading} {passage.before}")
    if is_function:
        return "method" if found and found[1] == "method" else "function"
    noun = found[1].lower() if found else ""
    return "" if noun in ("function", "method", "class") else noun

"""Find the names in a reStructuredText document line by line: headings, labels and aliases, without docutils."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wikigr.sources.text import find_headings

_ALIASES = re.compile(r":(?:alias(?:es)?|synonyms?|also known as):\s+(?P<names>\S.*)", re.IGNORECASE)
_LABEL = re.compile(r"\.\. _(?P<name>`[^`]+`|(?:[^:\\`]|\\.|:(?!\s*$))+):\s*")
# Inline markup in a heading: a role or an interpreted text, emphasis and literals, a substitution.
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`")
_ESCAPE = re.compile(r"\\(?: |(\S))")
# What a name in a signature is not: arguments, a type after it or a value.
_AFTER_NAME = re.compile(r"(?<=\w)\s*(?:[(\[]|:\s|->|=).*", re.DOTALL)
_MARKS = re.compile(r"``(.+?)``|\*\*(.+?)\*\*|\*(\S(?:.*?\S)?)\*|`(.+?)`__?|`(.+?)`|\|(\S.*?)\|")


def headings_by_line(lines: Sequence[str]) -> dict[int, str]:
    """Return the plain text of each heading by the position of its first line."""
    return {heading.start: plain_inline(heading.text) for heading in find_headings(lines)}


def plain_inline(text: str) -> str:
    """Return the text of inline markup, approximately: without roles, marks and targets."""
    text = _ESCAPE.sub(r"\1", _ROLE.sub(lambda match: role_text(match[1])[0], text))
    return _MARKS.sub(lambda match: role_text(next(filter(None, match.groups())))[0], text)


def role_text(text: str) -> tuple[str, str]:
    """Return the visible text and the target of the content of a role.

    ``title <target>`` has both; ``~a.b.c`` shows only the last name, and ``!name`` is not a link.
    """
    title, mark, inner = text[:-1].rpartition("<") if text.endswith(">") else ("", "", "")
    if mark and title.strip():
        return title.strip(), inner.strip()
    target = text.removeprefix("!")
    if target.startswith("~"):
        target = target[1:]
        return target.rpartition(".")[2] or target, target
    return target, target


def name_in_signature(signature: str) -> str:
    """Return the name that a signature defines, without types and arguments; an option is its own name."""
    if signature.startswith("-"):
        return signature
    return _AFTER_NAME.sub("", signature, count=1).rstrip(" :=,").rpartition(" ")[2]


def normalize_label(name: str) -> str:
    """Return the form in which labels are compared."""
    return " ".join(name.replace("\\", "").strip("`").split()).lower()


def find_aliases(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the fields ``:Aliases:`` and ``:Synonyms:`` at the top of a document."""
    fields = (match["names"] for line in lines[:50] if (match := _ALIASES.fullmatch(line)))
    names = (" ".join(plain_inline(name).split()) for name in re.split("[,;]", ",".join(fields)[:5_000]))
    return tuple(dict.fromkeys(filter(None, names)))


def find_labels(lines: Sequence[str], headings: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Yield each label with the heading that follows it, or ``""``."""
    waiting: list[str] = []
    for position, line in enumerate(lines):
        match = _LABEL.fullmatch(line)
        if match is not None:
            waiting.append(normalize_label(match["name"]))
        elif waiting and line.strip():
            yield from ((name, headings.get(position, "")) for name in waiting)
            waiting.clear()

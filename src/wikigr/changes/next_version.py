"""Which version a changed pack should bear, after semver.org, and why."""

from __future__ import annotations

import re
from enum import IntEnum

_NUMBER = r"(0|[1-9]\d*)"
_IDENTIFIER = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
# More digits are no version that anybody wrote, and int() refuses them.
_LONGEST = 256


class Level(IntEnum):
    """How much of a version a change raises, the least first."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


# What each level means, for people.
RULE = (
    "major: the encoder or the format is another, or articles were removed or renamed (citations break); "
    "minor: articles or sections were added, removed or moved, or text changed; "
    "patch: only links, mentions, triples, names, metadata, thresholds or the files that go with the pack; "
    "none: the same content. This holds for versions below 1.0.0 too."
)


def raised(version: str, level: Level) -> str | None:
    """Return ``version`` raised by ``level``; ``None`` when it is no semantic version.

    The next version after a pre-release is the one that it was for, where that is high enough.
    """
    parsed = _parse(version)
    if parsed is None:
        return None
    major, minor, patch, before = parsed
    if level is Level.NONE:
        return version
    if level is Level.MAJOR and not (before and minor == patch == 0):
        return f"{major + 1}.0.0"
    if level is Level.MINOR and not (before and patch == 0):
        return f"{major}.{minor + 1}.0"
    if level is Level.PATCH and not before:
        return f"{major}.{minor}.{patch + 1}"
    return f"{major}.{minor}.{patch}"


def is_semantic(version: str) -> bool:
    """Tell whether ``version`` is a semantic version."""
    return _parse(version) is not None


def is_lower(version: str, other: str) -> bool:
    """Tell whether ``version`` comes before ``other``.

    What is no semantic version comes before everything: nobody can tell that it is newer.
    """
    one, two = _parse(version), _parse(other)
    return one is None or (two is not None and _precedence(one) < _precedence(two))


_Parsed = tuple[int, int, int, str]


def _parse(version: str) -> _Parsed | None:
    found = _SEMVER.fullmatch(version) if len(version) <= _LONGEST else None
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]), found[4] or "")


def _precedence(parsed: _Parsed) -> tuple[object, ...]:
    """Return a key in the order of semver 2.0.0, item 11: numbers before words, a release after its pre-releases."""
    *numbers, before = parsed
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")] if before else []
    return (*numbers, not before, parts)

"""The next version of a changed pack, by the rules of semver.org.

Separate from ``diff``, because the help of `wikigr pack diff` imports this module and ``diff`` imports NumPy.
"""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """The part of a version that a change raises, in ascending order."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


# What each level means, for help texts.
RULE = (
    "major: a different encoder or format, or articles were removed or renamed (citations break); "
    "minor: articles or sections were added, removed or moved, or text changed; "
    "patch: only links, mentions, triples, names, metadata, thresholds or the files shipped with the pack changed; "
    "none: the same content. This applies to versions below 1.0.0 as well."
)


def next_version(version: str, level: Level) -> str | None:
    """Return ``version`` raised by ``level``, or ``None`` when it is not a semantic version.

    A pre-release is raised to its release if that is high enough: a minor change after 2.1.0-rc.1 gives 2.1.0.
    """
    from wikigr.pack.manifest import parse_version

    parsed = parse_version(version)
    if parsed is None or level is Level.NONE:
        return version if parsed else None
    # semver 3.0.0 takes a version with build metadata for a pre-release.
    return str(parsed.replace(build=None).next_version(level.name.lower()))

"""The version of a pack after a change of each level."""

from __future__ import annotations

import pytest

from wikigr.pack.next_version import Level, next_version


def test_a_version_is_raised(subtests: pytest.Subtests) -> None:
    for version, level, expected in [
        ("1.2.3", Level.NONE, "1.2.3"),
        ("1.2.3", Level.PATCH, "1.2.4"),
        ("1.2.3", Level.MINOR, "1.3.0"),
        ("1.2.3", Level.MAJOR, "2.0.0"),
        ("0.9.9+build.5", Level.PATCH, "0.9.10"),
        ("0.9.9+build.5", Level.MINOR, "0.10.0"),
        ("2.0.0-rc.1", Level.MAJOR, "2.0.0"),
        ("2.1.0-rc.1", Level.MINOR, "2.1.0"),
        ("2.1.0-rc.1", Level.MAJOR, "3.0.0"),
        ("2.1.1-rc.1", Level.PATCH, "2.1.1"),
        ("2.1.1-rc.1", Level.MINOR, "2.2.0"),
        ("1.2", Level.PATCH, None),
        ("01.2.3", Level.PATCH, None),
        ("2026-11-21", Level.PATCH, None),
        (f"{'9' * 5000}.0.0", Level.PATCH, None),
    ]:
        with subtests.test(version=version):
            assert next_version(version, level) == expected

"""What the shell offers after Tab: names of packs and of profiles.

A shell shows nothing of an error here, or shows it in the middle of what the user types: so a folder that cannot be
read offers nothing. Where nothing is offered, the shell completes files and folders, as packs and profiles may be.
"""

from __future__ import annotations


def packs(incomplete: str) -> list[str]:
    """Return the installed packs whose names begin with ``incomplete``."""
    from wikigr.pack.locate import installed_names

    try:
        return [name for name in installed_names() if name.startswith(incomplete)]
    except OSError:
        return []


def profiles(incomplete: str) -> list[str]:
    """Return the profiles, those that ship with wikigr and the user's, whose names begin with ``incomplete``."""
    from wikigr.profiles.files import profile_names

    try:
        return [name for name in profile_names() if name.startswith(incomplete)]
    except OSError:
        return []

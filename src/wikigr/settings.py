"""The user's folders for configuration, data, caches and state."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return the user's cache folder for wikigr, which may not exist yet (``XDG_CACHE_HOME``)."""
    return platformdirs.user_cache_path("wikigr")


def data_folder() -> Path:
    """Return the user's data folder for wikigr, which may not exist yet (``XDG_DATA_HOME``)."""
    return platformdirs.user_data_path("wikigr")


def config_folder() -> Path:
    """Return the user's configuration folder for wikigr, which may not exist yet (``XDG_CONFIG_HOME``)."""
    return platformdirs.user_config_path("wikigr")


def state_folder() -> Path:
    """Return the user's state folder for wikigr, which may not exist yet (``XDG_STATE_HOME``)."""
    return platformdirs.user_state_path("wikigr")


def is_first_time(name: str) -> bool:
    """Return whether ``name`` was never asked about before, and remember it in the state folder.

    If the folder cannot be written, every time is the first.
    """
    marker = state_folder() / "shown" / name
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True

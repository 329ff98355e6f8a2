"""The file in which the lines typed at the prompt are kept."""

from __future__ import annotations

import os

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from wikigr.settings import state_folder
from wikigr_cli.environment import Environment

_NAME = "ask_history"


def open_history(environment: Environment) -> History:
    """Return the history of the user, which only the user may read; without a folder for it, one in memory."""
    folder = state_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / _NAME
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            # An earlier file, or one from a backup, may have other permissions.
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError as error:
        environment.note(f"The questions are not kept: {error.strerror} ({folder / _NAME}).")
        return InMemoryHistory()
    return FileHistory(str(path))

"""The file in which the lines typed at the prompt are kept."""

from __future__ import annotations

import os
from pathlib import Path

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
    return _UserHistory(environment, path)


class _UserHistory(FileHistory):
    """A history that goes on in memory when the disk is full."""

    def __init__(self, environment: Environment, path: Path) -> None:
        super().__init__(str(path))
        self._environment = environment
        self._path = path
        self._is_kept = True

    def store_string(self, string: str) -> None:
        if not self._is_kept:
            return
        try:
            super().store_string(string)
        except OSError as error:
            self._is_kept = False
            self._environment.note(f"The questions are not kept: {error.strerror} ({self._path}).")

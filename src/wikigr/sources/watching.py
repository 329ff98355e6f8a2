"""Tell when the files of a source change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event

from wikigr.errors import SourceError, UsageError

# Milliseconds: changes that follow each other this closely are one change, and how often an end is looked for.
_DEBOUNCE = 500
_STEP = 100
_TIMEOUT = 500


def check_watchable(location: str) -> Path:
    """Return the folder or file ``location``; raises ``UsageError`` if it cannot be watched."""
    path = Path(location)
    if not path.exists():
        raise UsageError(f"--watch needs a folder or a file, and {location} is neither.")
    if find_spec("watchfiles") is None:
        raise UsageError(
            "--watch needs watchfiles, which is not installed.", hint="Install it: pip install 'wikigr[watch]'"
        )
    return path.resolve()


def watch_files(
    path: Path, *, note: Callable[[str], None] = lambda message: None, stop: Event | None = None
) -> Iterator[None]:
    """Yield once when the folder or file ``path`` is being watched, and then whenever it has changed.

    Hidden files and folders do not count. A folder that is removed or replaced is followed as soon as it exists again,
    and ``note`` receives that. Ends when ``stop`` is set; Ctrl-C raises ``KeyboardInterrupt``. Raises ``SourceError``
    if the system cannot watch so many files.
    """
    from watchfiles import Change, watch

    stop = stop or Event()
    folder = path if path.is_dir() else path.parent

    def is_wanted(change: Change, changed: str) -> bool:
        if path == folder:
            return not any(part.startswith(".") for part in Path(changed).relative_to(path).parts)
        # Editors replace a file, so its folder is watched.
        return changed == str(path)

    while not stop.is_set():
        watched = _identity(folder)
        is_first = True
        try:
            for changes in watch(
                folder,
                watch_filter=is_wanted,
                debounce=_DEBOUNCE,
                step=_STEP,
                stop_event=stop,
                rust_timeout=_TIMEOUT,
                yield_on_timeout=True,
            ):
                if _identity(folder) != watched:
                    break
                if changes or is_first:
                    is_first = False
                    yield
        except OSError as error:
            if _identity(folder) == watched:
                raise SourceError(
                    f"Cannot watch {folder}: {error}.",
                    hint="Raise the limit of the system (fs.inotify.max_user_watches on Linux), or set "
                    "WATCHFILES_FORCE_POLLING=1.",
                ) from error
        if not stop.is_set():
            note(f"{folder} was removed or replaced; it is watched again as soon as it is there.")
        while not (_identity(folder) or stop.wait(_STEP / 1000)):
            pass


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return the device and number of a folder, which another one in its place does not share."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

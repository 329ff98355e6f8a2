"""Which note a ``[[wiki link]]`` means: notes are linked by title, by file name or by path, as in Obsidian."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from wikigr.sources.folder import Pages
from wikigr.text import fold

SUFFIXES = (".md", ".markdown")


class Notes:
    """The notes of one folder. ``names`` are their titles and aliases, ``pages`` the notes by path."""

    def __init__(self, source_ids: Sequence[str], names: Iterable[str]) -> None:
        self.pages = Pages(source_ids, SUFFIXES)
        self._names = frozenset(map(fold, names))
        self._at: dict[str, str] = {}
        self._ending_in: dict[str, str] = {}
        for source_id in sorted(source_ids, key=lambda source_id: (source_id.count("/"), source_id)):
            key = _key(source_id)
            self._at.setdefault(key, source_id)
            parts = key.split("/")
            for start in range(len(parts)):
                self._ending_in.setdefault("/".join(parts[start:]), source_id)

    def resolve(self, source_id: str, target: str) -> str:
        """Return what ``[[target]]`` on the note ``source_id`` leads to: a name, else a ``source_id``.

        A title or an alias comes first. A path counts from the folder or any folder in it, with or without suffix;
        from the note if it begins with ``./`` or ``../``. Of several notes it means the one at exactly that path,
        else the one beside this note, else the one in the fewest folders, the first by path. A target that is
        nothing of all this is returned as it is.
        """
        if fold(target) in self._names:
            return target
        here = posixpath.dirname(source_id)
        if target.startswith(("./", "../")):
            return self._at.get(_key(posixpath.normpath(posixpath.join(here, target))), target)
        key = _key(posixpath.normpath(target))
        if target.startswith("/"):
            return self._at.get(key.lstrip("/"), target)
        # A name alone says nothing of the folder: a note in the first folder is no better than one beside this.
        there = self._at.get(key) if "/" in key else None
        return there or self._at.get(_key(posixpath.join(here, key))) or self._ending_in.get(key, target)


def _key(path: str) -> str:
    """The form in which paths are compared: folded, without the suffix of a note."""
    suffix = next((suffix for suffix in SUFFIXES if path.lower().endswith(suffix)), "")
    return fold(path[: len(path) - len(suffix)])

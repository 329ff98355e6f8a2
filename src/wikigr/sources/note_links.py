"""Resolve links between notes: ``[[wiki links]]`` by title, file name or path, as Obsidian does, and labels."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from wikigr.sources.folder import Pages
from wikigr.sources.formats import format_named, strip_compression
from wikigr.text import fold

_SUFFIXES = format_named("notes").suffixes


class Notes:
    """The notes of one folder; ``names`` are their titles and aliases, ``pages`` looks them up by path.

    ``titles`` are the titles that notes give themselves, by ``source_id``. ``labels`` are the places that notes name,
    each with its ``source_id`` and the heading there, or ``""``.
    """

    def __init__(
        self,
        source_ids: Sequence[str],
        names: Iterable[str],
        *,
        titles: Mapping[str, str] | None = None,
        labels: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.pages = Pages(source_ids, _SUFFIXES)
        self.titles = dict(titles or {})
        self.labels = dict(labels or {})
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
        """Return the name or, for paths, the ``source_id`` that ``[[target]]`` on the note ``source_id`` refers to.

        Titles and aliases come first. A path, with or without suffix, may be relative to the source folder or to any
        folder in it; ``./`` and ``../`` are relative to the note. If several notes match, the one at exactly that
        path wins, then the one in this note's folder, then the one with the fewest parent folders, then the first by
        path. An unknown target is returned unchanged.
        """
        if fold(target) in self._names:
            return target
        here = posixpath.dirname(source_id)
        if target.startswith(("./", "../")):
            return self._at.get(_key(posixpath.normpath(posixpath.join(here, target))), target)
        key = _key(posixpath.normpath(target))
        if target.startswith("/"):
            return self._at.get(key.lstrip("/"), target)
        # A bare name does not imply the top folder, so a note there has no priority.
        exact = self._at.get(key) if "/" in key else None
        return exact or self._at.get(_key(posixpath.join(here, key))) or self._ending_in.get(key, target)


def _key(path: str) -> str:
    """Return the form in which paths are compared: folded, without the suffix of a note."""
    path = strip_compression(path)
    suffix = next((suffix for suffix in _SUFFIXES if path.lower().endswith(suffix)), "")
    return fold(path[: len(path) - len(suffix)])

"""Count the files of a folder that a build leaves out because they have another format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath

from wikigr.sources.folder import stem, visible_files
from wikigr.sources.formats import FORMATS, SourceFormat, format_named, strip_compression

_MAX_EXAMPLES = 3
# What accompanies the documents of a folder and is not meant to be one of them, without suffix and case-folded.
_COMPANIONS = frozenset({"readme", "license", "licence", "copying", "notice"})


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """The files with one suffix; ``format`` is ``""`` if no known one has it, and then there are no ``examples``."""

    suffix: str
    files: int
    format: str = ""
    examples: tuple[str, ...] = ()


def unread_files(location: str | Path, source_format: str) -> tuple[UnreadFiles, ...]:
    """Return what a reader of ``source_format`` leaves out of the folder ``location``; most files of a suffix first.

    Hidden files do not count, nor do files such as ``README.md`` and ``LICENSE``. A file has nothing to leave out.
    """
    root, reader = Path(location), format_named(source_format)
    if not root.is_dir():
        return ()
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for path in visible_files(root):
        if reader.has_suffix(path.name) or stem(path.name).casefold() in _COMPANIONS:
            continue
        suffix = _suffix(path.name)
        counts[suffix] += 1
        if len(examples.setdefault(suffix, [])) < _MAX_EXAMPLES:
            examples[suffix].append(path.relative_to(root).as_posix())
    formats = {suffix: _format_of(suffix) for suffix in counts}
    return tuple(
        UnreadFiles(suffix, count, row.name, tuple(examples[suffix])) if row else UnreadFiles(suffix, count)
        for suffix, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for row in (formats[suffix],)
    )


def _suffix(name: str) -> str:
    """Return the suffix in lower case, with that of a compression: ``.html.gz``."""
    plain = strip_compression(name)
    return (PurePath(plain).suffix + name[len(plain) :]).lower()


def _format_of(suffix: str) -> SourceFormat | None:
    return next((row for row in FORMATS if not row.combines and row.has_suffix(f"x{suffix}")), None)

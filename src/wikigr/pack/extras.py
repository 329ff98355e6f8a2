"""The limits of the files that a pack may contain besides its parts: worked examples and gold questions."""

from __future__ import annotations

from pathlib import Path

from wikigr.regular_files import read_regular

# `ask` encodes the questions of all examples, at about a thousand per second, before it sends the first request.
MAX_EXAMPLES = 2_000
MAX_EXTRA_BYTES = 16 << 20


def read_extra(path: Path) -> bytes:
    """Return the content of a file of examples or questions.

    Raises ``OSError``, and ``ValueError`` when it has more than ``MAX_EXTRA_BYTES``.
    """
    return read_regular(path, MAX_EXTRA_BYTES)


def check_example_count(path: Path, count: int) -> None:
    """Raise ``ValueError`` for more than ``MAX_EXAMPLES`` worked examples."""
    if count > MAX_EXAMPLES:
        raise ValueError(f"{path} has {count:,} examples, more than the limit of {MAX_EXAMPLES:,}")

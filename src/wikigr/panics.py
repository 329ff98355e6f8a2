"""Turn the panics of Rust libraries into ordinary errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wikigr.errors import WikigrError


@contextmanager
def panics_as(error: Callable[[str], WikigrError]) -> Iterator[None]:
    """Raise ``error(message)`` when a Rust library panics in the block.

    PyO3 raises a panic as a ``BaseException`` of a class that each library defines anew and none exports, so only its
    module identifies it.
    """
    try:
        yield
    except BaseException as failure:
        if type(failure).__module__ != "pyo3_runtime":
            raise
        raise error(" ".join(str(failure).split())) from failure

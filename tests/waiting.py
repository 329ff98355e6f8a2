"""Wait for what happens in another thread or process, without a time that a busy machine could exceed."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 120.0


def until(happened: Callable[[], object]) -> None:
    """Return once ``happened`` returns something true; fail if that takes so long that it never will."""
    end = time.monotonic() + _SECONDS
    while not happened():
        assert time.monotonic() < end, f"it did not happen in {_SECONDS:g} s"
        time.sleep(0.01)

"""The log of a server: one handler for everything in its process, whose records are bounded and harmless."""

from __future__ import annotations

import logging

from wikigr.text import harmless

# Characters of a record; a longer traceback keeps its beginning and its end.
MAX_RECORD = 8_000


class _Formatter(logging.Formatter):
    """Indents all lines of a record but the first, so that a name from a request cannot look like another record."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if len(text) > MAX_RECORD:
            text = f"{text[: MAX_RECORD // 2]} … {text[-MAX_RECORD // 2 :]}"
        return harmless("\n  ".join(text.splitlines()))


def start_log() -> None:
    """Write errors to stderr, unless the process has a log.

    The SDK of MCP would install a handler of its own, which draws boxes around names of clients for minutes.
    """
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setLevel(logging.ERROR)
        handler.setFormatter(_Formatter("%(levelname)s: %(message)s"))
        logging.getLogger().addHandler(handler)

"""The log of a server: bounded records without control characters, none of which looks like another."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from wikigr.server.log import MAX_RECORD, start_log


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return what a server writes, without the handlers of pytest."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        start_log()
        (handler,) = root.handlers
        assert isinstance(handler, logging.StreamHandler)
        written = io.StringIO()
        handler.setStream(written)
        start_log()
        assert root.handlers == [handler]
        yield written
    finally:
        root.handlers = before


@pytest.mark.parametrize("name", ["x" * 60_000, "\x1b[31m" * 9_000, "a\nERROR: forged\u2028ERROR: forged\x9b2J"])
def test_a_name_in_an_error_is_bounded_and_harmless(log: io.StringIO, name: str) -> None:
    try:
        raise ValueError(f"Unknown prompt: {name}")
    except ValueError:
        logging.getLogger("mcp.server.runner").exception("The request %r failed", name)
    first, *others = log.getvalue().splitlines()
    assert first.startswith("ERROR: The request ") and len(log.getvalue()) < 2 * MAX_RECORD
    assert all(line.startswith("  ") for line in others)
    assert "\x1b" not in log.getvalue() and "\x9b" not in log.getvalue()


def test_the_sdk_adds_no_handler_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.server.mcpserver import MCPServer

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    start_log()
    MCPServer("x")
    assert [type(handler) for handler in logging.getLogger().handlers] == [logging.StreamHandler]

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from wikigr.llm.client import Claude

from .plugin import messages_server, no_model, no_pauses
from .server import MessagesServer

__all__ = ["KEY", "Make", "claude", "messages_server", "no_model", "no_pauses"]

KEY = "sk-ant-test-0123456789"
Make = Callable[..., Claude]


@pytest.fixture
def claude(messages_server: MessagesServer) -> Iterator[Make]:
    """Return a function that creates clients of the server with given options."""
    made: list[Claude] = []

    def make(**options: Any) -> Claude:
        defaults = {"model": "claude-opus-4-6", "api_key": KEY, "base_url": messages_server.url, "timeout": 60.0}
        made.append(Claude(**{**defaults, **options}))
        return made[-1]

    yield make
    for client in made:
        client.close()

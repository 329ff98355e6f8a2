"""The language model: clients of the Messages API, of the API of OpenAI and of model files; budget, prices, prompts."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Literal

# The server that implements the chat-completions API, and its key. The variables of OpenAI's own SDK are not read: a
# key for one server must not be sent to another.
CHAT_URL = "WIKIGR_OPENAI_BASE_URL"
CHAT_KEY = "WIKIGR_OPENAI_API_KEY"

Api = Literal["file", "chat", "messages"]


# These functions are not in ``open_client`` because a question without a model must not load the clients.


def api_of(model: str) -> Api:
    """Return how ``model`` is called: a path that ends in .gguf is a file, and the environment names the server."""
    if model.lower().endswith(".gguf"):
        return "file"
    return "chat" if os.environ.get(CHAT_URL, "").strip() else "messages"


def available(model: str = "") -> bool:
    """Return whether ``model`` is a file, or the environment names an API key, a token or a server for a model."""
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", CHAT_URL)
    return api_of(model) == "file" or any(os.environ.get(name, "").strip() for name in names)


def cites(model: str) -> bool:
    """Return whether ``model`` cites search results itself, as Claude does with the Messages API."""
    return model.startswith("claude") and api_of(model) == "messages"


def name_of(model: str) -> str:
    """Return the name of ``model`` in answers, messages and receipts: without the folder, if it is a file."""
    return PurePath(model).name if api_of(model) == "file" else model

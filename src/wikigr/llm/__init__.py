"""The language model: clients of the Messages API, of the API of OpenAI and of model files; budget, prices, prompts."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from wikigr.llm.failures import CHAT_API

if TYPE_CHECKING:
    from typing import Unpack

    from wikigr.llm.model_client import CallOptions, ModelClient
    from wikigr.llm.options import ModelFileOptions
    from wikigr.progress import Progress

CHAT_URL = CHAT_API.url_variable

Api = Literal["file", "chat", "messages"]

# An id of a model may contain a slash, but does not begin like a path.
_PATH = re.compile(r"(~|\.{0,2}/)|.*\.gguf\Z", re.IGNORECASE | re.DOTALL)


def api_of(model: str) -> Api:
    """Return how ``model`` is called: what looks like a path, or is a GGUF file, is a file; else by a server."""
    if _PATH.match(model) or _is_gguf(model):
        return "file"
    return "chat" if os.environ.get(CHAT_URL, "").strip() else "messages"


def _is_gguf(model: str) -> bool:
    from wikigr.files import open_regular

    try:
        if not Path(model).is_file():
            return False
        with open_regular(Path(model)) as file:
            return file.read(4) == b"GGUF"
    except (OSError, ValueError):
        return False


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


def open_client(
    model: str,
    *,
    api_key: str | None = None,
    file: ModelFileOptions | None = None,
    progress: Progress | None = None,
    **options: Unpack[CallOptions],
) -> ModelClient:
    """Return a client for ``model`` (see ``api_of``). ``api_key`` is one for Claude; ``file`` configures a model file,
    which reports its progress.

    Raises ``UsageError`` if a key, a package or the file is missing or malformed.
    """
    match api_of(model):
        case "file":
            from wikigr.llm.model_file import ModelFile

            return ModelFile(model, options=file, progress=progress, **options)
        case "chat" if api_key is None:
            from wikigr.llm.chat_server import ChatServer

            return ChatServer(model=model, **options)
        case _:
            from wikigr.llm.client import Claude

            return Claude(model=model, api_key=api_key, **options)

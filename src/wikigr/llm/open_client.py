"""Open the client for a model: a file, or a server that speaks one of two APIs."""

from __future__ import annotations

from wikigr.llm import api_of
from wikigr.llm.budget import Budget
from wikigr.llm.model_client import ModelClient
from wikigr.llm.options import ModelFileOptions
from wikigr.llm.response_cache import ResponseCache
from wikigr.progress import Progress


def open_client(
    model: str,
    *,
    api_key: str | None = None,
    timeout: float = 60.0,
    retries: int = 2,
    budget: Budget | None = None,
    cache: ResponseCache | None = None,
    file: ModelFileOptions | None = None,
    progress: Progress | None = None,
) -> ModelClient:
    """Return a client for ``model`` (see ``api_of``). ``api_key`` is one for Claude; ``file`` configures a model file,
    which reports its progress.

    Raises ``UsageError`` if a key, a package or the file is missing or malformed.
    """
    match api_of(model):
        case "file":
            from wikigr.llm.model_file import ModelFile

            return ModelFile(
                model, options=file, timeout=timeout, retries=retries, budget=budget, cache=cache, progress=progress
            )
        case "chat" if api_key is None:
            from wikigr.llm.chat_server import ChatServer

            return ChatServer(model=model, timeout=timeout, retries=retries, budget=budget, cache=cache)
        case _:
            from wikigr.llm.client import Claude

            return Claude(model=model, api_key=api_key, timeout=timeout, retries=retries, budget=budget, cache=cache)

"""What the pipeline, builds and evaluations need of a model, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from wikigr.llm.budget import Budget
from wikigr.llm.redaction import Secrets
from wikigr.llm.reply import Event, Reply
from wikigr.llm.usage import Usage


class ModelClient(Protocol):
    """Calls a model with requests of the Messages API, tracks its usage, and enforces a budget. Thread-safe.

    ``Claude`` (the Messages API), ``ChatServer`` (the API of OpenAI) and ``ModelFile`` (a GGUF file) implement it, on
    top of ``CallingClient``, which documents the members.
    """

    model: str
    budget: Budget | None
    repeat: int
    asked: int
    hits: int

    @property
    def runs_here(self) -> bool:
        """Whether the model runs on this machine without a server, so that nothing leaves it."""

    @property
    def server(self) -> str: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def weights_sha256(self) -> str | None: ...

    def complete(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
        usable: Callable[[Reply], bool] = ...,
    ) -> Reply: ...

    def stream(
        self,
        *,
        system: Sequence[Mapping[str, Any]] | str,
        messages: Sequence[Mapping[str, Any]],
        max_tokens: int,
        on_event: Callable[[Event], None],
        model: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Reply: ...

    def close(self) -> None: ...

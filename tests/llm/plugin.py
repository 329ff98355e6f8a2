"""The fixture ``messages_server``, for all tests that call a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .server import MessagesServer

FOREIGN = """ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_PROFILE
    ANTHROPIC_CONFIG_DIR ANTHROPIC_LOG HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy
    no_proxy SSL_CERT_FILE WIKIGR_OPENAI_BASE_URL WIKIGR_OPENAI_API_KEY OPENAI_API_KEY OPENAI_BASE_URL OPENAI_ORG_ID
    OPENAI_PROJECT_ID OPENAI_CUSTOM_HEADERS""".split()


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without a model, a key or a proxy, independent of the developer's."""
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the SDKs retry at once."""
    for name in (
        "wikigr.llm.http_api._FIRST_WAIT",
        "anthropic._base_client.INITIAL_RETRY_DELAY",
        "openai._base_client.INITIAL_RETRY_DELAY",
    ):
        monkeypatch.setattr(name, 0.01)


@pytest.fixture
def messages_server(
    no_model: None, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MessagesServer]:
    """A Messages API on loopback, in an environment away from the developer's. Nothing points to it yet: give
    ``messages_server.url`` to a client, or set ``ANTHROPIC_BASE_URL``."""
    # Loopback needs no certificate authorities, and every client would load them all: 30 ms each.
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path_factory.getbasetemp()))
    server = MessagesServer()
    yield server
    server.close()

"""Packs that are served, and a real server on a loopback port."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.pack.joined.conftest import birds, machines  # noqa: F401

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.server.app import AppServer, create_app, listen
from wikigr.server.packs import ServedPacks
from wikigr.sources.detect import open_source

Build = Callable[..., Path]


class Blocked:
    """Replaces ``Pipeline.answer`` with a stage that ends only when the question is cancelled."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.ended = threading.Event()

    def answer(self, pipeline: Pipeline, question: str, **options: Any) -> Any:
        try:
            while not self.ended.wait(0.02):
                self.started.set()
                options["trace"].on_stage("a long stage")
        finally:
            self.ended.set()


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Blocked]:
    """Block all questions until the end of the test."""
    found = Blocked()
    monkeypatch.setattr(Pipeline, "answer", lambda *arguments, **options: found.answer(*arguments, **options))
    yield found
    found.ended.set()


@dataclass(frozen=True)
class Running:
    """A server that runs in a thread; ``client`` is connected to it."""

    address: str
    port: int
    client: httpx2.Client
    packs: ServedPacks
    stop: Callable[[], None]

    def get(self, path: str, **query: Any) -> Any:
        """Return the document at ``path``, which must be there."""
        response = self.client.get(path, params=query)
        assert response.status_code == 200, response.text
        return response.json()


@contextmanager
def running(*locations: Path, **options: Any) -> Iterator[Running]:
    """Serve the packs at ``locations``; ``options`` are those of ``create_app``."""
    packs = ServedPacks([str(location) for location in locations], offline=options.pop("offline", True))
    ready = threading.Event()
    listener = listen("127.0.0.1", 0)
    server = AppServer(create_app(packs, **options), ready.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "".join(traceback.format_stack(sys._current_frames()[thread.ident or 0]))

    try:
        assert ready.wait(60)
        port = listener.getsockname()[1]
        address = f"http://127.0.0.1:{port}"
        # A connection that is idle while the machine is busy may be closed just when it is used again.
        limits = httpx2.Limits(max_keepalive_connections=0)
        with httpx2.Client(base_url=address, timeout=120, limits=limits) as client:
            yield Running(address, port, client, packs, stop)
    finally:
        stop()
        listener.close()


@pytest.fixture(scope="session")
def physics(physics_pack: Path) -> Iterator[Running]:
    """A server of the demo pack, for tests that do not change anything."""
    with running(physics_pack) as server:
        yield server


@pytest.fixture
def build(encoder: Embedder) -> Build:
    """Return a function that builds a pack of articles, given as pairs of a title and a text, or replaces one."""

    def make(folder: Path, articles: Sequence[tuple[str, str]]) -> Path:
        source = folder.with_name(f"{folder.name}.jsonl")
        records = [{"id": title, "title": title, "text": text} for title, text in articles]
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        build_pack(open_source(source), str(source), folder, encoder, BuildOptions(name=folder.name))
        return folder

    return make

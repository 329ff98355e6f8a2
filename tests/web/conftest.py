"""A real browser, and a real server that it opens: the web application on loopback."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright
from tests.llm.plugin import messages_server, no_model  # noqa: F401
from tests.sources.office.files import pdf
from tests.web.packs import HARBOR_PAGES, NOTE, build, hostile_records

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.starters import store_starters
from wikigr.progress import Silent
from wikigr.server.app import create_app
from wikigr.server.packs import ServedPacks

# A busy machine takes its time.
expect.set_options(timeout=30_000)
# Names of the program in the distributions.
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# A page that says what the server refused was told so by a status.
_EXPECTED = ("the server responded with a status of 4", "net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED")

Visit = Callable[..., Page]


@dataclass(frozen=True)
class Site:
    """A server; ``stop`` ends it."""

    address: str
    stop: Callable[[], None]


Serve = Callable[..., Site]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if path is None:
        pytest.fail("Install Chromium, such as with `apt-get install chromium`.")
    with sync_playwright() as playwright:
        # In a container, Chromium may have no right to make its own sandbox.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Return a function that serves packs until it is stopped, at the latest at the end of the session."""
    with ExitStack() as stack:

        def start(*packs: Path, offline: bool = True, port: int = 0, **options: Any) -> Site:
            app = create_app(ServedPacks([str(pack) for pack in packs], offline=offline), threads=2, **options)
            server = uvicorn.Server(
                uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=1)
            )
            thread = threading.Thread(target=server.run)
            thread.start()

            def stop() -> None:
                server.should_exit = True
                thread.join()

            stack.callback(stop)
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            return Site(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", stop)

        yield start


@pytest.fixture(scope="session")
def harbor(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """The folder ``manuals`` with a note and a PDF, and their pack with its starters."""
    folder = tmp_path_factory.mktemp("harbor")
    (folder / "manuals").mkdir()
    (folder / "manuals" / "berths.md").write_text(NOTE, encoding="utf-8")
    (folder / "manuals" / "harbor.pdf").write_bytes(pdf(HARBOR_PAGES, title="Harbor manual"))
    build(folder / "manuals", folder / "harbor", encoder, description="The manual of a harbor")
    store_starters(folder / "harbor", Silent())
    return folder


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    return hostile_records(tmp_path_factory.mktemp("hostile"), encoder)


@pytest.fixture(scope="session")
def site(serve: Serve, physics_pack: Path, harbor: Path) -> str:
    """The address of the demo pack and of the harbor, whose source files are handed out."""
    return serve(physics_pack, harbor / "harbor", originals=harbor / "manuals").address


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Return a function that opens an address in a fresh browser window.

    Afterwards, nothing must have been requested from another host, and no page may have failed or broken a rule of its
    content security policy: the browser reports both on the console.
    """
    contexts: list[tuple[BrowserContext, str]] = []
    requested: list[tuple[str, str]] = []
    reported: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        reported.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open_(address: str, *, width: int = 1280, height: int = 860, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=width < 600,
        )
        contexts.append((context, address))
        host = "/".join(address.split("/")[:3])
        context.on("request", lambda request: requested.append((host, request.url)))
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: reported.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: reported.append(str(error)))
        page.on("dialog", dismiss)
        page.goto(address)
        page.locator("#ask:visible, #sign-in:visible, #alert > *").first.wait_for()
        return page

    yield open_
    for context, _ in contexts:
        context.close()
    assert [
        url for host, url in requested if not url.startswith((f"{host}/", "chrome-extension://", "chrome://", "blob:"))
    ] == []
    assert [text for text in reported if not any(expected in text for expected in _EXPECTED)] == []

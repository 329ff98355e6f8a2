"""A real browser, and a real server that it opens: the web application on loopback."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright
from tests.llm.plugin import messages_server, no_model  # noqa: F401
from tests.server.web.conftest import hostile_pack, register_pack  # noqa: F401
from wikigr.server.web.routes import WebPage

from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.pipeline.profile_files import load_profile
from wikigr.server.app import create_app
from wikigr.server.packs import ServedPacks

BORN = "When and where was Werner Heisenberg born?"
# Names of the program in the distributions.
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

Serve = Callable[..., str]
Visit = Callable[..., Page]


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
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Return a function that serves packs until the end of the session and returns the address of the first page."""
    with ExitStack() as stack:

        def start(*packs: Path, runs: Path | None = None, offline: bool = True) -> str:
            served = ServedPacks([str(pack) for pack in packs], offline=offline)
            page = WebPage(served, runs or tmp_path_factory.mktemp("no-runs"))
            app = create_app(served, pages=page.routes(), threads=2)
            server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
            thread = threading.Thread(target=server.run)
            thread.start()
            stack.callback(thread.join)
            stack.callback(setattr, server, "should_exit", True)
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            return f"http://127.0.0.1:{port}"

        yield start


@pytest.fixture(scope="session")
def runs(physics_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one evaluation run."""
    questions = [GoldQuestion("1", BORN, ("Würzburg",), (Gold("Werner Heisenberg"),), True, "", "", None, 1)]
    profiles = [load_profile("fast"), load_profile("enhanced")]
    folder = tmp_path_factory.mktemp("runs")
    evaluate(Evaluation(str(physics_pack), questions, "gold.jsonl", None, profiles, offline=True), folder / "first")
    return folder


@pytest.fixture(scope="session")
def site(serve: Serve, physics_pack: Path, runs: Path) -> str:
    """The address of the demo pack."""
    return serve(physics_pack, runs=runs)


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

    def open_(
        address: str, *, width: int = 1280, height: int = 860, dark: bool = False, javascript: bool = True
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            has_touch=width < 600,
        )
        contexts.append((context, address))
        host = "/".join(address.split("/")[:3])
        context.on("request", lambda request: requested.append((host, request.url)))
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: reported.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: reported.append(str(error)))
        page.on("dialog", dismiss)
        page.goto(address)
        return page

    yield open_
    for context, _ in contexts:
        context.close()
    assert [url for host, url in requested if not url.startswith(f"{host}/")] == []
    # A page about an error has its status.
    assert [text for text in reported if "the server responded with a status of 404" not in text] == []

"""The web application over the demo pack, and over a pack whose every field attacks a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.server.app import create_app
from wikigr.server.packs import ServedPacks
from wikigr.server.web.routes import WebPage
from wikigr.sources.detect import open_source

# One profile of each test without a model, so that no test depends on the developer's key.
Open = Callable[..., TestClient]

SCRIPT = "<script>alert('ZQX')</script>"
HANDLER = "\"><img src=x onerror=alert('ZQX')>"
# Control characters, and characters that turn the direction of text around, which get into a pack.
CONTROLS = "\x9b2J\x85\u202eelbissop\u202c\u2066x\u2069"
HOSTILE_TITLE = f"Gate {SCRIPT} & 'keys'"
HOSTILE = [
    {
        "id": "gate",
        "title": HOSTILE_TITLE,
        "text": f"The brass gate of Orrin was built by Mara Quill in 1871. {SCRIPT} {HANDLER} {CONTROLS}\n"
        f"# {HANDLER}\nIts keys hang beside the Old tower. javascript:alert(1) {{{{ 7 * 7 }}}} {{% raw %}}\n\n"
        f"- {SCRIPT}\n- second\n\nyear | {SCRIPT}\n1871 | {HANDLER}",
        "links": ["tower", "../../../etc/passwd"],
        "url": "javascript:alert(document.cookie)",
        "categories": [SCRIPT, HANDLER],
        "aliases": [f"alias {SCRIPT}", f"brass {CONTROLS} gate"],
    },
    {
        "id": "tower",
        "title": "Old tower",
        "text": "The Old tower of Orrin is 40 metres high. It was built by Edda Farn in 1790.",
        "links": ["gate", "path"],
        "url": "https://example.org/tower?a=1&b=<script>",
        "categories": ["Building"],
    },
    {
        "id": "path",
        "title": "../../../etc/passwd",
        "text": "A title that looks like a path.",
        "url": "file:///etc/passwd",
    },
]


@pytest.fixture(scope="session")
def hostile_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("hostile-pages")
    source = folder / "source.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in HOSTILE), encoding="utf-8")
    options = BuildOptions(name="hostile", description=f"{SCRIPT} {CONTROLS}", license=HANDLER)
    build_pack(open_source(source), str(source), folder / "hostile", encoder, options)
    return folder / "hostile"


# An article that 30 others link to, some of whose titles are too long for a picture.
HUB = "Lighthouse register"
KEEPERS = [f"The lighthouse keeper of the northern shore, number {number}" for number in range(1, 31)]
REGISTER = [
    {
        "id": HUB,
        "title": HUB,
        "text": "The register lists lighthouses by height. It was begun by Mara Quill in 1871. Nobody has read it.",
        "url": "https://example.org/register",
    },
    *(
        {"id": title, "title": title, "text": f"{title} kept the light and the register.", "links": [HUB]}
        for title in KEEPERS
    ),
]


@pytest.fixture(scope="session")
def register_pack(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("register")
    source = folder / "source.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in REGISTER), encoding="utf-8")
    build_pack(open_source(source), str(source), folder / "register", encoder, BuildOptions(name="register"))
    return folder / "register"


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """Return a function that starts the application over packs, offline by default, and returns a browser for it."""
    with ExitStack() as stack:

        def open_(*packs: Path, runs: Path | None = None, offline: bool = True) -> TestClient:
            served = ServedPacks([str(pack) for pack in packs], offline=offline)
            page = WebPage(served, runs or tmp_path_factory.mktemp("no-runs"))
            app = create_app(served, pages=page.routes(), threads=2)
            return stack.enter_context(TestClient(app, base_url="http://localhost:8642"))

        yield open_


@pytest.fixture(scope="module")
def physics(open_site: Open, physics_pack: Path) -> TestClient:
    """The demo pack in a browser without a script."""
    return open_site(physics_pack)


@pytest.fixture(scope="module")
def hostile(open_site: Open, hostile_pack: Path) -> TestClient:
    return open_site(hostile_pack)


@pytest.fixture(scope="module")
def register(open_site: Open, register_pack: Path) -> TestClient:
    return open_site(register_pack)

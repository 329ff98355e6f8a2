"""No page has an accessibility violation, in light and in dark, wide and on a phone."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page
from tests.server.web.conftest import HUB

from .conftest import BORN, Serve, Visit

pytestmark = pytest.mark.web

AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
EARLIER = "Who was born earlier, Niels Bohr or Max Planck?"
PAGES = {
    "home": "/",
    "answer": f"/ask?q={quote(BORN)}",
    "conversation": f"/ask?q=and+where%3F&turn={quote(json.dumps([BORN, 'Würzburg', 'Werner Heisenberg']))}",
    "search": "/search?q=double+slit&page=2",
    "chain": f"/ask?q={quote(EARLIER)}",
    "not covered": "/ask?q=What+is+the+capital+of+France%3F",
    "article": "/article?pack=physics&title=Werner+Heisenberg&section=Werner+Heisenberg%230&start=100&end=199#quote",
    "neighborhood": "/neighborhood?pack=physics&title=Niels+Bohr",
    "path": "/neighborhood?pack=physics&title=Niels+Bohr&to=Laser",
    "why": f"/why?q={quote(BORN)}&title=Max+Planck",
    "compare": f"/compare?q={quote(BORN)}&a=enhanced&b=fast",
    "compare form": "/compare",
    "runs": "/runs",
    "run": "/runs?run=first",
    "not found": "/article?title=Heisenberg+picture",
}


def violations(page: Page) -> list[str]:
    """Return the violations of every rule, each with its first element."""
    page.evaluate(AXE)
    options = {"iframes": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
    found = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:300]} {rule['nodes'][0]['failureSummary']}"
        for rule in found["violations"]
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page(site: str, visit: Visit, name: str, dark: bool) -> None:
    page = visit(site + PAGES[name], dark=dark)
    assert violations(page) == []
    # What is folded is part of the page.
    page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert violations(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_a_phone(site: str, visit: Visit, name: str) -> None:
    page = visit(site + PAGES[name], width=360, height=740)
    assert violations(page) == []
    # The page does not scroll sideways; wide tables do so by themselves.
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_several_packs_tables_and_suggestions(
    serve: Serve, visit: Visit, physics_pack: Path, register_pack: Path
) -> None:
    both = serve(physics_pack, register_pack)
    hub = quote(HUB)
    for address in ("/", f"/article?pack=register&title={hub}", f"/neighborhood?pack=register&title={hub}&page=2"):
        page = visit(both + address, width=360, height=740)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.goto(both)
    page.locator("#q").press_sequentially("quantum")
    page.locator(".titles li").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert violations(page) == []


def test_dark_follows_the_system(site: str, visit: Visit) -> None:
    def lightness(page: Page) -> float:
        color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(float(part) for part in color[4:-1].split(",")) / 3

    assert lightness(visit(site)) > 200 > 60 > lightness(visit(site, dark=True))

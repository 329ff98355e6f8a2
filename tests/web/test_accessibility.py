"""No page has an accessibility violation or scrolls sideways, in light and in dark, on a phone and on a wide screen."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from .conftest import Visit
from .test_page import BERTH, BORN, EARLIER, ask, asked

pytestmark = pytest.mark.web

AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
WIDTHS = (360, 768, 860, 1280, 1920)
# The address of each page, and what is there once it is complete.
PAGES = {
    "home": ("/", ".card"),
    "conversation": (asked("", BORN, "When did he die?"), ".turn:nth-child(2) .headline"),
    "table": (asked("", BERTH), "tr.marked"),
    "code": (asked("", "Which command resets the tide gauge?"), "figure.code"),
    "steps": (asked("", "How do I book a berth?"), ".turn ol"),
    "chain": (asked("", EARLIER), ".chain"),
    "not sure": (asked("", "Who is the mayor of Vessin?"), ".others"),
    "not covered": (asked("", "What is the capital of France?"), ".turn .confidence"),
    "article": (
        asked(
            "",
            BORN,
            article="Werner Heisenberg",
            within="physics",
            section="Werner Heisenberg#0",
            start="100",
            end="199",
        ),
        "#panel mark.quoted",
    ),
    "table of an article": ("/?article=Berths+of+Vessin&within=harbor", "#panel td"),
    "search": ("/?search=double+slit", ".results"),
    "browse": ("/?browse=title", "#titles"),
    "neighborhood": ("/?near=Niels+Bohr&within=physics", ".picture"),
    "path": ("/?near=Niels+Bohr&within=physics&to=Laser", ".steps"),
    "why": (asked("", BORN, why="1"), "#panel .sentences"),
    "not found": ("/?article=Heisenberg+picture+book&within=physics", "#panel .note"),
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
    address, complete = PAGES[name]
    page = visit(site + address, dark=dark)
    expect(page.locator(complete).first).to_be_visible()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        # Wide tables and code scroll by themselves.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        if width in (360, 1280):
            assert violations(page) == []
    # What is folded is part of the page.
    page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    assert violations(page) == []


def test_what_is_open_for_a_moment(site: str, visit: Visit) -> None:
    page = visit(site)
    page.locator("#q").press_sequentially("quantum")
    page.locator("#titles-of-q li").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.keyboard.press("Escape")
    ask(page, BORN)
    page.locator("#q").fill("When did she die?")
    page.keyboard.press("Enter")
    expect(page.locator("#alert .warn")).to_be_visible()
    page.locator(".cite").first.focus()
    expect(page.locator("#preview")).to_be_visible()
    assert violations(page) == []


def test_print_shows_the_conversation_alone(site: str, visit: Visit) -> None:
    page = visit(asked(site, BERTH))
    expect(page.locator("tr.marked")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator(".top")).to_be_hidden()
    expect(page.locator(".turn .headline")).to_be_visible()
    # Nothing is folded on paper.
    assert page.locator(".turn tbody tr:visible").count() > 10


def test_dark_follows_the_system(site: str, visit: Visit) -> None:
    def lightness(page: Page) -> float:
        color: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(float(part) for part in color[4:-1].split(",")) / 3

    assert lightness(visit(site)) > 200 > 60 > lightness(visit(site, dark=True))


def test_the_address_of_a_title_with_signs(site: str, visit: Visit) -> None:
    page = visit(f"{site}/?article={quote('Bell’s theorem')}&within=physics")
    expect(page.locator("#panel-title")).to_have_text("Bell's theorem")

"""Asking and reading in a browser: with the keyboard, without a script, while a model writes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from tests.llm.server import MessagesServer, Response, first_cited, held_before, reply, respond, status, text
from tests.server.web.conftest import HOSTILE_TITLE, SCRIPT

from .conftest import BORN, Serve, Visit

pytestmark = pytest.mark.web

EARLIER = "Who was born earlier, Niels Bohr or Max Planck?"
_IN_WINDOW = """(node) => {
  const box = node.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
}"""


def test_asking_with_the_keyboard_alone(site: str, visit: Visit) -> None:
    page = visit(f"{site}/runs")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    # In the box it is a character.
    page.keyboard.type(f"either/or? {EARLIER}")
    expect(page.locator("#q")).to_have_value(f"either/or? {EARLIER}")
    page.locator("#q").fill(EARLIER)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(EARLIER)
    # The script runs last.
    page.wait_for_load_state()
    sources = page.locator("a.source")
    page.keyboard.press("ArrowDown")
    expect(sources.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(sources.nth(1)).to_be_focused()
    # After the sources come the other possible answers, if there are any. The last one stays the last one.
    others = page.locator(".others a.at")
    for _ in range(others.count() + 1):
        page.keyboard.press("ArrowDown")
    expect((others if others.count() else sources).last).to_be_focused()
    # The page may still scroll there.
    key = "new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true, cancelable: true})"
    assert page.evaluate(f"document.activeElement.dispatchEvent({key})")
    for _ in range(others.count() + 2):
        page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    quotation = sources.nth(0).locator("q").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#quote")).to_be_visible()
    assert page.locator("#quote").evaluate(_IN_WINDOW)
    assert " ".join(page.locator("mark.quoted").all_inner_texts()) in quotation
    page.go_back()
    expect(page.locator("h1")).to_have_text(EARLIER)


def test_the_first_key_skips_to_the_content(site: str, visit: Visit) -> None:
    page = visit(f"{site}/article?title=Spin")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_quotation_far_down_is_scrolled_into_view(site: str, visit: Visit) -> None:
    page = visit(f"{site}/article?title=Spin&pack=physics&section=Spin%234&start=0&end=40#quote", height=400)
    assert page.locator("#quote").evaluate(_IN_WINDOW)
    assert page.evaluate("scrollY") > 0
    # The header does not cover what an outline link leads to.
    page.locator(".outline a").nth(2).click()
    below = "(node) => node.getBoundingClientRect().top >= document.querySelector('.top').offsetHeight"
    page.wait_for_function(below, arg=page.locator("section#s2 h2").element_handle())
    assert page.locator("section#s2 h2").evaluate(_IN_WINDOW)


def test_everything_to_read_works_without_a_script(site: str, visit: Visit) -> None:
    page = visit(site, javascript=False)
    page.locator("#q").fill(BORN)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".headline")).to_have_text("Würzburg on 5 December 1901")
    page.locator("a.source").click()
    assert page.locator("#quote").bounding_box()["y"] < 860
    page.locator("a", has_text="Neighborhood").first.click()
    expect(page.locator("svg a.node")).not_to_have_count(0)
    page.locator("svg a.node circle").nth(1).click()
    expect(page.locator("svg a.node.center")).to_have_count(1)
    page.locator("#to").fill("Laser")
    page.keyboard.press("Enter")
    expect(page.locator(".steps li")).not_to_have_count(0)
    page.go_back()
    page.locator("table.list th a").first.click()
    expect(page.locator(".outline a")).not_to_have_count(0)


def test_searching_without_a_script(site: str, visit: Visit) -> None:
    page = visit(site, javascript=False)
    page.locator("#q").fill("double slit")
    page.get_by_role("button", name="Search").click()
    page.locator("a[rel=next]").click()
    place = page.locator(".results a.at").first
    title = place.inner_text()
    place.click()
    page.locator(".back a").click()
    expect(page.locator(".results a.at").first).to_have_text(title)
    # The text to copy is there, and no button that would do nothing.
    page.goto(f"{site}/ask?q={quote(BORN)}")
    expect(page.locator("[data-copy]")).to_be_hidden()
    page.locator(".markdown summary").click()
    expect(page.locator("#markdown")).to_contain_text("1. Werner Heisenberg › Introduction")


def test_titles_are_completed_while_they_are_typed(site: str, visit: Visit) -> None:
    page = visit(site)
    box, options = page.locator("#q"), page.locator(".titles li")
    box.press_sequentially("Where was heis")
    expect(options).to_have_text(["Werner Heisenberg"])
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    expect(chosen).to_have_attribute("aria-selected", "true")
    # Enter takes the title, and asks only the next time.
    page.keyboard.press("Enter")
    expect(box).to_have_value("Where was Werner Heisenberg")
    expect(options).to_have_count(0)
    box.press_sequentially(" and quantum")
    expect(options).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_be_focused()
    box.fill("When and where was wern")
    options.first.click()
    box.press_sequentially(" born?")
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_have_text("Würzburg on 5 December 1901")
    # So are those in the other boxes for a title.
    page.goto(f"{site}/neighborhood?pack=physics&title=Niels+Bohr")
    page.locator("#to").press_sequentially("las")
    options.first.click()
    expect(page.locator("#to")).to_have_value("Laser")


def test_only_what_is_typed_last_is_looked_up(site: str, visit: Visit) -> None:
    page = visit(site)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/titles?" in request.url else None)
    page.locator("#q").press_sequentially("heisenberg", delay=10)
    expect(page.locator(".titles li")).to_have_count(1)
    assert len(asked) < 5 and "q=heisenberg&" in asked[-1]


def test_the_box_stays_in_reach_on_a_phone(site: str, visit: Visit) -> None:
    page = visit(f"{site}/article?pack=physics&title=Spin", width=360, height=640)
    expect(page.get_by_role("button", name="Search")).to_be_hidden()
    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    box = page.locator("#q")
    page.wait_for_function("document.querySelector('#q').getBoundingClientRect().top < 20")
    assert box.evaluate(_IN_WINDOW) and page.evaluate("scrollY") > 100
    # It takes little of the screen, and offers the rest while it is used.
    assert page.locator(".top").bounding_box()["height"] < 130
    box.focus()
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    assert page.get_by_role("button", name="Search").evaluate(_IN_WINDOW)
    box.fill("double slit")
    # The titles that are offered do not cover it.
    page.locator(".titles li").first.wait_for()
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".results li")).to_have_count(10)
    page.goto(site)
    box.fill("double slit")
    page.locator(".titles li").first.wait_for()
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".results li")).to_have_count(10)


def test_an_article_leads_back_to_the_conversation(site: str, visit: Visit) -> None:
    page = visit(f"{site}/ask?q={quote(BORN)}")
    page.locator("#q").fill("When did he die?")
    page.keyboard.press("Enter")
    expect(page.locator(".note strong")).to_have_text("When did Werner Heisenberg die?")
    expect(page.locator(".before li a")).to_have_text(BORN)
    page.locator("a.source").first.click()
    page.locator(".back a").click()
    expect(page.locator("h1")).to_have_text("When did he die?")
    expect(page.locator(".before li a")).to_have_text(BORN)
    # The next question replaces this one.
    page.locator("#q").click()
    page.keyboard.type("and where?")
    expect(page.locator("#q")).to_have_value("and where?")


def test_copying_an_answer(site: str, visit: Visit) -> None:
    page = visit(f"{site}/ask?q={quote(BORN)}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator(".markdown")).to_be_hidden()
    page.locator("[data-copy]").click()
    expect(page.locator("[data-copy]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"## {BORN}") and copied == page.locator("#markdown").text_content()
    # Without the permission, the text is shown and selected.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator("[data-copy]").click()
    expect(page.locator("#markdown")).to_be_visible()
    assert page.evaluate("getSelection().toString()").startswith("## ")


def test_recent_questions_stay_in_this_browser(site: str, visit: Visit) -> None:
    page = visit(site)
    expect(page.locator("#recent")).to_be_hidden()
    for question in (BORN, EARLIER, BORN):
        page.goto(f"{site}/ask?q={quote(question)}")
    page.goto(site)
    expect(page.locator("#recent-list a")).to_have_text([BORN, EARLIER])
    page.locator("#recent-list a").last.click()
    expect(page.locator("h1")).to_have_text(EARLIER)
    page.goto(site)
    page.locator("#forget").click()
    expect(page.locator("#recent")).to_be_hidden()
    page.reload()
    expect(page.locator("#recent")).to_be_hidden()
    # Another visitor sees nothing of it.
    expect(visit(site).locator("#recent")).to_be_hidden()


@pytest.mark.parametrize("stored", ["{", "[1]", '[{"question": "x", "address": "javascript:alert(1)"}]', '"x"'])
def test_damaged_recent_questions_do_no_harm(site: str, visit: Visit, stored: str) -> None:
    page = visit(site)
    page.evaluate("(stored) => localStorage.setItem('wikigr.recent', stored)", stored)
    page.reload()
    expect(page.locator("#recent")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()


def _view_box(page: Page) -> list[float]:
    return [float(part) for part in str(page.locator("#picture > svg").get_attribute("viewBox")).split()]


def test_the_picture_can_be_panned_zoomed_and_clicked(site: str, visit: Visit) -> None:
    page = visit(f"{site}/neighborhood?pack=physics&title=Niels+Bohr")
    whole = _view_box(page)
    node = page.locator("svg a.node:not(.center)").first
    name = str(node.get_attribute("aria-label"))
    box = node.locator("circle").bounding_box()
    assert box is not None
    # A drag that begins on a node moves the picture and does not follow the link.
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=5)
    page.mouse.up()
    moved = _view_box(page)
    assert moved[0] < whole[0] and moved[1] < whole[1] and moved[2:] == whole[2:]
    after = node.locator("circle").bounding_box()
    assert after is not None and abs(after["x"] - box["x"] - 60) < 3 and abs(after["y"] - box["y"] - 30) < 3
    expect(page.locator("h1")).to_have_text("Niels Bohr")

    page.get_by_role("button", name="Zoom in").click()
    assert _view_box(page)[2] < whole[2]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("0")
    assert _view_box(page) == whole
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    # The point under the pointer stays there.
    zoomed = node.locator("circle").bounding_box()
    assert zoomed is not None and zoomed["width"] > box["width"] * 1.1
    assert abs(zoomed["x"] + zoomed["width"] / 2 - x) < 2
    page.get_by_role("button", name="Show the whole picture").click()
    assert _view_box(page) == whole

    node.locator("circle").click()
    expect(page.locator("h1")).to_have_text(name)


def test_the_picture_with_the_keyboard(site: str, visit: Visit) -> None:
    page = visit(f"{site}/neighborhood?pack=physics&title=Niels+Bohr")
    page.locator("#to").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('svg a.node:not(.center)')"):
            break
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(name)


def test_labels_are_readable_on_a_phone(site: str, visit: Visit) -> None:
    page = visit(f"{site}/neighborhood?pack=physics&title=Niels+Bohr", width=360, height=740)
    label = page.locator("svg a.node.center text")
    assert label.bounding_box()["height"] >= 10
    picture, box = page.locator("#picture").bounding_box(), label.bounding_box()
    assert picture is not None and box is not None
    assert picture["x"] <= box["x"] and box["x"] + box["width"] <= picture["x"] + picture["width"]


def test_a_report_is_shut_in(site: str, visit: Visit) -> None:
    page = visit(f"{site}/runs?run=first")
    frame = page.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text("physics")
    inner = next(frame for frame in page.frames if frame != page.main_frame)
    assert inner.evaluate("origin") == "null"
    with pytest.raises(Exception, match=r"SecurityError|sandboxed"):
        inner.evaluate("document.cookie")
    # On a page of its own as well.
    alone = visit(f"{site}/runs/report?run=first")
    assert alone.evaluate("origin") == "null"


def test_hostile_text_runs_nothing(serve: Serve, visit: Visit, hostile_pack: Path) -> None:
    hostile = serve(hostile_pack)
    for address in (
        "/",
        "/ask?q=Who+built+the+brass+gate+of+Orrin%3F",
        "/why?q=Who+built+the+brass+gate+of+Orrin%3F",
        "/compare?q=Who+built+the+brass+gate+of+Orrin%3F",
        f"/article?title={quote(HOSTILE_TITLE)}",
        f"/neighborhood?title={quote(HOSTILE_TITLE)}",
        f"/ask?q={quote(SCRIPT)}",
    ):
        page = visit(hostile + address)
        assert "ZQX" in page.locator("body").inner_text() or address == "/"
        assert page.locator("body script, body img").count() == 0
    # The question went through the list of recent ones.
    page.goto(hostile)
    expect(page.locator("#recent-list a")).to_have_text([SCRIPT])


@pytest.fixture
def gated(messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A model that stops in the middle of its answer until the function is called."""
    gate = threading.Event()

    def write(request: dict[str, Any]) -> Response:
        block = next(part for part in request["messages"][-1]["content"] if part["type"] == "search_result")
        whole = reply(text("He was born in Würzburg", first_cited(block)), text(f". {SCRIPT} So it is."))
        return respond(held_before(6, gate, whole), request)

    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(write)
    return gate.set


def test_an_answer_appears_while_a_model_writes_it(
    serve: Serve, visit: Visit, physics_pack: Path, messages_server: MessagesServer, gated: Callable[[], None]
) -> None:
    page = visit(serve(physics_pack, offline=False))
    page.locator("#q").fill(BORN)
    page.keyboard.press("Enter")
    # The first question to a model imports its client.
    expect(page.locator("#written")).to_contain_text("He was", timeout=30_000)
    assert page.locator(".confidence").count() == 0
    gated()
    expect(page.locator(".text a.cite")).to_have_text("1")
    expect(page.locator(".text")).to_contain_text(SCRIPT)
    # The address is that of the complete answer, which is not asked for again.
    assert "live" not in page.url and page.locator("#written").count() == 0
    page.reload()
    expect(page.locator(".text a.cite")).to_have_text("1")
    assert len(messages_server.requests) == 1


def test_a_model_that_fails_while_it_writes(
    serve: Serve, visit: Visit, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(status(400, "no"))
    page = visit(serve(physics_pack, offline=False))
    page.locator("#q").fill(BORN)
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_have_class(re.compile("warn"), timeout=30_000)
    expect(page.locator("#state")).not_to_be_empty()

"""Asking and reading in a browser: a conversation, what stands beside it, and what goes wrong."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect
from tests.llm.server import MessagesServer, Response, first_cited, held_before, reply, respond, status, text
from tests.web.packs import CODE, HANDLER, HOSTILE_TITLE, SCRIPT

from .conftest import Serve, Visit

pytestmark = pytest.mark.web

BORN = "When and where was Werner Heisenberg born?"
EARLIER = "Who was born earlier, Niels Bohr or Max Planck?"
BERTH = "How deep is berth 12?"
TOKEN = "0123456789abcdef-token"
_IN_WINDOW = """(node) => {
  const box = node.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight;
}"""


def ask(page: Page, question: str) -> None:
    """Ask from the box, and wait for the answer."""
    turns = page.locator(".turn .confidence")
    count = turns.count()
    page.locator("#q").fill(question)
    page.keyboard.press("Enter")
    expect(turns).to_have_count(count + 1)


def asked(site: str, *questions: str, **more: str) -> str:
    query = [f"q={quote(question)}" for question in questions] + [
        f"{name}={quote(value)}" for name, value in more.items()
    ]
    return f"{site}/?{'&'.join(query)}"


def test_a_conversation_is_one_page(site: str, visit: Visit) -> None:
    page = visit(site)
    ask(page, BERTH)
    # Other possible answers may quote tables, too.
    first = page.locator(".turn").first.locator(":scope > .text")
    # The row of the answer is marked, with two rows on either side, and the others are folded.
    expect(first.locator("tr.marked")).to_have_text("12Quay L 19.0220")
    expect(first.locator("tbody tr:visible")).to_have_count(5)
    first.get_by_role("button", name="more rows").click()
    assert first.locator("tbody tr:visible").count() > 10
    cells = first.locator("tr td:last-child")
    edges = {round(box["x"] + box["width"]) for n in range(4) if (box := cells.nth(n).bounding_box())}
    assert len(edges) == 1
    ask(page, BORN)
    ask(page, "When did he die?")
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator(".turn:last-child .note strong")).to_have_text("When did Werner Heisenberg die?")
    expect(page.locator(".turn:last-child .headline")).to_have_text("1 February 1976")
    # Only the last one can be taken back; its question is in the box again.
    expect(page.get_by_role("button", name="Undo")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator("#q")).to_have_value("When did he die?")
    page.go_back()
    expect(page.locator(".turn")).to_have_count(3)


def test_a_failed_follow_up_loses_nothing(site: str, visit: Visit) -> None:
    page = visit(site)
    ask(page, BERTH)
    before = page.url
    page.locator("#q").fill("When did she die?")
    page.keyboard.press("Enter")
    expect(page.locator("#alert")).to_contain_text("refers to something that was not named: 'she'")
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator("#q")).to_have_value("When did she die?")
    expect(page.locator("#q")).to_be_focused()
    assert page.url == before
    ask(page, "Who heads the pilot station of Vessin?")
    expect(page.locator("#alert")).to_be_empty()
    expect(page.locator(".turn")).to_have_count(2)


def test_an_address_is_the_conversation(site: str, visit: Visit) -> None:
    page = visit(site)
    ask(page, BORN)
    ask(page, "When did he die?")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if request.url.endswith("/api/ask") else None)
    page.reload()
    expect(page.locator(".turn .headline")).to_have_text(["Würzburg on 5 December 1901", "1 February 1976"])
    assert requests == []
    # Another person, who has only the address, asks the same questions.
    other = visit(page.url)
    expect(other.locator(".turn .headline")).to_have_text(["Würzburg on 5 December 1901", "1 February 1976"])
    expect(other).to_have_title("When did he die? · wikigr")
    other.get_by_role("link", name="New conversation").click()
    expect(other.locator(".card")).to_have_count(2)
    assert other.url == f"{site}/"
    expect(other.locator("#recent-list a")).to_have_text(["When did Werner Heisenberg die?", BORN])
    other.get_by_role("button", name="Forget them").click()
    expect(other.locator("#recent")).to_be_hidden()


def test_a_server_that_was_stopped(serve: Serve, visit: Visit, harbor: Path) -> None:
    site = serve(harbor / "harbor")
    page = visit(site.address)
    ask(page, BERTH)
    site.stop()
    page.locator("#q").fill("Who heads the pilot station of Vessin?")
    page.keyboard.press("Enter")
    expect(page.locator("#alert")).to_contain_text("The server does not answer. It may have been stopped.")
    expect(page.locator("#q")).to_have_value("Who heads the pilot station of Vessin?")
    expect(page.locator(".turn")).to_have_count(1)
    page.get_by_role("link", name="Neighborhood").click()
    expect(page.locator("#panel")).to_contain_text("The server does not answer.")
    serve(harbor / "harbor", port=int(site.address.rpartition(":")[2]))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".turn:last-child .headline")).to_have_text("Karim Haddad")
    expect(page.locator("#q")).to_have_value("")


def test_code_is_copied_as_it_is_stored(site: str, visit: Visit) -> None:
    page = visit(site)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "Which command resets the tide gauge?")
    stored = page.evaluate("async () => (await (await fetch('/api/articles/Berths of Vessin')).json()).content")
    assert CODE in stored
    box = page.locator("figure.code")
    assert box.locator("code").text_content() == CODE
    assert "mono" in box.locator("code").evaluate("(node) => getComputedStyle(node).fontFamily").lower()
    box.get_by_role("button", name="Copy").click()
    expect(box.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CODE
    # Where a page may not copy, the text is there to be copied.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator(".turn > .tools").get_by_role("button", name="Copy").click()
    shown = page.get_by_label("Text to copy").input_value()
    assert shown.startswith("## Which command") and CODE in shown


def test_steps_and_tasks(site: str, visit: Visit) -> None:
    page = visit(asked(site, "How do I book a berth?"))
    expect(page.locator(".turn .text ol > li").first).to_contain_text("Call the harbor office on channel 9.")
    page.goto(f"{site}/?article=Berths+of+Vessin&within=harbor")
    boxes = page.locator("#panel .tasks input")
    expect(boxes).to_have_count(2)
    assert [boxes.nth(n).is_checked() for n in range(2)] == [True, False]


def test_a_pdf_is_opened_at_its_page_beside_the_answer(site: str, visit: Visit) -> None:
    page = visit(asked(site, "How many tonnes does the crane Berta lift?"))
    expect(page.locator(".sources .origin")).to_contain_text("page 2")
    with page.expect_response("**/api/original/**") as sent:
        page.get_by_role("link", name="PDF beside the answer").click()
    assert sent.value.status == 200 and sent.value.headers["content-type"] == "application/pdf"
    frame = page.locator("iframe")
    assert (frame.get_attribute("src") or "").endswith("?pack=harbor#page=2")
    # The viewer of the browser is in the frame.
    for _ in range(300):
        if any(each.url.startswith("chrome-extension://") for each in page.frames):
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail("The browser does not show the PDF.")
    expect(page.locator(".turn .headline")).to_be_visible()
    page.get_by_role("link", name="Text", exact=True).click()
    expect(page.locator("#panel mark.quoted")).to_contain_text("45 tonnes")
    assert page.get_by_role("link", name="Open the PDF").get_attribute("target") == "_blank"
    page.goto(f"{site}/?article=Berths+of+Vessin&within=harbor")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download berths.md").click()
    assert saved.value.suggested_filename == "berths.md"


def test_a_panel_that_comes_late_leaves_who_types_alone(site: str, visit: Visit) -> None:
    page = visit(site)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/titles?*", hold)
    page.goto(f"{site}/?browse=title")
    expect(page.locator("#panel-body")).to_have_attribute("aria-busy", "true")
    page.keyboard.press("/")
    page.keyboard.type("either")
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator("#panel-body")).not_to_have_attribute("aria-busy", "true")
    page.keyboard.type("/or")
    expect(page.locator("#q")).to_have_value("either/or")


def test_with_the_keyboard_alone(site: str, visit: Visit) -> None:
    page = visit(f"{site}/?browse=title")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    # In the box it is a character.
    page.keyboard.type("either/or")
    expect(page.locator("#q")).to_have_value("either/or")
    ask(page, EARLIER)
    sources = page.locator(".turn a.source")
    page.locator("#q").press("ArrowDown")
    expect(sources.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(sources.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    quotation = page.locator("#panel mark.quoted").first
    expect(quotation).to_be_focused()
    assert quotation.evaluate(_IN_WINDOW)
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(sources.nth(0)).to_be_focused()
    page.go_back()
    expect(quotation).to_be_visible()


def test_the_first_key_skips_to_the_content(site: str, visit: Visit) -> None:
    page = visit(asked(site, BORN))
    expect(page.locator(".turn .headline")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_source_is_previewed_with_the_pointer_and_the_focus(site: str, visit: Visit) -> None:
    page = visit(asked(site, BORN))
    cite, preview = page.locator(".turn .cite").first, page.locator("#preview")
    cite.hover()
    expect(preview).to_contain_text("died in that city on 1 February 1976")
    expect(cite).to_have_attribute("aria-describedby", "preview")
    # The pointer can move onto it; Escape closes it.
    preview.hover()
    expect(preview).to_be_visible()
    page.mouse.move(5, 5)
    expect(preview).to_be_hidden()
    cite.focus()
    expect(preview).to_be_visible()
    page.keyboard.press("Escape")
    expect(preview).to_be_hidden()


def test_on_a_phone_the_panel_covers_the_conversation(site: str, visit: Visit) -> None:
    page = visit(asked(site, BORN), width=360, height=640)
    page.locator(".turn a.source").click()
    expect(page.locator("#panel mark.quoted").first).to_be_visible()
    expect(page.locator("#ask")).to_be_hidden()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".turn .headline")).to_be_visible()
    assert page.locator("#q").evaluate(_IN_WINDOW)


def test_the_packs_and_their_questions(site: str, visit: Visit) -> None:
    page = visit(site)
    harbor = page.locator(".card", has_text="harbor")
    expect(harbor).to_contain_text("The manual of a harbor")
    starters = harbor.locator(".chips a")
    assert starters.count() > 0
    starters.first.click()
    # The pack was sure of it when it was built.
    expect(page.locator(".turn .confidence")).to_contain_text("Sure")
    expect(page.locator("#pack")).to_have_value("harbor")
    page.locator("#pack").select_option("")
    expect(page.locator(".card")).to_have_count(2)
    page.locator("#profile").select_option("fast")
    profiles = page.evaluate("async () => (await (await fetch('/api/server')).json()).profiles")
    (fast,) = (each for each in profiles if each["name"] == "fast")
    expect(page.locator("#profile-text")).to_have_text(fast["description"])
    ask(page, BORN)
    assert "profile=fast" in page.url


def test_titles_are_completed_while_they_are_typed(site: str, visit: Visit) -> None:
    page = visit(site)
    looked_up: list[str] = []
    page.on("request", lambda request: looked_up.append(request.url) if "/titles?" in request.url else None)
    box, options = page.locator("#q"), page.locator("#titles-of-q li")
    box.press_sequentially("Where was heis", delay=10)
    expect(options).to_have_text(["Werner Heisenberg"])
    # Only what is typed last is looked up.
    assert len(looked_up) < 6
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


def test_browsing(site: str, visit: Visit) -> None:
    page = visit(site)
    page.get_by_role("link", name="Browse", exact=True).click()
    titles = page.locator("#titles a")
    expect(titles).to_have_count(52)
    alphabetical = titles.all_inner_texts()
    assert alphabetical == sorted(alphabetical, key=str.casefold)
    page.get_by_role("link", name="Most linked first").click()
    expect(page.get_by_role("link", name="A–Z")).to_be_visible()
    linked = titles.all_inner_texts()
    assert sorted(linked, key=str.casefold) == alphabetical != linked
    page.get_by_label("Find a title").fill("heis")
    expect(titles).to_have_text(["Werner Heisenberg"])
    page.get_by_role("button", name="Random article").click()
    expect(page.locator("#panel .article section").first).to_be_visible()
    assert "article=" in page.url
    # The text links the articles that it names.
    page.goto(f"{site}/?article=Werner+Heisenberg&within=physics")
    page.locator("#panel a.wiki", has_text="Max Born").click()
    expect(page.locator("#panel-title")).to_have_text("Max Born")


def test_searching(site: str, visit: Visit) -> None:
    page = visit(site)
    page.locator("#q").fill("double slit")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".results > li")).to_have_count(30)
    expect(page.locator("#panel")).to_contain_text("Articles: Double-slit experiment")
    expect(page.locator(".results mark.match").first).to_be_visible()
    page.locator(".results a.at").first.click()
    expect(page.locator("#panel-title")).to_have_text("Double-slit experiment")
    page.go_back()
    expect(page.locator(".results > li")).to_have_count(30)
    page.goto(f"{site}/?article=Nothing+like+it&within=physics")
    expect(page.locator("#panel")).to_contain_text("Nothing in the pack is called 'Nothing like it'.")


def test_why_an_answer_is_so(site: str, visit: Visit) -> None:
    page = visit(asked(site, BORN))
    page.get_by_role("link", name="Why this answer?").click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("Sections that were read")
    expect(panel.locator(".sentences .cited")).not_to_have_count(0)
    expect(panel.locator("tbody tr th", has_text="reader")).to_have_count(1)
    panel.get_by_label("Title").fill("Laser")
    panel.get_by_role("button", name="Where was it dropped?").click()
    expect(panel.locator("[aria-live=polite] strong")).to_contain_text("Laser: ")
    panel.get_by_label("Title").fill("Nothing like it")
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("Nothing in the pack is called 'Nothing like it'.")


def test_the_neighborhood_is_drawn(site: str, visit: Visit) -> None:
    page = visit(f"{site}/?near=Niels+Bohr&within=physics")
    picture = page.locator(".picture > svg")
    expect(picture.locator("g.node.center")).to_have_attribute("aria-label", "Niels Bohr")
    boxes = [picture.locator("g.node").nth(n).bounding_box() for n in range(picture.locator("g.node").count())]
    rows = [box for box in boxes if box is not None]
    assert 5 < len(rows) == len(boxes)
    for n, one in enumerate(rows):
        for other in rows[n + 1 :]:
            apart = (
                abs(one["x"] + one["width"] / 2 - other["x"] - other["width"] / 2) - (one["width"] + other["width"]) / 2
            )
            above = (
                abs(one["y"] + one["height"] / 2 - other["y"] - other["height"] / 2)
                - (one["height"] + other["height"]) / 2
            )
            assert max(apart, above) > -6
    node = picture.locator("g.node:not(.center)").nth(2)
    name = node.get_attribute("aria-label")
    box = node.locator("circle").bounding_box()
    assert box is not None and name
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    # Dragging moves the picture and opens nothing.
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 15, steps=4)
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    after = node.locator("circle").bounding_box()
    assert after is not None and abs(after["x"] - box["x"] - 60) < 6 and abs(after["y"] - box["y"] - 30) < 6
    expect(page.locator("#panel-title")).to_have_text("Neighborhood of Niels Bohr")
    whole = picture.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    assert picture.get_attribute("viewBox") != whole
    page.get_by_role("button", name="Show the whole picture").click()
    node.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_have_text(f"Neighborhood of {name}")
    page.goto(f"{site}/?near=Niels+Bohr&within=physics")
    page.get_by_label("Shortest path to").fill("Laser")
    page.keyboard.press("Enter")
    expect(page.locator(".steps li").last).to_contain_text("Laser")
    expect(picture.locator("g.node.path").first).to_be_visible()
    page.get_by_label("Shortest path to").fill("Nothing like it")
    page.keyboard.press("Enter")
    expect(page.locator("#panel .note.warn")).to_be_visible()


def test_hostile_text_runs_nothing(serve: Serve, visit: Visit, hostile: Path) -> None:
    address = serve(hostile).address
    gate = quote(HOSTILE_TITLE)
    question = "Who built the brass gate of Orrin?"
    for path, shows in (
        ("/", SCRIPT),
        (asked("", question, why="1"), SCRIPT),
        (f"/?article={gate}&within=hostile", HANDLER),
        (f"/?article={gate}&within=hostile&section={gate}%230&start=0&end=40", SCRIPT),
        (f"/?near={gate}&within=hostile", SCRIPT),
        (f"/?search={quote(question)}", SCRIPT),
        ("/?browse=title", SCRIPT),
        (asked("", SCRIPT), SCRIPT),
        (f"/?{SCRIPT}={SCRIPT}&pack={SCRIPT}&article={SCRIPT}&within=hostile", SCRIPT),
    ):
        page = visit(address + path)
        expect(page.locator("body")).to_contain_text(shows)
        if "q=" in path:
            expect(page.locator(".turn .confidence")).to_be_visible()
        assert page.locator("body script, body img, [onerror]").count() == 0
        shown = page.locator("body").inner_text()
        assert not any(character in shown for character in "\x9b\x85\u202e\u2066"), path
        links = page.locator("body a").evaluate_all("(all) => all.map((each) => each.href)")
        assert all(link.startswith((address, "https://example.org/")) for link in links), links


@pytest.fixture
def gated(messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A model that stops in the middle of its second claim until the function is called."""
    gate = threading.Event()

    def write(request: dict[str, Any]) -> Response:
        block = next(part for part in request["messages"][-1]["content"] if part["type"] == "search_result")
        whole = reply(
            text("He was born in Würzburg on 5 December 1901.", first_cited(block)),
            text(f" So it is. {SCRIPT} That is all."),
        )
        return respond(held_before(18, gate, whole), request)

    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(write)
    return gate.set


def test_the_answer_of_the_pack_comes_before_the_words_of_a_model(
    serve: Serve, visit: Visit, physics_pack: Path, messages_server: MessagesServer, gated: Callable[[], None]
) -> None:
    page = visit(serve(physics_pack, offline=False).address)
    page.locator("#q").fill(BORN)
    page.keyboard.press("Enter")
    # The first question to a model imports its client.
    expect(page.locator(".turn .draft .headline")).to_have_text("Würzburg on 5 December 1901", timeout=60_000)
    # A claim is shown once it is whole, because it is checked first.
    expect(page.locator(".written")).to_have_text(
        re.compile(r"^He was born in Würzburg on 5 December 1901 \[1\]\.\s*$"), timeout=60_000
    )
    assert page.locator(".confidence").count() == 0
    gated()
    expect(page.locator(".turn > .text a.cite")).to_have_text("1")
    expect(page.locator(".turn > .text")).to_contain_text(SCRIPT)
    expect(page.locator(".turn .draft .headline")).to_be_visible()
    address = page.url
    page.reload()
    expect(page.locator(".turn > .text a.cite")).to_have_text("1")
    assert len(messages_server.requests) == 1
    # A link spends nobody's money by itself.
    other = visit(address)
    expect(other.locator("#alert")).to_contain_text("A model writes the answers")
    assert len(messages_server.requests) == 1
    other.get_by_role("button", name=f"Ask: {BORN}").click()
    expect(other.locator(".turn > .text a.cite")).to_have_text("1")
    assert len(messages_server.requests) == 2


def test_a_model_that_fails(
    serve: Serve, visit: Visit, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(status(400, "no"))
    page = visit(serve(physics_pack, offline=False).address)
    page.locator("#q").fill(BORN)
    page.keyboard.press("Enter")
    expect(page.locator("#alert .note.warn")).to_be_visible(timeout=60_000)
    expect(page.locator("#q")).to_have_value(BORN)


def test_a_question_that_takes_long_can_be_stopped(
    serve: Serve, visit: Visit, physics_pack: Path, gated: Callable[[], None]
) -> None:
    page = visit(serve(physics_pack, offline=False).address)
    page.locator("#q").fill(BORN)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop").click(timeout=60_000)
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.locator("#q")).to_have_value(BORN)
    gated()


def test_a_token_is_never_in_an_address(serve: Serve, visit: Visit, harbor: Path) -> None:
    address = serve(harbor / "harbor", token=TOKEN).address
    page = visit(asked(address, BERTH))
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.get_by_label("Token").fill("wrong-token-0123456")
    page.keyboard.press("Enter")
    expect(page.locator("#alert")).to_contain_text("The token is missing or wrong.")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    # The question of the address is asked after all.
    expect(page.locator(".turn .headline")).to_have_text("9.0")
    page.reload()
    expect(page.locator(".turn .headline")).to_have_text("9.0")
    assert addresses and not any(TOKEN in each for each in addresses)
    assert page.evaluate("document.cookie") == ""

"""The results of a search, and the titles and questions that a box offers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from starlette.testclient import TestClient
from tests.server.web.conftest import HOSTILE_TITLE, SCRIPT, Open
from tests.server.web.html import get, href, text, texts


def test_the_results_of_a_search(physics: TestClient) -> None:
    home = get(physics, "/")
    # One form asks and searches. The Enter key asks, because that button comes first.
    assert [button.attributes.get("formaction") for button in home.css("form.ask button")] == [None, "/search"]
    page = get(physics, "/search?q=double+slit")
    assert texts(page, ".chips a") == ["Double-slit experiment"]
    assert text(page, ".results a.at").startswith("Double-slit experiment")
    assert {mark.lower() for mark in texts(page, "mark.match")} <= {"double", "slit", "slits"}
    seen = []
    while True:
        seen += [(row.attributes["value"], href(row, "a")) for row in page.css(".results > li")]
        if not page.css("a[rel=next]"):
            break
        page = get(physics, href(page, "a[rel=next]"))
    assert [int(str(n)) for n, _ in seen] == list(range(1, 51))
    assert len({address.partition("&q=")[0] for _, address in seen}) == 50
    # A result opens its section, which leads back to the page of results that it was on.
    article = get(physics, seen[-1][1])
    assert text(article, ".back") == "← Back to the results"
    assert texts(get(physics, href(article, ".back a")), ".results a.at") == texts(page, ".results a.at")
    assert physics.get("/search?q=+").url.path == "/"


def test_titles_are_completed(physics: TestClient) -> None:
    def complete(text: str) -> tuple[str, list[str]]:
        found = physics.get("/titles", params={"q": text}).json()
        return found["ending"], found["titles"]

    assert complete("wern") == ("wern", ["Werner Heisenberg"])
    assert complete("Who taught heis") == ("heis", ["Werner Heisenberg"])
    assert complete("When was erwin  schro") == ("erwin  schro", ["Erwin Schrödinger"])
    # A title that begins with it comes before one in which a later word does.
    assert complete("quantum")[1][0].startswith("Quantum")
    for nothing in ("", "Who is", "w", "zzz", "heis?! of the"):
        assert complete(nothing)[1] == []
    assert physics.get("/titles", params={"q": "x", "pack": "none"}).status_code == 400


def test_titles_of_several_packs(open_site: Open, physics_pack: Path, hostile_pack: Path) -> None:
    both = open_site(physics_pack, hostile_pack)
    titles = both.get("/titles", params={"q": "gate"}).json()["titles"]
    assert titles == [HOSTILE_TITLE] == both.get("/titles?q=gate&pack=hostile").json()["titles"]
    assert both.get("/titles?q=gate&pack=physics").json()["titles"] == []


def test_gold_questions_are_examples(open_site: Open, physics_pack: Path, tmp_path: Path) -> None:
    pack = shutil.copytree(physics_pack, tmp_path / "own")
    questions = [f"Why {SCRIPT}?", "How?", "Who?", "Why is a longer question than the others not shown?"]
    lines: list[dict[str, object]] = [
        {"id": str(n), "question": question, "answers": ["x"], "gold": [{"title": "Spin"}], "type": "single"}
        for n, question in enumerate(questions)
    ]
    lines.append({**lines[0], "id": "two", "question": "Which of these two-hop questions?", "type": "two-hop"})
    lines.append({**lines[0], "id": "no", "question": "No?", "answers": [], "gold": [], "answerable": False})
    gold = pack / "eval" / "questions.jsonl"
    gold.parent.mkdir(exist_ok=True)
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
    site = open_site(pack)
    home = get(site, "/")
    # One of each type, and the shortest others.
    assert texts(home, ".examples a") == ["How?", "Who?", "Which of these two-hop questions?", questions[0]]
    assert "q=How%3F" in href(home, ".examples a")
    # A damaged line or file spoils nothing.
    gold.write_text("x\n" + json.dumps(lines[2]) + "\n")
    assert texts(get(site, "/"), ".examples a") == ["Who?"]
    gold.unlink()
    assert not get(site, "/").css(".examples")


def test_without_ranks_the_most_linked_articles_are_listed(
    open_site: Open, register_pack: Path, tmp_path: Path
) -> None:
    pack = shutil.copytree(register_pack, tmp_path / "own")
    (pack / "pagerank_cache.json").unlink()
    assert texts(get(open_site(pack), "/"), ".pack .chips a")[0] == "Lighthouse register"

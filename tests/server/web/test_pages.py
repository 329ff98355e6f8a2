"""Every page without a script: what it shows, where it leads, and that text from packs stays text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient
from tests.llm.server import MessagesServer, Response, first_cited, reply, status
from tests.llm.server import text as words
from tests.possible_answers import BEFORE, BOHR, PLANCK, answer_everything
from tests.possible_answers import BORN as QUOTED
from tests.server.web import html
from tests.server.web.conftest import CONTROLS, HANDLER, HOSTILE_TITLE, HUB, KEEPERS, SCRIPT, Open
from tests.server.web.html import attribute, crawl, get, href, text, texts

from wikigr.embeddings.embedder import Embedder
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.runner import Evaluation, evaluate
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.server.web import article_page
from wikigr.sources.detect import open_source

BORN = "When and where was Werner Heisenberg born?"
EARLIER = "Who was born earlier, Niels Bohr or Max Planck?"


def _ask(question: str, **more: str) -> str:
    return f"/ask?{urlencode({'q': question, **more}, quote_via=quote)}"


def test_asking_and_reading_without_a_script(physics: TestClient) -> None:
    home = get(physics, "/")
    form = home.css_first("form.ask")
    assert form is not None and (form.attributes["action"], form.attributes["method"]) == ("/ask", "get")
    assert {field.attributes["name"] for field in form.css("input, select")} == {"q", "profile"}
    assert all(home.css_first(f"label[for={field.attributes['id']}]") for field in form.css("input, select"))
    assert text(form, "option[selected]") == "enhanced"

    answer = get(physics, _ask(BORN))
    assert text(answer, "h1") == BORN
    assert text(answer, ".headline") == "Würzburg on 5 December 1901" == text(answer, ".text mark.short")
    assert re.fullmatch(r"(Sure|Likely) · confidence 0\.\d\d", text(answer, ".confidence"))
    assert attribute(answer, "#q", "value") == BORN
    # The number in the text and the source lead to the same quotation.
    assert href(answer, ".text a.cite") == href(answer, "a.source")
    quotation = text(answer, "a.source q")

    article = get(physics, href(answer, "a.source"))
    assert text(article, "h1") == "Werner Heisenberg"
    assert " ".join(" ".join(texts(article, "mark.quoted")).split()) == quotation
    assert href(answer, "a.source").endswith("#quote") and len(article.css("#quote")) == 1


def test_a_conversation_without_a_script(physics: TestClient) -> None:
    page = get(physics, _ask("In which year was Werner Heisenberg born?"))
    assert not page.css("main .note")
    for question, understood in (
        ("and where?", "Where was Werner Heisenberg born?"),
        ("What is spin?", ""),
        ("When did he die?", "When did Werner Heisenberg die?"),
    ):
        page = get(physics, _submit(page, question))
        assert text(page, "h1") == question
        assert texts(page, ".note strong") == ([understood] if understood else [])
        if understood:
            assert attribute(page, ".whole", "data-remember") == understood
            assert urlencode({"q": understood}, quote_via=quote) in href(page, ".further a")
    # The form holds the last three turns, also after a question that cannot be understood.
    page = get(physics, _submit(page, "When did she die?"), 400)
    assert "refers to something that was not named: 'she'" in text(page, "main")
    assert len(page.css("input[name=turn]")) == 3
    page = get(physics, _submit(page, "And Paul Dirac?"))
    assert text(page, ".note strong") == "When did Paul Dirac die?"
    # What was asked before stands above it as it was understood, with its answer, and opens it.
    assert texts(page, ".before li") == [
        "Where was Werner Heisenberg born? Würzburg",
        "What is spin?",
        "When did Werner Heisenberg die? 1 February 1976",
    ]
    assert text(get(physics, href(page, ".before li a")), ".headline") == "Würzburg"
    alone = get(physics, href(page, ".note a"))
    assert text(alone, "h1") == "And Paul Dirac?" and not alone.css(".note strong, .before")


def _submit(page: Any, question: str) -> str:
    """The address that a browser opens for the form of a page."""
    form = page.css_first("form.ask")
    fields = [("q", question)]
    fields += [(field.attributes["name"], field.attributes["value"]) for field in form.css("input[type=hidden]")]
    return f"/ask?{urlencode(fields, quote_via=quote)}"


def test_turns_that_no_page_has_written(physics: TestClient, hostile: TestClient) -> None:
    for turn in ("", "x", "{}", "[]", '["x"]', '["x", 1]', '["x", "y", ["z"]]', "[" * 1_400, f'["{"x" * 1_500}", ""]'):
        page = get(physics, _ask("When did he die?", turn=turn), 400)
        assert "The parameter turn is damaged." in text(page, "main")
    # What is said in one is text, and names only what the pack knows.
    turn = json.dumps([f"Who was born at {HOSTILE_TITLE}?", SCRIPT + CONTROLS, HANDLER])
    page = get(hostile, _ask("When was he born?", turn=turn))
    assert SCRIPT in text(page, ".note")


def test_the_article_has_its_sections_links_and_facts(physics: TestClient, physics_pack: Path) -> None:
    page = get(physics, "/article?pack=physics&title=Niels+Bohr")
    assert texts(page, ".outline a") == [
        "Introduction", "The atom", "The institute", "Complementarity", "War and nuclear physics",
    ]  # fmt: skip
    for link in page.css(".outline a"):
        assert page.css_first(f"section[id={str(link.attributes['href'])[1:]}]") is not None
    about = text(page, ".facts dl")
    assert "Person" in about and "Niels Henrik David Bohr" in about and "niels-bohr.md" in about
    with Pack(physics_pack) as pack:
        rows = pack.graph.rows("MATCH (a)-[:LINKS_TO]->(b {title: 'Niels Bohr'}) RETURN a.title")
        content = pack.graph.rows("MATCH (a:Article {title: 'Niels Bohr'}) RETURN a.content")[0][0]
    heading = next(node for node in page.css(".facts h2") if node.text() == "Linked from")
    listed = heading.next
    while listed is not None and listed.tag != "ul":
        listed = listed.next
    assert listed is not None and sorted(texts(listed, "a")) == sorted(title for (title,) in rows)
    # The text links the articles that it names, each once in a section.
    wiki = texts(page, ".column a.wiki")
    assert "Ernest Rutherford" in wiki and all(name in content for name in wiki)


def test_a_sure_answer_stands_in_its_surroundings(physics: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_everything(monkeypatch, "sure")
    page = get(physics, _ask("Where was he born, surely?"))
    assert text(page, ".headline") == "Würzburg"
    assert text(page, ".text") == f"{BEFORE} {QUOTED} 1"
    assert "".join(node.text() for node in page.css(".text mark")) == QUOTED
    assert [node.text() for node in page.css(".text mark.short")] == ["Würzburg"]
    assert text(page, ".confidence") == "Sure · confidence 0.61"
    assert not page.css(".others") and len(page.css("a.source")) == 1


def test_a_likely_answer_has_others_below_it(physics: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_everything(monkeypatch, "likely")
    page = get(physics, _ask("Where was he born, probably?"))
    assert text(page, ".headline") == "Würzburg"
    assert text(page, ".confidence") == "Likely · confidence 0.61"
    assert "Other possible answers" in texts(page, ".said h2")
    assert texts(page, ".others a.at") == ["2 Niels Bohr › Introduction", "3 Max Planck › Introduction"]
    assert texts(page, ".others p.short") == ["Copenhagen"]
    assert texts(page, ".others .passage") == [f"Niels Bohr: {BOHR}", PLANCK]
    # Its place opens the article at the quotation.
    article = get(physics, href(page, ".others a.at"))
    assert " ".join(" ".join(texts(article, "mark.quoted")).split()) == BOHR
    # The comparison shows two such answers under deeper headings.
    sides = get(physics, f"/compare?{urlencode({'q': 'Where was he born, probably?', 'a': 'enhanced', 'b': 'fast'})}")
    assert len(sides.css(".sides .others")) == 2 and "Other possible answers" in texts(sides, ".sides h3")


def test_an_answer_that_is_not_sure_is_one_of_three_passages(
    physics: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_everything(monkeypatch, "not_sure")
    page = get(physics, _ask("In which city was Heisenberg born?"))
    assert not page.css(".headline, .text, .evidence, mark.short")
    assert text(page, ".said h2") == "Perhaps one of these:"
    assert [name.split(" › ")[0] for name in texts(page, ".others a.at")] == [
        "1 Werner Heisenberg", "2 Niels Bohr", "3 Max Planck",
    ]  # fmt: skip
    assert texts(page, ".others .passage")[0] == f"{BEFORE} {QUOTED}"
    assert {mark.lower() for mark in texts(page, "mark.match")} == {"heisenberg", "born", "city"}
    assert text(page, ".confidence") == "Not sure · confidence 0.61"


def test_other_sections_below_an_answer(physics: TestClient) -> None:
    page = get(physics, _ask(BORN))
    places = texts(page, ".more a.at")
    assert len(places) == 3 and not set(places) & {"Werner Heisenberg › Introduction"}
    assert page.css(".more mark.match")
    results = next(node for node in page.css(".further a") if node.text() == "All results")
    assert text(get(physics, str(results.attributes["href"])), "h1") == BORN
    # There is nothing more to a question that the pack does not cover.
    assert not get(physics, _ask("What is the capital of France?")).css(".more")


def test_an_article_leads_back_to_the_answer(physics: TestClient) -> None:
    address = _ask(BORN, profile="fast")
    answer = get(physics, address)
    for selector in ("a.source", ".text a.cite", ".more a.at"):
        back = get(physics, href(answer, selector))
        assert text(back, ".back") == "← Back to the answer" and href(back, ".back a") == address
    not_covered = get(physics, _ask("What is the capital of France?"))
    assert get(physics, href(not_covered, ".said ul a")).css(".back a")
    assert not get(physics, "/article?title=Spin&pack=physics").css(".back")


def test_an_answer_as_markdown(physics: TestClient) -> None:
    page = get(physics, _ask(BORN))
    level, confidence = text(page, ".confidence").split(" · confidence ")
    assert "".join(node.text() for node in page.css(".markdown pre")) == (
        f"## {BORN}\n\n**Würzburg on 5 December 1901**\n\n{QUOTED} [1]\n\n"
        f"Sources\n\n1. Werner Heisenberg › Introduction (werner-heisenberg.md): “{QUOTED}”\n\n"
        f"{level} ({confidence}), physics 1.0.0\n"
    )


def test_tables_have_headers(physics: TestClient) -> None:
    page = get(physics, "/article?title=Marie+Curie&pack=physics")
    assert texts(page, "article thead th") == ["year", "field", "shared with"]
    assert texts(page, "article tbody th") == ["1903", "1911"]


def test_neighbors_are_paged(register: TestClient) -> None:
    page = get(register, f"/neighborhood?{urlencode({'title': HUB})}")
    first = texts(page, "table.list th a")
    assert len(first) == 25 and text(page, "#neighbors span") == "1 to 25 of 30"
    page = get(register, href(page, "a[rel=next]"))
    last = texts(page, "table.list th a")
    assert sorted({*first, *last}) == sorted(KEEPERS) and len(last) == 5 and not page.css("a[rel=next]")
    assert texts(get(register, href(page, "a[rel=prev]")), "table.list th a") == first
    # A page after the last one is the last one.
    assert texts(get(register, f"/neighborhood?{urlencode({'title': HUB, 'page': 9})}"), "table.list th a") == last


def test_a_question_that_the_pack_does_not_cover(physics: TestClient) -> None:
    page = get(physics, _ask("What is the capital of France?"))
    assert text(page, ".text") == "The pack does not cover this."
    assert text(page, ".confidence").startswith("Not covered")
    assert not page.css("a.source, .headline")
    get(physics, href(page, ".said ul a"))


def test_a_chain_and_its_path_in_the_graph(physics: TestClient) -> None:
    page = get(physics, _ask(EARLIER))
    assert texts(page, ".chain .hop") == ["When was Niels Bohr born?", "When was Max Planck born?"]
    assert texts(page, ".chain strong") == ["7 October 1885", "23 April 1858"]
    path = get(physics, href(page, ".chain + p a"))
    assert texts(path, ".steps li > a") == ["Niels Bohr", "Max Planck"]
    assert texts(path, "svg a.node.path") and len(path.css("line.path[x1]")) >= 1


def test_the_neighborhood_is_a_picture_and_a_list(physics: TestClient, physics_pack: Path) -> None:
    page = get(physics, "/neighborhood?pack=physics&title=Niels+Bohr")
    with Pack(physics_pack) as pack:
        rows = pack.graph.rows(
            "MATCH (:Article {title: 'Niels Bohr'})-[:LINKS_TO|MENTIONS]-(b) RETURN DISTINCT b.title"
        )
    assert sorted(texts(page, "table.list th a")) == sorted(title for (title,) in rows)
    drawn = [str(node.attributes["aria-label"]) for node in page.css("svg a.node")]
    assert drawn[0] == "Niels Bohr" and len(drawn) == len(set(drawn)) and set(drawn[1:]) <= {t for (t,) in rows}
    assert page.css_first("svg a.node.center") is not None
    # Every node leads to its own neighborhood.
    assert text(get(physics, href(page, "svg a.node:not(.center)")), "h1") == drawn[1]


def test_a_path_to_another_article(physics: TestClient) -> None:
    page = get(physics, "/neighborhood?pack=physics&title=Niels+Bohr&to=laser")
    steps = texts(page, ".steps li > a")
    assert steps[0] == "Niels Bohr" and steps[-1] == "Laser" and len(steps) == 3
    assert len(page.css("svg .edges line.path")) == 2
    get(physics, "/neighborhood?pack=physics&title=Niels+Bohr&to=Zanzibar", 400)


def test_a_path_from_an_entity(open_site: Open, tmp_path: Path, encoder: Embedder) -> None:
    source = tmp_path / "kitchen.ttl"
    source.write_text(
        """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://example.org/> .
        ex:Kettle rdfs:label "Kettle" ; rdfs:comment "The kettle is made of copper." ; ex:maker ex:Quill .
        ex:Pan rdfs:label "Pan" ; rdfs:comment "The pan is made of iron." ; ex:maker ex:Quill ."""
    )
    build_pack(open_source(source), str(source), tmp_path / "kitchen", encoder, BuildOptions(name="kitchen"))
    kitchen = open_site(tmp_path / "kitchen")
    page = get(kitchen, "/neighborhood?entity=quill")
    hidden = page.css("form.path-form input[type=hidden]")
    fields = {str(node.attributes["name"]): str(node.attributes["value"]) for node in hidden}
    path = get(kitchen, f"/neighborhood?{urlencode({**fields, 'to': 'Pan'})}")
    assert not path.css(".note.warn") and [step.split(" ")[0] for step in texts(path, ".steps li")] == ["Quill", "Pan"]


def test_why_shows_the_trace_and_follows_an_article(physics: TestClient) -> None:
    answer = get(physics, _ask(BORN))
    page = get(physics, href(answer, ".further a"))
    stages = texts(page, "table.stages tbody th")
    assert {"dense", "lexical", "fuse", "abstention"} <= set(stages)
    assert text(page, ".sentences li.cited p").startswith("Born in Würzburg")
    followed = get(physics, f"/why?{urlencode({'q': BORN, 'title': 'max planck'})}")
    assert "Max Planck" in text(followed, ".note") and "dropped" in text(followed, ".note")
    missing = get(physics, f"/why?{urlencode({'q': BORN, 'title': 'Zanzibar'})}")
    assert text(missing, ".note.warn") == "No article is called 'Zanzibar'."


def test_two_profiles_side_by_side(physics: TestClient) -> None:
    empty = get(physics, "/compare")
    assert [text(empty, f"#{side} option[selected]") for side in "ab"] == ["enhanced", "fast"]
    page = get(physics, f"/compare?{urlencode({'q': EARLIER, 'a': 'enhanced', 'b': 'fast'})}")
    assert [words.split()[0] for words in texts(page, "h2.side")] == ["enhanced", "fast"]
    assert text(page, ".verdict")
    assert "hops.enabled" in texts(page, "code")
    read = page.css("table.list")[0]
    assert {"Niels Bohr", "Max Planck"} <= set(texts(read, "th a"))


def test_every_page_that_a_link_leads_to(physics: TestClient) -> None:
    pages = crawl(physics, ["/", _ask(BORN), "/compare"], limit=70)
    assert len(pages) == 70


def test_names_that_the_pack_does_not_contain(physics: TestClient) -> None:
    # Case and a typo do not matter.
    assert physics.get("/article?title=nils+bohr").url.params["title"] == "Niels Bohr"
    page = get(physics, "/article?title=Heisenberg+picture", 404)
    assert text(page, "h1") == "Not found" and texts(page, ".column ul a") == ["Werner Heisenberg"]
    for address in (
        "/article",
        "/article?title=%00",
        "/neighborhood",
        "/nowhere",
        "/static/routes.py",
        "/runs?run=../x",
    ):
        get(physics, address, 404)
    for address in (
        "/neighborhood?entity=x",
        _ask("Why?", pack="other"),
        _ask("Why?", profile="../x"),
        _ask("a" * 9_999),
    ):
        get(physics, address, 400)
    get(physics, "/article?title=Spin&section=Spin%230&start=x&end=1", 400)
    # A program gets JSON.
    assert physics.get("/api/nowhere").json()["error"]


def test_no_question_leads_to_the_start(physics: TestClient) -> None:
    for address in ("/ask", "/ask?q=+", "/why"):
        assert physics.get(address).url.path == "/"


def test_a_quotation_that_is_gone_and_one_that_is_too_long(physics: TestClient) -> None:
    page = get(physics, "/article?title=Spin&section=Spin%2399&start=0&end=10")
    assert text(page, ".note.warn").startswith("The quotation is not in this article any more.")
    whole = get(physics, "/article?title=Spin&section=Spin%230&start=0&end=999999999")
    assert len(whole.css("#quote")) == 1 and not whole.css(".note.warn")


def test_a_long_article_is_several_pages(physics: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(article_page, "SECTIONS_PER_PAGE", 2)
    seen = []
    page = get(physics, "/article?title=Spin&pack=physics")
    while True:
        seen += [section.attributes["id"] for section in page.css("article > section")]
        later = [node for node in page.css("article > p > a") if node.text() == "Later sections"]
        if not later:
            break
        page = get(physics, str(later[0].attributes["href"]))
    assert seen == [f"s{n}" for n in range(5)]
    # The outline leads to sections on other pages, too, and a quotation is on the page.
    assert text(get(physics, href(page, ".outline a")), "h1") == "Spin"
    assert get(physics, "/article?title=Spin&section=Spin%233&start=0&end=10").css("#quote")


def test_hostile_text_is_only_text(hostile: TestClient) -> None:
    pages = crawl(
        hostile, ["/", _ask("Who built the brass gate of Orrin?"), _ask("How high is the Old tower?")], limit=60
    )
    shown = {address: page.body.text() for address, page in pages.items() if page.body is not None}
    article = next(words for address, words in shown.items() if address.startswith("/article") and "Gate" in address)
    for piece in (SCRIPT, HANDLER, "javascript:alert(1)", "{{ 7 * 7 }}", "{% raw %}"):
        assert piece in article
    # Control characters are visible as replacements.
    assert "�" in article and not html.CONTROL.search(article)
    answer = next(words for address, words in shown.items() if address.startswith("/ask") and "brass" in address)
    assert "Mara Quill" in answer
    links = [str(node.attributes["href"]) for page in pages.values() for node in page.css("a[href]")]
    outside = {link for link in links if not link.startswith(("/", "#"))}
    assert outside == {"https://example.org/tower?a=1&b=%3Cscript%3E"}


def test_hostile_names_in_addresses(hostile: TestClient) -> None:
    page = get(hostile, f"/article?{urlencode({'title': HOSTILE_TITLE})}")
    assert text(page, "h1") == HOSTILE_TITLE
    page = get(hostile, f"/article?{urlencode({'title': '../../../etc/passwd'})}")
    assert text(page, "h1") == "../../../etc/passwd" and "A title that looks like a path." in text(page, ".column")
    for value in (SCRIPT, HANDLER, CONTROLS, "\x00", "‮", "a" * 900, "%2e%2e%2f", "${7*7}", "'; DROP TABLE"):
        for parameter in ("title", "q"):
            path = "/article" if parameter == "title" else "/ask"
            response = hostile.get(path, params={parameter: value})
            assert response.status_code in (200, 404)
            html.check(response.text)


def test_several_packs(open_site: Open, physics_pack: Path, hostile_pack: Path) -> None:
    both = open_site(physics_pack, hostile_pack)
    home = get(both, "/")
    assert texts(home, "#pack option") == ["All packs", "hostile", "physics"]
    answer = get(both, _ask(BORN))
    assert text(answer, ".headline") == "Würzburg on 5 December 1901" and text(answer, ".origin .tag") == "physics"
    assert text(get(both, href(answer, "a.source")), "h1") == "Werner Heisenberg"
    other = get(both, _ask(BORN, pack="hostile"))
    assert text(other, "#pack option[selected]") == "hostile" and not other.css(".headline")
    assert "pack=hostile" in href(other, ".further a")
    get(both, "/article?title=Spin", 400)


def test_runs_and_their_reports(open_site: Open, physics_pack: Path, tmp_path: Path) -> None:
    questions = [GoldQuestion("1", BORN, ("Würzburg",), (Gold("Werner Heisenberg"),), True, SCRIPT, "", None, 1)]
    plan = Evaluation(str(physics_pack), questions, "gold.jsonl", None, [load_profile("enhanced")], offline=True)
    evaluate(plan, tmp_path / "runs" / "first")
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    client = open_site(physics_pack, runs=tmp_path / "runs")
    listed = get(client, "/runs")
    assert texts(listed, "tbody th") == ["first", "broken"]
    assert "Cannot read the run" in text(listed, ".warning")
    response = client.get(href(listed, "tbody a"))
    frame = html.check(response.text).css_first("iframe")
    assert frame is not None and frame.attributes["sandbox"] == "allow-scripts"
    report = client.get(str(frame.attributes["src"]))
    # The sandbox holds wherever the report is opened.
    assert "sandbox allow-scripts;" in f"{report.headers['content-security-policy']};"
    assert "allow-same-origin" not in report.headers["content-security-policy"]
    assert "Werner Heisenberg" in report.text and SCRIPT not in report.text
    assert text(get(client, "/runs/report?run=nowhere", 404), "h1") == "Not found"


def test_the_style_and_the_scripts(physics: TestClient) -> None:
    home = get(physics, "/")
    for node in home.css("link, script"):
        response = physics.get(str(node.attributes.get("href") or node.attributes["src"]))
        assert response.status_code == 200 and response.headers["etag"]
        # Nothing is loaded from elsewhere.
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", response.text)
        again = physics.get(str(response.url), headers={"If-None-Match": response.headers["etag"]})
        assert again.status_code == 304 and not again.content
    policy = physics.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy


def _write(request: dict[str, Any]) -> Response:
    """Reply with a claim that the first section supports, and with one that cites what it does not contain."""
    block = next(part for part in request["messages"][-1]["content"] if part["type"] == "search_result")
    cited = first_cited(block)
    wrong = {**cited, "cited_text": "He was a pirate."}
    return reply(words("He was born in Würzburg", cited), words(f". {SCRIPT} He was a pirate", wrong))(request)


@pytest.fixture
def with_model(
    open_site: Open, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> TestClient:
    """The demo pack with a model that writes the answers."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(_write)
    return open_site(physics_pack, offline=False)


def test_a_model_s_answer_arrives_while_it_is_written(with_model: TestClient, messages_server: MessagesServer) -> None:
    home = get(with_model, "/")
    assert home.css("option[selected][data-writes]")
    waiting = get(with_model, _ask(BORN, live="1"))
    assert not messages_server.requests
    # Without a script, a link leads to the complete answer.
    assert href(waiting, "noscript a") == _ask(BORN, profile="enhanced")
    stream = with_model.get(str(attribute(waiting, "#live", "data-events")))
    assert stream.headers["content-type"].startswith("text/event-stream")
    events = [(kind, json.loads(data)) for kind, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", stream.text)]
    written = "".join(value for kind, value in events if kind == "text")
    assert written.startswith("He was born in Würzburg") and len([kind for kind, _ in events if kind == "text"]) > 1
    kind, part = events[-1]
    assert kind == "answer"
    page = html.check(f"<title>t</title><h1>{BORN}</h1>{part}")
    assert texts(page, ".text a.cite") == ["1"] and text(page, ".text .unverified") == "unverified"
    assert SCRIPT in text(page, ".text")
    # The complete page and its explanation show the same answer; the model is not asked again.
    assert text(get(with_model, href(waiting, "noscript a")), ".text") == text(page, ".text")
    get(with_model, href(page, ".further a"))
    assert len(messages_server.requests) == 1


def test_a_model_that_fails_is_said(with_model: TestClient, messages_server: MessagesServer) -> None:
    messages_server.always(status(400, "no"))
    stream = with_model.get(_ask("Where was Niels Bohr born?").replace("/ask?", "/ask/events?"))
    assert "event: problem" in stream.text and "event: answer" not in stream.text
    get(with_model, _ask("Where was Niels Bohr born?"), 500)


def test_a_bug_in_a_stream_is_said(with_model: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise ValueError("a secret of the server")

    monkeypatch.setattr(Pipeline, "answer", fail)
    stream = with_model.get(_ask("Where was Niels Bohr born?").replace("/ask?", "/ask/events?"))
    assert stream.text == 'event: problem\ndata: "The server failed."\n\n'


def test_another_site_cannot_spend_the_budget_of_a_model(
    with_model: TestClient, messages_server: MessagesServer
) -> None:
    for site in ("cross-site", "same-site"):
        visit = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        for path in ("/ask", "/why", "/compare"):
            response = with_model.get(path, params={"q": BORN}, headers=visit)
            # The question waits in the box.
            assert attribute(html.check(response.text), "#q", "value") == BORN
        stream = with_model.get("/ask/events", params={"q": BORN}, headers=visit)
        assert "event: problem" in stream.text
    assert not messages_server.requests

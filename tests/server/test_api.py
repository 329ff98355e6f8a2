"""The JSON API gives the documents of the commands, and an OpenAPI document that describes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from tests.llm.server import MessagesServer, reply
from tests.server.conftest import Blocked, Build, Running, running

from wikigr.pipeline.pipeline import Pipeline
from wikigr_cli.app import run
from wikigr_cli.environment import Environment

QUESTION = "Who measured the wavelength of the electron?"


def printed(capsys: pytest.CaptureFixture[str], *command: str) -> Any:
    """The document that a command prints."""
    assert run([*command, "--json"], Environment()) == 0
    return json.loads(capsys.readouterr().out)


def same(served: Any, own: Any) -> bool:
    """Whether two documents agree in everything but their times, and in the order of their keys."""
    for document in (served, own):
        document.pop("timings", None)
        for stage in document.get("explain", {}).get("stages", []):
            stage.pop("ms")
    return json.dumps(served) == json.dumps(own)


def test_every_document_is_that_of_the_command(
    physics: Running, physics_pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = ("--pack", str(physics_pack))
    asked = printed(capsys, "ask", QUESTION, "--offline", "--explain", *pack)
    # The encoder of a server is another session of the same graph, so the last digits may differ.
    served = physics.get("/api/ask", question=QUESTION, explain=True)
    assert served["understood"] is None
    assert list(served) == list(asked) and list(served["explain"]) == list(asked["explain"])
    for key in (
        "answer",
        "span",
        "level",
        "kind",
        "context",
        "sources",
        "citations",
        "pack",
        "facts",
        "usage",
        "profile",
    ):
        assert served[key] == asked[key], key
    found = printed(capsys, "search", "spin", "-k", "3", *pack)
    assert [r["section_id"] for r in physics.get("/api/search", question="spin", top_k=3)["results"]] == [
        r["section_id"] for r in found["results"]
    ]
    assert same(physics.get("/api/sections/Spin%231"), printed(capsys, "show", "Spin#1", *pack))
    assert same(physics.get("/api/sections/spin%23discovery"), printed(capsys, "show", "Spin#1", *pack))
    assert same(physics.get("/api/articles/spin"), printed(capsys, "show", "Spin", *pack))
    assert same(
        physics.get("/api/neighbors", name="Spin", direction="in", top_k=3, relation="links_to"),
        printed(capsys, "graph", "neighbors", "Spin", "--direction", "in", "-k", "3", "--relation", "links_to", *pack),
    )
    assert same(
        physics.get("/api/paths", **{"from": "Spin", "to": "Louis de Broglie", "top_k": 2}),
        printed(capsys, "graph", "paths", "Spin", "Louis de Broglie", "-k", "2", *pack),
    )
    assert same(
        physics.get("/api/paths", **{"from": "Spin", "metapath": "LINKS_TO", "top_k": 2}),
        printed(capsys, "graph", "paths", "Spin", "--metapath", "LINKS_TO", "-k", "2", *pack),
    )
    assert list(physics.get("/api/why", question=QUESTION, title="Spin")) == list(
        printed(capsys, "why", QUESTION, "Spin", "--offline", *pack)
    )


def test_a_quotation_is_at_its_place_in_the_section(physics: Running) -> None:
    for citation in physics.get("/api/ask", question=QUESTION)["citations"]:
        section = physics.get(f"/api/sections/{citation['section_id'].replace('#', '%23')}")
        assert section["content"][citation["start"] : citation["end"]] == citation["quote"]


def test_packs_and_health(physics: Running) -> None:
    (row,) = physics.get("/api/packs")["packs"]
    assert row["given_as"] == "physics" and row["counts"]["articles"] == 50 and row["size"] > 0
    assert physics.get("/healthz") == {"status": "ok", "packs": 1}


def test_a_question_can_be_posted(physics: Running) -> None:
    posted = physics.client.post("/api/search", json={"question": "spin", "top_k": 1})
    assert posted.status_code == 200 and posted.json()["results"][0]["title"] == "Spin"


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/api/ask", 400, "question: Field required"),
        ("/api/ask?question=", 400, "question: String should have at least 1 character"),
        ("/api/ask?question=%20", 400, "question: String should have at least 1 character"),
        (f"/api/ask?question={'x' * 2001}", 400, "at most 2000 characters"),
        ("/api/ask?question=a&question=b", 400, "more than once"),
        ("/api/ask?question=a&pack=other", 400, "This server has no pack 'other'"),
        ("/api/ask?question=a&profile=../enhanced", 400, "There is no profile"),
        ("/api/search?question=a&top_k=101", 400, "top_k: Input should be less than or equal to 100"),
        ("/api/search?question=a&top_k=many", 400, "valid integer"),
        ("/api/search?question=a&limit=3", 400, "limit: Extra inputs"),
        ("/api/sections/Spin", 404, "is the article 'Spin', not a section"),
        ("/api/sections/Spin%2399", 404, "has no section"),
        ("/api/articles/Nothing", 404, "Nothing in the pack is called 'Nothing'"),
        ("/api/articles/%00", 404, "Nothing in the pack"),
        ("/api/articles/%ff%fe", 404, "Nothing in the pack"),
        ("/api/articles/", 400, "title: String should have at least 1 character"),
        (f"/api/articles/{'x' * 1001}", 400, "at most 1000 characters"),
        ("/api/neighbors?name=Spin&direction=up", 400, "direction"),
        ("/api/neighbors?name=Spin&relation=nothing", 404, "nothing"),
        ("/api/paths?from=Spin", 404, "two names"),
        ("/api/paths?from=Spin&to=Nothing", 404, "Nothing"),
        ("/api/paths?from=Spin&to=Spin&max_hops=7", 400, "max_hops"),
        ("/api/why?question=a&title=Nothing", 404, "Nothing"),
        ("/api/nothing", 404, "Not Found"),
    ],
)
def test_a_bad_request_gets_a_clear_error(physics: Running, path: str, status: int, message: str) -> None:
    response = physics.client.get(path)
    document = response.json()
    assert (response.status_code, document["schema_version"]) == (status, 1), document
    assert message in document["error"], document


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 30_000, b'{"question": 1}'])
def test_a_malformed_body_gets_a_clear_error(physics: Running, body: bytes) -> None:
    response = physics.client.post("/api/ask", content=body)
    assert response.status_code == 400 and response.json()["error"]


def events(response: httpx2.Response) -> Iterator[tuple[str, Any]]:
    for block in response.text.split("\n\n"):
        if block and not block.startswith(":"):
            name, data = block.split("\n")
            yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


STREAM = {"Accept": "text/event-stream"}


def test_stages_are_streamed(physics: Running) -> None:
    response = physics.client.get("/api/ask", params={"question": QUESTION}, headers=STREAM)
    assert response.headers["content-type"].startswith("text/event-stream")
    *stages, (last, answer) = list(events(response))
    assert [name for name, _ in stages] == ["stage"] * len(stages) and {"stage": "reader"} in [s for _, s in stages]
    assert last == "answer" and "Davisson" in answer["answer"]


def test_an_error_is_streamed(physics: Running) -> None:
    ((name, document),) = events(
        physics.client.get("/api/ask", params={"question": "a", "pack": "other"}, headers=STREAM)
    )
    assert name == "error" and "no pack 'other'" in document["error"]


def test_the_text_of_a_model_is_streamed(
    messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, build: Build
) -> None:
    kitchen = build(tmp_path / "kitchen", [("Kettle", "The kettle is made of copper.")])
    messages_server.always(reply("The kettle is made of copper [1]."))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    with running(kitchen, offline=False) as server:
        response = server.client.get("/api/ask", params={"question": "What is the kettle made of?"}, headers=STREAM)
        found = list(events(response))
        document = found[-1][1]
        assert document["query_type"] == "synthesis" and document["model"]
        assert "".join(data["text"] for name, data in found if name == "text") == document["answer"]
        # What needs no model comes before what the model writes.
        names = [name for name, _ in found if name != "stage"]
        assert names[:2] == ["offline", "text"] and names[-1] == "answer"
        offline = next(data for name, data in found if name == "offline")
        assert (offline["query_type"], offline["model"]) == ("extractive", "") and offline.keys() == document.keys()


def test_the_openapi_document_describes_the_documents(physics: Running) -> None:
    described = physics.get("/api/openapi.json")
    assert described["openapi"] == "3.1.0"
    examples = {
        "/api/ask": physics.get("/api/ask", question=QUESTION, explain=True),
        "/api/search": physics.get("/api/search", question="spin", snippets=True),
        "/api/sections/{section_id}": physics.get("/api/sections/Spin%231"),
        "/api/articles/{title}": physics.get("/api/articles/Spin"),
        "/api/neighbors": physics.get("/api/neighbors", name="Spin"),
        "/api/paths": physics.get("/api/paths", **{"from": "Spin", "to": "Paul Dirac"}),
        "/api/why": physics.get("/api/why", question="What is spin?", title="Paul Dirac"),
        "/api/packs": physics.get("/api/packs"),
        "/api/read/{title}": physics.get("/api/read/Spin", section="Spin#1", start=0, end=9),
        "/api/titles": physics.get("/api/titles", text="heis"),
        "/api/server": physics.get("/api/server"),
    }
    assert examples.keys() == described["paths"].keys()
    for path, document in examples.items():
        content = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        schema = {**content["schema"], "components": described["components"]}
        errors = [error.message for error in Draft202012Validator(schema).iter_errors(document)]
        assert errors == [], path
        known = schema["properties"].keys()
        assert document.keys() <= known, path


def test_several_packs_are_searched_one_after_the_other(birds: Path, machines: Path) -> None:
    with running(birds, machines) as server:
        assert server.get("/api/articles/Winch")["pack"]["name"] == "machines"
        assert server.get("/api/articles/Crane")["pack"]["name"] == "birds"
        assert server.get("/api/articles/Crane", pack="machines")["pack"]["name"] == "machines"
        assert server.client.get("/api/articles/Winch", params={"pack": "birds"}).status_code == 404
        why = server.get("/api/why", question="What lifts loads?", title="Crane", pack="machines")
        assert why["outcome"] in ("cited", "read")
        assert {row["given_as"] for row in server.get("/api/packs")["packs"]} == {"birds", "machines"}


def test_packs_with_one_name_are_told_apart(tmp_path: Path, build: Build) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    one = build(tmp_path / "one" / "kitchen", [("Kettle", "The kettle is made of copper."), ("Pan", "A pan.")])
    two = build(tmp_path / "two" / "kitchen", [("Spoon", "The spoon is made of wood."), ("Pan", "A flat pan.")])
    with running(one, two) as server:
        assert len(set(server.packs.names)) == 2
        found = {server.get("/api/articles/Pan", pack=name)["content"] for name in server.packs.names}
        assert found == {"A pan.", "A flat pan."}
        assert server.get("/api/sections/Spoon%230")["content"] == "The spoon is made of wood."


def test_an_exact_name_in_a_later_pack_comes_before_a_correction(tmp_path: Path, build: Build) -> None:
    one = build(tmp_path / "one", [("Kettle", "The kettle is made of copper."), ("Stove", "A stove. See Kettle.")])
    two = build(tmp_path / "two", [("Nettle", "The nettle stings."), ("Fern", "A fern. See Nettle.")])
    with running(one, two) as server:
        for path, query in (
            ("/api/articles/Nettle", {}),
            ("/api/sections/nettle%230", {}),
            ("/api/neighbors", {"name": "Nettle"}),
            ("/api/paths", {"from": "Fern", "to": "Nettle"}),
        ):
            found = server.get(path, **query)
            assert "Kettle" not in json.dumps(found) and found["warnings"] == [], path
        # Without an exact name, the first pack corrects it, and says so.
        for path, query in (
            ("/api/articles/Kettel", {}),
            ("/api/sections/Kettel%230", {}),
            ("/api/neighbors", {"name": "Kettel"}),
            ("/api/why", {"question": "What is the kettle made of?", "title": "Kettel"}),
        ):
            assert server.get(path, **query)["warnings"][0] == "Nothing is named 'Kettel'; using 'Kettle' instead."


def test_errors_advise_no_commands(physics: Running) -> None:
    for path in (
        "/api/articles/Zanzibar",
        "/api/neighbors?name=Zanzibar",
        "/api/neighbors?name=Spin&relation=LINKS_TO+->+LINKS_TO",
        "/api/neighbors?name=Spin&relation=nothing",
        "/api/paths?from=Spin&metapath=nothing",
    ):
        error = physics.client.get(path).json()
        assert error["error"] and error["hint"] is None and " --" not in f" {error['error']}", error
    assert "Spin#0" in physics.client.get("/api/sections/Spin%2399").json()["hint"]


def test_a_bug_ends_a_stream_with_an_error(
    physics: Running, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise ValueError("a secret of the server")

    monkeypatch.setattr(Pipeline, "answer", fail)
    response = physics.client.get("/api/ask", params={"question": "a"}, headers=STREAM)
    assert list(events(response)) == [("error", {"schema_version": 1, "error": "The server failed.", "hint": None})]


def test_a_stream_without_events_is_kept_open(
    physics: Running, monkeypatch: pytest.MonkeyPatch, blocked: Blocked
) -> None:
    monkeypatch.setattr("wikigr.server.workers.KEEP_ALIVE", 0.001)
    with physics.client.stream("GET", "/api/ask", params={"question": "a"}, headers=STREAM) as response:
        assert any(line == ": waiting" for line in response.iter_lines())
    assert blocked.ended.wait(30)


def test_the_openapi_document_says_whether_a_token_is_needed(physics: Running, physics_pack: Path) -> None:
    assert "security" not in physics.get("/api/openapi.json")
    token = "0123456789abcdef"
    with running(physics_pack, token=token) as server:
        sent = {"Authorization": f"Bearer {token}"}
        described = server.client.get("/api/openapi.json", headers=sent).json()
        (needed,) = described["security"]
        assert needed.keys() <= described["components"]["securitySchemes"].keys() and needed


def test_a_question_may_refer_to_previous_ones(physics: Running) -> None:
    before = ["In which year was Werner Heisenberg born?"]
    found = physics.get("/api/ask", question="and where?", previous=before)
    assert found["understood"] == found["question"] == "Where was Werner Heisenberg born?"
    assert found["span"]["text"] == "Würzburg"
    posted = physics.client.post("/api/ask", json={"question": "and where?", "previous": before}).json()
    assert posted["understood"] == found["understood"]
    # A question with its own subject stays as it is.
    assert physics.get("/api/ask", question=QUESTION, previous=before)["understood"] is None
    response = physics.client.get("/api/ask", params={"question": "When did she die?", "previous": before})
    assert response.status_code == 400
    assert response.json()["error"] == "This question refers to something that was not named: 'she'."
    for previous in (["x"] * 21, [""], ["x" * 2_001]):
        assert physics.client.post("/api/ask", json={"question": "Why?", "previous": previous}).status_code == 400

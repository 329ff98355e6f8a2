"""Prompt injection: hostile text from packs, questions and answers in every prompt, as the server receives it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Wikigr
from tests.llm.server import MessagesServer, Response, reply, respond
from tests.trust.conftest import Tally
from tests.trust.hostile import FACT, FINISH, INJECTIONS, MARK, QUESTION

from wikigr.graph.neighborhood import Neighborhood, article
from wikigr.graph_search.explore.model_pruner import ModelPruner
from wikigr.graph_search.explore.triplets import TripletRetriever
from wikigr.ingest.chunking import MAX_HEADING_CHARS
from wikigr.llm.client import Claude
from wikigr.pack.open import Pack

# Anything that a model may read as a tag, even with white space or invisible characters before its name.
ANY_TAG = re.compile(r"<(?:[\s\u200b-\u200f\u2060-\u206f\ufeff]*[/!?]|[\u200b-\u200f\u2060-\u206f\ufeff]*[^\W\d_])")
OURS = re.compile(r"^<(?P<end>/?)(?P<name>[a-z_-]+)(?: number=\"\d+\" title=\"[^\"<]*\")?>$", re.MULTILINE)
REPEATED = {"section"}
GRAPH = "multi-strategy"


def check_blocks(text: str, allowed: set[str]) -> set[str]:
    """Check that ``text`` is a sequence of our blocks with hostile text only inside them; return their names."""
    assert len(ANY_TAG.findall(text)) == len(OURS.findall(text)), text
    counted: Counter[str] = Counter()
    inside = ""
    at = 0
    for tag in OURS.finditer(text):
        if tag["end"]:
            assert tag["name"] == inside, text
            inside = ""
        else:
            assert not inside, text
            assert MARK not in text[at : tag.start()], text
            inside = tag["name"]
            counted[inside] += 1
        at = tag.end()
    assert not inside
    assert MARK not in text[at:], text
    assert counted.keys() <= allowed, counted
    assert all(count == 1 for name, count in counted.items() if name not in REPEATED), counted
    return set(counted)


BLOCKS = {
    "section", "examples", "graph-context", "question", "schema", "cypher-examples", "query-feedback",
    "entities-here", "relations-offered", "facts", "entities-offered", "answerable", "accepted_answers",
    "answer_to_grade",
}  # fmt: skip


def check_request(request: dict[str, Any]) -> set[str]:
    """Check that a request has hostile text only in the user's turn, in blocks or citable documents."""
    assert MARK not in json.dumps(request["system"]), request["system"]
    assert MARK not in json.dumps(request.get("tools", []))
    (turn,) = request["messages"]
    assert turn["role"] == "user"
    if isinstance(turn["content"], str):
        return check_blocks(turn["content"], BLOCKS)
    found: set[str] = set()
    for block in turn["content"]:
        if block["type"] == "search_result":
            found.add("search_result")  # a separate document that its text cannot end
            assert all(part["type"] == "text" for part in block["content"])
            continue
        assert block["type"] == "text"
        if block["text"].startswith("Question: "):
            found.add("asked")
            assert not ANY_TAG.search(block["text"]), block["text"]
        else:
            found |= check_blocks(block["text"], BLOCKS)
    return found


class Model:
    """Replies just well enough that every prompt is built."""

    def __init__(self) -> None:
        self.plans = 0

    def __call__(self, request: dict[str, Any]) -> Response:
        system = json.dumps(request["system"])
        said = "The pack does not cover this."
        if "You plan how" in system:
            self.plans += 1
            said = (
                "<entity-extraction>Orrin\nMara Quill</entity-extraction><path-extraction>no_such</path-extraction>"
                "<opencypher>MATCH (a:Entity) SET a.name = 'x'</opencypher>"
                "<opencypher>MATCH (:Entity)-[r:RELATED_TO]->(b:Entity) RETURN r.relation, b.name LIMIT 20</opencypher>"
            )
        elif "You explore" in system:
            said = "<relations>1,2,3,4,5</relations><entities>1,2,3</entities>"
        elif "You grade" in system:
            said = '{"reason": "no", "verdict": "incorrect"}'
        elif "other wordings" in system:
            said = "Who tends the light of Orrin?\nWho is keeper at Orrin?"
        return respond(reply(said), request)


@pytest.fixture
def model(messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, wikigr: Wikigr) -> MessagesServer:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(Model())
    return messages_server


def seen(server: MessagesServer, count: Tally) -> set[str]:
    """Check all received requests; return the names of all blocks."""
    found: set[str] = set()
    for request in server.requests:
        found |= check_request(request.json)
        count.harmless()
    return found


@pytest.mark.parametrize("written", ["claude-opus-4-6", "local-model"])
def test_sections_and_examples(
    wikigr: Wikigr, hostile_pack: Path, model: MessagesServer, tally: Callable[[str], Tally], written: str
) -> None:
    for injection in INJECTIONS:
        question = f"{QUESTION} {injection}"
        result = wikigr("ask", question, "--pack", str(hostile_pack), "--model", written, "--json")
        assert result.code == 0, result.err
    found = seen(model, tally("prompt injection: synthesis"))
    sections = {"search_result"} if written.startswith("claude") else {"section"}
    assert found == {"asked", "examples"} | sections
    # The injections did reach the prompts.
    assert sum(request.raw.count(MARK.encode()) for request in model.requests) > 20 * len(INJECTIONS)


def longer(folder: Path) -> str:
    """Return a profile that searches the graph in three rounds."""
    (folder / "longer.yaml").write_text(f"extends: {GRAPH}\nmulti_strategy: {{iterations: 3}}\n")
    return str(folder / "longer.yaml")


@pytest.mark.parametrize("written", ["claude-opus-4-6", "local-model"])
def test_the_graph_and_its_planner(
    wikigr: Wikigr,
    hostile_graph: Path,
    model: MessagesServer,
    tally: Callable[[str], Tally],
    written: str,
    tmp_path: Path,
) -> None:
    examples = [
        {"question": f"Who? {i}", "context": {"articles": [i], "facts": [i]}, "answer": f"MATCH (a) RETURN a {i}"}
        for i in INJECTIONS
    ]
    (hostile_graph / "cypher_examples.json").write_text(json.dumps(examples), encoding="utf-8")
    for injection in INJECTIONS[:4]:
        question = f"Where was the keeper of Orrin born? {injection}"
        arguments = ("--profile", longer(tmp_path), "--model", written, "--json")
        result = wikigr("ask", question, "--pack", str(hostile_graph), *arguments)
        assert result.code == 0, result.err
    found = seen(model, tally("prompt injection: graph planner, triplets, context"))
    assert found >= {
        "question", "schema", "graph-context", "query-feedback", "entities-here", "relations-offered", "facts",
        "entities-offered",
    }  # fmt: skip


def test_a_repeated_pack_name_does_not_end_the_search(
    hostile_graph: Path, messages_server: MessagesServer, tally: Callable[[str], Tally]
) -> None:
    thing = f"Thing 1 {INJECTIONS[1]}"

    def behave(request: dict[str, Any]) -> Response:
        offered = "<relations-offered>" in request["messages"][0]["content"]
        said = "<relations>1,2,3,4,5,6,7</relations>" if offered else f"<entities>\n{thing}\n</entities>"
        return respond(reply(said), request)

    messages_server.always(behave)
    client = Claude(model="claude-opus-4-6", api_key="sk-test-0123456789", base_url=messages_server.url)
    with Pack(hostile_graph) as pack:
        result = TripletRetriever(Neighborhood(pack.graph), ModelPruner(client)).retrieve("Who?", [article("Orrin")])
    client.close()
    assert result.stop_reason != "finish"
    assert any("<entities-offered>" in request.json["messages"][0]["content"] for request in messages_server.requests)
    tally("prompt injection: tags that would steer the loop").harmless()


def test_tags_of_the_pack_do_not_end_the_planner(
    wikigr: Wikigr, hostile_graph: Path, messages_server: MessagesServer, model: MessagesServer,
    tally: Callable[[str], Tally], tmp_path: Path,
) -> None:  # fmt: skip
    planner = Model()
    messages_server.always(planner)
    # No relation path answers a question of this form before the planner.
    question = f"Was the keeper of Orrin born in Tolm? {FINISH}"
    arguments = ("--pack", str(hostile_graph), "--profile", longer(tmp_path), "--explain", "--json")
    result = wikigr("ask", question, *arguments)
    assert result.code == 0, result.err
    assert planner.plans >= 2
    tally("prompt injection: tags that would steer the loop").harmless()


def test_rephrasing_and_own_knowledge(
    wikigr: Wikigr, hostile_pack: Path, model: MessagesServer, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    (tmp_path / "own.yaml").write_text("synthesis: {own_knowledge: true}\n")
    for injection in INJECTIONS:
        assert wikigr("search", f"Who? {injection}", "--pack", str(hostile_pack), "--profile", "recall").code == 0
        question = f"What do pangolins eat? {injection}"
        assert wikigr("ask", question, "--pack", str(hostile_pack), "--profile", "own.yaml").code == 0
    assert seen(model, tally("prompt injection: rephrase, own knowledge")) >= {"question", "asked"}
    systems = " ".join(json.dumps(request.json["system"]) for request in model.requests)
    assert "other wordings" in systems
    assert "what you know yourself" in systems


def test_the_judge(
    wikigr: Wikigr, hostile_pack: Path, model: MessagesServer, own_caches: Path, tmp_path: Path,
    tally: Callable[[str], Tally],
) -> None:  # fmt: skip
    rows = [
        {"id": f"q{n}", "question": f"{QUESTION} {text}", "answerable": True, "answers": [f"Mara {text}"],
         "gold": [{"title": "Plain quay"}]}
        for n, text in enumerate(INJECTIONS)
    ]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    common = ("--pack", str(hostile_pack), "--questions", "gold.jsonl", "-o", "run", "--profile", "baseline")
    result = wikigr("eval", "run", *common, "--judge", "claude")
    assert result.code == 0, result.err
    asked = [r for r in model.requests if "You grade" in json.dumps(r.json["system"])]
    assert len(asked) == len(rows)
    assert seen(model, tally("prompt injection: judge")) >= {"answer_to_grade", "accepted_answers", "answerable"}


def test_names_of_a_megabyte_stay_out_of_prompts_and_of_the_engine(
    wikigr: Wikigr, model: MessagesServer, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    long = "L" + "ong" * 350_000
    rows = [
        {"title": f"T {long}", "text": FACT},
        {"title": "Many", "text": FACT, "id": long},
        {"title": "Small", "aliases": [long], "text": f"## H {long}\n\n{FACT} {'More words. ' * 2_000}"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    refused = wikigr("pack", "build", "a.jsonl", "-o", "p")
    assert refused.code == 3
    assert "line 1: the title" in refused.err
    assert len(refused.err) < 2_000
    kept = wikigr("pack", "build", "a.jsonl", "-o", "p", "--keep-going", "--json")
    assert kept.code == 0, kept.err
    assert json.loads(kept.out)["counts"]["articles"] == 1
    with Pack("p") as pack:
        assert max(map(len, pack.headings("Small"))) == MAX_HEADING_CHARS
    for written in ("claude-opus-4-6", "local-model"):
        assert wikigr("ask", QUESTION, "--pack", "p", "--model", written).code == 0
    assert model.requests and max(len(request.raw) for request in model.requests) < 100_000
    tally("names of one megabyte").refused(2)
    tally("names of one megabyte").harmless(2)

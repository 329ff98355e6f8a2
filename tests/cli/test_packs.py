"""``ask`` and ``search`` over several packs: what they print, and what they refuse."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.llm.server import MessagesServer, Response, first_cited, reply, text

from wikigr.pack.manifest import read_manifest
from wikigr.pack.open import Pack

from .conftest import Result, Wikigr

QUESTION = "In which year was Werner Heisenberg born?"
OTHER = "What is the second letter?"
OFF_TOPIC = "Which sauce goes best with grilled asparagus?"
Both = Callable[..., Result]


@pytest.fixture
def both(wikigr: Wikigr, physics_pack: Path, letters_pack: Path) -> Both:
    """Run a command over both packs."""

    def call(*arguments: str, stdin: str = "") -> Result:
        return wikigr(*arguments, "--pack", str(physics_pack), "-p", str(letters_pack), stdin=stdin)

    return call


def without_timings(line: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(line)
    del document["timings"]
    return document


def test_an_answer_says_which_pack_it_comes_from(both: Both, physics_pack: Path, letters_pack: Path) -> None:
    own = [
        {"name": m.name, "version": m.version, "digest": m.digest}
        for m in (read_manifest(folder / "manifest.json") for folder in (letters_pack, physics_pack))
    ]
    for question, name, pack, folder in (
        (OTHER, "letters", own[0], letters_pack),
        (QUESTION, "physics", own[1], physics_pack),
    ):
        document = json.loads(both("ask", question, "--offline", "--json").out)
        assert document["packs"] == own
        assert document["pack"] == pack
        assert document["citations"][0]["pack"] == name
        if document["span"] is not None:
            assert document["span"]["pack"] == name
        with Pack(folder) as stored:
            for citation in document["citations"]:
                if citation["pack"] == name:
                    content = stored.sections([citation["section_id"]])[citation["section_id"]].content
                    assert content[citation["start"] : citation["end"]] == citation["quote"]


def test_one_pack_prints_what_it_always_did(wikigr: Wikigr, physics_pack: Path) -> None:
    document = json.loads(wikigr("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--explain", "--json").out)
    rows = [*document["citations"], *document["explain"]["candidates"], *document["explain"]["sentences"]]
    assert "packs" not in document
    assert not any("pack" in row for row in [document["span"], *rows])
    found = json.loads(wikigr("search", QUESTION, "--pack", str(physics_pack), "--json").out)
    assert "packs" not in found
    assert not any("pack" in row for row in found["results"])


def test_sources_and_results_name_their_pack(both: Both) -> None:
    assert "  physics: Werner Heisenberg#0 [" in both("ask", QUESTION, "--offline").out
    assert ", physics: “" in both("ask", QUESTION, "--offline", "--format", "md").out
    explained = both("ask", QUESTION, "--offline", "--explain").out
    assert explained.count("  physics: Werner Heisenberg#0 ") >= 3
    lines = both("search", OTHER, "-k", "3").out.splitlines()
    assert lines[0].startswith("  1. Beta")
    assert lines[0].endswith("  letters")
    assert "Beta, letters (" in both("search", OTHER, "-k", "1", "--format", "md").out.replace(" › Introduction", "")
    header, row, *_ = both("search", OTHER, "-k", "1", "--format", "csv").out.splitlines()
    assert header.endswith(",content,url,pack")
    assert row.endswith(",letters")
    assert json.loads(both("search", OTHER, "-k", "1", "--format", "jsonl", "--fields", "title,pack").out) == {
        "title": "Beta",
        "pack": "letters",
    }


def test_an_abstention_has_no_pack(both: Both) -> None:
    result = both("ask", OFF_TOPIC, "--offline", "--strict", "--json")
    document = json.loads(result.out)
    assert (result.code, document["abstained"], document["pack"]) == (1, True, None)
    assert [pack["name"] for pack in document["packs"]] == ["letters", "physics"]
    assert both("ask", QUESTION, "--offline", "--strict").code == 0


def test_a_batch_asks_all_packs(both: Both) -> None:
    lines = both("ask", "--batch", "-", "--offline", stdin=f"{QUESTION}\n{OTHER}\n").out.splitlines()
    assert [json.loads(line)["pack"]["name"] for line in lines] == ["physics", "letters"]
    lines = both("search", "--batch", "-", stdin=f"{QUESTION}\n{OTHER}\n").out.splitlines()
    assert [json.loads(line)["results"][0]["pack"] for line in lines] == ["physics", "letters"]


def test_a_pack_that_is_given_twice_counts_once(
    wikigr: Wikigr, physics_pack: Path, letters_pack: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(physics_pack)
    search = ("search", QUESTION, "-k", "3", "--json", "-p", str(physics_pack))
    twice, once = wikigr(*search, "-p", "link"), wikigr(*search)
    assert without_timings(twice.out) == without_timings(once.out)
    assert twice.err == "wikigr: link is among the packs already, so it counts once.\n"
    assert wikigr("-q", *search, "-p", "link").err == ""
    receipt = wikigr("ask", QUESTION, "--offline", "-p", str(physics_pack), "-p", "link", "--receipt", "r.json")
    assert (receipt.code, (tmp_path / "r.json").is_file()) == (0, True)


def test_what_several_packs_cannot_do_is_refused(both: Both, tmp_path: Path) -> None:
    receipt = both("ask", QUESTION, "--offline", "--receipt", "receipt.json")
    assert (receipt.code, receipt.out, (tmp_path / "receipt.json").exists()) == (2, "", False)
    assert "--receipt records the evidence of one pack, not of 2." in receipt.err
    explored = both("ask", QUESTION, "--offline", "--profile", "multi-strategy")
    assert (explored.code, explored.out) == (2, "")
    assert "one pack, not of 2" in explored.err


def test_an_unreadable_pack_among_several_is_named(wikigr: Wikigr, physics_pack: Path, letters_pack: Path) -> None:
    for command in (("ask", "--offline"), ("search",)):
        missing = wikigr(*command, QUESTION, "-p", str(physics_pack), "-p", "nowhere")
        assert (missing.code, missing.out) == (4, "")
        assert "'nowhere'" in missing.err
        shutil.copytree(letters_pack, "broken", dirs_exist_ok=True)
        Path("broken/pack.db").write_bytes(b"")
        broken = wikigr(*command, QUESTION, "-p", "broken", "-p", str(physics_pack))
        assert (broken.code, broken.out) == (4, "")
        assert "The pack broken is damaged: pack.db" in broken.err


def test_the_variable_names_packs_like_a_path(
    wikigr: Wikigr, physics_pack: Path, letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaced = shutil.copytree(letters_pack, tmp_path / "my letters")
    monkeypatch.setenv("WIKIGR_PACK", f"{physics_pack}{os.pathsep}{spaced}{os.pathsep}")
    assert len(json.loads(wikigr("search", OTHER, "--json").out)["packs"]) == 2
    monkeypatch.setenv("WIKIGR_SEARCH_PACK", str(spaced))
    assert "packs" not in json.loads(wikigr("search", OTHER, "--json").out)
    given = json.loads(wikigr("search", OTHER, "--json", "--pack", str(physics_pack)).out)
    assert given["pack"]["name"] == "physics"


def test_a_settings_file_names_one_pack_or_a_list(
    wikigr: Wikigr, physics_pack: Path, letters_pack: Path, tmp_path: Path
) -> None:
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text(f"search: {{pack: {letters_pack}}}\nask: {{pack: [{letters_pack}, {physics_pack}]}}\n")
    assert json.loads(wikigr("search", OTHER, "--json").out)["pack"]["name"] == "letters"
    assert json.loads(wikigr("ask", QUESTION, "--offline", "--json").out)["pack"]["name"] == "physics"


def test_a_model_reads_sections_of_all_packs(
    both: Both, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, physics_pack: Path, letters_pack: Path
) -> None:
    question = "What is Beta to Werner Heisenberg?"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-to-be-shown")
    messages_server.always(_cite_one_of_each)
    document = json.loads(both("ask", question, "--json").out)
    assert document["query_type"] == "synthesis"
    assert [citation["pack"] for citation in document["citations"]] == ["physics", "letters"]
    assert document["pack"]["name"] == "physics"
    for citation, folder in zip(document["citations"], (physics_pack, letters_pack), strict=True):
        with Pack(folder) as pack:
            content = pack.sections([citation["section_id"]])[citation["section_id"]].content
        assert content[citation["start"] : citation["end"]] == citation["quote"]
    streamed = both("ask", question, "--stream").out
    assert streamed.startswith("A physicist and Beta [1][2].\n\nSources\n")
    assert "  letters: Beta#0 [" in streamed
    shown = json.loads(both("ask", question, "--show-prompt").out)
    assert {key: messages_server.requests[0].json[key] for key in shown} == shown


def _cite_one_of_each(request: dict[str, Any]) -> Response:
    blocks = [block for block in request["messages"][0]["content"] if block["type"] == "search_result"]
    cited = {
        block["source"]: {**first_cited(block), "search_result_index": number} for number, block in enumerate(blocks)
    }
    parts = text("A physicist", cited["Werner Heisenberg#0"]), text(" and Beta", cited["Beta#0"]), text(".")
    return reply(*parts)(request)


def test_all_are_the_installed_packs_which_are_also_asked_without_a_default(
    wikigr: Wikigr, physics_pack: Path, letters_pack: Path, tmp_path: Path, quick_validation: None
) -> None:
    none = wikigr("ask", QUESTION, "--pack", "all")
    assert (none.code, none.err.splitlines()[0]) == (2, "wikigr: No pack is installed.")
    for name, pack in (("physics", physics_pack), ("letters", letters_pack)):
        assert wikigr("pack", "install", str(pack), "--name", name).code == 0
    for question, source in ((QUESTION, "physics: Werner Heisenberg#0"), (OTHER, "letters: ")):
        named = wikigr("ask", question, "--pack", "all", "--offline")
        assert source in named.out and not named.out.endswith(", letters 1.0.0, physics 1.0.0\n")
        # Quoted or not, a question needs no command; the answer names the packs that were not given.
        for words in ((question,), question.split(), ("ask", question))[: 3 if question == QUESTION else 1]:
            asked = wikigr(*words, "--offline")
            assert asked.out == f"{named.out[:-1]}, letters 1.0.0, physics 1.0.0\n"
    assert "packs" in json.loads(wikigr("search", "spin", "-p", "all", "-p", "all", "--json").out)
    # A default pack is asked alone, and so is a pack that is given.
    assert wikigr("pack", "use", "physics").code == 0
    assert wikigr(QUESTION, "--offline").out.endswith("), physics 1.0.0\n")
    assert wikigr(OTHER, "--offline", "-p", "letters").out.endswith(")\n")

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from wikigr.pack.open import Pack
from wikigr_cli.app import run

from ..conftest import MAIN, Wikigr
from ..terminal import environment_of, in_terminal

QUESTION = "In which year was Werner Heisenberg born?"
OFF_TOPIC = "Which sauce goes best with grilled asparagus?"
KEYS = {
    "schema_version", "question", "answer", "abstained", "confidence", "query_type", "span", "sources", "citations",
    "entities", "facts", "cypher_query", "profile", "pack", "usage", "timings",
}  # fmt: skip


def test_every_quote_and_the_span_are_in_the_database(wikigr: Wikigr, physics_pack: Path) -> None:
    database = str(physics_pack / "pack.db")
    assert "1901" in wikigr("ask", QUESTION, "--pack", database).out
    document = json.loads(wikigr("ask", QUESTION, "--pack", database, "--json").out)
    assert set(document) >= KEYS
    assert document["query_type"] == "extractive" and not document["abstained"] and 0.5 <= document["confidence"] <= 1
    assert document["sources"] == list(dict.fromkeys(c["title"] for c in document["citations"]))
    span, citation = document["span"], document["citations"][0]
    assert citation["start"] <= span["start"] < span["end"] <= citation["end"] and "1901" in span["text"]
    with Pack(physics_pack) as pack:
        for part, text in ((span, span["text"]), *((c, c["quote"]) for c in document["citations"])):
            content = pack.sections([part["section_id"]])[part["section_id"]].content
            assert content[part["start"] : part["end"]] == text


def test_the_short_answer_comes_first_and_is_highlighted_in_its_sentence(physics_pack: Path) -> None:
    result = in_terminal("ask", QUESTION, "--pack", str(physics_pack), "--offline", columns=300, NO_COLOR="")
    first, gap, text = result.out.split("\n")[:3]
    assert "1901" in first
    assert first.startswith("\x1b[1m")
    assert first.endswith("\x1b[0m")
    assert gap == ""
    # The sentence before it is dim.
    assert text.startswith("\x1b[2mWerner Heisenberg wrote, ")
    assert "\x1b[0mBorn in Würzburg on" in text
    assert first in text
    assert text.endswith("[1]")


def test_a_question_that_the_pack_does_not_cover_is_declined(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("ask", OFF_TOPIC, "--pack", str(physics_pack))
    assert result.code == 0
    assert result.out.startswith("The pack does not cover this.")
    strict = wikigr("ask", OFF_TOPIC, "--pack", str(physics_pack), "--strict", "--json")
    assert strict.code == 1
    document = json.loads(strict.out)
    assert (document["abstained"], document["query_type"], document["citations"]) == (True, "abstained", [])


def test_explain_shows_stages_scores_and_what_was_dropped(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--explain", "--json")
    explain = json.loads(result.out)["explain"]
    stages = {stage["stage"]: stage for stage in explain["stages"]}
    assert list(stages) == (
        "aliases encode dense lexical fuse unit_match graph_reranker entity_linking graph_walk hops documents fetch "
        "section_quality sentences reader answers abstention citations".split()
    )
    assert any("not among the best 5" in reason for reason in stages["documents"]["dropped"].values())
    assert stages["graph_reranker"]["notes"] == {"alpha": 0.95, "beta": 0.05}
    assert stages["entity_linking"]["scored"] == len(stages["entity_linking"]["notes"]["links"]) > 0
    assert stages["graph_walk"]["scored"] >= stages["fuse"]["scored"]
    assert {"strength", "threshold"} <= set(stages["abstention"]["notes"])
    assert {"dense", "lexical"} <= set(explain["candidates"][0]["scores"])
    best = explain["sentences"][0]
    assert best["cited"]
    assert best["score"] >= explain["sentences"][-1]["score"]
    assert set(best["parts"]) == {"section", "words", "context", "phrases", "kind", "vector", "neighbours"}
    text = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--explain").out
    assert "Stages" in text and "Sentences" in text


def test_explain_says_why_each_candidate_was_not_read(wikigr: Wikigr, physics_pack: Path) -> None:
    ask = ("ask", "What is spin?", "--pack", str(physics_pack), "--offline", "--explain", "--explain-limit", "999")
    explain = json.loads(wikigr(*ask, "--json").out)["explain"]
    dropped = {key: why for stage in explain["stages"] for key, why in stage["dropped"].items()}
    candidates = explain["candidates"]
    assert {c["section_id"]: c["reason"] for c in candidates if c["reason"] is not None} == dropped
    assert [c["rank"] for c in candidates] == list(range(1, len(candidates) + 1))
    assert [c["score"] for c in candidates] == sorted((c["score"] for c in candidates), reverse=True)
    assert all((c["content"] is None) == (c["reason"] is not None) for c in candidates)
    assert len({tuple(c) for c in candidates}) == 1
    text = wikigr(*ask).out
    (line,) = (line for line in text.splitlines() if line.startswith("  documents"))
    reasons = Counter(next(s for s in explain["stages"] if s["stage"] == "documents")["dropped"].values())
    assert len(reasons) > 1
    assert f"dropped {reasons.total()} (" in line
    assert all(f"{count}: {reason}" in line for reason, count in reasons.items())
    told = text.split("Dropped\n")[1].split("Sentences\n")[0].splitlines()
    unread = [c for c in candidates if c["reason"] is not None]
    assert [line.split(None, 2) for line in told] == [
        [f"{c['rank']}.", f"{c['score']:.3f}", f"{c['section_id']}  {c['reason']}"] for c in unread
    ]


def test_an_explanation_is_bounded_and_facts_are_what_is_quoted(wikigr: Wikigr, physics_pack: Path) -> None:
    ask = ("ask", "What is spin?", "--pack", str(physics_pack), "--offline", "--explain")
    long, short = wikigr(*ask, "--json"), wikigr(*ask, "--json", "--explain-limit", "3")
    assert len(short.out) < len(long.out) / 3 < 20_000
    document = json.loads(short.out)
    assert document["facts"] == [citation["quote"] for citation in document["citations"]]
    explain = document["explain"]
    assert [len(explain[kind]) for kind in ("candidates", "sentences")] == [3, 3]
    assert explain["candidates_in_all"] > 100 and explain["sentences_in_all"] > 10
    assert {candidate["reason"] for candidate in explain["candidates"]} == {None}
    (stage,) = (stage for stage in explain["stages"] if stage["stage"] == "documents")
    assert stage["dropped"] == {} and stage["dropped_in_all"] > 100
    more = explain["candidates_in_all"] - 3
    assert f"… and {more} more; --explain-limit shows others" in wikigr(*ask, "--explain-limit", "3").out


def test_answers_are_written_to_a_file_as_markdown(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    target, pack = tmp_path / "notes.md", ("--pack", str(physics_pack), "--offline")
    one = wikigr("ask", QUESTION, *pack, "-o", str(target))
    assert (one.out, one.err) == (wikigr("ask", QUESTION, *pack).out, f"Wrote {target}: 1 answer.\n")
    text = target.read_text(encoding="utf-8")
    assert text.startswith(f"## {QUESTION}\n\n**5 December 1901**")
    assert "1. [Werner Heisenberg › Introduction](<" in text and text.endswith("), physics 1.0.0\n")
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{QUESTION}\n\nWhat is spin?\n")
    batch = wikigr("ask", "--batch", str(questions), *pack, "-o", str(target))
    assert len(batch.out.splitlines()) == 2 and batch.err.endswith(f"Replaced {target}: 2 answers.\n")
    assert target.read_text(encoding="utf-8").startswith(text) and "\n## What is spin?\n" in target.read_text()
    assert "replace the questions" in wikigr("ask", "--batch", str(questions), *pack, "-o", str(questions)).err


def test_a_batch_says_how_far_it_is_and_that_it_is_empty(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("laser\nspin\n\n")
    monkeypatch.setattr("wikigr_cli.render.progress._SECONDS_PER_LINE", 0.0001)
    pack = ("--pack", str(physics_pack), "--mode", "lexical")
    found = wikigr("search", "--batch", str(questions), *pack)
    assert re.search(r"^asking: [01] of 2 questions after 0 s$", found.err, re.MULTILINE)
    assert "asking: 2 questions in" in found.err
    bars, _, err = environment_of(80, TERM="xterm")
    bars.stdout = io.StringIO()
    assert run(("search", "--batch", str(questions), *pack), bars) == 0
    assert "2/2" in err.getvalue() and len(bars.stdout.getvalue().splitlines()) == 2
    questions.write_text("\n")
    empty = wikigr("search", "--batch", str(questions), *pack)
    assert (empty.code, empty.out) == (0, "") and f"There are no questions in {questions}." in empty.err


@pytest.mark.parametrize("command", [("ask", "--offline"), ("search",)])
def test_v_adds_the_trace_on_stderr_and_nothing_to_the_result(
    wikigr: Wikigr, physics_pack: Path, command: tuple[str, ...]
) -> None:
    arguments = (*command, "What is spin?", "--pack", str(physics_pack))
    quiet, traced = wikigr(*arguments), wikigr("-v", *arguments)
    assert (traced.code, traced.out) == (0, quiet.out)
    assert not quiet.err
    assert [line.split()[0] for line in traced.err.splitlines()][:4] == ["Stages", "aliases", "encode", "dense"]
    as_json = wikigr("-v", *arguments, "--json")
    assert "Stages" in as_json.err and "explain" not in json.loads(as_json.out)
    batch = wikigr("-v", *command, "--pack", str(physics_pack), "--batch", "-", stdin="What is spin?\nWho?\n")
    assert batch.err.count("Stages") == len(batch.out.splitlines()) == 2


def test_a_batch_may_begin_with_a_byte_order_mark_and_keeps_a_number_as_id(wikigr: Wikigr, physics_pack: Path) -> None:
    line = '\ufeff{"id": 7, "question": "What is spin?"}\n'
    result = wikigr("search", "--batch", "-", "--pack", str(physics_pack), stdin=line)
    assert json.loads(result.out)["id"] == 7


def test_a_batch_keeps_order_and_ids_and_marks_abstention(wikigr: Wikigr, physics_pack: Path) -> None:
    lines = f'{{"id": "q7", "question": "{QUESTION}"}}\n\n{OFF_TOPIC}\n'
    result = wikigr("ask", "--batch", "-", "--pack", str(physics_pack), "--strict", stdin=lines)
    documents = [json.loads(line) for line in result.out.splitlines()]
    assert [(d["id"], d["abstained"]) for d in documents] == [("q7", False), ("3", True)]
    assert result.code == 1


@pytest.mark.parametrize(
    ("line", "id_", "says"),
    [
        ('{"id": "a", "question": 3}', "a", 'The line has no "question".'),
        ('{"id": "a"}', "a", 'The line has no "question".'),
        ('{"question": ""}', "1", "The question is empty."),
        ("{oops", "1", "The line is not valid JSON"),
        ('{"id": ' + "9" * 5_000 + "}", "1", "not valid JSON: a number in it has too many digits."),
        ('{"a":' * 50_000, "1", "not valid JSON: it is nested too deeply."),
        ("which is the " * 2_000, "1", "The question has 25,999 characters, more than 20,000."),
        ("x" * 3_000_000, "1", "The line has more than 1,048,576 characters."),
        (" " * 3_000_000 + "x", "1", "The line has more than 1,048,576 characters."),
        ("What is caf\udce9?", "1", "The line is not UTF-8 text."),
        ("W\0h\0o\0?\0", "1", "The line is not UTF-8 text."),
    ],
    ids=range(11),
)
def test_a_wrong_line_of_a_batch_is_named_and_the_others_are_asked(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, line: str, id_: str, says: str
) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text(f"{line}\nWhat is spin?\n", encoding="utf-8", errors="surrogateescape")
    result = wikigr("search", "--mode", "lexical", "--batch", str(questions), "--pack", str(physics_pack))
    wrong, good = map(json.loads, result.out.splitlines())
    assert wrong["id"] == id_ and says in wrong["error"] and set(wrong) == {
        "schema_version", "id", "question", "error",
    }  # fmt: skip
    assert good["id"] == "2" and good["results"]
    assert result.code == 2 and f"wikigr: question {id_}: {wrong['error']}\n" in result.err
    assert result.err.endswith("wikigr: 1 of the questions could not be answered.\n")


def test_standard_input_that_is_not_utf_8_is_one_wrong_line(physics_pack: Path) -> None:
    search = ("search", "--mode", "lexical", "--batch", "-", "--pack", str(physics_pack))
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *search], input=b"caf\xe9\nWhat is spin?\n", capture_output=True, check=False
    )
    wrong, good = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, wrong["error"]) == (2, "The line is not UTF-8 text.") and good["results"]


def test_a_comparison_whose_sentence_says_he_is_valid_json(wikigr: Wikigr, physics_pack: Path) -> None:
    question = "Who was born later, Werner Heisenberg or Marie Curie?"
    result = wikigr("ask", question, "--pack", str(physics_pack), "--offline", "--json", "--explain")
    document = json.loads(result.out, parse_constant=pytest.fail)
    assert document["span"] is None
    assert [hop["answer"] for hop in document["chain"]] == ["7 November 1867", "5 December 1901"]


def test_an_answer_quotes_at_most_as_many_sentences_as_wanted(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("ask", "What is superconductivity?", "--pack", str(physics_pack), "--offline", "--json")
    made = json.loads(wikigr(*arguments, "--max-sentences", "1", "--receipt", "r.json").out)
    assert [citation["n"] for citation in made["citations"]] == [1] and "[2]" not in made["answer"]
    # The receipt keeps the option.
    replayed = wikigr("replay", "r.json", "--pack", str(physics_pack))
    assert replayed.code == 0, replayed.out


def test_an_answer_in_markdown_has_its_sources_as_a_list(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("ask", "Who measured the wavelength of the electron?", "--pack", str(physics_pack), "--offline")
    document = json.loads(wikigr(*arguments, "--format", "json").out)
    short, _, text, _, label, _, source, *_ = wikigr(*arguments, "--format", "md").out.splitlines()
    assert (short, text, label) == (f"**{document['span']['text']}**", document["answer"], "Sources")
    citation = document["citations"][0]
    assert citation["url"].endswith("/packs/physics/articles/louis-de-broglie.md#proof-and-prize")
    assert source == f"1. [Louis de Broglie › Proof and prize](<{citation['url']}>): “{citation['quote']}”"

"""``wikigr ask --receipt`` and ``wikigr replay`` on the demo pack, as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.llm.server import MessagesServer, reply, status

from ..conftest import MAIN, Wikigr

QUESTION = "Who measured the wavelength of the electron?"
UNKNOWN = "Who painted the Sistine Chapel?"
KEY = "sk-ant-not-to-be-written"


@pytest.fixture
def asked(wikigr: Wikigr, physics_pack: Path, no_model: None) -> Path:
    result = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--receipt", "r.json")
    assert (result.code, result.err) == (0, f"To check the receipt: wikigr replay r.json --pack {physics_pack}\n")
    return Path("r.json")


def test_an_answer_that_holds(wikigr: Wikigr, physics_pack: Path, asked: Path) -> None:
    assert stat.S_ISREG(asked.stat().st_mode)
    result = wikigr("replay", "r.json", "--pack", str(physics_pack))
    lines = result.out.splitlines()
    assert (result.code, result.err, lines[0]) == (0, "", QUESTION)
    assert lines[2] == f"Pack: {physics_pack} (--pack)"
    assert "✓ citation [1]: Louis de Broglie › Proof and prize [0:104]" in lines
    assert lines[-1].endswith(" checks passed.")
    assert {line[0] for line in lines[3:-1]} == {"✓"}
    assert wikigr("-q", "ask", QUESTION, "--pack", str(physics_pack), "--offline", "--receipt", "r.json").err == ""


def test_a_failed_check_is_a_cross_and_exit_1(wikigr: Wikigr, physics_pack: Path, asked: Path) -> None:
    document = json.loads(asked.read_text())
    document["citations"][0]["start"] += 1
    document["citations"][0]["end"] += 1
    asked.write_text(json.dumps(document, indent=1))
    result = wikigr("replay", "r.json", "--pack", str(physics_pack))
    crosses = [line for line in result.out.splitlines() if line.startswith("✗")]
    assert result.code == 1
    assert crosses[0] == "✗ receipt: changed since it was written: its own digest differs"
    assert crosses[1].endswith("the quote moved to Louis de Broglie#3 [0:104]")
    assert result.out.splitlines()[-1].startswith("3 of ")
    found = json.loads(wikigr("replay", "r.json", "--pack", str(physics_pack), "--json").out)
    assert (found["schema_version"], found["passed"], found["count"], found["held"]) == (1, False, 1, 0)
    (one,) = found["receipts"]
    assert one["pack"]["found"] == "--pack"
    assert [c["name"] for c in one["checks"] if not c["passed"]] == ["receipt", "citation [1]", "asked again"]


def test_the_pack_is_found(
    wikigr: Wikigr, physics_pack: Path, asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = wikigr("replay", "r.json")
    assert (missing.code, missing.out) == (4, "")
    assert "--pack" in missing.err
    assert wikigr("replay", "r.json", "--pack", "nowhere").code == 4
    monkeypatch.setenv("WIKIGR_PACK", str(physics_pack))
    assert f"Pack: {physics_pack} (WIKIGR_PACK or the settings)" in wikigr("replay", "r.json").out
    installed = tmp_path / "data" / "wikigr" / "packs" / "physics"
    shutil.copytree(physics_pack, installed)
    monkeypatch.setenv("WIKIGR_PACK", "nowhere")
    result = wikigr("replay", "r.json")
    assert (result.code, f"Pack: {installed} (installed)" in result.out) == (0, True)


def test_a_batch_gives_a_line_each_abstentions_included(wikigr: Wikigr, physics_pack: Path, no_model: None) -> None:
    questions = [json.dumps({"id": f"q{n}", "question": text}) for n, text in enumerate((QUESTION, UNKNOWN, QUESTION))]
    arguments = ("--batch", "-", "--pack", str(physics_pack), "--offline", "--receipt", "many.jsonl")
    asked = wikigr("ask", *arguments, stdin="\n".join(questions))
    answers = [json.loads(line) for line in asked.out.splitlines()]
    receipts = [json.loads(line) for line in Path("many.jsonl").read_text().splitlines()]
    assert [(r["id"], r["answer"], r["abstained"]) for r in receipts] == [
        (a["id"], a["answer"], a["abstained"]) for a in answers
    ]
    assert [r["abstained"] for r in receipts] == [False, True, False]
    result = wikigr("replay", "many.jsonl", "--pack", str(physics_pack))
    assert result.code == 0
    assert result.out.splitlines() == [
        f"✓ q0: {QUESTION}",
        f"✓ q1: {UNKNOWN}",
        f"✓ q2: {QUESTION}",
        "3 of 3 receipts hold.",
        f"Pack: {physics_pack} (--pack)",
    ]
    receipts[1]["question"] = QUESTION
    Path("many.jsonl").write_text("\n\n".join(json.dumps(r) for r in receipts))
    result = wikigr("replay", "many.jsonl", "--pack", str(physics_pack))
    assert result.code == 1
    assert result.out.splitlines()[1] == f"✗ q1: {QUESTION} — receipt, asked again"
    assert "2 of 3 receipts hold." in result.out
    found = json.loads(wikigr("replay", "many.jsonl", "--pack", str(physics_pack), "--json").out)
    assert [(r["line"], r["id"], r["passed"]) for r in found["receipts"]] == [
        (1, "q0", True),
        (3, "q1", False),
        (5, "q2", True),
    ]
    Path("many.jsonl").write_text(f"{json.dumps(receipts[0])}\n{json.dumps(receipts[0])}\n{{}}\n")
    broken = wikigr("replay", "many.jsonl", "--pack", str(physics_pack))
    assert (broken.code, "Line 3 of many.jsonl is not a wikigr receipt" in broken.err) == (2, True)


def test_a_receipt_is_what_json_prints(wikigr: Wikigr, physics_pack: Path, asked: Path) -> None:
    result = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--json", "--receipt", "j.json")
    shown, kept, plain = json.loads(result.out), json.loads(Path("j.json").read_text()), json.loads(asked.read_text())
    assert list(kept) == [*shown, "receipt", "sha256"]
    same = ("question", "answer", "query_type", "confidence", "pack", "usage", "degraded", "warnings", "span", "chain")
    assert [shown[key] for key in same] == [kept[key] for key in same] == [plain[key] for key in same]


def test_a_model_answer_is_checked_without_the_model(
    wikigr: Wikigr, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    messages_server.always(reply("Davisson and Germer measured the wavelength of electrons in 1927 [1]."))
    flags = ("--model", "some-local-model", "--profile", "enhanced", "--stream")
    result = wikigr("ask", QUESTION, "--pack", str(physics_pack), *flags, "--receipt", "m.json")
    assert result.code == 0, result.err
    document = json.loads(Path("m.json").read_text())
    assert document["query_type"] == "synthesis" and document["receipt"]["model_server"] == messages_server.url
    assert KEY.encode() not in Path("m.json").read_bytes()
    messages_server.close()
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name)
    result = wikigr("replay", "m.json", "--pack", str(physics_pack))
    assert result.code == 0, result.out
    assert "– asked again: not done, because the answer depends on a model: some-local-model" in result.out


def test_the_receipts_of_a_batch_that_a_budget_or_a_server_ends(
    wikigr: Wikigr, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    messages_server.always(reply("Nobody knows.", usage={"input_tokens": 1000, "output_tokens": 100}))
    arguments = ("ask", "--batch", "-", "--pack", str(physics_pack), "--receipt", "many.jsonl")
    stopped = wikigr(*arguments, "--max-cost", "0.08", stdin=f"{QUESTION}\n" * 9)
    assert stopped.code == 3
    kept = Path("many.jsonl").read_text().splitlines()
    assert len(kept) == len(stopped.out.splitlines()) > 0
    messages_server.script(status(400, "no"), reply("Nobody knows."))
    part = wikigr(*arguments, stdin=f"{QUESTION}\n{QUESTION}\n")
    (only,) = map(json.loads, Path("many.jsonl").read_text().splitlines())
    assert (part.code, only["id"]) == (3, "2")
    # What no answer came of leaves an earlier file as it is.
    messages_server.always(status(400, "no"))
    assert wikigr(*arguments, stdin=QUESTION).code == 3
    assert json.loads(Path("many.jsonl").read_text())["id"] == "2"


def test_an_interrupted_batch_leaves_the_receipts_of_its_answers(physics_pack: Path, tmp_path: Path) -> None:
    arguments = ("ask", "--batch", "-", "--pack", str(physics_pack), "--offline", "--receipt", "many.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(2):
        process.stdin.write(f"{QUESTION}\n".encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["question"] == QUESTION
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert len((tmp_path / "many.jsonl").read_text().splitlines()) == 2


def test_an_unwritable_receipt_is_reported_before_the_question_is_asked(
    wikigr: Wikigr, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    Path("q.txt").write_text(QUESTION)
    pack = ("--pack", str(physics_pack))
    for arguments, says in (
        ((QUESTION, "--receipt", "no/such/folder.json"), "does not exist"),
        ((QUESTION, "--receipt", "."), "not a regular file"),
        ((QUESTION, "--receipt", os.devnull), "not a regular file"),
        (("--batch", "q.txt", "--receipt", "q.txt"), "replace the questions"),
        ((QUESTION, "--show-prompt", "--receipt", "r.json"), "--show-prompt"),
    ):
        result = wikigr("ask", *arguments, *pack)
        assert (result.code, result.out) == (2, "")
        assert says in result.err
    assert messages_server.requests == []
    assert Path("q.txt").read_text() == QUESTION
    assert not Path("r.json").exists()


def test_wrong_files(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = ("--pack", str(physics_pack))
    Path("answer.json").write_text(wikigr("ask", QUESTION, *pack, "--offline", "--json").out)
    for name in ("none.json", ".", "answer.json", str(physics_pack / "pack.db")):
        result = wikigr("replay", name, *pack)
        assert (result.code, result.out) == (2, ""), name
        assert result.err.startswith("wikigr: ")

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr_cli import answer_log
from wikigr_cli.answer_log import log_files

from ..conftest import Wikigr

BORN = "In which year was Werner Heisenberg born?"
OFF_TOPIC = "Which sauce goes best with grilled asparagus?"


def test_earlier_answers_are_listed_and_shown_as_they_were(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = ("--pack", str(physics_pack), "--offline")
    first, second = (wikigr("ask", question, *pack).out for question in (BORN, OFF_TOPIC))
    listed = wikigr("log").out.splitlines()
    assert [line[:5] for line in listed] == ["  1. ", "  2. "]
    assert listed[0].endswith(f"{OFF_TOPIC}  → Not covered") and listed[1].endswith(f"{BORN}  → 5 December 1901")
    assert len(wikigr("log", "-k", "1").out.splitlines()) == 1
    for number, said, question in ((2, first, BORN), (1, second, OFF_TOPIC)):
        # A log does not have the option --pack, so it names the pack.
        assert wikigr("log", str(number)).out == f"{question}\n\n{said[:-1]}, physics 1.0.0\n"
    document = json.loads(wikigr("log", "2", "--json").out)
    asked = json.loads(wikigr("ask", BORN, *pack, "--json", "--no-log").out)
    assert {key: document[key] for key in ("answer", "citations", "span", "level")} == {
        key: asked[key] for key in ("answer", "citations", "span", "level")
    }
    missing = wikigr("log", "3")
    assert (missing.code, missing.err.startswith("wikigr: The log has no answer 3.")) == (2, True)
    large = str(10**30)
    assert f"The log has no answer {large}." in wikigr("log", large).err
    assert wikigr("log", "--clear").out == "Deleted 2 answers.\n"
    assert (wikigr("log").out, wikigr("log").err) == ("", "No answers are kept yet.\n")


def test_only_the_user_may_read_it_and_it_can_be_turned_off(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("ask", BORN, "--pack", str(physics_pack), "--offline")
    wikigr(*ask, "--no-log")
    monkeypatch.setenv("WIKIGR_ASK_LOG", "0")
    wikigr(*ask)
    wikigr("ask", "--batch", "-", *ask[2:], stdin=BORN)
    latest, _ = log_files()
    assert not latest.exists()
    monkeypatch.delenv("WIKIGR_ASK_LOG")
    wikigr(*ask)
    assert latest.stat().st_mode & 0o777 == 0o600 and latest.parent.stat().st_mode & 0o077 == 0
    latest.chmod(0o644)
    wikigr(*ask)
    assert latest.stat().st_mode & 0o777 == 0o600
    # A link that somebody put there is not followed, and the answer is printed all the same.
    other = latest.with_name("other")
    latest.unlink()
    latest.symlink_to(other)
    result = wikigr(*ask)
    assert (result.code, other.exists(), "1901" in result.out) == (0, False, True)
    assert result.err.startswith("The answer is not kept for `wikigr log`: ")


def test_the_log_stays_small_and_keeps_the_latest(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ("ask", "--pack", str(physics_pack), "--offline", "--max-sentences", "1")
    wikigr(*ask, BORN)
    limit = 3 * log_files()[0].stat().st_size
    monkeypatch.setattr(answer_log, "FILE_LIMIT", limit)
    for number in range(6):
        wikigr(*ask, BORN, f"({number})")
    assert [file.stat().st_size <= limit for file in log_files()] == [True, True]
    kept = [answer["question"] for answer in json.loads(wikigr("log", "--json").out)["answers"]]
    assert 2 <= len(kept) < 6 and kept == [f"{BORN} ({number})" for number in range(5, 5 - len(kept), -1)]
    # A line that a full disk has cut.
    with log_files()[0].open("ab") as file:
        file.write(b'{"question": "cut')
    assert wikigr("log", "1").out.startswith(f"{BORN} (5)\n")


def test_answers_of_processes_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    variables = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    program = (
        "from wikigr_cli.answer_log import keep_answer as keep\nfor n in range(99): keep({'question': 99 * str(n)})"
    )
    running = [subprocess.Popen([sys.executable, "-c", program], env=variables) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    lines = (tmp_path / "wikigr" / "answers.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["question"] for line in lines) == sorted(2 * [str(n) * 99 for n in range(99)])

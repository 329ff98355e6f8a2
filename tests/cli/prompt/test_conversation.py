"""A conversation with the demo pack: questions, and every command of the prompt."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.possible_answers import BOHR, answer_everything

from wikigr.errors import PackError, UsageError
from wikigr_cli.ask_session import AskSession
from wikigr_cli.prompt.conversation import COMMANDS

from ..conftest import Wikigr
from ..terminal import environment_of, in_terminal, widest
from .conftest import OFFLINE, Converse

QUESTION = "Who measured the wavelength of the electron?"
OFF_TOPIC = "Which sauce goes best with grilled asparagus?"


def test_a_question_is_answered_as_by_the_command(converse: Converse, physics_pack: Path) -> None:
    shown = in_terminal("ask", QUESTION, "--pack", str(physics_pack), "--offline")
    talk = converse()
    assert talk.say(QUESTION) == (shown.out, shown.err)
    assert talk.say("  ") == ("", "")
    # The second question needs nothing of the first one.
    other = "In which year was Werner Heisenberg born?"
    assert talk.say(other)[0] == in_terminal("ask", other, "--pack", str(physics_pack), "--offline").out


def test_why_is_about_the_last_answer(converse: Converse, physics_pack: Path) -> None:
    talk = converse()
    talk.say(QUESTION)
    for title, argument in (("Louis de Broglie", ""), ("Spin", "spin")):
        shown = in_terminal("why", QUESTION, title, "--pack", str(physics_pack), "--offline")
        assert talk.say(f"/why {argument}") == (shown.out, "")
    assert "Did you mean" in talk.say("/why Heisenberg uncertainty")[1]
    talk.say(OFF_TOPIC)
    # Without an answer, the best section that was read.
    assert "stage" in talk.say("/why")[0]


def test_explain_cuts_sentences_between_words(converse: Converse, physics_pack: Path) -> None:
    talk = converse(COLUMNS="200")
    assert "Sections\n" not in talk.say(QUESTION)[0]
    seen = talk.say("/explain")[0]
    assert "Sections\n" in seen and "Sentences\n" in seen
    texts = [line.strip() for line in seen.split("Sentences\n")[1].splitlines()[1::2]]
    longer = [line for line in texts if line.endswith(" …")]
    assert longer and all(len(line) <= 100 for line in texts)
    document = in_terminal("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--explain", "--json").out
    whole = [" ".join(sentence["text"].split()) for sentence in json.loads(document)["explain"]["sentences"]]
    # The blank before the ellipsis follows a whole word.
    assert all(any(text.startswith(line.removesuffix("…")) for text in whole) for line in longer)


def test_open_shows_the_quotation(converse: Converse) -> None:
    talk = converse(NO_COLOR="", TERM="xterm")
    talk.say(QUESTION)
    seen, _ = talk.say("/open 1")
    assert "Louis de Broglie › Proof and prize" in seen
    assert seen.count("\x1b[7m") >= 1 and seen.split("\x1b[7m")[1].startswith("The Davisson–Germer experiment")
    assert "Spin › Discovery" in talk.say("/open spin#1")[0]


def test_open_knows_the_numbers_of_the_other_possible_answers(
    converse: Converse, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_everything(monkeypatch, "likely")
    talk = converse()
    out, _ = talk.say(QUESTION)
    assert out == in_terminal("ask", QUESTION, "-p", str(physics_pack), "--offline").out
    assert "\nOther possible answers\n  [2] Niels Bohr › Introduction" in out
    assert BOHR in " ".join(talk.say("/open 2")[0].split())
    assert "has no citation 4" in talk.say("/open 4")[1]


def test_open_shows_the_address_in_the_browser(
    converse: Converse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser.py"
    browser.write_text(f"import sys\nopen({str(tmp_path / 'url')!r}, 'w').write(sys.argv[1])\n")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {browser} %s")
    monkeypatch.setattr("webbrowser._tryorder", None)
    talk = converse()
    talk.say(QUESTION)
    assert "Opened file://" in talk.say("/open 1 browser")[1]
    assert (tmp_path / "url").read_text() == talk.conversation.citations[0].url


def test_mistakes_are_explained_and_the_conversation_goes_on(converse: Converse) -> None:
    talk = converse()
    for line, says in (
        ("/open 1", "There is no answer from this pack yet."),
        ("/why", "There is no answer from this pack yet."),
        ("/explain", "There is no answer from this pack yet."),
        ("/open", "Which citation?"),
        ("/profle fast", "Did you mean /profile?"),
        ("/zzz", "/help lists the commands."),
        ("/profile fsat", "fast"),
        ("/pack nope", "There is no pack 'nope'"),
        ("/open Heisenberg uncertainty", "Did you mean"),
        ("/", "There is no command /."),
    ):
        out, err = talk.say(line)
        assert out == "" and says in err
        assert talk.conversation.profile == "enhanced"
    assert "Davisson–Germer" in talk.say(QUESTION)[0]
    assert "has no citation 9" in talk.say("/open 9")[1]
    assert "has no citation 111" in talk.say(f"/open {'1' * 5000}")[1]
    assert "cannot be opened in 'phone'" in talk.say("/open 1 phone")[1]


def test_the_profile_changes(converse: Converse) -> None:
    talk = converse()
    talk.say(QUESTION)
    assert talk.say("/profile fast") == ("", "Profile fast.\n")
    assert talk.conversation.profile == "fast"
    listed = talk.say("/profile")[0]
    assert "\n* fast           Fewer articles, ranked once\n" in listed and "  baseline       One article" in listed
    # The last answer stays.
    assert talk.say("/why")[0].startswith("Louis de Broglie#3") or "Louis de Broglie" in talk.say("/why")[0]


def test_the_pack_changes(converse: Converse, letters_pack: Path) -> None:
    talk = converse()
    talk.say(QUESTION)
    assert talk.say(f"/pack {letters_pack}") == ("", "letters 1.0.0: 3 articles, 4 sections\n")
    assert "There is no answer from this pack yet." in talk.say("/open 1")[1]
    assert "Beta is the second letter." in talk.say("What is Beta?")[0]
    assert "* letters\n" in talk.say("/pack")[0]


def test_several_packs_are_asked_as_one(converse: Converse, physics_pack: Path, letters_pack: Path) -> None:
    talk = converse()
    said = talk.say(f"/pack '{physics_pack}' '{letters_pack}'")
    assert said[1].endswith("53 articles, 241 sections\n")
    assert "letters: Beta#" in talk.say("What is Beta?")[0]
    assert "Beta is the second letter." in talk.say("/open 1")[0]
    assert "Spin › Discovery" in talk.say("/open spin#1")[0]
    assert talk.say("/why Beta")[0].startswith("Beta: The answer quotes it")
    assert "Nothing in the pack is called" in talk.say("/open Heisenberg uncertainty")[1]
    assert "No closing quotation" in talk.say("/pack 'physics")[1]


def test_help_names_every_command_and_fits(converse: Converse) -> None:
    shown = converse().say("/help")[0]
    assert [name for name in COMMANDS if f"/{name}" not in shown] == []
    assert widest(shown) <= 80


def test_help_and_quit_need_no_prefix(converse: Converse) -> None:
    talk = converse()
    assert talk.say("help") == talk.say("?") == talk.say("/help")
    assert "Ctrl-D leaves" in talk.say("help")[0]
    assert not any(talk.conversation.handle(line) for line in ("/quit", "exit", "quit", "Q"))


def test_answers_are_saved_and_the_screen_is_cleared(converse: Converse, tmp_path: Path) -> None:
    talk = converse()
    target = tmp_path / "notes.md"
    assert "There is no answer yet." in talk.say(f"/save {target}")[1]
    talk.say(QUESTION)
    assert "Example: /save notes.md" in talk.say("/save")[1]
    assert " ".join(talk.say(f"/save {target}")[1].split()) == f"Wrote {target}: 1 answer."
    talk.say(OFF_TOPIC)
    assert " ".join(talk.say(f"/save {target}")[1].split()) == f"Replaced {target}: 2 answers."
    saved = target.read_text(encoding="utf-8")
    assert [line[3:] for line in saved.splitlines() if line.startswith("## ")] == [QUESTION, OFF_TOPIC]
    mine = tmp_path / "mine.md"
    mine.write_text("My notes.")
    assert "exists already" in talk.say(f"/save {mine}")[1] and mine.read_text() == "My notes."
    assert talk.say("clear") == talk.say("/clear") == ("\x1b[H\x1b[2J\x1b[3J", "")


def test_a_pack_or_profile_that_cannot_be_opened_is_an_error(private: Path, physics_pack: Path) -> None:
    environment, _, _ = environment_of(80)
    with pytest.raises(PackError):
        AskSession(environment, [str(private / "none")], "enhanced", OFFLINE)
    with pytest.raises(UsageError):
        AskSession(environment, [str(physics_pack)], "no-such", OFFLINE)


def test_a_damaged_pack_is_reported_and_the_conversation_goes_on(
    converse: Converse, physics_pack: Path, tmp_path: Path
) -> None:
    pack = shutil.copytree(physics_pack, tmp_path / "damaged")
    talk = converse()
    (pack / "manifest.json").write_text("{}")
    said = " ".join(talk.say(f"/pack {pack}")[1].split())
    assert "is not the manifest of a wikigr pack" in said
    assert "Davisson–Germer" in talk.say(QUESTION)[0]


def test_without_a_terminal_a_question_is_needed(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("ask", "--pack", str(physics_pack), stdin=QUESTION)
    assert (result.code, result.out) == (2, "")
    assert "--batch" in result.err


def test_a_question_may_refer_to_the_last_ones(converse: Converse, physics_pack: Path, letters_pack: Path) -> None:
    talk = converse()
    assert "Understood" not in talk.say("In which year was Werner Heisenberg born?")[0]
    resolved = "When did Werner Heisenberg die?"
    out = talk.say("and when did he die?")[0]
    assert out.startswith(f"Understood as: {resolved}\n\n")
    assert out.endswith(in_terminal("ask", resolved, "--pack", str(physics_pack), "--offline").out)
    out, err = talk.say("When did she die?")
    assert out == "" and "refers to something that was not named: 'she'" in err
    # The refused question changes nothing, and another subject does not hide the last person.
    talk.say("What is spin?")
    assert talk.say("Where was he born?")[0].startswith("Understood as: Where was Werner Heisenberg born?\n")
    # What was asked of another pack is forgotten.
    talk.say(f"/pack {letters_pack}")
    assert "Understood" not in talk.say("Where was he born?")[0]

"""`wikigr open`: the pager is a real program, and so is the browser."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from ..conftest import Wikigr
from ..terminal import in_terminal

SECTION = "Louis de Broglie#3"
QUOTE = "measured the wavelength of electrons"


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    """The file in which the pager and the browser of these tests write what they are given."""
    return tmp_path / "seen"


@pytest.fixture
def pager(tmp_path: Path, seen: Path) -> str:
    script = tmp_path / "pager.py"
    script.write_text(f"import sys\nopen({str(seen)!r}, 'wb').write(sys.stdin.buffer.read())\n")
    return f"{sys.executable} {script}"


@pytest.fixture
def browser(tmp_path: Path, seen: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "browser.py"
    script.write_text(f"import sys\nopen({str(seen)!r}, 'w').write(sys.argv[1])\n")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    # The module reads BROWSER once, when it is first used.
    monkeypatch.setattr("webbrowser._tryorder", None)
    return seen


def test_without_a_terminal_the_text_is_printed(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = str(physics_pack)
    assert wikigr("open", SECTION, "-p", pack, "--quote", QUOTE).out == wikigr("show", SECTION, "-p", pack).out
    article = wikigr("open", "spin", "-p", pack).out
    sections = json.loads(wikigr("show", "spin", "-p", pack, "--json").out)["sections"]
    assert [heading for section in sections[1:] if (heading := f"## {section['section']}") not in article] == []


def test_the_pager_gets_the_section_with_the_quotation_highlighted(physics_pack: Path, pager: str, seen: Path) -> None:
    shown = in_terminal(
        "open", SECTION, "-p", str(physics_pack), "--quote", QUOTE, columns=60, NO_COLOR="", TERM="xterm", PAGER=pager
    )
    assert (shown.code, shown.out, shown.err) == (0, "", "")
    text = seen.read_text(encoding="utf-8")
    highlighted = [part.split("\x1b[0m")[0] for part in text.split("\x1b[7m")[1:]]
    assert " ".join(highlighted) == QUOTE
    assert text.startswith("\x1b[1mLouis de Broglie › Proof and prize\x1b[0m\n")
    # Not every pager hides the addresses of links.
    assert "\x1b]8" not in text


def test_the_white_space_of_a_quotation_may_differ(physics_pack: Path, pager: str, seen: Path) -> None:
    options = {"columns": 300, "NO_COLOR": "", "TERM": "xterm", "PAGER": pager}
    quote = "measured  the\nwavelength"
    in_terminal("open", SECTION, "-p", str(physics_pack), "--quote", quote, **options)  # type: ignore[arg-type]
    assert "\x1b[7mmeasured the wavelength\x1b[0m of" in seen.read_text(encoding="utf-8")
    missing = in_terminal("open", SECTION, "-p", str(physics_pack), "--quote", "no such words", **options)  # type: ignore[arg-type]
    assert missing.err == "The text does not contain the quotation.\n"
    assert "\x1b[7m" not in seen.read_text(encoding="utf-8")


def test_a_pager_that_does_not_start_is_named_and_the_text_is_printed(physics_pack: Path) -> None:
    shown = in_terminal("open", SECTION, "-p", str(physics_pack), TERM="xterm", PAGER="no-such-pager -x")
    assert shown.code == 0
    assert "Cannot start the pager 'no-such-pager'" in shown.err
    assert "Davisson–Germer" in shown.out


@pytest.mark.parametrize(("pager", "note"), [('less "', "Cannot read PAGER"), ("   ", "")])
def test_a_pager_that_is_no_command_is_replaced(
    physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pager: str, note: str
) -> None:
    less = tmp_path / "less"
    less.write_text(f"#!/bin/sh\ncat >{tmp_path / 'seen'}\n")
    less.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    shown = in_terminal("open", SECTION, "-p", str(physics_pack), TERM="xterm", PAGER=pager, PATH=os.environ["PATH"])
    assert (shown.code, note in shown.err) == (0, True)
    assert QUOTE in (tmp_path / "seen").read_text()


def test_the_browser_gets_the_source_file(wikigr: Wikigr, physics_pack: Path, browser: Path) -> None:
    result = wikigr("open", SECTION, "-p", str(physics_pack), "--browser", "--quote", QUOTE)
    assert result.code == 0, result.err
    url = json.loads(wikigr("show", SECTION, "-p", str(physics_pack), "--json").out)["url"]
    assert browser.read_text() == url
    assert result.err == f"Opened {url}\n"
    assert Path(unquote(url.removeprefix("file://").partition("#")[0])).is_file()


def test_a_web_page_is_opened_at_the_quotation(wikigr: Wikigr, tmp_path: Path, browser: Path) -> None:
    text = "It is red - and it turns in both directions, which took some thirty years of work."
    record = {"id": "1", "title": "Lever", "text": text, "url": "https://w.example/lever"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    assert wikigr("pack", "build", "a.jsonl", "-o", "p").code == 0
    assert wikigr("open", "Lever#0", "-p", "p", "--browser", "--quote", text).code == 0
    start, end = "It%20is%20red%20%2D", "thirty%20years%20of%20work."
    assert browser.read_text() == f"https://w.example/lever#:~:text={start},{end}"
    assert wikigr("open", "Lever", "-p", "p", "--browser").code == 0
    assert browser.read_text() == "https://w.example/lever"


def test_without_an_address_there_is_nothing_for_a_browser(wikigr: Wikigr, tmp_path: Path, browser: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Lever\n\nThe lever is red.\n")
    assert wikigr("pack", "build", "notes", "-o", "p").code == 0
    (tmp_path / "notes" / "a.md").unlink()
    result = wikigr("open", "Lever#0", "-p", "p", "--browser")
    assert result.code == 3
    assert "no address" in result.err and "Its source is a.md, which is not on this machine." in result.err
    assert not browser.exists()


def test_an_empty_quotation_is_wrong_usage(wikigr: Wikigr, physics_pack: Path) -> None:
    assert wikigr("open", SECTION, "-p", str(physics_pack), "--quote", " ").code == 2

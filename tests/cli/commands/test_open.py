"""`wikigr open`: the text with its quotation, and a real program in the place of the browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from ..conftest import Wikigr
from ..terminal import in_terminal

SECTION = "Louis de Broglie#3"
QUOTE = "measured the wavelength of electrons"


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the browser writes the address that it is given."""
    script = tmp_path / "browser.py"
    script.write_text(f"import sys\nopen({str(tmp_path / 'seen')!r}, 'w').write(sys.argv[1])\n")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    # The module reads BROWSER once, when it is first used.
    monkeypatch.setattr("webbrowser._tryorder", None)
    return tmp_path / "seen"


def test_without_color_the_text_is_what_show_prints(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = str(physics_pack)
    assert wikigr("open", SECTION, "-p", pack, "--quote", QUOTE).out == wikigr("show", SECTION, "-p", pack).out
    article = wikigr("open", "spin", "-p", pack).out
    sections = json.loads(wikigr("show", "spin", "-p", pack, "--json").out)["sections"]
    assert [heading for section in sections[1:] if (heading := f"## {section['section']}") not in article] == []


@pytest.mark.parametrize(
    ("quote", "highlighted"),
    [
        (QUOTE, QUOTE),
        ("measured  the\nwavelength", "measured the wavelength"),
        ("measured .he wavelength", ""),
        ("no such words", ""),
    ],
)
def test_a_quotation_is_highlighted_whatever_its_white_space(physics_pack: Path, quote: str, highlighted: str) -> None:
    shown = in_terminal(
        "open", SECTION, "-p", str(physics_pack), "--quote", quote, columns=300, NO_COLOR="", TERM="xterm"
    )
    assert [part.split("\x1b[0m")[0] for part in shown.out.split("\x1b[7m")[1:]] == (
        [highlighted] if highlighted else []
    )
    assert shown.err == ("" if highlighted else "The text does not contain the quotation.\n")


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

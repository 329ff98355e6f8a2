"""The language that is given, stated or detected."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.language_detection import find_language
from wikigr.ingest.parsing import read_source
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent
from wikigr.sources.detect import open_source

GERMAN = "Die Mühle am Bach wurde im Mai eröffnet, und der Müller wohnt seitdem im Haus daneben mit seinen Kindern. "
ENGLISH = "The mill by the brook was opened in May, and the miller has lived in the house next to it since then. "
CODE = "struct node *next = list_head(&queue); if (next == NULL) return -EINVAL; mutex_unlock(&queue->lock); "


class Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.mark.parametrize(
    ("texts", "lang", "code"),
    [
        ([GERMAN] * 20, "en", "de"),
        ([GERMAN] * 19 + [ENGLISH], "en", "de"),
        ([GERMAN] * 16 + [ENGLISH] * 4, "en", "en"),
        ([ENGLISH] * 20, "en", "en"),
        ([CODE] * 20, "en", "en"),
        # Only English is what templates state for no reason.
        ([ENGLISH] * 20, "de", "de"),
    ],
)
def test_text_contradicts_the_english_of_a_template(tmp_path: Path, texts: list[str], lang: str, code: str) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number, text in enumerate(texts):
        page = f'<html lang="{lang}"><title>Page {number}</title><body><p>{text * 3} {number}</p></body></html>'
        (folder / f"{number:02}.html").write_text(page)
    notes = Notes()
    assert found(folder, tmp_path, notes) == code
    assert ("although the source states 'en'" in notes.notes[0]) == (code == "de" and lang == "en")
    notes = Notes()
    assert found(folder, tmp_path, notes, wanted="eo") == "eo"
    first, missing, lost = notes.notes
    assert first == "Language: eo (eo), as --language says."
    assert "nothing of the language 'eo'" in missing and "English only" in lost


def found(folder: Path, tmp_path: Path, notes: Notes, *, wanted: str | None = None) -> str:
    source, staging = open_source(folder), Staging.begin(tmp_path / "staging")
    read_source(source, staging, limit=None, keep_going=False, progress=notes, engine=LocalEngine())
    language = find_language(wanted, source, staging, notes)
    staging.close()
    return language.code


def digest(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


NOISE = {
    "hex": "\n".join(f"- `{digest(number)}` disk{number:03}.img" for number in range(60)),
    "dump": "```\n" + "\n".join(" ".join(digest(n)[i : i + 2] for i in range(0, 32, 2)) for n in range(60)) + "\n```",
    "rows": "| Nr | EAN | a | b |\n|---|---|---|---|\n"
    + "\n".join(f"| Q-{n:04} | {int(digest(n)[:10], 16)} | {n / 7:.2f} | {n / 3:.2f} |" for n in range(80)),
    "code": f"```c\n{(CODE + chr(10)) * 30}```",
    "log": "\n".join(
        f"2024-05-{n:02} 10:{n:02} eth0 rx={n * 77} tx={n * 31} 0x{digest(n)[:12]}" for n in range(10, 60)
    ),
    "numbers": "\n\n".join(" ".join(str(n * k) for k in range(1, 12)) for n in range(30)),
}
TEXTS = {
    "en": "The night shift begins at ten. Call Dora Reed if the pump stops.",
    "de": "Die Nachtschicht beginnt um zehn. Bitte rufen Sie Frau Roth an, wenn die Pumpe nicht läuft.",
    "fr": "L'équipe de nuit commence à dix heures. Appelez Madame Roux si la pompe ne marche pas.",
    "es": "El turno de noche empieza a las diez. Llame a la señora Ríos si la bomba se para.",
}


@pytest.mark.parametrize(
    ("code", "noise"),
    [("en", ["hex", "dump"]), ("de", ["rows"]), ("fr", ["code", "numbers"]), ("es", ["log", "hex", "rows"])],
)
def test_records_without_a_language_do_not_vote(tmp_path: Path, code: str, noise: list[str]) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "shift.md").write_text(f"# Shift\n\n{TEXTS[code]}\n", encoding="utf-8")
    for name in noise:
        for copy in range(3):
            (folder / f"{name}{copy}.md").write_text(f"# {name} {copy}\n\n{NOISE[name]}\n", encoding="utf-8")
    notes = Notes()
    assert found(folder, tmp_path, notes) == code
    assert notes.notes[0].startswith("Language: ") and f"({code})" in notes.notes[0]
    assert any("whole passages" in note for note in notes.notes) == (code != "en")


def test_many_short_notes_are_judged_together(tmp_path: Path) -> None:
    texts = {
        "en": ("Oil monthly.", "Drain yearly.", "Replace the filter.", "Gasket optional.", "Colour grey."),
        "de": ("Monatlich ölen.", "Jährlich entleeren.", "Filter tauschen.", "Dichtung prüfen.", "Farbe grau."),
    }
    for code, lines in texts.items():
        folder = tmp_path / code
        folder.mkdir()
        for number, line in enumerate(lines):
            (folder / f"{number}.md").write_text(f"# PX-{number}\n\n{line} PX-{number} 6.0\n", encoding="utf-8")
        assert found(folder, tmp_path, Notes()) == code


def test_a_source_without_words_is_taken_for_english(tmp_path: Path) -> None:
    folder = tmp_path / "numbers"
    folder.mkdir()
    (folder / "a.md").write_text(f"# 1\n\n{NOISE['numbers']}\n")
    notes = Notes()
    assert found(folder, tmp_path, notes) == "en"
    assert notes.notes == ["Language: English (en), because the text has no words of any language."]

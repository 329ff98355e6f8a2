"""The language that is given, stated or detected."""

from __future__ import annotations

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
    source, staging, progress = open_source(folder), Staging(tmp_path / "staging"), Notes()
    read_source(source, staging, limit=None, keep_going=False, progress=progress, engine=LocalEngine())
    assert find_language(None, source, staging, progress).code == code
    assert bool(progress.notes) == (code == "de" and lang == "en")
    progress.notes.clear()
    assert find_language("eo", source, staging, progress).code == "eo"
    (note,) = progress.notes
    assert "nothing of the language 'eo'" in note
    staging.close()

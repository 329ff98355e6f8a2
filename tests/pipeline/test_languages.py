"""Packs in other languages than English, from the source to the answer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from libzim.writer import Creator  # type: ignore[import-untyped]

from wikigr.errors import PackError, UsageError
from wikigr.pack.joined import open_packs
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.retrieval.trace import Trace
from wikigr.sources.detect import open_source

BRIDGE = """# Die Norderbrücke

Die Norderbrücke führt über die Leine. Sie wurde am 3. Mai 1911 eröffnet. Zwei Jahre lang bauten vierzig Arbeiter an den
Pfeilern, z. B. im Winter unter Zelten.

## Gebühren

Wer mit einem Fuhrwerk über die Brücke fuhr, zahlte zehn Pfennige. Fußgänger zahlten nichts.
"""
MILL = """# Die Wassermühle

Die Mühle am Bach mahlt seit langer Zeit Getreide. Der Müller wohnt im Haus daneben. Besucher sind an Sonntagen
willkommen, und die Kinder dürfen die Enten füttern.
"""
CHINESE = """# 北京的桥

这座桥建于一九一一年，横跨永定河。桥上禁止通行大型车辆。行人可以免费通过。

# 水磨

水磨每天磨面粉。
"""


def test_a_german_folder_is_recognized_and_answered_in_sentences(build: Callable[..., Path]) -> None:
    location = build("german", {"bridge.md": BRIDGE, "mill.md": MILL})
    with Pack(str(location)) as pack:
        assert pack.language.name == "German"
        pipeline = Pipeline(Profile(), pack, offline=True)
        answer = pipeline.answer("Wann wurde die Norderbrücke eröffnet?")
        assert "3. Mai 1911" in answer.text
        # The levels were measured on English answers, and the reader reads English.
        assert answer.level in ("likely", "not_sure") and answer.reader is None
        # Another form of the words: "Fuhrwerke", "zahlen".
        found = pipeline.search("Was zahlen Fuhrwerke?", top_k=1)
        assert found[0].section.heading == "Gebühren"
        assert pipeline.answer("Wer komponierte die neunte Sinfonie?").abstained
    # The stored index is compared with one that is made anew.
    assert [check for check in validate_pack(str(location)) if not check.passed] == []


GERMAN_FAQ = """# Häufige Fragen

## Was ist diese Sammlung?

Diese Sammlung beantwortet Fragen zur Brücke und zur Mühle. Die Bürger der Stadt haben sie gestellt.

## Verfasser

Die erste Fassung der Sammlung wurde von Ines Roth betreut. Später kam Karim Haddad dazu, der sie ergänzte.

## Wohin gehen die Gebühren?

Die Gebühren gehen an die Stadt. Sie bezahlt davon die Arbeiter.
"""


@pytest.fixture(scope="module")
def german(build: Callable[..., Path]) -> Path:
    """A pack whose language is given. Tests only read it."""
    return build("german", {"faq.md": GERMAN_FAQ, "bridge.md": BRIDGE}, language="de")


def test_vectors_of_an_english_encoder_are_not_used_in_another_language(german: Path) -> None:
    with Pack(str(german)) as pack:
        pipeline = Pipeline(Profile(), pack, offline=True)
        trace = Trace()
        draft = pipeline.read(pipeline.retrieve("Wohin gehen die Gebühren der Brücke?", trace), trace)
        assert "vector" not in vars(draft.state.question)
        assert any(answer.kind == "pair" for answer in draft.answers)


def test_chinese_words_are_found_without_spaces(build: Callable[..., Path]) -> None:
    location = build("chinese", {"a.md": CHINESE}, language="zh")
    with Pack(str(location)) as pack:
        answer = Pipeline(Profile(), pack, offline=True).answer("行人可以免费通过桥吗？")
        assert "行人可以免费通过。" in answer.text


def test_an_english_pack_states_no_language_and_is_not_joined_with_others(
    build: Callable[..., Path], german: Path
) -> None:
    # What looks like front matter in the text states nothing.
    text = "This is a text about the bridge that was built in the last year of it.\n\nlang: nl\n"
    english = build("english", {"a.md": f"# A\n\n{text * 3}"})
    assert "language" not in json.loads((english / "manifest.json").read_text())
    with pytest.raises(UsageError, match="different languages: English, German"):
        open_packs([str(german), str(english)])


def test_a_manifest_with_a_wrong_language_is_damaged(german: Path, tmp_path: Path) -> None:
    location = shutil.copytree(german, tmp_path / "german")
    file = location / "manifest.json"
    file.write_text(file.read_text().replace('"language": "de"', '"language": "../x"'))
    with pytest.raises(PackError, match="language"):
        Pack(str(location))


def test_front_matter_states_the_language(build: Callable[..., Path]) -> None:
    with Pack(str(build("p", {"a.md": "---\nlang: nl\ntags: [x]\n---\n# A\n\nText.\n"}))) as pack:
        assert pack.language.code == "nl"


def test_html_zim_and_dumps_state_the_language(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    for number in range(3):
        head = '<!DOCTYPE html>\n<html class="x" lang="fr-CA">' if number else "<html>"
        (tmp_path / "h" / f"{number}.html").write_text(f"{head}<body><p>Text</p></body></html>")
    assert open_source(tmp_path / "h").stated_language() == "fr"  # type: ignore[attr-defined]
    dump = tmp_path / "dump.xml"
    dump.write_text(
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="bg"></mediawiki>'
    )
    assert open_source(dump).stated_language() == "bg"  # type: ignore[attr-defined]
    archive = tmp_path / "a.zim"
    with Creator(archive).config_indexing(False, "deu") as creator:
        creator.set_mainpath("x")
        creator.add_metadata("Language", "deu,eng")
    assert open_source(archive).stated_language() == "deu"  # type: ignore[attr-defined]

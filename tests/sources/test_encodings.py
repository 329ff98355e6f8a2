"""The encodings of files that declare none."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import RecordError
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source
from wikigr.sources.encodings import decode, detect_encoding

TEXTS = [
    ("水泵手册\n\n水泵的压力为六巴，重量为二十四公斤。\n", "gbk"),
    ("水泵手冊\n\n水泵的壓力為六巴，重量為二十四公斤。\n", "big5"),
    ("ポンプの重さは二十四キロです。\n", "shift_jis"),
    ("ポンプの重さは二十四キロです。\n", "euc_jp"),
    ("펌프의 무게는 이십사 킬로그램입니다.\n", "euc_kr"),
    ("Насос весит двадцать четыре килограмма.\n", "cp1251"),
    ("Насос весит двадцать четыре килограмма.\n", "koi8-r"),
    ("Η αντλία ζυγίζει είκοσι τέσσερα κιλά.\n", "cp1253"),
    ("Pompa waży dwadzieścia cztery kilogramy i działa pod ciśnieniem.\n", "cp1250"),
    ("Die Pumpe wiegt 24 kg – „groß“ heißt über 20 kg, der Preis ist 350 €.\n", "cp1252"),
    ("Pumpe;Preis\nMühle;3 €\n", "cp1252"),
    # Few words of other scripts are not taken for those of the West.
    ("名前,年\n山田太郎,45\n鈴木花子,50\n", "shift_jis"),
    ("Όνομα,Πόλη\nΓιώργος,Αθήνα\n", "cp1253"),
    ("이름,나이\n김철수,45\n", "euc_kr"),
    ("The pump weighs 24 kg.\nIt runs at 6 bar.\n", "utf-16-le"),
    ("Насос весит 24 кг.\n", "utf-16"),
    ("Die Pumpe wiegt 24 kg – groß.\n", "utf-8"),
]


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
def test_the_text_is_what_was_written(text: str, encoding: str) -> None:
    assert decode("note.txt", text.encode(encoding)) == text


@pytest.mark.parametrize("name", ["pump.md", "pump.txt", "pump.rst", "pump.html"])
@pytest.mark.parametrize(("text", "encoding"), [TEXTS[0], TEXTS[5], TEXTS[9]])
def test_documents_are_read_in_their_encoding(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    (tmp_path / name).write_bytes((f"<html><p>{text}" if name.endswith("html") else text).encode(encoding))
    source = open_source(tmp_path)
    (item,) = (item for record in source.records() for item in source.parse(record))
    assert isinstance(item, SourceArticle)
    assert text.split()[-1] in item.sections[0].text


def test_a_declaration_and_good_utf_8_are_obeyed() -> None:
    assert decode("a", "\ufeffgroß".encode()) == "groß"
    assert detect_encoding("größer als ß".encode() + b"\xff") is None
    assert detect_encoding(b"plain") is None


def test_the_letters_of_a_long_file_may_come_late() -> None:
    text = "A line of a log without any accent.\n" * 20_000 + "Die Mühle ist außer Betrieb, der Müller auch.\n"
    assert decode("log.txt", text.encode("cp1252")).endswith("Die Mühle ist außer Betrieb, der Müller auch.\n")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", bytes(range(128, 256)) * 3])
def test_what_is_no_text_is_named(data: bytes) -> None:
    with pytest.raises(RecordError, match=r"a\.txt, line 1: invalid "):
        decode("a.txt", data)

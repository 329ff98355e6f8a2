from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from tests.tampering import accept_changes

from wikigr.errors import PackError
from wikigr.index.lexical import LexicalIndex
from wikigr_cli.commands.search import FIELDS

from ..conftest import Wikigr
from ..terminal import in_terminal, widest


@pytest.mark.parametrize("options", [(), ("--mode", "dense"), ("--mode", "lexical")])
def test_every_mode_finds_the_article(wikigr: Wikigr, physics_pack: Path, options: tuple[str, ...]) -> None:
    result = wikigr("search", "superconductivity", "--pack", str(physics_pack), "--top-k", "3", "--json", *options)
    document = json.loads(result.out)
    assert document["schema_version"] == 1
    assert [r["rank"] for r in document["results"]] == [1, 2, 3]
    assert document["results"][0]["title"] == "Superconductivity"
    assert set(document["results"][0]) >= {"rank", "title", "section_id", "section", "source_id", "score", "content"}
    scores = [r["score"] for r in document["results"]]
    assert scores == sorted(scores, reverse=True)
    assert document["timings"]["total_ms"] > 0


def test_text_output_is_a_heading_a_snippet_and_an_address_for_each_result(wikigr: Wikigr, physics_pack: Path) -> None:
    lines = wikigr("search", "spin", "--pack", str(physics_pack), "-k", "2").out.splitlines()
    assert lines[0].startswith("  1. ")
    second = next(number for number, line in enumerate(lines) if line.startswith("  2. "))
    # A heading, a snippet of one line or of the rows that match, and an address.
    assert second >= 3 and len(lines) >= second + 3
    assert [lines[second - 1].strip(), lines[-1].strip()] == addresses(wikigr, physics_pack, "spin")


def addresses(wikigr: Wikigr, pack: Path, question: str) -> list[str]:
    document = json.loads(wikigr("search", question, "--pack", str(pack), "-k", "2", "--json").out)
    urls = [result["url"] for result in document["results"]]
    assert all(re.fullmatch(r"file:///.*/packs/physics/articles/[a-z-]+\.md(#[\w-]+)?", url) for url in urls)
    return urls


def test_a_terminal_opens_a_result_on_a_click(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("search", "spin", "--pack", str(physics_pack), "-k", "2")
    shown = in_terminal(*arguments, NO_COLOR="", TERM="xterm-256color").out
    links = re.findall("\x1b]8;;(.*?)\x1b\\\\", shown)
    first, second = addresses(wikigr, physics_pack, "spin")
    # The title and the address of each result, and what ends each link.
    assert links == [first, "", first, "", second, "", second, ""]
    for no_color, term in (("", ""), ("", "dumb"), ("", "linux"), ("1", "xterm")):
        assert "\x1b]8" not in in_terminal(*arguments, NO_COLOR=no_color, TERM=term).out


def test_the_document_names_its_pack_and_every_field(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("spin", "--pack", str(physics_pack), "--json")
    document = json.loads(wikigr("search", *arguments, "-k", "1").out)
    assert document["pack"] == json.loads(wikigr("ask", *arguments, "--offline").out)["pack"]
    assert tuple(document["results"][0]) == FIELDS


def test_in_a_terminal_words_of_the_question_stand_out(physics_pack: Path) -> None:
    question = "how was the electron wavelength measured"
    arguments = ("search", question, "--pack", str(physics_pack), "-k", "4")
    plain = in_terminal(*arguments)
    assert "\x1b" not in plain.out and widest(plain.out) <= 80
    colored = in_terminal(*arguments, NO_COLOR="").out
    bold = [word for word in re.findall("\x1b\\[1m(.*?)\x1b\\[0m", colored) if " " not in word]
    # By stem, and not the words that every section has.
    assert {"electrons", "wavelength", "measured"} <= set(bold) and not {"was", "the", "how"} & set(bold)
    assert re.sub("\x1b\\[\\d+m", "", colored) == plain.out
    snippets = [line.strip() for line in plain.out.splitlines() if line.startswith("     ")]
    # The section begins elsewhere: the snippet is the part that matches.
    assert any(line.startswith("… ") for line in snippets)


@pytest.mark.parametrize(
    ("output_format", "fields", "expected"),
    [
        ("csv", "rank,title", ["rank,title", "1,Superconductivity"]),
        ("jsonl", "title,rank", ['{"title": "Superconductivity", "rank": 1}']),
        ("md", "rank,title", ["| rank | title |", "| --- | --- |", "| 1 | [Superconductivity](<ADDRESS>) |"]),
    ],
)
def test_fields_in_every_format(
    wikigr: Wikigr, physics_pack: Path, output_format: str, fields: str, expected: list[str]
) -> None:
    arguments = ("search", "superconductivity", "--pack", str(physics_pack), "-k", "1")
    result = wikigr(*arguments, "--format", output_format, "--fields", fields)
    lines = [re.sub(r"<file://.*>", "<ADDRESS>", line) for line in result.out.splitlines()]
    assert (result.code, lines) == (0, expected)
    document = json.loads(wikigr(*arguments, "--json", "--fields", fields).out)
    assert [list(row) for row in document["results"]] == [fields.split(",")]


def test_formats_without_fields(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("search", "superconductivity", "--pack", str(physics_pack), "-k", "2")
    document = json.loads(wikigr(*arguments, "--json").out)
    rows = list(csv.DictReader(io.StringIO(wikigr(*arguments, "--format", "csv").out)))
    assert [row["content"] for row in rows] == [result["content"] for result in document["results"]]
    lines = [json.loads(line) for line in wikigr(*arguments, "--format", "jsonl").out.splitlines()]
    assert lines == document["results"]
    markdown = wikigr(*arguments, "--format", "md").out.splitlines()
    assert len(markdown) == 4
    assert markdown[0].startswith("1. [Superconductivity › ")
    assert f"](<{document['results'][0]['url']}>)" in markdown[0]
    assert wikigr(*arguments, "--format", "text").out == wikigr(*arguments).out


def test_a_flag_precedes_the_format_of_the_variables(
    wikigr: Wikigr, physics_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKIGR_SEARCH_FORMAT", "csv")
    arguments = ("search", "laser", "--pack", str(physics_pack), "-k", "1")
    assert wikigr(*arguments).out.startswith("rank,title,")
    assert json.loads(wikigr(*arguments, "--json").out)["results"]


def test_a_batch_names_a_question_that_fails_and_goes_on(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    """Regression: one damaged posting list ended the batch with a traceback of a Rust panic and exit code 1."""
    pack = shutil.copytree(physics_pack, tmp_path / "damaged")
    _damage_postings(pack / "lexical", damaged="spin", whole="laser")
    accept_changes(pack)
    result = wikigr("search", "--mode", "lexical", "--batch", "-", "--pack", str(pack), stdin="laser\nspin\nlaser\n")
    assert result.code == 3
    first, second, third = (json.loads(line) for line in result.out.splitlines())
    assert first["results"]
    assert (second["id"], second["question"]) == ("2", "spin")
    assert second["error"].startswith("The lexical index of ")
    assert third["results"] == first["results"]
    assert "question 2: The lexical index of " in result.err
    assert "1 of the questions could not be answered" in result.err
    alone = wikigr("search", "spin", "--mode", "lexical", "--pack", str(pack))
    assert (alone.code, alone.out) == (4, "")
    assert " cannot be read" in alone.err


def _damage_postings(folder: Path, *, damaged: str, whole: str) -> None:
    """Flip a bit of the postings so that ``damaged`` can no longer be searched, but ``whole`` can."""
    (file,) = folder.glob("*.idx")
    good = file.read_bytes()
    for place in range(len(good)):
        # A new file, because the old one is mapped into memory.
        file.unlink()
        file.write_bytes(good[:place] + bytes([good[place] ^ 0x80]) + good[place + 1 :])
        try:
            LexicalIndex(folder).search(whole, 10)
        except PackError:
            continue
        try:
            LexicalIndex(folder).search(damaged, 10)
        except PackError as error:
            assert type(error.__cause__).__name__ == "PanicException"
            return
    pytest.fail(f"no flip damages {damaged!r} only")


def test_a_batch_has_the_fields_too(wikigr: Wikigr, physics_pack: Path) -> None:
    arguments = ("search", "--batch", "-", "--pack", str(physics_pack), "-k", "1", "--fields", "title")
    (line,) = wikigr(*arguments, stdin="laser\n").out.splitlines()
    assert [list(row) for row in json.loads(line)["results"]] == [["title"]]

"""The registry of source formats: its rows agree with the readers and with what depends on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import UsageError
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.open import Pack
from wikigr.sources import detect, formats
from wikigr.sources.detect import detect_format, open_source
from wikigr.sources.formats import (
    FOLDER,
    FORMAT_NAMES,
    FORMATS,
    LinkTarget,
    SourceFormat,
    format_named,
    recorded_format,
)

DOCS = Path(__file__).parents[2] / "docs"


def test_there_is_one_row_per_format() -> None:
    assert len(set(FORMAT_NAMES)) == len(FORMATS) > 1
    own = [row for row in FORMATS if not (row.name == FOLDER or row.sniffs_own_suffixes)]
    suffixes = [suffix for row in own for suffix in row.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    # A format that its content has to identify shares its suffixes.
    assert {suffix for row in FORMATS if row.sniffs_own_suffixes for suffix in row.suffixes} <= set(suffixes)
    assert sum(row.reads_stdin for row in FORMATS) == 1
    assert [row.name for row in FORMATS if row.links is LinkTarget.TITLE] == ["mediawiki"]


def test_a_new_format_takes_one_file_and_one_row(
    tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = "tests.sources.stanzas:StanzaSource"
    row = SourceFormat("stanzas", "a poem", (".stanza",), LinkTarget.RECORD, reader)
    for module in (formats, detect):
        monkeypatch.setattr(module, "FORMATS", (*FORMATS, row))
        monkeypatch.setattr(module, "FORMAT_NAMES", (*FORMAT_NAMES, row.name))
    poem = tmp_path / "poem.stanza"
    poem.write_text("Sea\nThe sea meets the [Shore].\n\nShore\nThe shore is made of sand.\n")
    assert detect_format(poem) is format_named("stanzas") is row
    build_pack(open_source(poem), str(poem), tmp_path / "pack", encoder, BuildOptions(name="poem"))
    with Pack(tmp_path / "pack") as pack:
        assert pack.manifest.source["format"] == "stanzas"
        links = pack.graph.rows("MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.title, b.title")
        assert [tuple(link) for link in links] == [("Sea", "Shore")]
        assert pack.lexical.search("sand", 1)[0].section_id == "Shore#0"


def test_a_folder_has_the_suffixes_of_all_documents() -> None:
    assert list(format_named(FOLDER).suffixes) == [
        suffix for row in FORMATS if row.converter for suffix in row.suffixes
    ]


@pytest.mark.parametrize("name", ["notes", "mixed"])
def test_a_format_of_earlier_releases_is_known_in_packs_only(name: str) -> None:
    assert recorded_format(name) is format_named(FOLDER)
    with pytest.raises(UsageError, match=f"{name!r} is called 'folder' now") as caught:
        format_named(name)
    assert caught.value.hint == "Use --source-format folder."


@pytest.mark.parametrize("row", FORMATS, ids=FORMAT_NAMES)
def test_the_reader_reports_the_name_of_its_row(row: SourceFormat, tmp_path: Path) -> None:
    assert row.open(tmp_path / "source").format == row.name


@pytest.mark.parametrize(
    "row",
    [row for row in FORMATS if not (row.content_decides or row.name == FOLDER or row.sniffs_own_suffixes)],
    ids=lambda row: row.name,
)
def test_every_suffix_is_detected(row: SourceFormat, tmp_path: Path) -> None:
    assert row.suffixes
    for suffix in row.suffixes:
        path = tmp_path / f"SOURCE{suffix.upper()}"
        path.write_text("x", encoding="utf-8")
        assert detect_format(path).name == row.name


def test_names_may_have_the_suffix_of_a_compression() -> None:
    assert format_named("triples").has_suffix("graph.tsv.gz")
    assert format_named("rdf").has_suffix("graph.NT.XZ")
    assert format_named("html").has_suffix("page.html.gz")
    assert not format_named("html").has_suffix("page.html.zip")


def test_an_unknown_name_lists_the_formats() -> None:
    with pytest.raises(UsageError, match=re.escape(f"no source format 'pdf'. Formats: {', '.join(FORMAT_NAMES)}")):
        format_named("pdf")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("md", "markdown"), ("txt", "text"), ("wiki", "mediawiki"), ("RDFF", "rdf"), ("docx", "office"), ("x", None)],
)
def test_an_unknown_name_gets_a_suggestion(name: str, meant: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        format_named(name)
    assert caught.value.hint == (f"Did you mean {meant!r}?" if meant else None)


def test_the_reference_lists_every_format() -> None:
    page = (DOCS / "reference/formats.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(FORMAT_NAMES)

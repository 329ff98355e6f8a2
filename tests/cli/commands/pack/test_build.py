"""``wikigr pack build``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import find_prepared

from ...conftest import ROOT_PACK, Wikigr


def test_a_rebuilt_pack_keeps_its_metadata(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    build = ("pack", "build", "notes.jsonl", "-o", "p")
    fields = ("name", "version", "description", "license")

    def built(*labels: str) -> tuple[str, ...]:
        assert wikigr(*build, *labels).code == 0
        info = json.loads(wikigr("pack", "info", "p", "--json").out)
        return tuple(info[field] for field in fields)

    assert built() == ("p", "1.0.0", "", "")
    given = ("--name", "letters", "--pack-version", "2.1.0", "--description", "All letters", "--license", "CC0-1.0")
    assert built(*given) == ("letters", "2.1.0", "All letters", "CC0-1.0")
    assert built() == ("letters", "2.1.0", "All letters", "CC0-1.0")
    assert built("--pack-version", "3.0.0", "--description", "") == ("letters", "3.0.0", "", "CC0-1.0")
    (tmp_path / "p" / "manifest.json").write_text('{"wikigr_version": "0.0"}')
    lost = wikigr(*build)
    assert (lost.code, "are lost" in lost.err) == (0, True)
    assert json.loads(wikigr("pack", "info", "p", "--json").out)["name"] == "p"


def test_bad_records_stop_a_build_or_are_left_out(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "graph.tsv").write_text("Mira Holt\tborn_in\tVarnstad\nMira Holt\tspouse\nBen\temployer\tAcme")
    stopped = wikigr("pack", "build", "graph.tsv", "-o", "g")
    assert (stopped.code, "--keep-going" in stopped.err) == (3, True)
    assert "graph.tsv, line 2: expected subject, relation and object, found 2 columns" in stopped.err
    built = json.loads(wikigr("pack", "build", "graph.tsv", "-o", "g", "--keep-going", "--json").out)
    assert [bad["where"] for bad in built["bad_records"]] == ["graph.tsv, line 2"]
    answer = json.loads(wikigr("ask", "Where was Mira Holt born?", "--pack", "g", "--json").out)
    assert answer["answer"].startswith("Mira Holt — born in: Varnstad.")


def test_stages_are_printed_on_stderr_and_silenced_by_q(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    build = ("pack", "build", "notes.jsonl", "-o", "p")
    assert "embedding:" in wikigr(*build).err
    assert wikigr("-q", *build).err == ""


def test_a_bundle_has_the_reader_and_only_what_belongs_to_it(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoder: Embedder
) -> None:
    prepared = find_prepared(encoder.identity.model_id).folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    copy = shutil.copytree(prepared, tmp_path / "cache" / "wikigr" / "models" / prepared.name)
    for path in copy.glob("reader.*"):
        path.unlink()
    (copy / ".unfinished-1").mkdir()
    (copy / ".unfinished-1" / "reader.onnx").write_bytes(b"unfinished")
    note = {"id": "e", "title": "Albert Einstein", "text": "Albert Einstein was born in Ulm. He died in Princeton."}
    (tmp_path / "notes.jsonl").write_text(json.dumps(note))
    assert wikigr("pack", "build", "notes.jsonl", "-o", "p", "--bundle-encoder").code == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty-cache"))
    asked = wikigr("ask", "Where was Albert Einstein born?", "--pack", "p", "--json")
    assert asked.code == 0, asked.err
    assert "Ulm" in json.loads(asked.out)["span"]["text"]
    assert sorted(path.name for path in (tmp_path / "p" / "encoder").iterdir()) == [
        "encoder.json", "model.onnx", "model.onnx.data", "reader.json", "reader.onnx", "reader.onnx.data",
        "tokenizer.json",
    ]  # fmt: skip


def test_bundling_the_encoder_of_another_pack_leaves_that_pack_alone(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    build = ("pack", "build", "notes.jsonl", "--bundle-encoder", "-o")
    assert wikigr(*build, "one").code == 0
    for path in (tmp_path / "one" / "encoder").glob("reader.*"):
        path.unlink()
    assert wikigr(*build, "two", "--embedding-model", "one/encoder").code == 0
    assert not list(tmp_path.glob("*/encoder/reader.*"))
    assert wikigr("pack", "validate", "two").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nothing.xml", "-o", "p"), 2, "nothing.xml"),
        (("empty", "-o", "p"), 3, ""),
        ((str(ROOT_PACK / "articles"), "-o", "file"), 2, "is a file"),
        ((str(ROOT_PACK / "articles"), "-o", "p", "--source-format", "docx"), 2, "mediawiki"),
        ((str(ROOT_PACK / "articles"), "-o", "p", "--embedding-model", "no/such-model"), 3, "no/such-model"),
        ((str(ROOT_PACK / "articles"),), 2, "-o"),
    ],
)
def test_mistakes_in_a_build(
    wikigr: Wikigr, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    result = wikigr("pack", "build", *arguments)
    assert result.code == code
    assert message in result.err
    assert not (tmp_path / "p" / "manifest.json").exists()


def test_a_pack_is_not_built_among_the_notes(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nThe letter A.\n")
    refused = wikigr("pack", "build", "notes", "-o", "notes")
    assert (refused.code, refused.out) == (2, "")
    assert "is the folder of the source" in refused.err and "wikigr pack build notes -o notes-pack" in refused.err
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]


def test_files_that_are_not_read_are_counted_and_named(wikigr: Wikigr, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nThe pump is made of steel.\n")
    (notes / "tank.md").write_text("# Tank\n\nThe tank holds water.\n")
    build = ("pack", "build", "notes", "-o", "p")
    assert "Not read" not in wikigr(*build).err
    (notes / "graph.ttl").write_text("<a> <b> <c> .\n")
    assert "Not read: 1 file of another format (graph.ttl); give the file itself instead" in wikigr(*build).err
    (notes / "graph.ttl").unlink()
    for name in ("cryo.html.gz", "a.odg", "b.odg", "c.png", "README.rst"):
        (notes / name).write_bytes(b"x")
    noted = wikigr(*build, "--source-format", "markdown").err
    assert "Not read: 1 file of another format (cryo.html.gz); --source-format chooses another one.\n" in noted
    assert "Not read: 3 files that no format reads (2 .odg, 1 .png).\n" in noted
    assert wikigr("-q", *build, "--source-format", "markdown").err == ""
    for number in range(4):
        (notes / f"{number}.rst").write_text("text")
    built = json.loads(wikigr(*build, "--source-format", "markdown", "--json").out)
    assert [(row["suffix"], row["files"]) for row in built["not_read"]] == [
        (".rst", 4), (".odg", 2), (".html.gz", 1), (".png", 1),
    ]  # fmt: skip
    noted = wikigr(*build, "--source-format", "markdown").err
    assert "Not read: 5 files of other formats (4 .rst, such as 0.rst; 1 .html.gz, such as cryo.html.gz);" in noted


def test_links_out_of_the_source_are_not_followed(wikigr: Wikigr, tmp_path: Path) -> None:
    notes, secret = tmp_path / "notes", tmp_path / "secret"
    notes.mkdir()
    secret.mkdir()
    (notes / "pump.md").write_text("# Pump\n\nThe pump is made of steel.\n")
    (secret / "key.md").write_text("# Key\n\nThe key is 1234.\n")
    (notes / "linked.md").symlink_to(secret / "key.md")
    (notes / "folder").symlink_to(secret)
    (notes / "inside.md").symlink_to(notes / "pump.md")
    built = wikigr("pack", "build", "notes", "-o", "p", "--json")
    document = json.loads(built.out)
    assert (document["counts"]["articles"], document["not_followed"]) == (2, ["folder", "linked.md"])
    noted = wikigr("pack", "build", "notes", "-o", "p").err
    assert "Not followed: 2 links that lead out of the folder (folder, linked.md); --follow-links reads them." in noted
    followed = json.loads(wikigr("pack", "build", "notes", "-o", "p", "--follow-links", "--json").out)
    assert followed["not_followed"] == [] and followed["counts"]["articles"] == 4
    updated = wikigr("pack", "update", "--pack", "p", "--from", "notes", "--force")
    assert updated.code == 0, updated.err
    assert json.loads(wikigr("pack", "info", "-p", "p", "--json").out)["counts"]["articles"] == 2


@pytest.mark.parametrize("name", [".wikigr", ".wikigr/staging.sqlite", ".wikigr/new"])
def test_a_build_does_not_write_through_links(wikigr: Wikigr, tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.jsonl").write_text('{"title": "A", "text": "Alpha is a letter."}\n')
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep")
    link = tmp_path / "p" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(precious / "file" if link.suffix else precious)
    refused = wikigr("pack", "build", "notes.jsonl", "-o", "p")
    assert refused.code == 3 and f"{name} is a link, so a build would change what it leads to." in refused.err
    assert (precious / "file").read_text() == "keep" and list(precious.iterdir()) == [precious / "file"]


def test_an_invalid_version_is_refused(wikigr: Wikigr, letters_copy: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    for version in ("old", "0.1", "v1.0.0", "1.0/../../zz", ""):
        for command in (("build", "notes.jsonl", "-o", "p"), ("update", str(letters_copy), "--from", "notes.jsonl")):
            refused = wikigr("pack", *command, "--pack-version", version)
            assert (refused.code, refused.out, "not a semantic version" in refused.err) == (2, "", True), version
    assert not (tmp_path / "p").exists()

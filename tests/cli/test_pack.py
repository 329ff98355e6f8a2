from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from .conftest import ROOT_PACK, Wikigr


def test_build_info_list_validate(wikigr: Wikigr, tmp_path: Path) -> None:
    built = wikigr("pack", "build", str(ROOT_PACK / "articles"), "-o", "packs/p", "--limit", "4", "--json")
    assert built.code == 0
    document = json.loads(built.out)
    assert document["counts"]["articles"] == 4
    info = json.loads(wikigr("pack", "info", "packs/p", "--json").out)
    assert (info["name"], info["digest"]) == ("p", document["digest"])
    assert "4 articles" in wikigr("pack", "info", "packs/p").out
    listed = json.loads(wikigr("pack", "list", "--json").out)
    assert [(pack["name"], pack["installed_as"]) for pack in listed["packs"]] == [("p", None)]
    assert wikigr("pack", "list", "packs").out.split()[0] == "name"
    checked = wikigr("pack", "validate", "packs/p")
    assert checked.code == 0
    assert "FAILED" not in checked.out


def test_a_pack_that_is_built_again_keeps_what_it_is_called(wikigr: Wikigr, tmp_path: Path) -> None:
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


def test_a_graph_of_triples_is_built_and_answers(wikigr: Wikigr, tmp_path: Path) -> None:
    rows = [
        "Mira Holt\tborn_in\tVarnstad",
        "Varnstad\tlocated_in\tOrlandia",
        "Mira Holt\tspouse",
        "Ben\temployer\tAcme",
    ]
    (tmp_path / "graph.tsv").write_text("\n".join(rows))
    stopped = wikigr("pack", "build", "graph.tsv", "-o", "g")
    assert (stopped.code, "line 3: 2 columns" in stopped.err, "--keep-going" in stopped.err) == (3, True, True)
    built = wikigr("pack", "build", "graph.tsv", "-o", "g", "--keep-going", "--json")
    assert built.code == 0, built.err
    assert json.loads(built.out)["counts"]["triples"] == 3
    assert wikigr("pack", "validate", "g").code == 0
    answer = json.loads(wikigr("ask", "Where was Mira Holt born?", "--pack", "g", "--json").out)
    assert answer["answer"].startswith("Mira Holt — born in: Varnstad.")
    turtle = "@prefix e: <http://e.org/> . e:Mira_Holt e:bornIn e:Varnstad ."
    (tmp_path / "graph.data").write_text(turtle)
    assert wikigr("pack", "build", "graph.data", "-o", "r", "--format", "rdf").code == 0
    assert "graph.data (rdf)" in wikigr("pack", "info", "r").out


def test_stages_are_told_on_stderr_and_silenced_by_q(wikigr: Wikigr) -> None:
    build = ("pack", "build", str(ROOT_PACK / "articles"), "-o", "p", "--limit", "2")
    assert "embedding:" in wikigr(*build).err
    assert wikigr("-q", *build).err == ""


def test_a_bundled_encoder_answers_without_any_other(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = wikigr("pack", "build", str(ROOT_PACK / "articles"), "-o", "p", "--bundle-encoder", "--limit", "5")
    assert built.code == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty-cache"))
    assert wikigr("search", "Bell", "--pack", "p").code == 0


def changed(pack: Path, copy: Path, field: str, value: object) -> Path:
    shutil.copytree(pack, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest[field] = value
    (copy / "manifest.json").write_text(json.dumps(manifest))
    return copy


def test_a_manifest_that_lies_is_found(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    counts = json.loads((physics_pack / "manifest.json").read_text())["counts"]
    copy = changed(physics_pack, tmp_path / "copy", "counts", {**counts, "sections": counts["sections"] + 1})
    result = wikigr("pack", "validate", str(copy))
    assert result.code == 4
    assert "FAILED sections" in result.out


@pytest.mark.parametrize("place", [0, 4096, 40_960, 400_000])
def test_a_damaged_database_is_found_before_the_engine_reads_it(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, place: int
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    with (copy / "pack.db").open("r+b") as database:
        database.seek(place)
        database.write(b"\xa5" * 64)
    result = wikigr("pack", "validate", str(copy))
    assert result.code == 4
    assert "FAILED pack.db" in result.out


def test_a_part_that_is_gone_is_found(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    (copy / "pagerank_cache.json").unlink()
    assert "FAILED pagerank_cache.json: is missing" in wikigr("pack", "validate", str(copy)).out


@pytest.mark.parametrize(
    ("field", "value"),
    [("counts", None), ("counts", {"articles": "x"}), ("thresholds", {"abstention": "x"}), ("storage_version", True),
     ("encoder", {"model_id": 1}), ("files", {"pack.db": 3}), ("name", 5)],
)  # fmt: skip
def test_a_garbled_manifest_is_a_clear_error(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, field: str, value: object
) -> None:
    copy = changed(physics_pack, tmp_path / "copy", field, value)
    for command in (("pack", "info", str(copy)), ("ask", "What is spin?", "--pack", str(copy))):
        result = wikigr(*command)
        assert result.code == 4
        assert "garbles a field" in result.err


def test_one_bad_pack_does_not_hide_the_others(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    shutil.copytree(physics_pack, tmp_path / "all" / "good")
    (tmp_path / "all" / "bad").mkdir()
    (tmp_path / "all" / "bad" / "manifest.json").write_text("{")
    result = wikigr("pack", "list", "all")
    assert result.code == 0
    assert "physics" in result.out
    assert "bad" in result.err


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda pack: (pack / "manifest.json").write_text("{"), "cannot be read"),
        (lambda pack: (pack / "manifest.json").write_text("[]"), "no manifest"),
        (lambda pack: (pack / "manifest.json").write_text('{"format_version": 99}'), "format 99"),
        (lambda pack: (pack / "manifest.json").write_text('{"format_version": 1}'), "lacks or garbles"),
        (lambda pack: (pack / "pack.db").unlink(), "no database"),
        (lambda pack: (pack / "pack.db").write_bytes(b"not a database" * 1000), "Cannot open the database"),
        (lambda pack: shutil.rmtree(pack / "lexical"), "lexical index"),
    ],
)
def test_a_damaged_pack_is_a_clear_error(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, damage: object, message: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    assert callable(damage)
    damage(copy)
    result = wikigr("ask", "What is spin?", "--pack", str(copy))
    assert result.code == 4
    assert message in result.err
    assert "Traceback" not in result.err


def test_another_encoder_is_refused(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(physics_pack, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["encoder"]["weights_sha256"] = "0" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest))
    result = wikigr("ask", "What is spin?", "--pack", str(copy))
    assert result.code == 4
    assert "cannot be compared" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nothing.xml", "-o", "p"), 3, "nothing.xml"),
        (("empty", "-o", "p"), 3, ""),
        ((str(ROOT_PACK / "articles"), "-o", "file"), 2, "is a file"),
        ((str(ROOT_PACK / "articles"), "-o", "p", "--format", "docx"), 2, "mediawiki"),
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


@pytest.mark.parametrize("version", ["old", "0.1", "v1.0.0", "1.0/../../zz", ""])
def test_a_version_that_is_none_is_refused_where_it_is_given(wikigr: Wikigr, tmp_path: Path, version: str) -> None:
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "title": "Alpha", "text": "Alpha is a letter."}\n')
    build = ("pack", "build", "notes.jsonl", "-o", "p")
    refused = wikigr(*build, "--pack-version", version)
    assert (refused.code, "no semantic version" in refused.err, (tmp_path / "p").exists()) == (2, True, False)
    assert wikigr(*build).code == 0
    refused = wikigr("pack", "update", "p", "--from", "notes.jsonl", "--pack-version", version)
    assert (refused.code, refused.out, "no semantic version" in refused.err) == (2, "", True)


def test_a_pack_of_a_version_that_is_none_answers_but_travels_no_further(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path
) -> None:
    old = str(changed(physics_pack, tmp_path / "old", "version", "1.0/../../zz"))
    assert wikigr("ask", "What is spin?", "--pack", old, "--offline").code == 0
    checked = wikigr("pack", "validate", old)
    assert (checked.code, "FAILED version: '1.0/../../zz' is no semantic version" in checked.out) == (4, True)
    for command in (("export", old, "-o", "out.wikigr"), ("export", old), ("install", old)):
        refused = wikigr("pack", *command)
        assert (refused.code, refused.out, "no semantic version" in refused.err) == (4, "", True)
    assert not list(tmp_path.glob("*.wikigr"))
    told = wikigr("pack", "diff", str(changed(physics_pack, tmp_path / "new", "license", "CC0-1.0")), old)
    assert "The version stated, 1.0/../../zz, is no semantic version." in told.out

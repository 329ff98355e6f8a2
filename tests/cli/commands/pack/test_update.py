"""``wikigr pack diff`` and ``wikigr pack update`` in a terminal: what they print, write and exit with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.settings import data_folder
from wikigr.sources.detect import open_source

from ...conftest import Wikigr

ALPHA = {"id": "a", "title": "Alpha", "text": "Alpha is the first letter. See Beta.", "links": ["Beta"]}
BETA = {"id": "b", "title": "Beta", "text": "Beta is the second letter."}
GAMMA = {"id": "g", "title": "Gamma", "text": "Gamma is the third letter."}
MORE = [{"id": f"m{n}", "title": f"Letter {n:02}", "text": f"It is number {n}."} for n in range(12)]

Make = Callable[..., Path]
pytestmark = pytest.mark.usefixtures("quick_validation")


def write(path: Path, records: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """Two packs, ``a`` and ``b``, and their sources. Tests copy what they write to."""
    root = tmp_path_factory.mktemp("changes")
    for name, records in (("a", [ALPHA, BETA, GAMMA]), ("b", [dict(ALPHA, text="Alpha is first."), BETA, *MORE])):
        source = write(root / f"{name}.jsonl", records)
        build_pack(open_source(source), str(source), root / name, encoder, BuildOptions(name="letters"))
    return root


def test_diff_prints_the_first_of_each_kind_or_all(wikigr: Wikigr, built: Path) -> None:
    short = wikigr("pack", "diff", str(built / "a"), str(built / "b"))
    assert (short.code, short.err) == (0, "")
    assert "articles added: 12\n  + Letter 00\n" in short.out
    assert "+ Letter 09\n  … and 2 more (--all)\n" in short.out
    assert "articles removed: 1\n  - Gamma\n" in short.out
    assert "articles changed: 1\n  Alpha\n" in short.out
    assert short.out.startswith("letters 1.0.0 → letters 1.0.0\narticles 3 → 14, sections 3 → 14, links 1 → 1, ")
    assert max(map(len, short.out.splitlines())) <= 80
    everything = wikigr("pack", "diff", str(built / "a"), str(built / "b"), "--all").out
    assert "+ Letter 11\n" in everything
    assert "--all" not in everything


def test_diff_as_json_is_complete(wikigr: Wikigr, built: Path) -> None:
    result = wikigr("pack", "diff", str(built / "a"), str(built / "b"), "--json")
    document = json.loads(result.out)
    assert (document["schema_version"], document["differs"]) == (1, True)
    assert len(document["content"]["added"]) == 12
    assert document["content"]["removed"] == [{"title": "Gamma"}]
    assert document["content"]["changed"] == [{"title": "Alpha"}]
    assert (document["a"]["articles"], document["b"]["articles"]) == (3, 14)


@pytest.mark.parametrize(("one", "two", "code"), [("a", "a", 0), ("a", "b", 1), ("b", "a", 1)])
def test_exit_code_reports_a_difference_on_request(wikigr: Wikigr, built: Path, one: str, two: str, code: int) -> None:
    packs = (str(built / one), str(built / two))
    assert wikigr("pack", "diff", *packs).code == 0
    assert wikigr("pack", "diff", *packs, "--exit-code").code == code


def test_packs_with_the_same_content(wikigr: Wikigr, built: Path) -> None:
    assert wikigr("pack", "diff", str(built / "a"), str(built / "a")).out.endswith("The content is the same.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("diff", "{a}", "nowhere"), 4, "nowhere"),
        (("diff", "{a}"), 2, "B"),
        (("update", "nowhere", "--from", "{source}"), 4, "nowhere"),
        (("update", "{a}"), 2, "--from SOURCE"),
        (("update", "{a}", "--from", "none.jsonl"), 2, "none.jsonl"),
        (("update", "{a}", "--from", "{source}", "--source-format", "docx"), 2, "mediawiki"),
        (("update", "{a}", "--from", "{source}", "--pack-version", "0.9.0"), 2, "not higher"),
    ],
)
def test_mistakes(wikigr: Wikigr, built: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    names = {"a": built / "a", "b": built / "b", "source": built / "b.jsonl"}
    result = wikigr("pack", *(argument.format(**names) for argument in arguments))
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_update_writes_the_pack_and_prints_the_changes(wikigr: Wikigr, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "a", tmp_path / "p")
    source = str(write(tmp_path / "new.jsonl", [ALPHA, BETA, dict(GAMMA, text="Gamma is the 3rd letter.")]))
    planned = wikigr("pack", "update", "p", "--from", source, "--dry-run", "--json")
    document = json.loads(planned.out)
    assert (document["updated"], document["dry_run"], document["version"]) == (False, True, "1.0.0")
    told = wikigr("pack", "update", "p", "--from", source, "--dry-run")
    assert "Nothing was written (--dry-run)." in told.err

    done = wikigr("pack", "update", "p", "--from", source, "--pack-version", "1.1.0")
    assert done.code == 0
    assert "articles changed: 1\n  Gamma\n" in done.out
    assert done.out.endswith("p is now version 1.1.0.\n")
    info = json.loads(wikigr("pack", "info", "p", "--json").out)
    assert (info["version"], info["digest"]) == ("1.1.0", document["digest"])
    assert wikigr("pack", "validate", "p").code == 0

    again = wikigr("-q", "pack", "update", "p", "--from", source)
    assert (again.code, again.out, again.err) == (0, "p: nothing changed and nothing was written.\n", "")
    same = json.loads(wikigr("pack", "update", "p", "--from", source, "--json").out)
    assert (same["updated"], same["diff"]["differs"], same["version"], same["build"]) == (False, False, "1.1.0", None)


def test_a_source_that_lacks_most_articles_is_refused(wikigr: Wikigr, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "a", tmp_path / "p")
    source = str(write(tmp_path / "new.jsonl", [ALPHA]))
    refused = wikigr("pack", "update", "p", "--from", source)
    assert (refused.code, refused.out) == (3, "")
    assert "2 of the pack's 3 articles" in refused.err
    assert "--force" in refused.err
    assert wikigr("pack", "update", "p", "--from", source, "--force").code == 0


def test_an_installed_pack_follows_its_publisher(wikigr: Wikigr, built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "a", tmp_path / "published")
    assert wikigr("pack", "install", "published").code == 0
    assert (data_folder() / "packs" / "letters").is_symlink()
    refused = wikigr("pack", "update", "letters", "--from", str(built / "b.jsonl"))
    assert refused.code == 2
    assert "publisher" in refused.err
    assert "cp -RL" in refused.err
    assert wikigr("pack", "update", "letters", "--dry-run").code == 2
    assert "already installed" in wikigr("pack", "update", "letters").out
    source = str(write(tmp_path / "new.jsonl", [ALPHA, BETA, GAMMA, *MORE[:1]]))
    assert wikigr("pack", "update", "published", "--from", source, "--pack-version", "1.1.0").code == 0
    fetched = wikigr("pack", "update", "letters", "--json")
    assert fetched.code == 0, fetched.err
    assert json.loads(fetched.out)["version"] == "1.1.0"
    assert json.loads(wikigr("pack", "info", "letters", "--json").out)["version"] == "1.1.0"


def test_questions_to_begin_with_follow_the_content(wikigr: Wikigr, tmp_path: Path) -> None:
    def starters() -> list[str]:
        return list(json.loads((tmp_path / "pack" / "manifest.json").read_text()).get("starters", []))

    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "gate.md").write_text(
        "# Brass gate\n\nThe Brass gate is a city gate of Orrin, built by Mara Quill in 1871.\n"
    )
    (notes / "tower.md").write_text("# Old tower\n\nThe Old tower is a lighthouse of Orrin, 40 metres high.\n")
    assert wikigr("pack", "build", str(notes), "-o", str(tmp_path / "pack")).code == 0
    assert sorted(starters()) == ["What is Brass gate?", "What is Old tower?"]
    assert wikigr("pack", "verify", str(tmp_path / "pack")).code == 0
    (notes / "tower.md").write_text("# Old mill\n\nThe Old mill is a windmill of Orrin, 12 metres high.\n")
    assert wikigr("pack", "update", str(tmp_path / "pack"), "--from", str(notes)).code == 0
    assert sorted(starters()) == ["What is Brass gate?", "What is Old mill?"]

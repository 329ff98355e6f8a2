"""``wikigr pack make``."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.distribution.file_server import FileServer, serving

from wikigr.distribution import download
from wikigr.distribution.recipes.recipe import list_recipes
from wikigr.settings import cache_folder

from ...conftest import Wikigr

PAGES = {
    "docs-1.0/html/kettle.html": "<title>Kettle</title><h1>Kettle</h1><p>The kettle boils water in three minutes.</p>",
    "docs-1.0/html/pot.html": "<title>Pot</title><h1>Pot</h1><p>The pot holds two liters of tea.</p>",
    "docs-1.0/setup.py": "print()",
}
QUESTION = (
    '{"id": "1", "question": "How fast does the kettle boil water?", "answers": ["three minutes"], '
    '"gold": [{"title": "Kettle"}]}\n'
)
RECORD = b'{"id": "a", "title": "Alpha", "text": "Alpha is the first letter."}\n'


@pytest.fixture
def server(wikigr: Wikigr, own_caches: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server on loopback."""
    monkeypatch.setattr(download, "_FIRST_PAUSE", 0.0)
    with serving() as found:
        yield found


def archive() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in PAGES.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def recipe(source: dict[str, Any], **more: Any) -> str:
    """Write a recipe into the folder ``own`` of the working directory and return its path."""
    folder = Path("own")
    (folder / "eval").mkdir(parents=True, exist_ok=True)
    (folder / "eval" / "questions.jsonl").write_text(QUESTION)
    values = {
        "name": "tea", "version": "1.2.0", "description": "All about tea", "license": "CC-BY-4.0",
        "attribution": "The tea makers", "homepage": "https://example.org/tea", "size_mb": 1, "source": source,
        "questions": "eval/questions.jsonl", **more,
    }  # fmt: skip
    (folder / "recipe.yaml").write_text(yaml.safe_dump(values))
    return "own/recipe.yaml"


def make(wikigr: Wikigr, *arguments: str) -> Any:
    done = wikigr("pack", "make", *arguments, "--jobs", "0", "--allow-private", "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_an_archive_becomes_a_pack_with_license_and_questions(wikigr: Wikigr, server: FileServer) -> None:
    content = archive()
    server.files["/tea.tar.gz"] = content
    url = server.url("/tea.tar.gz")
    own = recipe({"archive": {"url": url, "sha256": sha256(content), "folder": "docs-1.0/html"}})
    document = make(wikigr, own)
    assert (document["pack"], document["counts"]["articles"], document["license"]) == ("packs/tea", 2, "CC-BY-4.0")
    info = json.loads(wikigr("pack", "info", "tea", "--json").out)
    assert (info["name"], info["version"], info["attribution"]) == ("tea", "1.2.0", "The tea makers")
    expected = {"recipe": "tea", "homepage": "https://example.org/tea", "url": url, "sha256": sha256(content)}
    assert info["source"] == {**expected, "name": "html", "format": "html"}
    text = wikigr("pack", "info", "tea").out
    assert "The tea makers" in text
    assert sha256(content) in " ".join(text.split())
    evaluated = wikigr("eval", "run", "--pack", "tea", "--profile", "enhanced", "--offline", "--json")
    assert evaluated.code == 0, evaluated.err
    answer = json.loads(wikigr("ask", "How fast does the kettle boil water?", "--pack", "tea", "--json").out)
    assert "three minutes" in answer["answer"]
    assert answer["citations"][0]["url"].endswith("/docs-1.0/html/kettle.html")

    # The next build needs no server, and keeps the questions that the user changed.
    server.files.clear()
    questions = Path("packs/tea/eval/questions.jsonl")
    assert questions.read_text() == QUESTION
    questions.write_text(QUESTION.replace('"1"', '"2"'))
    assert make(wikigr, own)["reused"] == 2
    assert questions.read_text() == QUESTION.replace('"1"', '"2"')
    # A rebuild and an update from elsewhere keep the attribution.
    Path("more.jsonl").write_bytes(RECORD)
    assert wikigr("pack", "update", "tea", "--from", "more.jsonl", "--force").code == 0
    assert json.loads(wikigr("pack", "info", "tea", "--json").out)["attribution"] == "The tea makers"
    assert wikigr("pack", "build", "more.jsonl", "-o", "packs/tea").code == 0
    assert json.loads(wikigr("pack", "info", "tea", "--json").out)["attribution"] == "The tea makers"
    assert wikigr("pack", "build", "more.jsonl", "-o", "packs/tea", "--attribution", "Ada").code == 0
    rebuilt = json.loads(wikigr("pack", "info", "tea", "--json").out)
    assert (rebuilt["attribution"], rebuilt["source"]) == ("Ada", {"format": "jsonl", "name": "more.jsonl"})


def test_another_file_than_the_recipe_pins_is_not_built(wikigr: Wikigr, server: FileServer) -> None:
    content = archive()
    server.files["/tea.tar.gz"] = content + b"x"
    own = recipe({"archive": {"url": server.url("/tea.tar.gz"), "sha256": sha256(content)}})
    done = wikigr("pack", "make", own, "--allow-private")
    assert done.code == 3
    assert f"its SHA-256 is {sha256(content + b'x')}, not {sha256(content)}" in done.err.replace("\n", " ")
    assert not Path("packs").exists()
    server.files["/tea.tar.gz"] = content
    assert make(wikigr, own)["counts"]["articles"] == 2
    # A kept file that was damaged later is downloaded again.
    kept = cache_folder() / "sources" / sha256(content) / "tea.tar.gz"
    kept.write_bytes(b"damaged")
    assert make(wikigr, own)["reused"] == 2
    assert kept.read_bytes() == content


def test_without_a_pinned_sha256_nothing_is_downloaded(wikigr: Wikigr, server: FileServer) -> None:
    server.files["/letters.jsonl"] = RECORD
    url, checksum = server.url("/letters.jsonl"), "https://example.org/letters.jsonl.sha256"
    own = recipe({"file": {"url": url, "checksum": checksum}}, options={"source_format": "jsonl"})
    done = wikigr("pack", "make", own, "--allow-private")
    message = " ".join(done.err.split())
    assert (done.code, server.requests) == (2, [])
    assert f"states at {checksum}: wikigr pack make {own} --sha256 HEX" in message
    document = make(wikigr, own, "--sha256", sha256(RECORD))
    assert (document["counts"]["articles"], document["source"]["sha256"]) == (1, sha256(RECORD))
    asked = wikigr("ask", "What is tea?", "--pack", "own")
    assert (asked.code, f"wikigr pack make {own} -o own" in asked.err) == (4, True)


def test_a_source_of_the_user_replaces_that_of_the_recipe(wikigr: Wikigr, server: FileServer) -> None:
    content = archive()
    own = recipe({"archive": {"url": server.url("/missing"), "sha256": sha256(content), "folder": "docs-1.0/html"}})
    Path("mine.tar.gz").write_bytes(content)
    document = make(wikigr, own, "--source", "mine.tar.gz")
    assert (document["counts"]["articles"], document["source"]["sha256"]) == (2, sha256(content))
    assert "url" not in document["source"]
    Path("mine.tar.gz").write_bytes(content + b"x")
    assert wikigr("pack", "make", own, "--source", "mine.tar.gz").code == 3
    Path("pages").mkdir()
    Path("pages/kettle.html").write_text(PAGES["docs-1.0/html/kettle.html"])
    assert make(wikigr, own, "--source", "pages")["counts"]["articles"] == 1
    assert wikigr("pack", "make", own, "--source", "pages", "--sha256", "a" * 64).code == 2
    assert wikigr("pack", "make", own, "--source", "nowhere").code == 3
    assert server.requests == []
    Path("pages").rename("own/pages")
    local = recipe({"path": "pages"})
    assert make(wikigr, local)["source"]["recipe"] == "tea"


def test_recipes_are_listed_with_license_and_size(wikigr: Wikigr) -> None:
    document = json.loads(wikigr("pack", "make", "--list", "--json").out)
    recipes = {row["name"]: row for row in document["recipes"]}
    assert sorted(recipes) == [recipe.name for recipe in list_recipes()]
    flask = recipes["flask-docs"]
    assert (flask["license"], flask["size_mb"]) == ("BSD-3-Clause", 1)
    assert flask["source"].endswith("/flask-3.1.3.tar.gz")
    assert "BSD-3-Clause · 1 MB · https://" in wikigr("pack", "make", "--list").out


def test_gold_questions_are_checked_before_the_download(wikigr: Wikigr, server: FileServer) -> None:
    own = recipe({"archive": {"url": server.url("/tea.tar.gz"), "sha256": "a" * 64}})
    Path("own/eval/questions.jsonl").write_text(QUESTION + '{"id": "2", "question": "Why?"}\n')
    done = wikigr("pack", "make", own, "--allow-private")
    assert done.code == 2
    assert "questions.jsonl, line 2" in done.err


def test_a_url_may_end_in_the_name_of_the_folder_of_the_cache(wikigr: Wikigr, server: FileServer) -> None:
    server.files["/unpacked"] = content = archive()
    source = {"url": server.url("/unpacked"), "sha256": sha256(content), "folder": "docs-1.0/html"}
    assert make(wikigr, recipe({"archive": source}))["counts"]["articles"] == 2

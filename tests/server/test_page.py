"""The documents that the page reads, its files, and the source files that it may show."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Build, Running, running
from tests.sources.office.files import Page, pdf

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.server.reading import SECTIONS
from wikigr.sources.detect import open_source

STATIC = Path(__file__).parents[2] / "src" / "wikigr" / "server" / "static"
PAGES = [
    "The harbor of Vessin has three basins.",
    "The crane Berta lifts 45 tonnes.",
    "The pilot answers on channel 12.",
]
# What would parse text as HTML, or run it.
PARSES = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|DOMParser|document\.write|\beval\(|new Function")


def text_of(section: Any) -> str:
    return "\n".join("".join(run["text"] for run in block["runs"]) for block in section["blocks"])


def test_the_page_is_small_and_loads_nothing_from_elsewhere(physics: Running) -> None:
    page = physics.client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-src 'self'" in policy
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir()}
    loaded = set(re.findall(r"/static/([a-z.]+)", page.text)) | set(
        re.findall(r'from "\./([a-z.]+)"', "".join(files.values()))
    )
    assert loaded == files.keys() - {"index.html"}
    for name in loaded:
        response = physics.client.get(f"/static/{name}")
        assert response.status_code == 200 and response.text == files[name], name
        again = physics.client.get(f"/static/{name}", headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert sum(len(text.encode()) for text in files.values()) < 150_000
    assert sum(text.count("\n") for text in files.values()) <= 1_800
    # Text is only ever text.
    for name, text in files.items():
        assert not PARSES.search(text), name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)[a-z]", text), name


def test_an_article_to_read(physics: Running) -> None:
    found = physics.get("/api/read/spin")
    assert (found["title"], found["given_as"], found["source_id"]) == ("Spin", "physics", "spin.md")
    assert [each["heading"] for each in found["outline"]][:2] == ["Introduction", "Discovery"]
    assert [each["section_id"] for each in found["sections"]] == [f"Spin#{n}" for n in range(found["total"])]
    stored = physics.get("/api/sections/Spin%231")["content"]
    assert text_of(found["sections"][1]).split() == stored.split()
    ranks = {
        title: physics.get(f"/api/articles/{title}")["pagerank"] for title in (link["title"] for link in found["links"])
    }
    assert list(ranks.values()) == sorted(ranks.values(), reverse=True) and len(ranks) > 2
    quoted = physics.get("/api/read/Spin", section="Spin#1", start=4, end=20)["sections"][1]
    runs = [run["text"] for block in quoted["blocks"] for run in block["runs"] if run["role"] == "quoted"]
    assert "".join(runs).split() == stored[4:20].split()
    assert physics.client.get("/api/read/Spun%20thing").status_code == 404
    corrected = physics.get("/api/read/Werner Heisenburg")
    assert corrected["title"] == "Werner Heisenberg" and corrected["warnings"]


def test_a_long_article_is_read_in_parts(tmp_path: Path, encoder: Embedder) -> None:
    source = tmp_path / "log.md"
    source.write_text("# Log\n\n" + "".join(f"## Day {n}\n\nThe ship was at mile {n}.\n\n" for n in range(150)))
    build_pack(open_source(source), str(source), tmp_path / "pack", encoder, BuildOptions(name="log"))
    with running(tmp_path / "pack") as server:
        (title,) = (each["title"] for each in server.get("/api/titles")["titles"])
        first = server.get(f"/api/read/{title}")
        assert (first["first"], len(first["sections"])) == (0, SECTIONS) and first["total"] > 2 * SECTIONS
        last = first["total"] - 1
        found = server.get(f"/api/read/{title}", section=f"{title}#{last}")
        assert found["first"] % SECTIONS == 0 and found["sections"][-1]["section_id"] == f"{title}#{last}"
        assert server.get(f"/api/read/{title}", first=10**6)["sections"] == []


def test_titles_in_parts(physics: Running) -> None:
    whole = physics.get("/api/titles", top_k=500)
    titles = [each["title"] for each in whole["titles"]]
    assert len(titles) == whole["total"] == 50 and titles[0] == "Albert Einstein"
    assert [each["title"] for each in physics.get("/api/titles", first=10, top_k=3)["titles"]] == titles[10:13]
    for letter in whole["letters"]:
        assert titles[letter["first"]].upper().startswith(letter["letter"]), letter
    linked = [each["title"] for each in physics.get("/api/titles", order="links", top_k=500)["titles"]]
    assert sorted(linked) == sorted(titles) != linked
    ranks = [physics.get(f"/api/articles/{title}")["pagerank"] for title in linked[:5]]
    assert ranks == sorted(ranks, reverse=True)


def test_titles_are_completed(physics: Running) -> None:
    def complete(text: str) -> tuple[str, list[str]]:
        found = physics.get("/api/titles", text=text)
        return found["ending"], [each["title"] for each in found["titles"]]

    assert complete("wern") == ("wern", ["Werner Heisenberg"])
    assert complete("Who taught heis") == ("heis", ["Werner Heisenberg"])
    assert complete("When was erwin  schro") == ("erwin  schro", ["Erwin Schrödinger"])
    # A title that begins with it comes before one in which a later word does.
    assert complete("quantum")[1][0].startswith("Quantum")
    for nothing in ("Who is", "w", "zzz", "heis?! of the"):
        assert complete(nothing) == ("", [])


def test_titles_of_several_packs(tmp_path: Path, build: Build) -> None:
    names = [("Kettle", "The kettle is made of copper."), ("Äpfel", "Apples.")]
    one, two = (
        build(tmp_path / "one", names),
        build(tmp_path / "two", [("Pan", "A pan."), ("Kettle", "Another kettle.")]),
    )
    with running(one, two) as server:
        both = server.get("/api/titles")
        assert [(each["title"], each["pack"]) for each in both["titles"]] == [
            ("Äpfel", "one"), ("Kettle", "one"), ("Kettle", "two"), ("Pan", "two"),
        ]  # fmt: skip
        assert [letter["letter"] for letter in both["letters"]] == ["A", "K", "P"]
        assert server.get("/api/titles", pack="two")["total"] == 2
        assert server.get("/api/titles", text="kett")["titles"] == [{"title": "Kettle", "pack": "one"}]
        assert server.get("/api/read/Kettle", pack="two")["given_as"] == "two"
        assert server.client.get("/api/titles", params={"text": "x", "pack": "none"}).status_code == 400


def test_results_have_snippets_if_asked(physics: Running) -> None:
    plain = physics.get("/api/search", question="double slit", top_k=3)
    found = physics.get("/api/search", question="double slit", top_k=3, snippets=True)
    marked: set[str] = set()
    for before, result in zip(plain["results"], found["results"], strict=True):
        ((_, snippet),) = ((block["kind"], block["runs"]) for block in result.pop("snippet"))
        assert before == result
        marked |= {run["text"].lower() for run in snippet if run["role"] == "match"}
        assert len("".join(run["text"] for run in snippet)) <= 260
    assert {"slit"} <= marked <= {"double", "slit", "slits"}


def test_the_profiles_of_a_server(physics: Running, monkeypatch: pytest.MonkeyPatch, physics_pack: Path) -> None:
    found = physics.get("/api/server")
    assert found["profiles"][0]["name"] == "enhanced" and {each["name"] for each in found["profiles"]} >= {
        "fast",
        "precise",
    }
    assert not any(each["writes"] for each in found["profiles"]) and found["originals"] is False
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    with running(physics_pack, offline=False) as server:
        assert all(each["writes"] for each in server.get("/api/server")["profiles"])


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    """A folder with a manual as a PDF and a note, and the pack of both."""
    folder = tmp_path_factory.mktemp("harbor")
    (folder / "manuals").mkdir()
    pages: list[Page] = [[(1, f"Part {n}"), text] for n, text in enumerate(PAGES, start=1)]
    (folder / "manuals" / "harbor manual.pdf").write_bytes(pdf(pages, title="Harbor manual"))
    (folder / "manuals" / "berths.md").write_text("# Berths\n\nBerth 3 is 9 metres deep.\n")
    build_pack(
        open_source(folder / "manuals"), str(folder / "manuals"), folder / "pack", encoder, BuildOptions(name="harbor")
    )
    return folder


def test_a_source_file_is_handed_out_if_the_server_is_told_to(harbor: Path) -> None:
    manuals = harbor / "manuals"
    with running(harbor / "pack", originals=manuals) as server:
        found = server.get("/api/search", question="How much does the crane Berta lift?")["results"][0]
        section_id = found["section_id"].replace("#", "%23")
        read = server.get(f"/api/read/{found['title']}", section=found["section_id"])
        assert read["original"] == {"name": "harbor manual.pdf", "kind": "pdf"}
        (section,) = (each for each in read["sections"] if each["section_id"] == found["section_id"])
        assert section["anchor"] == "page=2"
        response = server.client.get(f"/api/original/{section_id}", params={"pack": "harbor"})
        assert response.content == (manuals / "harbor manual.pdf").read_bytes()
        assert (
            response.headers["content-type"] == "application/pdf"
            and "inline" in response.headers["content-disposition"]
        )
        # Only this page may show it.
        assert "frame-ancestors 'self'" in response.headers["content-security-policy"]
        assert response.headers["x-frame-options"] == "SAMEORIGIN"
        part = server.client.get(f"/api/original/{section_id}", headers={"Range": "bytes=0-3"})
        assert (part.status_code, part.content) == (206, b"%PDF")
        note = server.client.get("/api/original/Berths%230")
        assert note.headers["content-type"] == "application/octet-stream"
        assert "attachment" in note.headers["content-disposition"] and note.headers["x-frame-options"] == "DENY"
        for missing in ("Nothing%230", "Berths%239", "berths.md", "..%2Fpack%2Fmanifest.json"):
            assert server.client.get(f"/api/original/{missing}").status_code == 404, missing


def test_no_other_file_is_handed_out(harbor: Path, tmp_path: Path, encoder: Embedder) -> None:
    with running(harbor / "pack") as server:
        assert server.client.get("/api/original/Berths%230").status_code == 404
        assert server.get("/api/read/Berths")["original"] is None
    other = tmp_path / "other"
    other.mkdir()
    with running(harbor / "pack", originals=other) as server:
        assert server.client.get("/api/original/Berths%230").status_code == 404
    # A link that leads out of the folder, also after the build.
    notes, secret = tmp_path / "notes", tmp_path / "secret.md"
    notes.mkdir()
    secret.write_text("# Secret\n\nThe safe has the code 4711.\n")
    (notes / "safe.md").write_text("# Safe\n\nThe safe is in the cellar.\n")
    build_pack(open_source(notes), str(notes), tmp_path / "safe", encoder, BuildOptions(name="safe"))
    with running(tmp_path / "safe", originals=notes) as server:
        assert server.client.get("/api/original/Safe%230").status_code == 200
        (notes / "safe.md").unlink()
        (notes / "safe.md").symlink_to(secret)
        assert server.client.get("/api/original/Safe%230").status_code == 404
        (notes / "safe.md").unlink()
        os.mkfifo(notes / "safe.md")
        assert server.client.get("/api/original/Safe%230").status_code == 404


def test_starters_are_in_the_list_of_packs(physics_pack: Path, tmp_path: Path, build: Build) -> None:
    kitchen = build(tmp_path / "kitchen", [("Kettle", "The kettle is made of copper.")])
    manifest = kitchen / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "starters": ["What is the kettle made of?"]}))
    with running(kitchen, physics_pack) as server:
        found = {each["given_as"]: each["starters"] for each in server.get("/api/packs")["packs"]}
    assert found == {"kitchen": ["What is the kettle made of?"], "physics": []}

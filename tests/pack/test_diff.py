"""The reported differences between two real packs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack.diff import ContentDiff, diff_packs
from wikigr.sources.detect import open_source

Record = dict[str, object]
Build = Callable[..., Path]

ALPHA: Record = {
    "id": "a",
    "title": "Alpha",
    "text": "Alpha is the first letter. See Beta.\n# Use\nAlpha decay was named in 1899.",
    "links": ["Beta"],
}
BETA: Record = {"id": "b", "title": "Beta", "text": "Beta is the second letter.", "aliases": ["Letter two"]}
GAMMA: Record = {"id": "g", "title": "Gamma", "text": "Gamma is the third letter.\n# Rays\nGamma rays are light."}
DELTA: Record = {"id": "d", "title": "Delta", "text": "Delta is the fourth letter."}
RECORDS = [ALPHA, BETA, GAMMA]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Build:
    """Build a pack of these records in a folder of its own."""

    def make(records: Iterable[Record], **options: str) -> Path:
        folder = tmp_path_factory.mktemp("diff")
        source = folder / "letters.jsonl"
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
        chosen = BuildOptions(name="letters", **options)  # type: ignore[arg-type]
        build_pack(open_source(source), str(source), folder / "pack", encoder, chosen)
        return folder / "pack"

    return make


@pytest.fixture(scope="module")
def letters(build: Build) -> Path:
    return build(RECORDS)


# What becomes of an article that is named so: each of these is a change.
CHANGES: dict[str, Record] = {
    "Address": {"url": "https://example.org/b"},
    "Alias": {"aliases": ["Letter 2"]},
    "Category": {"categories": ["Letters"]},
    # The same text under another heading.
    "Heading": {"text": "It has a text of its own.\n# Beam\nIt is light."},
    "Text": {"text": "It has a text of its own."},
    "Title": {"title": "Title (letter)"},
}


def test_the_titles_that_differ(build: Build) -> None:
    text = "It has a text of its own.\n# Rays\nIt is light."
    named: list[Record] = [{"id": name, "title": name, "text": text} for name in CHANGES]
    changed = [{**record, **CHANGES[str(record["id"])]} for record in named]
    found = diff_packs(build([*named, ALPHA, GAMMA]), build([*changed, ALPHA, DELTA]))
    assert found.content == ContentDiff(
        added=("Delta", "Title (letter)"), removed=("Gamma", "Title"), changed=tuple(sorted(CHANGES.keys() - {"Title"}))
    )
    assert found.differs and (found.a.articles, found.b.articles) == (8, 8)


def test_the_order_does_not_differ_and_links_are_only_counted(build: Build, letters: Path) -> None:
    found = diff_packs(letters, build([GAMMA, BETA, dict(ALPHA, links=["Beta", "Gamma"])]))
    assert (found.content, found.differs) == (ContentDiff(), True)
    assert (found.a.links, found.b.links) == (1, 2)
    assert not diff_packs(letters, build([*reversed(RECORDS)])).differs


def test_anchors_are_compared(tmp_path: Path, encoder: Embedder) -> None:
    """Regression: the digests differed, and no change was listed."""

    def built(name: str, anchor: str) -> Path:
        source = tmp_path / name / "valve.html"
        source.parent.mkdir()
        prose = "<p>" + "The lever of the valve is red and turns in both directions. " * 6 + "</p>"
        source.write_text(f"<title>Valve</title><h1>Valve</h1>{prose}<h2 id={anchor}>Use</h2>{prose}")
        pack = tmp_path / name / "pack"
        build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="p"))
        return pack

    before, after, again = built("a", "opening"), built("b", "turning"), built("c", "turning")
    assert diff_packs(before, after).content.changed == ("Valve",)
    assert not diff_packs(after, again).differs


def test_a_pack_of_another_format_is_refused(letters: Path, tmp_path: Path) -> None:
    other = shutil.copytree(letters, tmp_path / "other")
    fields = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps({**fields, "format_version": 999}))
    with pytest.raises(PackError, match="format 999"):
        diff_packs(letters, other)

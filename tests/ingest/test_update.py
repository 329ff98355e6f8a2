"""Updating a pack gives the content of a build from scratch, keeps vectors and thresholds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.pack.older import build_without_anchors, build_without_blocks

from wikigr.answer.abstention import THRESHOLD_NAME
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import BuildError, PackError, SourceError, UsageError, WikigrError
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.ingest.update import LostArticlesError, UpdateOptions, UpdateReport, update_pack
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import Manifest, read_manifest
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.sources.detect import open_source

RECORDS: list[dict[str, object]] = [
    {"id": "a", "title": "Alpha", "text": "Alpha is the first letter. See Beta.\n# Use\nAlpha decay.",
     "links": ["Beta"]},
    {"id": "b", "title": "Beta", "text": "Beta is the second letter of the Greek alphabet.", "links": ["Alpha"]},
    {"id": "g", "title": "Gamma", "text": "Gamma is the third letter.", "links": ["Alpha"]},
    {"id": "d", "title": "Delta", "text": "Delta is the fourth letter.", "links": ["Gamma"]},
]  # fmt: skip
CHANGED = [dict(RECORDS[0], text="Alpha is the very first letter. See Beta.\n# Use\nAlpha decay."), *RECORDS[1:]]
KEPT = {"description": "Greek letters", "license": "CC0-1.0", "version": "1.2.0"}


@dataclass(slots=True)
class Told:
    """A progress that records stages, notes, and how far each stage got."""

    stages: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    totals: dict[str, int | None] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.stages.append(stage)
        self.totals[stage] = total
        self.reached[stage] = done

    def advance(self, count: int) -> None:
        self.reached[self.stages[-1]] += count

    def note(self, message: str) -> None:
        self.notes.append(message)


def write(path: Path, records: Iterable[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("letters")
    source = write(folder / "letters.jsonl", RECORDS)
    build_pack(open_source(source), str(source), folder / "pack", encoder, BuildOptions(name="letters", **KEPT))  # type: ignore[arg-type]
    return folder / "pack"


@pytest.fixture
def pack(built: Path, tmp_path: Path) -> Path:
    """A copy of the pack that a test may change."""
    return shutil.copytree(built, tmp_path / "pack")


def update(
    pack: Path, records: Iterable[dict[str, object]], told: Told | None = None, **options: object
) -> UpdateReport:
    source = write(pack.parent / "new.jsonl", records)
    chosen = UpdateOptions(**options)  # type: ignore[arg-type]
    return follow(pack, source, told, chosen)


def follow(pack: Path, source: Path, told: Told | None = None, options: UpdateOptions | None = None) -> UpdateReport:
    chosen = options or UpdateOptions()
    return update_pack(pack, open_source(source), str(source), options=chosen, progress=told)


def manifest_of(pack: Path) -> Manifest:
    return read_manifest(pack / "manifest.json")


def snapshot(pack: Path) -> dict[str, tuple[int, int]]:
    """Return the inode and the time of change of every file but those a build works with."""
    files = sorted(path for path in pack.rglob("*") if path.is_file() and ".wikigr" not in path.parts)
    return {str(path.relative_to(pack)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def test_an_update_is_a_build_from_scratch_that_encodes_only_what_changed(
    pack: Path, tmp_path: Path, encoder: Embedder
) -> None:
    fifth: dict[str, object] = {
        "id": "e",
        "title": "Epsilon",
        "text": "Epsilon is the fifth letter.",
        "links": ["Beta"],
    }
    changed = [*CHANGED[:3], fifth]
    report = update(pack, changed)
    assert report.build is not None
    assert (report.build.embedded, report.build.reused) == (2, 3)
    source = tmp_path / "new.jsonl"
    fresh = build_pack(open_source(source), str(source), tmp_path / "fresh", encoder, BuildOptions(name="letters"))
    manifest = manifest_of(pack)
    assert manifest.digest == fresh.manifest.digest == report.diff.b.digest
    assert manifest.counts == fresh.manifest.counts
    assert manifest.thresholds == fresh.manifest.thresholds
    for part in ("pagerank_cache.json", "graph_index.npz"):
        assert (pack / part).read_bytes() == (tmp_path / "fresh" / part).read_bytes()
    assert (manifest.name, manifest.description, manifest.license) == ("letters", "Greek letters", "CC0-1.0")
    assert all(check.passed for check in validate_pack(pack))
    assert not Layout(pack).unfinished()


def test_an_update_adds_anchors_to_a_pack_without_them(tmp_path: Path, encoder: Embedder) -> None:
    source = tmp_path / "valve.md"
    source.write_text("# Valve\n\nIt is red.\n\n## Opening it\n\nTurn the lever.\n")
    pack = build_without_anchors(source, tmp_path / "pack", encoder)
    report = follow(pack, source)
    assert report.build is not None
    assert (report.build.embedded, report.build.reused) == (0, 2)
    assert report.diff.content.changed == ("Valve",)
    with Pack(pack) as opened:
        assert list(opened.urls_of(["Valve#1"]).values()) == [f"{source.as_uri()}#opening-it"]
    fresh = build_pack(open_source(source), str(source), tmp_path / "fresh", encoder, BuildOptions(name="p"))
    assert manifest_of(pack).digest == fresh.manifest.digest
    assert all(check.passed for check in validate_pack(pack))


def test_a_pack_of_format_1_has_paragraphs_alone_until_an_update(tmp_path: Path, encoder: Embedder) -> None:
    source = tmp_path / "valve.md"
    source.write_text("# Valve\n\nIts parts:\n\n- a lever\n- a seal\n\n| size | price |\n|---|---|\n| 1 l | 3 |\n")
    pack = build_without_blocks(source, tmp_path / "pack", encoder)
    with Pack(pack) as opened:
        (section,) = opened.sections(["Valve#0"]).values()
        assert [block.kind for block in section.blocks] == ["paragraph"] * 3
        assert "`wikigr pack update" in opened.blocks_warning
        # It has no tasks either.
        assert Pipeline(load_profile(), opened, offline=True).answer("Which tasks are open?").kind != "collected"
    checks = {check.name: check for check in validate_pack(pack)}
    assert (checks["blocks"].passed, checks["blocks"].required) == (False, False)
    assert all(check.passed for check in checks.values() if check.required)
    report = follow(pack, source)
    assert report.build is not None
    assert report.build.embedded == 0
    assert report.diff.content.changed == ("Valve",)
    with Pack(pack) as opened:
        (section,) = opened.sections(["Valve#0"]).values()
        assert [block.kind for block in section.blocks] == ["paragraph", "item", "item", "table"]
        assert opened.blocks_warning == ""
    assert all(check.passed for check in validate_pack(pack))


def test_the_version_stays_unless_a_higher_one_is_given(pack: Path) -> None:
    for version in ("1.2.0", "1.1.9", "1.2.0-rc.1"):
        with pytest.raises(UsageError, match="not higher"):
            update(pack, CHANGED, version=version)
    assert update(pack, CHANGED).diff.b.version == manifest_of(pack).version == "1.2.0"
    assert update(pack, RECORDS, dry_run=True, version="1.2.1").diff.b.version == "1.2.1"
    assert update(pack, RECORDS, version="1.2.1").diff.b.version == manifest_of(pack).version == "1.2.1"


def test_nothing_changed_writes_nothing(pack: Path) -> None:
    before, told = snapshot(pack), Told()
    report = update(pack, reversed(RECORDS), told)
    assert report.build is None
    assert not report.diff.differs
    assert snapshot(pack) == before
    assert "embedding" not in told.stages
    assert not Layout(pack).unfinished()


def test_every_stage_of_an_update_reaches_its_total(pack: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "new.jsonl", CHANGED)
    told = Told()
    follow(pack, source, told)
    assert {"chunking", "linking", "comparing", "embedding", "loading"} <= set(told.stages)
    known = {stage: total for stage, total in told.totals.items() if total is not None}
    assert told.totals["comparing"] == 1
    assert {stage: told.reached[stage] for stage in known} == known


def test_a_dry_run_writes_nothing_and_encodes_nothing(pack: Path, tmp_path: Path) -> None:
    everything = {path: path.stat().st_mtime_ns for path in pack.rglob("*")}
    source = write(tmp_path / "new.jsonl", CHANGED)
    told = Told()
    report = follow(pack, source, told, UpdateOptions(dry_run=True))
    assert report.build is None
    assert report.diff.content.changed == ("Alpha",)
    assert {path: path.stat().st_mtime_ns for path in pack.rglob("*")} == everything
    assert not {"embedding", "loading"} & set(told.stages)
    done = update(pack, CHANGED).diff
    assert (done.a, done.b, done.content) == (report.diff.a, report.diff.b, report.diff.content)


def test_a_source_that_lacks_most_articles_is_refused_unless_forced(pack: Path, tmp_path: Path) -> None:
    before, told = snapshot(pack), Told()
    with pytest.raises(LostArticlesError, match="3 of the pack's 4 articles") as caught:
        update(pack, RECORDS[:1])
    assert "--force" in (caught.value.hint or "")
    assert snapshot(pack) == before
    assert not Layout(pack).unfinished()
    source = tmp_path / "new.jsonl"
    follow(pack, source, told, UpdateOptions(dry_run=True))
    assert any("requires --force" in note for note in told.notes)
    assert update(pack, RECORDS[:2]).diff.b.articles == 2
    assert update(pack, [dict(RECORDS[0], title="Other", text="Other.")], force=True).diff.b.articles == 1


def test_a_source_that_is_empty_or_has_no_text_leaves_the_pack(pack: Path, tmp_path: Path) -> None:
    before = snapshot(pack)
    with pytest.raises(SourceError, match="is empty"):
        update(pack, [])
    with pytest.raises(BuildError, match="no article with text"):
        update(pack, [{"id": "a", "title": "Alpha", "text": " "}])
    assert snapshot(pack) == before
    assert update(pack, CHANGED).build is not None


def test_another_source_format_is_noted(pack: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for record in RECORDS:
        (folder / f"{record['id']}.md").write_text(f"---\ntitle: {record['title']}\n---\n{record['text']}")
    told = Told()
    follow(pack, folder, told)
    assert any("source of format jsonl, but this one is markdown" in note for note in told.notes)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"format_version": 0}, PackError, "format 0"),
        ({"weights_sha256": "0" * 64}, PackError, "encode every section"),
        # A model extracted its entities, and an update would lose them.
        ({"extraction": {"model": "claude", "prompt": "1"}}, UsageError, "would lose them"),
    ],
)
def test_a_pack_that_cannot_be_updated_is_refused(
    pack: Path, changes: dict[str, Any], error: type[WikigrError], message: str
) -> None:
    fields = json.loads((pack / "manifest.json").read_text())
    (fields["encoder"] if "weights_sha256" in changes else fields).update(changes)
    (pack / "manifest.json").write_text(json.dumps(fields))
    with pytest.raises(error, match=message) as caught:
        update(pack, CHANGED)
    if "extraction" in changes:
        # Everything that the command has to repeat.
        command = f"-o {pack} --extract --extract-model claude --name letters --description 'Greek letters'"
        assert command in (caught.value.hint or "")


# -- companion files


def test_companion_files_stay(pack: Path) -> None:
    file = pack / "eval" / "questions.jsonl"
    file.parent.mkdir()
    file.write_text("{}")
    (pack / "few_shot_examples.json").write_text("[]")
    before = snapshot(pack)
    update(pack, CHANGED)
    after = snapshot(pack)
    for name in (str(file.relative_to(pack)), "few_shot_examples.json"):
        assert after[name] == before[name]
    assert after["manifest.json"] != before["manifest.json"]


@pytest.mark.parametrize("name", ["encoder/model.onnx", "signature.json", "lexical/notes.txt"])
def test_a_pack_that_contains_a_file_of_the_user_is_not_updated(pack: Path, name: str) -> None:
    (pack / name).parent.mkdir(exist_ok=True)
    (pack / name).write_text("mine")
    before = snapshot(pack)
    with pytest.raises(BuildError, match=name.removesuffix("model.onnx")):
        update(pack, CHANGED)
    with pytest.raises(BuildError, match=name.removesuffix("model.onnx")):
        update(pack, CHANGED, dry_run=True)
    assert snapshot(pack) == before


def test_a_threshold_of_an_earlier_release_stays(pack: Path) -> None:
    fields = json.loads((pack / "manifest.json").read_text())
    fields["thresholds"][THRESHOLD_NAME] = 0.4
    fields["calibration"] = {f"{THRESHOLD_NAME}.split": "dev"}
    (pack / "manifest.json").write_text(json.dumps(fields))
    update(pack, CHANGED)
    manifest = manifest_of(pack)
    assert manifest.thresholds[THRESHOLD_NAME] == 0.4
    assert manifest.thresholds["min_relevance"] > 0.0
    assert manifest.calibration == {f"{THRESHOLD_NAME}.split": "dev"}


def test_a_bundled_encoder_is_used_and_stays(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wikigr.embeddings.loader import DEFAULT_MODEL, open_encoder
    from wikigr.embeddings.models import find_prepared

    source = write(tmp_path / "letters.jsonl", RECORDS)
    encoder = open_encoder(DEFAULT_MODEL, purpose="query")
    bundle = find_prepared(DEFAULT_MODEL).folder
    build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="letters"), bundle=bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    update(pack, CHANGED)
    assert manifest_of(pack).bundled_encoder
    assert {f"encoder/{name}" for name in ("reader.json", "reader.onnx")} <= manifest_of(pack).files.keys()
    assert all(check.passed for check in validate_pack(pack))
    (pack / "encoder" / "reader.onnx").write_bytes(b"")
    with pytest.raises(PackError, match=r"reader\.onnx has 0 bytes") as caught:
        update(pack, RECORDS)
    assert caught.value.hint == "Get the pack again, or build it again with --bundle-encoder."

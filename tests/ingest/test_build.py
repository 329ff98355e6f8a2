"""Complete builds of small real sources: the content of the pack, resuming, and reuse of vectors."""

from __future__ import annotations

import bz2
import json
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from wikigr.embeddings.embedder import Embedder, EncoderIdentity, Vectors
from wikigr.errors import BuildError, SourceError
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.calibration import _UNRELATED
from wikigr.ingest.engines import local
from wikigr.ingest.engines.cluster import ClusterError
from wikigr.ingest.engines.engine import Parsed
from wikigr.ingest.engines.local import LocalEngine
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.sources.article import Source, SourceItem
from wikigr.sources.detect import open_source

RECORDS: list[dict[str, object]] = [
    {"id": "a", "title": "Alpha", "text": "Alpha is the first letter. See Beta.\n# Use\nAlpha decay.", "links": ["b"]},
    {"id": "b", "title": "Beta", "text": "Beta is the second letter.", "links": ["Alpha"], "aliases": ["Letter two"]},
    {"id": "g1", "title": "Gamma", "text": "Gamma is the third letter.", "links": ["letter_two", "nowhere"]},
    {"id": "g2", "title": "Gamma", "text": "Gamma rays are light of high energy.", "categories": ["Physics"]},
    {"id": "e", "title": "Empty", "text": " "},
]


class Counting:
    """The real encoder, with a count of the texts it encodes."""

    def __init__(self, encoder: Embedder) -> None:
        self._encoder = encoder
        self.texts: list[str] = []

    @property
    def identity(self) -> EncoderIdentity:
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        # The questions of the calibration are no text of the pack.
        self.texts += [text for text in texts if text not in _UNRELATED]
        return self._encoder.encode(texts)


def write_source(path: Path, records: Iterable[Mapping[str, object]] = RECORDS) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def build(source: Path, pack: Path, encoder: Embedder, **options: object) -> BuildReport:
    chosen = BuildOptions(name="letters", **options)  # type: ignore[arg-type]
    return build_pack(open_source(source), str(source), pack, encoder, chosen)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> tuple[Path, BuildReport]:
    folder = tmp_path_factory.mktemp("letters")
    return folder / "pack", build(write_source(folder / "letters.jsonl"), folder / "pack", encoder)


@pytest.fixture
def pack(built: tuple[Path, BuildReport], tmp_path: Path) -> Path:
    """A copy of the pack of ``RECORDS`` that a test may change."""
    return shutil.copytree(built[0], tmp_path / "pack")


def test_long_articles_are_validated_within_the_engines_memory(tmp_path: Path, encoder: Embedder) -> None:
    # Equal sections of an article are embedded once.
    text = "\n\n".join(f"# Part\n\n{'A word or two of it. ' * 55}" for _ in range(300))
    records: list[dict[str, object]] = [{"title": f"Long {n}", "text": text} for n in range(2)]
    build(write_source(tmp_path / "long.jsonl", records), tmp_path / "pack", encoder)
    checks = {check.name: check for check in validate_pack(tmp_path / "pack")}
    assert all(check.passed for check in checks.values())
    assert checks["offsets"].detail == "600 sections checked, 0 differ from their article"


def test_names_of_different_case_are_in_the_pack_and_its_digest(tmp_path: Path, encoder: Embedder) -> None:
    records: list[dict[str, object]] = [
        {"id": "1", "title": "Who", "text": "A word.", "aliases": ["WHAT"]},
        {"id": "2", "title": "World Health Organization", "text": "A body.", "aliases": ["What", "WHO", "WhO"]},
        {"id": "3", "title": "Doctor", "text": "Cures.", "links": ["WHO", "what", "2"]},
        {"id": "who", "title": "Wish", "text": "Another.", "links": ["who"]},
    ]
    build(write_source(tmp_path / "names.jsonl", records), tmp_path / "pack", encoder)
    with Pack(tmp_path / "pack") as pack:
        rows = pack.graph.rows("MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.title, b.title ORDER BY b.title")
        assert [tuple(row) for row in rows] == [("Doctor", "Who"), ("Doctor", "World Health Organization")]
        rows = pack.graph.rows("MATCH (a:Article) RETURN a.title, a.aliases ORDER BY a.title")
        assert [row[1] for row in rows] == [[], ["WHAT"], [], ["What", "WHO"]]
    assert all(check.passed for check in validate_pack(tmp_path / "pack"))


def test_what_the_source_says_is_in_the_pack(built: tuple[Path, BuildReport]) -> None:
    folder, report = built
    assert report.manifest.counts == {
        "articles": 3, "sections": 5, "links": 3, "mentions": 1, "aliases": 1, "entities": 0, "triples": 0,
    }  # fmt: skip
    assert report.skipped == {"no text": 1}
    assert report.lost_links == 1
    with Pack(folder) as pack:
        rows = pack.graph.rows("MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.title, b.title ORDER BY a.title")
        assert [tuple(row) for row in rows] == [("Alpha", "Beta"), ("Beta", "Alpha"), ("Gamma", "Beta")]
        rows = pack.graph.rows(
            "MATCH (a:Article)-[h:HAS_SECTION]->(s:Section) RETURN a.title, h.position, s.title, s.source_id, "
            "s.content, a.content, s.start_offset, s.end_offset ORDER BY a.title, h.position"
        )
        assert [tuple(row[:4]) for row in rows] == [
            ("Alpha", 0, "Introduction", "a"), ("Alpha", 1, "Use", "a"), ("Beta", 0, "Introduction", "b"),
            ("Gamma", 0, "Introduction", "g1"), ("Gamma", 1, "Passage 2", "g2"),
        ]  # fmt: skip
        assert all(whole[start:end] == part for *_, part, whole, start, end in rows)
        assert pack.graph.rows("MATCH (a:Article {title: 'Beta'}) RETURN a.aliases")[0][0] == ["Letter two"]
        assert pack.graph.rows("MATCH (a:Article {title: 'Gamma'}) RETURN a.category")[0][0] == "Physics"
    assert all(check.passed for check in validate_pack(folder))


def test_the_same_input_in_another_order_gives_the_same_digest(
    built: tuple[Path, BuildReport], tmp_path: Path, encoder: Embedder
) -> None:
    _, first = built
    moved = [RECORDS[1], RECORDS[2], RECORDS[0], RECORDS[3], RECORDS[4]]
    second = build(write_source(tmp_path / "two.jsonl", moved), tmp_path / "two", encoder)
    changed = [dict(RECORDS[0], text="Alpha is something else."), *RECORDS[1:]]
    third = build(write_source(tmp_path / "three.jsonl", changed), tmp_path / "three", encoder)
    assert first.manifest.digest == second.manifest.digest != third.manifest.digest


def test_a_second_build_embeds_only_what_changed(pack: Path, tmp_path: Path, encoder: Embedder) -> None:
    changed = dict(RECORDS[0], text="Alpha is new. See Beta.\n# Use\nAlpha decay.")
    source = write_source(tmp_path / "letters.jsonl", [changed, *RECORDS[1:]])
    counting = Counting(encoder)
    report = build(source, pack, counting)
    assert counting.texts == ["Alpha\nAlpha is new. See Beta."]
    assert (report.embedded, report.reused) == (1, 4)
    fresh = build(source, tmp_path / "fresh", encoder)
    assert report.manifest.digest == fresh.manifest.digest


def _build_and_wait(source: Path, pack: Path, encoder: Embedder, stage: str) -> None:
    class Stops:
        def start(self, name: str, total: int | None, unit: str, *, done: int = 0) -> None:
            if name == stage:
                (pack.parent / "reached").touch()
                time.sleep(60)

        def advance(self, count: int) -> None: ...

        def note(self, message: str) -> None: ...

    build_pack(open_source(source), str(source), pack, encoder, BuildOptions(name="letters"), progress=Stops())


class _Lazy:
    """An encoder that can be sent to another process, which opens it."""

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        from wikigr.embeddings.loader import open_encoder

        return open_encoder(self.identity.model_id, purpose="query").encode(texts)


@pytest.mark.parametrize(
    "stage",
    [
        "indexing",
        *(
            pytest.param(stage, marks=pytest.mark.trust)
            for stage in ("reading", "chunking", "linking", "embedding", "loading")
        ),
    ],
)
def test_killed_in_any_stage_the_old_pack_stays_and_the_next_build_ends_the_same(
    built: tuple[Path, BuildReport], pack: Path, tmp_path: Path, encoder: Embedder, stage: str
) -> None:
    source = write_source(tmp_path / "letters.jsonl", [dict(RECORDS[0], text="Alpha is new."), *RECORDS[1:]])
    process = multiprocessing.get_context("spawn").Process(
        target=_build_and_wait, args=(source, pack, _Lazy(encoder.identity), stage)
    )
    process.start()
    until((tmp_path / "reached").exists)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    with Pack(pack) as opened:
        assert opened.manifest.digest == built[1].manifest.digest
    assert all(check.passed for check in validate_pack(pack))
    resumed = build(source, pack, encoder)
    assert resumed.manifest.digest == build(source, tmp_path / "fresh", encoder).manifest.digest


def test_a_source_without_text_builds_nothing_and_keeps_the_old_pack(
    built: tuple[Path, BuildReport], pack: Path, tmp_path: Path, encoder: Embedder
) -> None:
    with pytest.raises(BuildError, match="no article with text"):
        build(write_source(tmp_path / "letters.jsonl", [RECORDS[4]]), pack, encoder)
    with Pack(pack) as opened:
        assert opened.manifest.digest == built[1].manifest.digest


class Interrupted:
    """A source that calls ``change`` after its first record."""

    def __init__(self, source: Source, change: Callable[[], object]) -> None:
        self._source = source
        self._change = change
        self.format = source.format

    def records(self) -> Iterator[Any]:
        for number, record in enumerate(self._source.records()):
            if number == 1:
                self._change()
            yield record

    def parse(self, record: Any) -> Iterable[SourceItem]:
        return self._source.parse(record)


def cut_last_line(file: Path) -> None:
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))


def cut_in_half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def change_without_a_trace(file: Path) -> None:
    """Change the text, but neither the size nor the time of modification."""
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"second", b"fourth"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("letters.jsonl", cut_last_line),
        ("letters.jsonl", change_without_a_trace),
        ("letters.jsonl", Path.unlink),
        ("letters.jsonl.bz2", cut_in_half),
    ],
)
def test_a_file_that_changes_while_it_is_read_builds_nothing(
    pack: Path, tmp_path: Path, encoder: Embedder, name: str, change: Callable[[Path], object]
) -> None:
    content = write_source(tmp_path / "plain").read_bytes()
    if name.endswith(".bz2"):
        content = bz2.compress(content)
    source = tmp_path / name
    source.write_bytes(content)
    old = (pack / "manifest.json").read_bytes()
    reader = Interrupted(open_source(source), lambda: change(source))
    with pytest.raises(SourceError, match=f"The source changed while it was read: .*{name}"):
        build_pack(reader, str(source), pack, encoder, BuildOptions(name="letters"))
    assert (pack / "manifest.json").read_bytes() == old
    source.write_bytes(content)
    assert build(source, pack, encoder).manifest.counts["articles"] == 3


class LosesSource(LocalEngine):
    """Reports a source that disappears as the engine of a cluster does, whose workers read it."""

    def __init__(self, source: Path) -> None:
        super().__init__()
        self._source = source

    def parse(self, source: Source) -> Iterator[Parsed]:
        self._source.unlink()
        raise ClusterError(f"Reading {self._source} failed 3 times.")


def test_a_file_that_disappears_while_workers_read_it_is_named(tmp_path: Path, encoder: Embedder) -> None:
    source = write_source(tmp_path / "letters.jsonl")
    with pytest.raises(SourceError, match=r"The source changed while it was read: .*letters\.jsonl") as caught:
        build_pack(
            open_source(source),
            str(source),
            tmp_path / "pack",
            encoder,
            BuildOptions(name="letters"),
            engine=LosesSource(source),
        )
    assert isinstance(caught.value.__cause__, ClusterError)


@pytest.mark.parametrize("change", ["removed", "cut", "added"])
def test_a_folder_that_changes_while_it_is_read_builds_nothing(tmp_path: Path, encoder: Embedder, change: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a", "b", "c"):
        (notes / f"{name}.md").write_text(f"# {name}\nAbout {name}.")

    def act() -> None:
        if change == "removed":
            (notes / "c.md").unlink()
        else:
            (notes / ("c.md" if change == "cut" else "d.md")).write_text("# c\n")

    options = BuildOptions(name="notes", keep_going=True)
    with pytest.raises(SourceError, match=r"changed while it was read: .*/notes/[cd]\.md"):
        build_pack(Interrupted(open_source(notes), act), str(notes), tmp_path / "pack", encoder, options)
    assert not (tmp_path / "pack" / "manifest.json").exists()


def test_a_file_that_is_not_read_may_change_during_the_build(tmp_path: Path, encoder: Embedder) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("a", "b"):
        (notes / f"{name}.md").write_text(f"# {name}\nAbout {name}.")
    reader = Interrupted(open_source(notes), lambda: (notes / "build.log").write_text("reading"))
    report = build_pack(reader, str(notes), tmp_path / "pack", encoder, BuildOptions(name="notes"))
    assert report.manifest.counts["articles"] == 2


def test_text_that_is_no_unicode_survives(tmp_path: Path, encoder: Embedder) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("# Coffee\nA drink with a NUL \0 byte.")
    (folder / "bad.md").write_bytes(b"# Bad\nbroken \xff text")
    report = build(folder, tmp_path / "pack", encoder, keep_going=True)
    assert report.manifest.counts["articles"] >= 1
    assert all(check.passed for check in validate_pack(tmp_path / "pack"))


BATCH = 64


class Stopping(Counting):
    """Fails after the first batch, like a killed process."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        if len(self.texts) >= BATCH:
            raise KeyboardInterrupt
        return super().encode(texts)


def test_a_resumed_build_embeds_only_what_is_missing(
    tmp_path: Path, encoder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_TEXTS_PER_CORE", BATCH)
    monkeypatch.setattr(local, "available_cores", lambda: 1)
    many = [{"id": str(n), "title": f"Article {n}", "text": f"Text number {n}."} for n in range(BATCH + 10)]
    source = write_source(tmp_path / "many.jsonl", many)
    with pytest.raises(KeyboardInterrupt):
        build(source, tmp_path / "pack", Stopping(encoder))
    counting = Counting(encoder)
    report = build(source, tmp_path / "pack", counting)
    assert len(counting.texts) == report.embedded == 10


def test_a_source_folder_with_files_called_like_parts_is_safe(tmp_path: Path, encoder: Embedder) -> None:
    notes = tmp_path / "notes"
    (notes / "lexical").mkdir(parents=True)
    (notes / "lexical" / "words.md").write_text("# Words\nSome words.")
    with pytest.raises(BuildError, match="lexical"):
        build(notes, notes, encoder)
    assert (notes / "lexical" / "words.md").read_text() == "# Words\nSome words."

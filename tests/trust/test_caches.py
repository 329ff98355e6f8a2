"""Damage the files next to a pack: each command works with a warning, or names the command that fixes it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Wikigr
from tests.llm.server import MessagesServer, reply
from tests.trust.conftest import Tally
from tests.trust.hostile import QUESTION

from wikigr.pack import layout as parts
from wikigr.pack.layout import Layout


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _garble(path: Path) -> None:
    path.write_bytes(bytes((37 * n + 11) % 256 for n in range(4096)))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _version(path: Path) -> None:
    path.write_text('{"schema_version": 999, "format_version": 999}\n')


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "truncated": _truncate,
    "empty": _empty,
    "random bytes": _garble,
    "a folder": _folder,
    "another version": _version,
    "a link to itself": _loop,
}
OURS = {0, 3, 4}


def harmed(damage: str, path: Path) -> None:
    DAMAGE[damage](path)


@pytest.fixture
def pack(hostile_pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hostile_pack, tmp_path / "pack"))


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("part", [parts.PAGERANK, parts.GRAPH_INDEX, parts.MANIFEST, parts.DATABASE])
def test_parts_of_a_pack(wikigr: Wikigr, pack: Path, tally: Callable[[str], Tally], part: str, damage: str) -> None:
    count = tally("broken files: parts of a pack")
    harmed(damage, Layout(pack).part(part))
    for arguments in (
        ("ask", QUESTION, "--pack", str(pack), "--offline"),
        ("search", QUESTION, "--pack", str(pack)),
        ("graph", "neighbors", "Plain quay", "--pack", str(pack)),
        ("pack", "validate", str(pack)),
    ):
        result = wikigr(*arguments)
        assert result.code in OURS, (arguments, result)
        assert "a bug" not in result.err, (arguments, result.err)
        if result.code:
            count.refused()
            said = result.err + result.out
            assert "wikigr " in said, (arguments, said)  # the command that fixes it
        else:
            count.harmless()
    if part in (parts.PAGERANK, parts.GRAPH_INDEX):
        # The answer does not hang on it, and the loss is said.
        result = wikigr("ask", QUESTION, "--pack", str(pack), "--offline")
        assert result.code == 0
        assert wikigr("pack", "validate", str(pack)).code == 4


@pytest.mark.parametrize("damage", DAMAGE)
def test_kept_replies(
    wikigr: Wikigr, messages_server: MessagesServer, hostile_pack: Path, own_caches: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, tally: Callable[[str], Tally], damage: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(reply("Mara Quill keeps it."))
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Plain quay"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    common = ("eval", "run", "--pack", str(hostile_pack), "--questions", "gold.jsonl", "--profile", "baseline")
    assert wikigr(*common, "-o", "one").code == 0
    kept = [path for path in own_caches.rglob("*.json") if "models" not in path.relative_to(own_caches).parts]
    assert kept
    for path in kept:
        harmed(damage, path)
    asked = len(messages_server.requests)
    result = wikigr(*common, "-o", "two")
    assert result.code == 0, result.err
    assert len(messages_server.requests) == 2 * asked
    tally("broken files: cached replies").harmless()


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", ["run.json", "samples.jsonl"])
def test_runs(
    wikigr: Wikigr, hostile_pack: Path, tmp_path: Path, own_caches: Path, tally: Callable[[str], Tally],
    file: str, damage: str,
) -> None:  # fmt: skip
    row = {"id": "q", "question": QUESTION, "answerable": True, "answers": ["Mara"], "gold": [{"title": "Plain quay"}]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row) + "\n")
    run = ("eval", "run", "--pack", str(hostile_pack), "--questions", "gold.jsonl", "-o", "run", "--offline")
    assert wikigr(*run).code == 0
    harmed(damage, tmp_path / "run" / file)
    for arguments in (("eval", "report", "run"), run, ("eval", "flips", "run")):
        result = wikigr(*arguments)
        assert result.code in {0, 2, 3}, (arguments, result)
        assert "a bug" not in result.err, (arguments, result.err)
        assert result.code == 0 or file in result.err or "run" in result.err
        tally("broken files: runs").refused() if result.code else tally("broken files: runs").harmless()


@pytest.mark.parametrize("damage", ["truncated", "empty", "a folder", "another version", "a link to itself"])
@pytest.mark.parametrize("file", ["encoder.json", "model.onnx", "tokenizer.json"])
def test_prepared_encoders(
    wikigr: Wikigr, hostile_pack: Path, own_caches: Path, tally: Callable[[str], Tally], file: str, damage: str
) -> None:
    linked = own_caches / "models"
    original = linked.resolve()
    (found, *_) = [path.parent for path in original.rglob("encoder.json")]
    copy = linked.parent / "copied"
    shutil.copytree(found, copy)
    harmed(damage, copy / file)
    result = wikigr("ask", QUESTION, "--pack", str(hostile_pack), "--offline", "--embedding-model", str(copy))
    assert result.code == 3, result
    assert "wikigr model prepare" in result.err
    tally("broken files: prepared encoders").refused()


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_an_interrupted_build_left(
    wikigr: Wikigr, tmp_path: Path, tally: Callable[[str], Tally], damage: str
) -> None:
    (tmp_path / "a.jsonl").write_text('{"title": "Bees", "text": "Bees make honey."}\nbroken\n')
    assert wikigr("pack", "build", "a.jsonl", "-o", "p").code == 3
    left = [path for path in (tmp_path / "p").rglob("*.sqlite") if path.is_file()]
    assert left
    for path in left:
        harmed(damage, path)
    (tmp_path / "a.jsonl").write_text('{"title": "Bees", "text": "Bees make honey."}\n')
    result = wikigr("pack", "build", "a.jsonl", "-o", "p")
    assert "a bug" not in result.err, result.err
    count = tally("broken files: leftovers of a build")
    if result.code:
        # If a folder is in its place, SQLite reports only that it cannot open the file.
        advice = "Delete the link" if damage == "a link to itself" else "staging.sqlite"
        assert advice in result.err or "folder's permissions" in result.err, result.err
        count.refused()
        if damage not in ("a folder", "a link to itself"):
            (tmp_path / "p" / ".wikigr" / "staging.sqlite").unlink()
            assert wikigr("pack", "build", "a.jsonl", "-o", "p").code == 0
    else:
        count.harmless()

"""Exporting a pack and unpacking it: contents, reproducible bytes, and what export refuses."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from wikigr.distribution.archive import _header, archive_path, export_pack, unpack
from wikigr.distribution.signature import PrivateKey
from wikigr.distribution.verify import validate_untrusted
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import DATABASE, MANIFEST, PAGERANK, SIGNATURE, Layout
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack

KEY = PrivateKey(bytes(range(32)))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_pack_comes_out_as_it_went_in(letters_copy: Path, tmp_path: Path) -> None:
    exported = export_pack(letters_copy, tmp_path / "letters.wikigr")
    data = exported.file.read_bytes()
    assert (exported.size, exported.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    unpacked = unpack(exported.file, tmp_path / "out")
    assert (unpacked.manifest, unpacked.signer) == (exported.manifest, None)
    assert unpacked.sha256 == exported.sha256
    out = contents(tmp_path / "out")
    assert set(out) == {*unpacked.manifest.files, MANIFEST}
    assert {"few_shot_examples.json", "eval/questions.jsonl", "graph_index.npz", DATABASE} < set(out)
    assert all((letters_copy / name).read_bytes() == content for name, content in out.items() if name != MANIFEST)
    assert all(check.passed for check in validate_untrusted(tmp_path / "out"))
    assert all(check.passed for check in validate_pack(tmp_path / "out"))
    with Pack(tmp_path / "out") as opened:
        assert opened.headings("Alpha") == ["Introduction", "Use"]


def test_the_same_pack_gives_the_same_bytes(letters_copy: Path, tmp_path: Path) -> None:
    first = export_pack(letters_copy, tmp_path / "one.wikigr", key=KEY)
    for path in letters_copy.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    (letters_copy / "notes.txt").write_text("no part of the pack")
    second = export_pack(letters_copy, tmp_path / "two.wikigr", key=KEY)
    assert first.file.read_bytes() == second.file.read_bytes()


def test_it_is_a_tar_that_others_read(letters_copy: Path, tmp_path: Path) -> None:
    exported = export_pack(letters_copy, tmp_path / "letters.wikigr", key=KEY)
    tar = zstandard.ZstdDecompressor().decompress(exported.file.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        members = opened.getmembers()
        manifest = json.loads(opened.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    assert [member.name for member in members] == [MANIFEST, SIGNATURE, *manifest["files"]]
    assert list(manifest["files"]) == sorted(manifest["files"])
    for member in members:
        assert (member.isreg(), member.mode, member.mtime) == (True, 0o644, 0)
        assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")


def test_headers_are_the_same_bytes_as_ever() -> None:
    """Readers compare headers byte for byte, so those of published archives must not change, from 8 GiB on either."""
    headers = b"".join(_header("lexical/meta.json", size) for size in (0, 513, (1 << 33) - 1, 1 << 33, 1 << 62))
    assert hashlib.sha256(headers).hexdigest() == "2da1c701ff1fce20b0983dea1770ee4f81850dd37c4bc7d55fdeb30d5979d2b3"
    with tarfile.open(fileobj=io.BytesIO(headers[3 * 512 : 4 * 512])) as opened:
        assert (opened.firstmember.name, opened.firstmember.size) == ("lexical/meta.json", 1 << 33)  # type: ignore[attr-defined]


def test_a_signature_travels_along_until_the_pack_changes(letters_copy: Path, tmp_path: Path) -> None:
    signed = export_pack(letters_copy, tmp_path / "one.wikigr", key=KEY)
    assert unpack(signed.file, tmp_path / "out").signer == signed.signer == KEY.public
    again = export_pack(tmp_path / "out", tmp_path / "two.wikigr")
    assert (again.sha256, again.signer) == (signed.sha256, KEY.public)
    (tmp_path / "out" / SIGNATURE).write_text("{}")
    assert export_pack(tmp_path / "out", tmp_path / "three.wikigr").signer is None
    assert unpack(tmp_path / "three.wikigr", tmp_path / "bare").signer is None


@pytest.mark.parametrize("name", [DATABASE, PAGERANK, "graph_index.npz", "lexical/meta.json"])
def test_a_changed_file_is_not_exported(letters_copy: Path, tmp_path: Path, name: str) -> None:
    data = (letters_copy / name).read_bytes()
    (tmp_path / "letters.wikigr").write_text("the archive of before")
    for harmed in (bytes([data[0] ^ 1]) + data[1:], data + b"x", data[:-1], None):
        (letters_copy / name).unlink()
        if harmed is not None:
            (letters_copy / name).write_bytes(harmed)
        with pytest.raises(PackError, match=name):
            export_pack(letters_copy, tmp_path / "letters.wikigr")
        assert (tmp_path / "letters.wikigr").read_text() == "the archive of before"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["letters", "letters.wikigr"]


@pytest.mark.parametrize("name", ["few_shot_examples.json", "eval", PAGERANK, "lexical"])
def test_a_link_in_a_pack_is_not_followed(letters_copy: Path, tmp_path: Path, name: str) -> None:
    (letters_copy / name).rename(tmp_path / "elsewhere")
    (letters_copy / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PackError, match="is a link"):
        export_pack(letters_copy, tmp_path / "letters.wikigr")


def test_where_the_archive_cannot_be_written(letters_copy: Path, tmp_path: Path) -> None:
    with pytest.raises(WikigrError, match=r"Cannot write the archive .*: No such file") as caught:
        export_pack(letters_copy, tmp_path / "missing" / "letters.wikigr")
    assert isinstance(caught.value, UsageError)
    with pytest.raises(WikigrError, match="Cannot write the archive"):
        export_pack(letters_copy, letters_copy)
    os.mkfifo(tmp_path / "device")
    with pytest.raises(WikigrError, match="is not a regular file"):
        export_pack(letters_copy, tmp_path / "device")
    assert (tmp_path / "device").is_fifo()


def test_a_pack_that_is_being_replaced_is_exported_from_where_its_parts_are(letters_copy: Path, tmp_path: Path) -> None:
    before = export_pack(letters_copy, tmp_path / "one.wikigr").sha256
    layout = Layout(letters_copy)
    layout.new.mkdir(parents=True, exist_ok=True)
    (letters_copy / DATABASE).rename(layout.new / DATABASE)
    (layout.work / "commit").touch()
    assert export_pack(letters_copy, tmp_path / "two.wikigr").sha256 == before


def test_the_archive_is_named_after_the_pack(letters_copy: Path, tmp_path: Path) -> None:
    assert archive_path(letters_copy, None) == Path("letters-1.0.0.wikigr")
    assert archive_path(letters_copy, tmp_path) == tmp_path / "letters-1.0.0.wikigr"
    assert archive_path(letters_copy, tmp_path / "x") == tmp_path / "x"
    assert archive_path(letters_copy, f"{tmp_path}/new/er/") == tmp_path / "new" / "er" / "letters-1.0.0.wikigr"
    assert (tmp_path / "new" / "er").is_dir()
    assert archive_path(letters_copy, f"{tmp_path}/plain") == tmp_path / "plain"
    assert not (tmp_path / "plain").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(WikigrError, match="Cannot write the archive to"):
        archive_path(letters_copy, f"{tmp_path}/file/")
    manifest = json.loads((letters_copy / MANIFEST).read_text())
    for name in ("../evil", "a/b", ".hidden", "a\nb", "-o", "x" * 200):
        (letters_copy / MANIFEST).write_text(json.dumps({**manifest, "name": name}))
        with pytest.raises(UsageError, match="do not form a valid file name"):
            archive_path(letters_copy, None)


def test_what_unpack_needs(letters_copy: Path, tmp_path: Path) -> None:
    file = export_pack(letters_copy, tmp_path / "letters.wikigr").file
    (tmp_path / "there").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for taken in ("there", "dangling"):
        with pytest.raises(PackError, match="already exists"):
            unpack(file, tmp_path / taken)
    with pytest.raises(PackError, match="There is no archive"):
        unpack(tmp_path / "missing", tmp_path / "out")
    with pytest.raises(PackError, match="There is no archive"):
        unpack(tmp_path, tmp_path / "out")
    # The archive is not to blame for the disk.
    with pytest.raises(WikigrError, match="No such file") as caught:
        unpack(file, tmp_path / "missing" / "out")
    assert not isinstance(caught.value, PackError)


def test_a_manifest_with_a_text_that_is_too_long_is_refused_on_both_ways(
    letters_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = json.loads((letters_copy / MANIFEST).read_text())
    (letters_copy / MANIFEST).write_text(json.dumps({**manifest, "description": "x" * 10_000}))
    assert unpack(export_pack(letters_copy, tmp_path / "one.wikigr").file, tmp_path / "one").manifest.description
    long = "x" * 10_001
    hostile: tuple[dict[str, Any], ...] = (
        {"description": long}, {"source": {"name": long}}, {"counts": {long: 1}}, {"calibration": {"questions": long}},
    )  # fmt: skip
    for fields in hostile:
        (letters_copy / MANIFEST).write_text(json.dumps(manifest | fields))
        with pytest.raises(PackError, match="contains a text that is too long"):
            export_pack(letters_copy, tmp_path / "two.wikigr")
        with monkeypatch.context() as careless:
            careless.setattr("wikigr.distribution.archive._MAX_TEXT_LENGTH", 20_000)
            file = export_pack(letters_copy, tmp_path / "two.wikigr").file
        with pytest.raises(PackError, match="The archive's manifest contains a text that is too long"):
            unpack(file, tmp_path / "two")
        assert not (tmp_path / "two").exists()


def test_a_missing_encoder_is_noted_but_not_a_failure(
    letters_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    checks = {check.name: check for check in validate_untrusted(letters_copy)}
    for name in ("encoder", "search"):
        assert (checks[name].passed, checks[name].required) == (False, False)
    assert all(check.passed for name, check in checks.items() if name not in ("encoder", "search"))
    assert checks["digest"].passed

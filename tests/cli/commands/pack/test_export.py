from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wikigr.distribution.archive import export_pack, unpack
from wikigr.distribution.signature import PrivateKey
from wikigr.settings import cache_folder

from ...conftest import Wikigr


@pytest.fixture(autouse=True)
def keys(tmp_path: Path) -> None:
    """Two keys of two people: ``ann`` and ``ben``, the public ones with ``.pub``."""
    for name, seed in (("ann", bytes(32)), ("ben", bytes(range(32)))):
        key = Ed25519PrivateKey.from_private_bytes(seed)
        (tmp_path / name).write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
            )
        )
        line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        (tmp_path / f"{name}.pub").write_bytes(line + b"\n")


def test_export_and_verify(wikigr: Wikigr, letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    exported = wikigr("pack", "export", str(letters_pack), "--sign", "ann", "--json")
    assert exported.code == 0, exported.err
    document = json.loads(exported.out)
    assert document["file"] == "letters-1.0.0.wikigr"
    data = (tmp_path / document["file"]).read_bytes()
    assert (document["size"], document["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert document["signer"].startswith("SHA256:")
    taken = wikigr("pack", "export", str(letters_pack))
    assert (taken.code, "already exists" in taken.err, "--force" in taken.err) == (2, True, True)
    text = wikigr("pack", "export", str(letters_pack), "--force", "--sign", "ann")
    assert (text.code, document["sha256"] in text.out, document["signer"] in text.out) == (0, True, True)

    verified = wikigr("pack", "verify", document["file"], "--trust", "ann.pub", "--sha256", document["sha256"].upper())
    assert verified.code == 0
    assert "FAILED" not in verified.out
    assert "schema" in verified.out
    assert "digest" in verified.out
    found = json.loads(wikigr("pack", "verify", document["file"], "--json").out)
    assert found["passed"] is True
    for name in ("name", "version", "digest", "size", "sha256", "signer"):
        assert found[name] == document[name]
    assert list(cache_folder().glob("verify-*")) == []


@pytest.mark.usefixtures("quick_validation")
def test_another_signer_another_file_and_no_signature_are_failures(wikigr: Wikigr, letters_pack: Path) -> None:
    assert wikigr("pack", "export", str(letters_pack), "-o", "signed.wikigr", "--sign", "ann").code == 0
    assert wikigr("pack", "export", str(letters_pack), "-o", "bare.wikigr").code == 0
    other = wikigr("pack", "verify", "signed.wikigr", "--trust", "ben.pub")
    assert (other.code, "not a trusted key" in other.out, "schema" in other.out) == (4, True, False)
    assert wikigr("pack", "verify", "signed.wikigr", "--trust", "ben.pub", "--trust", "ann.pub").code == 0
    bare = wikigr("pack", "verify", "bare.wikigr", "--trust", "ann.pub")
    assert (bare.code, "not signed" in bare.out) == (4, True)
    noted = wikigr("pack", "verify", "bare.wikigr")
    assert (noted.code, noted.out.count("note   signature")) == (0, 1)
    wrong = wikigr("pack", "verify", "signed.wikigr", "--sha256", "0" * 64)
    assert (wrong.code, "not the expected one" in wrong.out, "archive:" in wrong.out) == (4, True, False)


@pytest.mark.usefixtures("quick_validation")
def test_a_pack_in_a_folder_is_verified_too(wikigr: Wikigr, letters_pack: Path, tmp_path: Path) -> None:
    assert wikigr("pack", "verify", str(letters_pack)).code == 0
    assert wikigr("pack", "verify", str(letters_pack / "pack.db")).code == 0
    copy = shutil.copytree(letters_pack, tmp_path / "copy")
    (copy / "pack.db.wal").write_bytes(b"unfinished work")
    beside = wikigr("pack", "verify", "copy")
    assert (beside.code, "pack.db.wal" in beside.out, "schema" in beside.out) == (4, True, False)
    (copy / "pack.db.wal").unlink()
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "digest": "0" * 64}))
    lied = wikigr("pack", "verify", "copy")
    assert (lied.code, "FAILED digest" in lied.out) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("export", "PACK", "--sign", "ann.pub"), 2, "not a private key"),
        (("export", "PACK", "-o", "missing/x.wikigr"), 2, "Cannot write the archive"),
        (("verify", "nowhere.wikigr"), 4, "no pack 'nowhere.wikigr'"),
        (("verify", "ann.pub"), 4, "damaged or not an archive"),
        (("verify", "PACK", "--trust", "ann"), 2, "does not contain an Ed25519 public key"),
        (("verify", "PACK", "--sha256", "0" * 64), 2, "requires an archive, not a folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_use(wikigr: Wikigr, letters_pack: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = wikigr("pack", *(str(letters_pack) if argument == "PACK" else argument for argument in arguments))
    assert (result.code, result.out) == (code, "")
    assert message in " ".join(result.err.split())


@pytest.mark.usefixtures("quick_validation")
def test_files_outside_the_signature_are_not_trusted(wikigr: Wikigr, letters_pack: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(letters_pack, tmp_path / "copy")
    extras = ("few_shot_examples.json", "eval", "graph_index.npz")
    for name in extras[:2]:
        shutil.rmtree(copy / name) if (copy / name).is_dir() else (copy / name).unlink()
    export_pack(copy, tmp_path / "p.wikigr", key=PrivateKey(bytes(32)))
    unpack(tmp_path / "p.wikigr", tmp_path / "signed")
    assert wikigr("pack", "verify", "signed", "--trust", "ann.pub").code == 0
    shutil.copyfile(letters_pack / extras[0], tmp_path / "signed" / extras[0])
    added = wikigr("pack", "verify", "signed", "--trust", "ann.pub")
    assert (added.code, f"FAILED {extras[0]}: is not in the signed manifest" in added.out) == (4, True)
    noted = wikigr("pack", "verify", "signed")
    assert (noted.code, f"note   {extras[0]}" in noted.out) == (0, True)


def test_an_output_with_a_slash_is_a_folder(wikigr: Wikigr, letters_pack: Path, tmp_path: Path) -> None:
    done = wikigr("pack", "export", str(letters_pack), "-o", "dist/")
    assert (done.code, done.out.startswith("dist/letters-1.0.0.wikigr: letters 1.0.0\n")) == (0, True)
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["letters-1.0.0.wikigr"]


def test_a_cache_that_cannot_be_written_is_named(
    wikigr: Wikigr, letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wikigr("pack", "export", str(letters_pack), "-o", "p.wikigr").code == 0
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = wikigr("pack", "verify", "p.wikigr")
    assert (done.code, done.out) == (3, "")
    assert str(cache_folder()) in done.err
    assert "XDG_CACHE_HOME" in done.err


@pytest.mark.usefixtures("quick_validation")
def test_what_a_killed_verification_left_is_removed_after_a_day(
    wikigr: Wikigr, letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old, new = cache_folder() / "verify-old", cache_folder() / "verify-new"
    for folder in (old, new):
        (folder / "pack").mkdir(parents=True)
    os.utime(old, (0, 0))
    assert wikigr("pack", "export", str(letters_pack), "-o", "p.wikigr").code == 0
    assert wikigr("pack", "verify", "p.wikigr").code == 0
    assert (old.exists(), new.exists()) == (False, True)

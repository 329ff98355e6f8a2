"""Damage to the files of a pack is named before the engine reads them, and is looked for only once."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.tampering import damage

from wikigr.errors import PackError
from wikigr.pack import manifest as manifests
from wikigr.pack.layout import GRAPH_INDEX, MANIFEST, Layout
from wikigr.pack.manifest import damaged_files, read_manifest
from wikigr.pack.open import Pack


def test_any_damage_of_any_file_is_found(letters_pack: Path, tmp_path: Path) -> None:
    rng = random.Random(11)
    manifest = read_manifest(letters_pack / MANIFEST)
    names = list(manifest.files)
    pack = shutil.copytree(letters_pack, tmp_path / "pack")
    found: Counter[str] = Counter()
    for number in range(24):
        name = "pack.db" if number % 2 else rng.choice(names)
        damage(pack / name, rng)
        assert list(damaged_files(Layout(pack), manifest)) == [name]
        if name == "pack.db" or name.startswith("lexical/"):
            with pytest.raises(PackError, match=f"The pack {pack} is damaged: {name} ") as raised:
                Pack(pack)
            assert raised.value.hint
        found[name] += 1
        shutil.copy2(letters_pack / name, pack / name)
    assert found["pack.db"] >= 12 and len(found) > 2
    with Pack(pack) as opened:
        assert opened.manifest.counts["sections"]


def test_what_can_be_made_again_is_not_used_if_damaged(letters_pack: Path, tmp_path: Path) -> None:
    pack = shutil.copytree(letters_pack, tmp_path / "pack")
    index = pack / GRAPH_INDEX
    data = bytearray(index.read_bytes())
    data[len(data) // 2] ^= 1
    index.write_bytes(data)
    with Pack(letters_pack) as whole, Pack(pack) as opened:
        assert opened.graph_index.digest == whole.graph_index.digest
        assert opened.graph_index_warning


def test_a_file_is_read_once(letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = shutil.copytree(letters_pack, tmp_path / "pack")
    layout, manifest = Layout(pack), read_manifest(pack / MANIFEST)
    read: list[str] = []

    def check_file(path: Path, record: object) -> str | None:
        read.append(path.relative_to(pack).as_posix())
        return None

    monkeypatch.setattr(manifests, "check_file", check_file)
    damaged_files(layout, manifest)
    assert sorted(read) == sorted(manifest.files)
    damaged_files(layout, manifest)
    assert len(read) == len(manifest.files)
    (pack / "pack.db").touch()
    damaged_files(layout, manifest)
    assert read[len(manifest.files) :] == ["pack.db"]


@pytest.mark.parametrize("kind", ["fifo", "endless", "folder"])
def test_what_is_no_file_is_no_part_of_a_pack(letters_pack: Path, tmp_path: Path, kind: str) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes here")
    names = [name for name in read_manifest(letters_pack / MANIFEST).files if name.startswith(("pack.db", "lexical/"))]
    for name in (*names, MANIFEST):
        pack = shutil.copytree(letters_pack, tmp_path / kind / name.replace("/", "-"))
        (pack / name).unlink()
        if kind == "fifo":
            os.mkfifo(pack / name)
        elif kind == "endless":
            (pack / name).symlink_to("/dev/zero")
        else:
            (pack / name).mkdir()
        with pytest.raises(PackError):
            Pack(pack)

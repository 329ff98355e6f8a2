"""Opening several packs: what counts as the same pack, errors, and what the packs share."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tests.joined.conftest import OpenAll

from wikigr.errors import EncoderMismatchError, PackError
from wikigr.joined.pack import JoinedPack, open_packs
from wikigr.pack.layout import DATABASE, MANIFEST


def test_the_same_content_counts_once_wherever_it_is(birds: Path, machines: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(birds)
    shutil.copytree(birds, tmp_path / "copy")
    again = [str(birds / DATABASE), str(tmp_path / "link"), str(tmp_path / "copy")]
    alone = open_packs([str(birds), *again])
    with alone.pack as pack:
        assert not isinstance(pack, JoinedPack)
        assert alone.repeated == tuple(again)
    two = open_packs([str(birds), str(machines), *again])
    with two.pack as pack:
        assert [member.manifest.name for member in pack.members] == ["birds", "machines"]
        assert two.repeated == tuple(again)


def test_the_order_of_the_packs_does_not_matter(open_all: OpenAll, birds: Path, machines: Path) -> None:
    one, other = open_all(birds, machines), open_all(machines, birds)
    assert [member.label for member in one.members] == [member.label for member in other.members]
    assert one.manifest == other.manifest


def test_two_packs_of_one_name_are_told_apart(open_all: OpenAll, birds: Path, machines: Path, tmp_path: Path) -> None:
    manifest = (machines / MANIFEST).read_text().replace('"name": "machines"', '"name": "birds"', 1)
    shutil.copytree(machines, tmp_path / "other")
    (tmp_path / "other" / MANIFEST).write_text(manifest)
    digests = [member.manifest.digest[:12] for member in open_all(birds, tmp_path / "other").members]
    labels = [member.label for member in open_all(birds, tmp_path / "other").members]
    assert labels == [f"birds 1.0.0 {digest}" for digest in digests]
    (tmp_path / "other" / MANIFEST).write_text(manifest.replace('"version": "1.0.0"', '"version": "2.0.0"', 1))
    assert [m.label for m in open_all(tmp_path / "other", birds).members] == ["birds 1.0.0", "birds 2.0.0"]


@pytest.mark.parametrize("part", [DATABASE, MANIFEST, "lexical/meta.json"])
def test_an_unreadable_pack_is_named_and_no_other_stays_open(
    birds: Path, machines: Path, tmp_path: Path, part: str
) -> None:
    broken = shutil.copytree(machines, tmp_path / "broken")
    (broken / part).write_text("")
    with pytest.raises(PackError, match="nowhere"):
        open_packs([str(birds), str(tmp_path / "nowhere")])
    # The traceback in "caught" refers to the packs, so none is closed because nothing refers to it.
    with pytest.raises(PackError, match="broken") as caught:
        open_packs([str(birds), str(broken)], preload=True)
    assert caught.value.hint
    if sys.platform == "linux":
        files = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert str(birds / DATABASE) not in files


def test_models_are_loaded_once_for_each_encoder(
    open_all: OpenAll, birds: Path, machines: Path, waves: Path, encoder: object
) -> None:
    first, second, third = open_all(waves, birds, machines).members
    assert [first.label, second.label, third.label] == ["birds", "machines", "waves"]
    assert first.encoder is second.encoder
    assert first.reader is second.reader
    assert third.encoder is not first.encoder


def test_another_encoder_must_fit_every_pack(birds: Path, waves: Path) -> None:
    with open_packs([str(birds), str(waves)], encoder="all-MiniLM-L6-v2").pack as pack:
        assert pack.members[0].encoder.identity.dimension == 384
        with pytest.raises(EncoderMismatchError, match="waves"):
            _ = pack.encoder

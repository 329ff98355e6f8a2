"""Unpacking archives that are not trusted."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.sources.test_hostile_input import limit

from wikigr.distribution.recipes.unpack import unpack_archive
from wikigr.errors import SourceError


def tar(path: Path, *members: tuple[tarfile.TarInfo | str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def packed(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo("member")
    info.type, info.linkname = kind, target
    return info


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_file_is_unpacked(mode: str, tmp_path: Path) -> None:
    unpack_archive(tar(tmp_path / "a", ("d/x", b"one"), ("y", b"two"), mode=mode), tmp_path / "new" / "out")
    assert files(tmp_path / "new") == {"out/d/x": b"one", "out/y": b"two"}


def test_a_zip_file_is_unpacked(tmp_path: Path) -> None:
    unpack_archive(packed(tmp_path / "a", **{"d/x": b"one", "y": b"two"}), tmp_path / "out")
    assert files(tmp_path / "out") == {"d/x": b"one", "y": b"two"}


def hostile(folder: Path) -> dict[str, Path]:
    """Return archives that must not be unpacked, by what is wrong with them."""
    whole = tar(folder / "whole", ("x", os.urandom(4000))).read_bytes()
    encrypted = bytearray(packed(folder / "plain.zip", x=b"text").read_bytes())
    for sign in (b"PK\x03\x04", b"PK\x01\x02"):
        encrypted[encrypted.index(sign) + (6 if sign == b"PK\x03\x04" else 8)] |= 1
    broken = bytearray(packed(folder / "good.zip", x=b"text" * 99).read_bytes())
    broken[35] ^= 0xFF
    contents = {"nothing": b"", "text": b"no archive", "cut": whole[:2000], "encrypted": bytes(encrypted),
                "broken": bytes(broken), "half": bytes(broken[:60])}  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {
        **{name: folder / name for name in contents},
        "parent": tar(folder / "parent", ("../up", b"x")),
        "long name": tar(folder / "long", ("x" * 300, b"x")),
        "file as folder": tar(folder / "both", ("a", b"x"), ("a/b", b"y")),
        "twice": tar(folder / "twice", ("a", b"x"), ("a", b"y")),
        "device": tar(folder / "device", (special(tarfile.CHRTYPE), b"")),
        "pipe": tar(folder / "pipe", (special(tarfile.FIFOTYPE), b"")),
        "zip parent": packed(folder / "zipparent", **{"../up": b"x"}),
        "zip absolute": packed(folder / "zipabsolute", **{"/up-from-a-zip-file": b"x"}),
        "large": tar(folder / "large", ("x", b"\0" * 200_000)),
        "zip large": packed(folder / "ziplarge", x=b"\0" * 200_000),
        "many": tar(folder / "many", *((f"{n}", b"") for n in range(30))),
        "zip many": packed(folder / "zipmany", **{f"{n}": b"" for n in range(30)}),
    }


def test_headers_that_would_fill_the_memory_are_refused_by_name(tmp_path: Path) -> None:
    large = tarfile.TarInfo("x")
    large.pax_headers = {"comment": "y" * 70_000}
    long = tarfile.TarInfo("z" * 70_000)
    sparse = special(tarfile.GNUTYPE_SPARSE)
    gaps = tarfile.TarInfo("x")
    gaps.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    pax, gnu = {"format": tarfile.PAX_FORMAT}, {"format": tarfile.GNU_FORMAT}
    everywhere = {**pax, "pax_headers": {f"key{number}": "y" for number in range(200)}}
    cases = (
        ("attributes", large, pax, "a header of 70,"),
        ("name", long, gnu, "a header of 70,"),
        ("sparse", sparse, gnu, "is a sparse file"),
        ("gaps", gaps, pax, "is a sparse file"),
        ("global", tarfile.TarInfo("x"), everywhere, "global attributes"),
    )
    for name, member, options, reason in cases:
        with tarfile.open(tmp_path / name, "w:gz", **options) as archive:  # type: ignore[call-overload]
            archive.addfile(member)
            archive.addfile(tarfile.TarInfo("last"))
        with pytest.raises(SourceError, match=f"{name} cannot be unpacked: .*{reason}"):
            unpack_archive(tmp_path / name, tmp_path / "out")


@pytest.mark.trust
@pytest.mark.parametrize("content", [b"1" * 60_000, b"1" * 8_000, b"9 a=bbb\n" * 1_000])
def test_headers_take_a_limited_time(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.distribution.recipes.unpack.MAX_HEADERS_BYTES", 100_000)
    header = special(tarfile.XHDTYPE)
    header.size = len(content)
    with (tmp_path / "endless").open("wb") as file:
        for number in range(200):
            file.write(header.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512))
            file.write(tarfile.TarInfo(f"{number}").tobuf(tarfile.USTAR_FORMAT))
        file.write(bytes(1024))
    with limit(), pytest.raises(SourceError, match="cannot be unpacked"):
        unpack_archive(tmp_path / "endless", tmp_path / "out")


def test_headers_take_a_limited_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikigr.distribution.recipes.unpack.MAX_HEADERS_S", 0.0)
    named = tarfile.TarInfo("n" * 200)
    with tarfile.open(tmp_path / "slow", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(named)
        archive.addfile(named)
    with pytest.raises(SourceError, match="its headers are too long"):
        unpack_archive(tmp_path / "slow", tmp_path / "out")


def test_ordinary_attributes_are_read(tmp_path: Path) -> None:
    member = tarfile.TarInfo("ü" * 40 + "/x" * 60)
    member.pax_headers = {"comment": "y" * 1000}
    with tarfile.open(tmp_path / "a", "w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "git"}) as archive:
        archive.addfile(member)
    unpack_archive(tmp_path / "a", tmp_path / "out")
    assert list(files(tmp_path / "out")) == [member.name]


def test_a_hostile_archive_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "secret").write_text("secret")
    for name, archive in hostile(tmp_path / "given").items():
        with pytest.raises(SourceError, match=archive.name):
            unpack_archive(archive, tmp_path / "out", max_bytes=100_000, max_members=20)
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["given", "secret"], name
    assert not Path("/up-from-a-zip-file").exists()


@pytest.mark.parametrize(
    "link", [(tarfile.SYMTYPE, "/etc"), (tarfile.SYMTYPE, "../.."), (tarfile.LNKTYPE, "../secret")]
)
def test_links_are_left_out_so_nothing_is_written_through_them(link: tuple[bytes, str], tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    archive = tar(tmp_path / "a", (special(*link), b""), ("member/x", b"one"), ("y", b"two"))
    unpack_archive(archive, tmp_path / "out")
    assert files(tmp_path / "out") == {"member/x": b"one", "y": b"two"}
    assert (tmp_path / "secret").read_text() == "secret" and not Path("/etc/x").exists()


def test_what_a_killed_process_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".out.part").mkdir()
    (tmp_path / ".out.part" / "old").write_text("old")
    unpack_archive(tar(tmp_path / "a", ("x", b"new")), tmp_path / "out")
    assert files(tmp_path / "out") == {"x": b"new"}

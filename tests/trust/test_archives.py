"""Malicious archives: each is refused with a clear error and leaves nothing on the disk."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import shutil
import struct
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from tests.trust import checkers
from tests.trust.conftest import Tally

from wikigr.checks import Check
from wikigr.distribution import verify as validation
from wikigr.distribution.archive import ArchiveLimits, export_pack, unpack
from wikigr.distribution.signature import PrivateKey
from wikigr.distribution.verify import validate_untrusted
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import find_prepared
from wikigr.errors import PackError, WikigrError
from wikigr.graph.engine import Graph
from wikigr.pack.layout import DATABASE, MANIFEST, PAGERANK, SIGNATURE
from wikigr.pack.manifest import describe_file, describe_files

Count = Callable[[str], Tally]
KEY = PrivateKey(bytes(range(32)))
BLOCK = 512
END = bytes(2 * BLOCK)


# -- a good archive, taken apart


@dataclass(frozen=True)
class Member:
    """A file of a tar: its header and its data without padding."""

    header: bytes
    data: bytes

    @property
    def name(self) -> str:
        return self.header[:100].rstrip(b"\0").decode()

    def with_fields(self, **fields: bytes) -> Member:
        """Return it with other header fields and a checksum that fits."""
        places = {"name": (0, 100), "mode": (100, 108), "size": (124, 136), "mtime": (136, 148), "kind": (156, 157),
                  "link": (157, 257), "magic": (257, 265), "owner": (265, 297), "prefix": (345, 500)}  # fmt: skip
        header = bytearray(self.header)
        for field, value in fields.items():
            first, last = places[field]
            header[first:last] = value.ljust(last - first, b"\0")
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        return Member(bytes(header), self.data)

    def holding(self, data: bytes) -> Member:
        return Member(self.with_fields(size=b"%011o\0" % len(data)).header, data)


def members_of(tar: bytes) -> list[Member]:
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        return [
            Member(tar[m.offset : m.offset + BLOCK], tar[m.offset_data : m.offset_data + m.size])
            for m in opened.getmembers()
        ]


def tar_of(members: list[Member], end: bytes = END) -> bytes:
    return b"".join(m.header + m.data + bytes(-len(m.data) % BLOCK) for m in members) + end


def compressed(tar: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(tar)


def remade(members: list[Member], change: Callable[[dict[str, Any]], None]) -> list[Member]:
    """Return the members with a changed manifest."""
    manifest = json.loads(members[0].data)
    change(manifest)
    return [members[0].holding(json.dumps(manifest).encode()), *members[1:]]


@pytest.fixture(scope="module")
def archive(letters_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return export_pack(letters_pack, tmp_path_factory.mktemp("trust") / "letters.wikigr").file.read_bytes()


@pytest.fixture(scope="module")
def members(archive: bytes) -> list[Member]:
    return members_of(zstandard.ZstdDecompressor().decompress(archive))


@pytest.fixture(scope="module")
def signed(letters_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Member]:
    file = export_pack(letters_pack, tmp_path_factory.mktemp("trust") / "signed.wikigr", key=KEY).file
    return members_of(zstandard.ZstdDecompressor().decompress(file.read_bytes()))


# -- what must hold after every attack


@dataclass(frozen=True)
class Arena:
    """A folder with a few files around the place where archives are unpacked."""

    root: Path

    @property
    def into(self) -> Path:
        return self.root / "a" / "b" / "into"

    def refuses(
        self,
        data: bytes,
        message: str = ".",
        limits: ArchiveLimits | None = None,
        error: type[WikigrError] = PackError,
    ) -> WikigrError:
        """Unpack ``data``, which must be refused and leave no trace; returns the error."""
        before = self.state()
        file = self.root / "hostile.wikigr"
        file.write_bytes(data)
        with pytest.raises(error, match=message) as caught:
            unpack(file, self.into, limits=limits or ArchiveLimits())
        file.unlink()
        assert type(caught.value) is error
        assert self.state() == before
        assert len(caught.value.message) < 1000
        assert caught.value.message.isprintable()
        return caught.value

    def state(self) -> dict[str, tuple[int, bytes]]:
        """Everything in the folder: names, kinds and contents."""
        return {
            path.relative_to(self.root).as_posix(): (
                path.lstat().st_mode,
                path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
            )
            for path in self.root.rglob("*")
        }


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for place in ("bystander", "a/bystander", "a/b/bystander"):
        (tmp_path / place).write_text("not yours")
    return Arena(tmp_path)


def test_the_good_archive_taken_apart_and_put_together_is_accepted(
    members: list[Member], signed: list[Member], arena: Arena
) -> None:
    for good in (members, signed):
        (arena.root / "good.wikigr").write_bytes(compressed(tar_of(good)))
        unpack(arena.root / "good.wikigr", arena.into)
        shutil.rmtree(arena.into)


# -- members


HOSTILE_NAMES = (
    b"/tmp/evil",
    b"../evil",
    b"lexical/../../evil",
    b"..\\evil",
    b"C:\\evil",
    b"evil",
    b"PACK.DB",
    b"pack.db.wal",
    b"./pack.db",
    b"lexical//meta.json",
    b"lexical/",
    b"pack.db ",
    b".wikigr/commit",
    b"eval/evil.py",
    b"\x1b[2Jevil",
    b"\xff\xfe",
    "pack.db\u0301".encode(),
    b"x" * 100,
    b"pack.db\0.txt",
)
KINDS = {
    "hard link": b"1",
    "symbolic link": b"2",
    "character device": b"3",
    "block device": b"4",
    "folder": b"5",
    "fifo": b"6",
    "contiguous file": b"7",
    "old file": b"\0",
    "GNU long name": b"L",
    "GNU long link": b"K",
    "GNU sparse file": b"S",
    "pax header": b"x",
    "global pax header": b"g",
}


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_of_members(members: list[Member], arena: Arena, tally: Count, name: bytes) -> None:
    count = tally("archive: a member with a hostile name")
    found = name.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    message = (
        re.escape(f"The archive contains {found!r} instead of ")
        if b"\0" not in name
        else "instead of|differs|does not have the size"
    )
    for place in range(1, len(members) + 1):
        evil = members[-1].with_fields(name=name)
        arena.refuses(compressed(tar_of([*members[:place], evil, *members[place:]])), message)
        count.refused()


@pytest.mark.parametrize("kind", KINDS)
def test_members_that_are_not_regular_files(members: list[Member], arena: Arena, tally: Count, kind: str) -> None:
    count = tally("archive: members other than regular files")
    code, message = KINDS[kind], "which is not a regular file"
    pax = b"30 path=../../../../tmp/evil\n\n"
    for place, victim in enumerate(members):
        for link in (b"", b"/etc/passwd", b"../../bystander") if "link" in kind else (b"",):
            evil = victim.with_fields(kind=code, link=link)
            arena.refuses(compressed(tar_of([*members[:place], evil, *members[place + 1 :]])), message)
            extra = Member(victim.header, pax).holding(pax).with_fields(kind=code, link=link)
            arena.refuses(compressed(tar_of([*members[:place], extra, *members[place:]])), message)
            count.refused(2)


def test_duplicate_missing_and_misplaced_members(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: duplicate, missing or reordered members")
    for place in range(len(members)):
        twice = [*members[: place + 1], *members[place:]]
        arena.refuses(compressed(tar_of(twice)), f"'{re.escape(members[place].name)}' instead of")
        late = [*members, members[place]]
        arena.refuses(compressed(tar_of(late)), "instead of its end")
        arena.refuses(compressed(tar_of([*members[:place], *members[place + 1 :]])))
        count.refused(3)
    for place in range(len(members) - 1):
        moved = [*members[:place], members[place + 1], members[place], *members[place + 2 :]]
        arena.refuses(compressed(tar_of(moved)))
        count.refused()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mode": b"0004755\0"}, "differs from the one that `wikigr pack export` writes"),
        ({"mtime": b"00000000001\0"}, "differs from the one that `wikigr pack export` writes"),
        ({"owner": b"root"}, "differs from the one that `wikigr pack export` writes"),
        ({"link": b"/etc/passwd"}, "differs from the one that `wikigr pack export` writes"),
        ({"prefix": b"/tmp"}, "contains '/tmp/.*' instead of"),
        ({"prefix": b"lexical"}, "contains 'lexical/.*' instead of"),
        ({"magic": b"ustar  \0"}, "differs from the one that `wikigr pack export` writes"),
        ({"magic": b""}, "differs from the one that `wikigr pack export` writes"),
        ({"size": b"77777777777\0"}, "has .* bytes; .* are allowed|does not have the size"),
        ({"size": b"00000000000\0"}, "does not have the size|is not valid"),
        ({"size": b"-0000000001\0"}, "."),
        ({"size": b"\xff" * 12}, "."),
        ({"size": b"\x80" + (1 << 62).to_bytes(11, "big")}, "."),
        ({"size": b"0x000000010\0"}, "."),
        ({"size": b"            "}, "."),
    ],
    ids=str,
)
def test_headers_that_lie(
    members: list[Member], arena: Arena, tally: Count, fields: dict[str, bytes], message: str
) -> None:
    count = tally("archive: false headers")
    for place, victim in enumerate(members):
        evil = victim.with_fields(**fields)
        arena.refuses(compressed(tar_of([*members[:place], evil, *members[place + 1 :]])), message)
        count.refused()


def test_a_wrong_checksum_of_a_header(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: false headers")
    for place, victim in enumerate(members):
        evil = Member(victim.header[:148] + b"000000\0 " + victim.header[156:], victim.data)
        arena.refuses(compressed(tar_of([*members[:place], evil, *members[place + 1 :]])))
        count.refused()


def test_data_where_none_belongs(archive: bytes, members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: unexpected data")
    good = tar_of(members)
    assert len(members[0].data) % BLOCK
    offset = BLOCK + len(members[0].data)
    padded = good[:offset] + b"x" + good[offset + 1 :]
    frame = compressed(b"")
    skippable = struct.pack("<II", 0x184D2A50, 8) + b"evilevil"
    for data, message in (
        (compressed(padded), "between its files"),
        (compressed(tar_of(members, END + b"x")), "after its end"),
        (compressed(tar_of(members, END + bytes(BLOCK))), "after its end"),
        (compressed(tar_of(members, bytes(BLOCK) + b"x" * BLOCK)), "after its end"),
        (archive + b"x", "after its end"),
        (archive + bytes(1 << 16), "after its end"),
        (archive + archive, "after its end"),
        (archive + frame, "after its end"),
        (archive + skippable, "after its end"),
        (skippable + archive, "."),
        (frame + archive, "truncated"),
        (b"", "truncated"),
        (b"\0" * 5000, "damaged or not an archive"),
        (good, "damaged or not an archive"),
        (b"PK\3\4" + bytes(3000), "damaged or not an archive"),
        (compressed(b""), "truncated"),
        (compressed(END), "ends before manifest.json"),
        (compressed(os.urandom(4096)), "other than a tar file"),
        (compressed(tar_of([])), "ends before"),
    ):
        arena.refuses(data, message)
        count.refused()


# -- bombs


def test_bombs(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: bombs")
    zeros = bytes(64 << 20)
    database = next(member for member in members if member.name == DATABASE)

    def sized(size: int) -> Callable[[dict[str, Any]], None]:
        return lambda manifest: manifest["files"][DATABASE].update(size=size, sha256=hashlib.sha256(zeros).hexdigest())

    big = [m if m.name != DATABASE else m.holding(zeros) for m in members]
    arena.refuses(compressed(tar_of(remade(big, sized(len(zeros))))), "real packs do not compress that well")
    arena.refuses(compressed(tar_of(remade(members, sized(1 << 50)))), "are allowed")
    huge = ArchiveLimits(total_bytes=1 << 60, ratio=1 << 60)
    larger = compressed(tar_of(remade(members, sized(1 << 50))))
    arena.refuses(larger, "the disk of .* has", limits=huge, error=WikigrError)
    many = {f"encoder/{n}": {"size": 0, "sha256": hashlib.sha256().hexdigest()} for n in range(10_001)}
    arena.refuses(compressed(tar_of(remade(members, lambda m: m["files"].update(many)))), "10,000 are allowed")
    # More than the manifest says, in the file or behind everything: nothing of it is written, or even held.
    arena.refuses(compressed(tar_of([m if m is not database else Member(m.header, zeros) for m in members])))
    arena.refuses(compressed(tar_of(members, END + zeros)), "after its end")
    arena.refuses(compressed(tar_of([members[0].holding(zeros), *members[1:]])), "16,777,216 are allowed")
    claimed = members[0].with_fields(size=b"77777777777\0")
    arena.refuses(compressed(tar_of([claimed, *members[1:]])), "16,777,216 are allowed")
    count.refused(8)


def test_a_window_that_takes_much_memory(members: list[Member], arena: Arena, tally: Count) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, compression_level=3)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = compressor.compress(tar_of(members)) + compressor.flush()
    arena.refuses(data, "damaged or not an archive.*memory|window")
    tally("archive: bombs").refused()


# -- damage


@pytest.mark.trust
def test_truncated_at_every_block(physics_pack: Path, archive: bytes, arena: Arena, tally: Count) -> None:
    count = tally("archive: truncated at a 4 KiB boundary or just before the end")
    large = export_pack(physics_pack, arena.root / "physics.wikigr").file.read_bytes()
    assert len(large) > 50 * 4096
    for whole in (archive, large):
        for end in (*range(0, len(whole), 4096), len(whole) - 1, len(whole) - 4, len(whole) - 5):
            arena.refuses(whole[:end], "truncated")
            count.refused()


def test_truncated_at_every_header(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: truncated at a header, with valid compression")
    tar = tar_of(members)
    offset = 0
    for member in members:
        for end in (offset, offset + 1, offset + BLOCK, offset + BLOCK + len(member.data) // 2):
            arena.refuses(compressed(tar[:end]), "truncated")
            arena.refuses(compressed(tar[:end] + bytes(-end % BLOCK) + END))
            count.refused(2)
        offset += BLOCK + len(member.data) + -len(member.data) % BLOCK
    for end in (len(tar) - BLOCK, len(tar) - 1):
        arena.refuses(compressed(tar[:end]), "truncated")
        count.refused()


@pytest.mark.trust
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_flipped_bits(archive: bytes, letters_pack: Path, arena: Arena, tally: Count, first: int) -> None:
    """A flip in what zstd ignores gives the same files; every other one is an error."""
    count = tally("archive: 500 flipped bits")
    expected: dict[str, bytes] | None = None
    for seed in range(first, first + 50):
        choice = random.Random(seed)
        data = bytearray(archive)
        # Every other flip in the first bytes, which hold the headers.
        data[choice.randrange(len(data) if seed % 2 else 2000)] ^= 1 << choice.randrange(8)
        file = arena.root / "hostile.wikigr"
        file.write_bytes(data)
        try:
            unpack(file, arena.into)
        except PackError:
            assert not arena.into.exists()
            count.refused()
            continue
        if expected is None:
            (arena.root / "good.wikigr").write_bytes(archive)
            unpack(arena.root / "good.wikigr", arena.root / "good")
            expected = tree(arena.root / "good")
        assert tree(arena.into) == expected
        shutil.rmtree(arena.into)
        count.harmless()


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- signatures


def test_invalid_signatures(signed: list[Member], members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("archive: signatures that do not match")
    manifest, signature, *files = signed
    assert signature.name == SIGNATURE
    renamed = remade(signed, lambda fields: fields.update(version="1.0.1"))
    for attack in (
        renamed,
        [manifest.holding(manifest.data + b" "), signature, *files],
        [manifest, signature.holding(b"{}"), *files],
        [manifest, signature.holding(signature.data.replace(b"ed25519", b"none")), *files],
        [manifest, signature.holding(b"x" * 100_000), *files],
        [manifest, signature, signature, *files],
        [signature, manifest, *files],
        [manifest, *files[:1], signature, *files[1:]],
        [manifest, *files, signature],
    ):
        arena.refuses(compressed(tar_of(attack)))
        count.refused()
    for place in range(0, len(signature.data) - 3, 7):
        data = bytearray(signature.data)
        data[place] ^= 1
        arena.refuses(compressed(tar_of([manifest, signature.holding(bytes(data)), *files])))
        count.refused()
    # A file behind a signed manifest.
    *before, last = files
    flipped = Member(last.header, bytes([last.data[0] ^ 1]) + last.data[1:])
    arena.refuses(compressed(tar_of([manifest, signature, *before, flipped])), "SHA-256 differs")
    count.refused()


# -- manifests

SOME = {"size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}


def _hostile_files() -> Iterator[dict[str, object]]:
    for name in (
        "/etc/passwd", "../evil", "lexical/../../evil", "lexical/./x", "lexical//x", "lexical/x/", "lexical", "",
        "C:\\evil", "..\\evil", "lexical/x\0y", "lexical/\x1b[2J", "lexical/x\ny", "lexical/" + "x" * 200,
        "manifest.json", "signature.json", ".wikigr/commit", "lexical/.hidden", "eval/other.jsonl", "eval", "pack.db/x",
        "pack.db.wal",
        "pack.db.shadow", "Pack.db", "few_shot_examples.json/x", "encoder/é", "encoder/e\u0301", "encoder/\u202egpj",
        "lexical/ x", "lexical/~x", "evil.py", "encoder/a b",
    ):  # fmt: skip
        yield {name: SOME}
    yield {"encoder/a": SOME, "encoder/A": SOME}
    yield {"encoder/a": SOME, "encoder/a/b": SOME}
    yield {"encoder/a": SOME, "encoder/A/b": SOME}
    for size in (-1, 1.5, True, None, "3", 1 << 63, 10**400, [3]):
        yield {"encoder/a": {**SOME, "size": size}}
    for sha256 in ("", "x" * 64, SOME["sha256"].upper(), None, 7, "0" * 63, "0" * 64 + "\n"):  # type: ignore[attr-defined]
        yield {"encoder/a": {**SOME, "sha256": sha256}}
    yield {"encoder/a": None}
    yield {"encoder/a": {}}


def test_manifests_with_hostile_files(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("manifest: hostile names, sizes and hashes of files")
    for files in _hostile_files():
        evil = remade(members, lambda manifest, files=files: manifest["files"].update(files))  # type: ignore[misc]
        # A line break after a hash is no part of it, and the file that has it is not in the archive.
        arena.refuses(compressed(tar_of(evil)), "archive's manifest|The archive ends before")
        count.refused()


_LABELS = ("name", "version", "created", "engine", "engine_version", "wikigr_version")


def _hostile_fields() -> Iterator[dict[str, object]]:
    values: tuple[object, ...] = (None, 7, [], {}, "x" * 1000)
    for label in _LABELS:
        for value in values:
            yield {label: value}
    yield {"name": ""}
    yield {"version": ""}
    for text in ("description", "license"):
        for value in (None, 7, ["x"], "x" * 20_000, "x" * (15 << 20)):
            yield {text: value}
    yield {"digest": "x" * 64}
    yield {"digest": ""}
    yield {"format_version": 99}
    yield {"format_version": "x" * 100_000}
    yield {"format_version": None}
    yield {"counts": {"articles": -1}}
    yield {"counts": {"articles": 1 << 80}}
    yield {"counts": {"articles": 1.5}}
    yield {"counts": {"articles": True}}
    yield {"counts": {"x" * 20_000: 1}}
    yield {"counts": []}
    yield {"thresholds": {"min_relevance": "0.3"}}
    yield {"thresholds": {"min_relevance": 10**400}}
    yield {"source": {"name": 1}}
    yield {"source": "x"}
    yield {"source": {"name": "x" * 20_000}}
    yield {"storage_version": -1}
    yield {"storage_version": 40.0}
    yield {"vector_index": 1}
    yield {"bundled_encoder": "no"}
    yield {"files": []}
    yield {"files": None}
    encoders: tuple[object, ...] = (
        None,
        [],
        {},
        {"model_id": "x"},
        {"model_id": "x", "dimension": -1, "weights_sha256": "0"},
        {"model_id": "x", "dimension": 1e9, "weights_sha256": "0"},
    )
    for encoder in encoders:
        yield {"encoder": encoder}


def test_manifests_with_hostile_values(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("manifest: hostile values")
    for fields in _hostile_fields():
        evil = remade(members, lambda manifest, fields=fields: manifest.update(fields))  # type: ignore[misc]
        arena.refuses(compressed(tar_of(evil)), "manifest")
        count.refused()


def test_what_manifests_say_is_on_one_line(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("manifest: lines and codes that forge others")
    for text in ("a\nb", "a\r\nSure (0.99)", "a\u2028b", "\x1b]0;evil\x07", "\u202eevil", "a\0b"):
        for label in (*_LABELS, "description", "license"):
            evil = remade(members, lambda manifest, label=label, text=text: manifest.update({label: text}))  # type: ignore[misc]
            file = arena.root / "forged.wikigr"
            file.write_bytes(compressed(tar_of(evil)))
            try:
                found = unpack(file, arena.into).manifest
            except PackError as error:
                assert error.message.isprintable(), (label, text)
                count.refused()
                continue
            assert len(str(getattr(found, label)).splitlines()) == 1, (label, text)
            shutil.rmtree(arena.into)
            count.harmless()


def test_manifests_that_are_not_valid_json(members: list[Member], arena: Arena, tally: Count) -> None:
    count = tally("manifest: hostile JSON")
    good = members[0].data
    for data in (
        b"", b"null", b"[]", b"7", b'"x"', b"{", b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 100_000, b"{}", good + b"{}",
        good.replace(b'"name"', b'"name": "x", "name"', 1), good.replace(b'"articles": 3', b'"articles": NaN'),
        good.replace(b'"articles": 3', b'"articles": 1e999'), good.replace(b'"letters"', b'"\\ud800"', 1),
        good.replace(b'"min_relevance": ', b'"min_relevance": Infinity, "x": '),
        good.replace(b'"min_relevance": ', b'"min_relevance": 1e999, "x": '),
        good.replace(b'"letters"', b"[" * 900 + b"]" * 900, 1),
        good.replace(b'"letters"', b'{"a":' * 900 + b"1" + b"}" * 900, 1),
        good.replace(b'"articles": 3', b'"articles": ' + b"9" * 5000), b"\xef\xbb\xbf" + good,
    ):  # fmt: skip
        assert data != good
        arena.refuses(compressed(tar_of([members[0].holding(data), *members[1:]])), "manifest")
        count.refused()
    for size in (17 << 20, 100 << 20):
        text = good.replace(b'"description": ""', b'"description": "' + b"x" * size + b'"')
        arena.refuses(compressed(tar_of([members[0].holding(text), *members[1:]])), "are allowed")
        count.refused()


# -- good archives of hostile packs


@dataclass(frozen=True)
class Workshop:
    """Creates archives of manipulated packs with correct hashes."""

    pack: Path
    arena: Arena

    def proved(self, tamper: Callable[[Path], None], *, seconds: float | None = None) -> list[Check]:
        """Tamper with a copy of the pack, fix its hashes, send it through an archive and validate the result."""
        copy = shutil.copytree(self.pack, self.arena.root / "copy", ignore=shutil.ignore_patterns(".*"))
        tamper(copy)
        manifest = json.loads((copy / MANIFEST).read_text())
        found = {name: record for name, record in describe_files(copy).items() if name in manifest["files"]}
        manifest["files"] = {name: {"size": r.size, "sha256": r.sha256} for name, r in found.items()}
        (copy / MANIFEST).write_text(json.dumps(manifest))
        file = export_pack(copy, self.arena.root / "hostile.wikigr").file
        shutil.rmtree(copy)
        unpack(file, self.arena.into)
        file.unlink()
        try:
            return validate_untrusted(self.arena.into, seconds=seconds)
        finally:
            shutil.rmtree(self.arena.into)


@pytest.fixture
def workshop(letters_pack: Path, arena: Arena) -> Workshop:
    return Workshop(letters_pack, arena)


def failures(checks: list[Check]) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in checks if not check.passed and check.required]


def cypher(*statements: str) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        with Graph(folder / DATABASE, read_only=False) as graph:
            for statement in statements:
                graph.execute(statement)
            graph.execute("CHECKPOINT")
        for leftover in folder.glob(f"{DATABASE}?*"):
            leftover.unlink()

    return tamper


def test_an_untouched_pack_is_valid(workshop: Workshop) -> None:
    assert failures(workshop.proved(lambda _: None)) == []
    assert failures(workshop.proved(cypher("MATCH (a:Article) SET a.word_count = a.word_count"))) == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("MATCH (a:Article {title: 'Alpha'}) SET a.url = 'https://evil.example'", "digest"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.source_id = 'evil'", "digest"),
        ("MATCH (a:Article {title: 'Beta'}) SET a.aliases = ['Evil']", "digest"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.content = 'Evil'", "offsets"),
        ("MATCH (a:Article {title: 'Gamma'}), (b:Article {title: 'Beta'}) CREATE (a)-[:LINKS_TO]->(b)", "links"),
        ("CREATE (:Article {title: 'Evil'})", "values"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.level = 7", "columns"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.position = 7", "columns"),
        ("MATCH (a:Article {title: 'Gamma'}) SET a.category = 'Evil'", "columns"),
        ("MATCH (a:Article {title: 'Gamma'}) SET a.category = NULL", "values"),
        ("MATCH (a:Article {title: 'Gamma'}) SET a.aliases = NULL", "values"),
        ("MATCH (s:Section {section_id: 'Beta#0'}) SET s.embedding = NULL", "values"),
        ("MATCH (s:Section) SET s.embedding = CAST(range(1, 384) AS FLOAT[384])", "vectors"),
        ("CREATE NODE TABLE Evil(id INT64 PRIMARY KEY)", "schema: the database defines 'table Evil'"),
        ("CREATE REL TABLE EVIL(FROM Article TO Entity)", "schema: the database defines 'table EVIL'"),
        ("CREATE REL TABLE `E'V\\IL`(FROM Article TO Entity)", "schema"),
        ("ALTER TABLE Article ADD evil STRING DEFAULT 'x'", "schema: the database defines table Article differently"),
        ("ALTER TABLE Article DROP url", "schema: the database defines table Article differently"),
        ("ALTER TABLE Article RENAME TO Evil", "schema"),
        ("COMMENT ON TABLE Article IS 'evil'", "schema: the database defines table Article differently"),
        ("DROP TABLE LINKS_TO", "schema: the database has no table LINKS_TO"),
        ("CREATE MACRO lower_evil(x) AS x + 1", "schema: the database defines 'macro"),
        ("CREATE SEQUENCE evil", "schema: the database defines 'sequence evil'"),
    ],
)
def test_databases_with_something_else_in_them(workshop: Workshop, tally: Count, statement: str, message: str) -> None:
    found = failures(workshop.proved(cypher(statement)))
    assert found, statement
    assert any(failure.startswith(message) for failure in found), found
    tally("database: changed content, schema or definitions, all hashes right").refused()


def test_a_manifest_that_lies_about_its_digest(workshop: Workshop, tally: Count) -> None:
    def lie(folder: Path) -> None:
        manifest = json.loads((folder / MANIFEST).read_text())
        (folder / MANIFEST).write_text(json.dumps({**manifest, "digest": "0" * 64}))

    found = failures(workshop.proved(lie))
    assert [failure.partition(":")[0] for failure in found] == ["PageRank", "graph index", "digest"]
    tally("manifest: a digest that does not match the content").refused()


def _rewritten(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return rewrite


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "one byte": lambda data: b"x",
    "garbage": lambda data: random.Random(7).randbytes(200_000),
    "zeros": lambda data: bytes(len(data)),
    "ones": lambda data: b"\xff" * len(data),
    "text": lambda data: b"#!/bin/sh\nrm -rf ~\n" * 1000,
    "its first tenth": lambda data: data[: len(data) // 10],
    "half": lambda data: data[: len(data) // 2],
    "without its last tenth": lambda data: data[: len(data) * 9 // 10],
    "its first tenth and garbage": lambda data: data[: len(data) // 10] + random.Random(8).randbytes(len(data)),
    "bytes in reverse": lambda data: data[::-1],
}


@pytest.mark.trust
@pytest.mark.parametrize("name", [DATABASE, PAGERANK, "graph_index.npz", "lexical/meta.json"])
@pytest.mark.parametrize("damage", list(DAMAGE))
def test_files_of_garbage_with_the_right_hash(workshop: Workshop, tally: Count, name: str, damage: str) -> None:
    checks = workshop.proved(_rewritten(name, DAMAGE[damage]))
    found = failures(checks)
    assert found, "a damaged file was accepted"
    assert all("\n" not in failure for failure in found)
    tally("files: garbage with the right hash").refused()


def test_a_large_sparse_database(workshop: Workshop, arena: Arena, tally: Count) -> None:
    def grow(folder: Path) -> None:
        os.truncate(folder / DATABASE, 50 << 20)

    checks = workshop.proved(grow)
    count = tally("database: large and sparse")
    if failures(checks):
        count.refused()
    else:  # the engine ignores what follows its pages: the pack is what it says
        assert checks[-1].name == "digest"
        count.harmless()


@pytest.mark.trust
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_flipped_bits_in_the_database(workshop: Workshop, tally: Count, first: int) -> None:
    """A flip is detected, or it hits unused bytes and the content still matches the manifest."""
    count = tally("database: flipped bits with the right hash")
    for seed in range(first, first + 8):
        choice = random.Random(seed)

        def flip(data: bytes, choice: random.Random = choice) -> bytes:
            changed = bytearray(data)
            for _ in range(20):
                changed[choice.randrange(len(changed) if choice.random() < 0.5 else 8192)] ^= 1 << choice.randrange(8)
            return bytes(changed)

        checks = workshop.proved(_rewritten(DATABASE, flip))
        assert checks
        if failures(checks):
            count.refused()
        else:
            assert (checks[-1].name, checks[-1].passed) == ("digest", True)
            count.harmless()


def _compressed_graph(folder: Path) -> None:
    with np.load(folder / "graph_index.npz") as index:
        arrays = {**index, "ends": np.zeros(20_000_000, np.int64), "indptr": np.zeros(10_000_001, np.int64)}
    np.savez_compressed(folder / "graph_index.npz", **arrays)


def _larger_graph(folder: Path) -> None:
    with np.load(folder / "graph_index.npz") as index:
        arrays = dict(index)
    # A node without a name.
    grown = {name: np.append(arrays[name], arrays[name][-1]) for name in ("ends", "indptr")}
    np.savez(folder / "graph_index.npz", **{**arrays, **grown, "ends": np.append(grown["ends"], grown["ends"][-1])})


def _other_edges(folder: Path) -> None:
    with np.load(folder / "graph_index.npz") as index:
        arrays = {**index, "indices": index["indices"][::-1]}
    np.savez(folder / "graph_index.npz", **arrays)


def _scores(titles: Callable[[int], str], count: int) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        cache = json.loads((folder / PAGERANK).read_text())
        scores = {titles(n): 1e-7 for n in range(count)}
        (folder / PAGERANK).write_text(json.dumps({**cache, "scores": scores}))

    return write


def _written(name: str, content: Callable[[], str]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(content())

    return write


EXAMPLE = {"question": "What is Beta?", "context": {"articles": [], "facts": []}, "answer": "A letter."}


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (_compressed_graph, "graph index: Cannot read the graph index .* is compressed"),
        (_larger_graph, "graph index: .* more nodes than the pack"),
        (_other_edges, "graph index: differs from a new index"),
        (_scores(lambda n: f"Foreign {n}", 200_000), "PageRank: .* more than .* bytes, the limit"),
        (_scores(lambda n: f"Foreign {n}", 4), "PageRank: .* 4 titles for 3 articles"),
        (_scores(lambda n: f"Foreign {n}", 3), "PageRank: has 3 titles that the pack does not have"),
        (
            _written("few_shot_examples.json", lambda: json.dumps([EXAMPLE] * 100_000)),
            "few_shot_examples.json: .* 100,000 examples, more than the limit",
        ),
        (
            _written("few_shot_examples.json", lambda: json.dumps([{**EXAMPLE, "answer": "x" * (17 << 20)}])),
            "few_shot_examples.json: .* more than .* bytes, the limit",
        ),
        (_written("few_shot_examples.json", lambda: "[" * 100_000), "few_shot_examples.json"),
        (_written("eval/questions.jsonl", lambda: "[]\n"), "eval/questions.jsonl: .* is not an object"),
        (
            _written("eval/questions.jsonl", lambda: " " * (17 << 20)),
            "eval/questions.jsonl: .* more than .* bytes, the limit",
        ),
    ],
)
def test_files_beside_the_database_that_do_not_fit_it(
    workshop: Workshop, tally: Count, tamper: Callable[[Path], None], message: str
) -> None:
    """Regression: a graph index of 1 MB took 3.2 GB; three million scores and 100,000 examples were accepted."""
    found = failures(workshop.proved(tamper))
    assert len(found) == 1, found
    assert re.match(message, found[0]), found
    tally("companions: bombs, and other content than the database").refused()


def test_a_regular_expression_in_a_bundled_tokenizer(workshop: Workshop, tally: Count) -> None:
    def bundle(folder: Path) -> None:
        shutil.copytree(find_prepared(DEFAULT_MODEL).folder, folder / "encoder")
        path = folder / "encoder" / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        tokenizer["normalizer"] = {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": "b"}
        path.write_text(json.dumps(tokenizer))
        _list_encoder(folder)

    found = failures(workshop.proved(bundle))
    assert len(found) == 1, found
    assert found[0].startswith("tokenizer: ") and "the regular expression '(a+)+$'" in found[0]
    tally("encoder: a regular expression in the tokenizer").refused()


def _list_encoder(folder: Path) -> None:
    """Describe the bundled encoder correctly."""
    place = folder / "encoder"
    description = json.loads((place / "encoder.json").read_text())
    records = describe_files(place)
    description["files"] = {n: {"size": records[n].size, "sha256": records[n].sha256} for n in description["files"]}
    (place / "encoder.json").write_text(json.dumps(description))
    manifest = json.loads((folder / MANIFEST).read_text())
    files = {**manifest["files"], **{f"encoder/{name}": None for name in describe_files(place)}}
    (folder / MANIFEST).write_text(json.dumps({**manifest, "bundled_encoder": True, "files": files}))


def endless_encoder(folder: Path) -> None:
    """Bundle an encoder whose graph loops forever, with a correct description and correct hashes."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    place = folder / "encoder"
    shutil.copytree(find_prepared(DEFAULT_MODEL).folder, place)
    for path in (place / "model.onnx.data", *place.glob("reader.*")):
        path.unlink()
    graph = onnx.load(place / "model.onnx", load_external_data=False).graph
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Sin", ["old"], ["new"])],
        "body",
        [value("n", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("old", TensorProto.FLOAT, [384])],
        [value("on", TensorProto.BOOL, []), value("new", TensorProto.FLOAT, [384])],
    )
    constants = {
        "times": np.array(2**62),
        "go": np.array(True),
        "x": np.zeros(384, np.float32),
        "s": np.array([1, 384]),
    }
    nodes = [
        helper.make_node("Loop", ["times", "go", "x"], ["y"], body=body),
        helper.make_node("Reshape", ["y", "s"], [graph.output[0].name]),
    ]
    made = helper.make_graph(
        nodes, "g", graph.input, graph.output, [numpy_helper.from_array(v, n) for n, v in constants.items()]
    )
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), place / "model.onnx")
    description = json.loads((place / "encoder.json").read_text())
    record = describe_files(place)["model.onnx"]
    description["files"] = {
        name: {"size": record.size, "sha256": record.sha256} if name == "model.onnx" else of
        for name, of in description["files"].items()
        if name != "model.onnx.data"
    }
    (place / "encoder.json").write_text(json.dumps(description))
    manifest = json.loads((folder / MANIFEST).read_text())
    files = {**manifest["files"], **{f"encoder/{name}": None for name in describe_files(place)}}
    (folder / MANIFEST).write_text(json.dumps({**manifest, "bundled_encoder": True, "files": files}))


def test_an_encoder_that_never_returns_is_stopped_before_the_installation(workshop: Workshop, tally: Count) -> None:
    """Regression: `pack install` once ran its trial search in its own process, where not even Ctrl-C stopped it."""
    found = failures(workshop.proved(endless_encoder, seconds=8))
    assert len(found) == 1
    assert found[0].startswith("proof: The validation process took more than 8 seconds"), found
    tally("encoder: an endless graph").refused()


def test_checks_that_take_too_long_are_stopped(workshop: Workshop, tally: Count) -> None:
    found = failures(workshop.proved(lambda _: None, seconds=0.01))
    assert len(found) == 1
    assert "took more than" in found[0] or "took too much time" in found[0]
    tally("validation: a hang").refused()


def test_a_checker_that_crashes_or_lies_is_a_failed_check(
    letters_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Count
) -> None:
    """The child is a real process that dies from a signal, sends something invalid, or sends nothing."""
    count = tally("validation: a crash, or a compromised process that sends something else")
    for task, message in (
        (checkers.crash, "crashed (signal 6)"),
        (checkers.leave, "exited unexpectedly"),
        (checkers.babble, "sent an invalid message"),
        (checkers.say_nothing, "did not run all checks"),
        (checkers.say_little, "did not run all checks"),
        (checkers.say_yes, "sent an invalid message"),
        (checkers.send_pickle, "sent an invalid message"),
        (checkers.nest, "sent an invalid message"),
        (checkers.flood, "sent an invalid message"),
    ):
        monkeypatch.setattr(validation, "_TASK", f"{task.__module__}:{task.__name__}")
        found = [text for text in failures(validate_untrusted(letters_pack)) if text.startswith("proof")]
        assert len(found) == 1, (task, found)
        assert message in found[0], (task, found)
        count.refused()


def test_files_beside_the_database_are_refused(letters_pack: Path, tmp_path: Path, tally: Count) -> None:
    count = tally("database: a log or shadow file next to it")
    for name in ("pack.db.wal", "pack.db.shadow", "pack.db.lock", "pack.db.tmp"):
        copy = shutil.copytree(letters_pack, tmp_path / name)
        (copy / name).write_bytes(b"unfinished work")
        checks = validate_untrusted(copy)
        assert any(name in failure for failure in failures(checks))
        assert {check.name for check in checks} == {"files"}, "the database was opened"
        count.refused()


def test_what_is_unpacked_is_plain(archive: bytes, arena: Arena) -> None:
    (arena.root / "good.wikigr").write_bytes(archive)
    os.umask(os.umask(0))
    unpacked = unpack(arena.root / "good.wikigr", arena.into)
    paths = list(arena.into.rglob("*"))
    assert {path.relative_to(arena.into).as_posix() for path in paths} >= {MANIFEST, *unpacked.manifest.files}
    for path in paths:
        assert not path.is_symlink()
        assert path.is_dir() or path.stat().st_mode & 0o7111 == 0
    for name, record in unpacked.manifest.files.items():
        assert describe_file(arena.into / name) == replace(record)

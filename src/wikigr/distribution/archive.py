"""Export a pack to a single archive file, and unpack an untrusted archive safely.

An archive is a zstd-compressed tar file, and the same pack always gives the same bytes. ``manifest.json`` comes first,
then ``signature.json`` if the pack is signed, then the files in the order of the manifest. Every header is determined
by a name and a size, so unpacking compares each header byte for byte with the one that the manifest implies, and
refuses the archive on the first difference.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from tarfile import BLOCKSIZE, REGTYPE, USTAR_FORMAT, HeaderError, TarInfo
from typing import Any, BinaryIO

from wikigr.distribution.signature import (
    MAX_SIGNATURE_BYTES,
    PrivateKey,
    PublicKey,
    check_signature,
    read_signature,
    signature_file,
)
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.files import cannot_write, open_regular, remove_unfinished, replacing, sync, sync_tree
from wikigr.pack.layout import MANIFEST, SIGNATURE, Layout
from wikigr.pack.locate import ARCHIVE, find_pack
from wikigr.pack.manifest import (
    EXTRAS,
    MAX_MANIFEST_BYTES,
    FileRecord,
    Manifest,
    describe_file,
    file_path,
    is_pack_file,
    parse_manifest,
    read_manifest,
)
from wikigr.settings import cache_folder

# The folders of archives that are unpacked for a moment, and after how many seconds one was left by a killed process.
_TEMPORARY = "verify-"
_MAX_SECONDS = 86_400.0
_END = bytes(2 * BLOCKSIZE)
_CHUNK = 1 << 20
_MAX_TEXT_LENGTH = 10_000
_MAX_LABEL_LENGTH = 200
_MAX_OCTAL = (1 << 33) - 1

_FETCH = "Get the archive again, or ask its publisher for one created with `wikigr pack export`."


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Limits for an archive; ``ratio`` is the unpacked size divided by the size of the archive."""

    total_bytes: int = 256 << 30
    files: int = 10_000
    manifest_bytes: int = MAX_MANIFEST_BYTES
    ratio: int = 100


@dataclass(frozen=True, slots=True)
class ExportedArchive:
    """An archive that was written: its path, size in bytes, SHA-256, manifest, and signer."""

    file: Path
    size: int
    sha256: str
    manifest: Manifest
    signer: PublicKey | None


@dataclass(frozen=True, slots=True)
class UnpackedPack:
    """A pack from an archive: its folder, manifest and signer, and the archive's SHA-256."""

    folder: Path
    manifest: Manifest
    signer: PublicKey | None
    sha256: str


def archive_path(location: str | Path, output: str | Path | None) -> Path:
    """Return the path to which the pack at ``location`` is exported.

    If ``output`` is ``None`` or a folder, the file is called ``NAME-VERSION.wikigr``. An ``output`` that ends with a
    slash is a folder, which is created if necessary. Raises ``PackError`` when there is no pack, ``UsageError`` when
    its name or version cannot be part of a file name, and ``WikigrError`` when the folder cannot be created.
    """
    layout = find_pack(location)
    is_folder = isinstance(output, str) and output.endswith("/")
    folder = Path(output or "")
    if output is not None and not is_folder and not folder.is_dir():
        return folder
    manifest = read_manifest(layout.part(MANIFEST))
    name = f"{manifest.name}-{manifest.version}{ARCHIVE}"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}", name):
        raise UsageError(
            f"The pack's name and version do not form a valid file name: {_quote(name)}.", hint="Set one with -o."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write("the archive to", folder, error, "Choose another path with -o.") from error
    return folder / name


def export_pack(location: str | Path, output: Path, *, key: PrivateKey | None = None) -> ExportedArchive:
    """Write the pack at ``location`` to the file ``output`` atomically, signed with ``key``.

    Without a key, the pack's existing signature is kept if it is still valid. Raises ``PackError`` when the pack is
    missing or does not match its manifest, ``UsageError`` when the folder of ``output`` does not exist, and
    ``WikigrError`` when the file cannot be written for another reason.
    """
    layout = find_pack(location)
    if output.exists() and not output.is_file():
        # Renaming the archive into place would replace a device such as /dev/null.
        raise WikigrError(
            f"Cannot write the archive: {output} is not a regular file.", hint="Choose another path with -o."
        )
    with ExitStack() as stack:
        with layout.reading():
            manifest = read_manifest(_pack_file(layout, MANIFEST))
            # The optional files that the pack has got since it was built.
            extras = {
                name: describe_file(file_path(layout, name))
                for name in EXTRAS
                if name not in manifest.files and file_path(layout, name).is_file()
            }
            manifest = replace(manifest, files=dict(sorted({**manifest.files, **extras}.items())))
            _require_portable(
                manifest, ArchiveLimits(), "The pack's manifest", "Build the pack again with `wikigr pack build`."
            )
            try:
                files = [(name, stack.enter_context(open_regular(_pack_file(layout, name)))) for name in manifest.files]
            except OSError as error:
                raise PackError(
                    f"Cannot read the pack's file {error.filename}: {error.strerror or error}.",
                    hint="Check the permissions, or build the pack again with `wikigr pack build`.",
                ) from error
            kept = layout.signature() if key is None else None
            signature = read_signature(kept) if kept is not None else None
        content = manifest.to_json().encode()
        if key is not None:
            signature = signature_file(key, content)
        signer = None
        if signature is not None:
            # A later change of the pack invalidates a signature that it has.
            with suppress(PackError):
                signer = check_signature(signature, content)
        if signer is None:
            signature = None
        try:
            size, sha256 = _write(output, content, signature, manifest, files)
        except OSError as error:
            raise cannot_write(
                "the archive", output, error, "Choose another path with -o, or free some space."
            ) from error
    return ExportedArchive(output, size, sha256, manifest, signer)


def normalize_sha256(text: str | None) -> str | None:
    """Return the SHA-256 that a user gave, in lower case; raises ``UsageError`` for anything else."""
    if text is not None and not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise UsageError(f"{text[:80]!r} is not a SHA-256, which has 64 hexadecimal digits.")
    return text.lower() if text is not None else None


def unpack(archive: Path, into: Path, *, limits: ArchiveLimits = ArchiveLimits()) -> UnpackedPack:
    """Unpack ``archive`` into the new folder ``into``; every file matches the size and SHA-256 of the manifest.

    The contents of the files are not checked; ``validate_untrusted`` does that. Raises ``PackError`` when something is
    wrong with the archive, or ``WikigrError`` when it cannot be read or the disk is full, and then removes ``into``.
    """
    if not archive.is_file():
        raise PackError(f"There is no archive {archive}.", hint="Check the path.")
    if into.exists() or into.is_symlink():
        raise PackError(f"{into} already exists. An archive is unpacked into a new folder.")
    try:
        into.mkdir()
        try:
            with open_regular(archive) as file:
                return _unpack(file, into, limits)
        except BaseException:
            shutil.rmtree(into)
            raise
    except OSError as error:
        raise WikigrError(
            f"Cannot unpack the archive {archive} into {into}: {error.strerror or error}.",
            hint="Free some disk space, or check the permissions.",
        ) from error


@contextmanager
def temporary_folder(what: str) -> Iterator[Path]:
    """Yield a new folder in the user's cache for ``what``; raises ``WikigrError`` when that fails."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        for left in cache_folder().glob(f"{_TEMPORARY}*"):
            # Nothing takes so long: its process was killed.
            if time.time() - left.lstat().st_mtime > _MAX_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        folder = tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=cache_folder())
    except OSError as error:
        hint = "Make it writable, or set XDG_CACHE_HOME to another folder."
        raise cannot_write(f"{what} to", cache_folder(), error, hint) from error
    with folder as path:
        yield Path(path)


# -- writing


def _pack_file(layout: Layout, name: str) -> Path:
    """Return the path of a file of the pack; raises ``PackError`` unless it is a regular file, not behind a link."""
    path = file_path(layout, name)
    for part in (path, *path.parents):
        if part != layout.root and part.is_relative_to(layout.root) and part.is_symlink():
            raise PackError(f"{part} is a link, which may lead out of the pack.", hint="Replace it with a copy.")
    if not path.is_file():
        raise PackError(f"The pack's file {name} is missing.", hint="Build the pack again with `wikigr pack build`.")
    return path


def _write(
    output: Path, content: bytes, signature: bytes | None, manifest: Manifest, files: Sequence[tuple[str, BinaryIO]]
) -> tuple[int, str]:
    """Write the archive to a temporary file next to ``output`` and rename it; returns its size and SHA-256."""
    import zstandard

    head = [(MANIFEST, content)] + ([(SIGNATURE, signature)] if signature is not None else [])
    sizes = [len(data) for _, data in head] + [record.size for record in manifest.files.values()]
    total = sum(BLOCKSIZE + size + _padding(size) for size in sizes) + len(_END)
    remove_unfinished(output)
    with replacing(output) as file:
        # Measured on a pack with 12,000 sections (72 MB, mostly vectors): level 3 gives 33.0 MB in 0.24 s, 9 gives
        # 31.7 MB in 0.8 s, 12 gives 31.5 MB in 2 s, 19 gives 30.4 MB in 20 s.
        compressor = zstandard.ZstdCompressor(level=9, write_checksum=True)
        # Not in a with block: after an error, its exit would raise because the declared size was not reached.
        tar = compressor.stream_writer(file, size=total, closefd=False)
        for name, data in head:
            tar.write(_header(name, len(data)) + data + bytes(_padding(len(data))))
        for name, source in files:
            _copy(tar, name, source, manifest.files[name])
        tar.write(_END)
        tar.close()  # type: ignore[no-untyped-call]
        size = file.tell()
        file.seek(0)
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    sync(output.parent)
    return size, sha256


def _copy(tar: Any, name: str, source: BinaryIO, record: FileRecord) -> None:
    tar.write(_header(name, record.size))
    digest, size = hashlib.sha256(), 0
    while data := source.read(_CHUNK):
        size += len(data)
        if size > record.size:
            break
        digest.update(data)
        tar.write(data)
    if size != record.size or digest.hexdigest() != record.sha256:
        raise PackError(
            f"The pack's file {name} has changed since it was built.",
            hint="Run `wikigr pack validate` on the pack, or build it again.",
        )
    tar.write(bytes(_padding(size)))


def _header(name: str, size: int) -> bytes:
    """Return the tar header (POSIX.1-1988 ustar) of a regular file; sizes from 8 GiB are encoded like in GNU tar."""
    member = TarInfo(name)
    member.size = min(size, _MAX_OCTAL)
    header = bytearray(member.tobuf(USTAR_FORMAT))
    if size > _MAX_OCTAL:
        header[124:136] = b"\x80" + size.to_bytes(11, "big")
        header[148:156] = b" " * 8
        header[148:155] = b"%06o\0" % sum(header)
    return bytes(header)


def _padding(size: int) -> int:
    return -size % BLOCKSIZE


# -- reading


def _unpack(file: BinaryIO, into: Path, limits: ArchiveLimits) -> UnpackedPack:
    tar = _Tar(file)
    content = tar.read_small(MANIFEST, limits.manifest_bytes)
    manifest = parse_manifest(content, "The archive's manifest")
    _require_portable(manifest, limits, "The archive's manifest", _FETCH)
    _require_room(manifest, os.fstat(file.fileno()).st_size, into, limits)
    signature = tar.read_small(SIGNATURE, MAX_SIGNATURE_BYTES) if tar.next_name() == SIGNATURE else None
    signer = check_signature(signature, content) if signature is not None else None
    for name, record in manifest.files.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with (into / name).open("xb") as member:
            for data in tar.content(name, record.size):
                digest.update(data)
                member.write(data)
        if digest.hexdigest() != record.sha256:
            raise PackError(f"The archive's {name} does not match the manifest: its SHA-256 differs.", hint=_FETCH)
    tar.finish()
    (into / MANIFEST).write_bytes(content)
    if signature is not None:
        (into / SIGNATURE).write_bytes(signature)
    sync_tree(into)
    sync(into.parent)
    return UnpackedPack(into, manifest, signer, tar.sha256.hexdigest())


def _require_portable(manifest: Manifest, limits: ArchiveLimits, label: str, hint: str) -> None:
    """Refuse a manifest with unsafe or duplicate paths, or with text that is unsafe to print."""

    def refuse(what: str) -> PackError:
        return PackError(f"{label} {what}.", hint=hint)

    labels = (
        manifest.name, manifest.version, manifest.created, manifest.engine, manifest.engine_version,
        manifest.wikigr_version, manifest.encoder.model_id, manifest.encoder.weights_sha256,
    )  # fmt: skip
    if not manifest.name or not manifest.version:
        raise refuse("does not give the pack a name and a version")
    if not all(label.isprintable() and len(label) <= _MAX_LABEL_LENGTH for label in labels):
        raise refuse("contains a name or version that is too long or has control characters")
    if any(len(text) > _MAX_TEXT_LENGTH for text in _texts(asdict(manifest))):
        raise refuse("contains a text that is too long")
    if len(manifest.files) > limits.files:
        raise refuse(f"lists {len(manifest.files):,} files; {limits.files:,} are allowed")
    seen: dict[str, str] = {}
    for name in manifest.files:
        if not is_pack_file(name):
            raise refuse(f"lists {_quote(name)}, which is not a file of a pack")
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise refuse(f"lists {other} and {name}, which are the same file on a case-insensitive file system")
    for name in seen:
        if any(parent.as_posix() in seen for parent in PurePosixPath(name).parents):
            raise refuse(f"lists {_quote(name)} below another one of its files")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)


def _require_room(manifest: Manifest, archive_bytes: int, into: Path, limits: ArchiveLimits) -> None:
    total = sum(record.size for record in manifest.files.values())
    if total > limits.total_bytes:
        raise PackError(
            f"The archive would unpack to {total:,} bytes; {limits.total_bytes:,} are allowed.", hint=_FETCH
        )
    # A small pack may compress better, because a database has empty pages.
    if total > max(64 << 20, limits.ratio * archive_bytes):
        raise PackError(
            f"The archive of {archive_bytes:,} bytes would unpack to {total:,}; real packs do not compress that well.",
            hint="Do not trust its source.",
        )
    free = shutil.disk_usage(into).free
    if total + (16 << 20) > free:
        raise WikigrError(
            f"The archive unpacks to {total:,} bytes, but the disk of {into.parent} has {free:,} left.",
            hint="Free some space, then run the same command again.",
        )


class _Tar:
    """The tar in an archive, which must consist of a single zstd frame; it is read in order, in bounded memory.

    Each header must be the one that ``_header`` writes. ``tarfile`` would read a header of up to 8 GiB into memory,
    take a damaged one for the end of the archive, and ignore owners, padding and what follows the end.
    """

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        # Of the archive, once it has been read to its end.
        self.sha256 = hashlib.sha256()
        self._file = file
        # The compression needs 4 MiB; an archive may request at most twice that.
        self._frame = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
        self._damage = zstandard.ZstdError
        self._data = memoryview(b"")
        self._header = self._exactly(BLOCKSIZE)

    def next_name(self) -> str | None:
        """Return the name of the next member, or ``None`` at the end."""
        return self._member().name if any(self._header) else None

    def read_small(self, name: str, max_bytes: int) -> bytes:
        """Return the content of the next member, which must be ``name`` and have at most ``max_bytes`` bytes."""
        size = self._member().size if any(self._header) else 0
        if size > max_bytes:
            raise PackError(f"The archive's {name} has {size:,} bytes; {max_bytes:,} are allowed.", hint=_FETCH)
        return b"".join(self.content(name, max(size, 0)))

    def content(self, name: str, size: int) -> Iterator[bytes]:
        """Yield the content of the next member in chunks; it must be the file ``name`` with ``size`` bytes."""
        if self._header != _header(name, size):
            raise PackError(self._mismatch(name, size), hint=_FETCH)
        for left in range(size, 0, -_CHUNK):
            yield self._exactly(min(left, _CHUNK))
        if any(self._exactly(_padding(size))):
            raise PackError("The archive contains data between its files.", hint=_FETCH)
        self._header = self._exactly(BLOCKSIZE)

    def finish(self) -> None:
        """Check that the archive ends here."""
        if any(self._header):
            raise PackError(self._mismatch(None, 0), hint=_FETCH)
        if any(self._exactly(len(_END) - BLOCKSIZE)) or self._more() or self._frame.unused_data or self._file.read(1):
            raise PackError("The archive contains data after its end.", hint=_FETCH)

    def _member(self) -> TarInfo:
        try:
            return TarInfo.frombuf(self._header, "utf-8", "surrogateescape")
        except HeaderError as error:
            raise PackError("The archive contains something other than a tar file.", hint=_FETCH) from error

    def _mismatch(self, name: str | None, size: int) -> str:
        """Describe how the next header differs from that of ``name``, or from the end of the archive."""
        if not any(self._header):
            return f"The archive ends before {name}."
        found = self._member()
        if found.type != REGTYPE:
            return f"The archive contains {_quote(found.name)}, which is not a regular file."
        if found.name != name:
            return f"The archive contains {_quote(found.name)} instead of {name or 'its end'}."
        if found.size != size:
            return f"The archive's {name} does not have the size in its manifest ({size:,} bytes)."
        return f"The header of the archive's {name} differs from the one that `wikigr pack export` writes."

    def _exactly(self, size: int) -> bytes:
        """Return the next ``size`` decompressed bytes; raises ``PackError`` when the archive ends or is damaged."""
        pieces = []
        while size:
            if not self._more():
                raise PackError("The archive is truncated.", hint=_FETCH)
            pieces.append(self._data[:size])
            self._data = self._data[size:]
            size -= len(pieces[-1])
        return b"".join(pieces)

    def _more(self) -> bool:
        """Return whether the frame has more data; raises ``PackError`` when it is truncated or damaged."""
        while not self._data and not self._frame.eof:
            # One compressed byte expands to at most 32 KiB, so this expands to at most 128 MiB.
            compressed = self._file.read(4 << 10)
            if not compressed:
                raise PackError("The archive is truncated.", hint=_FETCH)
            self.sha256.update(compressed)
            try:
                self._data = memoryview(self._frame.decompress(compressed))
            except self._damage as error:
                raise PackError(f"The archive is damaged or not an archive: {error}.", hint=_FETCH) from error
        return bool(self._data)


def _quote(name: str) -> str:
    return repr(name if len(name) <= _MAX_LABEL_LENGTH else name[:_MAX_LABEL_LENGTH] + "…")

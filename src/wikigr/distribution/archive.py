"""A pack as one file: a tar compressed with zstd, written so that the same pack gives the same bytes.

``manifest.json`` comes first, then ``signature.json`` where the pack is signed, then the files of the manifest in its
order. Every header follows from a name and a size alone. So reading needs no judgment: what stands in the archive is,
byte for byte, the header that the manifest calls for, or the archive is refused before anything of it is written.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shlex
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from wikigr.distribution.signature import PrivateKey, PublicKey, check_signature, signature_file
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import MANIFEST, SIGNATURE, Layout
from wikigr.pack.locate import ARCHIVE, find_pack
from wikigr.pack.manifest import (
    EXTRAS,
    FileRecord,
    Manifest,
    describe_file,
    file_path,
    is_pack_file,
    parse_manifest,
    read_manifest,
)

# Measured on a pack of 12,000 sections (72 MB, most of it vectors): level 3 gives 33.0 MB in 0.24 s, 9 gives 31.7 MB in
# 0.8 s, 12 gives 31.5 MB in 2 s, 19 gives 30.4 MB in 20 s.
_LEVEL = 9
_BLOCK = 512
_END = bytes(2 * _BLOCK)
# What level 9 needs is 4 MiB; a stranger's archive may ask for no more than twice that.
_MAX_WINDOW = 8 << 20
# Bytes read at a time. Zstandard makes at most 32 KiB of one byte, so that 4 KiB of an archive become 128 MiB at worst.
_COMPRESSED_CHUNK = 4 << 10
_CHUNK = 1 << 20
_MAX_SIGNATURE = 4 << 10
# Every archive may become this large, whatever its ratio: a database has empty pages.
_SMALL = 64 << 20
# Kept free on the disk beyond the pack.
_DISK_MARGIN = 16 << 20
_MAX_TEXT_LENGTH = 10_000
_MAX_LABEL_LENGTH = 200
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")
_OCTAL_SIZE = re.compile(rb"[0-7]{11}\0")
_MAX_OCTAL = (1 << 33) - 1

_FETCH = "Fetch the archive again, or ask whoever gave it for one made with `wikigr pack export`."


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may ask for. ``ratio`` is that of the unpacked size to the archive's."""

    total_bytes: int = 256 << 30
    files: int = 10_000
    manifest_bytes: int = 16 << 20
    ratio: int = 100


@dataclass(frozen=True, slots=True)
class Exported:
    """An archive that was written: its size in bytes, its SHA-256, the manifest in it, and who signed it."""

    file: Path
    size: int
    sha256: str
    manifest: Manifest
    signer: PublicKey | None


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What was unpacked; ``sha256`` is that of the archive."""

    manifest: Manifest
    signer: PublicKey | None
    sha256: str


def archive_file(location: str | Path, output: str | Path | None) -> Path:
    """Return the file that an export of the pack at ``location`` to ``output`` writes.

    For ``None`` and for a folder it is called ``NAME-VERSION.wikigr``. An ``output`` that ends in a slash is a folder,
    and is made. Raises ``PackError`` when there is no pack, ``UsageError`` where its name or version is no part of a
    file name, and ``WikigrError`` where the folder cannot be made.
    """
    layout = find_pack(location)
    is_folder = isinstance(output, str) and output.endswith("/")
    output = Path(output) if output is not None else None
    if output is not None and not is_folder and not output.is_dir():
        return output
    manifest = read_manifest(layout.part(MANIFEST))
    name = f"{manifest.name}-{manifest.version}{ARCHIVE}"
    if not _FILE_NAME.fullmatch(name):
        raise UsageError(f"The pack's name and version, {_shown(name)}, make no file name.", hint="Give one with -o.")
    if is_folder and output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WikigrError(
                f"The folder {output} cannot be made: {error.strerror or error}.", hint="Choose another place with -o."
            ) from error
    return (output or Path()) / name


def export_pack(location: str | Path, output: Path, *, key: PrivateKey | None = None) -> Exported:
    """Write the pack at ``location`` to the file ``output``, which is replaced as a whole, signed with ``key``.

    Without a key, a signature that came with the pack stays where it still fits. Raises ``PackError`` when the pack is
    missing or not as its manifest says, and ``WikigrError`` when the file cannot be written.
    """
    layout = find_pack(location)
    if output.exists() and not output.is_file():
        # A device is there for all: its name must not become that of a file.
        raise WikigrError(
            f"The archive {output} cannot be written: it is no plain file.", hint="Choose another place with -o."
        )
    with ExitStack() as stack:
        with layout.reading():
            manifest = _with_extras(layout, read_manifest(layout.part(MANIFEST)))
            _require_portable(
                manifest, Limits(), "The pack's manifest", "Build the pack again with `wikigr pack build`."
            )
            files = [(name, stack.enter_context(_opened(layout, name))) for name in manifest.files]
            kept = _kept_signature(layout) if key is None else None
        content = manifest.to_json().encode()
        signature = signature_file(key, content) if key else kept
        signer = _signer_of(signature, content)
        if signer is None:
            signature = None
        try:
            size, sha256 = _write(output, content, signature, manifest, files)
        except OSError as error:
            raise WikigrError(
                f"The archive {output} cannot be written: {error.strerror or error}.",
                hint=_mend(error, output),
            ) from error
    return Exported(output, size, sha256, manifest, signer)


def _mend(error: OSError, output: Path) -> str:
    """Return what helps where ``output`` could not be written for ``error``."""
    if isinstance(error, FileNotFoundError):
        return f"Make its folder first: mkdir -p {shlex.quote(str(output.parent))}"
    room = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "Choose another place with -o, or make room." if room else "Choose another place with -o."


def unpack(archive: Path, into: Path, *, limits: Limits = Limits()) -> Unpacked:
    """Unpack ``archive`` into the folder ``into``, which must not exist; every file is there as its manifest says.

    What the pack's files hold is not looked at: see ``proof.prove``. Raises ``PackError`` that says what is wrong with
    the archive; nothing of ``into`` is then left.
    """
    if not archive.is_file():
        raise PackError(f"There is no archive {archive}.", hint="Check the path.")
    if into.exists() or into.is_symlink():
        raise PackError(f"{into} exists already; an archive is unpacked into a folder of its own.")
    try:
        into.mkdir()
        try:
            return _unpack(archive, into, limits)
        except BaseException:
            shutil.rmtree(into)
            raise
    except OSError as error:
        raise PackError(
            f"The archive {archive} cannot be unpacked into {into}: {error.strerror or error}.",
            hint="Make room on the disk, or check the permissions.",
        ) from error


# -- writing


def _with_extras(layout: Layout, manifest: Manifest) -> Manifest:
    """Return the manifest with the files that travel with the pack beside its parts."""
    extras = {
        name: describe_file(file_path(layout, name))
        for name in EXTRAS
        if name not in manifest.files and file_path(layout, name).is_file()
    }
    return replace(manifest, files=dict(sorted({**manifest.files, **extras}.items())))


def _opened(layout: Layout, name: str) -> BinaryIO:
    path = file_path(layout, name)
    linked = next(
        (p for p in (path, *path.parents) if p.is_relative_to(layout.root) and p != layout.root and p.is_symlink()),
        None,
    )
    if linked is not None:
        raise PackError(
            f"{linked} is a link, and would put into the archive what lies elsewhere.", hint="Put a copy in its place."
        )
    try:
        return path.open("rb")
    except OSError as error:
        raise PackError(
            f"The pack's file {name} cannot be read: {error.strerror or error}.",
            hint="Build the pack again with `wikigr pack build`.",
        ) from error


def _kept_signature(layout: Layout) -> bytes | None:
    path = layout.signature()
    return path.read_bytes() if path is not None and path.stat().st_size <= _MAX_SIGNATURE else None


def _signer_of(signature: bytes | None, manifest: bytes) -> PublicKey | None:
    """Return who signed, or ``None`` for no signature, or one that fits no longer: the pack has changed since."""
    if signature is None:
        return None
    try:
        return check_signature(signature, manifest)
    except PackError:
        return None


def _write(
    output: Path, content: bytes, signature: bytes | None, manifest: Manifest, files: list[tuple[str, BinaryIO]]
) -> tuple[int, str]:
    """Write the archive under a temporary name beside ``output`` and rename it; returns its size and SHA-256."""
    import zstandard

    head = [(MANIFEST, content)] + ([(SIGNATURE, signature)] if signature is not None else [])
    sizes = [len(data) for _, data in head] + [record.size for record in manifest.files.values()]
    total = sum(_BLOCK + size + _padding(size) for size in sizes) + len(_END)
    _clear_killed(output)
    temporary, begun = _begun(output)
    try:
        with begun as file:
            hashed = _Hashed(file)
            compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            # Not in a with block: after an error its end would complain of a size that was not reached.
            tar = compressor.stream_writer(cast(IO[bytes], hashed), size=total, closefd=False)
            for name, data in head:
                tar.write(_header(name, len(data)) + data + bytes(_padding(len(data))))
            for name, source in files:
                _copy(tar, name, source, manifest.files[name])
            tar.write(_END)
            tar.close()  # type: ignore[no-untyped-call]
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(output)
        _sync(output.parent)
    finally:
        temporary.unlink(missing_ok=True)
    return hashed.size, hashed.sha256.hexdigest()


def _begun(output: Path) -> tuple[Path, BinaryIO]:
    """Make the temporary file of an export, locked for as long as it is open; returns its path too."""
    while True:
        # In a container every process may have the number of the one that was killed before it.
        temporary = output.with_name(f".{output.name}.{os.getpid()}-{secrets.token_hex(4)}")
        file = temporary.open("xb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if temporary.exists():
                return temporary, file
        except BaseException:
            file.close()
            temporary.unlink(missing_ok=True)
            raise
        # Another export took it for that of a killed one before it was locked.
        file.close()


def _clear_killed(output: Path) -> None:
    """Remove what killed exports to ``output`` have left: their files are locked by nobody."""
    left = re.compile(rf"\.{re.escape(output.name)}\.[0-9]+-[0-9a-f]{{8}}")
    for path in output.parent.iterdir():
        if not left.fullmatch(path.name) or path.is_symlink() or not path.is_file():
            continue
        with suppress(FileNotFoundError), path.open("rb") as file, suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)


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
    """Return the tar header (POSIX.1-1988 ustar) of a regular file; sizes of 8 GiB and more as GNU tar writes them."""
    block = bytearray(_BLOCK)
    block[: len(name)] = name.encode("ascii")
    block[100:108] = b"0000644\0"
    block[108:116] = block[116:124] = b"0000000\0"
    block[124:136] = b"%011o\0" % size if size <= _MAX_OCTAL else b"\x80" + size.to_bytes(11, "big")
    block[136:148] = b"00000000000\0"
    block[148:156] = b" " * 8
    block[156:157] = b"0"
    block[257:265] = b"ustar\x0000"
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def _padding(size: int) -> int:
    return -size % _BLOCK


class _Hashed:
    """A file being written that keeps count and SHA-256 of what went into it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return self._file.write(data)


# -- reading


def _unpack(archive: Path, into: Path, limits: Limits) -> Unpacked:
    with archive.open("rb") as file:
        tar = _Tar(file, os.fstat(file.fileno()).st_size)
        content = tar.small_member(MANIFEST, limits.manifest_bytes)
        manifest = parse_manifest(content, "The archive's manifest")
        _require_portable(manifest, limits, "The archive's manifest", _FETCH)
        _require_room(manifest, tar.archive_bytes, into, limits)
        signature = tar.small_member(SIGNATURE, _MAX_SIGNATURE) if tar.comes_next(SIGNATURE) else None
        signer = check_signature(signature, content) if signature is not None else None
        for name, record in manifest.files.items():
            tar.expect(name, record.size, manifest)
            _write_member(tar, into, name, record)
        tar.finish()
        _write_whole(into / MANIFEST, content)
        if signature is not None:
            _write_whole(into / SIGNATURE, signature)
        for folder, _, names in os.walk(into, topdown=False):
            for name in names:
                _sync(Path(folder) / name)
            _sync(Path(folder))
        _sync(into.parent)
        return Unpacked(manifest, signer, tar.sha256)


def _require_portable(manifest: Manifest, limits: Limits, called: str, hint: str) -> None:
    """Refuse a manifest that would write elsewhere, twice to one file, or into a person's terminal."""

    def refuse(what: str) -> PackError:
        return PackError(f"{called} {what}.", hint=hint)

    labels = (
        manifest.name,
        manifest.version,
        manifest.created,
        manifest.engine,
        manifest.engine_version,
        manifest.wikigr_version,
        manifest.encoder.model_id,
        manifest.encoder.weights_sha256,
    )
    if not manifest.name or not manifest.version:
        raise refuse("gives the pack no name or no version")
    if not all(label.isprintable() and len(label) <= _MAX_LABEL_LENGTH for label in labels):
        raise refuse("holds a name or version of control characters or endless length")
    if any(len(text) > _MAX_TEXT_LENGTH for text in _texts(asdict(manifest))):
        raise refuse("holds a text of endless length")
    if len(manifest.files) > limits.files:
        raise refuse(f"lists {len(manifest.files):,} files; {limits.files:,} are allowed")
    seen: dict[str, str] = {}
    for name in manifest.files:
        if not is_pack_file(name):
            raise refuse(f"lists {_shown(name)}, which is no file of a pack")
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise refuse(f"lists {other} and {name}, which are one file where case does not count")
    for name in seen:
        if any(parent in seen for parent in _parents(name)):
            raise refuse(f"lists {_shown(name)} below another of its files")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _require_room(manifest: Manifest, archive_bytes: int, into: Path, limits: Limits) -> None:
    total = sum(record.size for record in manifest.files.values())
    if total > limits.total_bytes:
        raise PackError(
            f"The archive would unpack to {total:,} bytes; {limits.total_bytes:,} are allowed.", hint=_FETCH
        )
    if total > max(_SMALL, limits.ratio * archive_bytes):
        raise PackError(
            f"The archive of {archive_bytes:,} bytes would unpack to {total:,}: no pack is compressed so far.",
            hint="Do not trust where it came from.",
        )
    free = shutil.disk_usage(into).free
    if total + _DISK_MARGIN > free:
        raise PackError(
            f"The archive unpacks to {total:,} bytes, and the disk of {into.parent} has {free:,} left.",
            hint="Make room, then run the same command again.",
        )


def _write_member(tar: _Tar, into: Path, name: str, record: FileRecord) -> None:
    path = into / name
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with _created(path) as file:
        for data in tar.content(record.size):
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != record.sha256:
        raise PackError(f"The archive's {name} is not what its manifest says: its SHA-256 differs.", hint=_FETCH)


def _write_whole(path: Path, content: bytes) -> None:
    with _created(path) as file:
        file.write(content)


def _created(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb")  # noqa: PTH123


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Tar:
    """Reads the members of an archive from front to back, and accepts only headers that ``_header`` writes."""

    def __init__(self, file: BinaryIO, archive_bytes: int) -> None:
        self.archive_bytes = archive_bytes
        self._stream = _Decompressed(file)
        self._peeked: bytes | None = None
        self._done: set[str] = set()

    @property
    def sha256(self) -> str:
        """The SHA-256 of the archive, once it was read to its end."""
        return self._stream.sha256.hexdigest()

    def comes_next(self, name: str) -> bool:
        """Tell whether the next header bears ``name``."""
        return self._peek()[:100].rstrip(b"\0") == name.encode("ascii")

    def small_member(self, name: str, most: int) -> bytes:
        """Return the content of the next member, which must be ``name`` and have ``most`` bytes or fewer."""
        header = self._peek()
        field = header[124:136]
        size = int(field[:11], 8) if _OCTAL_SIZE.fullmatch(field) else -1
        if size > most:
            raise PackError(f"The archive's {name} has {size:,} bytes; {most:,} are allowed.", hint=_FETCH)
        self.expect(name, max(size, 0), None)
        return b"".join(self.content(size))

    def expect(self, name: str, size: int, manifest: Manifest | None) -> None:
        """Take the next header, which must be that of a regular file ``name`` of ``size`` bytes."""
        header = self._peek()
        if header != _header(name, size):
            raise PackError(_what_is_wrong(header, name, size, manifest, self._done), hint=_FETCH)
        self._peeked = None
        self._done.add(name)

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the content of the member whose header was taken, piece by piece."""
        left = size
        while left:
            data = self._stream.read(min(left, _CHUNK))
            left -= len(data)
            yield data
        if any(self._exactly(_padding(size))):
            raise PackError("The archive holds data between its files.", hint=_FETCH)

    def finish(self) -> None:
        """Make sure that the archive ends here."""
        header = self._peek()
        if any(header):
            raise PackError(_what_is_wrong(header, None, 0, None, self._done), hint=_FETCH)
        if any(self._exactly(_BLOCK)) or not self._stream.at_end():
            raise PackError("The archive holds data after its end.", hint=_FETCH)

    def _peek(self) -> bytes:
        if self._peeked is None:
            self._peeked = self._exactly(_BLOCK)
        return self._peeked

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self._stream.read(size - len(data))
        return data


_KINDS = {
    b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"5": "a folder",
    b"6": "a named pipe", b"L": "a name in pieces", b"K": "a link in pieces", b"x": "an extended header",
    b"g": "an extended header", b"S": "a sparse file",
}  # fmt: skip


def _what_is_wrong(header: bytes, name: str | None, size: int, manifest: Manifest | None, done: set[str]) -> str:
    """Say in words how a header differs from the one that is due (of ``name``, or none at all)."""
    if not any(header):
        return f"The archive ends before {name}."
    if header[257:262] != b"ustar":
        return "The archive holds something that is no file of a tar archive."
    found = header[:100].rstrip(b"\0").decode("utf-8", "replace")
    if header[345:500].rstrip(b"\0"):
        found = header[345:500].rstrip(b"\0").decode("utf-8", "replace") + "/" + found
    shown = _shown(found)
    if header[156:157] != b"0":
        kind = _KINDS.get(header[156:157], "an entry of an unknown kind")
        return f"The archive holds {kind} ({shown}); a pack has plain files only."
    if found.startswith("/") or ".." in found.split("/") or "\\" in found:
        return f"The archive holds {shown}, a path that leads out of the pack."
    if found in done:
        return f"The archive holds {shown} twice."
    if name is None or (manifest is not None and found not in manifest.files):
        return f"The archive holds {shown}, which its manifest does not list."
    if found != name:
        return f"The archive holds {shown} where {name} is due."
    if header[124:136] != _header(name, size)[124:136]:
        return f"The archive's {name} has not the size that its manifest says ({size:,} bytes)."
    return f"The header of the archive's {name} is not as `wikigr pack export` writes it."


def _shown(name: str) -> str:
    return repr(name if len(name) <= _MAX_LABEL_LENGTH else name[:_MAX_LABEL_LENGTH] + "…")


class _Decompressed:
    """The content of one zstd frame, which must be the whole file."""

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        self._file = file
        self._frame = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
        self._damage = zstandard.ZstdError
        self._data = memoryview(b"")
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Return 1 to ``size`` bytes; raises ``PackError`` where the archive ends or is damaged."""
        while not self._data:
            if not self._more():
                raise PackError("The archive ends too early: it was cut off.", hint=_FETCH)
        data, self._data = self._data[:size], self._data[size:]
        return bytes(data)

    def at_end(self) -> bool:
        """Tell whether everything was read, and the file holds nothing behind it."""
        while not self._data and not self._frame.eof:
            if not self._more():
                raise PackError("The archive ends too early: it was cut off.", hint=_FETCH)
        return not self._data and not self._frame.unused_data and not self._file.read(1)

    def _more(self) -> bool:
        if self._frame.eof:
            return False
        compressed = self._file.read(_COMPRESSED_CHUNK)
        self.sha256.update(compressed)
        if not compressed:
            return False
        try:
            self._data = memoryview(self._frame.decompress(compressed))
        except self._damage as error:
            raise PackError(f"The archive is damaged, or is none: {error}.", hint=_FETCH) from error
        return True

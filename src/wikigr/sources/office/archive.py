"""Open the archives that EPUB and office files are, and parse the XML in them, within limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from wikigr.errors import RecordError

if TYPE_CHECKING:
    from lxml.etree import _Element

# Of all members together, unpacked, and of one.
MAX_BYTES = 512 * 1024 * 1024
_MAX_MEMBERS = 20_000

OWN_TITLE = "{http://purl.org/dc/elements/1.1/}title"


@contextmanager
def archive(data: bytes, where: str) -> Iterator[ZipFile]:
    """Open an archive; raises ``RecordError`` if it is encrypted or would take too much memory."""
    with ZipFile(BytesIO(data)) as opened:
        members = opened.infolist()
        if len(members) > _MAX_MEMBERS or sum(member.file_size for member in members) > MAX_BYTES:
            limit = f"{MAX_BYTES // 1024**2} MiB or {_MAX_MEMBERS:,} files"
            raise RecordError(where, f"the file unpacks to more than {limit}")
        if any(member.flag_bits & 1 for member in members):
            raise RecordError(where, "the file is encrypted", hint="Save it without a password.")
        yield opened


def names_of(data: bytes, where: str) -> frozenset[str]:
    """Return the names of the members; raises as ``archive`` does."""
    with archive(data, where) as opened:
        return frozenset(opened.namelist())


def parse_xml(opened: ZipFile, name: str) -> _Element:
    """Return the root of a member, whose entities are not resolved."""
    from lxml import etree

    parser: Any = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(opened.read(name), parser)


def title_of(opened: ZipFile) -> str:
    """Return the title that an office file states, or ``""``."""
    name = next((name for name in ("docProps/core.xml", "meta.xml") if name in opened.namelist()), None)
    title = next(parse_xml(opened, name).iter(OWN_TITLE), None) if name else None
    return " ".join("".join(title.itertext()).split()) if title is not None else ""

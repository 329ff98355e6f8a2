"""``docs/reference/formats.md``: every source format, from the registry in ``wikigr.sources.formats``."""

from __future__ import annotations

from collections.abc import Iterator

from wikigr.sources.formats import FORMATS, SourceFormat

_HEAD = """\
# Source formats

<!-- Written by `make docs` from the registry of formats: change that, not this page. -->

`wikigr pack build SOURCE` and `wikigr pack update --from SOURCE` read the formats below. The format is detected
unless `--source-format NAME` names it: the content identifies a MediaWiki export or a ZIM file whatever its name;
otherwise the suffix decides, and without a known suffix the content does. A file with the suffix `.txt` is plain text
only if its content is nothing else. In a folder, the format with the most files wins; the formats of `notes` count as
one, and plain text files count only where there are no other documents. All files except ZIM files may be compressed
with gzip, bzip2 or xz: `page.html.gz`.

| `--source-format` | what it reads | suffixes | detected by content | a link is |
| --- | --- | --- | --- | --- |
"""


def formats_page() -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(f"| {' | '.join(_cells(row))} |\n" for row in FORMATS)


def _cells(row: SourceFormat) -> Iterator[str]:
    yield f"`{row.name}`"
    yield row.description
    yield ", ".join(f"`{suffix}`" for suffix in row.suffixes)
    yield "always" if row.content_decides else "yes" if row.sniff else "no"
    yield row.links.value

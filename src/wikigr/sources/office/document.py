"""What the readers of office files share: the text of one document, tables, archives with XML in them, and equations.

``equation_text`` writes Office Math Markup as text on one line: ``x=(-b±√(b^2-4ac))/(2a)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from wikigr.errors import RecordError
from wikigr.sources.article import BadPart
from wikigr.sources.html.document import HtmlDocument
from wikigr.sources.html.text import write_html
from wikigr.sources.plain_text import PlainTextWriter
from wikigr.sources.tables import Row, name_columns

if TYPE_CHECKING:
    from lxml.etree import _Element

NO_HEADING = 10
"""The level of a paragraph that is not a heading."""

# Of all members of an archive together, unpacked.
MAX_BYTES = 512 * 1024 * 1024
_MAX_MEMBERS = 20_000
# Check boxes, and signs that people type instead of them, or of the bullet of a list.
_BOX = re.compile(r"\[[x ]\]|[☐□☑☒✅]")
HAS_SIGN = re.compile(rf"{_BOX.pattern}|[•◦▪‣●]")
_SIGN = re.compile(rf"((?:\s|<[^>]*>)*+)(?:(?P<box>{_BOX.pattern})|[•◦▪‣●])\s*")


@dataclass
class Document:
    """The content of a file called ``name``, in messages ``where``.

    ``writer`` collects the text; its places are parts of the
    file such as ``Page 7``, with the anchor ``page=7``. ``pages_of_images`` counts the pages that have pictures but no
    text. ``bad_parts`` are what could not be read.
    """

    name: str
    where: str = ""
    pages_of_images: int = 0
    links: dict[str, None] = field(default_factory=dict)
    bad_parts: list[BadPart] = field(default_factory=list)
    writer: PlainTextWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = PlainTextWriter(self.name)

    def html(self, markup: str | bytes, *, is_page: bool = False, is_text: bool = False) -> bool:
        """Add balanced HTML, and return whether it has text.

        With ``is_page``, it is a whole page of which only the content counts. With ``is_text``, it is all of a text
        document, which has no places.
        """
        where = self.where or self.name
        parsed = HtmlDocument(markup, where, is_note=not is_page, has_boilerplate=is_page, is_office=is_text)
        # The anchor by which LibreOffice finds the first heading with this text.
        links = write_html(parsed, self.name, self.writer, "{}|outline".format if is_text else None)
        self.links.update(dict.fromkeys(links))
        return next(parsed.flat_blocks(parsed.content), None) is not None

    def table(self, rows: Sequence[Row]) -> None:
        """Add a table; the texts of its cells are on one line, without control characters."""
        self.writer.end_block()
        for row in name_columns(rows):
            self.writer.row(row)
        self.writer.end_block()


def item_html(inside: str) -> str:
    """Return a paragraph of HTML as an item, without the bullet that it begins with, or with its check box.

    ``""`` for one that begins with neither, and for several boxes, which are a choice.
    """
    found = _SIGN.match(inside)
    if found is None:
        return ""
    rest = found[1] + inside[found.end() :]
    if found["box"] is None:
        return rest
    checked = " checked" if found["box"] not in ("[ ]", "☐", "□") else ""
    is_task = any(map(str.isalnum, re.sub("<[^>]*>", "", rest))) and not _BOX.search(rest)
    return f'<input type="checkbox"{checked}>{rest}' if is_task else ""


def attribute(element: _Element | None, name: str) -> str:
    """Return an attribute of an XML element by its name without namespace, ``""`` if there is none."""
    found = element.items() if element is not None else ()
    return next((str(value) for key, value in found if str(key).rpartition("}")[2] == name), "")


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


def parse_xml(opened: ZipFile, name: str) -> _Element:
    """Return the root of a member, whose entities are not resolved."""
    from lxml import etree

    parser: Any = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(opened.read(name), parser)


def with_attributes(opened: ZipFile, name: str, defaults: Sequence[tuple[str, str, str]]) -> dict[str, bytes]:
    """Return the XML of the member ``name``, by that name, with optional attributes that a library requires.

    ``defaults`` are paths of elements, attributes without their namespace, and values. Nothing is returned if none of
    these attributes is missing.
    """
    from lxml import etree

    if name not in opened.namelist():
        return {}
    root, is_complete = parse_xml(opened, name), True
    # In a text, attributes have the namespace of their elements; in a workbook, they have none.
    qualified = f"{{{etree.QName(root).namespace}}}" if name.startswith("word/") else ""
    for path, key, default in defaults:
        for element in root.iterfind(path):
            if not attribute(element, key):
                is_complete = False
                element.set(qualified + key, default)
    return {} if is_complete else {name: bytes(etree.tostring(root))}


def with_members(opened: ZipFile, changed: Mapping[str, bytes]) -> bytes:
    """Return an archive with other content in some members, and without the pictures of a text."""
    made = BytesIO()
    with ZipFile(made, "w") as written:
        for name in dict.fromkeys(opened.namelist()):
            if not name.startswith("word/media/"):
                written.writestr(name, changed[name] if name in changed else opened.read(name))
    return made.getvalue()


def office_title(data: bytes, where: str) -> str:
    """Return the title in the properties of an office file, or ``""``; raises as ``archive`` does."""
    with archive(data, where) as opened:
        name = next((name for name in ("docProps/core.xml", "meta.xml") if name in opened.namelist()), None)
        return own_title(parse_xml(opened, name)) if name else ""


def own_title(root: _Element) -> str:
    """Return the title in metadata of Dublin Core, or ``""``."""
    title = next(root.iter("{http://purl.org/dc/elements/1.1/}title"), None)
    return " ".join("".join(title.itertext()).split()) if title is not None else ""


def first_title(paragraphs: Iterable[tuple[str, int]]) -> str:
    """Return the title that stands first in a text, or ``""``: in the style of titles, or as its only main heading.

    ``paragraphs`` are texts with their levels: 0 of a title, 1 of a main heading, up to ``NO_HEADING``.
    """
    texts = ((" ".join(text.split()), level) for text, level in paragraphs)
    first, level = next((found for found in texts if found[0]), ("", NO_HEADING))
    return first if level == 0 or (level == 1 and all(other > 1 for text, other in texts if text)) else ""


# How the parts of a structure are put together; ECMA-376, part 1, 22.1.2.
_TEMPLATES = {
    "f": "{num}/{den}",
    "sSup": "{e}^{sup}",
    "sSub": "{e}_{sub}",
    "sSubSup": "{e}_{sub}^{sup}",
    "sPre": "{sub}_{sup}^{e}",
    "limLow": "{e}_{lim}",
    "limUpp": "{e}^{lim}",
    "func": "{fName} {e}",
}
_SEPARATORS = {"eqArr": "; ", "m": "; ", "mr": ", "}


def equation_text(element: _Element, depth: int = 0) -> str:
    """Return an equation, or a part of one, as text; what is nested too deeply is left out."""
    name = _name(element)
    if name == "t":
        return element.text or ""
    if depth > 100 or name.endswith("Pr"):
        return ""
    children = [child for child in element if isinstance(child.tag, str)]
    parts = [(_name(child), equation_text(child, depth + 1)) for child in children if not _name(child).endswith("Pr")]
    of = dict.fromkeys(("e", "sub", "sup", "deg"), "") | {part: _grouped(text) for part, text in parts}
    if name in _TEMPLATES and {"num", "den", "e", "lim", "fName"} & dict(parts).keys():
        template = _TEMPLATES[name]
        return template.format_map({"num": "", "den": "", "lim": "", "fName": ""} | of)
    if name == "rad":
        return f"{of['deg']}√{of['e']}"
    if name == "nary":
        limits = "".join(f"{mark}{of[part]}" for mark, part in (("_", "sub"), ("^", "sup")) if of[part])
        return f"{_property(element, 'chr', '∫')}{limits} {dict(parts).get('e', '')}"
    texts = [text for _, text in parts]
    if name == "d":
        begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
        return begin + _property(element, "sepChr", "|").join(texts) + end
    return _SEPARATORS.get(name, "").join(texts)


def _name(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _property(element: _Element, name: str, default: str) -> str:
    found = element.find(f"{{*}}{_name(element)}Pr/{{*}}{name}")
    return default if found is None else next((str(value) for key, value in found.items() if key.endswith("val")), "")


def _grouped(text: str) -> str:
    is_number_or_name = text.replace(".", "").isdigit() or text.isalpha()
    is_bracketed = text[:1] + text[-1:] in ("()", "[]", "{}") and text.count(text[0]) == 1
    is_one = len(text) < 2 or is_number_or_name or is_bracketed
    return text if is_one else f"({text})"

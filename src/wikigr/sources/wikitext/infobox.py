"""Infobox fields as facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wikigr.sources.article import Triple
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.wikitext.marks import BREAK, LINK, LINK_OPEN, LIST, REMOVED, mend_parentheses, strip_marks
from wikigr.text import fold

_INFOBOX_NAMES = frozenset(
    (
        *("automatic taxobox", "chembox", "drugbox", "elementbox", "enzyme", "geobox", "language", "protein"),
        *("planetbox", "speciesbox", "starbox", "subspeciesbox", "taxobox", "taxobox begin"),
    )
)
# Words of field names that say how the box looks or where it points, not what its subject is.
_LAYOUT_WORDS = frozenset(
    (
        *("alt", "background", "bgcolor", "border", "caption", "captions", "colwidth", "coord", "coordinates"),
        *("coordinate", "coords", "embed", "footnote", "footnotes", "homepage", "image", "images", "img"),
        *("imagename", "imagesize", "jmol", "label", "labels", "logo", "map", "maps", "mapcaption", "note"),
        *("notes", "photo", "picture", "pushpin", "px", "ref", "refs", "references", "screenshot", "signature"),
        *("size", "smiles", "inchi", "inchikey", "stdinchi", "stdinchikey", "style", "upright", "url", "website"),
        *("web", "width", "verifiedfields", "watchedfields", "verifiedrevid", "zoom", "dot", "audio", "sound"),
    )
)
_LAYOUT_FIELDS = frozenset(
    (
        *("color", "colour", "textcolor", "text_color", "header_color", "nocat", "module", "child", "subbox"),
        *(
            "display_parents",
            "status_system",
            "cover",
            "flag",
            "seal",
            "symbol",
            "coat",
            "flaglink",
            "seallink",
            "coatlink",
            "logolink",
            "type_color",
            "autoconvert",
            "color_text",
            "box_width",
        ),
    )
)
_POSITION = re.compile(r"(?:lat|long?|latitude|longitude)(?:_?(?:[dmsnwe]|ns|ew|deg|min|sec|dir|degrees|minutes))?")
_NOT_A_WORD = re.compile(r"[\W_]+")
_FILE_NAME = re.compile(r"[^\n]+\.(?:jpe?g|png|svg|gif|tiff?|og[gv]|webm|pdf)", re.IGNORECASE)
_SWITCHES = frozenset(("yes", "no", "y", "n", "true", "false", "on", "off", "auto", "none", "left", "right"))
_VALUE_BREAK = re.compile(f"[\n{BREAK}]|\\s·\\s")
_BETWEEN_LINKS = re.compile(r"(?:[\s,;/&·•–-]|\band\b)*")
_QUOTES = "\"'“”‘’«»"
_AFTER_FIRST_LINK = re.compile(rf"[{_QUOTES}]*(?:\s*[,(;:–—-]|\s+in\b|\s*$)")
# One pair of parentheses, with others in it.
_PARENTHESES = re.compile(r"\(((?:[^()]++|\([^()]*\))*+)\)")
_REMARK = re.compile(rf"\s*{_PARENTHESES.pattern}")
# A field that begins with an asterisk is a list to MediaWiki; the parser sees one only where a line begins.
_ITEM = re.compile(f"(?:{LIST}.|[*•](?=[\\s{LINK_OPEN}])|\\s)+")
_BEFORE_PUNCTUATION = re.compile(f" ?{REMOVED} ?(?=[,;:])")
_EDGES = " ,;·•"


def is_infobox(name: str) -> bool:
    """Whether a template of this name (lower case, single spaces) describes the subject of the article."""
    return name.startswith(("infobox", "geobox|")) or name.endswith(" infobox") or name in _INFOBOX_NAMES


def relation_name(field: str) -> str:
    """A field's name as a relation: ``"Birth place"`` and ``"birth-place"`` give ``"birth_place"``."""
    return _NOT_A_WORD.sub("_", strip_marks(field).strip().lower().replace("(s)", "")).strip("_")


def is_fact(relation: str) -> bool:
    """Whether a field states something about the subject, rather than laying out the box."""
    if not relation or relation.isdigit() or relation in _LAYOUT_FIELDS or _POSITION.fullmatch(relation):
        return False
    words = {word.rstrip("0123456789") for word in relation.split("_")}
    return _LAYOUT_WORDS.isdisjoint(words)


def infobox_triples(subject: str, relation: str, value: str, targets: Sequence[str]) -> Iterator[Triple]:
    """The facts of one field: one for each line, list item or link of a list of links.

    ``value`` is rendered text in which links are marked; ``targets`` holds what their numbers stand for.
    """
    seen: set[tuple[str, str | None]] = set()
    for line in _VALUE_BREAK.split(value):
        # Notes and flags are no words: a link beside them still begins, and ends, its value.
        line = _BEFORE_PUNCTUATION.sub("", mend_parentheses(line)).replace(REMOVED, "")
        for text, target in _values(line, targets):
            plain = collapse_spaces(text).strip(_EDGES)
            if not plain or plain.lower() in _SWITCHES or _FILE_NAME.fullmatch(plain):
                continue
            if not any(character.isalnum() for character in plain) or (plain, target) in seen:
                continue
            if relation in ("name", "title") and fold(plain) == fold(subject):
                continue
            seen.add((plain, target))
            yield Triple(subject, relation, plain, target)


def _values(line: str, targets: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    if item := _ITEM.match(line):
        line = line[item.end() :]
    if LINK_OPEN in line:
        line = _unwrapped(line)
    links = list(LINK.finditer(line))
    # Links in a remark qualify the value before it; they are no values.
    outside = list(LINK.finditer(_PARENTHESES.sub(_blank, line)))
    if len(links) > 1 and outside and _BETWEEN_LINKS.fullmatch(_without_remarks(LINK.sub("", line))):
        for match in outside:
            label = line[match.start(2) : match.end(2)]
            yield strip_marks(label) + _remark_after(line, match.end()), targets[int(match[1])] or None
    elif len(links) > 1 and "," in line and _is_list_with_links(line):
        for part in _split_at_commas(line):
            yield _one_value(part, list(LINK.finditer(part)), targets)
    else:
        yield _one_value(line, links, targets)


def _one_value(line: str, links: list[re.Match[str]], targets: Sequence[str]) -> tuple[str, str | None]:
    """A value that is a link, or begins with its one link ("Pretoria, Union of South Africa")."""
    text = strip_marks(LINK.sub(r"\2", line))
    if len(links) != 1:
        return text, None
    first = links[0]
    begins = not line[: first.start()].strip(_QUOTES).strip() and _AFTER_FIRST_LINK.match(line, first.end())
    return text, (targets[int(first[1])] or None) if begins else None


def _unwrapped(line: str) -> str:
    """``line`` less its parentheses where all of it stands in them: without a value before it, that is no remark."""
    masked = LINK.sub(_blank, line)
    if any(character.isalnum() for character in _PARENTHESES.sub("", masked)):
        return line
    return ", ".join(line[match.start(1) : match.end(1)] for match in _PARENTHESES.finditer(masked))


def _without_remarks(text: str) -> str:
    return _PARENTHESES.sub("", strip_marks(text))


def _remark_after(line: str, position: int) -> str:
    match = _REMARK.match(line, position)
    return strip_marks(LINK.sub(r"\2", match[0])) if match else ""


def _split_at_commas(line: str) -> list[str]:
    """The parts between commas; none inside parentheses or a link's label counts."""
    # Blanked to the same length, so that offsets in one are offsets in the other.
    masked = _PARENTHESES.sub(_blank, LINK.sub(_blank, line))
    ends = [match.start() for match in re.finditer(",", masked)]
    return [line[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, None], strict=True)]


def _blank(match: re.Match[str]) -> str:
    return "x" * len(match[0])


def _is_list_with_links(line: str) -> bool:
    """Whether every part between commas is short enough for an item of a list."""
    return all(len(LINK.sub(r"\2", part).split()) <= 4 for part in _split_at_commas(line))

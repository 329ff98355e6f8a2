"""Extract facts from the fields of infoboxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wikigr.sources.article import Triple
from wikigr.sources.plain_text import collapse_spaces
from wikigr.sources.wikitext import marks, wikipedia_names
from wikigr.sources.wikitext.marks import clean_parentheses, strip_marks
from wikigr.text import fold

# These name a picture's text only as part of a longer name ("map_label"); alone, they are the labels of records.
_FACTS_ALONE = frozenset(("label", "labels"))
# Fields that other fields label: "leader_title1" says what "leader_name1" is. Each has the names of its label, and the
# words before the label that complete it.
_LABELED: dict[str, tuple[tuple[str, ...], str]] = {
    "leader_name": (("leader_title",), ""),
    "subdivision_name": (("subdivision_type",), ""),
    "established_date": (("established_event", "established_title"), "established "),
    "blank_info": (("blank_name",), ""),
    "extinct_date": (("extinct_title",), ""),
}
_NUMBER = re.compile(r"(?:_sec)?\d*$")
_POSITION = re.compile(r"(?:lat|long?|latitude|longitude)(?:_?(?:[dmsnwe]|ns|ew|deg|min|sec|dir|degrees|minutes))?")
_CAMEL_CASE = re.compile(r"(?<=[a-zà-ÿ]{2})(?=[A-ZÀ-Þ])")
_NOT_A_WORD = re.compile(r"[\W_]+")
_FILE_NAME = re.compile(r"[^\n]+\.(?:jpe?g|png|svg|gif|tiff?|og[gv]|webm|pdf)", re.IGNORECASE)
_VALUE_BREAK = re.compile(f"[\n{marks.BREAK}]|\\s·\\s")
_BETWEEN_LINKS = re.compile(r"(?:[\s,;/&·•–-]|\band\b)*")
_QUOTES = "\"'“”‘’«»"
_AFTER_FIRST_LINK = re.compile(rf"[{_QUOTES}]*(?:\s*[,(;:–—-]|\s+in\b|\s*$)")
# A pair of parentheses, possibly with one nested level.
_PARENTHESES = re.compile(r"\(((?:[^()]++|\([^()]*\))*+)\)")
_REMARK = re.compile(rf"\s*{_PARENTHESES.pattern}")
# MediaWiki reads an asterisk at the beginning of a field as a list item; the parser requires a new line.
_ITEM = re.compile(f"(?:{marks.LIST}.|[*•](?=[\\s{marks.LINK_OPEN}])|\\s)+")
_BEFORE_PUNCTUATION = re.compile(f" ?{marks.REMOVED} ?(?=[,;:])")


def is_infobox(name: str) -> bool:
    """Return whether a template of this name (lower case, single spaces) describes the subject of the article."""
    return (
        name.startswith(("infobox", "geobox|", "ficha de "))
        or name.endswith(" infobox")
        or name in wikipedia_names("infoboxes")
    )


def relation_name(field: str) -> str:
    """Return a field's name as a relation: ``"birth_place"`` for ``"Birth place"`` and ``"BirthPlace"``."""
    return _NOT_A_WORD.sub("_", _CAMEL_CASE.sub("_", strip_marks(field)).strip().lower().replace("(s)", "")).strip("_")


def is_fact(relation: str) -> bool:
    """Return whether a field states a fact about the subject; layout fields do not."""
    if (
        not relation
        or relation.isdigit()
        or relation in wikipedia_names("layout_fields")
        or _POSITION.fullmatch(relation)
    ):
        return False
    if relation in _FACTS_ALONE:
        return True
    words = {word.rstrip("0123456789") for word in relation.split("_")}
    return wikipedia_names("layout_words").isdisjoint(words)


def infobox_triples(subject: str, relation: str, value: str, targets: Sequence[str]) -> Iterator[Triple]:
    """Yield the facts of one field: one per line, list item or link in a list of links.

    ``value`` is rendered text with marked links; their numbers index ``targets``.
    """
    seen: set[tuple[str, str | None]] = set()
    for line in _VALUE_BREAK.split(value):
        # Omitted notes and flags do not count as words before or after a link.
        line = _BEFORE_PUNCTUATION.sub("", clean_parentheses(line)).replace(marks.REMOVED, "")
        for text, target in _values(line, targets):
            plain = collapse_spaces(text).strip(" ,;·•")
            if not plain or plain.lower() in wikipedia_names("switches") or _FILE_NAME.fullmatch(plain):
                continue
            if not any(character.isalnum() for character in plain) or (plain, target) in seen:
                continue
            if relation in ("name", "title") and fold(plain) == fold(subject):
                continue
            seen.add((plain, target))
            yield Triple(subject, relation, plain, target)


def apply_labels(triples: Sequence[Triple]) -> Iterator[Triple]:
    """Yield the facts of an infobox with each labeled field named by its label, and without those labels."""
    values: dict[str, list[str]] = {}
    for triple in triples:
        values.setdefault(triple.relation, []).append(triple.object)
    labels: set[str] = set()
    names: dict[str, str] = {}
    for relation in values:
        number = _NUMBER.search(relation)
        assert number is not None
        fields, words = _LABELED.get(relation[: number.start()], ((), ""))
        for field in (f"{field}{number[0]}" for field in fields):
            name = relation_name(words + values[field][0]) if len(values.get(field, ())) == 1 else ""
            if is_fact(name) and len(name) <= 60:
                names[relation] = name
                labels.add(field)
                break
    for triple in triples:
        if triple.relation not in labels:
            yield replace(triple, relation=names.get(triple.relation, triple.relation))


def _values(line: str, targets: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    if item := _ITEM.match(line):
        line = line[item.end() :]
    if marks.LINK_OPEN in line:
        line = _unwrapped(line)
    links = list(marks.LINK.finditer(line))
    # Links in parentheses qualify the value before them; they are not values.
    outside = list(marks.LINK.finditer(_PARENTHESES.sub(_blank, line)))
    between = _PARENTHESES.sub("", strip_marks(marks.LINK.sub("", line)))
    if len(links) > 1 and outside and _BETWEEN_LINKS.fullmatch(between):
        for match in outside:
            label = line[match.start(2) : match.end(2)]
            remark = _REMARK.match(line, match.end())
            after = strip_marks(marks.LINK.sub(r"\2", remark[0])) if remark else ""
            yield strip_marks(label) + after, targets[int(match[1])] or None
    elif len(links) > 1 and (parts := _list_with_links(line)):
        for part in parts:
            yield _one_value(part, list(marks.LINK.finditer(part)), targets)
    else:
        yield _one_value(line, links, targets)


def _one_value(line: str, links: list[re.Match[str]], targets: Sequence[str]) -> tuple[str, str | None]:
    """Return a value and the target of its only link if it begins with it ("Pretoria, Union of South Africa")."""
    text = strip_marks(marks.LINK.sub(r"\2", line))
    if len(links) != 1:
        return text, None
    first = links[0]
    begins = not line[: first.start()].strip(_QUOTES).strip() and _AFTER_FIRST_LINK.match(line, first.end())
    return text, (targets[int(first[1])] or None) if begins else None


def _unwrapped(line: str) -> str:
    """Remove the parentheses around the whole line; without a value before them, they do not hold a remark."""
    masked = marks.LINK.sub(_blank, line)
    if any(character.isalnum() for character in _PARENTHESES.sub("", masked)):
        return line
    return ", ".join(line[match.start(1) : match.end(1)] for match in _PARENTHESES.finditer(masked))


def _list_with_links(line: str) -> list[str]:
    """Split at commas, except those in parentheses or a link's label; none if a part is too long for a list item."""
    # Masking keeps the length, so that offsets are valid in both texts.
    masked = _PARENTHESES.sub(_blank, marks.LINK.sub(_blank, line))
    ends = [match.start() for match in re.finditer(",", masked)]
    parts = [line[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, None], strict=True)]
    return parts if all(len(marks.LINK.sub(r"\2", part).split()) <= 4 for part in parts) else []


def _blank(match: re.Match[str]) -> str:
    return "x" * len(match[0])

"""The marks in what a model writes: citations in any form, and text that looks like what wikigr prints itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from wikigr.answer.presentation import AGREEMENT, CANNOT_LIST, LEVEL_WORDS, NEAREST, OTHERS, PERHAPS
from wikigr.index.candidate import Evidence, place
from wikigr.text import CONTROL, fold

# Characters that are not seen, except those that join letters, and those of private use, of which ``CITED`` is one.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
_JOINERS = re.compile("[\u200c\u200d]")
# Stands for a citation of the API, before its number.
CITED = "\ue000"
_OPEN, _CLOSE = "[［【〔〖⟦⁅", "]］】〕〗⟧⁆"
# All spaces before something, tried once for each run of them.
_SPACES = r"(?<![ \t])[ \t]*+"
# Code in a line; text in brackets, which may be that of a link; text in parentheses.
_MARK = re.compile(
    rf"(?P<code>`[^`\n]*`)|{_SPACES}[{re.escape(_OPEN)}](?P<square>[^{re.escape(_OPEN + _CLOSE)}\n]{{1,200}})"
    rf"[{re.escape(_CLOSE)}](?:\((?P<address>[^()\s]{{0,500}})\))?|{_SPACES}[(（](?P<round>[^()（）\n]{{1,200}})[)）]"
    r"|<sup>(?P<raised>[^<>\n]{1,20})</sup>|(?<=[.!?,;:”\"'’)])(?P<superscript>[¹²³⁰⁴-⁹]{1,3})"
)
_EMPTY = re.compile(rf"{_SPACES}(?<!\[)\[++\]+")
OPEN_MARK = re.compile(rf"[{re.escape(_OPEN + CITED)}]")
_SOURCE = r"(?:in|from|per|sources?|sections?|ref(?:erence)?s?|doc(?:ument)?s?|passages?|citations?|notes?|see|cf\.?)"
_PREFIX = re.compile(rf"(?:{_SOURCE}\b[\s:.]*)*(?:no\b|n[°º])?[\s.#^]*", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d{1,3})(?:\s*[-–—]\s*(\d{1,3}))?")
_SEPARATOR = re.compile(r"\s*(?:[,;&]|\band\b)\s*")
_DECORATION = " \t\n#*_>`~|-–—•:.“”\"'"
_OWN_HEADINGS = frozenset(fold(heading).strip(_DECORATION) for heading in (OTHERS, PERHAPS, CANNOT_LIST, NEAREST))
_OWN_LEVEL = re.compile(
    rf"(?:{'|'.join(map(fold, LEVEL_WORDS.values()))})\s*\(\s*[\d.,]+\s*\)(?:{'|'.join(AGREEMENT.values())})"
)
_SOURCES_HEADING = re.compile(r"(?:sources?|references?|citations?|footnotes?)(?: (?:used|cited))?")
_SOURCES_LINE = re.compile(rf"\W*{_SOURCE}\s*[:：]\s*(?P<named>.+)", re.IGNORECASE)


def plain(text: str) -> str:
    """Return a model's text without characters that nobody sees or that drive a terminal."""
    return _UNSEEN.sub("", CONTROL.sub("", text))


@dataclass(slots=True)
class ReplyMarks:
    """Reads the marks of a reply to ``evidence``, whose sections have the numbers from 1."""

    evidence: Sequence[Evidence]
    _names: dict[str, tuple[int, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for number, item in enumerate(self.evidence, start=1):
            section = item.section
            for name in {section.title, place(section.title, section.heading), section.section_id, section.source_id}:
                self._names[fold(name)] = (*self._names.get(fold(name), ()), number)

    def read(self, text: str) -> tuple[str, list[int], list[int]]:
        """Return ``text`` without marks, the sections that they name, and the numbers of citations of the API."""
        sections: list[int] = []
        cited: list[int] = []

        def take(found: re.Match[str]) -> str:
            if found["code"]:
                # A number in code stands right after a name.
                return re.sub(r"(?<!\w)\[(\d{1,4}|unverified)\]", r"(\1)", found["code"])
            inside = found["square"] or found["round"] or found["raised"] or found["superscript"]
            if inside.startswith(CITED):
                cited.append(int(inside[1:]))
                return ""
            named = self._named(inside, bare=not found["round"] or not text[found.end() :].strip(" \t\n.!?"))
            if named is not None:
                sections.extend(named)
                return ""
            if (address := found["address"]) is not None:
                # The target of a link is nothing that anyone reads, so it cannot be judged.
                is_stored = any(address in item.section.content for item in self.evidence)
                return f" {inside} ({address})" if is_stored else f" {inside}"
            return f" ({inside})" if re.fullmatch(r"[\d\s,;]+", inside) else found[0]

        before = None
        while before != text:
            # Within brackets there may be others; what is left of "[[1]]" goes too.
            before, text = text, _MARK.sub(take, text)
        return _EMPTY.sub("", text) if sections else text, sections, cited

    def is_source_line(self, line: str, *, after_heading: bool) -> bool:
        """Return whether ``line`` only names sources, as the lines of a list of sources do."""
        found = _SOURCES_LINE.fullmatch(line.strip())
        text, sections, _ = self.read(found["named"] if found is not None else re.sub(r"^\W*\d{1,3}[.):]\s", "", line))
        text = re.sub(r"https?://\S+", "", text) if after_heading else text
        left = fold(plain(_JOINERS.sub("", text))).strip(_DECORATION)
        parts = (part.strip(_DECORATION) for part in (left, *re.split(r"[,;]| [-–—] ", left)))
        names = list(filter(None, parts))
        is_named = not left or names[0] in self._names or (len(names) > 1 and all(n in self._names for n in names[1:]))
        return is_named and bool(sections or found is not None or after_heading)

    def _named(self, inside: str, *, bare: bool) -> tuple[int, ...] | None:
        """Return the sections that a mark names, or ``None`` for text; only a ``bare`` number needs no word before."""
        text = fold(_JOINERS.sub("", inside))
        if text in ("unverified", "citation needed"):
            return ()
        if not (bare or _PREFIX.sub("", text, count=1) != text):
            return None
        found: list[int] = []
        for part in (text,) if _PREFIX.sub("", text, count=1) in self._names else _SEPARATOR.split(text):
            name = _PREFIX.sub("", part, count=1)
            number = _NUMBERS.fullmatch(name.partition("†")[0])
            if part not in self._names and name not in self._names and number is None:
                return None
            if number is not None:
                found += range(int(number[1]), min(int(number[2] or number[1]), int(number[1]) + 20) + 1)
            else:
                found += self._names.get(part, ()) or self._names[name]
        return tuple(found)


def is_sources_heading(line: str) -> bool:
    """Return whether ``line`` is the heading of a list of sources."""
    return _SOURCES_HEADING.fullmatch(_bare(line)) is not None


def is_own_line(line: str) -> bool:
    """Return whether ``line`` looks like one that wikigr prints about an answer: its level, or a heading."""
    bare = _bare(line)
    return bare in _OWN_HEADINGS or _OWN_LEVEL.fullmatch(bare) is not None


def _bare(line: str) -> str:
    return fold(_JOINERS.sub("", unicodedata.normalize("NFKC", line))).strip(_DECORATION)

"""From the records of one title to one article text and its sections, sized for an encoder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wikigr.graph.schema import section_id
from wikigr.segmentation import sentence_spans
from wikigr.sources.article import SourceArticle
from wikigr.text import word_count

# Characters. 1,200 is about 250 word pieces of English: the window of the default encoder.
MAX_SECTION_CHARS = 1_200
# A last piece shorter than this joins the piece before it.
MIN_PIECE_CHARS = 200
# Every section under a heading repeats it; what is longer is cut there, and whole in the article's text.
MAX_HEADING_CHARS = 500

LEAD_TITLE = "Introduction"

# Blank lines, and not the indentation of the line after them: in code it counts.
_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*+\n)++")
_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section before it has a vector. ``article.content[start:end] == content``."""

    section_id: str
    title: str
    heading_path: tuple[str, ...]
    content: str
    start: int
    end: int
    position: int
    source_id: str

    @property
    def level(self) -> int:
        """Depth of the heading: 0 for a lead, 1 for a top heading."""
        return len(self.heading_path)

    def embedding_text(self, article_title: str) -> str:
        """Return what the encoder reads: the title and the headings give a passage its subject."""
        return "\n".join([" - ".join((article_title, *self.heading_path)), self.content])


@dataclass(frozen=True, slots=True)
class ArticleDraft:
    """One article with its whole text."""

    title: str
    content: str
    sections: tuple[SectionDraft, ...]

    @property
    def word_count(self) -> int:
        return word_count(self.content)


def draft_article(title: str, records: Sequence[SourceArticle]) -> ArticleDraft:
    """Join the records of ``title`` into one text and cut it into sections.

    Sections without text are left out (their headings still show in the paths below them); an article
    without any text has no sections.
    """
    text: list[str] = []
    length = 0
    drafts: list[SectionDraft] = []

    def append(piece: str) -> None:
        nonlocal length
        text.append(piece)
        length += len(piece)

    for passage, record in enumerate(records):
        lead_title = LEAD_TITLE if passage == 0 else f"Passage {passage + 1}"
        for section in record.sections:
            body = section.text.strip("\n").rstrip()
            if not body.strip():
                continue
            if length:
                append("\n\n")
            if section.heading_path:
                append(f"{'#' * (len(section.heading_path) + 1)} {section.heading_path[-1]}\n\n")
            path = tuple(map(_short, section.heading_path))
            for start, end in split(body):
                position = len(drafts)
                drafts.append(
                    SectionDraft(
                        section_id=section_id(title, position),
                        title=path[-1] if path else lead_title,
                        heading_path=path,
                        content=body[start:end],
                        start=length + start,
                        end=length + end,
                        position=position,
                        source_id=record.source_id,
                    )
                )
            append(body)
    return ArticleDraft(title, "".join(text), tuple(drafts))


def _short(heading: str) -> str:
    return heading if len(heading) <= MAX_HEADING_CHARS else f"{heading[: MAX_HEADING_CHARS - 1]}…"


def split(text: str, limit: int = MAX_SECTION_CHARS) -> list[tuple[int, int]]:
    """Cut ``text`` into pieces of at most about ``limit`` characters, as offsets, in order.

    Cuts fall at paragraph ends; inside a longer paragraph at line ends, then sentence ends, then spaces;
    only a run without any of these is cut in mid-word. A short last piece joins the one before it.
    """
    pieces: list[tuple[int, int]] = []
    for start, end in _atoms(text, limit):
        if pieces and end - pieces[-1][0] <= limit:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    if len(pieces) > 1 and pieces[-1][1] - pieces[-1][0] < MIN_PIECE_CHARS:
        (start, _), (_, end) = pieces[-2:]
        pieces[-2:] = [(start, end)]
    return pieces


def _atoms(text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the largest natural units no longer than ``limit``."""
    for paragraph in _between(text, 0, len(text), _PARAGRAPH):
        if paragraph[1] - paragraph[0] <= limit:
            yield paragraph
            continue
        for line in _between(text, *paragraph, _LINE_END):
            if line[1] - line[0] <= limit:
                yield line
                continue
            for left, right in sentence_spans(text[line[0] : line[1]]):
                sentence = (line[0] + left, line[0] + right)
                if right - left <= limit:
                    yield sentence
                    continue
                for word in _between(text, *sentence, _SPACE):
                    for cut in range(word[0], word[1], limit):
                        yield cut, min(cut + limit, word[1])


def _between(text: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield what lies between the separators and is not only space."""
    for match in separator.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:end].strip():
        yield start, end

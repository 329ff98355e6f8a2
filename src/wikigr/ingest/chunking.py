"""Second stage: the records of each title become one article text and its sections, sized for an encoder."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wikigr.errors import BuildError
from wikigr.graph.schema import section_id
from wikigr.index.stored_blocks import encode_blocks
from wikigr.ingest.page_furniture import RepeatedText, RepeatedTextFinder, tidy_sections
from wikigr.ingest.staging import Staging
from wikigr.languages import ENGLISH, Language
from wikigr.progress import Progress
from wikigr.segmentation import sentence_spans
from wikigr.sources.article import SourceArticle
from wikigr.sources.block import BLANK_LINES, Block, cut_blocks, fill_paragraphs, row_extent
from wikigr.sources.plain_text import collapse_spaces
from wikigr.text import one_line, word_count

# Characters. 1,200 is about 250 word pieces of English: the window of the default encoder.
MAX_SECTION_CHARS = 1_200
# A shorter last piece is joined to the piece before it.
MIN_PIECE_CHARS = 200
# Every section below a heading repeats it. Longer headings are truncated there; the article's text keeps them whole.
MAX_HEADING_CHARS = 500


LEAD_TITLE = "Introduction"

_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_NOTHING_REPEATED = RepeatedText()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A section without its vector. ``article.content[start:end] == content``.

    ``blocks`` are the blocks of ``content`` without paragraphs of depth 0.
    """

    section_id: str
    title: str
    heading_path: tuple[str, ...]
    content: str
    start: int
    end: int
    position: int
    source_id: str
    anchor: str = ""
    blocks: tuple[Block, ...] = ()

    def embedding_text(self, article_title: str) -> str:
        """Return the encoder's input: the title and headings, which name the subject, and then the content."""
        return "\n".join([" - ".join((article_title, *self.heading_path)), self.content])


@dataclass(frozen=True, slots=True)
class ChunkedArticle:
    """An article with its whole text and its sections."""

    title: str
    content: str
    sections: tuple[Chunk, ...]


def content_hash(embedding_text: str) -> bytes:
    """Return the key under which a text's vector is stored (128-bit BLAKE2b)."""
    return hashlib.blake2b(embedding_text.encode("utf-8", "replace"), digest_size=16).digest()


def chunk_all(staging: Staging, progress: Progress, language: Language = ENGLISH) -> None:
    """Fill ``article``, ``section`` and the raw links, aliases and triples. Count and skip titles without text.

    Raises ``BuildError`` if no article has any text.
    """
    finder = RepeatedTextFinder(language)
    for _, records in staging.records_by_title():
        for record in records:
            finder.add(record)
    repeated = finder.result()
    progress.start("chunking", staging.titles(), "articles")
    with staging.transaction():
        for title, records in staging.records_by_title():
            chunked = chunk_article(title, records, repeated, language)
            progress.advance(1)
            if not chunked.sections:
                staging.count_skipped("no text")
                continue
            article = staging.add_article_row(
                title, chunked.content, word_count(chunked.content), records, evidence_positions(chunked, records)
            )
            rows = []
            for section in chunked.sections:
                text = section.embedding_text(title)
                rows.append(
                    (
                        article,
                        section.section_id,
                        section.title,
                        json.dumps(section.heading_path, ensure_ascii=False),
                        section.content,
                        section.start,
                        section.end,
                        section.position,
                        section.source_id,
                        section.anchor,
                        text,
                        content_hash(text),
                        encode_blocks(section.content, section.blocks),
                    )
                )
            staging.add_sections(rows)
        if staging.count("article") == 0:
            raise BuildError(
                "The source has no article with text, so there is nothing to build.",
                hint="Check the path and --source-format.",
            )


def evidence_positions(chunked: ChunkedArticle, records: Sequence[SourceArticle]) -> list[int]:
    """Return, for each triple in order, the position of the section in which its line begins; 0 if it is not found.

    The search for a line starts after the previous hit, because lines mostly appear in the order of their triples.
    """
    starts = [section.start for section in chunked.sections]
    positions: list[int] = []
    cursor = 0
    for triple in (triple for record in records for triple in record.triples):
        found = chunked.content.find(triple.line, cursor) if triple.line else -1
        if triple.line and found < 0:
            found = chunked.content.find(triple.line)
        positions.append(max(bisect_right(starts, found) - 1, 0))
        if found >= 0:
            cursor = found + len(triple.line)
    return positions


def chunk_article(
    title: str,
    records: Sequence[SourceArticle],
    repeated: RepeatedText = _NOTHING_REPEATED,
    language: Language = ENGLISH,
) -> ChunkedArticle:
    """Join the records of ``title`` into one text and split it into sections; see also ``tidy_sections``.

    Sections without text are left out, but their headings remain in the paths of the sections below them. Where a list
    is divided, the sentence that introduces it is a heading above the rest of it. An article without any text has no
    sections.
    """
    text: list[str] = []
    length = 0
    chunks: list[Chunk] = []

    def append(piece: str) -> None:
        nonlocal length
        text.append(piece)
        length += len(piece)

    for passage, record in enumerate(records):
        lead_title = LEAD_TITLE if passage == 0 else f"Passage {passage + 1}"
        for section in tidy_sections(record, repeated):
            if not section.text.strip():
                continue
            section = section.trimmed()
            body = section.text
            blocks = fill_paragraphs(body, section.blocks)
            if length:
                append("\n\n")
            if section.heading_path:
                append(f"{'#' * (len(section.heading_path) + 1)} {section.heading_path[-1]}\n\n")
            headings = tuple(map(_truncated, section.heading_path))
            pieces = split_text(body, blocks, language=language)
            lists = list(_introduced_lists(body, blocks)) if len(pieces) > 1 else []
            for start, end in pieces:
                position = len(chunks)
                path = headings
                before = bisect_left(lists, (start,)) - 1
                if before >= 0 and start < lists[before][1]:
                    # It stands in front of the rest of a list as a heading does.
                    path += tuple(_introduction(body, lists[before][2], language))
                chunks.append(
                    Chunk(
                        section_id=section_id(title, position),
                        title=path[-1] if path else lead_title,
                        heading_path=path,
                        content=body[start:end],
                        start=length + start,
                        end=length + end,
                        position=position,
                        source_id=record.source_id,
                        anchor=section.anchor,
                        blocks=cut_blocks(body, blocks, start, end) if section.blocks else (),
                    )
                )
            append(body)
    return ChunkedArticle(title, "".join(text), tuple(chunks))


def _introduced_lists(text: str, blocks: Sequence[Block]) -> Iterator[tuple[int, int, Block]]:
    """Yield the start and the end of each list after a paragraph that ends in ":", and that paragraph."""
    for number, block in enumerate(blocks):
        if block.kind != "paragraph" or text[block.end - 1] != ":":
            continue
        after = number + 1
        while after < len(blocks) and (
            blocks[after].depth > block.depth
            or (blocks[after].depth == block.depth and blocks[after].kind in ("item", "task"))
        ):
            after += 1
        if after > number + 1:
            yield blocks[number + 1].start, blocks[after - 1].end, block


def _introduction(text: str, paragraph: Block, language: Language) -> Iterator[str]:
    """Yield the sentence at the end of ``paragraph`` that introduces a list, unless it is too long for a heading."""
    written = text[paragraph.start : paragraph.end]
    for start, end in sentence_spans(written, language)[-1:]:
        introduction = collapse_spaces(written[start:end]).rstrip(" :")
        # A longer sentence before a list is not a heading.
        if 0 < len(introduction) <= 160:
            yield introduction


def _truncated(heading: str) -> str:
    heading = one_line(heading)
    return heading if len(heading) <= MAX_HEADING_CHARS else f"{heading[: MAX_HEADING_CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a text that is not divided; ``is_term`` says whether its last block is a term.

    ``depth`` is the depth of its first block, and then the number of spaces in front.
    """

    start: int
    end: int
    depth: tuple[int, int]
    is_term: bool = False


def split_text(
    text: str, blocks: Sequence[Block], limit: int = MAX_SECTION_CHARS, language: Language = ENGLISH
) -> list[tuple[int, int]]:
    """Split ``text`` into pieces of at most about ``limit`` characters and return their offsets in order.

    ``blocks`` are all those of ``text``. The text is split between blocks with blank lines between them, then between
    all blocks and the rows of tables; a longer block at line ends, then at sentence ends, then at spaces. Only a run
    without any of these is split inside a word. A short last piece is joined to the piece before it. A piece does not
    end in what introduces the next one: a sentence that ends in ":", a question, or terms. What stands inside a block,
    such as a definition, or is indented below it, stays with it if it fits.
    """
    pieces: list[tuple[int, int]] = []
    atoms: list[_Atom] = []
    for atom in _atoms(text, blocks, limit, language):
        if pieces and atom.end - pieces[-1][0] <= limit:
            pieces[-1] = (pieces[-1][0], atom.end)
            atoms.append(atom)
            continue
        introducing = (_first_introducing(text, atoms), _first_of_entry(atoms, atom))
        # An entry that does not fit is divided, but not between a term and its first paragraph.
        first = next((first for first in sorted(introducing) if first and atom.end - atoms[first].start <= limit), 0)
        if first:
            pieces[-1] = (pieces[-1][0], atoms[first - 1].end)
            atoms = atoms[first:]
            pieces.append((atoms[0].start, atom.end))
        else:
            atoms = []
            pieces.append((atom.start, atom.end))
        atoms.append(atom)
    if len(pieces) > 1 and pieces[-1][1] - pieces[-1][0] < MIN_PIECE_CHARS:
        (start, _), (_, end) = pieces[-2:]
        pieces[-2:] = [(start, end)]
    return pieces


def _first_introducing(text: str, atoms: Sequence[_Atom]) -> int:
    """Return the index of the first of the last ``atoms`` that introduce what follows; 0 if none does."""
    first = len(atoms)
    while first and atoms[first - 1].is_term:
        first -= 1
    if first < len(atoms) or not atoms:
        return first
    last = atoms[-1]
    # A longer paragraph that ends in a question mark is text, not the question of an answer.
    is_question = text[last.end - 1] in "?？" and last.end - last.start <= 300
    return len(atoms) - 1 if is_question or text[last.end - 1] == ":" else 0


def _first_of_entry(atoms: Sequence[_Atom], following: _Atom) -> int:
    """Return the index of the last of ``atoms`` around ``following``, of less depth; 0 if there is none."""
    first = len(atoms) - 1
    while first > 0 and atoms[first].depth >= following.depth:
        first -= 1
    return max(first, 0)


def _atoms(text: str, blocks: Sequence[Block], limit: int, language: Language) -> Iterator[_Atom]:
    """Yield the largest natural units that are at most ``limit`` characters long."""

    def atom(start: int, end: int, first: Block, last: Block) -> _Atom:
        indent = start
        while indent < end and text[indent] == " ":
            indent += 1
        return _Atom(start, end, (first.depth, indent - start), last.kind == "term")

    for paragraph in _paragraphs(text, blocks):
        start, end = _with_indent(text, paragraph[0]), paragraph[-1].end
        if end - start <= limit:
            yield atom(start, end, paragraph[0], paragraph[-1])
            continue
        for block in paragraph:
            start = _with_indent(text, block)
            parts = [(start, block.end)] if block.end - start <= limit else _parts_of(text, block, limit, language)
            for part in parts:
                yield atom(*part, block, block)


def _with_indent(text: str, block: Block) -> int:
    """Return the start of a block with the spaces before it on its line."""
    start = block.start
    while start and text[start - 1] in " \t":
        start -= 1
    return start if not start or text[start - 1] == "\n" else block.start


def _paragraphs(text: str, blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield the blocks between which there is no blank line."""
    paragraph: list[Block] = []
    for block in blocks:
        if paragraph and BLANK_LINES.search(text, paragraph[-1].end, block.start):
            yield paragraph
            paragraph = []
        paragraph.append(block)
    if paragraph:
        yield paragraph


def _parts_of(text: str, block: Block, limit: int, language: Language) -> Iterator[tuple[int, int]]:
    """Yield the parts of a block that is too long: rows, or text between blank lines, then lines, sentences, words."""
    rows = (row_extent(text, block, row) for row in block.rows)
    for part in rows if block.rows else _between(text, block.start, block.end, BLANK_LINES):
        if part[1] - part[0] <= limit:
            yield part
            continue
        for line in _between(text, *part, _LINE_END):
            if line[1] - line[0] <= limit:
                yield line
                continue
            for left, right in sentence_spans(text[line[0] : line[1]], language):
                sentence = (line[0] + left, line[0] + right)
                if right - left <= limit:
                    yield sentence
                    continue
                for word in _between(text, *sentence, _SPACE):
                    for cut in range(word[0], word[1], limit):
                        yield cut, min(cut + limit, word[1])


def _between(text: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans between separators that are not blank."""
    for match in separator.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:end].strip():
        yield start, end

"""The questions of ``asked``: about manuals, an encyclopedia and desks, with the sections that answer them.

Two collections have the same form: ``training/asked``, and the folder ``asked`` of the data sets. A manual has
``questions/NAME.jsonl`` and, in a folder of pages, ``NAME.jsonl.xz``; a desk is a folder of files with
``questions.jsonl``, which are cut into sections as ``wikigr pack build`` cuts them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from training.examples import Span, occurrences
from wikigr.ingest.chunking import LEAD_TITLE, chunk_article
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source

NAME = "asked"
LICENSE = "see sources.json of each collection"

MANUAL = "manual"
DESK = "desk"
ENCYCLOPEDIA = "encyclopedia"

TRAINING = "training"
DEVELOPMENT = "development"
ASIDE = "aside"

YES_NO = "yesno"
UNANSWERABLE = "unanswerable"

# What is set aside of the shared sources, and what of the others chooses between trainings.
_ASIDE_SHARE = 1 / 3
_DEVELOPMENT_SHARE = 0.15
# The articles of an encyclopedia are as little related as manuals are, so they are divided one by one.
_DEVELOPMENT_ARTICLES = 0.2

# A stretch of a list that a span of 15 tokens can hold.
_SHORT_STRETCH = 60
# A part of the evidence that answers yes or no; shorter ones are joined to the next.
_MIN_CLAUSE = 25
_CLAUSE_END = re.compile(r"(?<=[,;:.!?)|])\s+|\s+(?=\(|[—–] |-- )|\n+")
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"[*`|]|\[\[|\]\]|^\s*(?:[-+>]|#+|\d+\.)\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
# Of the words of a quotation, the share that must be found in order, and how far apart they may stand: a table's row
# reads ``Column: value | Column: value`` in a section.
_MIN_ALIGNED = 0.8
_MAX_GAP = 12


@dataclass(frozen=True, slots=True)
class AskedSection:
    """A section of ``page``, which is a path."""

    page: str
    title: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of a source.

    ``section`` is the number of the section that answers it, ``None`` for a near miss. ``spans`` are the characters
    of it to learn, ``accepted`` the texts that count as right, and ``evidence`` the characters of what proves it.
    """

    id: str
    question: str
    kind: str
    page: str
    section: int | None
    accepted: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    evidence: Span = (0, 0)


@dataclass(frozen=True, slots=True)
class AskedSource:
    """A manual, a desk or an encyclopedia. ``lost`` counts the questions whose evidence no section holds."""

    name: str
    group: str
    sections: tuple[AskedSection, ...]
    questions: tuple[AskedQuestion, ...]
    lost: int = 0


def split_sources(names: Iterable[str], seed: int, *, aside: bool) -> dict[str, str]:
    """Return the part of each source of one kind: a third ``aside``, 15 % for development, the others for training.

    The order is that of the hashes of seed and name. Without ``aside``, none is put aside.
    """
    order = sorted(names, key=lambda name: _hash(name, seed))
    first = round(len(order) * _ASIDE_SHARE) if aside else 0
    last = first + round(len(order) * _DEVELOPMENT_SHARE)
    return {n: ASIDE if at < first else DEVELOPMENT if at < last else TRAINING for at, n in enumerate(order)}


def part_of_article(page: str, seed: int) -> str:
    """Return whether an article of an encyclopedia is for training or for development."""
    return DEVELOPMENT if int(_hash(page, seed)[:8], 16) < _DEVELOPMENT_ARTICLES * 2**32 else TRAINING


def _hash(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()


def source_names(folder: Path) -> dict[str, list[str]]:
    """Return the names of the sources of the collection ``folder`` by their kind."""
    manuals = sorted(file.stem for file in folder.glob("questions/*.jsonl"))
    return {
        MANUAL: [name for name in manuals if not name.startswith(ENCYCLOPEDIA)],
        ENCYCLOPEDIA: [name for name in manuals if name.startswith(ENCYCLOPEDIA)],
        DESK: sorted(file.parent.name for file in folder.glob("desk/*/questions.jsonl")),
    }


def read_collection(folder: Path, pages: Path, seed: int, *, aside: bool) -> Iterator[tuple[str, AskedSource]]:
    """Yield every source of the collection ``folder`` with its part; those of ``pages`` that are missing are left out.

    The articles of an encyclopedia that is not put aside are two sources, one for training and one for development.
    """
    for group, names in source_names(folder).items():
        parts = split_sources(names, seed, aside=aside)
        for name in names:
            if group == DESK:
                yield parts[name], read_desk(folder / "desk" / name)
            elif (pages / f"{name}.jsonl.xz").exists():
                source = read_manual(folder / "questions" / f"{name}.jsonl", pages / f"{name}.jsonl.xz", group)
                if group != ENCYCLOPEDIA or parts[name] == ASIDE:
                    yield parts[name], source
                else:
                    for part in (TRAINING, DEVELOPMENT):
                        yield part, _articles_for(source, part, seed)


def _articles_for(source: AskedSource, part: str, seed: int) -> AskedSource:
    kept = [n for n, section in enumerate(source.sections) if part_of_article(section.page, seed) == part]
    places = {old: new for new, old in enumerate(kept)}
    questions = tuple(
        AskedQuestion(q.id, q.question, q.kind, q.page, places.get(q.section), q.accepted, q.spans, q.evidence)  # type: ignore[arg-type]
        for q in source.questions
        if part_of_article(q.page, seed) == part
    )
    return AskedSource(source.name, source.group, tuple(source.sections[n] for n in kept), questions)


def read_manual(questions: Path, pages: Path, group: str = MANUAL) -> AskedSource:
    """Read the questions of a manual or an encyclopedia and the pages that they are about."""
    sections: list[AskedSection] = []
    with lzma.open(pages, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            for given in page["sections"]:
                heading = given["heading"].split(" › ")[-1] or LEAD_TITLE
                sections.append(AskedSection(page["page"], page["title"], heading, given["text"]))
    rows = _rows(questions)
    return _source(questions.stem, group, sections, [(row, row["page"]) for row in rows])


def read_desk(folder: Path) -> AskedSource:
    """Read the files of a desk with wikigr's own readers, and the questions about them."""
    sections: list[AskedSection] = []
    with TemporaryDirectory() as temporary:
        files = Path(temporary) / folder.name
        shutil.copytree(folder, files, ignore=shutil.ignore_patterns("questions.jsonl"))
        reader = open_source(files)
        for record in reader.records():
            for article in reader.parse(record):
                if isinstance(article, SourceArticle):
                    chunks = chunk_article(article.title, [article]).sections
                    sections += [
                        AskedSection(record.source_id, article.title, chunk.title, chunk.content) for chunk in chunks
                    ]
    rows = _rows(folder / "questions.jsonl")
    return _source(folder.name, DESK, sections, [(row, row["file"] or "") for row in rows])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _source(
    name: str, group: str, sections: Sequence[AskedSection], rows: Sequence[tuple[dict[str, Any], str]]
) -> AskedSource:
    found = []
    for number, (row, page) in enumerate(rows):
        question = _question(f"{name}-{number}", row, page, sections)
        if question is not None:
            found.append(question)
    return AskedSource(name, group, tuple(sections), tuple(found), len(rows) - len(found))


def _question(id_: str, row: dict[str, Any], page: str, sections: Sequence[AskedSection]) -> AskedQuestion | None:
    """Return a question with its spans, ``None`` if no section of its page holds evidence and answer."""
    if row["answer"] is None:
        return AskedQuestion(id_, row["question"], UNANSWERABLE, page, None)
    answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    ranked = []
    for place, section in enumerate(sections):
        if section.page == page and (aligned := align(section.text, row["evidence"])) is not None:
            coverage, evidence = aligned
            ranked.append((-coverage, evidence[1] - evidence[0], place, evidence))
    for _, _, place, evidence in sorted(ranked):
        text = sections[place].text
        quoted = text[slice(*evidence)]
        spans: tuple[Span, ...]
        if row["kind"] == YES_NO or row["answer"] in ("yes", "no"):
            spans = clauses(text, evidence)
            accepted = (quoted, *(text[start:end] for start, end in spans))
        elif len(answers) > 1:
            spans = _items(text, evidence, answers)
            accepted = (" ".join(answers), ", ".join(answers), *answers)
        else:
            spans = find(text, answers[0], evidence)
            accepted = (answers[0],)
        if spans:
            taken = (*accepted, *(text[start:end] for start, end in spans))
            return AskedQuestion(
                id_, row["question"], row["kind"], page, place, tuple(dict.fromkeys(taken)), spans, evidence
            )
    return None


def _items(text: str, evidence: Span, items: Sequence[str]) -> tuple[Span, ...]:
    """Return what a span reader learns of a list: the stretch that holds all items if it is short, or else each item.

    The reader's spans have at most 15 tokens; of a longer list, any item leads to the place where the list stands.
    """
    found = []
    after = evidence[0]
    for item in items:
        spans = find(text, item, (after, evidence[1])) or find(text, item, evidence)
        if spans:
            found.append(spans[0])
            after = spans[0][1]
    if not found:
        return ()
    stretch = (min(start for start, _ in found), max(end for _, end in found))
    if len(found) == len(items) and stretch[1] - stretch[0] <= _SHORT_STRETCH:
        return (stretch,)
    return tuple(dict.fromkeys(found))


def clauses(text: str, evidence: Span) -> tuple[Span, ...]:
    """Return the clauses of ``evidence``, of at least 25 characters if it has so many: each of them may be learned.

    The evidence for yes or no is mostly a sentence, longer than the spans that the reader returns.
    """
    start, end = evidence
    ends = [start + match.start() for match in _CLAUSE_END.finditer(text[start:end])]
    starts = [start, *(start + match.end() for match in _CLAUSE_END.finditer(text[start:end]))]
    found: list[Span] = []
    for left, right in zip(starts, [*ends, end], strict=True):
        if found and found[-1][1] - found[-1][0] < _MIN_CLAUSE:
            found[-1] = (found[-1][0], right)
        elif right > left:
            found.append((left, right))
    if len(found) > 1 and found[-1][1] - found[-1][0] < _MIN_CLAUSE:
        found[-2:] = [(found[-2][0], found[-1][1])]
    return tuple(found)


def find(text: str, quote: str, within: Span) -> tuple[Span, ...]:
    """Return the places of ``quote`` in the characters ``within`` of ``text``, as whole words where it is one.

    White space and the marks of Markdown may differ, and as a last resort only the words need to follow each other.
    """
    start, end = within
    part = text[start:end]
    for wanted in dict.fromkeys((quote, _MARKS.sub("", quote))):
        pieces = wanted.split()
        if not pieces:
            continue
        pattern = re.compile(r"\s+".join(map(re.escape, pieces)))
        literal = {match.group() for match in pattern.finditer(part)}
        spans = sorted({span for found in literal for span in occurrences(part, found)})
        if spans:
            return tuple((start + left, start + right) for left, right in spans)
    aligned = align(part, quote, gap=2)
    return ((start + aligned[1][0], start + aligned[1][1]),) if aligned is not None and aligned[0] == 1 else ()


def align(text: str, quote: str, gap: int = _MAX_GAP) -> tuple[float, Span] | None:
    """Return where the words of ``quote`` follow each other in ``text``, and the share of them that do.

    ``None`` if it is less than 80 %. Up to ``gap`` other words may stand between two of them, as the names of
    columns do.
    """
    pieces = quote.split()
    if pieces and (exact := re.search(r"\s+".join(map(re.escape, pieces)), text)):
        return 1.0, exact.span()
    wanted = [match.group().lower() for match in _WORD.finditer(_MARKS.sub(" ", quote))]
    words = [(match.group().lower(), match.span()) for match in _WORD.finditer(text)]
    best: tuple[float, int, Span] | None = None
    for first in range(len(words)):
        if not wanted or words[first][0] not in wanted[:2]:
            continue
        begun = wanted.index(words[first][0])
        matched, at = 1, first
        for word in wanted[begun + 1 :]:
            following = range(at + 1, min(at + 2 + gap, len(words)))
            place = next((n for n in following if words[n][0] == word), None)
            if place is not None:
                matched, at = matched + 1, place
        span = (words[first][1][0], words[at][1][1])
        score = (matched / len(wanted), span[0] - span[1], span)
        if best is None or score > best:
            best = score
    if best is None or best[0] < _MIN_ALIGNED:
        return None
    return best[0], best[2]

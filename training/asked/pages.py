"""Cut excerpts out of documentation for people to write questions about.

python -m training.asked.pages SOURCES.json OUTPUT [NAME…] [--root FOLDER] [--pages N] [--seed N]

SOURCES.json gives the ``package``, ``folder`` and ``license`` of each source by name. Optional are ``format`` (``html``
or ``text``) and regular expressions: ``only`` and ``skip`` for paths of pages below the folder, and ``without`` for
headings. Packages need not be installed: with ``--root``, the files of PACKAGE lie below ``FOLDER/PACKAGE``, as
``dpkg -x`` unpacks them.
``OUTPUT/NAME.jsonl.xz`` is for programs and ``OUTPUT/NAME.txt`` for reading.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wikigr.errors import RecordError
from wikigr.ingest.chunking import Chunk, chunk_article
from wikigr.sources.article import SourceArticle
from wikigr.sources.detect import open_source

EXCERPT_SECTIONS = 8
MIN_EXCERPT_SECTIONS = 3
MIN_EXCERPT_CHARS = 1_500
MIN_SECTION_CHARS = 120
# Pages without anything to ask about, by path and by title.
_NO_CONTENT = re.compile(
    r"(?:^|[/_.-])(?:index|genindex|search|toc|contents|change-?logs?|changes|release|news|what-?s-?new|history|licen[cs]e"
    r"|licensing|copying|gpl|gfdl|fdl|legal\w*|copyright|authors|credits|bibliography|titlepage|_sources|_modules)"
    r"(?:[/_.-]|$)",
    re.IGNORECASE,
)
_NO_CONTENT_TITLE = re.compile(
    r"\b(?:index|table of contents|change ?log|release notes|licen[cs]e|bibliography|acknowledge?ments|contributors)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{2,}")
# A line that reads as a sentence, part of one or an entry, not as a link in a list.
_MIN_WORDS_A_LINE = 4
_MIN_PROSE = 0.35


@dataclass(frozen=True, slots=True)
class Documentation:
    """The documents below ``folder`` whose paths match ``only`` but not ``skip``; ``without`` is for headings."""

    name: str
    license: str
    folder: Path
    format: str = "html"
    only: str = ""
    skip: str = r"(?!)"
    without: str = r"(?!)"

    def has(self, page: str) -> bool:
        """Return whether ``page`` is one to read."""
        return bool(re.search(self.only, page)) and not (re.search(self.skip, page) or _NO_CONTENT.search(page))


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive sections of one page."""

    page: str
    title: str
    sections: tuple[Chunk, ...]

    def record(self, source: Documentation) -> dict[str, object]:
        """Return the line of the JSON Lines file."""
        sections = [{"id": c.section_id, "heading": _heading(c), "text": c.content} for c in self.sections]
        head = {"source": source.name, "license": source.license, "page": self.page, "title": self.title}
        return {**head, "sections": sections}

    def readable(self) -> str:
        """Return the excerpt for a reader, each section below its id and heading."""
        parts = [f"{'=' * 100}\nPAGE {self.page}\nTITLE {self.title}\n"]
        parts += [f"--- SECTION {c.section_id}\n    [{_heading(c)}]\n\n{c.content}\n" for c in self.sections]
        return "\n".join(parts)


def _heading(chunk: Chunk) -> str:
    return " › ".join(chunk.heading_path)


def read_pages(source: Documentation) -> Iterator[tuple[SourceArticle, tuple[Chunk, ...]]]:
    """Yield the pages of ``source`` with the sections that a pack would hold."""
    reader = open_source(source.folder, source.format)
    for record in reader.records():
        if not source.has(record.source_id):
            continue
        try:
            articles = [item for item in reader.parse(record) if isinstance(item, SourceArticle)]
        except RecordError as error:
            print(f"Skipped: {error.message}")
            continue
        for article in articles:
            if not _NO_CONTENT_TITLE.search(article.title):
                sections = chunk_article(article.title, [article]).sections
                yield article, tuple(chunk for chunk in sections if not re.search(source.without, _heading(chunk)))


def is_worth_asking(chunk: Chunk) -> bool:
    """Return whether the section has enough text and is no list of links and no license."""
    if len(chunk.content) < MIN_SECTION_CHARS or _NO_CONTENT_TITLE.search(_heading(chunk)):
        return False
    lines = [line for line in chunk.content.splitlines() if line.strip()]
    prose = sum(len(line) for line in lines if len(_WORD.findall(line)) >= _MIN_WORDS_A_LINE)
    return prose >= _MIN_PROSE * sum(map(len, lines))


def excerpts_of(article: SourceArticle, sections: Sequence[Chunk], draw: random.Random) -> list[Excerpt]:
    """Return the windows of good sections of a page, in random order."""
    good = [chunk for chunk in sections if is_worth_asking(chunk)]
    start = draw.randrange(len(good) % EXCERPT_SECTIONS + 1)
    windows = [tuple(good[at : at + EXCERPT_SECTIONS]) for at in range(start, len(good), EXCERPT_SECTIONS)]
    found = [Excerpt(article.source_id, article.title, window) for window in windows if _is_long_enough(window)]
    draw.shuffle(found)
    return found


def _is_long_enough(window: Sequence[Chunk]) -> bool:
    return len(window) >= MIN_EXCERPT_SECTIONS and sum(len(c.content) for c in window) >= MIN_EXCERPT_CHARS


def choose(source: Documentation, count: int, seed: int) -> list[Excerpt]:
    """Return ``count`` excerpts of as many pages as possible, in the order of the pages.

    Only if ``source`` has fewer pages do some of them give a second excerpt.
    """
    draw = random.Random(f"{seed} {source.name}")
    pages = [excerpts_of(article, sections, draw) for article, sections in read_pages(source)]
    draw.shuffle(pages)
    rounds = range(max(map(len, pages), default=0))
    chosen = islice((page[turn] for turn in rounds for page in pages if turn < len(page)), count)
    return sorted(chosen, key=lambda excerpt: (excerpt.page, excerpt.sections[0].position))


def write(source: Documentation, excerpts: Sequence[Excerpt], output: Path) -> None:
    """Write the two files of ``source``."""
    output.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(excerpt.record(source), ensure_ascii=False) + "\n" for excerpt in excerpts]
    (output / f"{source.name}.jsonl.xz").write_bytes(lzma.compress("".join(lines).encode("utf-8")))
    (output / f"{source.name}.txt").write_text("\n".join(e.readable() for e in excerpts), encoding="utf-8")


def main() -> None:
    """Write the excerpts of the named sources and print how many there are."""
    parser = argparse.ArgumentParser(prog="python -m training.asked.pages", description=__doc__.partition("\n")[0])
    parser.add_argument("sources", type=Path, help="the JSON file of the sources")
    parser.add_argument("output", type=Path, help="the folder to write to")
    parser.add_argument("names", nargs="*", metavar="NAME", help="sources to read, by default all")
    parser.add_argument("--root", type=Path, help="the folder of unpacked packages")
    parser.add_argument("--pages", type=int, default=14, metavar="N", help="excerpts of each source (14)")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_intermixed_args()
    described = json.loads(options.sources.read_text(encoding="utf-8"))
    for name in options.names or described:
        given = described[name]
        root = options.root / given["package"] if options.root else Path("/")
        fields = {key: given[key] for key in ("license", "format", "only", "skip", "without") if key in given}
        source = Documentation(name, folder=root / given["folder"].lstrip("/"), **fields)
        excerpts = choose(source, options.pages, options.seed)
        write(source, excerpts, options.output)
        print(f"{name}: {len(excerpts)} pages, {sum(len(e.sections) for e in excerpts)} sections", flush=True)


if __name__ == "__main__":
    main()

"""First stage: read the source, parse its records (in several processes for costly formats) and stage them."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from wikigr.errors import BuildError, RecordError, SourceError
from wikigr.ingest.staging import Staging
from wikigr.isolation import die_with_parent
from wikigr.progress import Progress
from wikigr.sources.article import Block, BlockSource, Redirect, Skipped, Source, SourceArticle, SourceItem
from wikigr.sources.formats import FORMATS
from wikigr.sources.streams import Line

# Records sent to a worker at a time, and records in one transaction.
CHUNK = 16
BATCH = 512

# Both are repeated in every section of an article. A file's path, which may be an id, has up to 4,096 characters.
MAX_TITLE_CHARS = 1_000
MAX_ID_CHARS = 5_000

# Formats in which parsing a record costs much more than sending it to another process.
_HEAVY = {row.name for row in FORMATS if row.parses_slowly}


def read_source(
    source: Source,
    staging: Staging,
    *,
    limit: int | None,
    jobs: int,
    keep_going: bool,
    progress: Progress,
) -> None:
    """Stage the whole source, or its first ``limit`` articles, resuming after the records already staged.

    With ``keep_going``, bad records are skipped and listed in the staging. Without it, the first one raises its
    ``RecordError``; the complete batches before it are kept for the next run.
    """
    if staging.meta("read"):
        return
    done = int(staging.meta("records") or 0)
    titles = staging.titles() if limit is not None else 0

    def skip(where: str, reason: str, count_as: str) -> None:
        if not keep_going:
            raise RecordError(where, reason, hint="Fix it, or skip bad records with --keep-going.")
        staging.add_bad(where, reason)
        staging.count_skipped(count_as)

    progress.start("reading", None, "records", done=done)
    parsed = enumerate(_report(_parse_all(source, done, jobs), progress), start=done + 1)
    within_limit = True
    while within_limit and (batch := list(islice(parsed, BATCH))):
        with staging.transaction():
            for number, (where, items) in batch:
                place = where or f"record {number}"
                if isinstance(items, RecordError):
                    skip(items.where, items.reason, "bad record")
                    continue
                for item in items:
                    if isinstance(item, Redirect):
                        staging.add_redirect(item)
                    elif isinstance(item, Skipped):
                        staging.count_skipped(item.reason)
                    elif limit is not None and titles == limit and not staging.has_title(item.title):
                        within_limit = False
                        break
                    elif (too_long := _too_long(item)) is not None:
                        skip(place, too_long, "bad record")
                    else:
                        titles += limit is not None and not staging.has_title(item.title)
                        if not staging.add_article(item):
                            skip(place, f"the id {item.source_id!r} occurs twice in the source", "duplicate id")
                if not within_limit:
                    break
            else:
                staging.set_meta("records", str(batch[-1][0]))
    with staging.transaction():
        staging.set_meta("read", "complete")


def _too_long(article: SourceArticle) -> str | None:
    """Return why the title or id of ``article`` is too long, or ``None`` if neither is."""
    for what, name, limit in (("title", article.title, MAX_TITLE_CHARS), ("id", article.source_id, MAX_ID_CHARS)):
        if len(name) > limit:
            return f"the {what} {name[:60]!r}… has {len(name):,} characters, more than {limit:,}"
    return None


# The place of a record (``""`` outside line-based formats), and its items or its error.
Parsed = tuple[str, list[SourceItem] | RecordError]


def _report(parsed: Iterator[Parsed], progress: Progress) -> Iterator[Parsed]:
    """Pass records on, and report each as it comes: a batch of them can take minutes."""
    for record in parsed:
        progress.advance(1)
        yield record


def _parse_all(source: Source, skip: int, jobs: int) -> Iterator[Parsed]:
    if jobs <= 1 or source.format not in _HEAVY:
        for record in islice(source.records(), skip, None):
            yield _parse_one(source, record)
        return
    parts, skip = _parts(source, skip)
    # Spawned, not forked, because the parent may have threads. The window bounds memory.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker, initargs=(source,)) as pool:
        window: deque[Future[list[Parsed]]] = deque()
        try:
            for part in parts:
                window.append(pool.submit(_parse_part, part))
                if len(window) >= 4 * jobs:
                    parsed = window.popleft().result()
                    yield from parsed[skip:]
                    skip = 0
            while window:
                parsed = window.popleft().result()
                yield from parsed[skip:]
                skip = 0
        except BrokenProcessPool as error:
            raise BuildError(
                "A parsing process was killed, probably because memory ran out.",
                hint="Run the same command again with fewer --jobs: it resumes where it stopped.",
            ) from error
        finally:
            for future in window:
                future.cancel()


# What a parsing process gets: a block, which it reads itself, or records.
Part = Block | list[Any]


def _parts(source: Source, skip: int) -> tuple[Iterator[Part], int]:
    """Return the parts of ``source`` after the first ``skip`` records, and how many records of the first to skip."""
    blocks = source.blocks() if isinstance(source, BlockSource) else ()
    if not blocks:
        records = islice(source.records(), skip, None)
        return iter(lambda: list(islice(records, CHUNK)), []), 0
    first = 0
    while first < len(blocks) and blocks[first].records <= skip:
        skip -= blocks[first].records
        first += 1
    return iter(blocks[first:]), skip


_source: Source | None = None


def _begin_worker(source: Source) -> None:
    global _source
    _source = source
    die_with_parent()


def _parse_part(part: Part) -> list[Parsed]:
    if _source is None:
        raise SourceError("The parsing process has no source.")
    records = _source.read_block(part) if isinstance(part, Block) and isinstance(_source, BlockSource) else part
    return [_parse_one(_source, record) for record in records]


def _parse_one(source: Source, record: Any) -> Parsed:
    where = record.where if isinstance(record, Line) else ""
    try:
        return where, list(source.parse(record))
    except RecordError as error:
        return where, error

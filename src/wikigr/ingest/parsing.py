"""First stage: read the source, parse its records and stage them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wikigr.errors import RecordError
from wikigr.ingest.engines.engine import Engine, Parsed
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress
from wikigr.sources.article import BadPart, Dropped, Redirect, Skipped, Source, SourceArticle

# Records in one transaction.
BATCH = 512

# Both are repeated in every section of an article. A file's path, which may be an id, has up to 4,096 characters.
MAX_TITLE_CHARS = 1_000
MAX_ID_CHARS = 5_000


def read_source(
    source: Source,
    staging: Staging,
    *,
    limit: int | None,
    keep_going: bool,
    progress: Progress,
    engine: Engine,
) -> None:
    """Stage the whole source, or its first ``limit`` articles.

    With ``keep_going``, bad records are skipped and listed in the staging. Without it, the first one raises its
    ``RecordError``. Lost parts of records are listed either way.
    """
    titles = 0

    def skip(where: str, reason: str, count_as: str, *, may_skip: bool = False) -> None:
        if not (keep_going or may_skip):
            raise RecordError(where, reason, hint="Fix it, or skip bad records with --keep-going.")
        staging.add_bad(where, reason)
        staging.count_skipped(count_as)

    progress.start("reading", None, "records")
    parsed = enumerate(_report(engine.parse(source), progress), start=1)
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
                    elif isinstance(item, Dropped):
                        staging.count_dropped(item)
                    elif isinstance(item, BadPart):
                        skip(item.where, item.reason, "bad part of a record", may_skip=item.is_lost)
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


def _too_long(article: SourceArticle) -> str | None:
    """Return why the title or id of ``article`` is too long, or ``None`` if neither is."""
    for what, name, limit in (("title", article.title, MAX_TITLE_CHARS), ("id", article.source_id, MAX_ID_CHARS)):
        if len(name) > limit:
            return f"the {what} {name[:60]!r}… has {len(name):,} characters, more than {limit:,}"
    return None


def _report(parsed: Iterator[Parsed], progress: Progress) -> Iterator[Parsed]:
    """Pass records on, and report each as it comes: a batch of them can take minutes."""
    for record in parsed:
        progress.advance(1)
        yield record

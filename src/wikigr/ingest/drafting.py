"""Second stage: staged records become articles and sections."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence

from wikigr.errors import BuildError
from wikigr.ingest.sectioning import ArticleDraft, draft_article
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress
from wikigr.sources.article import SourceArticle

_BATCH = 500


def content_hash(embedding_text: str) -> bytes:
    """Return the key under which a text's vector is kept (128-bit BLAKE2b)."""
    return hashlib.blake2b(embedding_text.encode("utf-8", "replace"), digest_size=16).digest()


def draft_all(staging: Staging, progress: Progress) -> None:
    """Fill ``article``, ``section`` and the raw links; titles without text are counted and left out.

    Raises ``BuildError`` when no article has any text.
    """
    if staging.meta("drafted"):
        return
    staging.forget_derived()
    progress.start("sectioning", staging.titles(), "articles")
    with staging.transaction():
        for title, records in staging.records_by_title():
            draft = draft_article(title, records)
            progress.advance(1)
            if not draft.sections:
                staging.count_skipped("no text")
                continue
            article = staging.add_draft(
                title, draft.content, draft.word_count, records, evidence_positions(draft, records)
            )
            rows = []
            for section in draft.sections:
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
                        text,
                        content_hash(text),
                    )
                )
            staging.add_sections(rows)
        if staging.count("article") == 0:
            raise BuildError(
                "The source has no article with text, so there is nothing to build.",
                hint="Check the path and --format.",
            )
        staging.set_meta("drafted", "complete")


def evidence_positions(draft: ArticleDraft, records: Sequence[SourceArticle]) -> list[int]:
    """Return the position of the section in which each triple's line begins, in order; 0 where there is none.

    Lines are looked for from the last one found on, because they mostly come in the order of their triples.
    """
    starts = [section.start for section in draft.sections]
    positions: list[int] = []
    cursor = 0
    for triple in (triple for record in records for triple in record.triples):
        found = draft.content.find(triple.line, cursor) if triple.line else -1
        if triple.line and found < 0:
            found = draft.content.find(triple.line)
        positions.append(max(bisect_right(starts, found) - 1, 0))
        if found >= 0:
            cursor = found + len(triple.line)
    return positions

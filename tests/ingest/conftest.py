"""A fixture for the stages after reading: a staging with chunked and linked articles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.ingest.chunking import chunk_all
from wikigr.ingest.engines.local import LocalEngine
from wikigr.ingest.linking import link_all
from wikigr.ingest.staging import Staging
from wikigr.progress import Silent
from wikigr.sources.article import Redirect, SourceArticle, SourceItem, SourceSection


def article(title: str, text: str, source_id: str = "", *links: str, aliases: tuple[str, ...] = ()) -> SourceArticle:
    """Return a record of one section; its id is its title unless one is given."""
    return SourceArticle(title, source_id or title, (SourceSection((), text),), links=links, aliases=aliases)


@pytest.fixture
def staged(tmp_path: Path) -> Callable[..., Staging]:
    def make(*items: SourceItem, by_id: bool) -> Staging:
        staging = Staging(tmp_path / "other.sqlite")
        with staging.transaction():
            for item in items:
                if isinstance(item, SourceArticle):
                    assert staging.add_article(item)
                elif isinstance(item, Redirect):
                    staging.add_redirect(item)
        chunk_all(staging, Silent())
        link_all(staging, Silent(), LocalEngine(), by_id=by_id)
        return staging

    return make

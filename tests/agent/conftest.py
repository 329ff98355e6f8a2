from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import real_ladybug as kuzu

Links = Sequence[tuple[str, str]]


@pytest.fixture
def link_graph(tmp_path: Path) -> Iterator[Callable[[Sequence[str], Links], Any]]:
    """Make a real database of articles and hyperlinks; returns a connection to it."""
    opened = []

    def make(titles: Sequence[str], links: Links) -> Any:
        database = kuzu.Database(str(tmp_path / f"{len(opened)}.db"), buffer_pool_size=64 << 20)
        conn = kuzu.Connection(database)
        opened.extend((conn, database))
        conn.execute("CREATE NODE TABLE Article(title STRING PRIMARY KEY)")
        conn.execute("CREATE REL TABLE LINKS_TO(FROM Article TO Article)")
        for title in titles:
            conn.execute("CREATE (:Article {title: $title})", {"title": title})
        for source, target in links:
            conn.execute(
                "MATCH (a:Article {title: $a}), (b:Article {title: $b}) CREATE (a)-[:LINKS_TO]->(b)",
                {"a": source, "b": target},
            )
        return conn

    yield make
    for part in opened:
        part.close()


@pytest.fixture
def physics_conn(physics_pack: Path) -> Iterator[Any]:
    """A connection to the demo pack's database, as a user of the documented classes opens it."""
    database = kuzu.Database(str(physics_pack / "pack.db"), read_only=True, buffer_pool_size=64 << 20)
    conn = kuzu.Connection(database)
    yield conn
    conn.close()
    database.close()

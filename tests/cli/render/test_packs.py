"""Ages as the list of packs shows them."""

from __future__ import annotations

from datetime import datetime

import pytest

from wikigr_cli.render.output import age_text

NOW = datetime.fromisoformat("2026-11-22T12:00:00+00:00")


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        ("2026-11-22T11:59:30+00:00", "30 s ago"),
        ("2026-11-22T11:01:00+00:00", "59 min ago"),
        ("2026-11-22T11:00:00+00:00", "1 h ago"),
        ("2026-11-22T14:00:00+03:00", "1 h ago"),
        ("2026-11-21T12:00:00+00:00", "1 day ago"),
        ("2026-09-24T12:00:00+00:00", "59 days ago"),
        ("2026-09-23T12:00:00+00:00", "2026-09-23"),
        ("2027-01-01T00:00:00+00:00", "2027-01-01"),
        ("2026-11-22T11:00:00", "2026-11-22"),
        ("long before all of this", "long befor"),
    ],
)
def test_ages(created: str, shown: str) -> None:
    assert age_text(created, NOW) == shown

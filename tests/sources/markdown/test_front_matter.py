"""The YAML block at the top of a note."""

from __future__ import annotations

from tests.sources.markdown.notes import article


def test_front_matter() -> None:
    found = article(
        "---\ntitle: Wave: no\n".replace("Wave: no", '"Wave: yes"')
        + "category: Physics, old\ntags: [waves, 1900]\ncategories: x, y\naliases:\n  - WF\n  - ''\nurl: https://x.org\n"
        "date: 2020-01-01\n---\n# Waves\n\ntext\n\n## A\na\n"
    )
    assert found.categories == ("Physics, old", "x", "y", "waves", "1900")
    assert found.aliases == ("WF", "Waves")
    assert found.url == "https://x.org"
    assert [s.heading_path for s in found.sections] == [(), ("Properties",), ("A",)]

"""Links between notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sources.markdown.notes import read, write


def links_of(root: Path) -> dict[str, tuple[str, ...]]:
    return {item.source_id: item.links for item in read(root)}


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("sub/Deep", "sub/Deep.md"),
        ("./sub/Deep", "sub/Deep.md"),
        ("/sub/Deep", "sub/Deep.md"),
        ("sub/deep.md#Part", "sub/Deep.md"),
        ("Deep.md", "sub/Deep.md"),
        ("Deep", "Deep"),
        ("a/Dup", "a/Dup.md"),
        ("x/Dup", "b/x/Dup.md"),
        ("Dup", "a/Dup.md"),
        ("notes v1.2", "notes v1.2"),
        ("./notes v1.2", "notes v1.2.md"),
        ("README", "README.md"),
        ("./a/../sub/Deep", "sub/Deep.md"),
        ("../sub/Deep", "../sub/Deep"),
        ("./Deep", "./Deep"),
        ("none/Deep", "none/Deep"),
        ("eep", "eep"),
    ],
)
def test_wiki_links_by_path_or_file_name(tmp_path: Path, link: str, target: str) -> None:
    write(
        tmp_path,
        {
            "from.md": f"See [[{link}]] and [[{link}|label]].\n\n## About [[{link}]]\ntext",
            "sub/Deep.md": "---\ntitle: Deep note\n---\ntext",
            "a/Dup.md": "one",
            "b/Dup.md": "two",
            "b/x/Dup.md": "three",
            "notes v1.2.md": "text",
            "README.md": "text",
            "sub/README.md": "text",
        },
    )
    assert links_of(tmp_path)["from.md"] == (target,)


def test_a_note_in_the_same_folder_has_priority(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b/from.md": "[[Dup]] [[x/Dup]] [[README]] [[./x/Dup]]",
            "c/from.md": "[[Dup]] [[x/Dup]]",
            "a/b/Dup.md": "deep, and the first by path",
            "b/Dup.md": "beside",
            "d/Dup.md": "as near to c as b is",
            "x/Dup.md": "exactly x/Dup",
            "b/x/Dup.md": "below",
            "README.md": "root",
            "b/README.md": "beside",
        },
    )
    found = links_of(tmp_path)
    assert found["b/from.md"] == ("b/Dup.md", "x/Dup.md", "b/README.md", "b/x/Dup.md")
    assert found["c/from.md"] == ("b/Dup.md", "x/Dup.md")


def test_a_title_or_alias_comes_before_a_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "from.md": "[[TCP/IP]] [[Band]] [[old name]] [[Heading]]",
            "TCP/IP.md": "a file of that path",
            "protocols.md": "# TCP/IP\ntext",
            "a/Band.md": "# One\ntext",
            "b/Band.md": "# Two\ntext",
            "music.md": "---\naliases: [band]\n---\ntext",
            "a/Old name.md": "# Three\ntext",
            "b/Old name.md": "---\ntitle: Old name\n---\n# Heading\n\ntext",
            "a/Heading.md": "# Four\ntext",
            "b/Heading.md": "# Five\ntext",
        },
    )
    assert links_of(tmp_path)["from.md"] == ("TCP/IP", "Band", "old name", "Heading")

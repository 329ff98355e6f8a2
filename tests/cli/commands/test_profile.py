from __future__ import annotations

import json
from pathlib import Path

import yaml

from ..conftest import Wikigr


def test_list_names_what_ships(wikigr: Wikigr) -> None:
    result = wikigr("profile", "list")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()] == [
        "baseline",
        "enhanced",
        "fast",
        "multi-strategy",
        "precise",
        "recall",
    ]
    assert {p["name"] for p in json.loads(wikigr("profile", "list", "--json").out)["profiles"]} >= {"baseline"}


def test_a_broken_profile_of_ones_own_is_named_and_the_rest_listed(wikigr: Wikigr, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "wikigr" / "profiles"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("nonsense: 1\n")
    result = wikigr("profile", "list")
    assert result.code == 0
    assert "enhanced" in result.out
    assert "broken.yaml:1" in result.err


def test_what_show_prints_is_a_profile(wikigr: Wikigr, tmp_path: Path) -> None:
    shown = wikigr("profile", "show", "fast").out
    assert yaml.safe_load(shown)["multi_doc"]["num_docs"] == 3
    (tmp_path / "copy.yaml").write_text(shown)
    assert wikigr("profile", "show", "copy.yaml").out == shown
    document = json.loads(wikigr("profile", "show", "fast", "--json").out)
    assert document["profile"]["multi_doc"]["num_docs"] == 3


def test_show_names_the_mistake_in_a_profile(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("multi_doc:\n  num_doc: 3\n")
    (tmp_path / "two.yaml").write_text("extends: two.yaml\n")
    (tmp_path / "bad.yaml").write_text("description: mine\nextends: enhancd\n")
    (tmp_path / "file.yaml").write_text("extends: none.yaml\n")
    for name, says in (
        ("one.yaml", "one.yaml:2"),
        ("one.yaml", "multi_doc.num_docs"),
        ("two.yaml", "circle"),
        ("bad.yaml", "bad.yaml:2: extends: there is no profile 'enhancd'."),
        ("bad.yaml", "Did you mean 'enhanced'?"),
        ("file.yaml", "file.yaml:1: extends: there is no profile file none.yaml."),
        ("enhancd", "wikigr: There is no profile 'enhancd'."),
    ):
        result = wikigr("profile", "show", name)
        assert (result.code, says in result.err) == (2, True), (name, result.err)


def test_ask_with_a_profile_says_which(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("ask", "What is spin?", "--pack", str(physics_pack), "--profile", "baseline", "--json")
    assert json.loads(result.out)["profile"] == "baseline"

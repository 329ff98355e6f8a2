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
    assert wikigr("profile", "diff", "fast", "copy.yaml").out == ""
    document = json.loads(wikigr("profile", "show", "fast", "--json").out)
    assert document["profile"]["multi_doc"]["num_docs"] == 3


def test_diff_prints_both_values(wikigr: Wikigr) -> None:
    lines = wikigr("profile", "diff", "baseline", "enhanced").out.splitlines()
    (line,) = [line for line in lines if "retrieval.mode" in line]
    assert line.endswith("dense → hybrid")
    rows = json.loads(wikigr("profile", "diff", "baseline", "enhanced", "--json").out)["differences"]
    assert {"key": "retrieval.mode", "baseline": "dense", "enhanced": "hybrid"} in rows


def test_validate_names_every_broken_one(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("multi_doc:\n  num_doc: 3\n")
    (tmp_path / "two.yaml").write_text("extends: two.yaml\n")
    result = wikigr("profile", "validate", "one.yaml", "fast", "two.yaml")
    assert result.code == 2
    assert result.out == "fast: ok\n"
    assert "one.yaml:2" in result.err and "multi_doc.num_docs" in result.err and "circle" in result.err
    assert wikigr("profile", "validate", "fast", "recall").code == 0


def test_validate_says_where_the_extended_profile_is_named(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("description: mine\nextends: enhancd\n")
    (tmp_path / "file.yaml").write_text("extends: none.yaml\n")
    result = wikigr("profile", "validate", "bad.yaml", "file.yaml")
    assert result.code == 2
    assert "bad.yaml:2: extends: there is no profile 'enhancd'." in result.err
    assert "Did you mean 'enhanced'?" in result.err
    assert "file.yaml:1: extends: there is no profile file none.yaml." in result.err
    assert "wikigr: There is no profile 'enhancd'." in wikigr("profile", "show", "enhancd").err


def test_ask_with_a_profile_says_which(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("ask", "What is spin?", "--pack", str(physics_pack), "--profile", "baseline", "--json")
    assert json.loads(result.out)["profile"] == "baseline"

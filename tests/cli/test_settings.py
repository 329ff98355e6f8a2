"""Settings files: which values apply, and how mistakes in them are reported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Wikigr
from .terminal import in_terminal

ROOT = Path(__file__).parents[2]


def test_a_broken_settings_file_is_wrong_configuration(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("ask: [")
    result = wikigr("ask", "x")
    assert result.code == 2
    assert "wikigr.yaml" in result.err and "line 1" in result.err
    (tmp_path / "wikigr.yaml").write_text("- ask")
    assert "mapping" in wikigr("ask", "x").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask: 3", "mapping"),
        ("ask: {pakc: x}", "Did you mean 'pack'?"),
        ("aks: {pack: x}", "Did you mean 'ask'?"),
        ("pack: {build: 5}", "mapping"),
        ("1: x", "no command or option 1"),
        ('"yes": true', "no command or option 'yes'"),
        ('pack remove: {"yes": true}', "no command or option 'yes'"),
        ("pakc: x", "Did you mean 'pack'?"),
        ("pack buidl: {jobs: 1}", "Did you mean 'build'?"),
        ("pack: {buidl: {jobs: 1}}", "Did you mean 'build'?"),
        ("pack: [a, b]", "pack must be a single value for `wikigr why`"),
        ("search: {min: 1}", "no command or option 'min'"),
        ("ask: {profile: [a]}", "single value"),
    ],
)
def test_mistakes_in_a_settings_file_are_named(wikigr: Wikigr, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wikigr.yaml").write_text(text)
    result = wikigr("why", "x", "y")
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("top_k: abc", "wikigr.yaml: top-k: 'abc' is not a whole number"),
        ("search:\n  top_k: abc", "wikigr.yaml: search top-k: 'abc' is not a whole number"),
        ("search: {format: markdown}", "wikigr.yaml: search format: 'markdown' is not one of"),
    ],
)
def test_a_wrong_value_names_the_file_and_the_key(wikigr: Wikigr, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wikigr.yaml").write_text(text)
    result = wikigr("search", "x", "--pack", "p")
    assert result.code == 2
    assert message in result.err
    assert "Invalid value for '--top-k'" in wikigr("search", "x", "--pack", "p", "--top-k", "y").err


def test_config_show_says_where_each_value_comes_from(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wikigr.yaml").write_text("search:\n  top-k: 7\n")
    (tmp_path / "config" / "wikigr").mkdir(parents=True)
    (tmp_path / "config" / "wikigr" / "config.yaml").write_text("search:\n  top-k: 9\n  mode: dense\n")
    monkeypatch.setenv("WIKIGR_PACK", "here")
    lines = wikigr("config", "show", "--origin", "--all").out.splitlines()
    found = {line.split(" = ")[0]: line for line in lines}
    assert "7" in found["search --top-k"] and "wikigr.yaml" in found["search --top-k"]
    assert "dense" in found["search --mode"] and "config.yaml" in found["search --mode"]
    assert "here" in found["search --pack"] and "WIKIGR_PACK" in found["search --pack"]
    assert "enhanced" in found["search --profile"] and "default" in found["search --profile"]


def test_config_show_prints_what_something_sets(
    wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a-folder-with-a-name-that-is-long-enough-to-fill-a-line"
    (folder / "deep").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "wikigr.yaml").write_text("pack: physics\nseed: 3\nsearch:\n  top-k: 7\n")
    rows = json.loads(wikigr("config", "show", "--json").out)["settings"]
    packs = [row for row in rows if row["option"] == "pack" and row["value"] == "physics"]
    assert len(packs) > 5
    defaults = [row for row in rows if row["origin"] == "default"]
    told = wikigr("config", "show", "--origin").out.splitlines()
    file = folder / "wikigr.yaml"
    assert told[0] == f"{'pack = physics':<32}{file} (top level), for {len(packs)} commands"
    assert f"{'search --top-k = 7':<32}{file}" in told
    assert told[-1] == f"{len(defaults)} options have their default; --all shows them."
    # No line for an option that has its default.
    assert len(told) == 1 + 1 + 1 + sum(row["option"] == "seed" and row["value"] == 3 for row in rows)
    assert wikigr("config", "show").out.splitlines()[0] == f"{'pack = physics':<32}for {len(packs)} commands"
    assert len(wikigr("config", "show", "--all").out.splitlines()) == len(rows)
    shown = in_terminal("config", "show", "--origin", columns=80).out.splitlines()
    assert shown[0] == "pack = physics" and shown[1].startswith("    ")
    assert f"for {len(packs)} commands" in "".join(shown[1:4])


def origins(wikigr: Wikigr) -> dict[str, tuple[object, str]]:
    rows = json.loads(wikigr("config", "show", "--origin", "--json").out)["settings"]
    return {f"{row['command']} --{row['option']}": (row["value"], row["origin"]) for row in rows}


def test_an_option_at_the_top_level_is_the_default_of_every_command(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path
) -> None:
    project = tmp_path / "wikigr.yaml"
    project.write_text(f"pack: {physics_pack}\ntop-k: 2\njson: true\npagerank top: {{top-k: 3}}\n")
    assert len(json.loads(wikigr("search", "spin").out)["results"]) == 2
    assert len(json.loads(wikigr("pagerank", "top").out)["articles"]) == 3
    assert json.loads(wikigr("pack", "info").out)["name"] == "physics"
    assert json.loads(wikigr("pagerank", "build").out)["packs"][0]["pack"] == str(physics_pack)
    assert len(json.loads(wikigr("pagerank", "top", "-k", "1").out)["articles"]) == 1
    found = origins(wikigr)
    assert found["search --top-k"] == (2, f"{project} (top level)")
    assert found["pagerank top --top-k"] == (3, str(project))
    assert found["pack export --pack"] == (str(physics_pack), f"{project} (top level)")
    assert found["pack remove --pack"] == (None, "default")


def test_the_order_of_precedence(wikigr: Wikigr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flag, variable of the command, WIKIGR_PACK, project, user, default; each is written below the next one."""
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.parent.mkdir(parents=True)
    project = tmp_path / "wikigr.yaml"

    expected = ("of-flag", "of-variable", "of-pack", "of-section", "of-project", "of-user", "No pack")

    def asked(*flags: str) -> str:
        err = wikigr("ask", "x", *flags).err
        return next(name for name in expected if name in err)

    assert asked() == "No pack"
    user.write_text("pack: of-user\nask: {pack: of-user}\n")
    assert asked() == "of-user"
    project.write_text("pack: of-project\n")
    assert asked() == "of-project"
    project.write_text("pack: of-project\nask: {pack: of-section}\n")
    assert asked() == "of-section"
    monkeypatch.setenv("WIKIGR_PACK", "of-pack")
    assert asked() == "of-pack"
    monkeypatch.setenv("WIKIGR_ASK_PACK", "of-variable")
    assert asked() == "of-variable"
    assert origins(wikigr)["ask --pack"] == ("of-variable", "environment (WIKIGR_ASK_PACK)")
    assert asked("--pack", "of-flag") == "of-flag"


def test_sections_of_a_group_are_merged_over_files(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "config" / "wikigr").mkdir(parents=True)
    user = tmp_path / "config" / "wikigr" / "config.yaml"
    user.write_text("pack: mine\npack build: {jobs: 1}\n")
    (tmp_path / "wikigr.yaml").write_text("pack: {build: {license: CC0-1.0}}\n")
    found = origins(wikigr)
    assert found["pack build --license"] == ("CC0-1.0", str(tmp_path / "wikigr.yaml"))
    assert found["pack build --jobs"] == (1, str(user))
    assert found["ask --pack"] == ("mine", f"{user} (top level)")


def test_an_option_that_can_be_repeated_takes_a_value_or_a_list(wikigr: Wikigr, tmp_path: Path) -> None:
    for text, message in (("accuracy=high", "'accuracy=high'"), ("[accuracy=0.1, accuracy=low]", "'accuracy=low'")):
        (tmp_path / "wikigr.yaml").write_text(f"eval run:\n  min: {text}\n")
        result = wikigr("eval", "run", "--pack", "x")
        assert result.code == 2 and message in result.err


def test_a_profile_at_the_top_level_does_not_choose_within_a_run(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("profile: fast\n")
    found = origins(wikigr)
    assert found["ask --profile"][0] == "fast"
    assert found["eval gate --profile"] == (None, "default")


def test_global_options_in_a_file_yield_to_flags_in_every_place(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path
) -> None:
    (tmp_path / "wikigr.yaml").write_text(f"quiet: true\npack: {physics_pack}\npagerank top: {{top-k: 2}}\n")
    assert wikigr("search", "spin").err.count("Stages") == 0
    assert "Stages" in wikigr("-v", "search", "spin").err
    assert "Stages" in wikigr("search", "spin", "-v").err


def test_help_works_with_a_broken_file(wikigr: Wikigr, tmp_path: Path) -> None:
    (tmp_path / "wikigr.yaml").write_text("ask: [")
    assert [wikigr(*words).code for words in (("help", "ask"), ("version",), (), ("ask", "x"))] == [0, 0, 0, 2]


def test_the_documented_file_is_valid_and_sets_something(wikigr: Wikigr, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "wikigr.yaml").write_text(example, encoding="utf-8")
    found = {row: value for row, (value, origin) in origins(wikigr).items() if "wikigr.yaml" in origin}
    assert found["ask --pack"] == "packs/physics"
    assert found["graph neighbors --top-k"] == 3
    assert found["eval run --min"] == ["accuracy=0.1", "recall@5=0.3"]
    assert found["why --offline"] is True

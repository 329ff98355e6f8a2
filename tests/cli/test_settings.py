"""The user's settings file: which values apply, and how mistakes in it are reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Wikigr
from .terminal import in_terminal

ROOT = Path(__file__).parents[2]
TITLES = "MATCH (a:Article) RETURN a.title"
Save = Callable[[str], Path]


@pytest.fixture
def save(wikigr: Wikigr, tmp_path: Path) -> Save:
    """Write the user's settings file."""

    def write(text: str) -> Path:
        path = tmp_path / "config" / "wikigr" / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return path

    return write


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask: [", "in line 1"),
        ("- ask", "must contain a mapping"),
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
        ("profile: 2026-11-25", "There is no profile '2026-11-25'"),
        # Text that would take for ever to read.
        ("a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(30)), "an alias or anchor"),
        (r'pack: "a\0b"', "a null character in line 1"),
        ("pack: " + "[" * 5_000, "levels"),
        ("#" * 1_100_000, "more than 1 MiB"),
        ("pack: \udcff", "invalid UTF-8"),
        ("pack: " + "9" * 5_000, "a number in it has too many digits"),
    ],
    ids=lambda text: text[:20],
)
def test_mistakes_are_named(wikigr: Wikigr, save: Save, text: str, message: str) -> None:
    path = save(text)
    result = wikigr("why", "x", "y", *(() if "pack" in text else ("--pack", "p")))
    assert (result.code, result.out) == (2, "")
    assert message in result.err and ("profile:" in text or str(path) in result.err)
    assert [wikigr(*words).code for words in (("help", "ask"), ("version",), ())] == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("top_k: abc", "config.yaml (top level): top-k: 'abc' is not a valid"),
        ("search:\n  top_k: abc", "config.yaml: top-k: 'abc' is not a valid"),
        ("search: {format: markdown}", "config.yaml: format: 'markdown' is not one of"),
    ],
)
def test_a_wrong_value_names_the_file_and_the_key(wikigr: Wikigr, save: Save, text: str, message: str) -> None:
    save(text)
    result = wikigr("search", "x", "--pack", "p")
    assert result.code == 2
    assert message in result.err
    assert "Invalid value for '--top-k'" in wikigr("search", "x", "--pack", "p", "--top-k", "y").err


def origins(wikigr: Wikigr) -> dict[str, tuple[object, str]]:
    rows = json.loads(wikigr("config", "show", "--origin", "--json").out)["settings"]
    return {f"{row['command']} --{row['option']}": (row["value"], row["origin"]) for row in rows}


def test_the_order_of_precedence(wikigr: Wikigr, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flag, variable of the command, WIKIGR_PACK, section, top level, default; each is set after the next one."""
    expected = ("of-flag", "of-variable", "of-pack", "of-section", "of-user", "No pack")

    def asked(*flags: str) -> str:
        err = wikigr("ask", "x", *flags).err
        return next(name for name in expected if name in err)

    assert asked() == "No pack"
    path = save("pack: of-user\n")
    assert asked() == "of-user"
    assert origins(wikigr)["ask --pack"] == ("of-user", f"{path} (top level)")
    save("pack: of-user\nask: {pack: of-section}\n")
    assert asked() == "of-section"
    assert origins(wikigr)["ask --pack"] == ("of-section", str(path))
    monkeypatch.setenv("WIKIGR_PACK", "of-pack")
    assert asked() == "of-pack"
    assert origins(wikigr)["ask --pack"] == ("of-pack", "environment (WIKIGR_PACK)")
    monkeypatch.setenv("WIKIGR_ASK_PACK", "of-variable")
    assert asked() == "of-variable"
    assert origins(wikigr)["ask --pack"] == ("of-variable", "environment (WIKIGR_ASK_PACK)")
    assert asked("--pack", "of-flag") == "of-flag"


def test_an_option_at_the_top_level_is_the_default_of_every_command(
    wikigr: Wikigr, physics_pack: Path, save: Save
) -> None:
    path = save(f"pack: {physics_pack}\ntop-k: 2\njson: true\nprofile: fast\ngraph cypher: {{top-k: 3}}\n")
    assert len(json.loads(wikigr("search", "spin").out)["results"]) == 2
    assert len(json.loads(wikigr("graph", "cypher", TITLES).out)["rows"]) == 3
    assert json.loads(wikigr("pack", "info").out)["name"] == "physics"
    assert json.loads(wikigr("pagerank", "build").out)["packs"][0]["pack"] == str(physics_pack)
    assert len(json.loads(wikigr("graph", "cypher", TITLES, "-k", "1").out)["rows"]) == 1
    found = origins(wikigr)
    assert found["search --top-k"] == (2, f"{path} (top level)")
    assert found["graph cypher --top-k"] == (3, str(path))
    assert found["pack export --pack"] == (str(physics_pack), f"{path} (top level)")
    assert found["search --mode"] == (None, "default")
    # They need the name of a pack, or choose among the profiles of a run.
    assert found["pack remove --pack"] == (None, "default")
    assert found["ask --profile"][0] == "fast" and found["eval gate --profile"] == (None, "default")


def test_config_show_prints_what_something_sets(wikigr: Wikigr, save: Save) -> None:
    path = save("pack: physics\nseed: 3\nsearch:\n  top-k: 7\n")
    rows = json.loads(wikigr("config", "show", "--json").out)["settings"]
    packs = [row for row in rows if row["option"] == "pack" and row["value"] == "physics"]
    assert len(packs) > 5
    told = wikigr("config", "show", "--origin").out.splitlines()
    assert told[0] == f"{'pack = physics':<32}{path} (top level), for {len(packs)} commands"
    assert f"{'search --top-k = 7':<32}{path}" in told
    assert told[-1] == "All other options have their default; --json shows them too."
    # No line for an option that has its default.
    assert len(told) == 1 + 1 + 1 + sum(row["option"] == "seed" and row["value"] == 3 for row in rows)
    assert wikigr("config", "show").out.splitlines()[0] == f"{'pack = physics':<32}for {len(packs)} commands"
    shown = in_terminal("config", "show", "--origin", columns=80).out.splitlines()
    assert shown[0] == "pack = physics" and shown[1].startswith("    ")


def test_an_option_that_can_be_repeated_takes_a_value_or_a_list(wikigr: Wikigr, save: Save) -> None:
    for text, message in (("accuracy=high", "'accuracy=high'"), ("[accuracy=0.1, accuracy=low]", "'accuracy=low'")):
        save(f"eval run:\n  min: {text}\n")
        result = wikigr("eval", "run", "--pack", "x")
        assert result.code == 2 and message in result.err


def test_global_options_in_the_file_yield_to_flags_in_every_place(
    wikigr: Wikigr, physics_pack: Path, save: Save
) -> None:
    save(f"quiet: true\npack: {physics_pack}\ngraph cypher: {{top-k: 2}}\n")
    assert "Stages" not in wikigr("search", "spin").err
    assert "Stages" in wikigr("-v", "search", "spin").err
    assert "Stages" in wikigr("search", "spin", "-v").err


def test_the_documented_file_is_valid_and_sets_something(wikigr: Wikigr, save: Save, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    path = save(example)
    # Nothing in the working directory sets an option.
    (tmp_path / "wikigr.yaml").write_text("top-k: 9\npack: evil\naks: 1\n", encoding="utf-8")
    found = {row: value for row, (value, origin) in origins(wikigr).items() if str(path) in origin}
    assert found["ask --pack"] == str(Path("~/packs/physics").expanduser())
    assert found["graph neighbors --top-k"] == 3
    assert found["eval run --min"] == ["accuracy=0.1", "recall@5=0.3"]
    assert found["why --offline"] is True

"""What every command has in common: its options, variables, words, help and examples. They are rules over the tree."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from wikigr_cli.app import root_command, run
from wikigr_cli.command_class import GLOBAL_OPTIONS, heading_of, long_name, options_of
from wikigr_cli.environment import Environment
from wikigr_cli.options import PANELS

from .conftest import ROOT_PACK, Wikigr
from .terminal import Terminal, widest
from .test_docs import PAGES, steps

_PATHS = {"path", "str"}


def tree(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command and group with its path, as ``pack build``; the root is ``""``."""
    command = command or root_command()
    yield " ".join(path), command
    for name, child in getattr(command, "commands", {}).items():
        yield from tree(child, (*path, name))


def commands() -> list[tuple[str, Any]]:
    return [(path, command) for path, command in tree() if not hasattr(command, "commands")]


def options() -> Iterator[tuple[str, str, Any]]:
    for path, command in tree():
        for option in options_of(command):
            yield path, long_name(option), option


def kind(option: Any) -> str:
    """The type of an option; a path is text on the command line."""
    return "text" if option.type.name in _PATHS else option.type.name


def examples_of(command: Any) -> list[str]:
    """The examples at the end of the help text of a command."""
    return [line.strip() for line in command.help.partition("\b\nExamples:\n")[2].splitlines()]


def test_an_option_has_one_short_form_one_type_and_one_heading() -> None:
    kinds, shorts, headings = defaultdict(set), defaultdict(set), defaultdict(set)
    for path, name, option in options():
        kinds[name].add(kind(option))
        shorts[name].add(tuple(spelling for spelling in option.opts if not spelling.startswith("--")))
        headings[name].add(heading_of(option))
        assert not path or option.rich_help_panel in PANELS, (path, name)
    for found in (kinds, shorts, headings):
        assert {name: several for name, several in found.items() if len(several) > 1} == {}
    assert sorted(short for (given,) in shorts.values() for short in given) == ["-k", "-o", "-p", "-q", "-v", "-y"]


def test_no_two_options_mean_the_same() -> None:
    helps = defaultdict(set)
    for _, name, option in options():
        helps[option.help].add(name)
    assert {text: names for text, names in helps.items() if len(names) > 1} == {}


def test_a_variable_is_named_after_its_option_and_belongs_to_one() -> None:
    owners = defaultdict(list)
    for path, name, option in options():
        if not path or name in GLOBAL_OPTIONS:
            continue
        assert option.envvar is None and option.name == name.replace("-", "_")
        assert option.allow_from_autoenv == (name != "pack" or path not in ("pack remove", "pack use"))
        if option.allow_from_autoenv:
            owners[f"WIKIGR_{path}_{name}"].append((path, name))
    assert len(owners) > 180
    assert {variable: found for variable, found in owners.items() if len(found) > 1} == {}


def test_every_command_that_reads_a_pack_takes_the_option() -> None:
    with_pack = {path for path, name, _ in options() if name == "pack"}
    for path, command in commands():
        if any(p.param_type_name == "argument" and p.name in ("pack", "packs") for p in command.params):
            assert path in with_pack
    assert len(with_pack) > 20


def test_help_fits_80_columns_and_has_two_examples_and_no_variables(
    wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for path, command in tree():
        text = wikigr("help", *path.split()).out
        assert widest(text) <= 80, path
        assert "env var" not in text and "WIKIGR_PACK" not in text and "\nOptions:\n" not in text, path
        is_group = hasattr(command, "commands")
        for name, child in getattr(command, "commands", {}).items():
            # A summary is one line, and not cut.
            assert re.search(rf"^  {name} +{re.escape(child.get_short_help_str(1000))}$", text, re.MULTILINE), name
        assert not re.search(r"<(?:int|str|float)|[a-z]\|[a-z|]*>", text), path
        examples = text.partition("\n  Examples:\n")[2].partition("\n\n")[0].splitlines()
        assert len(examples) == 2 or (is_group and examples), path
        assert [line.strip() for line in examples] == examples_of(command)
        assert len(set(examples)) == len(examples)


def test_global_options_and_exit_codes_are_in_the_whole_help_only(wikigr: Wikigr) -> None:
    for path, _ in tree():
        short, whole = wikigr("help", *path.split()), wikigr(*path.split(), "--help-all")
        name = f"wikigr {path}".strip()
        assert re.search(rf"\n  (More, g|G)lobal options and exit codes: {name} --help-all\n$", short.out), path
        assert len(short.out.splitlines()) <= 40, path
        # Everything is in the whole help, and the short one says if it leaves options out, or some of the description.
        options = re.compile(r"(?<=\n  )-.*?  ").findall
        left_out = set(options(whole.out.partition("Options of every command")[0])) - set(options(short.out))
        assert "More, g" in short.out or not left_out, (path, left_out)
        assert "\nGlobal options:\n" not in short.out and "Exit codes: 0" not in short.out
        assert whole.code == 0 and "\n  -q, --quiet " in whole.out and "\n  Exit codes: 0 success" in whole.out


@pytest.mark.usefixtures("quick_validation")
def test_the_examples_work(wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    shutil.copytree(physics_pack, tmp_path / "packs" / "physics")
    (tmp_path / "packs" / "physics" / "eval").mkdir()
    gold = (ROOT_PACK / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    dev = [line for line in gold if json.loads(line)["split"] == "dev"]
    unanswerable = [line for line in dev if not json.loads(line)["answerable"]]
    chosen = [line for line in dev if line not in unanswerable][:2] + unanswerable[:1]
    (tmp_path / "packs" / "physics" / "eval" / "questions.jsonl").write_text("".join(chosen), encoding="utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "kettle.md").write_text("# Kettle\nA kettle boils water in two minutes.\n")
    (tmp_path / "mine.yaml").write_text("extends: fast\n")
    shutil.copytree(tmp_path / "notes", tmp_path / "mine" / "notes")
    (tmp_path / "mine" / "recipe.yaml").write_text(
        "{name: kettles, version: 1.0.0, description: Kettles, license: CC0-1.0, attribution: Nobody, size_mb: 1, "
        "homepage: 'https://example.org/', source: {path: notes}}"
    )
    key = Ed25519PrivateKey.generate()
    openssh, raw = serialization.PrivateFormat.OpenSSH, serialization.PublicFormat.OpenSSH
    private = key.private_bytes(serialization.Encoding.PEM, openssh, serialization.NoEncryption())
    (tmp_path / "key").write_bytes(private)
    (tmp_path / "key.pub").write_bytes(key.public_key().public_bytes(serialization.Encoding.OpenSSH, raw))
    question = ("ask", "Who proposed matter waves?", "--pack", "packs/physics", "--receipt", "answer.json")
    assert wikigr(*question).code == 0
    (tmp_path / "results.json").write_text(wikigr("search", "spin", "--pack", "packs/physics", "--json").out)
    on_pages = {step.text for page in PAGES for step in steps(page)}
    for example in dict.fromkeys(example for _, command in tree() for example in examples_of(command)):
        # A server runs until it is stopped; see tests/cli/commands/test_serve.py.
        if example in on_pages or example.startswith("wikigr serve"):
            continue
        first, _, second = (shlex.join(part) for part in _pipe(shlex.split(example)))
        piped = shlex.split(first)
        text = " ".join(piped[1:]) if piped[:1] == ["echo"] else wikigr(*piped[1:]).out if piped else ""
        result = wikigr(*shlex.split(second)[1:], stdin=text)
        assert result.code == 0, f"{example}\n{result.err}"


def _pipe(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    if "|" not in words:
        return [], [], words
    return words[: words.index("|")], [], words[words.index("|") + 1 :]


def test_words_are_joined_wherever_a_question_is(wikigr: Wikigr, physics_pack: Path) -> None:
    pack = ("--pack", str(physics_pack), "--json")
    for command in ("ask", "search"):
        assert json.loads(wikigr(*command.split(), "what", "is", *pack, "spin").out)["question"] == "what is spin"
    why = json.loads(wikigr("why", "what", "is", "spin", "Spin", "--offline", *pack).out)
    assert (why["question"], why["title"]) == ("what is spin", "Spin")
    assert json.loads(wikigr("graph", "neighbors", "Louis", "de", "Broglie", *pack).out)["node"]["name"] == (
        "Louis de Broglie"
    )
    assert json.loads(wikigr("show", "Albert", "Einstein", *pack).out)["title"] == "Albert Einstein"


def test_words_that_look_like_options_follow_two_dashes(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("search", "what", "is", "--spin", "--pack", str(physics_pack))
    assert result.code == 2 and "put -- before it" in result.err
    found = wikigr("search", "--json", "--pack", str(physics_pack), "--", "what", "is", "--spin")
    assert json.loads(found.out)["question"] == "what is --spin"


def test_a_dash_reads_the_question_from_standard_input(wikigr: Wikigr, physics_pack: Path) -> None:
    for command in ("ask", "search"):
        result = wikigr(command, "-", "--pack", str(physics_pack), "--json", stdin="\ufeff  What\nis spin? \n\n")
        assert json.loads(result.out)["question"] == "What\nis spin?"
        empty = wikigr(command, "-", "--pack", str(physics_pack), stdin=" \n")
        assert (empty.code, empty.out) == (2, "") and "holds no question" in empty.err


def test_a_dash_at_a_terminal_says_what_it_waits_for(physics_pack: Path) -> None:
    err = io.StringIO()
    environment = Environment(Terminal("What is spin?\n"), io.StringIO(), err)
    assert run(("search", "-", "--pack", str(physics_pack)), environment) == 0
    assert err.getvalue().startswith("Reading the question from the terminal.")
    assert "Ctrl-D" in err.getvalue()


@pytest.mark.parametrize(
    "line", ["-v pack info", "pack -v info", "pack info -v", "pack info --verbose", "-q pack info -v"]
)
def test_global_options_work_in_every_place(physics_pack: Path, line: str) -> None:
    environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
    assert run((*line.split(), str(physics_pack)), environment) == 0
    assert environment.verbosity == 1


def test_quiet_and_debug_work_after_every_command(wikigr: Wikigr) -> None:
    for path, _ in tree():
        environment = Environment(io.StringIO(), io.StringIO(), io.StringIO())
        run((*path.split(), "-q", "--debug", "--no-such-option"), environment)
        assert "No such option: --no-such-option" in environment.stderr.getvalue(), path  # type: ignore[attr-defined]
    result = wikigr("ask", "x", "--pack", "nowhere", "--debug")
    assert result.code == 4 and "Traceback" in result.err


def test_a_pack_is_an_argument_an_option_or_a_variable(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaced = tmp_path / "my packs" / "physics"
    shutil.copytree(physics_pack, spaced)
    for command in (("pack", "info"), ("pagerank", "build")):
        expected = wikigr(*command, str(spaced)).out
        assert expected
        assert wikigr(*command, "-p", str(spaced)).out == expected
        missing = wikigr(*command)
        assert missing.code == 2 and "No pack was given" in missing.err and "WIKIGR_PACK" in missing.err
        twice = wikigr(*command, str(spaced), "--pack", str(spaced))
        assert twice.code == 2 and "given twice" in twice.err
        monkeypatch.setenv("WIKIGR_PACK", str(spaced))
        assert wikigr(*command).out == expected
        monkeypatch.setenv("WIKIGR_PACK", "nowhere")
        assert wikigr(*command).code in (2, 4)
        monkeypatch.setenv(f"WIKIGR_{'_'.join(command).upper()}_PACK", str(spaced))
        assert wikigr(*command).out == expected
        monkeypatch.delenv("WIKIGR_PACK")


@pytest.mark.usefixtures("quick_validation")
def test_a_pack_is_removed_by_name_only(wikigr: Wikigr, letters_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wikigr("pack", "install", str(letters_pack)).code == 0
    monkeypatch.setenv("WIKIGR_PACK", "letters")
    monkeypatch.setenv("WIKIGR_PACK_REMOVE_PACK", "letters")
    refused = wikigr("pack", "remove")
    assert refused.code == 2 and "No pack was given" in refused.err and "WIKIGR_PACK" not in refused.err
    assert wikigr("pack", "remove", "--yes", "--pack", "letters").code == 0


def test_a_second_pack_is_refused_where_one_is_taken(wikigr: Wikigr) -> None:
    takes_one = 0
    for path, name, option in options():
        if name == "pack":
            told = wikigr(*path.split(), "--pack", "a", "-p", "b")
            assert told.code != 0
            assert ("takes one pack" in told.err) is not option.multiple, path
            takes_one += not option.multiple
    assert takes_one > 15

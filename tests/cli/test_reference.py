"""The generated pages of docs/ are what the commands and the profile schema say now."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wikigr_cli.app import root_command
from wikigr_cli.command_class import GlobalOption, leaf_commands, long_name, options_of

from .conftest import Wikigr

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "reference/commands.md",
    "reference/environment.md",
    "reference/formats.md",
    "reference/options.md",
    "reference/profiles.md",
    "wikigr.1",
)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make docs`` would write, made in a process of its own: other settings, other hash seed, other width."""
    folder = tmp_path_factory.mktemp("docs")
    surroundings = {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONHASHSEED": "7", "COLUMNS": "40"}
    subprocess.run([sys.executable, str(DOCS / "generate"), str(folder)], env=os.environ | surroundings, check=True)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_up_to_date(generated: Path, page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf-8")
    assert (generated / page).read_text(encoding="utf-8") == written, "run `make docs` and commit what it writes"


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_says_nothing_of_the_machine(generated: Path, page: str) -> None:
    assert str(Path.home()) not in (generated / page).read_text(encoding="utf-8")


def test_every_command_option_and_variable_is_listed(generated: Path) -> None:
    page = (generated / "reference/commands.md").read_text(encoding="utf-8")
    variables = (generated / "reference/environment.md").read_text(encoding="utf-8")
    table = (generated / "reference/options.md").read_text(encoding="utf-8")
    manual = (generated / "wikigr.1").read_text(encoding="ascii").replace("\\-", "-")
    listed = 0
    for path, command in leaf_commands(root_command()):
        name = " ".join(("wikigr", *path))
        (told,) = re.findall(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        (in_manual,) = re.findall(rf'^\.SS "{name} (.*?)(?=^\.S[SH] |\Z)', manual, re.MULTILINE | re.DOTALL)
        for parameter in options_of(command):
            if isinstance(parameter, GlobalOption):
                continue
            assert all(option in text for option in parameter.opts for text in (told, in_manual)), (
                name,
                parameter.opts,
            )
            assert f"`--{long_name(parameter)}` |" in table
            variable = "_".join((name, long_name(parameter))).upper().replace(" ", "_").replace("-", "_")
            assert (f"`{variable}`" in variables) == parameter.allow_from_autoenv
            listed += 1
    assert listed > 200
    assert all(f"`--{name}` |" in table for name in ("help", "version", "quiet"))
    rows = re.findall(r"^\| `-k`, `--top-k` \| .* \| (.*) \|$", table, re.MULTILINE)
    paths = {path for row in rows for path in row.split(", ")}
    assert {"`search`", "`graph cypher`", "`graph schema`"} <= paths


def test_the_manual_page_renders(generated: Path) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    command = [groff, "-man", "-Tutf8", "-ww", "-rLL=78n", "-P-c", "-P-b", "-P-u", "-P-o", str(generated / "wikigr.1")]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert run.stderr == ""
    assert "wikigr pack build [OPTIONS] {SOURCE}" in run.stdout
    assert "--max-cost USD" in run.stdout
    assert "4      pack missing, damaged or incompatible" in run.stdout


def test_every_json_document_has_an_example() -> None:
    page = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    commands = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (wikigr [\w -]+)\n(.*?)(?=^## |\Z)", commands, re.MULTILINE | re.DOTALL)
    with_json = [name for name, text in sections if "- `--json`" in text]
    assert len(with_json) > 30
    assert [name for name in with_json if f"\n### {name}\n" not in page] == []


def test_the_profile_of_the_page_is_one(wikigr: Wikigr, tmp_path: Path) -> None:
    page = (DOCS / "reference" / "profiles.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.yaml").write_text(example, encoding="utf-8")
    assert wikigr("profile", "show", "mine.yaml").code == 0

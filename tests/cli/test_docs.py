"""Run every command in the README and in docs/, in the order of its page, and compare the output with the page.

How to write a page:

- ``console`` blocks hold commands (``$ …``). Below a command, show the lines of its output that matter. A line with
  ``…`` in it is not compared, and numbers with a decimal point and the number of questions may differ, because the
  tests ask only some of the questions. ``# exit 1`` after a command states its exit code, 0 otherwise.
- ``<!-- file: notes/kettle.md -->`` before a block writes the block to that file.
- A ``json`` block after a command with ``--json`` is an example with the keys of the real document.
- ``python`` blocks run as programs.
- ``text`` blocks do not run. Use them for commands that need a network, a key, much time or another machine.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from wikigr_cli.exit_codes import ExitStatus

from .conftest import ROOT_PACK, Result, Wikigr

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# These pages are generated, or contain only tables and links.
WITHOUT_COMMANDS = {
    "docs/README.md",
    "docs/benchmarks.md",
    # Needs the extra ray; tests/ray runs such commands.
    "docs/how-to/cluster.md",
    "docs/reference/commands.md",
    "docs/reference/environment.md",
    "docs/reference/formats.md",
    "docs/reference/options.md",
    "docs/reference/profiles.md",
    "docs/reference/exit-codes.md",
    "docs/reference/server.md",
    "docs/what-was-tried.md",
    # Recorded in a terminal, where lines are wrapped; tests/cli/prompt drives the prompt.
    "docs/session.md",
}
_BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)
_SHELL = {"rm", "mkdir", "ssh-keygen"}


@dataclass
class Step:
    """A file to write, or a command or program to run with the result that the page shows."""

    text: str
    file: str | None = None
    is_python: bool = False
    code: int = 0
    shown: list[str] = field(default_factory=list)
    example: Any = None


def steps(page: Path) -> list[Step]:
    found: list[Step] = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["file"]:
            found.append(Step(block["text"], file=block["file"]))
        elif block["kind"] in ("console", "sh"):
            found += _commands(block["text"])
        elif block["kind"] == "python":
            found.append(Step(block["text"], is_python=True))
        elif block["kind"] == "json" and found and "--json" in found[-1].text:
            found[-1].example = json.loads(block["text"])
    return found


def _commands(block: str) -> Iterator[Step]:
    step: Step | None = None
    for line in block.splitlines():
        if line.startswith("$ "):
            if step is not None:
                yield step
            command, _, comment = line[2:].partition("  # ")
            stated = re.match(r"exit (\d+)", comment)
            step = Step(command.strip(), code=int(stated[1]) if stated else 0)
        elif step is not None and line.strip() and "…" not in line:
            step.shown.append(line.rstrip())
    if step is not None:
        yield step


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.usefixtures("quick_validation")
@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_the_commands_of_a_page_run_in_order(
    page: Path, wikigr: Wikigr, physics_pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    todo = steps(page)
    assert bool(todo) != (relative(page) in WITHOUT_COMMANDS)
    if any("physics" in step.text for step in todo):
        _demo_pack(physics_pack, tmp_path / "packs" / "physics")
    for step in todo:
        if step.file:
            path = tmp_path / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            continue
        if step.is_python:
            exec(compile(step.text, str(page), "exec"), {})
            assert capsys.readouterr().out
            continue
        result = _run(step.text, wikigr, tmp_path)
        assert result.code == step.code, f"{step.text}\n{result.err}"
        printed = {_rounded(line) for line in (result.out + result.err).splitlines()}
        assert [line for line in step.shown if _rounded(line) not in printed] == [], (
            f"{step.text}\n{result.out}{result.err}"
        )
        if step.example is not None:
            assert _unknown_keys(step.example, json.loads(result.out)) == [], step.text


def _demo_pack(built: Path, pack: Path) -> None:
    shutil.copytree(built, pack)
    (pack / "eval").mkdir()
    # Few questions, but of all kinds and of both splits; the tests of `wikigr eval` ask those of the first set as well.
    for name, chosen in (("questions.jsonl", (0, 1, 84)), ("composed.jsonl", (0, 15))):
        lines = _questions(name)
        (pack / "eval" / name).write_text("".join(lines[n] for n in chosen), encoding="utf-8")


def _questions(name: str) -> list[str]:
    """The lines of a question set of the demo pack."""
    return (ROOT_PACK / "eval" / name).read_text(encoding="utf-8").splitlines(keepends=True)


def _run(command: str, wikigr: Wikigr, folder: Path) -> Result:
    # What a page keeps in the home folder is not in the checkout.
    words = [str(folder / "home") + word[1:] if word.startswith("~/") else word for word in shlex.split(command)]
    if words[0] == "wikigr" and "|" not in words:
        return wikigr(*words[1:])
    if words[0] == "wikigr":
        first, second = words[: words.index("|")], words[words.index("|") + 1 :]
        return wikigr(*second[1:], stdin=wikigr(*first[1:]).out)
    assert words[0] in _SHELL, f"no test runs {words[0]}; use a `text` block for commands that do not run"
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def _rounded(line: str) -> str:
    return re.sub(r"\d+\.\d+|^\d+(?= questions,)", "#", line.rstrip())


def _unknown_keys(example: Any, real: Any, place: str = "") -> list[str]:
    """Return the places where the keys of ``example`` differ from ``real``; of a list only the first item counts."""
    if isinstance(example, dict) and isinstance(real, dict):
        if not place and set(example) != set(real):
            return [f"keys: {sorted(set(example) ^ set(real))}"]
        return [
            found
            for key, value in example.items()
            for found in (_unknown_keys(value, real[key], f"{place}.{key}") if key in real else [f"{place}.{key}"])
        ]
    if isinstance(example, list) and isinstance(real, list) and example and real:
        return _unknown_keys(example[0], real[0], f"{place}[0]")
    return []


def test_every_page_is_in_the_index() -> None:
    linked = {target.split("#")[0] for target in _links(DOCS / "README.md")}
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"README.md"} <= linked


def test_the_number_of_composed_questions_is_documented() -> None:
    page = (DOCS / "evaluation.md").read_text(encoding="utf-8")
    assert re.findall(r"^(\d+) questions, 0 problems$", page, re.MULTILINE) == [str(len(_questions("composed.jsonl")))]


def test_every_exit_code_is_documented() -> None:
    page = (DOCS / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert rows == {int(status) for status in ExitStatus}


def test_links_point_to_files_and_headings() -> None:
    assert [(relative(page), target) for page in PAGES for target in _links(page) if not _exists(page, target)] == []


def _exists(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or not anchor:
        return file.exists()
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_paths_in_contributing_md_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|src|docs|eval|requirements)/[\w/.-]+)`", page))
    assert len(named) > 15
    assert [name for name in sorted(named) if "NAME" not in name and not (ROOT / name).exists()] == []
    assert [link for link in _links(ROOT / "CONTRIBUTING.md") if not (ROOT / link.partition("#")[0]).exists()] == []


def test_the_tests_that_security_md_names_exist() -> None:
    named = set(re.findall(r"`((?:tests|src)/[\w/.]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert [link for link in _links(ROOT / "SECURITY.md") if not (ROOT / link.partition("#")[0]).exists()] == []


def _links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]

"""Every command in docs/ runs, in the order of its page, and prints what the page says.

How a page is written for this:

- ``console`` blocks hold commands (``$ …``), each followed by the lines of its output that are worth showing. A line
  with ``…`` in it stands for what differs from run to run, and figures with a decimal point may differ from machine to
  machine. ``# exit 1`` behind a command is its exit code, 0 otherwise.
- ``<!-- file: notes/kettle.md -->`` before a block makes the block that file, from then on.
- A ``json`` block after a command with ``--json`` is an example: its keys are those of the real document.
- ``text`` blocks are not run: what needs a network, a key, much time or another machine.
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

from .conftest import ROOT_PACK, Result, Wikigr

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
# Written from the commands themselves, or from what the tests print; the index holds links only.
WITHOUT_COMMANDS = {
    "README.md",
    "reference/commands.md",
    "reference/formats.md",
    "reference/profiles.md",
    "reference/exit-codes.md",
    "what-was-tried.md",
}
_BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)
_SHELL = {"rm", "mkdir", "ssh-keygen"}


@dataclass
class Step:
    """A file to write, or a command to run with what the page shows of its result."""

    text: str
    file: str | None = None
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
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_the_commands_of_a_page_run_in_order(page: Path, wikigr: Wikigr, physics_pack: Path, tmp_path: Path) -> None:
    todo = steps(page)
    assert bool(todo) != (relative(page) in WITHOUT_COMMANDS)
    _demo_pack(physics_pack, tmp_path / "packs" / "physics")
    for step in todo:
        if step.file:
            path = tmp_path / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            continue
        result = _run(step.text, wikigr, tmp_path)
        assert result.code == step.code, f"{step.text}\n{result.err}"
        printed = {_rounded(line) for line in (result.out + result.err).splitlines()}
        assert [line for line in step.shown if _rounded(line) not in printed] == [], (
            f"{step.text}\n{result.out}{result.err}"
        )
        if step.example is not None:
            assert _strangers(step.example, json.loads(result.out)) == [], step.text


def _demo_pack(built: Path, pack: Path) -> None:
    shutil.copytree(built, pack)
    gold = (ROOT_PACK / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (pack / "eval").mkdir()
    # Every ninth question: of all kinds, and few.
    (pack / "eval" / "questions.jsonl").write_text("".join(gold[::9]), encoding="utf-8")


def _run(command: str, wikigr: Wikigr, folder: Path) -> Result:
    words = shlex.split(command)
    if words[0] == "wikigr" and "|" not in words:
        return wikigr(*words[1:])
    if words[0] == "wikigr":
        first, second = words[: words.index("|")], words[words.index("|") + 1 :]
        return wikigr(*second[1:], stdin=wikigr(*first[1:]).out)
    assert words[0] in _SHELL, f"no test runs {words[0]}: a `text` block holds what is not run"
    done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def _rounded(line: str) -> str:
    return re.sub(r"\d+\.\d+", "#", line.rstrip())


def _strangers(example: Any, real: Any, place: str = "") -> list[str]:
    """Return where the example has other keys than the real document; of lists their first items are compared."""
    if isinstance(example, dict) and isinstance(real, dict):
        if not place and set(example) != set(real):
            return [f"keys: {sorted(set(example) ^ set(real))}"]
        return [
            found
            for key, value in example.items()
            for found in (_strangers(value, real[key], f"{place}.{key}") if key in real else [f"{place}.{key}"])
        ]
    if isinstance(example, list) and isinstance(real, list) and example and real:
        return _strangers(example[0], real[0], f"{place}[0]")
    return []


def test_every_page_is_in_the_index() -> None:
    linked = {target.split("#")[0] for target in _links(DOCS / "README.md")}
    assert {relative(page) for page in PAGES} - {"README.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, (
                target
            )


def test_the_tests_that_hold_a_promise_are_there() -> None:
    root = DOCS.parent
    named = set(re.findall(r"`((?:tests|src)/[\w/.]+)`", (root / "SECURITY.md").read_text(encoding="utf-8")))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (root / name).exists()] == []
    assert [link for link in _links(root / "SECURITY.md") if not (root / link.partition("#")[0]).exists()] == []


def _links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]

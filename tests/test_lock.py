"""The locked packages fit the project: all that it asks for is there, pinned, with hashes, and from nowhere by name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8")
PINNED = {
    canonicalize_name(name): (version, block)
    for name, version, block in re.findall(r"^([\w.-]+)==(\S+) \\\n((?:^    --hash=.*\n)*)", LOCK, re.MULTILINE)
}


def test_everything_that_ci_installs_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        Requirement(line)
        for line in (*project["dependencies"], *(r for e in ("models", "test", "lint") for r in extras[e]))
    ]
    for requirement in wanted:
        if requirement.name == "torch":
            continue  # installed before: see the Makefile
        assert canonicalize_name(requirement.name) in PINNED, f"{requirement}: run `make lock`"
        version, _ = PINNED[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}, but {version} is locked: run `make lock`"


def test_every_line_is_pinned_by_hashes() -> None:
    assert len(PINNED) > 80
    assert all(re.fullmatch(r"(    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", hashes) for _, hashes in PINNED.values())
    names = re.findall(r"^([A-Za-z][^\s=]*)", LOCK, re.MULTILINE)
    assert {canonicalize_name(name) for name in names} == set(PINNED)


def test_no_index_and_no_path_is_in_it() -> None:
    assert not re.search(r"://|^-|^\s*(?:/|\.)|@ ", LOCK, re.MULTILINE)
    assert not {name for name in PINNED if name.startswith("nvidia") or name in ("torch", "triton")}

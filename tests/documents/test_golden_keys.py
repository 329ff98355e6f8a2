"""The keys of the JSON that `ask`, `search` and `eval run` print, with the types of their values.

Scripts rely on them: keys are added, never renamed or removed. After adding one, add the lines that the failure shows
to ``golden_keys.txt``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Wikigr, quick_evaluations, wikigr  # noqa: F401
from tests.pack.joined.conftest import machines  # noqa: F401

GOLDEN = Path(__file__).with_name("golden_keys.txt")
BORN = "When and where was Werner Heisenberg born?"
CHAIN = "Where was the physicist who proposed matter waves born?"
UNSURE = "Which satellite handed out entangled photon pairs to stations over a thousand kilometres apart?"
UNKNOWN = "Who painted the Sistine Chapel?"
# Objects whose keys are names, such as those of stages, sections and profiles; a ``*`` stands for each of them.
MAPPINGS = frozenset(
    "answers by_profile dropped flips latency metrics models parts scores sources timings versions".split()
)
# Objects with a form of their own: what a stage notes, and whole profiles.
OPAQUE = ("notes", "run.profiles")
TYPES = {str: "text", bool: "bool", int: "number", float: "number", type(None): "null"}


def keys_of(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the place of every value in a JSON document, with its type; ``[]`` stands for an entry of a list."""
    if place.endswith(OPAQUE) and isinstance(value, dict):
        yield place, "object"
    elif isinstance(value, dict):
        is_mapping = place.rpartition(".")[2] in MAPPINGS
        for key, item in value.items():
            if place == "eval run.metrics":
                yield f"{place}.{key}", "object"
            yield from keys_of(item, f"{place}.{'*' if is_mapping else key}")
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item, f"{place}[]")
        if not value:
            yield place, "list"
    else:
        yield place, TYPES[type(value)]


@pytest.mark.usefixtures("no_model")
def test_the_keys_of_the_documents(
    wikigr: Wikigr,  # noqa: F811
    physics_pack: Path,
    machines: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["wikigr", "eval", "run"])  # a run records it
    rows = (Path(__file__).parents[2] / "packs/physics/eval/questions.jsonl").read_text().splitlines()
    answerable = [row for row in rows if '"answerable": true' in row][:4]
    questions = tmp_path / "gold.jsonl"
    questions.write_text("\n".join([*answerable, *[row for row in rows if row not in answerable][-2:]]))
    one, both = ("--pack", str(physics_pack)), ("--pack", str(physics_pack), "--pack", str(machines))
    found: dict[str, dict[str, set[str]]] = {}
    for name, arguments in (
        *(("ask", ("ask", question, *one, "--explain")) for question in (BORN, CHAIN, UNSURE, UNKNOWN)),
        *(("ask, packs", ("ask", question, *both, "--explain")) for question in (BORN, UNSURE, UNKNOWN)),
        ("search", ("search", BORN, *one)),
        ("search, packs", ("search", BORN, *both)),
        ("eval run", ("eval", "run", *one, "--questions", str(questions), "-o", "run")),
    ):
        result = wikigr(*arguments, "--offline", "--json")
        assert result.code == 0, result.err
        for place, kind in keys_of(json.loads(result.out), name.partition(",")[0]):
            found.setdefault(name, {}).setdefault(place, set()).add(kind)
    for command in ("ask", "search"):
        # Of several packs only what is new; no key may be missing.
        several, single = found[f"{command}, packs"], found[command]
        assert {place for place in single if "chain[]" not in place} <= set(several)
        found[f"{command}, packs"] = {place: kinds for place, kinds in several.items() if place not in single}
    lines = [
        f"{'several packs: ' * name.endswith('packs')}{place}: {' or '.join(sorted(kinds))}"
        for name, places in found.items()
        for place, kinds in places.items()
    ]
    assert sorted(lines) == GOLDEN.read_text().splitlines()

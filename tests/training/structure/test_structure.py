"""The whole set: balance, determinism, and what is left out."""

from __future__ import annotations

import json
import lzma
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from training.structure import SIZES, from_passages
from training.structure.building import balanced, unanswered
from training.structure.passages import HELD_OUT, Package, Passage, read_articles, read_packages

_ROOT = Path(__file__).parents[3]
_DIGEST = """
import hashlib, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/src"]
from training.structure import from_passages
from training.structure.passages import read_folder
examples = from_passages([*read_folder(Path(sys.argv[1]), "pump-doc")], [], 7)
print(len(examples), hashlib.sha256(repr(examples).encode()).hexdigest())
"""


def test_every_kind_is_made_in_a_balance(manual: list[Passage], article: list[Passage]) -> None:
    examples = from_passages(manual, article, 7)
    counts = Counter(example.source for example in examples)
    assert set(counts) == {f"structure-{name}" for name in SIZES}
    assert all(counts[f"structure-{name}"] <= size for name, size in SIZES.items())
    answers = sum(bool(example.spans) for example in examples)
    assert 1 < answers / (len(examples) - answers) < 1.5
    assert len({(example.question, example.title, example.text) for example in examples}) == len(examples)


def test_the_examples_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    from tests.training.structure import conftest

    (tmp_path / "pump.html").write_text(conftest.MANUAL, encoding="utf-8")
    command = [sys.executable, "-c", _DIGEST, str(tmp_path), str(_ROOT)]
    outputs = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_a_missing_package_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = Package("pump-doc", "Pump", "MIT", str(tmp_path / "none"))
    assert list(read_packages((package,))) == []
    assert "pump-doc" in capsys.readouterr().err


def test_articles_for_evaluation_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "wikispeedia"
    folder.mkdir()
    text = "This text is long enough to be a passage of an article, because it has more than one hundred and twenty "
    text += "letters."
    titles = [*sorted(HELD_OUT), "Marie Curie", "Harbor"]
    with lzma.open(folder / "articles.jsonl.xz", "wt", encoding="utf-8") as file:
        for title in titles:
            file.write(json.dumps({"title": title, "text": f"{text} {title}."}) + "\n")
    # Marie Curie is an article of the demo pack, whose questions are for judging.
    assert [passage.title for passage in read_articles(tmp_path)] == ["Harbor"]


def test_no_source_and_no_page_dominates() -> None:

    examples = [
        unanswered(
            "lists", "search", Passage(source, "1", page, "", "", f"Text {number} of {page}"), f"Which {number}?"
        )
        for source, pages in (("large", 40), ("small", 2))
        for page in (f"{source} {name}" for name in range(pages))
        for number in range(30)
    ]
    kept = balanced(examples, 10_000, random.Random(1), per_page=5)
    assert kept == []
    answers = [type(one)(one.source, "answer", *_fields(one), (one.text,), ((0, len(one.text)),)) for one in examples]
    kept = balanced(answers, 40, random.Random(1), per_page=5)
    sources = Counter(example.id.partition(":")[0] for example in kept)
    assert sources["small"] == 10
    assert sources["large"] == 12
    assert max(Counter(example.title for example in kept).values()) <= 5


def _fields(example: object) -> tuple[str, str, str, str, str]:
    return tuple(getattr(example, name) for name in ("id", "question", "title", "heading", "text"))  # type: ignore[return-value]

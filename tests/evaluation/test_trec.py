from __future__ import annotations

import math
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.evaluation.metrics.answered import gold_passages
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.trec import write_qrels, write_run


def question(name: str, *gold: Gold, answerable: bool = True) -> GoldQuestion:
    return GoldQuestion(name, "?", ("x",) if answerable else (), gold, answerable, "", "", None, 1)


def test_qrels(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    write_qrels(
        path,
        [
            question("q 1", Gold("Max_Planck"), Gold("Łódź", None, "p#1"), Gold("max planck", "Life")),
            question("q2", Gold("Spin"), answerable=False),
            question("100%", Gold("Spin")),
        ],
    )
    assert path.read_text("utf-8") == "q%201 0 max%20planck 1\nq%201 0 łódź 1\n100%25 0 spin 1\n"


def test_qrels_of_passages(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    gold = (Gold("Spin", None, "p 2"), Gold("Spin", None, "p1"), Gold("Kiel"))
    write_qrels(path, [question("q1", *gold), question("q2", *gold, answerable=False)], gold_passages)
    assert path.read_text("utf-8") == "q1 0 p%202 1\nq1 0 p1 1\n"


def test_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    write_run(path, {"q": [("a b", 0.5), ("c", 0.25), ("a b", 0.1)], "r": []}, "our run")
    assert path.read_text("utf-8") == "q Q0 a%20b 1 0.5 our%20run\nq Q0 c 2 0.25 our%20run\n"


@given(st.lists(st.floats(-1e30, 1e30), max_size=12))
def test_scores_fall_in_32_bits_and_keep_the_order(
    tmp_path_factory: pytest.TempPathFactory, scores: list[float]
) -> None:
    import numpy as np

    path = tmp_path_factory.mktemp("run") / "run"
    write_run(path, {"q": [(f"d{n}", score) for n, score in enumerate(scores)]}, "t")
    rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    assert [row[2] for row in rows] == [f"d{n}" for n in range(len(scores))]
    written = np.array([row[4] for row in rows], dtype=np.float32)
    assert np.all(written[1:] < written[:-1])


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_ids_come_back_from_their_column(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.mktemp("run") / "run"
    write_run(path, {name: [(name, 1.0)]}, name)
    (line,) = path.read_text("utf-8").splitlines()
    row = line.split()
    assert [unquote(row[0]), unquote(row[2]), unquote(row[5])] == [name] * 3


@pytest.mark.parametrize(
    ("rankings", "tag"),
    [
        ({"q": [("d", math.nan)]}, "t"),
        ({"q": [("d", 1e39)]}, "t"),
        ({"q": [("", 1.0)]}, "t"),
        ({"": [("d", 1.0)]}, "t"),
    ],
)
def test_what_no_run_can_hold_leaves_the_old_file(
    tmp_path: Path, rankings: dict[str, list[tuple[str, float]]], tag: str
) -> None:
    path = tmp_path / "run"
    path.write_text("old")
    with pytest.raises(ValueError, match=r"a run file cannot hold|empty"):
        write_run(path, {"good": [("d", 1.0)], **rankings}, tag)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_tag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="empty"):
        write_run(tmp_path / "run", {}, "")
    assert not list(tmp_path.iterdir())

"""``wikigr eval compare``."""

from __future__ import annotations

import json
from pathlib import Path

from ...conftest import Wikigr
from .conftest import TOTAL, Run


def test_runs_over_other_questions_refuse_to_be_compared(run: Run, wikigr: Wikigr, questions: Path) -> None:
    run("one", "--profile", "enhanced")
    same = run("two", "--profile", "fast")
    assert same.code == 0
    assert wikigr("eval", "compare", "one", "two").code == 0
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[1:]))
    run("three", "--profile", "enhanced")
    told = wikigr("eval", "compare", "one", "two").out.splitlines()
    for line, start in zip(told, ("base   one: enhanced, 20", "other  two: fast, 20"), strict=False):
        assert line.startswith(start) and line.endswith(f", {TOTAL} questions") and "pack physics 1.0.0 (" in line
    assert told[2].startswith("A difference is two/fast minus one/enhanced: a positive one means that two/fast has")
    assert "in accuracy:" in told[4]
    document = json.loads(wikigr("eval", "compare", "one", "two", "--json").out)
    sides = [(document[role]["path"], document[role]["profile"]) for role in ("base", "other")]
    assert sides == [("one", "enhanced"), ("two", "fast")]
    refused = wikigr("eval", "compare", "one", "three")
    assert (refused.code, "question sets differ" in refused.err) == (2, True)
    forced = wikigr("eval", "compare", "one", "three", "--force", "--json")
    assert json.loads(forced.out)["caveats"] == ["the question sets differ"]
    # A report says so itself: what is said beside it is lost when it is kept in a file.
    said = "Compared with --force although the question sets differ"
    for command in ("compare", "flips"):
        text = wikigr("-q", "eval", command, "one", "three", "--force")
        assert (text.code, text.out.startswith(said), text.err) == (0, True, "")
        assert "with --force" not in wikigr("eval", command, "one", "two").out
    found = json.loads(wikigr("eval", "flips", "one", "three", "--force", "--json").out)
    assert found["caveats"] == ["the question sets differ"]


def test_a_run_is_not_compared_with_itself(run: Run, wikigr: Wikigr, tmp_path: Path) -> None:
    run("one", "--profile", "enhanced")
    refused = wikigr("eval", "compare", "one", str(tmp_path / "one"))
    assert (refused.code, refused.out) == (2, "")
    assert "are the same run." in refused.err and "wikigr eval report one" in refused.err


def test_only_the_metrics_that_differ_are_printed(run: Run, wikigr: Wikigr) -> None:
    run("one", "--profile", "enhanced")
    run("two", "--profile", "fast")
    results = json.loads(wikigr("eval", "compare", "one", "two", "--json").out)["results"]
    differing = [r["metric"] for r in results if r["wins"] or r["losses"]]
    assert 0 < len(differing) < len(results)
    expected = [r["metric"] for r in results if r["metric"] == "accuracy" or r["metric"] in differing]

    def printed_metrics(*options: str) -> list[str]:
        lines = wikigr("eval", "compare", "one", "two", *options).out.splitlines()
        names = {r["metric"] for r in results}
        return [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in names]

    assert printed_metrics() == expected
    assert printed_metrics("--all") == [r["metric"] for r in results]
    told = wikigr("eval", "compare", "one", "two").out
    assert f"{len(results) - len(expected)} metrics do not differ; --all shows them." in told
    assert "do not differ" not in wikigr("eval", "compare", "one", "two", "--all").out

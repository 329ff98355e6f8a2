"""The questions that were written for training: their form, and that desks hold what their questions quote."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

from training.asked.pages import Documentation, choose
from training.sources.asked import ASIDE, DESK, DEVELOPMENT, TRAINING, read_collection, split_sources

ASKED = ROOT / "training" / "asked"
KINDS = set(
    "fact number default option howto steps yesno why list count difference trouble who when where definition version "
    "table unanswerable".split()
)


def rows() -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in (*sorted(ASKED.glob("questions/*.jsonl")), *sorted(ASKED.glob("desk/*/questions.jsonl"))):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield file, json.loads(line)


def problem(file: Path, row: dict[str, Any]) -> str | None:
    """Return what is wrong with a question, or ``None``."""
    answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    if row["kind"] not in KINDS or not 0 < len(row["question"]) <= 400:
        return "kind or question"
    if row["kind"] == "unanswerable":
        return None if row["answer"] is None and row["why"] else "an answer where there is none"
    if row["kind"] == "yesno" and row["answer"] not in ("yes", "no"):
        return "neither yes nor no"
    if "file" in row:
        text, evidence = flat((file.parent / row["file"]).read_text(encoding="utf-8")), flat(row["evidence"])
        quoted = answers if row["kind"] != "yesno" else []
        if not evidence or not all(flat(quote) in text for quote in (evidence, *quoted)):
            return "not verbatim"
    return None if all(answers) and row["evidence"] else "no answer or evidence"


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def test_every_question_is_well_formed_and_desks_hold_the_answers() -> None:
    found = [(file.relative_to(ASKED).as_posix(), row["question"], problem(file, row)) for file, row in rows()]
    assert len(found) > 4_000
    assert [entry for entry in found if entry[2] is not None] == []
    asked = [(name, question.lower()) for name, question, _ in found]
    assert len(asked) == len(set(asked))


def test_every_manual_names_its_package_and_license() -> None:
    sources = json.loads((ASKED / "sources.json").read_text(encoding="utf-8"))
    named = {file.stem for file in ASKED.glob("questions/*.jsonl")}
    assert named <= sources.keys()
    assert all(sources[name]["package"] and sources[name]["license"] for name in named)


def test_excerpts_are_the_same_for_the_same_seed_and_leave_out_lists_of_links(tmp_path: Path) -> None:
    sentence = "The daemon reads its settings again after a signal, and keeps every open connection. "
    for page in ("backup", "restore", "index"):
        sections = "".join(f"<h2>{page} {n}</h2><p>{sentence * 14}</p>" for n in range(16))
        (tmp_path / f"{page}.html").write_text(f"<title>{page}</title><h1>{page}</h1>{sections}", encoding="utf-8")
    source = Documentation("manual", "MIT", tmp_path)
    chosen = choose(source, 5, seed=1)
    assert {excerpt.page for excerpt in chosen} == {"backup.html", "restore.html"}
    assert chosen == choose(source, 5, seed=1)
    assert all(sentence.strip() in chunk.content for excerpt in chosen for chunk in excerpt.sections)


def test_the_split_is_stable_and_disjoint() -> None:
    names = [f"manual-{number}" for number in range(40)]
    parts = split_sources(names, 7, aside=True)
    assert Counter(parts.values()) == {ASIDE: 13, DEVELOPMENT: 6, TRAINING: 21}
    assert split_sources(reversed(names), 7, aside=True) == parts
    assert [name for name in names if parts[name] == ASIDE][:3] == ["manual-3", "manual-4", "manual-7"]
    assert split_sources(names, 8, aside=True) != parts
    assert Counter(split_sources(names, 7, aside=False).values()) == {DEVELOPMENT: 6, TRAINING: 34}


def test_no_page_and_no_desk_is_in_two_parts(tmp_path: Path) -> None:
    """An own manual and an own encyclopedia of which every article has a question, beside the desks that are here."""
    (tmp_path / "questions").mkdir()
    for name, count in (("boiler", 4), ("encyclopedia-9", 30)):
        pages = [{"page": f"{name}-{n}", "title": f"{name} {n}", "sections": [section(n)]} for n in range(count)]
        with lzma.open(tmp_path / f"{name}.jsonl.xz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(page) + "\n" for page in pages)
        asked = [
            {"page": page["page"], "question": f"How warm is it in {n}?", **ANSWER} for n, page in enumerate(pages)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in asked)
        (tmp_path / "questions" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "desk").mkdir()
    for desk in sorted((ASKED / "desk").iterdir())[:6]:
        (tmp_path / "desk" / desk.name).symlink_to(desk)
    found = list(read_collection(tmp_path, tmp_path, 7, aside=False))
    pages_of: dict[str, set[tuple[str, str]]] = {}
    for part, source in found:
        assert source.lost <= len(source.questions) / 10
        pages_of.setdefault(part, set()).update((source.name, section.page) for section in source.sections)
        pages_of[part].update((source.name, question.page) for question in source.questions if question.page)
    assert pages_of.keys() == {TRAINING, DEVELOPMENT}
    assert not pages_of[TRAINING] & pages_of[DEVELOPMENT]
    divided = {part for part, source in found if source.name == "encyclopedia-9"}
    assert divided == {TRAINING, DEVELOPMENT}
    desks = [source.name for _, source in found if source.group == DESK]
    assert len(desks) == len(set(desks)) == 6


ANSWER = {"kind": "number", "answer": "60 degrees", "evidence": "The water has 60 degrees", "why": None}


def section(number: int) -> dict[str, str]:
    return {"heading": f"Part {number}", "text": f"This is part {number}. The water has 60 degrees at most."}

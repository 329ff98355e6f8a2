"""The questions of ``asked``: each source is a pack of just the pages, or of just the files, that are asked about.

They are judged as the collection's own tool judges what a person reads: the short answer, or an answer that is short
enough to be read at a glance, states the gold one; an answer to a yes/no question begins with the right word, or
quotes most of the evidence.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from training.answers.questions import AskedQuestion, QuestionSource, build_folder
from training.sources.asked import (
    ASIDE,
    DESK,
    DEVELOPMENT,
    ENCYCLOPEDIA,
    MANUAL,
    TRAINING,
    YES_NO,
    part_of_article,
    source_names,
    split_sources,
)

GROUP = "asked"
# The sources that trained the reader, which is surer of them than of others.
READ_GROUP = "asked, read"
# Questions that are drawn of a source of each kind.
_MAX_QUESTIONS = {
    READ_GROUP: {MANUAL: 16, DESK: 10, ENCYCLOPEDIA: 80},
    GROUP: {MANUAL: 80, DESK: 40, ENCYCLOPEDIA: 160},
}

# What holds a list, steps or a reason may be as long as a paragraph; any other answer, as a sentence or two.
_LONG_KINDS = frozenset(("list", "steps", "howto", "why", "trouble", "difference", "definition"))
_LONG, _SHORT = 600, 240
# Of a list of at least four items, and of the words of the evidence for yes or no, the share that must be there.
_MOST_ITEMS, _FEW_ITEMS = 0.75, 4
_MOST_EVIDENCE = 0.6

_NUMBER_OF_SOURCE = re.compile(r"\[\d+\]")
_TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_LAYOUT = re.compile(r"[\s|*_`]+")
_WORD = re.compile(r"[^\W_]+")
# Lines of a section that would begin another one.
_HEADING = re.compile(r"^(?=\s{0,3}#{1,6}\s)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OwnQuestion(AskedQuestion):
    """A question of ``asked``. ``accepted`` are the items of the answer; ``evidence`` is the text that proves it."""

    kind: str = ""
    evidence: str = field(default="", repr=False)

    def is_right(self, text: str, short: str = "") -> bool:
        """Return whether the short answer states the answer, or a text that is not too long to see it there."""
        if not self.covered:
            return False
        if self.kind == YES_NO:
            first = next(iter(_words(text)), "")
            if first in ("yes", "no"):
                return first == self.accepted[0]
            return _share(text, self.evidence) >= _MOST_EVIDENCE
        if self._states(short):
            return True
        is_long = len(self.accepted) > 1 or self.kind in _LONG_KINDS
        longest = _LONG + sum(map(len, self.accepted)) if is_long else _SHORT
        return len(text) <= longest and self._states(text)

    def _states(self, text: str) -> bool:
        said = _plain(text)
        needed = len(self.accepted) * (1.0 if len(self.accepted) < _FEW_ITEMS else _MOST_ITEMS)
        return sum(_holds(said, item) for item in self.accepted) >= needed


def _plain(text: str) -> str:
    text = _NUMBER_OF_SOURCE.sub(" ", text).lower().translate(_TYPOGRAPHY)
    return _LAYOUT.sub(" ", text).strip(" .,;:!?'\"")


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _holds(said: str, item: str) -> bool:
    """Return whether ``item`` is in ``said``, a short one as whole words."""
    wanted = _plain(item)
    if len(wanted) <= 4 and wanted.isalnum():
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", said) is not None
    return bool(wanted) and wanted in said


def _share(text: str, evidence: str) -> float:
    """Return the share of the words of ``evidence`` that are in ``text``, each as often as it is there."""
    wanted = Counter(_words(evidence))
    return (wanted & Counter(_words(text))).total() / max(1, wanted.total())


def asked_sources(
    folder: Path, pages: Path, packages: Path, work: Path, seed: int, *, aside: bool
) -> Iterator[QuestionSource]:
    """Yield the sources of the collection ``folder``; of the shared ones, a third is put ``aside`` and not read.

    The pages of a manual are read from its Debian package, unpacked in a folder of its name below ``packages``; where
    it is missing, from the excerpts in ``pages``. Manuals without either are left out. Packs are built below ``work``.
    """
    documentation = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
    for kind, names in source_names(folder).items():
        parts = split_sources(names, seed, aside=aside)
        for name in names:
            if parts[name] == ASIDE:
                continue
            if kind == DESK:
                files = folder / "desk" / name
                rows = _rows(files / "questions.jsonl")
                build = partial(_desk_pack, files, work / f"desk-{name}")
            elif (pages / f"{name}.jsonl.xz").exists():
                rows = _rows(folder / "questions" / f"{name}.jsonl")
                asked_about = {row["page"] for row in rows}
                build = partial(_excerpt_pack, pages / f"{name}.jsonl.xz", asked_about, work / name)
                documents = _documents(packages, documentation.get(name))
                if documents is not None and all((documents / page).is_file() for page in asked_about):
                    build = partial(_page_pack, documents, asked_about, work / f"{name}-pages")
            else:
                sys.stderr.write(f"asked/{name} is left out: {pages} has no pages of it\n")
                continue
            if kind != ENCYCLOPEDIA:
                yield _source(name, kind, rows, build, seed, parts[name])
                continue
            for part in (TRAINING, DEVELOPMENT):
                own = [row for row in rows if part_of_article(row["page"], seed) == part]
                yield _source(f"{name}-{part}", kind, own, build, seed, part)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _source(
    name: str, kind: str, rows: list[dict[str, Any]], build: Callable[[], Path], seed: int, part: str
) -> QuestionSource:
    group = GROUP if part == DEVELOPMENT else READ_GROUP
    drawn = random.Random(f"{seed}:{name}").sample(rows, min(_MAX_QUESTIONS[group][kind], len(rows)))
    return QuestionSource(group, f"{kind}-{name}", build, tuple(map(_question, drawn)), has_near_misses=True)


def _question(row: dict[str, Any]) -> OwnQuestion:
    answer = row["answer"]
    items = () if answer is None else tuple(answer) if isinstance(answer, list) else (answer,)
    return OwnQuestion(row["question"], accepted=items, kind=row["kind"], evidence=row.get("evidence") or "")


def _desk_pack(files: Path, pack: Path) -> Path:
    copy = pack.with_name(f"{pack.name}-files")
    if not copy.exists():
        shutil.copytree(files, copy, ignore=shutil.ignore_patterns("questions.jsonl"))
    return build_folder(copy, pack)


def _documents(packages: Path, source: dict[str, str] | None) -> Path | None:
    """Return the folder of the documents of ``source`` if they are HTML pages."""
    if source is None or source.get("format", "html") != "html":
        return None
    return packages / source["package"] / source["folder"].lstrip("/")


def _page_pack(files: Path, asked_about: set[str], pack: Path) -> Path:
    copy = pack.with_name(f"{pack.name}-files")
    for page in sorted(asked_about):
        (copy / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(files / page, copy / page)
    return build_folder(copy, pack, "html")


def _excerpt_pack(pages: Path, asked_about: set[str], pack: Path) -> Path:
    lines = pack.with_suffix(".jsonl")
    if not lines.exists():
        lines.parent.mkdir(parents=True, exist_ok=True)
        # Of a long page, several excerpts are stored.
        excerpts: dict[str, list[dict[str, Any]]] = {}
        with lzma.open(pages, "rt", encoding="utf-8") as stored:
            for page in map(json.loads, stored):
                if page["page"] in asked_about:
                    excerpts.setdefault(page["page"], []).append(page)
        lines.write_text("".join(json.dumps(_record(found)) + "\n" for found in excerpts.values()), encoding="utf-8")
    return build_folder(lines, pack)


def _record(excerpts: list[dict[str, Any]]) -> dict[str, str]:
    parts = []
    for section in (section for page in excerpts for section in page["sections"]):
        *_, heading = section["heading"].split(" › ")
        text = _HEADING.sub("    ", section["text"])
        parts.append(f"## {heading}\n\n{text}" if heading else text)
    return {"id": excerpts[0]["page"], "title": excerpts[0]["title"], "text": "\n\n".join(parts)}

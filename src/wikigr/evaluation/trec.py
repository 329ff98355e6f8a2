"""TREC qrels and run files, for trec_eval, ir-measures and similar tools.

Columns are separated by white space, so white space, control characters and ``%`` in an id are percent-encoded as UTF-8
(``urllib.parse.unquote`` restores the id).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from wikigr.evaluation.metrics.answered import ARTICLES, PASSAGES, Granularity, gold_articles, gold_passages
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.run import StoredRun
from wikigr.files import write_atomic
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Candidate, Evidence, Section

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f\ufeff]")


TrecFiles = dict[str, Any]
"""``{qrels: path, runs: {profile: path}}``, with the profiles in the order of the run."""


def export_trec(stored: StoredRun, folder: Path) -> tuple[TrecFiles, TrecFiles | None]:
    """Write the TREC files of a run to ``folder`` and return them, by article and by passage.

    The files are ``qrels.txt`` and ``PROFILE.run`` per profile; those by passage are in the folder ``passages``, and
    None if no gold location has a source id. The score of a document is the best score of its sections among those
    that the samples store. Raises ``OSError``.
    """
    questions = stored.gold_questions()
    articles = _export(stored, folder, questions, ARTICLES)
    # Passages rank only for questions with gold passages, because tools count all questions of a run.
    named = [question for question in questions if gold_passages(question)]
    return articles, _export(stored, folder / "passages", named, PASSAGES) if named else None


def _export(stored: StoredRun, folder: Path, questions: Sequence[GoldQuestion], level: Granularity[str]) -> TrecFiles:
    folder.mkdir(parents=True, exist_ok=True)
    qrels, runs = folder / "qrels.txt", {name: folder / f"{name}.run" for name in stored.run.profiles}
    write_qrels(qrels, questions, level.relevant)
    asked = {question.id for question in questions}
    for profile, file in runs.items():
        rankings: dict[str, list[tuple[str, float]]] = {}
        for sample in stored.samples_of(profile):
            if sample.repeat == 0 and sample.error is None and sample.question_id in asked:
                # Of the sections of a document, the first and best one counts; `write_run` leaves out the others.
                rankings[sample.question_id] = [
                    (document, float(entry["score"]))
                    for entry in sample.ranking
                    for document in level.ranked([_without_text(str(entry["section_id"]), str(entry["source_id"]))])
                ]
        write_run(file, rankings, profile)
    return {"qrels": str(qrels), "runs": {name: str(file) for name, file in runs.items()}}


def _without_text(id_: str, source_id: str) -> Evidence:
    return Evidence(Section(id_, article_title(id_), "", "", source_id, 0), Candidate(id_, 0.0))


def write_qrels(
    path: Path, questions: Iterable[GoldQuestion], relevant: Callable[[GoldQuestion], Set[str]] = gold_articles
) -> None:
    """Write ``qid 0 docid 1`` for every ``relevant`` document of every question to ``path``, atomically.

    The docids are sorted: folded titles with ``gold_articles``, source ids with ``gold_passages``. Unanswerable
    questions have no relevant documents and are left out, as in the metrics. Raises ``OSError``.
    """
    pairs = ((question.id, docid) for question in questions for docid in sorted(relevant(question)))
    write_atomic(path, "".join(f"{_encoded(qid)} 0 {_encoded(docid)} 1\n" for qid, docid in pairs))


def write_run(path: Path, rankings: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> None:
    """Write ``qid Q0 docid rank score tag`` for ``rankings`` (docids with scores, best first) to ``path``, atomically.

    Repeated docids are left out. Readers sort by the 32-bit score only and break ties differently, so a score that is
    not below the previous one is replaced by the next lower number. Raises ``ValueError`` for a score that is not
    finite and for an empty id or tag, and ``OSError``.
    """
    name = _encoded(tag)
    lines = [
        f"{_encoded(qid)} Q0 {_encoded(docid)} {rank} {score:.9g} {name}\n"
        for qid, ranking in rankings.items()
        for rank, (docid, score) in enumerate(_strictly_falling(ranking), start=1)
    ]
    write_atomic(path, "".join(lines))


def _strictly_falling(ranking: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    seen: set[str] = set()
    highest = np.float32(np.finfo(np.float32).max)
    for docid, score in ranking:
        if docid in seen:
            continue
        seen.add(docid)
        if not math.isfinite(score) or abs(score) > float(np.finfo(np.float32).max):
            raise ValueError(f"the score of {docid!r} is {score}, which a run file cannot hold")
        written = min(np.float32(score), highest)
        highest = np.nextafter(written, np.float32(-np.inf))
        yield docid, float(written)


def _encoded(name: str) -> str:
    if not name:
        raise ValueError("a TREC file cannot hold an empty id or tag")
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), name)

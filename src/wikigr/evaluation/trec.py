"""Gold and rankings as files for trec_eval, ir-measures and their kind.

Columns are parted by white space, so that white space, control characters and ``%`` in an id are percent-encoded as
UTF-8 (``urllib.parse.unquote`` gives the id back); all else stays readable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from wikigr.atomic import write_atomic
from wikigr.evaluation.metrics import relevant_articles
from wikigr.evaluation.questions import GoldQuestion

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f\ufeff]")


def write_qrels(path: Path, questions: Iterable[GoldQuestion]) -> None:
    """Write ``qid 0 docid 1`` for every gold article of every answerable question, in place of ``path``.

    The docids are those of ``metrics.relevant_articles``, in sorted order; ``metrics.ranked_articles`` gives the same
    for a run. Unanswerable questions have no relevant article and are left out, as our own figures leave them out.
    Raises ``OSError`` when the file cannot be written; what was there is then kept.
    """
    write_atomic(
        path,
        "".join(
            f"{_encoded(question.id)} 0 {_encoded(docid)} 1\n"
            for question in questions
            if question.answerable
            for docid in sorted(relevant_articles(question))
        ),
    )


def write_run(path: Path, rankings: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> None:
    """Write ``qid Q0 docid rank score tag`` for ``rankings`` (docids with scores, best first), in place of ``path``.

    A docid that occurs again is left out. Readers go by the score alone, in 32 bits, and break ties in their own way:
    a score that is not below the one before it is written as the next lower number, so that they see our order.
    Raises ``ValueError`` for a score that is not finite and for an empty id or tag, and ``OSError`` as ``write_qrels``.
    """
    name = _encoded(tag)
    write_atomic(
        path,
        "".join(
            f"{_encoded(qid)} Q0 {_encoded(docid)} {rank} {score:.9g} {name}\n"
            for qid, ranking in rankings.items()
            for rank, (docid, score) in enumerate(_strictly_falling(ranking), start=1)
        ),
    )


def _strictly_falling(ranking: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    seen: set[str] = set()
    highest = np.float32(np.finfo(np.float32).max)
    for docid, score in ranking:
        if docid in seen:
            continue
        seen.add(docid)
        if not math.isfinite(score) or abs(score) > float(np.finfo(np.float32).max):
            raise ValueError(f"the score of {docid!r} is {score}, which no run file can hold")
        written = min(np.float32(score), highest)
        highest = np.nextafter(written, np.float32(-np.inf))
        yield docid, float(written)


def _encoded(name: str) -> str:
    if not name:
        raise ValueError("a TREC file has no place for an empty id or tag")
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), name)

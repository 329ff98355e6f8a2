"""What the list of the results of a search shows, and the titles and questions that a box offers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wikigr.documents.blocks import Mark, text_runs
from wikigr.errors import UsageError
from wikigr.evaluation.questions import load_questions, question_file
from wikigr.graph.graph_index import GraphIndex
from wikigr.graph.schema import article_title
from wikigr.index.candidate import Evidence
from wikigr.index.snippets import QueryTerms, make_snippet
from wikigr.names import name_key
from wikigr.pack.open import Corpus, Pack
from wikigr.question.question import content_stems, query_terms
from wikigr.server.web.addresses import NOWHERE, Back, article_address, outside_address
from wikigr.server.web.article_page import ranks_of

if TYPE_CHECKING:
    from wikigr.documents.shapes import RunShape

_SNIPPET_LENGTH = 260
_MAX_PACKS = 8
# Titles that a box offers, and the words before the cursor that may begin one.
_MAX_TITLES = 7
_MAX_TITLE_WORDS = 6
_MIN_TITLE_CHARS = 2
# Titles that are compared by PageRank.
_MAX_COMPARED = 500
_MAX_EXAMPLES = 4
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A section that was found, with the part of its text that matches best; ``n`` counts from 1.

    ``outside`` is the place of the section on the web, if it is known, and else ``file`` its source file.
    """

    n: int
    pack: str
    title: str
    heading: str
    snippet: tuple[RunShape, ...]
    href: str
    outside: str | None
    file: str | None


def result_rows(
    pack: Corpus, question: str, found: Iterable[Evidence], back: Back = NOWHERE, first: int = 1
) -> tuple[ResultRow, ...]:
    """Return the sections ``found`` in ``pack`` for a question; their numbers begin with ``first``."""
    terms = query_terms(question, pack.lexical)
    return tuple(_row(pack, n, item, terms, back) for n, item in enumerate(found, start=first))


def _row(pack: Corpus, n: int, item: Evidence, terms: QueryTerms, back: Back) -> ResultRow:
    section = item.section
    member, section_id = pack.origin(section.section_id)
    title = article_title(section_id)
    snippet = make_snippet(section.content, terms, _SNIPPET_LENGTH)
    outside = outside_address(item.url)
    return ResultRow(
        n=n,
        pack=member.label,
        title=title,
        heading=section.heading,
        snippet=tuple(
            text_runs(snippet.text, 0, len(snippet.text), [Mark(*span, "match") for span in snippet.matches])
        ),
        href=article_address(member.label, title, section_id, back),
        outside=outside,
        file=section.source_id if outside is None else None,
    )


@dataclass(frozen=True, slots=True)
class Completion:
    """Titles that may be meant by the ``ending`` of a text, the most likely one first."""

    ending: str
    titles: tuple[str, ...]


def complete_title(packs: Sequence[Pack], text: str) -> Completion:
    """Return the titles of ``packs`` in which the last words of ``text`` begin a word.

    Of the last words, as many count as a title has. A single one counts unless it is too common to name anything.
    """
    words = [word.start() for word in _WORD.finditer(text)][-_MAX_TITLE_WORDS:]
    for start in words:
        tail = text[start:]
        if start and len(tail.split()) == 1 and not content_stems(tail):
            break
        titles = find_titles(packs, tail)
        if titles:
            return Completion(tail, titles)
    return Completion("", ())


def find_titles(packs: Sequence[Pack], name: str) -> tuple[str, ...]:
    """Return titles in which ``name`` begins a word, whatever its case and accents.

    Those that begin with it come first, then those with the highest PageRank.
    """
    key = name_key(name)
    if len(key) < _MIN_TITLE_CHARS:
        return ()
    found: list[tuple[bool, float, str]] = []
    for pack in packs:
        index, ranks = pack.graph_index, ranks_of(pack)
        keys, ends = _title_keys(index)
        for match in islice(re.finditer(rf"(?:^| ){re.escape(key)}", keys, re.MULTILINE), _MAX_COMPARED):
            title = index.node(bisect_left(ends, match.end())).key
            found.append((match[0].startswith(" "), *ranks.order(title)))
    return tuple(dict.fromkeys(title for *_, title in sorted(found)))[:_MAX_TITLES]


@lru_cache(maxsize=_MAX_PACKS)
def _title_keys(index: GraphIndex) -> tuple[str, list[int]]:
    """Return the keys of all titles (``name_key``), one a line, and where each ends."""
    keys = [name_key(index.node(number).key) for number in range(index.articles)]
    ends = accumulate((len(key) + 1 for key in keys), initial=-1)
    return "\n".join(keys), list(ends)[1:]


def example_questions(pack: Pack) -> tuple[str, ...]:
    """Return a few of the gold questions of a pack, if it has any: the shortest of each type, then the shortest."""
    try:
        file = question_file(pack.layout.root)
        return _examples(file, file.stat().st_mtime_ns)
    except (UsageError, OSError):
        # The pack answers without them, too.
        return ()


@lru_cache(maxsize=_MAX_PACKS)
def _examples(file: Path, changed: int) -> tuple[str, ...]:
    questions = [question for question in load_questions(file, problems=[]) if question.answerable]
    questions.sort(key=lambda question: (len(question.question), question.id))
    shortest = {question.type: question for question in reversed(questions)}
    order = dict.fromkeys(question.question for question in (*shortest.values(), *questions))
    return tuple(sorted(list(order)[:_MAX_EXAMPLES], key=len))


def most_linked(pack: Pack, count: int) -> tuple[str, ...]:
    """Return the titles of the ``count`` articles with the highest PageRank, without ranks those with most links."""
    ranked = ranks_of(pack).first(count)
    if ranked:
        return ranked
    index = pack.graph_index
    order = np.argsort(-np.diff(index.indptr[: index.articles + 1]), kind="stable")
    return tuple(index.node(int(number)).key for number in order[:count])

"""Hyperlinks and redirects resolved to articles, and mentions of other articles' names found in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wikigr.build.progress import Progress
from wikigr.build.staging import Staging
from wikigr.text import words

# Redirects may point to redirects; MediaWiki itself follows one step, exports hold chains of a few.
MAX_REDIRECT_STEPS = 5

# A name of fewer letters is matched only as written ("Go" the game, not every "go").
MIN_NAME_CHARS = 3

_PARENTHESIS = re.compile(r"\s+\([^()]*\)$")

# English function words: a name made of these alone ("It", "The Who") is matched only as written.
FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before but by can could did do does for from had has have
    he her here him his how i if in into is it its just like may me might more most must my no not now of on one
    only or other our out over she should so some such than that the their them then there these they this those
    to too two under until up upon us was we were what when where which while who whom whose why will with would
    you your""".split()
)


def link_all(staging: Staging, progress: Progress, *, by_id: bool) -> int:
    """Resolve names and links and find mentions, once; returns how many hyperlinks lead nowhere.

    ``by_id`` says that a hyperlink may name a record's id, as paths do; in MediaWiki a number is a title.
    """
    lost = staging.meta("lost_links")
    if lost is None:
        resolve_names(staging)
        lost = str(resolve_links(staging, by_id=by_id))
        find_mentions(staging, progress)
        with staging.transaction():
            staging.set_meta("lost_links", lost)
    return int(lost)


def resolve_names(staging: Staging) -> None:
    """Fill ``name``: every title (rank 0) and every alias (rank 1) that leads to an article.

    An alias equal to a title is dropped; the first of several articles that claim one alias (by title) has it.
    """
    with staging.transaction():
        staging.write("INSERT OR IGNORE INTO name SELECT title_fold, title, id, 0 FROM article ORDER BY title", [()])
        for table in ("alias", *("redirect",) * MAX_REDIRECT_STEPS):
            staging.write(
                f"INSERT OR IGNORE INTO name SELECT r.alias_fold, r.alias, n.article, 1 FROM {table} r "
                "JOIN name n ON n.fold = r.target_fold JOIN article a ON a.id = n.article "
                "WHERE r.alias_fold != '' ORDER BY a.title, r.alias",
                [()],
            )


# The article that a raw link leads to: of that very title, else of that name, else of the record with that id.
_TARGETS = (
    "SELECT l.article AS source, coalesce(t.id, n.article, i.id) AS target FROM raw_link l "
    "LEFT JOIN article t ON t.title = l.target LEFT JOIN name n ON n.fold = l.target_fold "
    "LEFT JOIN record r ON :by_id AND r.source_id = l.target LEFT JOIN article i ON i.title = r.title"
)


def resolve_links(staging: Staging, *, by_id: bool) -> int:
    """Fill ``link`` from the raw targets; returns how many lead nowhere.

    A link of an article to itself is dropped and not counted.
    """
    with staging.transaction():
        staging.write(
            f"INSERT OR IGNORE INTO link SELECT source, target FROM ({_TARGETS}) "
            "WHERE target IS NOT NULL AND target != source",
            [{"by_id": by_id}],
        )
    lost = staging.rows(f"SELECT count(*) FROM ({_TARGETS}) WHERE target IS NULL", {"by_id": by_id})
    return int(next(lost)[0])


def find_mentions(staging: Staging, progress: Progress) -> None:
    """Fill ``mention`` by matching every name against every article's text."""
    matcher = NameMatcher(staging.rows("SELECT name, article FROM name ORDER BY fold"))
    progress.start("linking", staging.count("article"), "articles")
    with staging.transaction():
        for number, content in staging.rows("SELECT id, content FROM article ORDER BY id"):
            found = {target for _, _, target in matcher.find(content)} - {number}
            staging.write("INSERT OR IGNORE INTO mention VALUES (?, ?)", [(number, t) for t in sorted(found)])
            progress.advance(1)


class NameMatcher:
    """Finds names in running text: longest match first, at word boundaries.

    A name of several words matches in any case. A single word matches as written or with its first letter in
    lower case. Names of function words, digits or fewer than three letters match only as written. A
    qualifier in parentheses ("Mercury (planet)") is no part of what a text would say: the bare name is
    matched too, unless it is another article's name.
    """

    def __init__(self, names: Iterator[tuple[Any, ...]] | list[tuple[str, int]]) -> None:
        import ahocorasick

        self._automaton = ahocorasick.Automaton()
        bare: dict[str, set[int]] = {}
        bare_spelling: dict[str, str] = {}
        count = 0
        for name, article in names:
            self._add(name, article)
            count += 1
            short = _PARENTHESIS.sub("", name)
            if short and short != name:
                bare.setdefault(_lower(short), set()).add(article)
                bare_spelling.setdefault(_lower(short), short)
        for key, articles in bare.items():
            if len(articles) == 1 and key not in self._automaton:
                self._add(bare_spelling[key], next(iter(articles)))
        self._usable = count > 0
        if self._usable:
            self._automaton.make_automaton()

    def _add(self, name: str, article: int) -> None:
        key = _lower(name)
        if not any(c.isalnum() for c in key):
            return
        tokens = words(name)
        exact = (
            len(key) < MIN_NAME_CHARS or all(t in FUNCTION_WORDS for t in tokens) or not any(c.isalpha() for c in key)
        )
        if not self._automaton.exists(key):
            self._automaton.add_word(key, (name, article, exact, len(tokens) > 1))

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return ``(start, end, article)`` of the names in ``text``, left to right, without overlaps."""
        if not self._usable:
            return []
        hits: list[tuple[int, int, int]] = []
        for last, (name, article, exact, several) in self._automaton.iter(_lower(text)):
            end = last + 1
            start = end - len(name)
            if (start and _joins(text[start - 1], text[start])) or (
                end < len(text) and _joins(text[end], text[end - 1])
            ):
                continue
            written = text[start:end]
            if written != name:
                if exact:
                    continue
                if not several and not (written[1:] == name[1:] and written[0] == name[0].lower()):
                    continue
            hits.append((start, end, article))
        hits.sort(key=lambda hit: (hit[0], -hit[1]))
        chosen: list[tuple[int, int, int]] = []
        for hit in hits:
            if not chosen or hit[0] >= chosen[-1][1]:
                chosen.append(hit)
        return chosen


def _lower(text: str) -> str:
    """Lower-case without changing the length, so that offsets stay true."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _joins(outside: str, inside: str) -> bool:
    return (outside.isalnum() or outside == "_") and (inside.isalnum() or inside == "_")


def aliases_of(staging: Staging, article: int) -> list[str]:
    """Return the aliases of one article, in order."""
    query = "SELECT name FROM name WHERE article = ? AND rank = 1 ORDER BY fold"
    return [str(name) for (name,) in staging.rows(query, (article,))]

"""Hyperlinks and redirects resolved to articles, and mentions of other articles' names found in the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wikigr.build.progress import Progress
from wikigr.build.reading import MAX_TITLE_CHARS
from wikigr.build.staging import Staging
from wikigr.names import FUNCTION_WORDS, bare_name, is_part_of_name
from wikigr.text import words

# Redirects may point to redirects; MediaWiki itself follows one step, exports hold chains of a few.
MAX_REDIRECT_STEPS = 5

# A name of fewer letters is matched only as written ("Go" the game, not every "go").
MIN_NAME_CHARS = 3


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

    An alias equal to a title is dropped, and so is one that is longer than a title may be: the matcher of names ends
    the process on one of a million characters (pyahocorasick 2.3). The first of several articles that claim one alias
    (by title) has it.
    """
    with staging.transaction():
        staging.write("INSERT OR IGNORE INTO name SELECT title_fold, title, id, 0 FROM article ORDER BY title", [()])
        for table in ("alias", *("redirect",) * MAX_REDIRECT_STEPS):
            staging.write(
                f"INSERT OR IGNORE INTO name SELECT r.alias_fold, r.alias, n.article, 1 FROM {table} r "
                "JOIN name n ON n.fold = r.target_fold JOIN article a ON a.id = n.article "
                "WHERE r.alias_fold != '' AND length(r.alias) <= ? ORDER BY a.title, r.alias",
                [(MAX_TITLE_CHARS,)],
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


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write an article's name; ``qualifiers`` are the words of the title that it leaves out."""

    written: str
    article: int
    qualifiers: frozenset[str]
    only_as_written: bool


class NameMatcher:
    """Finds names in running text: longest match first, at word boundaries.

    A name matches as it is written, or with its first letter in lower case ("wave function"): "band" is not the album
    "Band on the Run", and "WHO" is not "who". Names of function words, digits or fewer than three letters match only
    as written, and a single word does not match inside a longer name that the text spells ("United" in "United
    States").

    A title's qualifier, "(planet)" or ", New York", is no part of what a text would say: the bare name is matched too,
    as written. Where a name may be several articles, the text decides: the ones stay whose qualifiers it holds.
    """

    def __init__(self, names: Iterable[tuple[Any, ...]]) -> None:
        import ahocorasick

        self._automaton = ahocorasick.Automaton()
        count = 0
        for name, article in names:
            count += self._add(name, article, frozenset())
            bare = bare_name(name)
            if bare != name:
                self._add(bare, article, frozenset(words(name)) - frozenset(words(bare)) - FUNCTION_WORDS)
        self._usable = count > 0
        if self._usable:
            self._automaton.make_automaton()

    def _add(self, name: str, article: int, qualifiers: frozenset[str]) -> bool:
        key = _lower(name)
        if not any(c.isalnum() for c in key):
            return False
        only_as_written = (
            bool(qualifiers)
            or len(key) < MIN_NAME_CHARS
            or all(word in FUNCTION_WORDS for word in words(name))
            or not any(c.isalpha() for c in key)
        )
        form = _Form(name, article, qualifiers, only_as_written)
        if key in self._automaton:
            self._automaton.get(key).append(form)
        else:
            self._automaton.add_word(key, [form])
        return True

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Return ``(start, end, article)`` of the names in ``text``, left to right, without overlaps.

        A name that may be several articles is there once for each of those that fit best.
        """
        if not self._usable:
            return []
        hits: list[tuple[int, int, list[_Form]]] = []
        for last, forms in self._automaton.iter(_lower(text)):
            end = last + 1
            start = end - len(forms[0].written)
            if (start and _joins(text[start - 1], text[start])) or (
                end < len(text) and _joins(text[end], text[end - 1])
            ):
                continue
            written = text[start:end]
            fitting = [form for form in forms if _is_written(form, written)]
            if fitting and not (" " not in written and is_part_of_name(text, start, end)):
                hits.append((start, end, fitting))
        hits.sort(key=lambda hit: (hit[0], -hit[1]))
        known: frozenset[str] | None = None
        chosen: list[tuple[int, int, int]] = []
        free = 0
        for start, end, forms in hits:
            if start < free:
                continue
            free = end
            if len(forms) > 1:
                known = known or frozenset(words(text))
                forms = _fitting_best(forms, known)
            chosen += [(start, end, form.article) for form in forms]
        return chosen


def _is_written(form: _Form, written: str) -> bool:
    if written == form.written:
        return True
    return not form.only_as_written and written[1:] == form.written[1:] and written[0] == form.written[0].lower()


# A form without a qualifier is as likely as one of whose qualifiers the text holds half.
_UNQUALIFIED = 0.5


def _fitting_best(forms: list[_Form], known: frozenset[str]) -> list[_Form]:
    shares = [
        len(form.qualifiers & known) / len(form.qualifiers) if form.qualifiers else _UNQUALIFIED for form in forms
    ]
    best = max(shares)
    return [form for form, share in zip(forms, shares, strict=True) if share == best and best > 0]


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

"""Hyperlinks and redirects resolved to articles, and mentions of other articles' names found in the text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wikigr.ingest.reading import MAX_TITLE_CHARS
from wikigr.ingest.staging import Staging
from wikigr.names import bare_name, is_part_of_name, is_unspaced, may_be_plain_word, within_word
from wikigr.progress import Progress
from wikigr.stop_words import FUNCTION_WORDS
from wikigr.text import words

# Redirects may point to redirects; MediaWiki itself follows one step, exports hold chains of a few.
MAX_REDIRECT_STEPS = 5

# "I" is always a capital, and "A" mostly a sentence's first word: neither is seen to be a name.
_NEVER_NAMES = frozenset("AI")

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
        resolve_objects(staging, by_id=by_id)
        find_mentions(staging, progress)
        with staging.transaction():
            staging.set_meta("lost_links", lost)
    return int(lost)


_BY_NAME = "(SELECT n.article FROM name n WHERE n.name = {0})"
_BY_FOLD = "(SELECT n.article FROM name n WHERE n.fold = {0} ORDER BY n.rank, n.name LIMIT 1)"
_BY_ID = "(SELECT i.id FROM record d JOIN article i ON i.title = d.title WHERE :by_id AND d.source_id = {0})"

# A target that is a redirect is followed as such, if need be in a later step, and not to what is spelled nearly alike.
_ADD_ALIASES = (
    "INSERT OR IGNORE INTO name SELECT r.alias, r.alias_fold, a.id, 1 FROM {{table}} r JOIN article a ON a.id = "
    "coalesce({by_name}, CASE WHEN NOT EXISTS (SELECT 1 FROM redirect e WHERE e.alias = r.target) THEN {by_fold} END) "
    "WHERE r.alias_fold != '' AND length(r.alias) <= ? ORDER BY a.title, r.alias"
).format(by_name=_BY_NAME.format("r.target"), by_fold=_BY_FOLD.format("r.target_fold"))


def resolve_names(staging: Staging) -> None:
    """Fill ``name``: every title (rank 0) and every alias (rank 1) that leads to an article.

    An alias that is spelled as a title is dropped, and so is one that is longer than a title may be: the matcher of
    names ends the process on one of a million characters (pyahocorasick 2.3). The first of several articles that claim one
    spelling (by title) has it. An alias that says nothing new, as its own article has a name with the same fold,
    serves links only (rank 2).
    """
    with staging.transaction():
        # A build that was killed after this step comes here again.
        staging.write("DELETE FROM name", [()])
        staging.write("INSERT INTO name SELECT title, title_fold, id, 0 FROM article ORDER BY title", [()])
        for table in ("alias", *("redirect",) * MAX_REDIRECT_STEPS):
            staging.write(_ADD_ALIASES.format(table=table), [(MAX_TITLE_CHARS,)])
        staging.write(
            "UPDATE name SET rank = 2 WHERE rank = 1 AND EXISTS (SELECT 1 FROM name o WHERE o.article = name.article "
            "AND o.fold = name.fold AND (o.rank, o.name) < (name.rank, name.name))",
            [()],
        )


def _article_of(target: str, folded: str) -> str:
    """Return SQL for the article that a target leads to, or NULL: by its exact name, its id, or its folded name."""
    return f"coalesce({_BY_NAME.format(target)}, {_BY_ID.format(target)}, {_BY_FOLD.format(folded)})"


_TARGETS = f"SELECT l.article AS source, {_article_of('l.target', 'l.target_fold')} AS target FROM raw_link l"


def resolve_links(staging: Staging, *, by_id: bool) -> int:
    """Fill ``link`` from the raw targets; returns how many lead nowhere.

    A link leads to the article that has the target as its title or alias; else, with ``by_id``, as a record's id; else
    to the title, and then the alias, that differs from it in case or the like. A link of an article to itself is
    dropped and not counted.
    """
    with staging.transaction():
        staging.write(
            f"INSERT OR IGNORE INTO link SELECT source, target FROM ({_TARGETS}) "
            "WHERE target IS NOT NULL AND target != source",
            [{"by_id": by_id}],
        )
    lost = staging.rows(f"SELECT count(*) FROM ({_TARGETS}) WHERE target IS NULL", {"by_id": by_id})
    return int(next(lost)[0])


def resolve_objects(staging: Staging, *, by_id: bool) -> None:
    """Fill the ``target`` of triples whose object is a link, as for other links, and the name of what has no article.

    Where links are titles the target names it, however the link is labeled. A path names nothing: there it is called
    as it is shown.
    """
    with staging.transaction():
        staging.write(
            f"UPDATE triple SET target = {_article_of('object_link', 'wikigr_fold(object_link)')}, "
            "object_name = CASE WHEN :by_id THEN object ELSE object_link END WHERE object_link IS NOT NULL",
            [{"by_id": by_id}],
        )


def find_mentions(staging: Staging, progress: Progress) -> None:
    """Fill ``mention`` by matching every name against every article's text."""
    matcher = NameMatcher(staging.rows("SELECT name, article FROM name WHERE rank < 2 ORDER BY fold, name"))
    progress.start("linking", staging.count("article"), "articles")
    with staging.transaction():
        for number, content in staging.rows("SELECT id, content FROM article ORDER BY id"):
            found = {target for _, _, target in matcher.find(content)} - {number}
            staging.write("INSERT OR IGNORE INTO mention VALUES (?, ?)", [(number, t) for t in sorted(found)])
            progress.advance(1)


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to write an article's name; ``qualifiers`` are the words of the title that it leaves out.

    A ``weak`` one may be a plain word with the capital of its place.
    """

    written: str
    article: int
    qualifiers: frozenset[str]
    only_as_written: bool
    weak: bool


class NameMatcher:
    """Finds names in running text: longest match first, at word boundaries.

    A name matches as it is written, or with its first letter in lower case ("wave function"): "band" is not the album
    "Band on the Run", and "WHO" is not "who". Names of function words, digits or fewer than three letters match only
    as written, and a single word does not match inside a longer name that the text spells ("United" in "United
    States"). A name of function words or of one letter does not match where its capital may be that of its place, as
    of a sentence's first word; "I", "A" and function words in small letters match nowhere. Scripts without spaces need
    no word boundaries, but names of one such character are left out. Composed and decomposed letters are the same.

    A title's qualifier, "(planet)" or ", New York", is no part of what a text would say: the bare name is matched too,
    as written. Where a name may be several articles, the text decides: the ones stay whose qualifiers it holds.
    """

    def __init__(self, names: Iterable[tuple[Any, ...]]) -> None:
        import ahocorasick

        self._automaton = ahocorasick.Automaton()
        count = 0
        for written, article in names:
            name = unicodedata.normalize("NFC", written)
            count += self._add(name, article, frozenset())
            bare = bare_name(name)
            if bare != name:
                self._add(bare, article, frozenset(words(name)) - frozenset(words(bare)) - FUNCTION_WORDS)
        self._usable = count > 0
        if self._usable:
            self._automaton.make_automaton()

    def _add(self, name: str, article: int, qualifiers: frozenset[str]) -> bool:
        key = _lower(name)
        of_function_words = all(word in FUNCTION_WORDS for word in words(name))
        if (
            not any(c.isalnum() for c in key)
            or name in _NEVER_NAMES
            or (of_function_words and name.islower())
            or (len(name) == 1 and is_unspaced(name))
        ):
            return False
        is_weak = of_function_words or len(name) == 1
        only_as_written = bool(qualifiers) or len(key) < MIN_NAME_CHARS or is_weak or not any(c.isalpha() for c in key)
        # "IT" and "The Who" have capitals that are not those of a sentence.
        form = _Form(name, article, qualifiers, only_as_written, is_weak and not any(c.isupper() for c in name[1:]))
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
        text, places = _composed(text)
        hits: list[tuple[int, int, list[_Form]]] = []
        for last, forms in self._automaton.iter(_lower(text)):
            end = last + 1
            start = end - len(forms[0].written)
            if within_word(text, start) or within_word(text, end):
                continue
            written = text[start:end]
            fitting = [form for form in forms if _is_written(form, written)]
            if any(form.weak for form in fitting) and may_be_plain_word(text, start, end):
                fitting = [form for form in fitting if not form.weak]
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
            chosen += [(places[start], places[end], form.article) for form in forms]
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


# Marks on one letter; what goes on beyond is no text, and would be composed anew with every mark.
_MAX_CLUSTER_LENGTH = 32


def _composed(text: str) -> tuple[str, Sequence[int]]:
    """Return ``text`` in NFC, and where in ``text`` each of its characters, and its end, were."""
    if unicodedata.is_normalized("NFC", text):
        return text, range(len(text) + 1)
    parts: list[str] = []
    begins: list[int] = []
    for place, character in enumerate(text):
        single = unicodedata.normalize("NFC", character)
        open_still = bool(parts) and len(parts[-1]) < _MAX_CLUSTER_LENGTH
        joined = unicodedata.normalize("NFC", parts[-1] + character) if open_still else single
        if open_still and (unicodedata.combining(character) or joined != parts[-1] + single):
            parts[-1] = joined
        else:
            parts.append(single)
            begins.append(place)
    places = [begin for part, begin in zip(parts, begins, strict=True) for _ in part]
    return "".join(parts), [*places, len(text)]


def aliases_of(staging: Staging, article: int) -> list[str]:
    """Return the aliases of one article, in order."""
    query = "SELECT name FROM name WHERE article = ? AND rank = 1 ORDER BY fold, name"
    return [str(name) for (name,) in staging.rows(query, (article,))]

"""Third stage: resolve redirects, aliases and hyperlinks to articles, and find mentions of articles in the text."""

from __future__ import annotations

from wikigr.ingest.engines.engine import Engine
from wikigr.ingest.mentions import NameMatcher
from wikigr.ingest.parsing import MAX_TITLE_CHARS
from wikigr.ingest.staging import Staging
from wikigr.progress import Progress


def link_all(staging: Staging, progress: Progress, engine: Engine, *, by_id: bool) -> int:
    """Resolve names and links and find mentions; return the number of hyperlinks without a target in the pack.

    ``by_id`` allows a hyperlink to name a record's id, as paths do. In MediaWiki, a number is a title.
    """
    resolve_names(staging)
    lost = resolve_links(staging, by_id=by_id)
    resolve_objects(staging, by_id=by_id)
    find_mentions(staging, progress, engine)
    return lost


_BY_NAME = "(SELECT n.article FROM name n WHERE n.name = {0})"
_BY_FOLD = "(SELECT n.article FROM name n WHERE n.fold = {0} ORDER BY n.rank, n.name LIMIT 1)"
_BY_ID = "(SELECT i.id FROM record d JOIN article i ON i.title = d.title WHERE :by_id AND d.source_id = {0})"

# If a target is itself a redirect, a later step resolves it. It must not match an article that is merely spelled alike.
_ADD_ALIASES = (
    "INSERT OR IGNORE INTO name SELECT r.alias, r.alias_fold, a.id, 1 FROM {{table}} r JOIN article a ON a.id = "
    "coalesce({by_name}, CASE WHEN NOT EXISTS (SELECT 1 FROM redirect e WHERE e.alias = r.target) THEN {by_fold} END) "
    "WHERE r.alias_fold != '' AND length(r.alias) <= ? ORDER BY a.title, r.alias"
).format(by_name=_BY_NAME.format("r.target"), by_fold=_BY_FOLD.format("r.target_fold"))


def resolve_names(staging: Staging) -> None:
    """Fill ``name``: every title (rank 0) and every alias (rank 1) that leads to an article.

    An alias that equals a title is dropped, and so is one that exceeds the length limit of titles. If several articles
    claim one spelling, the first by title gets it. An alias whose fold equals that of another name of its article is
    used for links only (rank 2).
    """
    with staging.transaction():
        staging.write("INSERT INTO name SELECT title, title_fold, id, 0 FROM article ORDER BY title", [()])
        # Redirects may point to redirects. MediaWiki itself follows one step, but exports contain short chains.
        for table in ("alias", *("redirect",) * 5):
            staging.write(_ADD_ALIASES.format(table=table), [(MAX_TITLE_CHARS,)])
        staging.write(
            "UPDATE name SET rank = 2 WHERE rank = 1 AND EXISTS (SELECT 1 FROM name o WHERE o.article = name.article "
            "AND o.fold = name.fold AND (o.rank, o.name) < (name.rank, name.name))",
            [()],
        )


def _article_of(target: str, folded: str) -> str:
    """Return an SQL expression for the article of a target, or NULL: by its exact name, its id, or its folded name."""
    return f"coalesce({_BY_NAME.format(target)}, {_BY_ID.format(target)}, {_BY_FOLD.format(folded)})"


_TARGETS = f"SELECT l.article AS source, {_article_of('l.target', 'l.target_fold')} AS target FROM raw_link l"


def resolve_links(staging: Staging, *, by_id: bool) -> int:
    """Fill ``link`` from the raw targets; return the number of targets without an article.

    A target is matched against titles and aliases as written, then, with ``by_id``, against record ids, and then
    against folded titles and aliases. Links from an article to itself are dropped and not counted.
    """
    with staging.transaction():
        staging.write(
            f"INSERT OR IGNORE INTO link SELECT source, target FROM ({_TARGETS}) "
            "WHERE target IS NOT NULL AND target != source",
            [{"by_id": by_id}],
        )
    lost = staging.rows(f"SELECT count(*) FROM ({_TARGETS}) WHERE target IS NULL", {"by_id": by_id})
    return int(next(lost)[0])


def lost_links(staging: Staging, *, by_id: bool, limit: int) -> list[tuple[str, str]]:
    """Return the first ``limit`` hyperlinks that ``resolve_links`` dropped: the title of the article and the target."""
    found = staging.rows(
        f"SELECT a.title, l.target FROM raw_link l JOIN article a ON a.id = l.article "
        f"WHERE {_article_of('l.target', 'l.target_fold')} IS NULL ORDER BY l.rowid LIMIT :limit",
        {"by_id": by_id, "limit": limit},
    )
    return [(str(title), str(target)) for title, target in found]


def resolve_objects(staging: Staging, *, by_id: bool) -> None:
    """Resolve the linked objects of triples like other links, and set the names of those without an article.

    Where links are titles, the link's target is the name, whatever its label. A path is not a name, so the label is
    used.
    """
    with staging.transaction():
        staging.write(
            f"UPDATE triple SET target = {_article_of('object_link', 'wikigr_fold(object_link)')}, "
            "object_name = CASE WHEN :by_id THEN object ELSE object_link END WHERE object_link IS NOT NULL",
            [{"by_id": by_id}],
        )


def find_mentions(staging: Staging, progress: Progress, engine: Engine) -> None:
    """Fill ``mention`` by matching the names of all articles against every article's text."""
    matcher = NameMatcher(staging.rows("SELECT name, article FROM name WHERE rank < 2 ORDER BY fold, name"))
    progress.start("linking", staging.count("article"), "articles")
    with staging.transaction():
        articles = (
            (int(n), str(content)) for n, content in staging.rows("SELECT id, content FROM article ORDER BY id")
        )
        for number, found in engine.find_mentions(matcher, articles):
            staging.write("INSERT OR IGNORE INTO mention VALUES (?, ?)", [(number, target) for target in found])
            progress.advance(1)


def aliases_of(staging: Staging, article: int) -> list[str]:
    """Return the aliases of the article with the number ``article``, in order."""
    query = "SELECT name FROM name WHERE article = ? AND rank = 1 ORDER BY fold, name"
    return [str(name) for (name,) in staging.rows(query, (article,))]

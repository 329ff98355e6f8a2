"""Find the section or the article that a user names."""

from __future__ import annotations

from collections.abc import Callable

from wikigr.errors import UsageError
from wikigr.graph.neighborhood import Neighborhood
from wikigr.pack.open import Pack
from wikigr.retrieval.entity_linking import open_linker
from wikigr.retrieval.name_matching import find_exact_node, find_nodes
from wikigr.suggestions import nearest
from wikigr.text import fold

# Sections that an error message names.
_MAX_SECTIONS = 5


def find_target(pack: Pack, target: str, note: Callable[[str], None]) -> tuple[str, str | None]:
    """Return the title and, if ``target`` names a section, the section id.

    ``target`` is a section id (``Title#3``), a title with a heading (``Title#Heading``), or a title. Case and
    underscores do not matter. ``note`` is called as by ``find_article``. Raises ``UsageError`` with suggestions for
    what the pack does not contain.
    """
    if target in (found := pack.sections([target])):
        return found[target].title, target
    article, sign, part = target.rpartition("#")
    if not sign or not part or pack.find_title(target) is not None:
        return find_article(pack, target, note), None
    title = find_article(pack, article, note)
    return title, find_section(pack, title, f"{title}#{part}" if part.isdecimal() else part)


def find_article(pack: Pack, name: str, note: Callable[[str], None]) -> str:
    """Return the title of the article called ``name``; raises ``UsageError`` with suggestions if there is none.

    ``note`` is called with a message about a corrected or an ambiguous name.
    """
    title = pack.find_title(name)
    if title is not None:
        return title
    (node,) = find_nodes([name], open_linker(pack).matcher, Neighborhood(pack.graph), note)
    if node.kind != "article":
        raise UsageError(
            f"{node.label!r} is an entity, not an article.", hint="`wikigr graph neighbors` shows its edges."
        )
    return node.key


def is_named(pack: Pack, target: str) -> bool:
    """Return whether ``pack`` has the article, entity or article of a section ``target`` without a correction."""
    names = dict.fromkeys((target, target.rpartition("#")[0]))
    return any(
        pack.find_title(name) is not None
        or find_exact_node(name, open_linker(pack).matcher, Neighborhood(pack.graph)) is not None
        for name in names
        if name
    )


def find_section(pack: Pack, title: str, wanted: str) -> str:
    """Return the id of the section of ``title`` whose id or heading is ``wanted``; raises ``UsageError`` if none is."""
    query = (
        "MATCH (a:Article {title: $title})-[:HAS_SECTION]->(s:Section) "
        "RETURN s.section_id, coalesce(s.title, '') ORDER BY s.position, s.section_id"
    )
    sections = {str(id_): str(heading) for id_, heading in pack.graph.rows(query, {"title": title})}
    if wanted in sections:
        return wanted
    for id_, heading in sections.items():
        if fold(heading) == fold(wanted):
            return id_
    near = nearest(wanted, filter(None, sections.values()))
    shown = [
        f"{id_} ({heading})" if heading else id_ for id_, heading in sections.items() if heading in near or not near
    ]
    raise UsageError(
        f"The article {title!r} has no section {wanted!r}.",
        hint=f"It has {', '.join(shown[:_MAX_SECTIONS])}{', …' if len(shown) > _MAX_SECTIONS else ''}.",
    )

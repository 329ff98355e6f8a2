"""State the infoboxes of an HTML page as facts in its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wikigr.sources.article import SourceSection, Triple
from wikigr.sources.facts import Infobox, add_facts
from wikigr.sources.html.text import HtmlInfobox
from wikigr.sources.wikitext.infobox import is_fact, relation_name


def state_infoboxes(
    title: str,
    sections: Sequence[SourceSection],
    infoboxes: Iterable[HtmlInfobox],
    target_of: Callable[[str], str | None],
) -> tuple[tuple[SourceSection, ...], tuple[Triple, ...]]:
    """Return ``sections`` of the page ``title`` with the facts of its infoboxes, and the facts: see ``add_facts``.

    ``target_of`` returns the target of the link of a value, ``None`` for a link that leaves the source.
    """
    boxes = (
        Infobox(
            box.heading_path,
            tuple(
                Triple(title, relation, value, target_of(href) if href is not None else None)
                for field, value, href in box.rows
                if is_fact(relation := relation_name(field))
            ),
        )
        for box in infoboxes
    )
    return add_facts(sections, boxes)

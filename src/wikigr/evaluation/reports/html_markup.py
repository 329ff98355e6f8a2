"""Elements of HTML, in which only what was made here is markup and all else is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_VOID = frozenset({"input", "meta"})


class Html(str):
    """Markup that was made here. Any other string is text, and is escaped where it is put into markup."""

    __slots__ = ()


def el(name: str, /, *children: object, **attributes: str | int | bool) -> Html:
    """Return an element. Children that are not markup are escaped, ``None`` is left out; ``class_`` is ``class``."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not False and (key, value) != ("class_", "")
    )
    start = f"<{name}{written}>"
    return Html(start) if name in _VOID else Html(f"{start}{join_html(children)}</{name}>")


def join_html(children: Iterable[object]) -> Html:
    """Return the children one after the other: escaped where they are not markup, ``None`` left out."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(str(child), quote=False)
            for child in children
            if child is not None
        )
    )


def html_section(id_: str, title: str, *children: object) -> Html:
    """Return a section of the page with its heading."""
    return el("section", el("h2", title), *children, id=id_)


def html_table(head: Sequence[object], rows: Iterable[Html], class_: str = "") -> Html:
    """Return a table that can be scrolled sideways; of ``head`` what is not markup becomes a cell."""
    header = el("tr", *(cell if isinstance(cell, Html) else el("th", cell, scope="col") for cell in head))
    table = el("table", el("thead", header), el("tbody", *rows), class_=class_)
    return el("div", table, class_="scroll", tabindex="0")


def wrapping_name(name: object) -> Html:
    """Return a name that may be broken after its hyphens and underscores."""
    return Html(escape(str(name), quote=False).replace("-", "-<wbr>").replace("_", "_<wbr>"))


def description_list(pairs: Iterable[tuple[str, object]], class_: str) -> Html:
    """Return terms and what they are."""
    return el("dl", *(el("div", el("dt", key), el("dd", value)) for key, value in pairs), class_=class_)

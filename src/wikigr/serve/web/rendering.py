"""Fill in the templates. Every value is escaped, and no control character reaches a page."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wikigr.text import harmless


def render(template: str, **values: Any) -> str:
    """Return the page that the template makes of ``values``; a name without a value raises ``UndefinedError``."""
    return _environment().get_template(f"{template}.html.j2").render(values)


def _finalize(value: Any) -> Any:
    return harmless(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_finalize,
    )
    environment.filters |= {"host": _host, "moment": _moment}
    return environment


def _host(url: str) -> str:
    """Return the name of the server in a web address."""
    return urlsplit(url).hostname or url


def _moment(created: str) -> str:
    """Return a time in ISO 8601 to the minute, or a dash if there is none."""
    return created[:16].replace("T", " ") or "–"

"""Fill in the templates. Every value is escaped, and no control character reaches a page."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# Control characters except tab and newline, halves of surrogate pairs, and the characters that reverse the direction of
# the text after them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render(template: str, **values: Any) -> str:
    """Return the page that the template makes of ``values``; a name without a value raises ``UndefinedError``."""
    return _environment().get_template(f"{template}.html.j2").render(values)


def harmless(value: Any) -> Any:
    """Return text with ``�`` for each control character; other values as they are."""
    return _CONTROL.sub("�", value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=harmless,
    )
    environment.filters |= {"host": _host, "moment": _moment}
    return environment


def _host(url: str) -> str:
    """Return the name of the server in a web address."""
    return urlsplit(url).hostname or url


def _moment(created: str) -> str:
    """Return a time in ISO 8601 to the minute, or a dash if there is none."""
    return created[:16].replace("T", " ") or "–"

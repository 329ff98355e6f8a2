"""What ``wikigr show`` and ``wikigr open`` print: a section or an article for a reader."""

from __future__ import annotations

import re

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import Document, one_line, print_address

_MAX_NAME_LENGTH = 200
# Links, aliases and categories that text output lists; the JSON has all.
_MAX_LISTED = 12


def print_section(environment: Environment, document: Document, quote: tuple[int, int] = (0, 0)) -> None:
    """Print a section under its heading, then where to go from it; the characters ``quote`` stand out."""
    _print_heading(environment, [document["title"], *document["heading_path"]], document["url"])
    print_quoted(environment, document["content"], quote)
    environment.print()
    for label, entry in (("Previous", document["previous"]), ("Next", document["next"])):
        if entry is not None:
            environment.print(f"{label:<12}", style="bold", end="")
            environment.print(one_line(entry["section_id"], _MAX_NAME_LENGTH), end="")
            environment.print(f"  {one_line(entry['section'], _MAX_NAME_LENGTH)}", style="dim", hang=12)
    _print_list(environment, "Links", [link["title"] for link in document["links"]])


def print_article(environment: Environment, document: Document) -> None:
    """Print the lead of an article and its outline."""
    _print_heading(environment, [document["title"]], document["url"])
    environment.print(document["lead"])
    environment.print()
    environment.print("Sections", style="bold")
    for entry in document["sections"]:
        indent = "  " * max(1, len(entry["heading_path"]))
        environment.print(f"{indent}{one_line(entry['section'], _MAX_NAME_LENGTH)}", end="")
        section_id = one_line(entry["section_id"], _MAX_NAME_LENGTH)
        environment.print(f"  {section_id}  {entry['word_count']:,} words", style="dim", hang=len(indent) + 2)
    _print_list(environment, "Aliases", document["aliases"])
    _print_list(environment, "Categories", document["categories"])


def print_whole_article(
    environment: Environment, title: str, url: str | None, content: str, quote: tuple[int, int]
) -> None:
    """Print the whole text of an article; the characters ``quote`` stand out."""
    _print_heading(environment, [title], url)
    print_quoted(environment, content, quote)


def print_quoted(environment: Environment, content: str, quote: tuple[int, int]) -> None:
    """Print ``content`` with the characters ``quote`` (start and end, equal for none) in reverse video."""
    start, end = quote
    environment.print(content[:start], end="")
    if start < end:
        environment.print(content[start:end], style="reverse", end="")
    environment.print(content[end:])


def find_quote(content: str, quote: str) -> tuple[int, int] | None:
    """Return where ``content`` contains ``quote``, whose white space may differ, or ``None``."""
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), content)
    return found.span() if found is not None else None


def _print_heading(environment: Environment, path: list[str], url: str | None) -> None:
    heading = " › ".join(one_line(part, _MAX_NAME_LENGTH) for part in path)
    environment.print(heading, style="bold", link=url, hang=2)
    print_address(environment, url, indent=0)
    environment.print()


def _print_list(environment: Environment, label: str, names: list[str]) -> None:
    if not names:
        return
    listed = ", ".join(one_line(name, _MAX_NAME_LENGTH) for name in names[:_MAX_LISTED])
    more = f" and {len(names) - _MAX_LISTED:,} more" if len(names) > _MAX_LISTED else ""
    environment.print(f"{label:<12}", style="bold", end="")
    environment.print(f"{listed}{more}", hang=12)

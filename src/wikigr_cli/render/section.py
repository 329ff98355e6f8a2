"""What ``wikigr show`` and ``wikigr open`` print, and what ``wikigr open --browser`` opens: a section or an article."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encode
from urllib.parse import urlsplit

from wikigr.documents.article import article_document, section_document
from wikigr.errors import WikigrError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.blocks import print_blocks
from wikigr_cli.render.output import Document, one_line, print_address
from wikigr_cli.render.terminal import openable

if TYPE_CHECKING:
    from wikigr.pack.open import Pack

_MAX_NAME_LENGTH = 200
# Links, aliases and categories that text output lists; the JSON has all.
_MAX_LISTED = 12
# Words at either end of a quotation by which a browser finds it.
_FRAGMENT_WORDS = 4


def print_section(environment: Environment, document: Document) -> None:
    """Print a section under its heading, with all rows of its tables, then where to go from it."""
    _print_heading(environment, [document["title"], *document["heading_path"]], document["url"])
    print_blocks(environment, document["blocks"], str, max_rows=sys.maxsize)
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
    environment.print(document["lead"], has_lines=True)
    environment.print()
    environment.print("Sections", style="bold")
    for entry in document["sections"]:
        indent = "  " * max(1, len(entry["heading_path"]))
        environment.print(f"{indent}{one_line(entry['section'], _MAX_NAME_LENGTH)}", end="")
        section_id = one_line(entry["section_id"], _MAX_NAME_LENGTH)
        environment.print(f"  {section_id}  {entry['word_count']:,} words", style="dim", hang=len(indent) + 2)
    _print_list(environment, "Aliases", document["aliases"])
    _print_list(environment, "Categories", document["categories"])


def print_place(environment: Environment, pack: Pack, title: str, section_id: str | None, quote: str | None) -> None:
    """Print a section, or the whole article without ``section_id``; the text ``quote`` stands out."""
    if section_id is not None:
        found = _find(environment, quote, pack.sections([section_id])[section_id].content)
        print_section(environment, section_document(pack, section_id, [], found))
        return
    article = article_document(pack, title)
    content = article["content"]
    _print_heading(environment, [title], article["url"])
    start, end = _find(environment, quote, content)
    environment.print(content[:start], end="", has_lines=True)
    environment.print(content[start:end], style="reverse", end="", has_lines=True)
    environment.print(content[end:], has_lines=True)


def _find(environment: Environment, quote: str | None, content: str) -> tuple[int, int]:
    """Return where ``quote``, whose white space may differ, is in ``content``, or say that it is not."""
    found = re.search(r"\s+".join(map(re.escape, quote.split())), content) if quote else None
    if quote and found is None:
        environment.note("The text does not contain the quotation.")
    return found.span() if found is not None else (0, 0)


def open_place(environment: Environment, pack: Pack, title: str, section_id: str | None, quote: str | None) -> None:
    """Open the address of a section or an article in the browser; raises ``WikigrError`` if that is not possible."""
    import webbrowser

    wanted = section_id or f"{title}#0"
    known = pack.urls_of([wanted])[wanted]
    url = openable(known)
    if url is None:
        raise WikigrError(
            f"The pack knows no address of {harmless(section_id or title)!r} that a browser can open."
            + (f" Its source is {harmless(known)}, which is not on this machine." if known else ""),
            hint="Leave out --browser to read the text of the pack.",
        )
    url = _with_quote(url, quote)
    if not webbrowser.open(url):
        raise WikigrError("No browser could be started.", hint=f"Open the address yourself: {url}")
    environment.note(f"Opened {url}", overflow="keep")


def _with_quote(url: str, quote: str | None) -> str:
    """Return ``url`` with a text fragment by which a browser finds and highlights ``quote`` in a page of HTML.

    See https://wicg.github.io/scroll-to-text-fragment/; browsers that do not know it open the page at its anchor.
    """
    words = (quote or "").split()
    parts = urlsplit(url)
    if not words or (parts.scheme == "file" and not parts.path.lower().endswith((".html", ".htm", ".xhtml"))):
        return url
    ends = [words] if len(words) <= 2 * _FRAGMENT_WORDS else [words[:_FRAGMENT_WORDS], words[-_FRAGMENT_WORDS:]]
    text = ",".join(percent_encode(" ".join(end), safe="").replace("-", "%2D") for end in ends)
    return f"{url}{'' if parts.fragment else '#'}:~:text={text}"


def _print_heading(environment: Environment, path: list[str], url: str | None) -> None:
    heading = " › ".join(one_line(part, _MAX_NAME_LENGTH) for part in path)
    environment.print(heading, style="bold", link=url, hang=2)
    print_address(environment, url, indent=0)
    environment.print()


def _print_list(environment: Environment, label: str, names: list[str]) -> None:
    if names:
        listed = ", ".join(one_line(name, _MAX_NAME_LENGTH) for name in names[:_MAX_LISTED])
        more = f" and {len(names) - _MAX_LISTED:,} more" if len(names) > _MAX_LISTED else ""
        environment.print(f"{label:<12}", style="bold", end="")
        environment.print(f"{listed}{more}", hang=12)

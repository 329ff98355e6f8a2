"""Open a section or an article in the pager or in the browser."""

from __future__ import annotations

import io
import shlex
import signal
import subprocess
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encode
from urllib.parse import urlsplit

from wikigr.documents.article import section_document
from wikigr.errors import UsageError, WikigrError
from wikigr.text import harmless
from wikigr_cli.environment import Environment
from wikigr_cli.render.section import find_quote, print_section, print_whole_article
from wikigr_cli.render.terminal import openable

if TYPE_CHECKING:
    from wikigr.pack.open import Pack

# Words at either end of a quotation by which a browser finds it.
_FRAGMENT_WORDS = 4


def open_in_pager(environment: Environment, pack: Pack, title: str, section_id: str | None, quote: str | None) -> None:
    """Show a section, or the whole article without ``section_id``, with ``quote`` highlighted."""
    from wikigr.pack.article_view import view_article, view_section

    if section_id is not None:
        document = section_document(view_section(pack, section_id), pack.manifest, [])
        span = _span(environment, document["content"], quote)
        page(environment, lambda shown: print_section(shown, document, span))
        return
    view = view_article(pack, title)
    span = _span(environment, view.content, quote)
    page(environment, lambda shown: print_whole_article(shown, view.title, view.url, view.content, span))


def _span(environment: Environment, content: str, quote: str | None) -> tuple[int, int]:
    if quote is None:
        return 0, 0
    found = find_quote(content, quote)
    if found is None:
        environment.note("The text does not contain the quotation.")
    return found or (0, 0)


def open_in_browser(
    environment: Environment, pack: Pack, title: str, section_id: str | None, quote: str | None
) -> None:
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


def check_quote(quote: str | None) -> str | None:
    """Return the value of ``--quote``; raises ``UsageError`` if it is blank."""
    if quote is not None and not quote.strip():
        raise UsageError("--quote must not be empty.")
    return quote


_DEFAULT_PAGER = "less"
# As git does: color, quit if the text fits on the screen, and leave it there afterwards.
_LESS = "FRX"


class _Screen(io.StringIO):
    """Text for a terminal, kept until the pager shows it."""

    def isatty(self) -> bool:
        return True


def page(environment: Environment, print_text: Callable[[Environment], None]) -> None:
    """Show what ``print_text`` prints in $PAGER (default: ``less``), or print it if stdout is not a terminal.

    A pager that cannot be started is named in a note, and the text is printed instead.
    """
    if not environment.stdout.isatty() or environment.variables.get("TERM") in (None, "", "dumb"):
        print_text(environment)
        return
    command = _pager(environment)
    screen = _Screen()
    variables = {**environment.variables, "COLUMNS": str(environment.width(environment.stdout))}
    # Not every version of less hides the addresses of links.
    variables["TERM"] = ""
    print_text(Environment(environment.stdin, screen, environment.stderr, variables))
    own = {"LESS": _LESS, **environment.variables}
    # Ctrl-C belongs to the pager. A handler, unlike SIG_IGN, is not inherited by it.
    before = signal.signal(signal.SIGINT, _do_nothing)
    try:
        subprocess.run(command, input=screen.getvalue(), text=True, encoding="utf-8", env=own, check=False)
    except OSError as error:
        environment.note(f"Cannot start the pager {command[0]!r}: {error.strerror}. Set PAGER to another one.")
        print_text(environment)
    finally:
        signal.signal(signal.SIGINT, before)


def _pager(environment: Environment) -> list[str]:
    """Return the command of the user's pager, or the default one if $PAGER is not a command."""
    given = environment.variables.get("PAGER", "")
    try:
        return shlex.split(given) or [_DEFAULT_PAGER]
    except ValueError as error:
        environment.note(f"Cannot read PAGER ({given}): {error}. Using {_DEFAULT_PAGER}.")
        return [_DEFAULT_PAGER]


def _do_nothing(number: int, frame: FrameType | None) -> None:
    del number, frame

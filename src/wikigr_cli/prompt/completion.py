"""What Tab completes at the prompt: commands, profiles, packs, citations, and titles of articles in a question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from wikigr.text import harmless
from wikigr_cli.options import complete_packs, complete_profiles
from wikigr_cli.prompt.conversation import COMMANDS, PREFIX, Conversation

_MAX_TITLES = 20
# The beginning of a title is at most this many words before the cursor, and at least this many characters.
_MAX_WORDS = 6
_MIN_CHARACTERS = 2


class AskCompleter(Completer):
    """Completes a line of ``conversation``."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        begun, names = self._offers(document.text_before_cursor.lstrip())
        for name in names:
            if name.lower().startswith(begun.lower()) and name == harmless(name):
                yield Completion(name, start_position=-len(begun))

    def _offers(self, line: str) -> tuple[str, Sequence[str]]:
        """Return the part of ``line`` to complete, and what may stand in its place."""
        name, blank, argument = line.partition(" ")
        if not line.startswith(PREFIX):
            # The titles that the last words begin: of as many words as possible.
            starts = [match.start() for match in re.finditer(r"(?<!\S)\S", line)]
            offers = ((line[start:], self._titles(line[start:])) for start in starts[-_MAX_WORDS:])
            return next((offer for offer in offers if offer[1]), ("", ()))
        if not blank:
            return name, [f"{PREFIX}{command}" for command in COMMANDS]
        if name == f"{PREFIX}profile":
            return argument, complete_profiles("")
        if name == f"{PREFIX}pack":
            return argument, complete_packs("")
        number, blank, place = argument.partition(" ")
        if name == f"{PREFIX}open" and (number.isdecimal() or not argument):
            numbers = [str(citation.n) for citation in self._conversation.citations]
            return (place, ["browser"]) if blank else (number, numbers)
        return argument, self._titles(argument) if name in (f"{PREFIX}open", f"{PREFIX}why") else ()

    def _titles(self, beginning: str) -> list[str]:
        if len(beginning) < _MIN_CHARACTERS:
            return []
        found = {
            str(title)
            for member in self._conversation.pack.members
            for (title,) in member.graph.rows(
                "MATCH (a:Article) WHERE starts_with(lower(a.title), $beginning) "
                "RETURN a.title ORDER BY a.title LIMIT $most",
                {"beginning": beginning.lower(), "most": _MAX_TITLES},
            )
        }
        return sorted(found)[:_MAX_TITLES]

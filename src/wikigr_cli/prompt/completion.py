"""What Tab completes at the prompt: commands, profiles, packs, citations, and titles of articles in a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from wikigr.text import harmless
from wikigr_cli.options import complete_packs, complete_profiles
from wikigr_cli.prompt.conversation import COMMANDS, PREFIX, Conversation

_MAX_TITLES = 20
# The beginning of a title is at most this many words before the cursor, and at least this many characters.
_MAX_WORDS = 6
_MIN_CHARACTERS = 2
_WORD_START = re.compile(r"(?<!\S)\S")


class AskCompleter(Completer):
    """Completes a line of ``conversation``."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        del complete_event
        line = document.text_before_cursor.lstrip()
        if not line.startswith(PREFIX):
            yield from self._titles(line)
            return
        name, blank, argument = line.partition(" ")
        if not blank:
            names = [f"{PREFIX}{command.name}" for command in COMMANDS]
            yield from _begun(name, names)
        elif name == f"{PREFIX}profile":
            yield from _begun(argument, complete_profiles(""))
        elif name == f"{PREFIX}pack":
            yield from _begun(argument, complete_packs(""))
        elif name == f"{PREFIX}open" and argument.partition(" ")[0].isdecimal():
            number, blank, place = argument.partition(" ")
            yield from _begun(place, ["browser"]) if blank else _begun(number, self._numbers())
        elif name == f"{PREFIX}open" and not argument:
            yield from _begun(argument, self._numbers())
        elif name in (f"{PREFIX}open", f"{PREFIX}why"):
            yield from _begun(argument, self._beginning_with(argument))

    def _numbers(self) -> list[str]:
        return [str(citation.n) for citation in self._conversation.citations]

    def _titles(self, text: str) -> Iterator[Completion]:
        """Yield the titles that the last words of ``text`` begin: of as many words as possible."""
        starts = [match.start() for match in _WORD_START.finditer(text)]
        for start in starts[-_MAX_WORDS:]:
            found = self._beginning_with(text[start:])
            if found:
                yield from _begun(text[start:], found)
                return

    def _beginning_with(self, beginning: str) -> list[str]:
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


def _begun(beginning: str, names: Iterable[str]) -> Iterator[Completion]:
    for name in names:
        if name.lower().startswith(beginning.lower()) and name == harmless(name):
            yield Completion(name, start_position=-len(beginning))

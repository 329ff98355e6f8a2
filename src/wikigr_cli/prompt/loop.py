"""Read lines from the terminal, complete them, and hand them to the session, until the user leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import ColorDepth, Output, create_output

from wikigr.files import open_private
from wikigr.settings import state_folder
from wikigr.text import harmless
from wikigr_cli.ask_session import AskOptions, AskSession
from wikigr_cli.environment import Environment
from wikigr_cli.options import complete_packs, complete_profiles
from wikigr_cli.prompt.conversation import COMMANDS, PREFIX, Conversation, describe


def run_prompt(
    environment: Environment,
    packs: Sequence[str],
    profile: str,
    options: AskOptions,
    *,
    encoder: str | None = None,
    terminal: tuple[Input, Output] | None = None,
    history: History | None = None,
) -> None:
    """Answer questions from ``packs`` until the user leaves with Ctrl-D or ``/quit``.

    ``terminal`` and ``history`` replace those of the user.
    """
    with closing(AskSession(environment, packs, profile, options, encoder=encoder)) as session:
        talk = Conversation(environment, session, explain_limit=options.explained)
        reader = _line_reader(environment, talk, terminal, history)
        writer = f"Answers are written by {harmless(talk.model)}" if talk.model else "Answers quote the pack"
        environment.note(f"{describe(talk.pack)}. {writer}. {PREFIX}help lists the commands, Ctrl-D leaves.")
        while _step(environment, talk, reader):
            pass


def _step(environment: Environment, talk: Conversation, reader: PromptSession[str]) -> bool:
    """Read a line and handle it; return whether to go on."""
    try:
        line = reader.prompt()
    except KeyboardInterrupt:
        # Ctrl-C clears the line.
        return True
    except EOFError:
        return False
    # Pasted text may be several questions.
    lines = [part for part in line.splitlines() if part.strip()]
    try:
        for part in lines:
            if len(lines) > 1:
                environment.print(f"> {part.strip()}", style="bold")
            if not talk.handle(part):
                return False
            environment.print()
        return True
    except KeyboardInterrupt:
        environment.drop_line()
        environment.print_error("\nCancelled.")
        return True


def _line_reader(
    environment: Environment, talk: Conversation, terminal: tuple[Input, Output] | None, history: History | None
) -> PromptSession[str]:
    source, screen = terminal or (create_input(environment.stdin), create_output(environment.stdout))
    return PromptSession(
        lambda: [("bold", harmless(f"{talk.pack.manifest.name} ({talk.profile})> "))],
        history=history or open_history(environment),
        completer=AskCompleter(talk),
        complete_while_typing=False,
        color_depth=None if environment.has_color(environment.stdout) else ColorDepth.DEPTH_1_BIT,
        multiline=False,
        input=source,
        output=screen,
    )


def open_history(environment: Environment) -> History:
    """Return the history of the user, which only the user may read; without a folder for it, one in memory."""
    path = state_folder() / "ask_history"
    try:
        open_private(path).close()
    except OSError as error:
        environment.note(f"The questions are not kept: {error.strerror} ({path}).")
        return InMemoryHistory()
    return _UserHistory(environment, path)


class _UserHistory(FileHistory):
    """A history that goes on in memory when the disk is full."""

    def __init__(self, environment: Environment, path: Path) -> None:
        super().__init__(str(path))
        self._environment = environment
        self._is_kept = True

    def store_string(self, string: str) -> None:
        try:
            if self._is_kept:
                super().store_string(string)
        except OSError as error:
            self._is_kept = False
            self._environment.note(f"The questions are not kept: {error.strerror} ({self.filename!s}).")


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

"""Read lines from the terminal and hand them to the session, until the user leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import ColorDepth, Output, create_output

from wikigr.text import harmless
from wikigr_cli.ask_session import AskOptions, AskSession
from wikigr_cli.environment import Environment
from wikigr_cli.prompt.completion import AskCompleter
from wikigr_cli.prompt.conversation import PREFIX, Conversation, describe
from wikigr_cli.prompt.history import open_history


def run_prompt(
    environment: Environment,
    packs: Sequence[str],
    profile: str,
    options: AskOptions,
    *,
    terminal: tuple[Input, Output] | None = None,
    history: History | None = None,
) -> None:
    """Answer questions from ``packs`` until the user leaves with Ctrl-D or ``:quit``.

    ``terminal`` and ``history`` replace those of the user.
    """
    with closing(AskSession(environment, packs, profile, options)) as session:
        talk = Conversation(environment, session, explain=options.explain)
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
    try:
        goes_on = talk.handle(line)
        if goes_on and line.strip():
            environment.print()
        return goes_on
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
        # Pasted text may contain line breaks; a question is one line.
        multiline=False,
        input=source,
        output=screen,
    )

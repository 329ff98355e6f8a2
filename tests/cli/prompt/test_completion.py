"""What Tab completes at the prompt, for the demo pack."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from wikigr_cli.prompt.conversation import COMMANDS
from wikigr_cli.prompt.loop import AskCompleter

from .conftest import Converse, Talk


def completed(talk: Talk, line: str) -> list[str]:
    """The lines that Tab can make of ``line``."""
    found = AskCompleter(talk.conversation).get_completions(Document(line), CompleteEvent(completion_requested=True))
    return [line[: len(line) + completion.start_position] + completion.text for completion in found]


def test_commands_and_their_arguments(converse: Converse, private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A project's own packs would be completed, too.
    monkeypatch.chdir(private)
    (private / "data" / "wikigr" / "packs" / "valves").mkdir(parents=True)
    talk = converse()
    assert completed(talk, "/") == [f"/{name}" for name in COMMANDS]
    assert completed(talk, "/pro") == ["/profile"]
    assert completed(talk, "/profile b") == ["/profile baseline"]
    assert completed(talk, "/pack ") == ["/pack valves"]
    assert completed(talk, "/help ") == []
    assert completed(talk, "/open ") == []
    talk.say("Who measured the wavelength of the electron?")
    # The other possible answers have numbers, too.
    numbers = [f"/open {citation.n}" for citation in talk.conversation.citations]
    assert numbers[0] == "/open 1" and completed(talk, "/open ") == numbers
    assert completed(talk, "/open 1 b") == ["/open 1 browser"]
    assert completed(talk, "/open Louis d") == ["/open Louis de Broglie"]
    assert completed(talk, "/why pauli") == ["/why Pauli exclusion principle"]


def test_titles_in_a_question(converse: Converse) -> None:
    talk = converse()
    for line, expected in (
        ("In which year was Werner H", ["In which year was Werner Heisenberg"]),
        ("What is the pauli ex", ["What is the Pauli exclusion principle"]),
        ("Louis de Bro", ["Louis de Broglie"]),
        # "sc" alone would begin "Schrödinger equation".
        ("Explain Compton sc", ["Explain Compton scattering"]),
        ("What is zzz", []),
        ("What is s ", []),
        ("", []),
    ):
        assert completed(talk, line) == expected

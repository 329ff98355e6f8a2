"""A conversation with a session: questions, and commands about the last answer. It knows no terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from wikigr.documents.answer import EXPLAIN_LIMIT, stated_answer
from wikigr.errors import UsageError
from wikigr.graph.schema import article_title
from wikigr.suggestions import did_you_mean, nearest
from wikigr.text import harmless
from wikigr_cli.ask_session import AskSession
from wikigr_cli.environment import Environment, Interrupted, OutputClosed
from wikigr_cli.exit_codes import report_error
from wikigr_cli.options import complete_packs, complete_profiles, require_packs
from wikigr_cli.render.answer import print_explanation, print_why, save_answers, show_answer
from wikigr_cli.render.output import counted, one_line, print_trace
from wikigr_cli.render.section import open_place, print_place

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.answer.citations import Citation
    from wikigr.documents.shapes import StatedAnswer
    from wikigr.pack.open import Corpus, Pack
    from wikigr.question.referents import Turn

_Found = TypeVar("_Found")

# What begins a command; everything else is a question.
PREFIX = "/"
# What users of other prompts type; no question is one of these words.
_WORDS = {"exit": "quit", "q": "quit", "quit": "quit", "help": "help", "?": "help", "clear": "clear"}
# The commands: what each takes, and what it does.
COMMANDS = {
    "open": ("N [browser]", "Read citation N, here or in the browser; also a section id or a title."),
    "why": ("[TITLE]", "Show what every stage did with an article, by default the first cited one."),
    "explain": ("", "Show the scores of the last answer's candidates and why they were dropped."),
    "profile": ("[NAME]", "Answer with another profile, or list the profiles."),
    "pack": ("[PACK...]", "Ask another pack, or several, or list the packs."),
    "save": ("FILE", "Write the answers so far with their citations to a file as Markdown."),
    "clear": ("", "Clear the screen."),
    "help": ("", "Show this list."),
    "quit": ("", "Leave."),
}


class Conversation:
    """Questions to a session, and commands about its last answer. ``handle`` answers a question or runs a command.

    ``explain_limit`` is as in ``print_explanation``; 0 prints none.
    """

    def __init__(self, environment: Environment, session: AskSession, *, explain_limit: int = 0) -> None:
        self._environment = environment
        self._session = session
        self._explain_limit = explain_limit
        self._answer: Answer | None = None
        self._turns: tuple[Turn, ...] = ()
        self._documents: list[StatedAnswer] = []
        self._saved: set[Path] = set()
        self._commands: dict[str, Callable[[str], None]] = {
            "open": self._open_citation,
            "why": self._why,
            "explain": self._explain,
            "profile": self._change_profile,
            "pack": self._change_pack,
            "save": self._save,
            "clear": self._clear,
            "help": self._help,
        }

    @property
    def pack(self) -> Corpus:
        """The open pack, or several as one."""
        return self._session.pack

    @property
    def profile(self) -> str:
        """The name of the profile."""
        return self._session.pipeline.profile.name

    @property
    def model(self) -> str:
        """The name of the model that writes the answers, ``""`` if they are quotations."""
        model = self._session.pipeline.model
        return model.model if model is not None else ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The citations of the last answer and of the other possible answers, as they are numbered on the screen."""
        from wikigr.answer.presentation import shown_citations

        return shown_citations(self._answer) if self._answer is not None else ()

    def handle(self, line: str) -> bool:
        """Answer the question or run the command in ``line``; return whether the conversation goes on.

        Errors are printed, and the conversation goes on.
        """
        line = line.strip()
        if line.lower() in _WORDS:
            line = PREFIX + _WORDS[line.lower()]
        try:
            if line and not line.startswith(PREFIX):
                self._ask(line)
            elif line:
                name, _, argument = line[1:].strip().partition(" ")
                if name == "quit":
                    return False
                if name not in self._commands:
                    near = [f"{PREFIX}{known}" for known in nearest(name, COMMANDS)]
                    hint = did_you_mean(near, f"{PREFIX}help lists the commands.", shown=str)
                    raise UsageError(f"There is no command {PREFIX}{harmless(name)}.", hint=hint)
                self._commands[name](argument.strip())
        except (Interrupted, OutputClosed, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 -- one failed question does not close the packs
            report_error(self._environment, error)
        return True

    def _ask(self, question: str) -> None:
        from wikigr.pipeline.conversation import turn_of, understand
        from wikigr.question.follow_up import MAX_TURNS

        environment = self._environment
        understood = understand(question, self._turns, self.pack)
        if understood != question:
            environment.print(f"Understood as: {understood}", style="dim")
            environment.print()
        live = self._session.streams
        answer = self._session.answer(understood, live=live)
        self._answer = answer
        self._turns = (*self._turns, turn_of(answer))[-MAX_TURNS:]
        print_trace(environment, answer.trace)
        stated = stated_answer(answer, self.pack)
        show_answer(environment, answer, stated, self.pack, live=live, explain_limit=self._explain_limit)
        self._session.keep(stated)
        self._documents.append(stated)

    def _last(self) -> Answer:
        if self._answer is None:
            raise UsageError("There is no answer from this pack yet.", hint="Ask a question first.")
        return self._answer

    def _why(self, title: str) -> None:
        from wikigr.documents.why import why_document
        from wikigr.pipeline.target import find_article

        answer = self._last()
        titles = answer.sources or [item.section.title for item in answer.evidence]
        if title:
            member, title = self._search_members(lambda member: find_article(member, title, self._environment.note))
            title = self.pack.title_of(member, title)
        elif titles:
            title = titles[0]
        else:
            raise UsageError("Nothing in the pack matches the question.", hint="Give a title: /why TITLE")
        print_why(self._environment, why_document(answer, title))

    def _search_members(self, find: Callable[[Pack], _Found]) -> tuple[Pack, _Found]:
        """Return the first pack in which ``find`` succeeds, and what it finds; raises its first ``UsageError``."""
        errors: list[UsageError] = []
        for member in self.pack.members:
            try:
                return member, find(member)
            except UsageError as error:
                errors.append(error)
        raise errors[0]

    def _explain(self, _: str) -> None:
        print_explanation(self._environment, self._last(), self.pack, self._explain_limit or EXPLAIN_LIMIT)

    def _open_citation(self, argument: str) -> None:
        from wikigr.pipeline.target import find_target

        number, _, place = (part.strip() for part in argument.partition(" "))
        if not argument:
            raise UsageError("Which citation?", hint="Example: /open 1, or /open 1 browser")
        if not number.isdecimal():
            member, (title, target) = self._search_members(
                lambda member: find_target(member, argument, self._environment.note)
            )
            print_place(self._environment, member, title, target, None)
            return
        self._last()
        citation = next((c for c in self.citations if str(c.n) == number), None)
        if citation is None:
            count = len(self.citations)
            hint = f"It has {count}." if count else "It cites nothing."
            raise UsageError(f"The last answer has no citation {one_line(number, 12)}.", hint=hint)
        if place not in ("", "browser"):
            raise UsageError(f"A citation cannot be opened in {place!r}.", hint=f"Example: /open {number} browser")
        show = open_place if place else print_place
        pack, section_id = self.pack.origin(citation.section_id)
        show(self._environment, pack, article_title(section_id), section_id, citation.quote)

    def _change_profile(self, name: str) -> None:
        if not name:
            from wikigr.pipeline.profile_files import load_profile

            for known in complete_profiles(""):
                try:
                    described = load_profile(known).description
                except UsageError as error:
                    described = error.message
                mark = "*" if known == self.profile else " "
                self._environment.print(f"{mark} {known:<14} {described}", hang=17)
            return
        self._session.use_profile(name)
        self._environment.note(f"Profile {self.profile}.")

    def _change_pack(self, name: str) -> None:
        if not name:
            names, current = complete_packs(""), self.pack.manifest.name
            for known in [*names, *([] if current in names else [current])]:
                self._environment.print(f"{'*' if known == current else ' '} {known}")
            return
        try:
            packs = shlex.split(name)
        except ValueError as error:
            raise UsageError(f"Cannot read {harmless(name)}: {error}.", hint="Example: /pack physics") from error
        self._session.use_packs(require_packs(packs))
        # What the last answer rests on is in the other pack.
        self._answer, self._turns = None, ()
        self._environment.note(describe(self.pack))

    def _save(self, name: str) -> None:
        if not self._documents:
            raise UsageError("There is no answer yet.", hint="Ask a question first.")
        if not name:
            raise UsageError("Which file?", hint="Example: /save notes.md")
        path = Path(name).expanduser()
        save_answers(self._environment, path, self._documents, replace=path in self._saved)
        self._saved.add(path)

    def _clear(self, _: str) -> None:
        # Move the cursor home, and erase the screen and the lines above it.
        self._environment.write("\x1b[H\x1b[2J\x1b[3J")

    def _help(self, _: str) -> None:
        self._environment.print("Type a question, or a command:")
        for name, (takes, text) in COMMANDS.items():
            self._environment.print(f"  {f'{PREFIX}{name} {takes}':<20}{text}", hang=22)
        self._environment.print("Tab completes, Ctrl-C cancels a question, Ctrl-D leaves.")


def describe(pack: Corpus) -> str:
    """Return the name and the size of a pack in one line."""
    names = ", ".join(f"{member.manifest.name} {member.manifest.version}" for member in pack.members)
    counts = ", ".join(counted(pack.manifest.counts[kind], kind) for kind in ("articles", "sections"))
    return harmless(f"{names}: {counts}")

"""Where the search for triplets goes on, chosen by a language model that is shown what leads on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from wikigr.graph.neighborhood import STRUCTURAL, Edge, Node, Step
from wikigr.llm.call_quota import Completes
from wikigr.llm.prompts import prompt
from wikigr.retrieval.explore.triplets import Chosen, Guide, Option, Walked

_T = TypeVar("_T")

MAX_QUESTION_CHARS = 2000
# What is shown of names and lists, so that a prompt stays bounded whatever the pack holds.
_NAME_CHARS = 120
_SHOWN_OPTIONS = 200
_SHOWN_TRIPLETS = 100
_REPLY_TOKENS = 300

_NUMBER = re.compile(r"\d{1,6}")
_CHOSEN = re.compile(r"<entities>.*?</entities>", re.DOTALL)
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,6}[.):]\s)\s*")


class ModelPruner:
    """Asks a model for the relations and then the entities of each step: two calls at most for each iteration.

    The model's reply alone is read for tags, and only numbers and names that it was offered count. Raises from a call
    what ``Claude.complete`` raises.
    """

    always_links = True

    def __init__(self, client: Completes, model: str | None = None) -> None:
        self.client = client
        self.model = model

    def begin(self, question: str, sources: Sequence[Node]) -> Guide:
        return _ModelGuide(self, question)


class _ModelGuide:
    def __init__(self, chooser: ModelPruner, question: str) -> None:
        self._chooser = chooser
        self._question = question[:MAX_QUESTION_CHARS]

    def relations(self, options: Sequence[Option], most: int) -> Chosen[Step]:
        counts: dict[Step, int] = {}
        for option in options:
            counts[option.step] = counts.get(option.step, 0) + option.edges
        # The rarest first: what a thing has one of says more about it than what it has hundreds of.
        steps = sorted(counts, key=lambda step: (step.relation in STRUCTURAL, counts[step], step))[:_SHOWN_OPTIONS]
        here = dict.fromkeys(option.node.label for option in options)
        reply = self._ask(
            "triplet_relations",
            most,
            ("entities-here", [_shown(label) for label in here]),
            ("relations-offered", _numbered(_shown(str(step)) for step in steps)),
        )
        return Chosen(_named(_tagged(reply, "relations"), {i: (str(s), s) for i, s in enumerate(steps, 1)}))

    def ranked(self, walked: Sequence[Walked]) -> Sequence[Walked]:
        """One of each relation and node in turn, in the order that the model gave the relations."""
        turns: dict[tuple[Node, Step], int] = {}
        keyed = []
        for item in walked:
            turn = turns.get((item.node, item.step), 0)
            turns[item.node, item.step] = turn + 1
            keyed.append((turn, item))
        return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]

    def entities(self, found: Sequence[Edge], walked: Sequence[Walked], most: int) -> Chosen[Node]:
        nodes = list(dict.fromkeys(item.end for item in walked))[:_SHOWN_OPTIONS]
        reply = self._ask(
            "triplet_entities",
            most,
            ("facts", [_shown(str(edge), 3 * _NAME_CHARS) for edge in found[-_SHOWN_TRIPLETS:]]),
            ("entities-offered", _numbered(_shown(node.label) for node in nodes)),
        )
        # A name of the pack that the reply repeats finishes nothing.
        completion = _tagged(_CHOSEN.sub("", reply), "task-completion")
        if any(text.strip() == "FINISH" for text in completion):
            return Chosen(finish=True)
        return Chosen(_named(_tagged(reply, "entities"), {i: (n.label, n) for i, n in enumerate(nodes, 1)}))

    def answer(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        # The model that writes the answer chooses among all that was found.
        return ()

    def _ask(self, name: str, most: int, *blocks: tuple[str, Sequence[str]]) -> str:
        asked = [("question", [_unsteering(self._question)]), *blocks]
        content = "\n\n".join(f"<{tag}>\n" + "\n".join(lines) + f"\n</{tag}>" for tag, lines in asked)
        return self._chooser.client.complete(
            model=self._chooser.model,
            system=prompt(name).format(most=most),
            messages=[{"role": "user", "content": content}],
            max_tokens=_REPLY_TOKENS,
        ).text


def _unsteering(text: str) -> str:
    """Text of a user or a pack, which can open or close no block."""
    return text.replace("<", "‹").replace(">", "›")


def _shown(text: str, chars: int = _NAME_CHARS) -> str:
    # The arrows are ours.
    cut = text if len(text) <= chars else f"{text[: chars - 1]}…"
    return " -> ".join(_unsteering(part) for part in cut.split(" -> "))


def _numbered(lines: Iterable[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, start=1)]


def _tagged(reply: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}>(.*?)</{tag}>", reply, re.DOTALL)


def _named(texts: Sequence[str], offered: Mapping[int, tuple[str, _T]]) -> tuple[_T, ...]:
    """What was offered and is named in ``texts``: by number, or by name on a line of its own. Others are dropped."""
    by_name: dict[str, _T] = {}
    for name, item in offered.values():
        by_name.setdefault(_shown(name).casefold(), item)
    found: dict[_T, None] = {}
    for line in (line.strip() for text in texts for line in text.splitlines()):
        whole = _LIST_MARK.sub("", line).strip(" \"'").casefold()
        for part in [whole] if whole in by_name and not whole.isdigit() else line.split(","):
            plain = part.strip(" .\"'").casefold()
            number = int(plain) if _NUMBER.fullmatch(plain) else 0
            if number in offered:
                found[offered[number][1]] = None
            elif plain in by_name or part in by_name:
                found[by_name[part if part in by_name else plain]] = None
    return tuple(found)

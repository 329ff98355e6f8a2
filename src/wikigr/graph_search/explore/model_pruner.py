"""A pruner for triplet retrieval that asks a language model to select relations and entities."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from wikigr.graph.neighborhood import STRUCTURAL, Edge, Node, Step
from wikigr.graph_search.explore.cypher_generation import find_tagged
from wikigr.graph_search.explore.triplets import CandidateRelation, FollowedTriplet, QuestionPruner, Selection
from wikigr.llm.model_client import CallQuota, ModelClient
from wikigr.llm.prompts import prompt

_T = TypeVar("_T")

MAX_QUESTION_CHARS = 2000
# Limits on names and lists, which keep prompts bounded for any pack.
_MAX_NAME_CHARS = 120
_MAX_LISTED = 200

_NUMBER = re.compile(r"\d{1,6}")
_ENTITIES_TAG = re.compile(r"<entities>.*?</entities>", re.DOTALL)
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,6}[.):]\s)\s*")


class ModelPruner:
    """Asks a model to select the relations and then the entities of each iteration: at most two calls per iteration.

    Tags are parsed from the model's reply alone, and only numbers and names that it was offered count. Calls raise what
    ``ModelClient.complete`` raises.
    """

    always_links = True

    def __init__(self, client: ModelClient | CallQuota, model: str | None = None) -> None:
        self.client = client
        self.model = model

    def begin(self, question: str, sources: Sequence[Node]) -> QuestionPruner:
        return _ModelQuestionPruner(self, question)


class _ModelQuestionPruner:
    def __init__(self, pruner: ModelPruner, question: str) -> None:
        self._pruner = pruner
        self._question = question[:MAX_QUESTION_CHARS]

    def prune_relations(self, candidates: Sequence[CandidateRelation], limit: int) -> Selection[Step]:
        counts: dict[Step, int] = {}
        for candidate in candidates:
            counts[candidate.step] = counts.get(candidate.step, 0) + candidate.edges
        # Rarest first: a relation with one edge is more specific than one with hundreds.
        steps = sorted(counts, key=lambda step: (step.relation in STRUCTURAL, counts[step], step))[:_MAX_LISTED]
        here = dict.fromkeys(candidate.node.label for candidate in candidates)
        reply = self._ask(
            "triplet_relations",
            limit,
            ("entities-here", [_display(label) for label in here]),
            ("relations-offered", _numbered(_display(str(step)) for step in steps)),
        )
        return Selection(
            _match_offered(find_tagged(reply, "relations"), {i: (str(s), s) for i, s in enumerate(steps, 1)})
        )

    def rank_triplets(self, hops: Sequence[FollowedTriplet]) -> Sequence[FollowedTriplet]:
        """Interleave the relations of each node, in the order in which the model listed the relations."""
        counts: dict[tuple[Node, Step], int] = {}
        turns = []
        for hop in hops:
            turn = counts.get((hop.node, hop.step), 0)
            counts[hop.node, hop.step] = turn + 1
            turns.append((turn, hop))
        return [hop for _, hop in sorted(turns, key=lambda pair: pair[0])]

    def prune_entities(self, found: Sequence[Edge], hops: Sequence[FollowedTriplet], limit: int) -> Selection[Node]:
        nodes = list(dict.fromkeys(hop.end for hop in hops))[:_MAX_LISTED]
        reply = self._ask(
            "triplet_entities",
            limit,
            ("facts", [_display(str(edge), 3 * _MAX_NAME_CHARS) for edge in found[-100:]]),
            ("entities-offered", _numbered(_display(node.label) for node in nodes)),
        )
        # A FINISH tag among the entities may repeat a name from the pack, so it does not count.
        completion = find_tagged(_ENTITIES_TAG.sub("", reply), "task-completion")
        if any(text.strip() == "FINISH" for text in completion):
            return Selection(finish=True)
        return Selection(
            _match_offered(find_tagged(reply, "entities"), {i: (n.label, n) for i, n in enumerate(nodes, 1)})
        )

    def answer_chain(self, found: Collection[Edge]) -> tuple[Edge, ...]:
        # The model that writes the answer picks from all triplets.
        return ()

    def _ask(self, name: str, limit: int, *blocks: tuple[str, Sequence[str]]) -> str:
        sections = [("question", [_escape(self._question)]), *blocks]
        content = "\n\n".join(f"<{tag}>\n" + "\n".join(lines) + f"\n</{tag}>" for tag, lines in sections)
        return self._pruner.client.complete(
            model=self._pruner.model,
            system=prompt(name).format(most=limit),
            messages=[{"role": "user", "content": content}],
            max_tokens=300,
        ).text


def _escape(text: str) -> str:
    """Escape text of a user or a pack so that it cannot open or close a block."""
    return text.replace("<", "‹").replace(">", "›")


def _display(text: str, chars: int = _MAX_NAME_CHARS) -> str:
    # Keep the arrows, which separate the parts of a fact.
    cut = text if len(text) <= chars else f"{text[: chars - 1]}…"
    return " -> ".join(_escape(part) for part in cut.split(" -> "))


def _numbered(lines: Iterable[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, start=1)]


def _match_offered(texts: Sequence[str], offered: Mapping[int, tuple[str, _T]]) -> tuple[_T, ...]:
    """Return the items of ``offered`` that ``texts`` list, by number or by name on a separate line; ignore others."""
    by_name: dict[str, _T] = {}
    for name, item in offered.values():
        by_name.setdefault(_display(name).casefold(), item)
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

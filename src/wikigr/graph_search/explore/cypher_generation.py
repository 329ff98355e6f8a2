"""What multi-strategy retrieval looks up in each iteration: planned by rules, or by a model that also writes Cypher."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from wikigr.graph.neighborhood import Node
from wikigr.llm.model_client import CallQuota
from wikigr.llm.prompts import prompt
from wikigr.llm.reply import Reply
from wikigr.retrieval.trace import Trace
from wikigr.text import TAG, scrub


@dataclass(frozen=True, slots=True)
class PlannerState:
    """What a planner sees: the context lines so far, feedback on the last queries, and the explored nodes."""

    question: str
    iteration: int
    lines: Sequence[str]
    feedback: Sequence[str]
    explored: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to look up: ``mentions`` to link, known ``nodes``, metapaths and Cypher queries.

    ``finish`` means that the context suffices; the rest of the plan is then ignored.
    """

    mentions: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    metapaths: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    finish: bool = False

    @property
    def empty(self) -> bool:
        return not (self.mentions or self.nodes or self.metapaths or self.queries)


class Planner(Protocol):
    """Plans what to look up, at the start of every iteration."""

    def plan(self, state: PlannerState) -> Plan: ...


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans without a model: first the nodes that the question names, then the articles it retrieves.

    ``named`` are the nodes linked from the question; ``found`` are the articles of the best candidates, best first.
    """

    named: Sequence[Node]
    found: Sequence[Node]

    def plan(self, state: PlannerState) -> Plan:
        rounds = [nodes for nodes in (self.named, self.found) if nodes]
        if state.iteration >= len(rounds):
            return Plan(finish=True)
        return Plan(nodes=tuple(node for node in rounds[state.iteration] if node not in state.explored))


class ModelPlanner:
    """Asks a model for the plan of every iteration, in tags, which every model can write.

    Pack text reaches the model only inside delimited blocks that it cannot close. Tags are parsed from the model's own
    reply alone. ``cypher_examples`` are worked examples of queries. ``plan`` raises what ``CallQuota.complete`` raises.
    """

    def __init__(self, client: CallQuota, model: str, schema: str, cypher_examples: str, trace: Trace) -> None:
        self._client = client
        self._model = model
        self._schema = schema
        self._cypher_examples = cypher_examples
        self._trace = trace

    def plan(self, state: PlannerState) -> Plan:
        # Before anything was looked up, nothing can be enough: a small model fills in every tag that it is shown.
        plan = _parse_tags(self._ask(state).text, may_finish=state.iteration > 0)
        if plan.empty and not plan.finish:
            with self._trace.stage("graph_plan") as record:
                record.degrade("the model's reply contains nothing to look up")
        return plan

    def _ask(self, state: PlannerState) -> Reply:
        name = "graph_plan_iterative" if state.iteration else "graph_plan_initial"
        blocks = [
            ("question", [state.question[:2_000]]),
            ("schema", self._schema.splitlines()),
            ("cypher-examples", self._cypher_examples.splitlines()),
            ("graph-context", state.lines),
            ("query-feedback", state.feedback),
        ]
        content = "\n\n".join(_block(tag, lines) for tag, lines in blocks if lines)
        return self._client.complete(
            system=f"{prompt(name)}\n\n{prompt('graph_plan_reply')}",
            messages=[{"role": "user", "content": content}],
            max_tokens=1_000,
            model=self._model,
        )


def _block(tag: str, lines: Sequence[str]) -> str:
    inside = "\n".join(TAG.sub("‹", scrub(line)) for line in lines)
    return f"<{tag}>\n{inside}\n</{tag}>"


_PLAN_TAGS = re.compile(r"<(entity-extraction|path-extraction|opencypher)>.*?</\1>", re.DOTALL)


def _parse_tags(reply: str, *, may_finish: bool) -> Plan:
    """Parse the tags of the reference document. Repeated tags are merged, missing ones are empty.

    Unless the plan ``may_finish``, FINISH counts only without anything to look up.
    """
    # A FINISH tag inside another tag may repeat pack text, so it does not count.
    others = find_tagged(_PLAN_TAGS.sub("", reply), "task-completion")
    finish = any(text.strip() == "FINISH" for text in others)
    plan = Plan(
        mentions=_clean(line for text in find_tagged(reply, "entity-extraction") for line in text.splitlines()),
        metapaths=_clean(line for text in find_tagged(reply, "path-extraction") for line in text.splitlines()),
        queries=_clean(find_tagged(reply, "opencypher")),
    )
    return Plan(finish=True) if finish and (may_finish or plan.empty) else plan


def find_tagged(reply: str, tag: str) -> list[str]:
    """Return the text inside every ``tag`` of a model's reply."""
    return re.findall(rf"<{tag}>(.*?)</{tag}>", reply, re.DOTALL)


_FENCE = re.compile(r"\A```\w*\s+|\s*```\Z")
_LIST_MARK = re.compile(r"^(?:[-*•]\s+|\d{1,3}[.)]\s+)")


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    stripped = (_LIST_MARK.sub("", _FENCE.sub("", text.strip()))[:2_000] for text in texts)
    return tuple(dict.fromkeys(text for text in stripped if text))[:10]

"""What to look up next in the graph: planned by rules, or by a model (reference/multi-strategy-retrieval.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wikigr.graph.neighborhood import Node
from wikigr.llm.call_quota import CallQuota
from wikigr.llm.failures import BadRequestError
from wikigr.llm.prompts import prompt
from wikigr.llm.reply import Reply
from wikigr.retrieval.trace import Trace
from wikigr.text import scrub

_MAX_QUESTION_CHARS = 2_000
_REPLY_TOKENS = 1_000
# Of a reply no more is followed than this.
_MAX_ITEMS = 10
_MAX_CHARS = 2_000
_TOOL = "plan"


@dataclass(frozen=True, slots=True)
class State:
    """How far a search has come: the lines found, what went wrong with the last queries, what was explored."""

    question: str
    iteration: int
    lines: Sequence[str]
    feedback: Sequence[str]
    explored: Sequence[Node]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to look up: names to link (``mentions``) and nodes already known, metapaths, Cypher queries.

    ``finish`` says that what was found is enough; nothing else of the plan is then looked at.
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
    """Says, at the start of every iteration, what to look up."""

    def plan(self, state: State) -> Plan: ...


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Needs no model: first what the question names, then what it finds; that is all.

    ``named`` are the nodes linked from the question, ``found`` the articles of the best candidates, best first.
    """

    named: Sequence[Node]
    found: Sequence[Node]

    def plan(self, state: State) -> Plan:
        rounds = [nodes for nodes in (self.named, self.found) if nodes]
        if state.iteration >= len(rounds):
            return Plan(finish=True)
        return Plan(nodes=tuple(node for node in rounds[state.iteration] if node not in state.explored))


class ModelPlanner:
    """Asks a model at every iteration; it answers in tags, or through a tool where the server knows tools.

    Only the model's own reply is read for tags. What the pack holds reaches it in blocks that it cannot close.
    ``patterns`` are worked examples of Cypher. Raises from ``plan`` what ``CallQuota.complete`` raises.
    """

    def __init__(self, client: CallQuota, model: str, schema: str, patterns: str, trace: Trace) -> None:
        self._client = client
        self._model = model
        self._schema = schema
        self._patterns = patterns
        self._trace = trace
        self._tools = model.startswith("claude")

    def plan(self, state: State) -> Plan:
        reply = self._ask(state)
        used = [use.input for use in reply.tool_uses if use.name == _TOOL]
        plan = _plan_of_tool(used[0]) if used else _plan_of_tags(reply.text)
        if plan.empty and not plan.finish:
            with self._trace.stage("graph_plan") as record:
                record.degrade("the model's reply names nothing to look up")
        return plan

    def _ask(self, state: State) -> Reply:
        name = "graph_plan_iterative" if state.iteration else "graph_plan_initial"
        blocks = [
            ("question", [state.question[:_MAX_QUESTION_CHARS]]),
            ("schema", self._schema.splitlines()),
            ("cypher-examples", self._patterns.splitlines()),
            ("graph-context", state.lines),
            ("query-feedback", state.feedback),
        ]
        content = "\n\n".join(_block(tag, lines) for tag, lines in blocks if lines)
        request: dict[str, Any] = {
            "system": f"{prompt(name)}\n\n{prompt('graph_plan_reply')}",
            "messages": [{"role": "user", "content": content}],
            "max_tokens": _REPLY_TOKENS,
            "model": self._model,
        }
        if self._tools:
            try:
                return self._client.complete(**request, extra={"tools": [_tool()]})
            except BadRequestError as error:
                if "tool" not in error.message.lower():
                    raise
                self._tools = False
                with self._trace.stage("graph_plan") as record:
                    record.warning = f"{error.message} The model is asked for tags instead of a tool."
                    record.degraded = True
        return self._client.complete(**request)


def _tool() -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "name": _TOOL,
        "description": "Say what to look up next in the knowledge graph, or that enough was found.",
        "input_schema": {
            "type": "object",
            "properties": {"entities": texts, "metapaths": texts, "cypher": texts, "finish": {"type": "boolean"}},
            "required": ["finish"],
            "additionalProperties": False,
        },
    }


def _block(tag: str, lines: Sequence[str]) -> str:
    inside = "\n".join(_inert(line) for line in lines)
    return f"<{tag}>\n{inside}\n</{tag}>"


# What could open or close a block, with white space or an unseen character in it as well. The arrows of paths and the
# patterns of Cypher are none and stay as they are.
_TAG = re.compile(r"<(?=[\s\u200b-\u200f\u2060-\u206f\ufeff]*[/!?]|[\u200b-\u200f\u2060-\u206f\ufeff]*[^\W\d])")


def _inert(text: str) -> str:
    return _TAG.sub("‹", scrub(text))


def _plan_of_tool(given: Mapping[str, Any]) -> Plan:
    def texts(name: str) -> tuple[str, ...]:
        values = given.get(name)
        return _cleaned(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()

    if given.get("finish") is True:
        return Plan(finish=True)
    return Plan(mentions=texts("entities"), metapaths=texts("metapaths"), queries=texts("cypher"))


_LOOKED_UP = re.compile(r"<(entity-extraction|path-extraction|opencypher)>.*?</\1>", re.DOTALL)


def _plan_of_tags(reply: str) -> Plan:
    """Read the tags of the reference document; one that is there twice counts as one, a missing one is empty."""
    # A name that the reply repeats from the pack, in a query for example, finishes nothing.
    if any(text.strip() == "FINISH" for text in _tagged(_LOOKED_UP.sub("", reply), "task-completion")):
        return Plan(finish=True)
    return Plan(
        mentions=_cleaned(line for text in _tagged(reply, "entity-extraction") for line in text.splitlines()),
        metapaths=_cleaned(line for text in _tagged(reply, "path-extraction") for line in text.splitlines()),
        queries=_cleaned(_tagged(reply, "opencypher")),
    )


def _tagged(reply: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}>(.*?)</{tag}>", reply, re.DOTALL)


_FENCE = re.compile(r"\A```\w*\s+|\s*```\Z")
_LIST_MARK = re.compile(r"^(?:[-*•]\s+|\d{1,3}[.)]\s+)")


def _cleaned(texts: Any) -> tuple[str, ...]:
    stripped = (_LIST_MARK.sub("", _FENCE.sub("", text.strip()))[:_MAX_CHARS] for text in texts)
    return tuple(dict.fromkeys(text for text in stripped if text))[:_MAX_ITEMS]

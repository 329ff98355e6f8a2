"""Multi-query retrieval: search with rephrasings of the question, too (reference/retrieval-enhancements.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wikigr.errors import WikigrError
from wikigr.question.question import analyze
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.retrieval.fusion import best_of
from wikigr.retrieval.state import RetrievalStage, State
from wikigr.retrieval.trace import StageRecord, Trace

if TYPE_CHECKING:
    from wikigr.llm.model_client import ModelClient

REPHRASINGS = 2

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


def rephrase(question: str, client: ModelClient, model: str) -> list[str]:
    """Return up to two rephrasings of ``question``, written by ``model``.

    The first 500 characters of the question are sent. Raises ``LlmError`` or ``BudgetError`` from the call, and
    ``WikigrError`` when the reply contains no rephrasing.
    """
    from wikigr.llm.prompts import prompt

    # As documented in reference/retrieval-enhancements.md.
    cut = question[:500]
    reply = client.complete(
        model=model,
        system=prompt("rephrase").format(count=REPHRASINGS),
        messages=[{"role": "user", "content": f"<question>\n{cut.replace('<', '&lt;')}\n</question>"}],
        max_tokens=200,
    )
    lines = (_LIST_MARK.sub("", line).strip().strip('"') for line in reply.text.splitlines())
    # A line that ends in a colon introduces the rephrasings.
    wordings = list(dict.fromkeys(line for line in lines if line and not line.endswith(":") and line != cut.strip()))[
        :REPHRASINGS
    ]
    if not wordings:
        raise WikigrError(f"{model} did not rephrase the question.")
    return wordings


class MultiQuery(RetrievalStage[RetrievalOptions]):
    """Add rephrasings of the question to the search."""

    name = "multi_query"
    needs_candidates = False

    def run(self, state: State, record: StageRecord, trace: Trace) -> State:
        if self.resources.model is None:
            record.degrade("there is no model to rephrase the question")
            return state
        wordings = rephrase(state.question.text, self.resources.model, self.resources.synthesis.expansion_model)
        record.scored = len(wordings)
        record.notes["wordings"] = wordings
        lexical = self.resources.pack.lexical
        rephrased = (analyze(wording, lexical, state.question.encode) for wording in wordings)
        return replace(state, wordings=(*state.wordings, *rephrased))


def best_by_title(runs: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Merge results with ``title`` and ``similarity``: keep the best of each title, best first, ties by title."""
    return [dict(r) for r in best_of(runs, key=lambda r: str(r["title"]), score=lambda r: float(r["similarity"]))]

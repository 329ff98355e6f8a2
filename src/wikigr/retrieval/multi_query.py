"""A question in other words, for higher recall (reference/retrieval-enhancements.md, `_multi_query_retrieve`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from wikigr.errors import WikigrError
from wikigr.llm.client import Claude
from wikigr.llm.prompts import prompt
from wikigr.retrieval.fusion import best_of

REPHRASINGS = 2
# Characters of the question that are sent (reference/retrieval-enhancements.md).
SENT_CHARS = 500
_MAX_TOKENS = 200

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


def rephrase(question: str, client: Claude, model: str) -> list[str]:
    """Return up to two other wordings of ``question``, written by ``model``.

    The first 500 characters of the question are sent. Raises ``LlmError`` or ``BudgetError`` from the call, and
    ``WikigrError`` when the reply holds no other wording.
    """
    cut = question[:SENT_CHARS]
    reply = client.complete(
        model=model,
        system=prompt("rephrase").format(count=REPHRASINGS),
        messages=[{"role": "user", "content": f"<question>\n{cut.replace('<', '&lt;')}\n</question>"}],
        max_tokens=_MAX_TOKENS,
    )
    lines = (_LIST_MARK.sub("", line).strip().strip('"') for line in reply.text.splitlines())
    # A line that ends in a colon announces the wordings.
    wordings = list(dict.fromkeys(line for line in lines if line and not line.endswith(":") and line != cut.strip()))[
        :REPHRASINGS
    ]
    if not wordings:
        raise WikigrError(f"{model} gave no other wording of the question.")
    return wordings


def best_by_title(runs: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Merge results that hold ``title`` and ``similarity``: of each title the best, best first, ties by title."""
    return [dict(r) for r in best_of(runs, key=lambda r: str(r["title"]), score=lambda r: float(r["similarity"]))]

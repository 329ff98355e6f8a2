"""A model as a judge: it grades each answer separately, without seeing the profile, on a rubric of three steps.

Its figures are advisory: how well it agrees with people is unknown (Zheng et al. 2023, "Judging LLM-as-a-Judge with
MT-Bench and Chatbot Arena").
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from threading import local
from typing import Any

from wikigr.errors import UsageError
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.samples import Sample
from wikigr.llm import name_of, open_client
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.failures import LlmError
from wikigr.llm.model_client import ModelClient
from wikigr.llm.prompts import object_schema, prompt
from wikigr.llm.reply import Reply
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage, cost

MODEL = "claude-opus-4-6"
NO_JUDGE = "none"
SCORES: Mapping[str, float] = {"correct": 1.0, "partly": 0.5, "incorrect": 0.0}
"""The steps of the rubric and their scores, best first."""
ERROR = "error"
# The metric of the judge's grades.
JUDGED = "judged"

# Enough for a one-sentence reason and the verdict. A longer reply is cut off and has no verdict.
_MAX_TOKENS = 1024

_TOOL: Mapping[str, Any] = {
    "name": "record_verdict",
    "description": "Record the grade of the answer.",
    # The model writes the reason first, so the verdict follows from it.
    "input_schema": object_schema(
        reason={"type": "string", "description": "Why, in one sentence."},
        verdict={"type": "string", "enum": list(SCORES)},
    ),
}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The judge's model and its maximum cost in US dollars (``None`` means no limit).

    ``timeout`` (seconds) and ``retries`` are passed to the client. Raises ``UsageError`` for an alias that may later
    mean another model.
    """

    model: str = MODEL
    max_cost_usd: float | None = None
    timeout: float = 60.0
    retries: int = 2

    def __post_init__(self) -> None:
        if not self.model.strip() or self.model.endswith("latest"):
            raise UsageError(
                f"The judge must be a fixed model, and {self.model!r} does not name one.",
                hint=f"Give the id of a model, such as {MODEL}.",
            )

    @property
    def identity(self) -> str:
        """The model id and a hash of its whole prompt, as stored in ``Run.judge``."""
        rubric = json.dumps([prompt("judge"), _TOOL, SCORES, _MAX_TOKENS], sort_keys=True)
        return f"{name_of(self.model)} rubric:{hashlib.sha256(rubric.encode()).hexdigest()[:16]}"


class Judge:
    """A grader of answers with one budget for all of its clients.

    Raises ``UsageError`` without a key and a server, and for a cost limit on a model with unknown price.
    """

    def __init__(self, options: JudgeOptions, cache: ResponseCache | None = None) -> None:
        if options.max_cost_usd is not None and cost(options.model) is None:
            raise UsageError(
                f"The price of the judge {options.model} is unknown, so its cost cannot be limited.",
                hint="Leave out --judge-max-cost.",
            )
        self.options = options
        self._cache = cache
        self._budget = Budget(max_cost_usd=options.max_cost_usd)
        client = self.connect()
        client.check_model("--judge-model")
        client.close()

    def connect(self) -> ModelClient:
        """Return a new client for ``grade``; each thread needs its own."""
        return open_client(
            self.options.model,
            timeout=self.options.timeout,
            retries=self.options.retries,
            budget=self._budget,
            cache=self._cache,
        )

    def grade(self, question: GoldQuestion, answer: str, client: ModelClient) -> Mapping[str, str]:
        """Return the ``{verdict, reason, model}`` of ``answer``; the verdict is ``error`` if it could not be graded.

        Raises ``BudgetError`` if the call could exceed the budget.
        """
        try:
            reply = client.complete(
                **judge_request(question, answer),
                max_tokens=_MAX_TOKENS,
                extra={"tools": [_TOOL], "tool_choice": {"type": "tool", "name": _TOOL["name"]}, "temperature": 0},
                usable=lambda reply: _read(reply)[0] in SCORES,
            )
        except BudgetError as error:
            error.hint = "Raise --judge-max-cost; the same command then resumes the run."
            raise
        except LlmError as error:
            verdict, reason = ERROR, error.message
        else:
            verdict, reason = _read(reply)
        return {"verdict": verdict, "reason": reason[:1_000], "model": self.options.model}


def judge_request(question: GoldQuestion, answer: str) -> dict[str, Any]:
    """Return the judge's request for ``answer``; it does not depend on the profile."""
    accepted = "\n".join(f"- {' '.join(text.split())}" for text in question.answers) or "(none)"
    blocks = {
        "question": question.question,
        "answerable": "yes" if question.answerable else "no",
        "accepted_answers": accepted,
        "answer_to_grade": answer,
    }
    # Escaped, a text cannot open or close a block.
    escaped = {name: text.replace("<", "&lt;") for name, text in blocks.items()}
    content = "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in escaped.items())
    return {"system": prompt("judge"), "messages": [{"role": "user", "content": content}]}


def _read(reply: Reply) -> tuple[str, str]:
    """Return the verdict and the reason in a reply: one call of the tool, or a text that is exactly its input."""
    if reply.stop_reason in ("max_tokens", "refusal"):
        return ERROR, f"the judge stopped early ({reply.stop_reason})"
    found = reply.input_of(_TOOL["name"])
    if not isinstance(found, Mapping) or found.keys() != {"reason", "verdict"}:
        return ERROR, "the judge gave no verdict"
    verdict, reason = found["verdict"], found["reason"]
    if not isinstance(verdict, str) or verdict not in SCORES or not isinstance(reason, str):
        return ERROR, "the judge gave a verdict outside the rubric"
    return verdict, reason


def judge_samples(
    judge: Judge,
    samples: Sequence[Sample],
    questions: Mapping[str, GoldQuestion],
    *,
    seed: int,
    jobs: int = 1,
) -> Iterator[Sample]:
    """Grade the samples without a verdict and yield them, in a random order determined by ``seed``.

    Failed samples are not judged, and neither are answerable questions without accepted answers, because there is
    nothing to compare the answer with. ``judge_usage`` accumulates over attempts.
    """
    todo = [sample for sample in shuffle_samples(samples, seed) if _needs_verdict(sample, questions)]
    mine = local()
    with ExitStack() as stack:

        def grade(sample: Sample) -> Sample:
            if not hasattr(mine, "client"):
                mine.client = judge.connect()
                stack.callback(mine.client.close)
            before = mine.client.usage
            judgment = judge.grade(questions[sample.question_id], sample.answer, mine.client)
            total = Usage(**sample.judge_usage) + (mine.client.usage - before)
            metrics = {name: value for name, value in sample.metrics.items() if name != JUDGED}
            if judgment["verdict"] in SCORES:
                metrics[JUDGED] = SCORES[judgment["verdict"]]
            used = total.to_dict() if total.calls else {}
            return replace(sample, metrics=metrics, judgment=judgment, judge_usage=used)

        if jobs == 1:
            yield from map(grade, todo)
        else:
            with ThreadPoolExecutor(jobs) as pool:
                yield from pool.map(grade, todo)


def shuffle_samples(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Return all samples of a run in judging order, which does not depend on the samples already judged."""
    ordered = sorted(samples, key=lambda sample: sample.key)
    random.Random(seed).shuffle(ordered)
    return ordered


def _needs_verdict(sample: Sample, questions: Mapping[str, GoldQuestion]) -> bool:
    """Return whether ``sample`` has a gradable answer without a grade; errors of the judge are retried."""
    question = questions[sample.question_id]
    gradable = sample.error is None and bool(question.answers or not question.answerable)
    return gradable and (sample.judgment is None or sample.judgment["verdict"] == ERROR)

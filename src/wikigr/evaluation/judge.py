"""A model as the judge of answers: pointwise, blind to the profile, on a rubric of three steps.

Its figures are advisory until people's labels show how far it agrees with them (Zheng et al. 2023, "Judging
LLM-as-a-Judge with MT-Bench and Chatbot Arena", on why).
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikigr.errors import SourceError, UsageError
from wikigr.evaluation.questions import GoldQuestion
from wikigr.evaluation.run import Run
from wikigr.evaluation.samples import Sample
from wikigr.evaluation.statistics import bootstrap_statistic_interval, cohens_kappa
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.client import BadRequestError, Claude, LlmError, Reply
from wikigr.llm.prices import cost
from wikigr.llm.prompts import prompt
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage
from wikigr.sources.jsonl import JsonlSource

_log = logging.getLogger(__name__)

MODEL = "claude-opus-4-6"
NO_JUDGE = "none"
SCORES: Mapping[str, float] = {"correct": 1.0, "partly": 0.5, "incorrect": 0.0}
"""The steps of the rubric and what they are worth, best first."""
ERROR = "error"
# The metric that holds the judge's grades.
JUDGED = "judged"

# A reason of one sentence and a word; a judge that rambles is cut, and what is cut is no verdict.
_MAX_TOKENS = 1024
_MAX_REASON_LENGTH = 1_000

_TOOL: Mapping[str, Any] = {
    "name": "record_verdict",
    "description": "Record the grade of the answer.",
    "input_schema": {
        "type": "object",
        # The reason comes first, so that the verdict follows from it.
        "properties": {
            "reason": {"type": "string", "description": "Why, in one sentence."},
            "verdict": {"type": "string", "enum": list(SCORES)},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Which model judges, and the most that it may cost in US dollars (``None`` is no limit).

    ``timeout`` (seconds) and ``retries`` are those of ``Claude``. Raises ``UsageError`` for a name that means another
    model tomorrow.
    """

    model: str = MODEL
    max_cost_usd: float | None = None
    timeout: float = 60.0
    retries: int = 2

    def __post_init__(self) -> None:
        if not self.model.strip() or self.model.endswith("latest"):
            raise UsageError(
                f"The judge must be one model for good, and {self.model!r} names none.",
                hint=f"Give the id of a model, such as {MODEL}.",
            )

    @property
    def identity(self) -> str:
        """The model's id and a hash of all that it is told, as ``Run.judge`` keeps them."""
        rubric = json.dumps([prompt("judge"), _TOOL, SCORES, _MAX_TOKENS], sort_keys=True)
        return f"{self.model} rubric:{hashlib.sha256(rubric.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Judgment:
    """What the judge made of an answer: a step of the rubric or ``error``, which is no grade, and why."""

    verdict: str
    reason: str
    model: str


@dataclass(frozen=True, slots=True)
class Label:
    """A person's grade of one answer, a step of the rubric."""

    question_id: str
    profile: str
    repeat: int
    label: str

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the sample that it is about."""
        return self.profile, self.question_id, self.repeat


class Judge:
    """Grades answers within one budget; makes clients as it is asked for them, one for each thread.

    Raises ``UsageError`` when there is neither a key nor a server, and for a limit on the cost of a model whose price
    is unknown.
    """

    def __init__(self, options: JudgeOptions, cache: ResponseCache | None = None) -> None:
        if options.max_cost_usd is not None and cost(options.model) is None:
            raise UsageError(
                f"The price of the judge {options.model} is unknown, so a limit on its cost cannot be kept.",
                hint="Leave out --judge-max-cost.",
            )
        self.options = options
        self._cache = cache
        self._budget = Budget(max_cost_usd=options.max_cost_usd)
        # Newer models take no temperature; the first one that says so settles it for the rest.
        self._sampling: dict[str, Any] = {"temperature": 0}
        self.connect().close()

    def connect(self) -> Claude:
        """Return a new client for ``grade``."""
        return Claude(
            model=self.options.model,
            timeout=self.options.timeout,
            retries=self.options.retries,
            budget=self._budget,
            cache=self._cache,
        )

    def grade(self, question: GoldQuestion, answer: str, client: Claude) -> Judgment:
        """Return the grade of ``answer``, or the ``error`` that kept it from being graded.

        Raises ``BudgetError`` when the call could pass the budget.
        """
        try:
            reply = self._ask(judge_request(question, answer), client)
        except BudgetError as error:
            error.hint = "Raise --judge-max-cost; the same command then goes on with what is left."
            raise
        except LlmError as error:
            return Judgment(ERROR, error.message, self.options.model)
        return _read(reply, self.options.model)

    def _ask(self, request: Mapping[str, Any], client: Claude) -> Reply:
        sampling = self._sampling
        extra = {"tools": [_TOOL], "tool_choice": {"type": "tool", "name": _TOOL["name"]}}
        fields: dict[str, Any] = {**request, "max_tokens": _MAX_TOKENS, "usable": _has_verdict}
        try:
            return client.complete(**fields, extra={**extra, **sampling})
        except BadRequestError as error:
            if not sampling or "temperature" not in error.message.lower():
                raise
            _log.warning("%s takes no temperature, so that its verdicts may vary.", self.options.model)
            self._sampling = {}
        return client.complete(**fields, extra=extra)


def judge_request(question: GoldQuestion, answer: str) -> dict[str, Any]:
    """Return what the judge is sent about ``answer``: nothing in it depends on who gave the answer."""
    accepted = "\n".join(f"- {' '.join(text.split())}" for text in question.answers) or "(none)"
    blocks = {
        "question": question.question,
        "answerable": "yes" if question.answerable else "no",
        "accepted_answers": accepted,
        "answer_to_grade": answer,
    }
    told = "\n\n".join(f"<{name}>\n{_disarmed(text)}\n</{name}>" for name, text in blocks.items())
    return {"system": prompt("judge"), "messages": [{"role": "user", "content": told}]}


def _disarmed(text: str) -> str:
    """Return ``text`` so that it can neither open nor close a block."""
    return text.replace("<", "&lt;")


def _has_verdict(reply: Reply) -> bool:
    return _read(reply, reply.model).verdict in SCORES


def _read(reply: Reply, model: str) -> Judgment:
    """Return the verdict in a reply: one call of the tool, or a text that is exactly its input and nothing else."""
    if reply.stop_reason in ("max_tokens", "refusal"):
        return Judgment(ERROR, f"the judge stopped early ({reply.stop_reason})", model)
    found: object = None
    if len(reply.tool_uses) == 1 and reply.tool_uses[0].name == _TOOL["name"]:
        found = reply.tool_uses[0].input
    elif not reply.tool_uses:
        # A local server may know no tools.
        try:
            found = json.loads(reply.text)
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, Mapping) or found.keys() != {"reason", "verdict"}:
        return Judgment(ERROR, "the judge gave no verdict", model)
    verdict, reason = found["verdict"], found["reason"]
    if not isinstance(verdict, str) or verdict not in SCORES or not isinstance(reason, str):
        return Judgment(ERROR, "the judge gave a verdict that is none of the rubric's", model)
    return Judgment(verdict, reason[:_MAX_REASON_LENGTH], model)


def judge_samples(
    judge: Judge,
    samples: Sequence[Sample],
    questions: Mapping[str, GoldQuestion],
    *,
    seed: int,
    jobs: int = 1,
) -> Iterator[Sample]:
    """Yield each sample that has no verdict yet with one, in a random order that ``seed`` decides.

    Not judged are samples that failed, and answerable questions of which the gold is a place and no answer: there is
    nothing to hold an answer against. ``judge_usage`` adds up over attempts.
    """
    todo = [sample for sample in shuffled(samples, seed) if to_judge(sample, questions)]
    mine = local()
    with ExitStack() as stack:

        def grade(sample: Sample) -> Sample:
            if not hasattr(mine, "client"):
                mine.client = judge.connect()
                stack.callback(mine.client.close)
            before = mine.client.usage
            judgment = judge.grade(questions[sample.question_id], sample.answer, mine.client)
            return _with_judgment(sample, judgment, mine.client.usage - before)

        if jobs == 1:
            yield from map(grade, todo)
        else:
            with ThreadPoolExecutor(jobs) as pool:
                yield from pool.map(grade, todo)


def shuffled(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """Return all of a run's samples in the order in which they are judged, whichever of them already are."""
    ordered = sorted(samples, key=lambda sample: sample.key)
    random.Random(seed).shuffle(ordered)
    return ordered


def to_judge(sample: Sample, questions: Mapping[str, GoldQuestion]) -> bool:
    """Whether ``sample`` has an answer that can be graded and was not; errors are tried again."""
    question = questions[sample.question_id]
    gradable = sample.error is None and bool(question.answers or not question.answerable)
    return gradable and (sample.judgment is None or sample.judgment["verdict"] == ERROR)


def _with_judgment(sample: Sample, judgment: Judgment, used: Usage) -> Sample:
    metrics = {name: value for name, value in sample.metrics.items() if name != JUDGED}
    if judgment.verdict in SCORES:
        metrics[JUDGED] = SCORES[judgment.verdict]
    total = Usage(**sample.judge_usage) + used
    return replace(
        sample,
        metrics=metrics,
        judgment=asdict(judgment),
        judge_usage=total.to_dict() if total.calls else {},
    )


def read_labels(
    path: Path | str, *, questions: Collection[str], profiles: Collection[str], repeats: int
) -> list[Label]:
    """Read people's grades: JSON Lines of ``{question_id, profile, repeat?, label}``, ``repeat`` being 0 if left out.

    Raises ``UsageError`` for a file that cannot be read and, naming the line, for one that is no such label, of a
    question, profile or repeat that the run has not, or of an answer that has a label already.
    """
    found: dict[tuple[str, str, int], int] = {}
    labels = []
    try:
        for record in JsonlSource(path).records():
            where = f"{path}, line {record.line}"
            label = _label(record.data, where)
            for value, known, name in (
                (label.question_id, questions, "question"),
                (label.profile, profiles, "profile"),
                (label.repeat, range(repeats), "repeat"),
            ):
                if value not in known:
                    raise UsageError(f"{where}: the run has no {name} {value!r}.")
            if label.label not in SCORES:
                raise UsageError(f"{where}: {label.label!r} is no label.", hint=f"Use {', '.join(SCORES)}.")
            first = found.setdefault(label.key, record.line)
            if first != record.line:
                raise UsageError(f"{where}: the same answer has a label on line {first}.")
            labels.append(label)
    except SourceError as error:
        raise UsageError(f"The labels cannot be read: {error.message}", hint=error.hint) from error
    return labels


def _label(line: bytes, where: str) -> Label:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: no JSON: {error}.") from error
    if not isinstance(row, dict):
        raise UsageError(f"{where}: no JSON object.")
    unknown = row.keys() - {"question_id", "profile", "repeat", "label"}
    if unknown:
        raise UsageError(f"{where}: {sorted(unknown)[0]!r} is no field of a label.")
    for name in ("question_id", "profile", "label"):
        if not isinstance(row.get(name), str):
            raise UsageError(f"{where}: {name} is missing or no text.")
    repeat = row.get("repeat", 0)
    if isinstance(repeat, bool) or not isinstance(repeat, int):
        raise UsageError(f"{where}: repeat is no whole number.")
    return Label(row["question_id"], row["profile"], repeat, row["label"])


def agreement(
    samples: Sequence[Sample], labels: Sequence[Label], *, seed: int, resamples: int = 9999
) -> dict[str, Any]:
    """Return how far the judge and people agree on the answers that both graded.

    ``items`` counts these; ``kappa`` is Cohen's, unweighted, and ``None`` where it is not defined (no items, or one
    step for all by both). ``interval`` is its 95 % bootstrap interval, whole questions being drawn, and ``None`` where
    the items have no spread to draw from.
    """
    judged = {s.key: str(s.judgment["verdict"]) for s in samples if s.judgment is not None}
    both = [label for label in labels if judged.get(label.key) in SCORES]
    none = {"items": len(both), "kappa": None, "interval": None}
    if not both:
        return none
    machine, people = [judged[label.key] for label in both], [label.label for label in both]
    kappa = cohens_kappa(machine, people)
    if np.isnan(kappa):
        return none
    steps = list(SCORES)
    cells = np.zeros((len(both), len(steps), len(steps)))
    for place, (one, other) in enumerate(zip(machine, people, strict=True)):
        cells[place, steps.index(one), steps.index(other)] = 1.0
    interval = bootstrap_statistic_interval(
        lambda weights: _kappas(weights @ cells.reshape(len(both), -1), len(steps)),
        len(both),
        seed=seed,
        resamples=resamples,
        clusters=[label.question_id for label in both],
    )
    ends = None if interval.method == "degenerate" else [interval.low, interval.high]
    return {"items": len(both), "kappa": kappa, "interval": ends}


def _kappas(counts: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    """Return Cohen's kappa of each row of ``counts``, of shape ``(k, steps * steps)``; NaN where it is not defined."""
    tables = counts.reshape(-1, steps, steps)
    n = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) * n
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected < n * n, (observed - expected) / (n * n - expected), np.nan)


def judge_document(run: Run, samples: Sequence[Sample], labels: Sequence[Label] | None = None) -> dict[str, Any] | None:
    """Return what a report says of the judge, or ``None`` for a run without one.

    ``judged`` counts verdicts, ``errors`` replies that were none. ``agreement`` is ``None`` without ``labels``, and
    the figures are ``advisory`` unless it holds a kappa. Usage and cost are of the judge alone.
    """
    if run.judge == NO_JUDGE:
        return None
    agreed = None if labels is None else agreement(samples, labels, seed=run.seed)
    used = sum((Usage(**sample.judge_usage) for sample in samples), Usage())
    verdicts = [sample.judgment["verdict"] for sample in samples if sample.judgment is not None]
    model, _, rubric = run.judge.partition(" rubric:")
    return {
        "model": model,
        "rubric": rubric,
        "judged": sum(verdict in SCORES for verdict in verdicts),
        "errors": sum(verdict == ERROR for verdict in verdicts),
        "usage": {
            "calls": used.calls,
            "input_tokens": used.input_tokens,
            "output_tokens": used.output_tokens,
            "cache_read_tokens": used.cache_read_tokens,
            "cache_write_tokens": used.cache_write_tokens,
        },
        "cost_usd": used.cost_usd,
        "agreement": agreed,
        "advisory": agreed is None or agreed["kappa"] is None,
    }

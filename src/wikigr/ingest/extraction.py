"""Optional stage after linking: a model extracts the entities and relations that each section states.

Each reply is in the cache of responses as soon as it arrives, so that the next build pays for no text twice.
``extraction_validation`` and ``entity_resolution`` process the replies.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from threading import local

from wikigr.errors import BuildError, UsageError
from wikigr.ingest.entity_resolution import resolve_entities
from wikigr.ingest.extraction_format import (
    MAX_REPLY_TOKENS,
    TOOL,
    Extraction,
    SectionText,
    is_readable,
    prompt_version,
    read_reply,
    section_request,
)
from wikigr.ingest.staging import Staging
from wikigr.llm import open_client
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.failures import LlmError
from wikigr.llm.model_client import ModelClient
from wikigr.llm.prompts import prompt
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage, cost
from wikigr.progress import Progress

MODEL = "claude-haiku-4-5"
MAX_COST_USD = 5.0
"""The default limit on the cost of an extraction."""

# Concurrent calls: fast, and far below any account's rate limit.
_JOBS = 4
# Statuses that will not change with the next section: invalid key, missing permission, unknown model.
_PERMANENT_STATUSES = (401, 403, 404)

_CACHED = "Replies that are paid for are cached, so the same command does not pay for them again."

_EXTRA = {"tools": [TOOL], "tool_choice": {"type": "tool", "name": TOOL["name"]}, "temperature": 0}

# The sections to read, each text once.
_TEXTS = "(SELECT min(id) AS id, embedding_text AS text FROM section GROUP BY hash)"


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """The model, and the limit on its cost in US dollars (``math.inf`` for none).

    The limit applies to one build; replies in the cache cost nothing. Raises ``UsageError`` for an invalid limit, an
    empty model name, and a finite limit on a model whose price is unknown.
    """

    model: str = MODEL
    max_cost_usd: float = MAX_COST_USD

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("The name of the extraction model is empty.", hint=f"Give its id, such as {MODEL}.")
        if math.isnan(self.max_cost_usd) or self.max_cost_usd < 0:
            raise UsageError(f"The cost limit cannot be {self.max_cost_usd} dollars.", hint="Give 0 or more.")
        if math.isfinite(self.max_cost_usd) and cost(self.model) is None:
            raise UsageError(
                f"The price of the model {self.model} is unknown, so its cost cannot be limited.",
                hint="Add --extract-max-cost inf if the model is free or billed in another way.",
            )


@dataclass(frozen=True, slots=True)
class FailedSection:
    """A section that was skipped because the model gave no readable reply."""

    section_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """The result of an extraction.

    ``sections`` counts sections with a reply. ``asked`` and ``cached`` count the calls that went to the model or were
    answered by the cache. ``dropped`` counts rejected items by reason.
    """

    model: str
    prompt: str
    sections: int
    failed: tuple[FailedSection, ...]
    asked: int
    cached: int
    dropped: Mapping[str, int]
    usage: Usage

    def to_record(self) -> dict[str, str | int]:
        """Return the record for the pack's manifest."""
        return {"model": self.model, "prompt": self.prompt, "sections": self.sections, "failed": len(self.failed)}


@dataclass(frozen=True, slots=True)
class _Unread:
    """A section without a reply."""

    section_id: str
    hash: bytes
    text: SectionText


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The outcome of a request about a section; ``error`` is set if the server gave no reply at all."""

    extraction: Extraction | None
    reason: str
    usage: Usage
    error: LlmError | None = None


class Extractor:
    """Extracts entities and relations from the sections of one build, within one budget.

    Raises ``UsageError`` if neither an API key nor a server is configured.
    """

    def __init__(self, options: ExtractionOptions, cache: ResponseCache | None = None) -> None:
        self.options = options
        self._cache = cache
        self._budget: Budget | None = None
        client = self._connect()
        client.check_model("--extract-model")
        client.close()

    def _connect(self) -> ModelClient:
        # The waits between the attempts add up to about 15 seconds.
        return open_client(self.options.model, timeout=60.0, retries=5, budget=self._budget, cache=self._cache)

    def extract(self, staging: Staging, progress: Progress) -> ExtractionReport:
        """Request a reply for every section, then fill the ``extracted_`` tables from them.

        Raises ``BuildError`` if the budget is exhausted or more than a tenth of the sections have no readable reply,
        and ``LlmError`` if the server does not respond.
        """
        (total,) = next(staging.rows("SELECT count(DISTINCT hash) FROM section"))
        run = _Run(self.options.model, staging, progress, total)
        limit = self.options.max_cost_usd
        self._budget = Budget(max_cost_usd=limit if math.isfinite(limit) else None)
        progress.start("extracting", total, "sections")
        progress.note(_estimate(run, limit))
        self._request_all(run)
        dropped = resolve_entities(staging)
        (sections,) = next(staging.rows("SELECT count(*) FROM section JOIN extraction USING (hash)"))
        return ExtractionReport(
            model=run.model,
            prompt=prompt_version(),
            sections=int(sections),
            failed=tuple(sorted(run.failed, key=lambda failed: failed.section_id)),
            asked=run.asked,
            cached=run.cached,
            dropped=dict(sorted(dropped.items())),
            usage=run.usage,
        )

    def _request_all(self, run: _Run) -> None:
        """Request the replies, a few at a time, and store each one when it arrives."""
        thread = local()
        clients: list[ModelClient] = []

        def ask(section: _Unread) -> _Outcome:
            if not hasattr(thread, "client"):
                thread.client = self._connect()
                clients.append(thread.client)
            return self._ask(section, thread.client)

        pool = ThreadPoolExecutor(_JOBS)
        pending: dict[Future[_Outcome], _Unread] = {}
        refused: deque[_Unread] = deque()
        todo = run.sections()
        try:
            while True:
                while not refused and len(pending) < _JOBS and (section := next(todo, None)) is not None:
                    pending[pool.submit(ask, section)] = section
                # Pending calls reserve their worst case. A section that the budget refused for that reason is retried
                # once no call is pending.
                alone = not pending
                if alone and refused:
                    section = refused.popleft()
                    pending[pool.submit(ask, section)] = section
                if not pending:
                    break
                finished, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in [future for future in pending if future in finished]:
                    section = pending.pop(future)
                    error = future.exception()
                    if not isinstance(error, BudgetError):
                        run.take(section, future.result())
                    elif alone:
                        raise self._budget_exhausted(run) from error
                    else:
                        refused.append(section)
        except BuildError:
            # Those under way are paid for: let them reach the cache.
            wait(pending)
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            run.asked = sum(client.asked for client in clients)
            run.cached = sum(client.hits for client in clients)
            if all(future.done() for future in pending):
                for client in clients:
                    client.close()

    def _ask(self, section: _Unread, client: ModelClient) -> _Outcome:
        before = client.usage
        reason = ""
        for attempt in range(2):  # an unreadable reply is requested once more
            try:
                request = section_request(section.text)
                reply = client.complete(**request, max_tokens=MAX_REPLY_TOKENS, extra=_EXTRA, usable=is_readable)
                extraction = read_reply(reply)
            except BudgetError:
                if attempt == 0:
                    raise
                break
            except LlmError as error:
                used = client.usage - before
                # A billed call did get a reply, although an unusable one such as a refusal.
                return _Outcome(None, error.message, used, error=None if used.calls else error)
            if isinstance(extraction, Extraction):
                return _Outcome(extraction, "", client.usage - before)
            reason = extraction
        return _Outcome(None, reason, client.usage - before)

    def _budget_exhausted(self, run: _Run) -> BuildError:
        return BuildError(
            f"The extraction stopped at its budget of ${self.options.max_cost_usd:.2f} (--extract-max-cost): "
            f"{run.done:,} of {run.total:,} sections are done, for ${run.usage.cost_usd or 0.0:.4f}, and another call "
            "could exceed it.",
            hint=f"{_CACHED} Run the same command again, or with a larger --extract-max-cost.",
        )


def _estimate(run: _Run, limit: float) -> str:
    """Return a sentence that estimates the calls and their cost, without the savings of the response cache."""
    (size,) = next(run.staging.rows(f"SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM {_TEXTS}"))
    overhead = len(prompt("extract").encode()) + len(json.dumps(TOOL))
    # A token of English text has about 4 bytes, and a reply about 500 tokens.
    tokens_in = (int(size) + run.total * overhead) // 4
    tokens_out = run.total * 500
    price = cost(run.model, input_tokens=tokens_in, output_tokens=tokens_out)
    estimate = (
        f"{run.model} will read {run.total:,} sections: about {tokens_in:,} input tokens and {tokens_out:,} output "
        "tokens"
    )
    if price is None:
        return f"{estimate}, at an unknown price."
    estimate += f", about ${price:.2f} without what is cached"
    if not math.isfinite(limit):
        return f"{estimate}, without a limit."
    estimate += f", with a limit of ${limit:.2f} (--extract-max-cost)."
    if price > limit:
        estimate += " The limit is probably too low for all sections; replies that are paid for stay in the cache."
    return estimate


@dataclass(slots=True)
class _Run:
    """The state of one extraction run: progress, failures and cost."""

    model: str
    staging: Staging
    progress: Progress
    total: int
    done: int = 0
    asked: int = 0
    cached: int = 0
    usage: Usage = field(default_factory=Usage)
    failed: list[FailedSection] = field(default_factory=list)
    _consecutive_failures: int = 0

    def sections(self) -> Iterator[_Unread]:
        """Yield the sections to read, in order of title and position."""
        numbers = [
            number
            for (number,) in self.staging.rows(
                f"SELECT t.id FROM {_TEXTS} t JOIN section s ON s.id = t.id JOIN article a ON a.id = s.article "
                "ORDER BY a.title, s.position"
            )
        ]
        query = (
            "SELECT s.section_id, s.hash, a.title, s.heading_path, s.content FROM section s "
            "JOIN article a ON a.id = s.article WHERE s.id = ?"
        )
        for number in numbers:
            section_id, key, title, path, content = next(self.staging.rows(query, (number,)))
            yield _Unread(section_id, key, SectionText(title, tuple(json.loads(path)), content))

    def take(self, section: _Unread, outcome: _Outcome) -> None:
        """Store the outcome for a section; raise ``BuildError`` or ``LlmError`` if the run should stop."""
        self.usage += outcome.usage
        self.progress.advance(1)
        if outcome.extraction is not None:
            reply = json.dumps(asdict(outcome.extraction))
            with self.staging.transaction():
                self.staging.write("INSERT INTO extraction VALUES (?, ?)", [(section.hash, reply)])
            self.done += 1
            self._consecutive_failures = 0
            return
        self.failed.append(FailedSection(section.section_id, outcome.reason))
        error = outcome.error
        self._consecutive_failures = 0 if error is None else self._consecutive_failures + 1
        # With more gaps than that, the graph would be of little use.
        too_many = len(self.failed) > 0.1 * self.total
        # After four calls without any reply, the problem is the server and not the sections.
        if error is not None and (too_many or self._consecutive_failures >= 4 or error.status in _PERMANENT_STATUSES):
            resume = f"{self.done:,} of {self.total:,} sections are done. {_CACHED}"
            error.hint = f"{error.hint} {resume}" if error.hint else resume
            raise error
        if too_many:
            raise BuildError(
                f"The extraction stopped because more than a tenth of the sections failed: {len(self.failed):,} of "
                f"{self.total:,}. The last one: {section.section_id}: {outcome.reason.rstrip('.')}.",
                hint=f"{_CACHED} Run the same command again to retry the others, or choose another model with "
                "--extract-model.",
            )

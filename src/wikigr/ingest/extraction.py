"""Optional stage after linking: a model reads every section and says which entities and relations it states.

Each reply is kept in the staging, under the section's text, the prompt and the model, as soon as it came: a build that
was killed or stopped goes on without asking again. What the replies are worth is decided in ``extracted_graph``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from threading import local
from typing import Any

from wikigr.errors import BuildError, UsageError
from wikigr.ingest import extracted_graph
from wikigr.ingest.extracted_graph import TYPES, Found, SectionText, parse_found
from wikigr.ingest.staging import Staging
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.client import BadRequestError, Claude, LlmError, Reply
from wikigr.llm.prices import cost
from wikigr.llm.prompts import prompt
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage
from wikigr.progress import Progress
from wikigr.text import scrub

MODEL = "claude-haiku-4-5"
MAX_COST_USD = 5.0
"""What an extraction may cost where nothing else was said."""

# Calls under way at once: fast, and far from any account's limit on the rate.
_JOBS = 4
# A reply that cannot be read is asked for once more.
_ATTEMPTS = 2
# 20 entities and 20 relations with their evidence are about 2,000 tokens.
_MAX_TOKENS = 4096
# Seconds, and attempts after the first: the waits between them add up to about a quarter of a minute.
_TIMEOUT = 60.0
_RETRIES = 5
# After so many calls in a row that brought no reply at all, the server is the trouble and not the sections.
_TROUBLED = 4
# Statuses that no other section will change: key, permission, model.
_HOPELESS = (401, 403, 404)
# More than this share of sections without a readable reply, and the graph would have holes.
_MAX_FAILED = 0.1
# Of an estimate: bytes to a token of English, and tokens that a section's reply has on average.
_BYTES_PER_TOKEN = 4
_REPLY_TOKENS = 500

_SPENT = "extraction_usd"

# The sections without a reply, each text once.
_MISSING = (
    "(SELECT min(id) AS id, embedding_text AS text FROM section s WHERE NOT EXISTS (SELECT 1 FROM extraction e "
    "WHERE e.hash = s.hash AND e.prompt = :prompt AND e.model = :model) GROUP BY hash)"
)
# The sections with one.
_READ = "section s JOIN extraction e ON e.hash = s.hash AND e.prompt = :prompt AND e.model = :model"

_TOOL: Mapping[str, Any] = {
    "name": "record_graph",
    "description": "Record the entities and relations that the section states.",
    "strict": True,
    "input_schema": {
        "type": "object",
        "properties": {
            "entities": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "type": {"type": "string", "enum": list(TYPES)},
                        "aliases": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["name", "type", "aliases"],
                    "additionalProperties": False,
                },
            },
            "relations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "subject": {"type": "string"},
                        "relation": {"type": "string"},
                        "object": {"type": "string"},
                        "evidence": {"type": "string"},
                    },
                    "required": ["subject", "relation", "object", "evidence"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["entities", "relations"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """Which model reads, and the most that it may cost in US dollars (``math.inf`` is no limit).

    The limit is that of the pack: what earlier runs of an unfinished build spent counts. Raises ``UsageError`` for a
    limit that is none, a model without a name, and a limit on a model whose price is unknown.
    """

    model: str = MODEL
    max_cost_usd: float = MAX_COST_USD

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError("The model for the extraction has no name.", hint=f"Give its id, such as {MODEL}.")
        if math.isnan(self.max_cost_usd) or self.max_cost_usd < 0:
            raise UsageError(f"An extraction cannot cost {self.max_cost_usd} dollars.", hint="Give 0 or more.")
        if math.isfinite(self.max_cost_usd) and cost(self.model) is None:
            raise UsageError(
                f"The price of the model {self.model} is unknown, so a limit on the cost cannot be kept.",
                hint="Add --extract-max-cost inf where the model costs nothing, or is paid for in another way.",
            )


@dataclass(frozen=True, slots=True)
class FailedSection:
    """A section that was left out because no reply about it could be read."""

    section_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """What an extraction did. ``sections`` were read, of which ``kept`` in an earlier run; ``asked`` and ``cached``
    count calls of this run that went to the model or were answered by the cache, ``dropped`` what was not believed by
    its reason. ``usage`` is that of this run.
    """

    model: str
    prompt: str
    sections: int
    failed: tuple[FailedSection, ...]
    kept: int
    asked: int
    cached: int
    dropped: Mapping[str, int]
    usage: Usage

    def to_record(self) -> dict[str, str | int]:
        """Return what the pack's manifest keeps."""
        return {"model": self.model, "prompt": self.prompt, "sections": self.sections, "failed": len(self.failed)}


def prompt_version() -> str:
    """Return a hash of all that a model is told beside the section."""
    told = json.dumps([prompt("extract"), _TOOL, _MAX_TOKENS], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def section_request(section: SectionText) -> dict[str, Any]:
    """Return what the model is sent about ``section``; nothing in its text can open or close a block."""
    blocks = {"title": section.title, "headings": " > ".join(section.heading_path), "section": section.content}
    told = "\n\n".join(f"<{name}>\n{_disarmed(text)}\n</{name}>" for name, text in blocks.items())
    return {"system": prompt("extract"), "messages": [{"role": "user", "content": told}]}


def _disarmed(text: str) -> str:
    return scrub(text).replace("<", "&lt;")


def read_reply(reply: Reply) -> Found | str:
    """Return what a reply says, or why it cannot be read: it must be one call of the tool, or its input as text."""
    if reply.stop_reason in ("max_tokens", "refusal"):
        return f"the model stopped early ({reply.stop_reason})"
    given: object = None
    if len(reply.tool_uses) == 1 and reply.tool_uses[0].name == _TOOL["name"]:
        given = reply.tool_uses[0].input
    elif not reply.tool_uses:
        # A local server may know no tools.
        try:
            given = json.loads(reply.text)
        except (ValueError, RecursionError):
            return "the reply holds no call of the tool"
    found = parse_found(given)
    return "the reply is not of the form that was asked for" if found is None else found


def _is_readable(reply: Reply) -> bool:
    return isinstance(read_reply(reply), Found)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A section that is to be read."""

    section_id: str
    hash: bytes
    text: SectionText


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of asking about a section; ``silence`` is the error where no reply came at all."""

    found: Found | None
    reason: str
    usage: Usage
    silence: LlmError | None = None


class Extractor:
    """Reads the sections of one build with a model, within one budget.

    Raises ``UsageError`` when there is neither a key nor a server for a model.
    """

    def __init__(self, options: ExtractionOptions, cache: ResponseCache | None = None) -> None:
        self.options = options
        self._cache = cache
        self._budget: Budget | None = None
        # What a server may not know: the first one that says so settles it for the rest.
        self._sampling: dict[str, Any] = {"temperature": 0}
        self._tool = _TOOL
        self._connect().close()

    def _connect(self) -> Claude:
        return Claude(
            model=self.options.model,
            timeout=_TIMEOUT,
            retries=_RETRIES,
            budget=self._budget,
            cache=self._cache,
        )

    def extract(self, staging: Staging, progress: Progress) -> ExtractionReport:
        """Read every section of which there is no reply yet, then fill the ``extracted_`` tables from all replies.

        Every reply is kept in a transaction of its own. Raises ``BuildError`` when the budget is used up or more than
        a tenth of the sections cannot be read, and ``LlmError`` when the server does not answer; the next run goes on.
        """
        run = _Run(self.options.model, prompt_version(), staging, progress)
        run.count()
        if run.missing:
            limit = self.options.max_cost_usd
            self._budget = Budget(max_cost_usd=limit if math.isfinite(limit) else None)
            self._budget.settle(Usage(cost_usd=run.spent_before))
            progress.start("extracting", run.total, "sections", done=run.total - run.missing)
            progress.note(_estimate(run, limit))
            self._read(run)
        dropped = extracted_graph.merge(staging, run.prompt, run.model)
        (sections,) = next(staging.rows(f"SELECT count(*) FROM {_READ}", run.key))
        return ExtractionReport(
            model=run.model,
            prompt=run.prompt,
            sections=int(sections),
            failed=tuple(sorted(run.failed, key=lambda failed: failed.section_id)),
            kept=run.total - run.missing,
            asked=run.asked,
            cached=run.cached,
            dropped=dict(sorted(dropped.items())),
            usage=run.usage,
        )

    def _read(self, run: _Run) -> None:
        """Ask about all sections that are missing, a few at a time, and keep each reply when it comes."""
        mine = local()
        clients: list[Claude] = []

        def ask(section: _Missing) -> _Outcome:
            if not hasattr(mine, "client"):
                mine.client = self._connect()
                clients.append(mine.client)
            return self._ask(section, mine.client)

        pool = ThreadPoolExecutor(_JOBS)
        pending: dict[Future[_Outcome], _Missing] = {}
        refused: deque[_Missing] = deque()
        todo = run.sections()
        try:
            while True:
                while not refused and len(pending) < _JOBS and (section := next(todo, None)) is not None:
                    pending[pool.submit(ask, section)] = section
                # Calls under way hold their worst case back. What the budget refused because of them is asked alone.
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
                        raise self._used_up(run) from error
                    else:
                        refused.append(section)
        except BuildError:
            wait(pending)
            raise
        finally:
            # Whatever ended it: no further call is begun, and what has come in by now is kept, for it is paid for.
            pool.shutdown(wait=False, cancel_futures=True)
            run.keep_finished(pending)
            run.asked = sum(client.asked for client in clients)
            run.cached = sum(client.hits for client in clients)
            if all(future.done() for future in pending):
                for client in clients:
                    client.close()

    def _ask(self, section: _Missing, client: Claude) -> _Outcome:
        before = client.usage
        reason = ""
        for attempt in range(_ATTEMPTS):
            try:
                found = read_reply(self._complete(section_request(section.text), client))
            except BudgetError:
                if attempt == 0:
                    raise
                break
            except LlmError as error:
                used = client.usage - before
                # What was billed was a reply: one that says nothing, such as a refusal.
                return _Outcome(None, error.message, used, silence=None if used.calls else error)
            if isinstance(found, Found):
                return _Outcome(found, "", client.usage - before)
            reason = found
        return _Outcome(None, reason, client.usage - before)

    def _complete(self, request: Mapping[str, Any], client: Claude) -> Reply:
        for _ in range(3):
            sampling, tool = self._sampling, self._tool
            extra = {"tools": [tool], "tool_choice": {"type": "tool", "name": tool["name"]}, **sampling}
            try:
                return client.complete(**request, max_tokens=_MAX_TOKENS, extra=extra, usable=_is_readable)
            except BadRequestError as error:
                said = error.message.lower()
                if sampling and "temperature" in said:
                    self._sampling = {}
                elif "strict" in tool and "strict" in said:
                    self._tool = {name: value for name, value in tool.items() if name != "strict"}
                else:
                    raise
        raise AssertionError("a server may refuse two things, once each")

    def _used_up(self, run: _Run) -> BuildError:
        return BuildError(
            f"The extraction was stopped by its budget of ${self.options.max_cost_usd:.2f} (--extract-max-cost): "
            f"{run.done:,} of {run.total:,} sections are read, for ${run.spent:.4f}, and the next call could pass it.",
            hint="What was read is kept: run the same command with a larger --extract-max-cost, and it goes on there.",
        )


def _estimate(run: _Run, limit: float) -> str:
    """Return what is about to be asked, in words; what the cache of replies holds will cost less."""
    (size,) = next(run.staging.rows(f"SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM {_MISSING}", run.key))
    overhead = len(prompt("extract").encode()) + len(json.dumps(_TOOL))
    tokens_in = (int(size) + run.missing * overhead) // _BYTES_PER_TOKEN
    tokens_out = run.missing * _REPLY_TOKENS
    price = cost(run.model, input_tokens=tokens_in, output_tokens=tokens_out)
    told = (
        f"{run.model} is to read {run.missing:,} sections"
        + (f" ({run.total - run.missing:,} more are read already)" if run.missing < run.total else "")
        + f": about {tokens_in:,} tokens in and {tokens_out:,} out"
    )
    if price is None:
        return f"{told}, at a price that is unknown."
    told += f", about ${price:.2f}"
    if run.spent_before:
        told += f" after ${run.spent_before:.2f} before"
    if not math.isfinite(limit):
        return f"{told}, without a limit."
    told += f", of at most ${limit:.2f} (--extract-max-cost)."
    if run.spent_before + price > limit:
        told += " That will probably not do for all; what is read by then is kept."
    return told


@dataclass(slots=True)
class _Run:
    """One run of the extraction: what is done, what failed, what it cost."""

    model: str
    prompt: str
    staging: Staging
    progress: Progress
    total: int = 0
    missing: int = 0
    done: int = 0
    asked: int = 0
    cached: int = 0
    spent_before: float = 0.0
    usage: Usage = field(default_factory=Usage)
    failed: list[FailedSection] = field(default_factory=list)
    _silent: int = 0

    @property
    def spent(self) -> float:
        return self.spent_before + (self.usage.cost_usd or 0.0)

    @property
    def key(self) -> dict[str, str]:
        """What a kept reply must be of, beside the section: the parameters of ``_MISSING``."""
        return {"prompt": self.prompt, "model": self.model}

    def count(self) -> None:
        (self.total,) = next(self.staging.rows("SELECT count(DISTINCT hash) FROM section"))
        (self.missing,) = next(self.staging.rows(f"SELECT count(*) FROM {_MISSING}", self.key))
        self.done = self.total - self.missing
        self.spent_before = float(self.staging.meta(_SPENT) or 0.0)

    def sections(self) -> Iterator[_Missing]:
        """Yield the sections without a reply, in order of title and position."""
        numbers = [
            number
            for (number,) in self.staging.rows(
                f"SELECT m.id FROM {_MISSING} m JOIN section s ON s.id = m.id JOIN article a ON a.id = s.article "
                "ORDER BY a.title, s.position",
                self.key,
            )
        ]
        query = (
            "SELECT s.section_id, s.hash, a.title, s.heading_path, s.content FROM section s "
            "JOIN article a ON a.id = s.article WHERE s.id = ?"
        )
        for number in numbers:
            section_id, key, title, path, content = next(self.staging.rows(query, (number,)))
            yield _Missing(section_id, key, SectionText(title, tuple(json.loads(path)), content))

    def take(self, section: _Missing, outcome: _Outcome) -> None:
        """Keep what came of a section; raises ``BuildError`` or ``LlmError`` when it is no use to go on."""
        self._keep(section, outcome)
        self.progress.advance(1)
        if outcome.found is not None:
            self._silent = 0
            return
        self.failed.append(FailedSection(section.section_id, outcome.reason))
        error = outcome.silence
        self._silent = 0 if error is None else self._silent + 1
        too_many = len(self.failed) > _MAX_FAILED * self.total
        if error is not None and (too_many or self._silent >= _TROUBLED or error.status in _HOPELESS):
            went_on = f"{self.done:,} of {self.total:,} sections are read and kept; the same command goes on there."
            error.hint = f"{error.hint} {went_on}" if error.hint else went_on
            raise error
        if too_many:
            raise BuildError(
                f"The extraction was stopped: {len(self.failed):,} of {self.total:,} sections could not be read, more "
                f"than a tenth. The last one: {section.section_id}: {outcome.reason.rstrip('.')}.",
                hint="What was read is kept. Run the same command again, which asks about the others once more, or "
                "choose another model with --extract-model.",
            )

    def keep_finished(self, pending: Mapping[Future[_Outcome], _Missing]) -> None:
        """Keep the replies that are there, of calls that nobody waits for any more."""
        for future, section in pending.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(section, future.result())

    def _keep(self, section: _Missing, outcome: _Outcome) -> None:
        self.usage += outcome.usage
        with self.staging.transaction():
            self.staging.set_meta(_SPENT, repr(self.spent))
            if outcome.found is not None:
                reply = json.dumps(asdict(outcome.found))
                self.staging.write(
                    "INSERT OR REPLACE INTO extraction VALUES (?, ?, ?, ?)",
                    [(section.hash, self.prompt, self.model, reply)],
                )
        self.done += outcome.found is not None

"""One session of ``wikigr ask``: open packs with a profile and its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from threading import Thread
from typing import TYPE_CHECKING, Any

from wikigr.documents.answer import EXPLAIN_LIMIT
from wikigr.errors import UsageError, WikigrError
from wikigr.settings import is_first_time
from wikigr_cli.environment import Environment

if TYPE_CHECKING:
    from wikigr.answer.answer import Answer
    from wikigr.documents.shapes import StatedAnswer
    from wikigr.embeddings.loader import Purpose
    from wikigr.llm.budget import Budget
    from wikigr.llm.model_client import ModelClient
    from wikigr.pack.open import Corpus
    from wikigr.pipeline.pipeline import Pipeline
    from wikigr.pipeline.profile import Profile
    from wikigr_cli.render.progress import StatusLine

_NO_KEY = (
    "No model writes the answer, because ANTHROPIC_API_KEY is not set; it quotes the pack. Set the variable, or "
    "ANTHROPIC_BASE_URL or WIKIGR_OPENAI_BASE_URL for a server, or --model FILE.gguf, to let a model write it."
)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of ``wikigr ask`` that apply to every question; ``None`` leaves the choice to the profile.

    Without ``stream``, answers are streamed in a terminal. With ``show_prompt``, no model is called.
    """

    model: str | None = None
    threads: int | None = None
    context_size: int | None = None
    offline: bool = False
    max_sentences: int | None = None
    today: str | None = None
    stream: bool | None = None
    max_cost: float | None = None
    show_prompt: bool = False
    log: bool = True
    strict: bool = False
    explain: bool = False
    explain_limit: int = EXPLAIN_LIMIT

    @property
    def day(self) -> date | None:
        """The day that ``today`` names; raises ``UsageError`` if it names none."""
        try:
            return date.fromisoformat(self.today) if self.today is not None else None
        except ValueError as error:
            raise UsageError(f"{self.today!r} is not a date.", hint="Example: --today 2026-03-01") from error

    @property
    def explained(self) -> int:
        """How many sections and sentences are explained; 0 without ``explain``."""
        return self.explain_limit if self.explain else 0

    def apply_to(self, profile: Profile) -> Profile:
        """Return ``profile`` with these options; raises ``UsageError`` for a value out of range."""
        from wikigr.answer.extractive import ExtractiveOptions
        from wikigr.llm import api_of
        from wikigr.llm.options import BudgetOptions, ModelFileOptions, SynthesisOptions
        from wikigr.pipeline.connect import with_model

        def override(section: type[Any], **values: Any) -> None:
            nonlocal profile
            given = {name: value for name, value in values.items() if value is not None}
            if given:
                profile = profile.override(section, **given)

        profile = with_model(profile, self.model)
        for name, value in (("threads", self.threads), ("context", self.context_size)):
            if value is not None and api_of(profile[SynthesisOptions].model) != "file":
                raise UsageError(
                    f"--{name} has no effect: no model file writes the answer.", hint="Add --model FILE.gguf."
                )
        override(ModelFileOptions, threads=self.threads, context=self.context_size)
        if self.max_cost is not None and not 0.0 < self.max_cost <= 10_000.0:
            raise UsageError(f"--max-cost must be above 0 and at most 10,000 US dollars, not {self.max_cost:g}.")
        override(BudgetOptions, max_cost_usd=self.max_cost)
        override(ExtractiveOptions, max_sentences=self.max_sentences)
        return profile


def open_all(
    environment: Environment, packs: Sequence[str], *, encoder: str | None, purpose: Purpose, preload: bool
) -> Corpus:
    """Open the pack, or several packs as one. A note on stderr names those that were given twice."""
    if len(packs) == 1:
        from wikigr.pack.open import Pack

        pack: Corpus = Pack(packs[0], encoder=encoder, purpose=purpose, preload=preload)
    else:
        from wikigr.pack.joined import open_packs

        opened = open_packs(packs, encoder=encoder, purpose=purpose, preload=preload)
        for location in opened.repeated:
            environment.note(f"wikigr: {location} is among the packs already, so it counts once.")
        pack = opened.pack
    if pack.blocks_warning:
        environment.note(pack.blocks_warning)
    return pack


class AskSession:
    """An open pack, or several as one, that answers with a profile, until it is closed.

    ``pack``, ``pipeline`` and ``named``, the profile without the options, change with ``use_packs`` and
    ``use_profile``.
    """

    pack: Corpus
    pipeline: Pipeline
    named: Profile

    def __init__(
        self,
        environment: Environment,
        packs: Sequence[str],
        profile: str,
        options: AskOptions,
        purpose: Purpose = "queries",
        *,
        encoder: str | None = None,
        shows_stages: bool = True,
    ) -> None:
        """``shows_stages`` shows in a terminal what a model does; raises ``PackError`` or ``UsageError``."""
        from wikigr.pipeline.profile_files import load_profile
        from wikigr.segmentation import load_segmenter

        self._environment = environment
        self._options = options
        self._purpose: Purpose = purpose
        self._encoder = encoder
        self._budget: Budget | None = None
        self._client: ModelClient | None = None
        self._progress: StatusLine | None = None
        if shows_stages and environment.can_animate():
            from wikigr_cli.render.progress import StatusLine

            self._progress = StatusLine(environment)
        # Load it while the engine reads the vectors.
        Thread(target=load_segmenter, daemon=True).start()
        named = load_profile(profile)
        self._use(named, options.apply_to(named), self._open(packs), None)

    def close(self) -> None:
        self.pack.close()
        if self._client is not None:
            self._client.close()

    def use_profile(self, name: str) -> None:
        """Answer with another profile."""
        from wikigr.pipeline.profile_files import load_profile

        named = load_profile(name)
        self._use(named, self._options.apply_to(named), self.pack, self.pack)

    def use_packs(self, packs: Sequence[str]) -> None:
        """Ask other packs; those before stay open if they cannot be opened."""
        self._use(self.named, self.pipeline.profile, self._open(packs), self.pack)

    @property
    def streams(self) -> bool:
        """Whether answers are printed while a model writes them, unless another format than text is wanted."""
        wanted = self._options.stream
        return self.pipeline.model is not None and (self._environment.stdout.isatty() if wanted is None else wanted)

    def answer(self, question: str, *, live: bool) -> Answer:
        """Return the answer; ``live`` prints it while it is written, and ends its line before an error message.

        In a terminal, the answer that needs no model is printed first.
        """
        started = False
        stop_progress = self._progress.stop if self._progress is not None else lambda: None

        def show(piece: str) -> None:
            nonlocal started
            started = True
            stop_progress()
            self._environment.write_text(piece)

        def show_offline(answer: Answer) -> None:
            from wikigr.documents.answer import stated_answer
            from wikigr_cli.render.answer import print_answer

            stop_progress()
            print_answer(self._environment, stated_answer(answer, self.pack))
            self._environment.print()

        try:
            in_terminal = live and self._environment.stdout.isatty()
            return self.pipeline.answer(
                question, on_text=show if live else None, on_offline=show_offline if in_terminal else None
            )
        except WikigrError:
            if started:
                self._environment.print()
            raise
        finally:
            stop_progress()

    def keep(self, stated: StatedAnswer) -> None:
        """Keep an answer for ``wikigr log``, unless it is not wanted."""
        if self._options.log:
            from wikigr_cli.answer_log import keep_answer

            try:
                keep_answer(stated)
            except OSError as error:
                self._environment.note(f"The answer is not kept for `wikigr log`: {error.strerror}.")

    def _open(self, packs: Sequence[str]) -> Corpus:
        # The encoder loads meanwhile.
        pack = open_all(self._environment, packs, encoder=self._encoder, purpose=self._purpose, preload=True)
        if not pack.language.is_english:
            self._environment.note(
                f"wikigr: The pack is in {pack.language.name}. The reader knows English only, so answers are sentences."
            )
        return pack

    def _use(self, named: Profile, profile: Profile, pack: Corpus, before: Corpus | None) -> None:
        """Answer from ``pack`` instead of ``before``; the old pack, pipeline and client stay if one cannot be made."""
        from wikigr.pipeline.pipeline import Pipeline
        from wikigr.reader.passage import ReaderOptions

        client: ModelClient | None = None
        try:
            if self._purpose == "queries" and profile[ReaderOptions].enabled:
                pack.start_reader()
            client = self._connect_model(profile)
            pipeline = Pipeline(profile, pack, model=client, offline=self._options.offline, today=self._options.day)
        except BaseException:
            for made in (client, pack if pack is not before else None):
                if made is not None:
                    made.close()
            raise
        for old in (self._client, before if before is not pack else None):
            if old is not None:
                old.close()
        self.named, self.pack, self.pipeline, self._client = named, pack, pipeline, client

    def _connect_model(self, profile: Profile) -> ModelClient | None:
        """Return the client of the profile's model, or ``None`` without a model; note a missing API key.

        The note appears with ``-v`` and ``--explain``, and once in a terminal, because an answer without a model is
        usual. All clients share one --max-cost.
        """
        environment, given = self._environment, self._options
        if given.show_prompt:
            return None

        from wikigr.llm import api_of
        from wikigr.llm.options import SynthesisOptions
        from wikigr.pipeline.connect import connect

        if given.offline and given.model is not None and api_of(given.model) != "file":
            environment.note(
                f"wikigr: --model {given.model} is not used: with --offline, only a model in a GGUF file can answer."
            )
        client = connect(profile, offline=given.offline, budget=self._budget, progress=self._progress)
        if client is not None and given.max_cost is not None:
            self._budget = client.budget
        if client is None and not given.offline and profile[SynthesisOptions].provider == "auto":
            if environment.verbosity > 0 or given.explain:
                environment.note(_NO_KEY)
            elif environment.verbosity == 0 and environment.stderr.isatty() and is_first_time("no-api-key"):
                environment.note(f"{_NO_KEY} This note appears once; -v, --explain and `wikigr doctor` repeat it.")
        return client

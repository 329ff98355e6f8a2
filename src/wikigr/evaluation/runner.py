"""Run profiles over gold questions. Each sample is stored at once, so an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import local
from typing import Any

from wikigr.answer.few_shot import FewShotManager
from wikigr.embeddings.session import available_cores
from wikigr.errors import UsageError, WikigrError
from wikigr.evaluation.cached_pack import CachedPack
from wikigr.evaluation.comparison import MARGIN, PRIMARY
from wikigr.evaluation.judge import NO_JUDGE, Judge, JudgeOptions, judge_samples
from wikigr.evaluation.metrics import score
from wikigr.evaluation.question_checks import Leak, find_leaks
from wikigr.evaluation.questions import GoldQuestion, question_set_hash
from wikigr.evaluation.run import (
    NO_MODEL,
    PROFILES,
    RUN,
    Run,
    default_folder,
    describe_missing_articles,
    read_run,
    store_questions,
)
from wikigr.evaluation.samples import SAMPLES, Sample, SampleStore, lock_run, read_samples
from wikigr.files import write_atomic
from wikigr.llm.budget import BudgetError
from wikigr.llm.options import BudgetOptions
from wikigr.llm.response_cache import ResponseCache
from wikigr.llm.usage import Usage
from wikigr.pipeline.connect import budget_of, connect
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_schema import profile_values
from wikigr.pipeline.stages import SECTIONS
from wikigr.retrieval.candidates import fetch
from wikigr.settings import cache_folder
from wikigr.version import changes, commit

_log = logging.getLogger(__name__)

# The folder of model replies inside the cache folder.
RESPONSES = "responses"
_LIBRARIES = ("numpy", "scipy", "onnxruntime", "real_ladybug", "tantivy", "tokenizers")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The plan of a run.

    - ``offline``: ask no model. ``jobs``: the number of questions asked in parallel.
    - ``fresh``: ask models again for replies in the cache.
    - ``judge``: grade the answers after the last one.
    - ``subject`` (the last profile by default), ``primary`` and ``margin``: the declared basis of a gate.
    - ``sources``: the name or path of each profile. Profiles without one are written to the folder of the run.
    """

    pack: str
    questions: Sequence[GoldQuestion]
    questions_path: str
    split: str | None
    profiles: Sequence[Profile]
    seed: int = 0
    repeat: int = 1
    offline: bool = False
    jobs: int = 1
    fresh: bool = False
    judge: JudgeOptions | None = None
    subject: str | None = None
    primary: str = PRIMARY
    margin: float = MARGIN
    sources: Mapping[str, str] = field(default_factory=dict)


def evaluate(
    evaluation: Evaluation,
    folder: Path | None,
    *,
    advance: Callable[[int], None] = lambda _: None,
    warn: Callable[[str], None] = _log.warning,
) -> tuple[Run, Path]:
    """Run ``evaluation`` and return the run and its folder (by default one named after the run's identity).

    Samples of the same run, made by the same code, are kept. ``advance`` is called for each sample, and again for each
    with a judge. ``warn`` receives problems of the reply cache and gold articles that the pack lacks.

    A failing model gives a sample with an ``error``. An exhausted budget or a mistake in a profile stops the run.
    Raises ``WikigrError`` if the folder contains another run or is in use. Raises ``UsageError`` for profiles with the
    same name or with different budgets, and for a judge that is offline or unreachable.
    """
    _check(evaluation)
    cache = ResponseCache(cache_folder() / RESPONSES, fresh=evaluation.fresh, warn=warn)
    judge = None if evaluation.judge is None else Judge(evaluation.judge, cache)
    with ExitStack() as stack:
        first = stack.enter_context(CachedPack(evaluation.pack, threads=_threads(evaluation), preload=True))
        examples = _examples(first)
        leaks = find_leaks(examples, evaluation.questions, first.encoder)
        titles = {gold.title for question in evaluation.questions if question.answerable for gold in question.gold}
        missing = tuple(sorted(title for title in titles if first.find_title(title) is None))
        if missing:
            warn(describe_missing_articles(missing))
        run = _describe(evaluation, first, examples, leaks, missing)
        folder = folder or default_folder(run)
        stack.enter_context(lock_run(folder))
        done = _prepare_folder(folder, run)
        store_questions(folder, evaluation.questions)
        _store_profiles(folder, run)
        todo = [
            (question, profile, repeat)
            for question in evaluation.questions
            for repeat in range(evaluation.repeat)
            for profile in evaluation.profiles
            if (profile.name, question.id, repeat) not in done
        ]
        advance(len(done))
        store = SampleStore(folder)
        stack.callback(store.close)
        for sample in _samples(evaluation, first, todo, {leak.example for leak in leaks}, cache):
            store.append(sample)
            advance(1)
        if judge is not None:
            answered = read_samples(folder)
            by_id = {question.id: question for question in evaluation.questions}
            remaining = len(answered)
            for sample in judge_samples(judge, answered, by_id, seed=evaluation.seed, jobs=evaluation.jobs):
                store.append(sample)
                remaining -= 1
                advance(1)
            advance(remaining)
        run = replace(read_run(folder), usage=total_usage(read_samples(folder)))
        write_atomic(folder / RUN, run.to_json())
        return run, folder


def _check(evaluation: Evaluation) -> None:
    names = [profile.name for profile in evaluation.profiles]
    if len(set(names)) != len(names):
        raise UsageError(f"Two of the profiles have the same name: {', '.join(names)}.")
    if len({profile[BudgetOptions] for profile in evaluation.profiles}) > 1:
        raise UsageError(
            "The profiles have different budgets, so the smaller budget would limit the comparison.",
            hint="Give all of them the same `budget`.",
        )
    if evaluation.judge is not None and evaluation.offline:
        raise UsageError("--judge needs a model, but --offline asks none.", hint="Omit --offline or --judge.")


def _threads(evaluation: Evaluation) -> int:
    """Return the number of cores for the encoder of each job."""
    return max(1, available_cores() // evaluation.jobs)


def _describe(
    evaluation: Evaluation,
    pack: CachedPack,
    examples: Sequence[Mapping[str, Any]],
    leaks: Sequence[Leak],
    missing: tuple[str, ...],
) -> Run:
    changed = changes()
    manifest = pack.manifest
    return Run(
        pack={"path": evaluation.pack, "name": manifest.name, "version": manifest.version, "digest": manifest.digest},
        questions={
            "path": evaluation.questions_path,
            "split": evaluation.split,
            "count": len(evaluation.questions),
            "hash": question_set_hash(evaluation.questions),
        },
        profiles={profile.name: profile_values(profile) for profile in evaluation.profiles},
        encoder=asdict(manifest.encoder),
        seed=evaluation.seed,
        repeat=evaluation.repeat,
        offline=evaluation.offline,
        leaks=tuple(asdict(leak) for leak in leaks),
        missing=missing,
        judge=NO_JUDGE if evaluation.judge is None else evaluation.judge.identity,
        thresholds=dict(manifest.thresholds),
        examples=hashlib.sha256(json.dumps(examples, sort_keys=True).encode()).hexdigest() if examples else "",
        models={profile.name: _server_of(profile, offline=evaluation.offline) for profile in evaluation.profiles},
        sources=dict(evaluation.sources),
        subject=evaluation.subject or evaluation.profiles[-1].name,
        primary=evaluation.primary,
        margin=evaluation.margin,
        commit=commit() or "",
        dirty=bool(changed),
        changes=changed,
        argv=tuple(sys.argv[1:]),
        # Of what may influence the figures.
        versions={
            "python": sys.version.split()[0],
            "platform": platform.platform(),
            **{name: version(name) for name in _LIBRARIES},
        },
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _server_of(profile: Profile, *, offline: bool) -> str:
    client = connect(profile, offline=offline)
    if client is None:
        return NO_MODEL
    client.close()
    return client.server or f"{client.model} sha256:{client.weights_sha256}"


def _store_profiles(folder: Path, run: Run) -> None:
    """Write the profiles that exist nowhere else, so that the commands in a report can load them."""
    for name, values in run.profiles.items():
        if name not in run.sources:
            place = folder / PROFILES / f"{name}.yaml"
            place.parent.mkdir(exist_ok=True)
            # JSON is valid YAML. The file name gives the profile its name.
            text = json.dumps({key: value for key, value in values.items() if key != "name"}, indent=2)
            write_atomic(place, text + "\n")


def _prepare_folder(folder: Path, run: Run) -> set[tuple[str, str, int]]:
    """Write ``run.json`` if it is missing, and return the keys of the samples to keep."""
    has_samples = (folder / SAMPLES).exists()
    if not (folder / RUN).exists():
        if has_samples:
            raise WikigrError(f"{folder} contains samples of an unknown run.", hint="Choose another folder: -o")
        write_atomic(folder / RUN, run.to_json())
    elif read_run(folder).identity() != run.identity():
        raise WikigrError(
            f"{folder} contains a different run (another pack, threshold, question set, few-shot file, profile, "
            "model, seed or version of wikigr).",
            hint="Choose another folder: -o",
        )
    # Failed samples are retried.
    return {sample.key for sample in read_samples(folder) if sample.error is None} if has_samples else set()


def _examples(pack: CachedPack) -> Sequence[Mapping[str, Any]]:
    try:
        return FewShotManager(pack.layout.root, encoder=pack.encoder).load_examples()
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise UsageError(f"Cannot read the pack's few-shot examples: {error}.") from error


def _samples(
    evaluation: Evaluation,
    first: CachedPack,
    todo: Sequence[tuple[GoldQuestion, Profile, int]],
    leaking: set[int],
    cache: ResponseCache,
) -> Iterator[Sample]:
    """Yield a sample for each item of ``todo``: in order with one job, as they complete with several.

    Each thread has its own pack, pipelines and clients, so that the usage of an answer is what its client counted in
    the meantime. All clients of a profile share its budget.
    """
    thread = local()
    budgets = {profile.name: budget_of(profile) for profile in evaluation.profiles}
    with ExitStack() as stack:

        def pipelines(pack: CachedPack) -> dict[str, Pipeline]:
            made = {}
            for profile in evaluation.profiles:
                model = connect(profile, offline=evaluation.offline, budget=budgets[profile.name], cache=cache)
                pipeline = Pipeline(profile, pack, model=model, offline=evaluation.offline)
                if model is not None:
                    stack.callback(model.close)
                    if leaking:
                        pipeline.synthesizer.few_shot = pipeline.synthesizer.few_shot.without(leaking)
                made[profile.name] = pipeline
            return made

        def ask(item: tuple[GoldQuestion, Profile, int]) -> Sample:
            if not hasattr(thread, "pipelines"):
                pack = CachedPack(evaluation.pack, threads=_threads(evaluation))
                thread.pipelines = pipelines(stack.enter_context(pack))
            question, profile, repeat = item
            return ask_question(thread.pipelines[profile.name], question, repeat)

        if evaluation.jobs == 1:
            thread.pipelines = pipelines(first)
            yield from map(ask, todo)
        else:
            with ThreadPoolExecutor(evaluation.jobs) as pool:
                futures = [pool.submit(ask, item) for item in todo]
                try:
                    # Storing answers as they complete means that a killed run loses as few as possible.
                    for future in as_completed(futures):
                        yield future.result()
                finally:
                    for future in futures:
                        future.cancel()


def ask_question(pipeline: Pipeline, question: GoldQuestion, repeat: int) -> Sample:
    """Ask ``question`` and score the answer. A failure is a sample with an ``error``.

    Raises ``BudgetError`` for an exhausted budget, and ``UsageError`` for a mistake in the profile.
    """
    name = pipeline.profile.name
    model = pipeline.model
    asked = hits = 0
    if model is not None:
        # The cache keeps the reply of each repeat separately.
        model.repeat = repeat
        asked, hits = model.asked, model.hits
    try:
        answer = pipeline.answer(question.question)
        # Twenty ranked sections are stored and scored, which nearly always cover ten different articles.
        ranking = fetch(pipeline.pack, answer.ranking[:20])
    except (BudgetError, UsageError):
        raise
    except WikigrError as error:
        return Sample(name, question.id, repeat, error=error.message)
    return Sample(
        profile=name,
        question_id=question.id,
        repeat=repeat,
        answer=answer.text,
        query_type=answer.query_type,
        confidence=round(answer.confidence, 6),
        level=answer.level,
        span=None if answer.span is None else asdict(answer.span),
        metrics={metric: round(value, 6) for metric, value in score(question, answer, ranking).items()},
        citations=tuple(
            {"section_id": c.section_id, "title": c.title, "quote": c.quote, "start": c.start, "end": c.end}
            for c in answer.citations
        ),
        ranking=tuple(
            {"section_id": e.section.section_id, "source_id": e.section.source_id, "score": round(e.score, 6)}
            for e in ranking
        ),
        warnings=tuple(answer.trace.warnings),
        degraded=answer.trace.degraded,
        timings=dict(answer.trace.timings()),
        usage=answer.usage.to_dict() if answer.usage.calls else {},
        cached=model is not None and model.asked == asked and model.hits > hits,
    )


def total_usage(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the total model usage of ``samples``: the answers by profile, and the judge."""
    answers: dict[str, Usage] = {}
    judged = Usage()
    for sample in samples:
        answers[sample.profile] = answers.get(sample.profile, Usage()) + Usage(**sample.usage)
        judged += Usage(**sample.judge_usage)
    return {"answers": {name: usage.to_dict() for name, usage in answers.items()}, "judge": judged.to_dict()}


def ablations(profile: Profile) -> list[Profile]:
    """Return ``profile`` and, for each of its enhancements, the profile without it."""
    variants = [profile]
    for kind in SECTIONS:
        for name, values in profile[kind].ablations().items():
            without = profile.override(kind, **values)
            variants.append(replace(without, name=f"{profile.name}-without-{name}"))
    return variants

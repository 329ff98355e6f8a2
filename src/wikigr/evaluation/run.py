"""A run on disk: ``run.json`` with everything its figures depend on, its questions and its samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from wikigr import __version__
from wikigr.errors import UsageError, WikigrError
from wikigr.evaluation.comparison import Comparison, compare
from wikigr.evaluation.questions import Gold, GoldQuestion
from wikigr.evaluation.samples import Sample, read_samples
from wikigr.files import explain_json_error, read_regular, write_atomic
from wikigr.options import Limits
from wikigr.validation import NO_OTHER_KEYS, Having, InvalidError, validated

RUN = "run.json"
# Of a description of a run, and of its questions.
MAX_RUN_BYTES = 256 << 20
# The folder, inside the folder of a run, of the profiles that exist nowhere else.
PROFILES = "profiles"
# The entry in ``Run.models`` of a profile whose answers no model writes.
NO_MODEL = "none"
# The folder, in the working directory, of the runs without a folder of their own.
RUNS = Path("eval-runs")
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Run:
    """The description of a run.

    - ``pack``: name, version, digest, and the ``path`` as given, which is not part of the identity.
    - ``profiles``: every profile in full, by name, in the given order.
    - ``commit``: the commit of wikigr; ``dirty``: whether it had uncommitted changes; ``changes``: their hash.
    - ``thresholds``: the thresholds of the pack's manifest; ``examples``: the hash of its few-shot file, or empty.
    - ``models``: the server that writes the answers of each profile, or ``none``.
    - ``sources``: the name or path of each profile as given. Profiles made for the run, as in an ablation, are absent.
    - ``subject``: the profile that a gate judges; ``primary`` and ``margin``: the declared metric and difference.
    - ``usage``: the model usage of each profile's answers and of the judge, including ``cost_usd`` (None if a price is
      unknown). Empty until the run is complete.
    - ``missing``: the gold titles without an article in the pack.
    - ``created``: when the run was begun, in UTC (ISO 8601). Empty in runs of earlier releases.
    """

    pack: Annotated[Mapping[str, str], Having(name=str, digest=str)]
    questions: Annotated[Mapping[str, Any], Having(hash=str, count=int)]
    profiles: Annotated[Mapping[str, Mapping[str, Any]], Limits(min_length=1)]
    encoder: Mapping[str, Any]
    seed: int
    repeat: int
    offline: bool
    leaks: tuple[Mapping[str, Any], ...] = ()
    missing: tuple[str, ...] = ()
    judge: str = "none"
    thresholds: Mapping[str, float] = field(default_factory=dict)
    examples: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""
    primary: str = "accuracy"
    margin: float = 0.02
    commit: str = ""
    dirty: bool = False
    changes: str = ""
    argv: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    wikigr_version: str = __version__
    schema_version: int = SCHEMA_VERSION

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    def identity(self) -> str:
        """Return a hash of everything that determines the samples, so that only the same run is resumed."""
        names = "encoder repeat seed profiles offline judge thresholds examples models primary margin commit changes"
        pack = {key: value for key, value in self.pack.items() if key != "path"}
        own = (getattr(self, name) for name in names.split())
        determining = (pack, self.questions["hash"], *own, self.wikigr_version)
        return hashlib.sha256(json.dumps(determining, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def read_run(folder: Path) -> Run:
    """Return the run stored in ``folder``; raise ``UsageError`` if there is none.

    Raises ``WikigrError`` if it is damaged or of another version.
    """
    path = folder / RUN
    try:
        values = json.loads(read_regular(path, MAX_RUN_BYTES))
        if not isinstance(values, dict):
            raise InvalidError("it is not a JSON object")
        if values.get("schema_version") != SCHEMA_VERSION:
            raise WikigrError(
                f"The run {folder} has version {values.get('schema_version')!r} instead of {SCHEMA_VERSION}."
            )
        run = validated(Run, json.dumps(values))
        if run.subject and run.subject not in run.profiles:
            raise InvalidError("`subject` is not one of the profiles")
        return run
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"{folder} does not contain a run.", hint="Make one: wikigr eval run --pack PACK -o FOLDER"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise WikigrError(f"Cannot read the run {path}: {explain_json_error(error)}.") from error


def differences(first: Run, second: Run) -> list[str]:
    """Return the reasons why two runs are not comparable: different questions, packs, thresholds or judges."""
    found = []
    if first.questions["hash"] != second.questions["hash"]:
        found.append("the question sets differ")
    if first.pack["digest"] != second.pack["digest"]:
        found.append("the packs differ")
    # Earlier releases did not store thresholds.
    if first.thresholds and second.thresholds and first.thresholds != second.thresholds:
        found.append("the packs' thresholds differ")
    if first.judge != second.judge:
        found.append("the judges differ")
    return found


def default_folder(run: Run) -> Path:
    """Return the default folder of a run, which depends on its identity, so that the same run is resumed."""
    return RUNS / f"{run.pack['name']}-{list(run.profiles)[-1]}-{run.identity()[:10]}"


def describe_missing_articles(titles: Sequence[str]) -> str:
    """Return the warning about gold titles that have no article in the pack."""
    count = "1 gold article" if len(titles) == 1 else f"{len(titles)} gold articles"
    named = _named([repr(title) for title in titles])
    return f"The pack lacks {count} that no profile can find: {named} (wikigr eval validate lists them all)."


def describe_leaks(leaks: Sequence[Mapping[str, Any]]) -> str:
    """Return the notice about few-shot examples that leak gold questions."""
    examples = {leak["example"] for leak in leaks}
    count = "1 few-shot example leaks" if len(examples) == 1 else f"{len(examples)} few-shot examples leak"
    named = _named([f"example {leak['example']} (question {leak['question_id']})" for leak in leaks])
    return f"{count} gold questions, and no prompt used them: {named} (run.json lists them all)."


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")


QUESTIONS = "questions.json"
_QUESTION_FIELDS = {"id", "question", "answers", "gold", "answerable", "type", "line"}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run read from its folder. ``questions`` maps ids to plain values, with the ``line`` in the question file."""

    folder: Path
    run: Run
    samples: list[Sample]
    questions: Mapping[str, Mapping[str, Any]]

    @property
    def subject(self) -> str:
        """The profile that a gate judges by default; earlier releases did not store it."""
        return self.run.subject or list(self.run.profiles)[-1]

    def samples_of(self, profile: str) -> list[Sample]:
        """Return the samples of one profile."""
        return [sample for sample in self.samples if sample.profile == profile]

    def only(self, profile: str) -> StoredRun:
        """Return the part of the run that judges ``profile``: its samples and those of the first one, the reference."""
        names = {next(iter(self.run.profiles)), profile}
        kept = {name: each for name, each in self.run.profiles.items() if name in names}
        samples = [sample for sample in self.samples if sample.profile in kept]
        return replace(self, run=replace(self.run, profiles=kept, subject=profile), samples=samples)

    @property
    def clusters(self) -> dict[str, str] | None:
        """The cluster of each question by id, or None if the question set has no clusters."""
        found = {id_: str(question["cluster"]) for id_, question in self.questions.items() if question.get("cluster")}
        return found or None

    def compare(
        self, first: Sequence[Sample], second: Sequence[Sample], names: tuple[str, str], **chosen: Any
    ) -> Comparison:
        """Compare two arms as ``comparison.compare`` does, with what this run declares unless other is ``chosen``."""
        run = self.run
        declared = {"seed": run.seed, "primary": run.primary, "margin": run.margin, "clusters": self.clusters}
        return compare(first, second, names=names, **{**declared, **chosen})

    def gold_questions(self) -> list[GoldQuestion]:
        """Return the questions as they were asked."""
        return [
            GoldQuestion(**{**row, "answers": tuple(row["answers"]), "gold": tuple(Gold(**g) for g in row["gold"])})
            for row in self.questions.values()
        ]


def store_questions(folder: Path, questions: Sequence[GoldQuestion]) -> None:
    """Write the questions next to the samples, so that reports do not need the question file."""
    rows = {question.id: asdict(question) for question in questions}
    write_atomic(folder / QUESTIONS, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")


def load_run(folder: Path) -> StoredRun:
    """Read the folder of a run; raise ``UsageError`` if it has no run, ``WikigrError`` if a part of it is bad."""
    run = read_run(folder)
    try:
        questions = json.loads(read_regular(folder / QUESTIONS, MAX_RUN_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise WikigrError(f"Cannot read the questions of the run {folder}: {explain_json_error(error)}.") from error
    if not isinstance(questions, dict) or not all(
        isinstance(row, dict) and row.keys() >= _QUESTION_FIELDS for row in questions.values()
    ):
        raise WikigrError(f"The file {QUESTIONS} of the run {folder} does not hold the questions of a run.")
    samples = read_samples(folder)
    for sample in samples:
        if sample.question_id not in questions or sample.profile not in run.profiles:
            raise WikigrError(
                f"The samples in {folder} belong to another run: "
                f"this run has no question {sample.question_id!r} under {sample.profile!r}."
            )
    return StoredRun(folder, run, samples, questions)

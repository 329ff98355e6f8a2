"""The identity of a run, ``run.json``: everything that its figures depend on, and what tells two runs apart."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wikigr import __version__
from wikigr.evaluation.samples import RunError

RUN = "run.json"
SCHEMA_VERSION = 1
_LIBRARIES = ("numpy", "scipy", "onnxruntime", "real_ladybug", "tantivy", "tokenizers")


@dataclass(frozen=True, slots=True)
class Run:
    """What was run. ``profiles`` holds every profile in full, by name, in the order given.

    ``pack`` holds name, version and digest, and as ``path`` what it was named as, which decides nothing.
    ``commit`` is that of wikigr's own code, ``dirty`` whether there were changes on top of it, ``changes`` their hash.
    ``thresholds`` are those of the pack's manifest, and ``examples`` is the hash of its few-shot file (empty: none).
    ``models`` says for each profile which server writes its answers, ``none`` where nothing does. ``sources`` is how
    each profile was named; one that is made for the run only, as in an ablation, is missing there. ``subject`` is the
    profile that a gate judges, ``primary`` the metric and ``margin`` the difference that were declared to decide.
    ``usage`` is what the answers of each profile and the judge used of models, ``cost_usd`` among it (None: a price is
    unknown); empty until the run is done. ``missing`` are the gold titles that the pack has no article of.
    """

    pack: Mapping[str, str]
    questions: Mapping[str, Any]
    profiles: Mapping[str, Mapping[str, Any]]
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
    wikigr_version: str = __version__
    schema_version: int = SCHEMA_VERSION

    def identity(self) -> str:
        """Return a hash of all that decides the samples and their figures, so that a run is resumed only as itself."""
        decides = (
            {key: value for key, value in self.pack.items() if key != "path"},
            self.questions["hash"],
            self.encoder,
            self.repeat,
            self.seed,
            self.profiles,
            self.offline,
            self.judge,
            self.thresholds,
            self.examples,
            self.models,
            self.wikigr_version,
            self.commit,
            self.changes,
        )
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def versions() -> dict[str, str]:
    """Return the versions of Python, the platform and the libraries that figures may depend on."""
    found = {"python": sys.version.split()[0], "platform": platform.platform()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def read_run(folder: Path) -> Run:
    """Return the run kept in ``folder``; raises ``RunError`` when there is none or it is of another version."""
    path = folder / RUN
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.get("schema_version") != SCHEMA_VERSION:
            raise RunError(f"The run {folder} is of version {values.get('schema_version')!r}, not {SCHEMA_VERSION}.")
        for name in ("argv", "leaks", "missing"):
            values[name] = tuple(values.get(name, ()))
        run = Run(**values)
        if not run.subject:
            run = replace(run, subject=list(run.profiles)[-1])
        _check(run)
        return run
    except FileNotFoundError as error:
        raise RunError(f"{folder} holds no run.", hint="Make one: wikigr eval run --pack PACK -o FOLDER") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunError(f"The run {path} cannot be read: {error}.") from error


def _check(run: Run) -> None:
    """Raise ``TypeError`` or ``KeyError`` for a run that lacks what its reports need."""
    for part, name, kind in (
        (run.pack, "name", str),
        (run.pack, "digest", str),
        (run.questions, "hash", str),
        (run.questions, "count", int),
    ):
        if not isinstance(part[name], kind):
            raise TypeError(f"{name} has another type")
    if not isinstance(run.profiles, dict) or not run.profiles:
        raise TypeError("profiles are missing")
    if run.subject and run.subject not in run.profiles:
        raise TypeError("subject is none of the profiles")
    if type(run.seed) is not int or type(run.repeat) is not int:
        raise TypeError("seed and repeat must be whole numbers")


def differences(first: Run, second: Run) -> list[str]:
    """Return what keeps two runs from being compared: other questions, another pack, another judge."""
    found = []
    if first.questions["hash"] != second.questions["hash"]:
        found.append("the question sets differ")
    if first.pack["digest"] != second.pack["digest"]:
        found.append("the packs differ")
    # Runs of an earlier wikigr did not keep them.
    if first.thresholds and second.thresholds and first.thresholds != second.thresholds:
        found.append("the packs' thresholds differ (wikigr eval calibrate)")
    if first.judge != second.judge:
        found.append("the judges differ")
    return found


def default_folder(run: Run) -> Path:
    """Return the folder of a run that was given none: the same for the same run, so that it is resumed."""
    return Path("eval-runs") / f"{run.pack['name']}-{list(run.profiles)[-1]}-{run.identity()[:10]}"

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wikigr.errors import UsageError
from wikigr.evaluation.calibration import (
    FittedOn,
    FittedThreshold,
    calibrate,
    fitted_names,
    fitted_on,
    store_threshold,
    with_threshold,
)
from wikigr.evaluation.questions import GoldQuestion
from wikigr.pack.layout import Layout
from wikigr.pack.manifest import read_manifest
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile

DATA = FittedOn("h" * 64, "dev", "enhanced")


def fit(pack: Path, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[dict[str, Any], bool]]) -> FittedThreshold:
    """Fit the threshold to the notes of the stage ``abstention`` and whether the question is answerable."""
    notes = iter([note for note, _ in rows])

    def answer(_: Pipeline, __: str) -> SimpleNamespace:
        stages = [SimpleNamespace(stage="abstention", notes=next(notes))]
        return SimpleNamespace(trace=SimpleNamespace(stages=stages, warnings=[]))

    monkeypatch.setattr(Pipeline, "answer", answer)
    questions = [
        GoldQuestion(f"q{n}", "What?", (), (), answerable, "single", "dev", None, n)
        for n, (_, answerable) in enumerate(rows)
    ]
    with Pack(pack) as opened:
        return calibrate(opened, questions, load_profile("enhanced"))


def notes(strength: float, threshold: float, name: str | None = None) -> dict[str, Any]:
    return {"strength": strength, "threshold": threshold} | ({} if name is None else {"threshold_name": name})


def test_the_threshold_has_the_name_that_the_stage_states(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0.9, True), (0.7, True), (0.2, False), (0.1, False)]
    unnamed = fit(physics_pack, monkeypatch, [(notes(strength, 0.48), kind) for strength, kind in rows])
    assert (unnamed.name, unnamed.threshold, unnamed.before) == ("answer", 0.45, 0.48)
    # 0.45 and 0.75 separate equally well; the gap around 0.75 is wider.
    tied = [(0.4, False), (0.5, True), (0.6, False), (0.9, True)]
    assert fit(physics_pack, monkeypatch, [(notes(strength, 0.5), kind) for strength, kind in tied]).threshold == 0.75
    named = fit(physics_pack, monkeypatch, [(notes(strength, 0.6, "reader"), kind) for strength, kind in rows])
    assert named == replace(unnamed, name="reader", before=0.6)
    assert (named.answered, named.declined, named.answerable, named.unanswerable) == (1.0, 1.0, 2, 2)


def test_strengths_under_another_name_do_not_count(physics_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = [(notes(0.9, 0.5, "reader"), True), (notes(0.2, 0.5, "reader"), False)]
    found = fit(physics_pack, monkeypatch, [(notes(5.0, 0.48), False), *read])
    assert (found.name, found.threshold, found.before) == ("reader", 0.55, 0.5)
    assert (found.answerable, found.unanswerable) == (1, 1)
    assert found.warnings == ("questions left out because they have another threshold than 'reader': 1",)
    with pytest.raises(UsageError, match="1 answerable and 0 unanswerable"):
        fit(physics_pack, monkeypatch, [*read[:1], (notes(0.1, 0.48), False)])
    with pytest.raises(UsageError, match="0 answerable"):
        fit(physics_pack, monkeypatch, [])


def test_a_manifest_holds_several_fitted_thresholds(physics_pack: Path) -> None:
    built = read_manifest(physics_pack / "manifest.json")
    assert (fitted_names(built), fitted_on(built, "abstention")) == ([], {})
    other = FittedOn("i" * 64, "", "precise")
    both = with_threshold(with_threshold(built, "abstention", 0.4, DATA), "reader", 0.6, other)
    assert fitted_names(both) == ["abstention", "reader"]
    assert both.thresholds == {**built.thresholds, "abstention": 0.4, "reader": 0.6}
    # The data of the threshold of earlier releases is where they stored it.
    assert both.calibration["profile"] == "enhanced"
    assert fitted_on(both, "abstention") == {"questions": "h" * 64, "split": "dev", "profile": "enhanced"}
    assert fitted_on(both, "reader") == {"questions": "i" * 64, "split": "", "profile": "precise"}
    again = with_threshold(both, "reader", 0.7, DATA)
    assert (again.thresholds["abstention"], again.thresholds["reader"]) == (0.4, 0.7)
    assert fitted_on(again, "reader") == fitted_on(again, "abstention")


def test_a_stored_threshold_can_be_read(physics_pack: Path, tmp_path: Path) -> None:
    pack = Path(shutil.copytree(physics_pack, tmp_path / "copy"))
    store_threshold(Layout(pack), "reader", 0.625, DATA)
    manifest = read_manifest(pack / "manifest.json")
    assert (manifest.thresholds["reader"], fitted_on(manifest, "reader")["split"]) == (0.625, "dev")

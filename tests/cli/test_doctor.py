from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wikigr.checks import Check
from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import find_prepared
from wikigr.graph.engine import import_engine
from wikigr.reader.adapter import AdapterDescription
from wikigr.sandbox.process import Walls, find_walls
from wikigr_cli import doctor

from .conftest import Wikigr


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_a_machine_that_runs_these_tests_is_ready(encoder: Embedder) -> None:
    checks = by_name(doctor.diagnose({}))
    assert all(check.passed or not check.required for check in checks.values())
    assert checks["encoder"].detail == f"{encoder.identity.model_id}, {encoder.identity.dimension} dimensions"
    module = import_engine()
    expected = f"{module.version} ({module.__name__}), storage {module.storage_version}"
    assert checks["LadybugDB"].detail == expected


def test_the_walls_of_the_sandbox_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    walls = find_walls()
    check = by_name(doctor.diagnose({}))["sandbox"]
    assert check.passed == (walls.seccomp and walls.landlock > 0 and walls.memory)
    assert not check.required
    monkeypatch.setattr("wikigr.sandbox.process.find_walls", lambda: Walls(landlock=0, seccomp=True, memory=True))
    check = by_name(doctor.diagnose({}))["sandbox"]
    assert not check.passed
    assert check.detail.startswith("restricts system calls (seccomp), memory; ")
    assert check.detail.endswith("cannot restrict files (Landlock missing)")


def test_the_api_key_is_optional_and_never_shown() -> None:
    assert not by_name(doctor.diagnose({}))["API key"].passed
    key = by_name(doctor.diagnose({"ANTHROPIC_API_KEY": "sk-secret"}))["API key"]
    assert (key.passed, key.required, key.detail) == (True, False, "ANTHROPIC_API_KEY is set")


def test_a_server_and_a_model_file_are_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    none = by_name(doctor.diagnose({}))
    assert "offline" in none["API key"].detail
    server, file = none["OpenAI-compatible server"], none["model file"]
    assert (server.passed, server.required, file.required) == (False, False, False)
    assert "WIKIGR_OPENAI_BASE_URL is not set" in server.detail
    assert file.passed == (importlib.util.find_spec("xllamacpp") is not None)
    assert file.passed or "wikigr[local]" in file.fix
    found = by_name(doctor.diagnose({"WIKIGR_OPENAI_BASE_URL": "http://user:secret@127.0.0.1/v1"}))
    assert found["OpenAI-compatible server"].passed
    assert "secret" not in found["OpenAI-compatible server"].detail
    assert "offline" not in found["API key"].detail
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert not by_name(doctor.diagnose({}))["model file"].passed


def test_a_missing_encoder_is_a_failure_with_the_command_that_prepares_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check = by_name(doctor.diagnose({}))["encoder"]
    assert (check.passed, check.required) == (False, True)
    assert "wikigr model prepare" in check.fix


def test_the_reader_reads_and_its_adapter_is_named(encoder: Embedder) -> None:
    check = by_name(doctor.diagnose({}))["reader"]
    assert check.passed
    assert check.detail == f"adapter {AdapterDescription.read().sha256[:16]}"


def test_a_missing_or_damaged_reader_is_a_failure_with_the_command_that_prepares_it(
    encoder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = find_prepared(encoder.identity.model_id).folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reader = shutil.copytree(folder, tmp_path / "wikigr" / "models" / folder.name) / "reader.json"
    damages: list[tuple[Callable[[], object], str, str]] = [
        (lambda: reader.write_text("{"), "cannot read reader.json", "wikigr model prepare --force"),
        (reader.unlink, "has not been prepared", "wikigr model prepare"),
    ]
    for damage, message, fix in damages:
        damage()
        checks = by_name(doctor.diagnose({}))
        assert checks["encoder"].passed
        assert (checks["reader"].passed, checks["reader"].fix) == (False, fix)
        assert message in checks["reader"].detail


def test_an_old_python_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_MIN_PYTHON", (99, 0))
    assert not by_name(doctor.diagnose({}))["Python"].passed


def test_a_folder_is_checked_through_its_nearest_existing_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The user who runs the tests may be root, for whom every folder is writable.
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "not" / "there"))
    check = by_name(doctor.diagnose({}))["data folder"]
    assert (check.passed, check.detail) == (False, str(tmp_path / "not" / "there" / "wikigr"))
    assert str(tmp_path) in check.fix


def test_doctor_passes_here_and_prints_every_check(wikigr: Wikigr, physics_pack: Path) -> None:
    result = wikigr("doctor")
    assert result.code == 0
    for name in ("Python", "LadybugDB", "tantivy", "encoder", "cache folder", "API key"):
        assert name in result.out


def test_doctor_prints_the_fix(wikigr: Wikigr, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = wikigr("doctor")
    assert result.code == 3
    assert "wikigr model prepare" in result.out

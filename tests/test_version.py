from __future__ import annotations

import json
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from wikigr import __version__, version

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Git checkout with one commit, from which ``wikigr.version`` seems to run."""
    (tmp_path / "src" / "wikigr").mkdir(parents=True)
    (tmp_path / "src" / "wikigr" / "version.py").write_text("")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(version, "__file__", str(tmp_path / "src" / "wikigr" / "version.py"))
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message=One")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_the_version_is_written_in_one_place() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["dynamic"] == ["version"]
    assert "version" not in settings["project"]
    assert settings["tool"]["hatch"]["version"]["path"] == "src/wikigr/__init__.py"


def test_the_commit_of_a_checkout_is_found_loose_packed_and_detached(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    assert version.commit() == head
    assert version.version_line() == f"wikigr {__version__} ({head[:12]})"
    git(checkout, "pack-refs", "--all")
    assert version.commit() == head
    git(checkout, "checkout", "--quiet", "--detach")
    assert version.commit() == head


def test_the_hash_of_changes_follows_the_source(checkout: Path) -> None:
    assert version.changes() == ""
    (checkout / "notes.txt").write_text("unrelated")
    git(checkout, "add", "notes.txt")
    assert version.changes() == ""
    (checkout / "src" / "wikigr" / "version.py").write_text("one = 1\n")
    first = version.changes()
    (checkout / "src" / "wikigr" / "version.py").write_text("two = 2\n")
    assert first and version.changes() not in ("", first)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (json.dumps({"vcs_info": {"commit_id": "a" * 40}}), "a" * 40),
        (json.dumps({"dir_info": {"editable": True}}), None),
        (None, None),
    ],
)
def test_outside_a_checkout_the_installer_knows_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: str | None, expected: str | None
) -> None:
    folder = tmp_path / "wikigr-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: wikigr\nVersion: 0\n")
    if recorded is not None:
        (folder / "direct_url.json").write_text(recorded)
    monkeypatch.setattr(version, "__file__", str(tmp_path / "lib" / "wikigr" / "version.py"))
    monkeypatch.setattr(metadata, "distribution", lambda name: metadata.PathDistribution(folder))
    assert version.commit() == expected
    assert version.changes() == ""

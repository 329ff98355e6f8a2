"""The line of a settings file that names the default pack; everything else in the file is the user's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wikigr.errors import UsageError
from wikigr_cli.default_pack import unset_default, write_default
from wikigr_cli.settings import user_file

FILE = """\
# My settings.
search:  # often
  top-k: 7

pack: old  # the big one
# The end.
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "wikigr").mkdir()
    return user_file()


def test_only_the_value_changes_and_comments_stay(file: Path) -> None:
    file.write_text(FILE)
    file.chmod(0o600)
    write_default("new")
    assert file.read_text() == FILE.replace("pack: old", "pack: new")
    assert file.stat().st_mode & 0o777 == 0o600
    assert unset_default()
    assert file.read_text() == FILE.replace("pack: old  #", "#")
    assert not unset_default()
    write_default("again")
    assert file.read_text() == FILE.replace("pack: old  #", "#") + "pack: again\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "pack: new\n"),
        ("# nothing yet", "# nothing yet\npack: new\n"),
        ("ask:\r\n  strict: true\r\n", "ask:\r\n  strict: true\r\npack: new\r\n"),
        ("pack: 'old'\nask: {}\n", "pack: new\nask: {}\n"),
        ("pack:\nask: {}\n", "pack: new\nask: {}\n"),
        ("pack:", "pack: new"),
        ("pack:  # none yet\nask: {}\n", "pack: new  # none yet\nask: {}\n"),
        ("pack: null  # none yet\n", "pack: new  # none yet\n"),
        ("pack: ~\n", "pack: new\n"),
        ("pack: 2024 # a year\n", "pack: new # a year\n"),
        ("pack: [a, b]  # two\n", "pack: new  # two\n"),
    ],
)
def test_files_of_every_form_are_kept(file: Path, before: str, after: str) -> None:
    file.write_bytes(before.encode())
    write_default("new")
    assert file.read_bytes() == after.encode()


@pytest.mark.parametrize(
    "text",
    [
        "{ask: {strict: true}}\n",
        "{pack: old, ask: {}}\n",
        "ask: {}\n...\n",
        "pack:\n  old\nask: {}\n",
        "pack: a\nask: {}\npack: b\n",
        "pack:\npack build: {jobs: 2}\npack:\n",
        "pack:\n  - a\n  - b\n# The end.\n",
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(file: Path, text: str) -> None:
    file.write_text(text)
    changes: list[Callable[[], object]] = [lambda: write_default("new")]
    for change in [*changes, unset_default] if "pack" in text else changes:
        with pytest.raises(UsageError, match="without the risk") as caught:
            change()
        assert "line" in (caught.value.hint or "")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [("pack:\nask: {}\n", "ask: {}\n"), ("pack: 2024 # a year\n", "# a year\n"), ("pack: [a]\n", "")],
)
def test_a_value_of_every_type_is_removed(file: Path, before: str, after: str) -> None:
    file.write_bytes(before.encode())
    assert unset_default()
    assert file.read_text() == after


def test_the_options_of_the_group_pack_are_not_replaced(file: Path) -> None:
    text = "pack:\n  build:\n    jobs: 2\n"
    file.write_text(text)
    for change in (lambda: write_default("new"), unset_default):
        with pytest.raises(UsageError, match="settings of the commands"):
            change()
    assert file.read_text() == text


@given(pack=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_name_is_read_back(tmp_path_factory: pytest.TempPathFactory, pack: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        write_default(pack)
        assert yaml.safe_load(user_file().read_text()) == {"pack": pack}
        unset_default()
        assert user_file().read_text() == ""

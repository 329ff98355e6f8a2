"""The line of a settings file that names the default pack; everything else in the file is the user's."""

from __future__ import annotations

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


def test_only_the_line_of_the_pack_changes(file: Path) -> None:
    file.write_text(FILE)
    file.chmod(0o600)
    rest = FILE.replace("pack: old  # the big one\n", "")
    write_default("new")
    assert file.read_text() == f"{rest}pack: new\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert unset_default()
    assert file.read_text() == rest
    assert not unset_default()


@pytest.mark.parametrize(
    "text",
    [
        "{ask: {strict: true}}\n",
        "{pack: old, ask: {}}\n",
        "ask: {}\n...\n",
        "pack:\n  old\nask: {}\n",
        "pack:\n  - a\n  - b\n# The end.\n",
        "ask: |\n  text\npack: a\n  more\n",
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        write_default("new")
    assert "line" in (caught.value.hint or "") or "settings file" in caught.value.message
    assert file.read_text() == text


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

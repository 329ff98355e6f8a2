"""The line of a settings file that names the default pack; everything else in the file is the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wikigr.errors import UsageError
from wikigr_cli.default_pack import unset_default, write_default

FILE = """\
# My settings.
search:  # often
  top-k: 7

pack: old  # the big one
# The end.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.yaml"


def save(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())


def test_only_the_value_changes_and_comments_stay(file: Path) -> None:
    save(file, FILE)
    file.chmod(0o600)
    write_default(file, "new")
    assert file.read_text() == FILE.replace("pack: old", "pack: new")
    assert file.stat().st_mode & 0o777 == 0o600
    assert unset_default(file)
    assert file.read_text() == FILE.replace("pack: old  #", "#")
    assert not unset_default(file)
    write_default(file, "again")
    assert file.read_text() == FILE.replace("pack: old  #", "#") + "pack: again\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "pack: new\n"),
        ("# nothing yet", "# nothing yet\npack: new\n"),
        ("ask:\r\n  strict: true\r\n", "ask:\r\n  strict: true\r\npack: new\r\n"),
        ("pack: 'old'\nask: {}\n", "pack: new\nask: {}\n"),
        ("pack:\n  old\nask: {}\n", "pack:\n  new\nask: {}\n"),
        ("{pack: old, ask: {}}\n", "{pack: new, ask: {}}\n"),
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
    save(file, before)
    write_default(file, "new")
    assert file.read_bytes() == after.encode()


@pytest.mark.parametrize("text", ["{ask: {strict: true}}\n", "ask: {}\n...\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(file: Path, text: str) -> None:
    save(file, text)
    changes = [unset_default] if "pack" in text else [lambda path: write_default(path, "new")]
    for change in changes:
        with pytest.raises(UsageError, match="without the risk") as caught:
            change(file)
        assert "line" in (caught.value.hint or "")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pack: a\nask: {}\npack: b\n", "more than once, in the lines 1 and 3"),
        ("pack:\npack build: {jobs: 2}\npack:\n", "more than once"),
        ("pack:\n  - a\n  - b\n# The end.\n", "on several lines"),
    ],
)
def test_an_ambiguous_or_long_value_is_left_to_the_user(file: Path, text: str, reason: str) -> None:
    save(file, text)
    for change in (unset_default, lambda path: write_default(path, "new")):
        with pytest.raises(UsageError, match=reason):
            change(file)
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [("pack:\nask: {}\n", "ask: {}\n"), ("pack: 2024 # a year\n", "# a year\n"), ("pack: [a]\n", "")],
)
def test_a_value_of_every_type_is_removed(file: Path, before: str, after: str) -> None:
    save(file, before)
    assert unset_default(file)
    assert file.read_text() == after


def test_the_options_of_the_group_pack_are_not_replaced(file: Path) -> None:
    text = "pack:\n  build:\n    jobs: 2\n"
    save(file, text)
    with pytest.raises(UsageError, match="settings of the commands"):
        write_default(file, "new")
    assert not unset_default(file)
    assert file.read_text() == text


@given(pack=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_name_is_read_back(tmp_path_factory: pytest.TempPathFactory, pack: str) -> None:
    file = tmp_path_factory.mktemp("settings") / "config.yaml"
    write_default(file, pack)
    assert yaml.safe_load(file.read_text()) == {"pack": pack}
    unset_default(file)
    assert file.read_text() == ""

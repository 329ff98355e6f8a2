"""Recipes: what a valid one holds, which mistakes are named, and that those which ship with wikigr are valid."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from wikigr.distribution.recipes.recipe import find_recipe, list_recipes, read_recipe, recipe_argument, shipped_recipes
from wikigr.errors import UsageError
from wikigr.evaluation.questions import load_questions
from wikigr.sources.formats import format_named

ROOT = Path(__file__).parents[3]
VALID: dict[str, Any] = {
    "name": "notes", "version": "1.0.0", "description": "Notes", "license": "CC0-1.0", "attribution": "Ada",
    "homepage": "https://example.org/", "size_mb": 1, "source": {"path": "notes"},
}  # fmt: skip
URL = "https://example.org/notes.tar.gz"


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "recipe.yaml"
    values = {key: value for key, value in {**VALID, **changes}.items() if value is not None}
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    return file


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"license": None}, "`license`"),
    ({"attribution": " "}, "`attribution`"),
    ({"licence": "MIT"}, "there is no key `licence`"),
    ({"size_mb": "12"}, "`size_mb`"),
    ({"name": "../up"}, "`name`"),
    ({"version": "1.0"}, "`version` must be a semantic version"),
    ({"homepage": "javascript:alert(1)"}, "`homepage`"),
    ({"source": {}}, "exactly one of the keys archive, file, path, but has none of them"),
    ({"source": {"path": "notes", "file": {"url": URL}}}, "but has file and path"),
    ({"source": {"archive": {"url": URL}}}, "`source.archive.sha256`"),
    ({"source": {"archive": {"url": URL, "sha256": "A" * 64}}}, "`source.archive.sha256`"),
    ({"source": {"archive": {"url": "ftp://example.org/x", "sha256": "a" * 64}}}, "`source.archive.url`"),
    ({"source": {"archive": {"url": URL, "sha256": "a" * 64, "folder": "../etc"}}}, "`source.archive.folder`"),
    ({"source": {"file": {"url": URL, "sha265": "a" * 64}}}, "there is no key `source.file.sha265`"),
    ({"source": {"debian": {"package": "git-doc", "folder": "/usr"}}}, "there is no key `source.debian`"),
    ({"options": {"jobs": 3}}, "there is no key `options.jobs`"),
    ({"options": {"limit": 0}}, "`options.limit`"),
    ({"options": {"source_format": "htlm"}}, "`options.source_format` must be one of"),
    ({"options": {"embedding_model": "~nobody-of-that-name/x"}}, "`options.embedding_model`"),
    ({"questions": "/etc/passwd"}, "`questions` must be a relative path"),
    ({"questions": "eval/questions.jsonl"}, "`questions`: there is no file"),
]


def test_a_mistake_is_named_with_file_and_key(tmp_path: Path) -> None:
    for changes, expected in MISTAKES:
        file = write(tmp_path, **changes)
        with pytest.raises(UsageError) as caught:
            read_recipe(file)
        assert expected in caught.value.message, changes
        assert str(file) in caught.value.message


def test_a_mistake_is_named_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path)
    text = "".join(f"{line}\n" for line in file.read_text(encoding="utf-8").splitlines())
    lines = len(text.splitlines())
    for added, line in (
        ("options:\n  keep_going: true\n  limit: 0\n", lines + 3),
        ("options:\n  jobs: 3\n", lines + 2),
    ):
        file.write_text(text + added, encoding="utf-8")
        with pytest.raises(UsageError, match=f"invalid in line {line}: "):
            read_recipe(file)
    file.write_text(text.replace("license: CC0-1.0\n", ""), encoding="utf-8")
    with pytest.raises(UsageError, match="invalid in line 1: `license`"):
        read_recipe(file)


def test_what_is_not_a_recipe_is_named(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    for text in ("", "[1, 2]", "just text", "a: [", "name: &x a\nversion: *x\n", "source: 2020-01-01", "? [1]\n: 2\n"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"recipe\.yaml"):
            read_recipe(file)
    with pytest.raises(UsageError, match="No such file"):
        read_recipe(tmp_path / "missing.yaml")


def test_the_recipes_that_ship_are_valid_and_have_gold_questions() -> None:
    recipes = list_recipes()
    for recipe in recipes:
        assert recipe.name == recipe.file.parent.name
        assert recipe_argument(recipe) == recipe.name
        assert recipe.options.source_format is not None
        assert format_named(recipe.options.source_format)
        assert recipe.questions_file is not None
        questions = load_questions(recipe.questions_file)
        assert 3 <= len([question for question in questions if question.answerable]) <= 6, recipe.name
    kinds = {type(recipe.source.archive or recipe.source.file).__name__ for recipe in recipes}
    assert kinds == {"Archive", "RemoteFile"}


def test_the_wheel_contains_every_recipe() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    files = [file for recipe in list_recipes() for file in (recipe.file, recipe.questions_file) if file is not None]
    names = [file.relative_to(ROOT / "packs") for file in files]
    assert included == {f"packs/{name}": f"wikigr/distribution/recipes/shipped/{name}" for name in names}


def test_a_name_means_a_shipped_recipe_and_a_path_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "flask-docs"
    own.mkdir()
    write(own)
    assert find_recipe("flask-docs").file.parent.parent == shipped_recipes()
    for path in ("./flask-docs", "flask-docs/recipe.yaml", str(own)):
        found = find_recipe(path)
        assert (found.name, recipe_argument(found).endswith("flask-docs/recipe.yaml")) == ("notes", True)
    (tmp_path / "other").mkdir()
    write(tmp_path / "other")
    for name, hint in (("flask-dosc", "flask-docs"), ("other", "./other/recipe.yaml"), ("..", "--list")):
        with pytest.raises(UsageError) as caught:
            find_recipe(name)
        assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("path", ["notes", "notes.md", "notes/deep/more"])
def test_a_source_that_leads_out_through_a_link_is_refused(tmp_path: Path, path: str) -> None:
    private, folder = tmp_path / "private", tmp_path / "recipe"
    (private / "more").mkdir(parents=True)
    (private / "key.md").write_text("secret")
    (folder / "notes").mkdir(parents=True)
    file = write(folder, source={"path": path})
    if path == "notes":
        assert read_recipe(file).local_path == folder / "notes"
        (folder / "notes").rmdir()
    link = folder / ("notes/deep" if "/" in path else path)
    link.symlink_to("../private/key.md" if path.endswith("md") else private)
    with pytest.raises(UsageError, match=r"`source.path`: .* leads out of the folder of the recipe"):
        read_recipe(file)

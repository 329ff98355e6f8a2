"""Recipes: files that say where the documents of a pack come from, under which license, and how the pack is built."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar

import yaml
from pydantic import StringConstraints

from wikigr.embeddings.loader import DEFAULT_MODEL
from wikigr.embeddings.model_id import local_folder
from wikigr.errors import ModelError, UsageError
from wikigr.files import describe_read_error
from wikigr.options import Limits
from wikigr.pack.locate import RECIPE, is_pack_name
from wikigr.pack.manifest import parse_version
from wikigr.sources.formats import FORMAT_NAMES
from wikigr.suggestions import did_you_mean, nearest
from wikigr.validation import NO_OTHER_KEYS, InvalidError, Text, validated
from wikigr.yaml_files import read_yaml_file

_Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Url = Annotated[str, StringConstraints(pattern=r"^https?://[!-~]+$", max_length=2000)]
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Archive:
    """A tar file (plain, or compressed with gzip, bzip2 or xz) or a zip file at a URL; ``folder`` is read in it."""

    url: _Url
    sha256: _Sha256
    folder: Text | None = None


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at a URL, such as a ZIM file.

    Without ``sha256``, the user has to give one. ``checksum`` is where the publisher states it.
    """

    url: _Url
    sha256: _Sha256 | None = None
    checksum: _Url | None = None


@dataclass(frozen=True, slots=True)
class RecipeSource:
    """Where the documents come from: exactly one of these. A ``path`` is below the folder of the recipe."""

    archive: Archive | None = None
    file: RemoteFile | None = None
    path: Text | None = None


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """Options of the build, with the meanings and defaults of those of ``wikigr pack build``."""

    source_format: Text | None = None
    limit: Annotated[int, Limits(ge=1)] | None = None
    keep_going: bool = False
    embedding_model: Text = DEFAULT_MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeKeys:
    """The keys of a recipe. ``size_mb`` is the approximate size of the documents in megabytes.

    ``questions`` is a file of gold questions, relative to the folder of the recipe.
    """

    __pydantic_config__: ClassVar = NO_OTHER_KEYS

    name: Text
    version: Text
    description: Text
    license: Text
    attribution: Text
    homepage: _Url
    size_mb: Annotated[int, Limits(ge=1)]
    source: RecipeSource
    options: RecipeOptions = field(default_factory=RecipeOptions)
    questions: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(RecipeKeys):
    """A valid recipe and the file that it was read from."""

    file: Path

    @property
    def origin(self) -> str:
        """Where the documents come from, in one line."""
        remote = self.source.archive or self.source.file
        return remote.url if remote is not None else str(self.local_path)

    @property
    def local_path(self) -> Path:
        """The path of a source with ``path``."""
        return self.file.parent / (self.source.path or "")

    @property
    def questions_file(self) -> Path | None:
        """The existing file of gold questions."""
        return self.file.parent / self.questions if self.questions is not None else None


def read_recipe(file: Path) -> Recipe:
    """Read a recipe; raises ``UsageError``, which names the file, the line and the key of a mistake."""
    try:
        document = read_yaml_file(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot read the recipe {file}: {describe_read_error(error)}.") from error
    try:
        # A key that is not text becomes one, and JSON has no other types than the schema expects.
        keys = validated(RecipeKeys, json.dumps(document.values))
        recipe = Recipe(file=file, **{each.name: getattr(keys, each.name) for each in fields(keys)})
        mistake = next(_mistakes(recipe), None)
        if mistake is not None:
            raise InvalidError(mistake)
    except (InvalidError, TypeError) as error:
        raise UsageError(
            f"The recipe {file} is invalid in line {_line_of(document.node, str(error))}: {error}.",
            hint="docs/how-to/recipes.md lists the keys of a recipe.",
        ) from error
    return recipe


def _mistakes(recipe: Recipe) -> Iterator[str]:
    """Yield what the types of the keys do not express."""
    source, questions = recipe.source, recipe.questions_file
    if not is_pack_name(recipe.name):
        yield "`name` must consist of at most 100 letters, digits, dots, dashes and underscores"
    if parse_version(recipe.version) is None:
        yield "`version` must be a semantic version, such as 1.0.0"
    kinds = [name for name in RecipeSource.__slots__ if getattr(source, name) is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none of them"
        yield f"`source` must have exactly one of the keys {', '.join(RecipeSource.__slots__)}, but has {found}"
    if source.archive is not None and not _stays(source.archive.folder):
        yield "`source.archive.folder` must be a relative path within the archive"
    if not _stays(source.path):
        yield "`source.path` must be a relative path within the folder of the recipe; --source names another"
    elif source.path is not None and _leads_out(recipe, recipe.local_path):
        yield f"`source.path`: {recipe.local_path} leads out of the folder of the recipe; --source names another"
    if not _stays(recipe.questions):
        yield "`questions` must be a relative path within the folder of the recipe"
    elif questions is not None and not questions.is_file():
        yield f"`questions`: there is no file {questions}"
    elif questions is not None and _leads_out(recipe, questions):
        yield f"`questions`: {questions} leads out of the folder of the recipe"
    if recipe.options.source_format not in (None, *FORMAT_NAMES):
        yield f"`options.source_format` must be one of {', '.join(FORMAT_NAMES)}"
    try:
        local_folder(recipe.options.embedding_model)
    except ModelError as error:
        yield f"`options.embedding_model`: {error.message.rstrip('.')}"


def _leads_out(recipe: Recipe, path: Path) -> bool:
    """Return whether links in ``path`` lead out of the folder of the recipe, whose author may not read files there."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(recipe.file.parent))


def _stays(path: str | None) -> bool:
    """Return whether a relative path, if there is one, leads to a place below where it starts."""
    pure = PurePosixPath(path or "")
    return not (pure.is_absolute() or ".." in pure.parts or "\\" in str(pure) or "\0" in str(pure))


def _line_of(node: Any, mistake: str) -> int:
    """Return the line of the key that a mistake names, or of the innermost key around it that exists."""
    named = re.search(r"`([^`]+)`", mistake)
    line = 1
    for part in named[1].split(".") if named is not None else ():
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next((pair for pair in pairs if pair[0].value == part), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line


def shipped_recipes() -> Path:
    """Return the folder of the recipes that ship with wikigr: in the package, or ``packs`` of a checkout."""
    packaged = Path(__file__).parent / "shipped"
    return packaged if packaged.is_dir() else Path(__file__).parents[4] / "packs"


def shipped_names() -> list[str]:
    """Return the sorted names of the recipes that ship with wikigr."""
    return sorted(file.parent.name for file in shipped_recipes().glob(f"*/{RECIPE}"))


def list_recipes() -> list[Recipe]:
    """Return the recipes that ship with wikigr, sorted by name."""
    return [find_recipe(name) for name in shipped_names()]


def recipe_argument(recipe: Recipe) -> str:
    """Return what names ``recipe`` on the command line."""
    is_shipped = recipe.file.parent.parent == shipped_recipes()
    return recipe.name if is_shipped else str(recipe.file) if "/" in str(recipe.file) else f"./{recipe.file}"


def find_recipe(name: str) -> Recipe:
    """Return the recipe ``name``: one that ships with wikigr, or the path of a user's file or of its folder.

    A path contains a slash or ends with ``.yaml``, so no file in the working directory replaces a recipe that ships
    with wikigr. Raises ``UsageError``.
    """
    if "/" in name or name.endswith(_SUFFIXES):
        path = Path(name)
        return read_recipe(path / RECIPE if path.is_dir() else path)
    file = shipped_recipes() / name / RECIPE
    if name in (".", "..", "") or not file.is_file():
        own = Path(name, RECIPE)
        path_hint = f"For a recipe of your own, give its path: ./{own}" if own.is_file() else None
        hint = path_hint or did_you_mean(nearest(name, shipped_names()), "`wikigr pack make --list` lists the recipes.")
        raise UsageError(f"There is no recipe {name[:80]!r}.", hint=hint)
    return read_recipe(file)

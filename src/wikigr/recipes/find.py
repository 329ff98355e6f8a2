"""Find a recipe by its name, which ships with wikigr, or by its path."""

from __future__ import annotations

from pathlib import Path

from wikigr.pack.locate import RECIPE
from wikigr.recipes.recipe import Recipe, RecipeError, read_recipe
from wikigr.suggestions import did_you_mean, nearest

_SUFFIXES = (".yaml", ".yml")


def shipped_recipes() -> Path:
    """Return the folder of the recipes that ship with wikigr: in the package, or ``packs`` of a checkout."""
    packaged = Path(__file__).parent / "shipped"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "packs"


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
    with wikigr. Raises ``RecipeError``.
    """
    if "/" in name or name.endswith(_SUFFIXES):
        path = Path(name)
        return read_recipe(path / RECIPE if path.is_dir() else path)
    file = shipped_recipes() / name / RECIPE
    if name in (".", "..", "") or not file.is_file():
        own = Path(name, RECIPE)
        path_hint = f"For a recipe of your own, give its path: ./{own}" if own.is_file() else None
        hint = path_hint or did_you_mean(nearest(name, shipped_names()), "`wikigr pack make --list` lists the recipes.")
        raise RecipeError(f"There is no recipe {name[:80]!r}.", hint=hint)
    return read_recipe(file)

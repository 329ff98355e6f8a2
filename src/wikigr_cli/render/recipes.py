"""What ``wikigr pack make`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikigr_cli.environment import Environment
from wikigr_cli.render.output import SCHEMA_VERSION, Document, one_line
from wikigr_cli.render.pack import build_document, print_build

if TYPE_CHECKING:
    from wikigr.ingest.build import BuildReport
    from wikigr.recipes.fetch import FetchPlan
    from wikigr.recipes.recipe import Recipe

_MAX_TEXT = 500


def list_document(recipes: Sequence[Recipe]) -> dict[str, Any]:
    """Return what ``wikigr pack make --list --json`` prints."""
    return {"schema_version": SCHEMA_VERSION, "recipes": [_recipe_fields(recipe) for recipe in recipes]}


def _recipe_fields(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "version": recipe.version,
        "description": recipe.description,
        "license": recipe.license,
        "attribution": recipe.attribution,
        "homepage": recipe.homepage,
        "size_mb": recipe.size_mb,
        "source": recipe.origin,
        "file": str(recipe.file),
    }


def print_recipes(environment: Environment, document: Document) -> None:
    """Print the recipes, two lines each."""
    for recipe in document["recipes"]:
        environment.print(recipe["name"], style="bold", end="")
        environment.print(f"  {recipe['description']}", hang=4)
        environment.print(f"    {recipe['license']} · {recipe['size_mb']:,} MB · {recipe['source']}", hang=4)


def plan_document(recipe: Recipe, plan: FetchPlan, folder: Path) -> dict[str, Any]:
    """Return what ``wikigr pack make RECIPE --dry-run --json`` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "recipe": _recipe_fields(recipe),
        "steps": list(plan.steps),
        "problem": plan.problem,
        "hint": plan.hint,
        "options": asdict(recipe.options),
        "questions": str(recipe.questions) if recipe.questions is not None else None,
        "pack": str(folder),
    }


def print_plan(environment: Environment, document: Document) -> None:
    """Print what would be done, one step a line."""
    recipe = document["recipe"]
    chosen = {name: value for name, value in document["options"].items() if value not in (None, False)}
    listed = ", ".join(f"{name} {'' if value is True else value}".rstrip() for name, value in chosen.items())
    steps = [*document["steps"], f"Build {recipe['name']} {recipe['version']} in {document['pack']} ({listed})"]
    if document["questions"] is not None:
        steps.append(f"Copy the gold questions from {document['questions']}")
    steps.append(f"Record the license ({recipe['license']}) and the attribution: {recipe['attribution']}")
    for number, step in enumerate(steps, 1):
        environment.print(f"{number}. {one_line(step, _MAX_TEXT)}", hang=3)
    if document["problem"]:
        environment.note(f"This would fail now: {document['problem'].rstrip('.')}. {document['hint']}".rstrip())


def made_document(report: BuildReport, folder: Path) -> dict[str, Any]:
    """Return what ``wikigr pack make RECIPE --json`` prints: that of a build, and where the text comes from."""
    manifest = report.manifest
    labels = {name: getattr(manifest, name) for name in ("version", "license", "attribution")}
    return {**build_document(report, folder), **labels, "source": dict(manifest.source)}


def print_made(environment: Environment, document: Document) -> None:
    """Print a finished build and the license of its text."""
    print_build(environment, document)
    environment.print(f"License: {document['license']}. {document['attribution']}", hang=2)

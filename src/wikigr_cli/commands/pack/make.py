"""``wikigr pack make``: turn a recipe into a pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import options
from wikigr_cli.environment import Environment
from wikigr_cli.exit_codes import ExitStatus
from wikigr_cli.render.output import print_result


def _complete_recipes(incomplete: str) -> list[str]:
    from wikigr.recipes.recipe import shipped_names

    return [name for name in shipped_names() if name.startswith(incomplete)]


def make(
    context: typer.Context,
    recipe: Annotated[
        str | None,
        typer.Argument(
            metavar="RECIPE",
            help="The name of a recipe that --list shows, or the path of your own: PATH/recipe.yaml.",
            show_default=False,
            autocompletion=_complete_recipes,
        ),
    ] = None,
    list_recipes: Annotated[
        bool, options.Output("--list", help="List the recipes with license and size, and make nothing.")
    ] = False,
    dry_run: Annotated[
        bool, options.Build("--dry-run", help="Say what would be done, and download and build nothing.")
    ] = False,
    output: Annotated[
        Path | None,
        options.Output("-o", "--output", metavar="DIR", help="The folder of the pack. Default: packs/NAME."),
    ] = None,
    source: Annotated[
        str | None,
        options.Input(
            "--source", metavar="SOURCE", help="Read this folder, file or https:// URL in place of the recipe's source."
        ),
    ] = None,
    sha256: Annotated[
        str | None,
        options.Check("--sha256", metavar="HEX", help="Require this SHA-256 of the file, not the recipe's."),
    ] = None,
    allow_private: options.AllowPrivate = False,
    resume: options.Resume = True,
    jobs: options.Jobs = options.PROCESSORS,
    json_output: options.Json = False,
) -> None:
    """Get the documents that a recipe names and build a pack from them, with license, attribution and gold questions.

    Downloads resume, must have the SHA-256 that the recipe pins, and are kept in the cache folder. If a recipe pins
    none, the command prints the SHA-256 of the download and stops: compare it and give it with --sha256.

    \b
    Examples:
      wikigr pack make --list
      wikigr pack make mine/recipe.yaml
    """
    environment = context.ensure_object(Environment)
    if list_recipes and recipe is not None:
        raise UsageError("--list takes no recipe.", hint="Leave one of them out.")
    if not list_recipes and recipe is None:
        raise UsageError("No recipe was given.", hint="`wikigr pack make --list` lists the recipes.")

    from wikigr.evaluation.questions import load_questions
    from wikigr.pack.locate import PACKS
    from wikigr.recipes import recipe as recipes
    from wikigr.recipes.fetch import Choice, fetch, plan_fetch
    from wikigr_cli.render import recipes as render

    if recipe is None:
        document = render.list_document(recipes.list_recipes())
        print_result(environment, document, render.print_recipes, as_json=json_output)
        return
    chosen = recipes.find_recipe(recipe)
    folder = Path(PACKS, chosen.name) if output is None else output
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, but -o takes a folder.")
    if chosen.questions is not None:
        load_questions(chosen.questions)
    choice = Choice(source, sha256, allow_private)
    if dry_run:
        plan = render.plan_document(chosen, plan_fetch(chosen, choice), folder)
        print_result(environment, plan, render.print_plan, as_json=json_output)
        if plan["problem"]:
            raise typer.Exit(ExitStatus.RUNTIME)
        return

    from wikigr.recipes.make import make_pack
    from wikigr_cli.render.progress import TerminalProgress

    with TerminalProgress(environment, resumes=resume) as progress:
        documents = fetch(chosen, choice, progress)
        report = make_pack(chosen, documents, folder, jobs=jobs, resume=resume, progress=progress)
    print_result(environment, render.made_document(report, folder), render.print_made, as_json=json_output)

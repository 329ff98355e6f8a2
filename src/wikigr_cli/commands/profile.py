"""``wikigr profile``: the profiles there are, what one holds, whether one is right, how two differ."""

from __future__ import annotations

from typing import Annotated

import typer

from wikigr.errors import UsageError
from wikigr_cli import completion, options
from wikigr_cli.environment import Environment, plain
from wikigr_cli.exit_codes import EXIT_CODES_HELP
from wikigr_cli.render import output as render

app = typer.Typer(
    help="Show, check and compare profiles.", rich_markup_mode=None, no_args_is_help=True, epilog=EXIT_CODES_HELP
)
Name = Annotated[
    str,
    typer.Argument(metavar="PROFILE", help="A profile's name or its YAML file.", autocompletion=completion.profiles),
]


@app.command("list", epilog=EXIT_CODES_HELP)
def list_profiles(context: typer.Context, json_output: options.Json = False) -> None:
    """List the profiles that ship with wikigr and your own (in the folder `profiles` beside the user's settings)."""
    environment = context.ensure_object(Environment)

    from wikigr.profiles.files import ProfileError, load_profile, profile_names

    profiles = []
    for name in profile_names():
        try:
            profiles.append({"name": name, "description": load_profile(name).description})
        except ProfileError as error:
            environment.complain(f"wikigr: {plain(error.message)}")
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "profiles": profiles})
    else:
        for profile in profiles:
            environment.print(f"{profile['name']:<14} ", style="bold", end="")
            environment.print(plain(profile["description"]), hang=15)


@app.command("show", epilog=EXIT_CODES_HELP)
def show(context: typer.Context, name: Name, json_output: options.Json = False) -> None:
    """Print every key of a profile with its value, inherited ones included."""
    environment = context.ensure_object(Environment)

    from wikigr.profiles.files import load_profile
    from wikigr.profiles.schema import profile_values

    values = profile_values(load_profile(name))
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "profile": values})
    else:
        render.yaml_document(environment, {key: value for key, value in values.items() if key != "name"})


@app.command("validate", epilog=EXIT_CODES_HELP)
def validate(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(metavar="PROFILE...", help="Profiles' names or YAML files.", autocompletion=completion.profiles),
    ],
) -> None:
    """Check profiles; the first mistake of each is named with file, line and key. Exit 2 if there is one."""
    environment = context.ensure_object(Environment)

    from wikigr.profiles.files import ProfileError, load_profile

    wrong = 0
    for name in names:
        try:
            load_profile(name)
        except ProfileError as error:
            wrong += 1
            environment.complain(f"wikigr: {plain(error.message)}")
            if error.hint:
                environment.complain(plain(error.hint))
        else:
            environment.print(f"{plain(name)}: ok")
    if wrong:
        raise UsageError(f"{wrong} of {render.counted(len(names), 'profiles')} cannot be used.")


@app.command("diff", epilog=EXIT_CODES_HELP)
def diff(
    context: typer.Context,
    first: Name,
    second: Annotated[
        str, typer.Argument(metavar="OTHER", help="The profile to compare it with.", autocompletion=completion.profiles)
    ],
    json_output: options.Json = False,
) -> None:
    """Print the keys in which two profiles differ, with both values."""
    environment = context.ensure_object(Environment)

    from wikigr.profiles.files import differences, load_profile

    rows = [
        {"key": key, first: left, second: right}
        for key, left, right in differences(load_profile(first), load_profile(second))
    ]
    if json_output:
        render.json_document(environment, {"schema_version": render.SCHEMA_VERSION, "differences": rows})
        return
    for row in rows:
        environment.print(f"{row['key']:<32} {render.value(row[first])} → {render.value(row[second])}", hang=33)
    if not rows:
        environment.note("They do not differ.")
